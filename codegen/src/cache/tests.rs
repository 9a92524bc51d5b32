use crate::expansion::{Expansion, Options, expand};
use crate::fixture::{Fixture, TASK};
use crate::track::Tracker;

use super::Cached;

fn tracked(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new(files);
    let instructions = Tracker::new("suites").instructions(&fixture.package);
    assert!(instructions.lines().iter().all(|line| !line.contains("error")), "{:?}", instructions.lines());
    fixture
}

fn options(fixture: &Fixture) -> Options {
    fixture.options("suites/card_agent")
}

fn loaded(mut options: Options) -> Expansion {
    options.out_dir = None;
    expand(&options)
}

#[test]
fn what_the_build_script_left_is_what_loading_gives() {
    let fixture = tracked(&[("suites/card_agent/tasks/b/25-c.json", &TASK.replace("\"a\"", "\"c\""))]);
    let options = options(&fixture);
    assert!(Cached::find(&options).is_some(), "the suite is found in OUT_DIR");
    let (cached, loaded) = (expand(&options), loaded(options));
    assert_eq!(cached.body, loaded.body);
    assert_eq!((&cached.module, &cached.suite), (&loaded.module, &loaded.suite));
    let sorted = |mut files: Vec<std::path::PathBuf>| {
        files.sort();
        files.dedup();
        files
    };
    assert_eq!(sorted(cached.files), sorted(loaded.files));
}

#[test]
fn a_trailing_slash_is_the_same_suite() {
    let fixture = tracked(&[]);
    assert!(Cached::find(&fixture.options("suites/card_agent/")).is_some());
}

#[test]
fn every_change_of_the_suite_is_loaded_anew() {
    type Change = fn(&Fixture);
    let changes: [(&str, Change); 4] = [
        ("added", |fixture| fixture.write("suites/card_agent/tasks/z.json", &TASK.replace("\"a\"", "\"z\""))),
        ("edited", |fixture| fixture.write("suites/card_agent/tasks/a.json", &TASK.replace("hello", "hallo"))),
        ("nested", |fixture| fixture.write("suites/card_agent/tasks/n/z.json", &TASK.replace("\"a\"", "\"z\""))),
        ("renamed", |fixture| {
            let tasks = fixture.path("suites/card_agent/tasks");
            std::fs::rename(tasks.join("a.json"), tasks.join("b.json")).expect("renamed");
        }),
    ];
    for (name, change) in changes {
        let fixture = tracked(&[]);
        let before = expand(&options(&fixture));
        change(&fixture);
        assert!(Cached::find(&options(&fixture)).is_none(), "{name}");
        assert_ne!(expand(&options(&fixture)).body, before.body, "{name}");
    }
}

#[test]
fn a_nearer_file_outside_of_the_suite_is_seen() {
    let fixture = tracked(&[
        ("shared/note.txt", "far"),
        (
            "suites/near/EVAL.yaml",
            "tests:\n  - { id: a, input: hi, input_files: [shared/note.txt], criteria: polite }\n",
        ),
    ]);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for path in ["shared", "shared/note.txt"] {
        std::fs::File::open(fixture.path(path)).and_then(|file| file.set_modified(old)).expect("a time");
    }
    Tracker::new("suites").instructions(&fixture.package);
    let options = fixture.options("suites/near");
    assert!(Cached::find(&options).is_some(), "{:?}", expand(&options).errors);
    // Files come and go beside the package's own.
    fixture.write("Cargo.lock", "");
    assert!(Cached::find(&options).is_some());
    fixture.write("suites/shared/note.txt", "near");
    assert!(Cached::find(&options).is_none());
    assert!(expand(&options).body.statics.contains("\"path\":\"suites/shared/note.txt\""));
}

#[test]
fn options_that_change_cases_are_loaded() {
    let fixture = tracked(&[]);
    let mut all = vec![options(&fixture); 4];
    all[0].request.fixtures = false;
    all[1].request.targets = vec!["x".to_owned()];
    all[2].requires.env = vec!["KEY".to_owned()];
    all[3].request.workspace_root = fixture.path("..");
    for (index, options) in all.iter().enumerate() {
        assert!(Cached::find(options).is_none(), "options {index}");
    }
}

#[test]
fn graders_that_disagree_are_loaded_for_a_report_with_places() {
    let fixture =
        tracked(&[("suites/card_agent/tasks/b.json", &TASK.replace("\"a\"", "\"b\"").replace("contains", "is_nice"))]);
    let mut options = options(&fixture);
    let expansion = expand(&options);
    assert!(expansion.errors[0].contains("unknown grader `is_nice`"), "{:?}", expansion.errors);
    assert!(expansion.errors[0].contains("suites/card_agent/tasks/b.json:1:"), "{:?}", expansion.errors);
    options.graders = Some(vec!["is-nice".to_owned()]);
    assert!(Cached::find(&options).is_some());
    options.graders = Some(vec!["is-nice".to_owned(), "other".to_owned()]);
    let expansion = expand(&options);
    assert_eq!(expansion.errors, Vec::<String>::new());
    assert!(
        expansion.warnings[0].starts_with("[W016 unused-grader] grader `other` is registered, but no case"),
        "{:?}",
        expansion.warnings
    );
}

#[test]
fn warnings_are_shown_once_and_denied_where_asked() {
    let fixture = tracked(&[]);
    let yaml = "tests:\n  - id: a\n    input: Hi\n    assert:\n      - type: contains\n        value: hi\n";
    fixture.write("suites/old/EVAL.yaml", yaml);
    fixture.age();
    let instructions = Tracker::new("suites").instructions(&fixture.package);
    let warning = instructions.lines().iter().find(|line| line.starts_with("cargo::warning=")).expect("a warning");
    assert!(warning.starts_with("cargo::warning=suites/old/EVAL.yaml:4:5: "), "{warning}");
    let mut options = fixture.options("suites/old");
    let expansion = expand(&options);
    assert_eq!(expansion.warnings, Vec::<String>::new(), "the build script has shown it");
    let [(name, text)] = expansion.diagnostics.as_slice() else { panic!("{:?}", expansion.diagnostics) };
    assert_eq!(
        (name.as_str(), format!("cargo::warning={text}")),
        ("deprecated-key", warning.clone()),
        "it is recorded"
    );
    options.out_dir = None;
    assert_eq!(expand(&options).diagnostics, expansion.diagnostics, "with and without a build script");
    options.out_dir = fixture.options("suites/old").out_dir;
    options.deny_warnings = true;
    let expansion = expand(&options);
    assert!(expansion.errors[0].starts_with("[W001 deprecated-key]"), "{:?}", expansion.errors);
    assert!(expansion.suite.is_none());
    options.allow = vec!["deprecated-key".to_owned()];
    let expansion = expand(&options);
    assert_eq!((expansion.errors.len(), expansion.diagnostics.len()), (0, 0));
    let silent = Tracker::new("suites").allow(["deprecated-key"]).instructions(&fixture.package);
    assert!(silent.lines().iter().all(|line| !line.starts_with("cargo::warning=")), "{:?}", silent.lines());
}

#[test]
fn damaged_files_are_not_used() {
    let fixture = tracked(&[]);
    let folder = fixture.package.out_dir.join("evalsuite/loaded");
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let content = std::fs::read_to_string(&path).expect("text");
        std::fs::write(&path, &content[..content.len() / 2]).expect("written");
        assert!(Cached::find(&options(&fixture)).is_none(), "{}", path.display());
        std::fs::write(&path, content).expect("written");
    }
    assert!(Cached::find(&options(&fixture)).is_some());
}
