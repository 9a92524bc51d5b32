//! Entry paths, directories and where cases come from.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, list, map, number, text};
use crate::project::{File, Layout, Project};
use crate::render::{Part, Syntax};
use crate::tree::{Body, Node};

const LOST: &[Code] = &[Code::UnknownDependency, Code::UnknownSampleCase];

pub(super) fn add(breaks: &mut Breaks<'_>) {
    entries(breaks);
    suite_files(breaks);
    case_directories(breaks);
    task_directories(breaks);
    tests(breaks);
    lists(breaks);
    skills(breaks);
}

/// A skill with evals of another one, and one that other readers refuse.
fn skills(breaks: &mut Breaks<'_>) {
    let path = breaks.project.inside("_shared/pdf-forms");
    let (skill, evals) = (format!("{path}/SKILL.md"), format!("{path}/evals/evals.json"));
    breaks.push(Code::SkillNameMismatch, "evals of another skill", vec![evals.clone()], move |project| {
        project.add_text(&skill, "---\nname: pdf-forms\ndescription: Fills in forms.\n---\n");
        let text = r#"{"skill_name": "pdf", "evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#;
        project.add_text(&evals, text);
        project.entry.clone_from(&path);
        vec![Expected { code: Code::SkillNameMismatch, file: evals.clone(), place: Place::Text(1, 16) }]
    });
    let path = breaks.project.inside("_shared/pdf-forms");
    let (skill, evals) = (format!("{path}/SKILL.md"), format!("{path}/evals/evals.json"));
    breaks.push(Code::UnportableSkill, "an extension in a skill", vec![skill.clone()], move |project| {
        project.add_text(&skill, "---\nname: pdf-forms\ndescription: Fills in forms.\nmodel: opus\n---\n");
        project.add_text(&evals, r#"{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#);
        project.entry.clone_from(&path);
        vec![Expected { code: Code::UnportableSkill, file: skill.clone(), place: Place::Text(4, 1) }]
    });
}

fn whole(code: Code, file: &str) -> Expected {
    Expected { code, file: file.to_owned(), place: Place::Whole }
}

fn entries(breaks: &mut Breaks<'_>) {
    let root = breaks.project.root.clone();
    for bad in [format!("{root}x"), "nowhere".to_owned(), format!("{root}/nothing/here"), String::new()] {
        let code = Code::EntryNotFound;
        breaks.push(code, "an entry that is not there", Vec::new(), move |project| {
            bad.clone_into(&mut project.entry);
            vec![whole(code, if bad.is_empty() { "." } else { &bad })]
        });
    }
    breaks.push(Code::PathEscape, "an absolute entry", Vec::new(), move |project| {
        project.entry = "/nowhere/suite".to_owned();
        vec![whole(Code::PathEscape, "/nowhere/suite")]
    });
    for (file, code) in [("_shared/brief.md", Code::UnsupportedSuiteFile), ("_shared", Code::NoSuiteFile)] {
        let path = breaks.project.inside(file);
        breaks.push(code, format!("the entry {file}"), Vec::new(), move |project| {
            project.entry.clone_from(&path);
            vec![whole(code, &path)]
        });
    }
    for file in ["skills.json", "eval.ts"] {
        let path = breaks.project.inside(file);
        breaks.push(Code::UnsupportedSuiteFile, format!("the entry {file}"), vec![path.clone()], move |project| {
            project.add_text(&path, "{}");
            project.entry.clone_from(&path);
            vec![whole(Code::UnsupportedSuiteFile, &path)]
        });
    }
    let path = breaks.project.inside("list.yaml");
    breaks.push(Code::UnsupportedSuiteFile, "an entry with a list of cases", vec![path.clone()], move |project| {
        project.add_text(&path, "# cases\n- id: a\n  input: b\n  criteria: c\n");
        project.entry.clone_from(&path);
        vec![Expected { code: Code::UnsupportedSuiteFile, file: path.clone(), place: Place::Text(2, 1) }]
    });
    if breaks.project.layout == Layout::Lines {
        for name in ["cases.yaml", "cases.yml", "cases.eval.yaml"] {
            let path = breaks.project.inside(name);
            breaks.push(Code::NoEffect, format!("{name} beside cases.jsonl"), vec![path.clone()], move |project| {
                project.add_text(&path, "name: unread\n");
                vec![whole(Code::NoEffect, &path)]
            });
        }
    }
}

/// The suite file of a layout that has one.
fn suite_file(project: &Project) -> Option<&str> {
    project
        .files
        .iter()
        .find(|(_, file)| matches!(file.as_ref(), File::Data(data) if matches!(data.root.tag, "eval file" | "suite.json")))
        .map(|(name, _)| name.as_str())
}

fn suite_files(breaks: &mut Breaks<'_>) {
    let (root, project) = (breaks.project.root.clone(), breaks.project);
    let is_directory = project.entry == root;
    if is_directory && suite_file(project).is_some() {
        for name in ["second.eval.yml", "b.EVAL.yaml"] {
            let (path, root) = (project.inside(name), root.clone());
            breaks.push(Code::SeveralSuiteFiles, "a second suite file", vec![path.clone()], move |project| {
                project.add_text(&path, "name: second\n");
                vec![whole(Code::SeveralSuiteFiles, &root)]
            });
        }
    }
    let Some(file) = suite_file(project).map(str::to_owned) else { return };
    if is_directory {
        let (file, root) = (file.clone(), root.clone());
        breaks.push(Code::NoSuiteFile, "a suite file that is gone", vec![file.clone()], move |project| {
            project.files.remove(&file);
            vec![whole(Code::NoSuiteFile, &root)]
        });
    }
    if file.ends_with("suite.json") {
        let other = if project.layout == Layout::Tasks { "cases" } else { "tasks" };
        let added = project.inside(&format!("{other}/README.md"));
        breaks.push(Code::AmbiguousLayout, "tasks and cases", vec![added.clone(), file.clone()], {
            let file = file.clone();
            move |project| {
                project.add_text(&added, "Nothing.\n");
                vec![whole(Code::AmbiguousLayout, &file)]
            }
        });
        let gone = project.inside(if project.layout == Layout::Tasks { "tasks/" } else { "cases/" });
        breaks.push(
            Code::AmbiguousLayout,
            "neither tasks nor cases",
            vec![file.clone(), gone.clone()],
            move |project| {
                project.files.retain(|name, _| !name.starts_with(&gone));
                vec![whole(Code::AmbiguousLayout, &file)]
            },
        );
    }
}

/// Directory of the case directories.
fn cases_directory(project: &Project) -> Option<String> {
    let file =
        project.files.iter().find(|(_, file)| matches!(file.as_ref(), File::Data(data) if data.root.tag == "case"))?.0;
    let (directory, _) = file.rsplit_once('/')?;
    let (parent, _) = directory.rsplit_once('/')?;
    Some(parent.to_owned())
}

fn case_directories(breaks: &mut Breaks<'_>) {
    let project = breaks.project;
    let Some(directory) = cases_directory(project) else { return };
    let cases: Vec<String> = project
        .files
        .iter()
        .filter(|(_, file)| matches!(file.as_ref(), File::Data(data) if data.root.tag == "case"))
        .map(|(name, _)| name.clone())
        .collect();
    let draft = format!("{directory}/draft");
    breaks.push(Code::MissingCaseFile, "a directory without a case", vec![draft.clone()], {
        let draft = draft.clone();
        move |project| {
            project.add(&draft, File::Directory);
            vec![whole(Code::MissingCaseFile, &draft)]
        }
    });
    breaks.push(Code::MissingCaseFile, "a case file in capitals", vec![draft.clone()], {
        let draft = draft.clone();
        move |project| {
            project.add_text(&format!("{draft}/Case.yaml"), "id: draft\n");
            vec![whole(Code::MissingCaseFile, &draft)]
        }
    });
    for name in ["refund.yaml", "refund.json", "refunds.jsonl"] {
        let stray = format!("{directory}/{name}");
        breaks.push(Code::UnusedFile, format!("a stray {name}"), vec![stray.clone()], move |project| {
            project.add_text(&stray, "{}\n");
            vec![whole(Code::UnusedFile, &stray)]
        });
    }
    let only =
        "execution: {skip_defaults: true}\nexpected_output: Arrived\nassertions: [{type: contains, value: Arrived}]\n";
    let cut = format!("{directory}/cut/case.yaml");
    breaks.push(Code::TextCutByComment, "a text that a comment cuts", vec![cut.clone()], move |project| {
        project.add_text(&cut, &format!("{only}input: Order #1182 arrived\n"));
        vec![Expected { code: Code::TextCutByComment, file: cut.clone(), place: Place::Text(4, 8) }]
    });
    let inside = format!("{directory}/inside/case.yaml");
    breaks.push(Code::AnswersInReach, "a workspace with the file of its case", vec![inside.clone()], move |project| {
        project.add_text(&inside, &format!("{only}input: Hello\nworkspace: {{template: .}}\n"));
        vec![Expected { code: Code::AnswersInReach, file: inside.clone(), place: Place::Text(1, 1) }]
    });
    let quoted = format!("{directory}/quoted/case.yaml");
    breaks.push(Code::CurlyQuotes, "typographic quotes around a text", vec![quoted.clone()], move |project| {
        project.add_text(&quoted, &format!("{only}input: “Order 1182 arrived”\n"));
        vec![Expected { code: Code::CurlyQuotes, file: quoted.clone(), place: Place::Text(4, 8) }]
    });
    if let Some(suite) = suite_file(project).map(str::to_owned) {
        let added = format!("{directory}/unjudged/case.yaml");
        breaks.push(Code::UnjudgedCriteria, "criteria that nobody judges", vec![added.clone()], move |project| {
            project.add_text(&added, &format!("{only}input: Hello\ncriteria: Answers politely\n"));
            vec![whole(Code::UnjudgedCriteria, &suite)]
        });
    }
    for case in &cases {
        let (file, shown) = (case.clone(), case.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned());
        let what = "a directory called case.yaml";
        let added = breaks.push(Code::MissingCaseFile, what, vec![file.clone()], move |project| {
            project.add(&file, File::Directory);
            vec![whole(Code::MissingCaseFile, &shown)]
        });
        added.follow_ups = LOST;
        let (other, parent) = {
            let (parent, name) = case.rsplit_once('/').expect("a case lies in a directory");
            let other = if name == "case.yaml" { "case.yml" } else { "case.yaml" };
            (format!("{parent}/{other}"), parent.to_owned())
        };
        let added =
            breaks.push(Code::TwoCaseFiles, "two case files", vec![case.clone(), other.clone()], move |project| {
                project.add_text(&other, "criteria: a\ninput: b\n");
                vec![whole(Code::TwoCaseFiles, &parent)]
            });
        added.follow_ups = LOST;
    }
    if cfg!(unix) {
        for (what, target) in [("out of the package", "/etc"), ("to nowhere", "nothing"), ("to itself", "linked")] {
            let path = format!("{directory}/linked");
            breaks.push(
                Code::PathEscape,
                format!("a case directory that is a link {what}"),
                vec![path.clone()],
                move |project| {
                    project.add(&path, File::Link(target.to_owned()));
                    vec![whole(Code::PathEscape, &path)]
                },
            );
        }
    }
    // The directory "refund small" is always there and comes first.
    let second = format!("{directory}/refund_small/case.yaml");
    breaks.push(Code::TestNameCollision, "two directories, one test", vec![second.clone()], {
        let second = second.clone();
        move |project| {
            let mut case = "id: another one\n".to_owned();
            case.push_str("criteria: a\ninput: b\nexpected_output: {order: {id: 1, items: [{price: 2}]}, due: \"2025-01-01\"}\n");
            project.add_text(&second, &case);
            vec![Expected { code: Code::TestNameCollision, file: second.clone(), place: Place::Text(1, 1) }]
        }
    })
    .follow_ups = &[Code::InputFilesWithMessages];
    breaks
        .push(Code::DuplicateId, "the id of another directory", vec![second.clone()], move |project| {
            let (directory, _) = second.rsplit_once('/').expect("a case lies in a directory");
            let other = format!("{directory} too/case.yaml");
            let first = cases[0].clone();
            let id = project
                .data(&first)
                .and_then(|data| data.root.get("id"))
                .and_then(Node::text)
                .unwrap_or("refund small")
                .to_owned();
            project.add_text(&other, &format!("criteria: a\nid: {id:?}\nexpected_output: x\ninput: b\n"));
            vec![Expected { code: Code::DuplicateId, file: other, place: Place::Text(2, 5) }]
        })
        .follow_ups = &[Code::DependencyCycle];
    let (gone, shown) = (format!("{directory}/"), directory.clone());
    let file = match breaks.project.layout {
        Layout::Directories => {
            let root = breaks.project.root.clone();
            breaks.push(Code::NoSuiteFile, "no case directories", vec![gone.clone()], move |project| {
                let shared = project.inside("_shared/");
                project.files.retain(|name, _| !name.starts_with(&gone) || name.starts_with(&shared));
                vec![whole(Code::NoSuiteFile, &root)]
            });
            return;
        }
        Layout::Cases => breaks.only("tests directory").map(|site| (site.file.to_owned(), site.path)),
        _ => None,
    };
    breaks.push(Code::NoCases, "no case directories", vec![gone.clone()], move |project| {
        project.files.retain(|name, _| !name.starts_with(&gone));
        project.add(&format!("{shown}/_draft"), File::Directory);
        vec![match &file {
            Some((file, path)) => {
                Expected { code: Code::NoCases, file: file.clone(), place: Place::At(path.clone(), Part::Value, 0) }
            }
            None => whole(Code::NoCases, &shown),
        }]
    });
}

fn task_directories(breaks: &mut Breaks<'_>) {
    if breaks.project.layout != Layout::Tasks {
        return;
    }
    let directory = breaks.project.inside("tasks");
    breaks.push(Code::NoCases, "no tasks", vec![directory.clone()], {
        let directory = directory.clone();
        move |project| {
            project.files.retain(|name, _| !name.starts_with(&directory));
            project.add(&directory, File::Directory);
            vec![whole(Code::NoCases, &directory)]
        }
    });
    if cfg!(unix) {
        for (what, name, target) in [
            ("to a directory around it", "positive/loop", ".."),
            ("to nowhere", "nowhere.json", "nothing"),
            ("out of the suite", "etc", "/etc"),
            ("to itself", "self", "self"),
        ] {
            let path = format!("{directory}/{name}");
            breaks.push(Code::PathEscape, format!("a link {what} among tasks"), vec![path.clone()], move |project| {
                project.add(&path, File::Link(target.to_owned()));
                vec![whole(Code::PathEscape, &path)]
            });
        }
    }
    #[cfg(unix)]
    {
        let socket = format!("{directory}/positive/socket.json");
        breaks.push(Code::UnreadableFile, "a socket among tasks", vec![socket.clone()], move |project| {
            project.add(&socket, File::Socket);
            vec![whole(Code::UnreadableFile, &socket)]
        });
    }
    let deep = format!("{directory}{}", "/deep".repeat(40));
    let shown = format!("{directory}{}", "/deep".repeat(33));
    breaks.push(Code::LimitExceeded, "directories in directories", vec![deep.clone()], move |project| {
        project.add(&deep, File::Directory);
        vec![whole(Code::LimitExceeded, &shown)]
    });
    for name in ["task.json", "positive/25 invoice/task.json"] {
        let file = format!("{directory}/{name}");
        // The directory's name is the test's, and so is the stem of a file next to it.
        let other = match name {
            "task.json" => format!("{directory}/task/task.json"),
            _ => format!("{directory}/positive/25-invoice.json"),
        };
        breaks.push(
            Code::TestNameCollision,
            "two tasks, one test",
            vec![file.clone(), other.clone()],
            move |project| {
                let Some(mut data) = project.data(&file).cloned() else { return Vec::new() };
                data.byte_order_mark = false;
                if let Some(at) = data.root.find("id").map(|(at, _)| at) {
                    data.root.at_mut(&[at]).body = text("another one");
                }
                project.add(&other, File::Data(data));
                // Files are in the order of their bytes: the later one is reported.
                let later = if other > file { &other } else { &file };
                vec![Expected {
                    code: Code::TestNameCollision,
                    file: later.clone(),
                    place: Place::At(Vec::new(), Part::Value, 0),
                }]
            },
        );
    }
}

/// `tests` of an eval file.
fn tests(breaks: &mut Breaks<'_>) {
    let Some(root) = breaks.only("eval file") else { return };
    if root.node.get("tests").is_none() {
        let directory = breaks.project.inside("cases/");
        let file = root.file.to_owned();
        breaks.push(
            Code::MissingTests,
            "neither `tests` nor `cases`",
            vec![file.clone(), directory.clone()],
            move |project| {
                project.files.retain(|name, _| !name.starts_with(&directory));
                vec![Expected {
                    code: Code::MissingTests,
                    file: file.clone(),
                    place: Place::At(Vec::new(), Part::Value, 0),
                }]
            },
        );
        return;
    }
    let Some((index, value)) = root.node.find("tests") else { return };
    breaks.remove(Code::MissingTests, "no `tests`", &root, &["tests"]).is_local = false;
    let site = super::Site { path: vec![index], node: value, ..root.clone() };
    if root.file.ends_with("EVAL.yaml") && matches!(value.body, Body::List(_)) {
        let (file, added) = (root.file.to_owned(), breaks.project.inside("cases/left-out/case.yaml"));
        let files = vec![file.clone(), added.clone()];
        breaks.push(Code::InvalidTests, "a directory of cases beside a list", files, move |project| {
            project.add_text(&added, "input: Hello\ncriteria: Answers\n");
            let place = Place::At(vec![index], Part::Value, 0);
            vec![Expected { code: Code::InvalidTests, file: file.clone(), place }]
        });
    }
    let bad = [
        (Code::InvalidTests, number("3")),
        (Code::InvalidTests, map([("id", text("a"))])),
        (Code::InvalidTests, text("lists/*.yaml")),
        (Code::InvalidTests, text("file://lists/cases.yaml")),
        (Code::InvalidTests, text("_shared/brief.md")),
        (Code::InvalidTests, text(" ")),
        (Code::MissingPath, text("./nowhere/")),
        (Code::MissingPath, text("nowhere.jsonl")),
        (Code::PathEscape, text("/etc")),
        (Code::PathEscape, text("../../../../../../../../../../../../etc")),
        (Code::InterpolationNotAllowed, text("${{ DIR }}/cases")),
        (Code::NoCases, list([])),
        (Code::NoCases, text("_shared/template/")),
    ];
    for (code, body) in bad {
        let added = breaks.replace(code, "`tests` of no use", &site, body.clone());
        added.is_local = false;
        // A directory among the templates that looks like a case without one.
        added.follow_ups = &[Code::MissingCaseFile];
    }
    let Body::List(items) = &value.body else { return };
    let elements = [
        (Code::InvalidTests, text("lists/cases.yaml")),
        (Code::InvalidTests, number("3")),
        (Code::InvalidTests, list([])),
        (Code::InvalidTests, text("file://_shared")),
        (Code::InvalidTests, text("file://_shared/brief.md")),
        (Code::InvalidTests, text("file://_shared/*.{md")),
        (Code::MissingPath, text("file://nowhere.yaml")),
        (Code::NoCases, text("file://nowhere/**/*.yaml")),
        (Code::PathEscape, text("file:///etc/cases.yaml")),
        (Code::InterpolationNotAllowed, text("file://${{ DIR }}/cases.yaml")),
    ];
    for (code, body) in elements {
        let index = items.len();
        let path = site.path.clone();
        let added = breaks.local(code, "a bad element of `tests`", &site, move |root| {
            root.items_at(&path).push(Node::new(body.clone()));
            (super::join(&path, index), Part::Value)
        });
        added.is_local = true;
    }
    let named: Vec<_> = breaks.tagged("file of cases");
    for site in named {
        let listed =
            site.node.text().unwrap_or_default().trim_start_matches("file://").trim_start_matches("./").to_owned();
        let (file, path, listed) = (site.file.to_owned(), site.path.clone(), breaks.project.inside(&listed));
        let is_lines = listed.ends_with(".jsonl");
        let added = breaks.push(Code::NoCases, "a list without cases", vec![listed.clone()], move |project| {
            project.add_text(&listed, if is_lines { "\n \n" } else { "[]\n" });
            vec![Expected { code: Code::NoCases, file: file.clone(), place: Place::At(path.clone(), Part::Value, 0) }]
        });
        added.follow_ups = LOST;
    }
}

/// Files with lists of cases.
fn lists(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("case list") {
        if site.syntax == Syntax::Yaml {
            for bad in [map([("id", text("a"))]), text("a"), number("3")] {
                let added = breaks.replace(Code::InvalidExternalFile, "a list of cases that is none", &site, bad);
                added.follow_ups = LOST;
                added.is_local = false;
            }
        }
        for bad in [text("file://more.yaml"), number("3"), list([text("a")])] {
            let (path, index) = (site.path.clone(), site.node.items().len());
            let what = format!("a case that is not a mapping in {:?}", site.syntax);
            breaks.local(Code::InvalidExternalFile, what, &site, move |root| {
                root.items_at(&path).push(Node::new(bad.clone()));
                (super::join(&path, index), Part::Value)
            });
        }
    }
}
