//! Files that are not what they seem: encoding, syntax, size.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, Site, list, number, text};
use crate::project::File;
use crate::render::{Part, Syntax};
use crate::tree::{Body, Rule};

/// Problems of a file that hide what it says.
const LOST: &[Code] = &[Code::UnknownDependency, Code::UnknownSampleCase];

pub(super) fn add(breaks: &mut Breaks<'_>) {
    directory_links(breaks);
    for site in breaks.sites().into_iter().filter(|site| site.path.is_empty()) {
        bytes(&site, breaks);
        roots(&site, breaks);
        match site.syntax {
            Syntax::Yaml => documents(&site, breaks),
            Syntax::Json | Syntax::Lines => {}
        }
    }
    for site in breaks.sites() {
        syntax(&site, breaks);
        depth(&site, breaks);
    }
}

/// Links to directories that nothing of the suite names.
fn directory_links(breaks: &mut Breaks<'_>) {
    for target in ["/etc", "/"].into_iter().filter(|_| cfg!(unix)) {
        let path = breaks.project.inside("_unused/link");
        breaks.push(Code::LinkedDirectory, format!("a link to {target}"), vec![path.clone()], move |project| {
            project.add(&path, File::Link(target.to_owned()));
            vec![Expected { code: Code::LinkedDirectory, file: path.clone(), place: Place::Whole }]
        });
    }
}

/// Whether other files are read no matter what this one says.
fn is_case_file(site: &Site<'_>) -> bool {
    matches!(site.node.tag, "case" | "task")
}

fn is_in_case_file(site: &Site<'_>, breaks: &Breaks<'_>) -> bool {
    matches!(breaks.project.data(site.file).map(|data| data.root.tag), Some("case" | "task"))
}

fn bytes(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let (file, tag) = (site.file.to_owned(), site.node.tag);
    let added =
        breaks.push(Code::InvalidUtf8, format!("invalid UTF-8 in a {tag}"), vec![file.clone()], move |project| {
            project.data_mut(&file).end = b"\n# \xff\xfe".to_vec();
            vec![Expected { code: Code::InvalidUtf8, file: file.clone(), place: Place::Whole }]
        });
    added.follow_ups = LOST;
    added.is_local = is_case_file(site);
    if cfg!(unix) && (is_case_file(site) || tag == "calibration") {
        let file = site.file.to_owned();
        let what = format!("a {tag} that is a link out of the suite");
        let added = breaks.push(Code::PathEscape, what, vec![file.clone()], move |project| {
            project.add(&file, File::Link("/etc/hostname".to_owned()));
            vec![Expected { code: Code::PathEscape, file: file.clone(), place: Place::Whole }]
        });
        added.follow_ups = LOST;
    }
}

fn roots(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    if !matches!(site.node.tag, "case" | "task" | "suite.json" | "eval file" | "calibration") {
        return;
    }
    for bad in [list([text("a")]), text("a"), number("3"), Body::Null] {
        // A file of any name that is a list is one of cases.
        let is_list_of_cases = matches!(bad, Body::List(_)) && site.file.ends_with("/plain.yaml");
        let code = if is_list_of_cases { Code::UnsupportedSuiteFile } else { Code::RootNotMapping };
        let added = breaks.replace(code, format!("a {} that is not a mapping", site.node.tag), site, bad);
        added.follow_ups = LOST;
        added.is_local = is_case_file(site);
    }
    if site.syntax == Syntax::Yaml {
        let file = site.file.to_owned();
        let added = breaks.push(
            Code::RootNotMapping,
            format!("an empty {}", site.node.tag),
            vec![file.clone()],
            move |project| {
                project.add_text(&file, "");
                vec![Expected { code: Code::RootNotMapping, file: file.clone(), place: Place::Text(1, 1) }]
            },
        );
        added.follow_ups = LOST;
        added.is_local = is_case_file(site);
    }
}

