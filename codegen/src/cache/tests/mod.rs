//! Tests of the cache through expansions.

mod histories;
mod single_edits;

use super::CachedSuite;
use crate::expansion::Expansion;
use crate::fixture::{Call, Fixture, TASK, literal, texts};
use crate::track::Tracker;

fn tracked(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new(files);
    let instructions = Tracker::new("suites").instructions(&fixture.package);
    assert!(instructions.lines().iter().all(|line| !line.contains("error")), "{:?}", instructions.lines());
    fixture
}

fn call(fixture: &Fixture) -> Call {
    fixture.call("suites/card_agent")
}

/// The expansion without a cache.
fn loaded(mut call: Call) -> Expansion {
    call.context.out_dir = None;
    call.expand()
}

/// Whether the suite of the call is in the cache.
fn is_cached(call: &Call) -> bool {
    let out_dir = call.context.out_dir.as_deref().expect("a call with a build script");
    CachedSuite::find(out_dir, &call.context.request).is_some()
}

#[test]
fn the_cached_suite_expands_to_the_same_code_as_a_loaded_one() {
    let fixture = tracked(&[("suites/card_agent/tasks/b/25-c.json", &TASK.replace("\"a\"", "\"c\""))]);
    let call = call(&fixture);
    assert!(is_cached(&call), "the suite is found in OUT_DIR");
    let (cached, loaded) = (call.expand(), loaded(call));
    assert_eq!(cached.tokens().to_string(), loaded.tokens().to_string());
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
    assert!(is_cached(&fixture.call("suites/card_agent/")));
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
        let before = call(&fixture).expand();
        change(&fixture);
        assert!(!is_cached(&call(&fixture)), "{name}");
        assert_ne!(call(&fixture).expand().tokens().to_string(), before.tokens().to_string(), "{name}");
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
    let call = fixture.call("suites/near");
    assert!(is_cached(&call), "{:?}", texts(&call.expand(), true));
    // Files come and go beside the package's own.
    fixture.write("Cargo.lock", "");
    assert!(is_cached(&call));
    fixture.write("suites/shared/note.txt", "near");
    assert!(!is_cached(&call));
    let code = call.expand().tokens().to_string();
    assert!(code.contains("\"path\":\"suites/shared/note.txt\""), "{code}");
}

#[test]
fn a_suite_whose_cases_are_changed_by_options_is_loaded() {
    let fixture = tracked(&[]);
    let mut all = vec![call(&fixture); 4];
    all[0].binding.fixtures = false;
    all[1].binding.targets = vec![literal("x")];
    all[2].binding.require_env = vec![literal("KEY")];
    all[3].context.request.workspace_root = fixture.path("..");
    for (index, call) in all.iter().enumerate() {
        assert!(crate::expansion::cached(&call.binding, &call.context, None).is_none(), "call {index}");
    }
}

#[test]
fn a_suite_with_other_graders_than_the_registered_ones_is_loaded_for_diagnostics_with_places() {
    let fixture =
        tracked(&[("suites/card_agent/tasks/b.json", &TASK.replace("\"a\"", "\"b\"").replace("contains", "is_nice"))]);
    let mut call = call(&fixture);
    let errors = texts(&call.expand(), true);
    assert!(errors[0].contains("unknown grader `is_nice`"), "{errors:?}");
    assert!(errors[0].contains("suites/card_agent/tasks/b.json:1:"), "{errors:?}");
    call.graders(&["is-nice", "other"]);
    let expansion = call.expand();
    assert_eq!(texts(&expansion, true), [""; 0]);
    let warnings = texts(&expansion, false);
    assert!(warnings[0].starts_with("[W016 unused-grader] grader `other` is registered, but no case"), "{warnings:?}");
}

#[test]
fn warnings_of_the_build_script_are_not_repeated_and_can_be_denied() {
    let fixture = tracked(&[]);
    let yaml = "tests:\n  - id: a\n    input: Hi\n    assert:\n      - type: contains\n        value: hi\n";
    fixture.write("suites/old/EVAL.yaml", yaml);
    fixture.age();
    let instructions = Tracker::new("suites").instructions(&fixture.package);
    let warning = instructions.lines().iter().find(|line| line.starts_with("cargo::warning=")).expect("a warning");
    assert!(warning.starts_with("cargo::warning=suites/old/EVAL.yaml:4:5: "), "{warning}");
    let mut call = fixture.call("suites/old");
    let expansion = call.expand();
    assert_eq!(texts(&expansion, false), [""; 0], "the build script has shown it");
    let [(name, text)] = expansion.recorded_warnings.as_slice() else { panic!("{:?}", expansion.recorded_warnings) };
    assert_eq!(
        (name.as_str(), format!("cargo::warning={text}")),
        ("deprecated-key", warning.clone()),
        "it is recorded"
    );
    let uncached = loaded(call.clone());
    assert_eq!(uncached.recorded_warnings, expansion.recorded_warnings, "with and without a build script");
    call.binding.deny_warnings = true;
    let expansion = call.expand();
    let errors = texts(&expansion, true);
    assert!(errors[0].starts_with("[W001 deprecated-key]"), "{errors:?}");
    assert_eq!(errors, texts(&loaded(call.clone()), true), "the same text with and without a build script");
    assert!(expansion.tokens().to_string().contains("cases : & []"));
    call.binding.allow = vec![literal("deprecated-key")];
    let expansion = call.expand();
    assert_eq!((expansion.problems().len(), expansion.recorded_warnings.len()), (0, 0));
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
        assert!(!is_cached(&call(&fixture)), "{}", path.display());
        std::fs::write(&path, content).expect("written");
    }
    assert!(is_cached(&call(&fixture)));
}