fn documents(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let file = site.file.to_owned();
    let added = breaks.push(
        Code::MultipleDocuments,
        format!("a second document in a {}", site.node.tag),
        vec![file.clone()],
        move |project| {
            let data = project.data_mut(&file);
            data.end = b"---\nid: another\n".to_vec();
            let line = u32::try_from(data.render().text.lines().count()).unwrap() + 1;
            vec![Expected { code: Code::MultipleDocuments, file: file.clone(), place: Place::Text(line, 1) }]
        },
    );
    added.is_local = is_case_file(site);
}

/// Scalars that are not ones of the file's language.
fn syntax(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    if site.path.is_empty() || !matches!(site.node.body, Body::Text(_) | Body::Number(_) | Body::Bool(_)) {
        return;
    }
    let (code, bad): (Code, &[&str]) = match site.syntax {
        Syntax::Yaml => (Code::YamlSyntax, &["@at", "`tick`", "*nowhere", "%percent", "\"a\" b"]),
        Syntax::Json | Syntax::Lines => (
            Code::JsonSyntax,
            &["'a'", "NaN", "Infinity", "undefined", "True", "01", "1.", "+1", "[1,]", "{\"a\":}", "/* 1 */ 2"],
        ),
    };
    // One of them per place: what they are does not depend on their place.
    let pick = site.path.iter().sum::<usize>() + site.path.len();
    let raw = bad[pick % bad.len()];
    let (file, path) = (site.file.to_owned(), site.path.clone());
    let is_local = is_in_case_file(site, breaks);
    let added = breaks.push(code, format!("{raw:?} in {:?}", site.syntax), vec![file.clone()], move |project| {
        let data = project.data_mut(&file);
        data.root.at_mut(&path).body = Body::Raw(raw.to_owned());
        vec![Expected { code, file: file.clone(), place: line_of(data, &path) }]
    });
    added.follow_ups = &[Code::UnknownDependency, Code::NoCases];
    added.is_local = is_local;
    control_characters(site, code, breaks);
}

fn line_of(data: &crate::project::Data, path: &[usize]) -> Place {
    let places = data.render().places;
    places.get(&(path.to_vec(), Part::Value)).map_or(Place::Whole, |(line, _)| Place::Line(*line))
}

fn control_characters(site: &Site<'_>, code: Code, breaks: &mut Breaks<'_>) {
    if !matches!(site.node.rule, Rule::Text) {
        return;
    }
    let is_local = is_in_case_file(site, breaks);
    let (file, path) = (site.file.to_owned(), site.path.clone());
    let added =
        breaks.push(code, format!("a control character in {:?}", site.syntax), vec![file.clone()], move |project| {
            let data = project.data_mut(&file);
            data.root.at_mut(&path).body = Body::Raw("\"a\u{1}b\"".to_owned());
            let place = match line_of(data, &path) {
                Place::Line(_) => Place::At(path.clone(), Part::Value, 2),
                other => other,
            };
            vec![Expected { code, file: file.clone(), place }]
        });
    added.follow_ups = &[Code::UnknownDependency, Code::NoCases];
    added.is_local = is_local;
}

fn depth(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    if site.node.tag != "free" {
        return;
    }
    // Every step of the path is a collection; each line of a JSONL file is a document of its own.
    let outside = site.path.len() - usize::from(site.syntax == Syntax::Lines);
    let is_local = is_in_case_file(site, breaks);
    for levels in [70, 300, 10_000] {
        let (file, path) = (site.file.to_owned(), site.path.clone());
        let added = breaks.push(
            Code::LimitExceeded,
            format!("{levels} levels in {:?}", site.syntax),
            vec![file.clone()],
            move |project| {
                let raw = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
                project.data_mut(&file).root.at_mut(&path).body = Body::Raw(raw);
                let shift = u32::try_from(64 - outside).unwrap();
                vec![Expected {
                    code: Code::LimitExceeded,
                    file: file.clone(),
                    place: Place::At(path.clone(), Part::Value, shift),
                }]
            },
        );
        added.follow_ups = &[Code::UnknownDependency, Code::NoCases];
        added.is_local = is_local;
    }
}
