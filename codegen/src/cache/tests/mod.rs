//! Tests of the cache through expansions: when a suite is taken from it, and which edits read one case, and which the whole suite.

mod histories;

use std::time::{Duration, SystemTime};
use std::{fs, thread};

use super::Cache;
use crate::tests::{Call, Fixture, TASK, literal, texts};

fn call(fixture: &Fixture) -> Call {
    fixture.call("suites/card_agent")
}

/// A package whose suites have been expanded.
fn expanded(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new(files);
    let expansion = call(&fixture).expand();
    assert_eq!(texts(&expansion, true), [""; 0]);
    fixture
}

/// What an expansion reads that takes the suite from the cache.
#[derive(Debug, PartialEq)]
enum Read {
    /// Nothing had changed.
    Nothing,
    /// The cases that were edited, with which the suite is stored again.
    EditedCases,
}

/// What the next expansion of the call reads; `None` if it takes nothing from the cache.
fn read(call: &Call) -> Option<Read> {
    let location = call.context.cache.as_ref().expect("a call with a cache");
    let cache = Cache::of(location, &call.context.request)?;
    let stored = || fs::read(cache.file()).ok();
    let before = stored();
    cache.find()?;
    Some(if stored() == before { Read::Nothing } else { Read::EditedCases })
}

fn is_cached(call: &Call) -> bool {
    read(call) == Some(Read::Nothing)
}

#[test]
fn the_cached_suite_expands_to_the_same_code_as_a_loaded_one() {
    let fixture = Fixture::new(&[
        ("suites/card_agent/tasks/b/25-c.json", &TASK.replace("\"a\"", "\"c\"")),
        (
            "suites/card_agent/tasks/d.json",
            &TASK
                .replace("\"a\"", "\"d\"")
                .replace("\"graders\"", "\"input\": { \"fixture_dir\": \"template\" }, \"graders\""),
        ),
        ("suites/card_agent/template/file.txt", "text"),
    ]);
    let call = call(&fixture);
    let first = call.expand();
    assert!(is_cached(&call), "the suite is found in OUT_DIR: {:?}", texts(&first, true));
    let second = call.expand();
    assert_eq!(first.tokens().to_string(), second.tokens().to_string(), "loaded and from the cache");
    assert!(second.tokens().to_string().contains("archive"), "what cases need is embedded as one file");
    let loaded = call.expand_uncached();
    let of_suite = |expansion: &crate::expansion::Expansion| {
        let code = expansion.tokens().to_string();
        code.split_once("const __DIAGNOSTICS").expect("the diagnostics").1.to_owned()
    };
    assert_eq!(of_suite(&second), of_suite(&loaded), "only what is embedded differs");
    let sorted = |mut files: Vec<std::path::PathBuf>| {
        files.sort();
        files.dedup();
        files
    };
    let mut read = loaded.files.clone();
    read.push(fixture.path("suites/card_agent/template/file.txt"));
    assert_eq!(sorted(second.files), sorted(read), "files in the archive are tracked too");
}

#[test]
fn the_archive_is_not_newer_than_its_files() {
    let fixture = expanded(&[
        (
            "suites/card_agent/tasks/d.json",
            &TASK
                .replace("\"a\"", "\"d\"")
                .replace("\"graders\"", "\"input\": { \"fixture_dir\": \"template\" }, \"graders\""),
        ),
        ("suites/card_agent/template/file.txt", "text"),
    ]);
    let folder = fixture.cache.out_dir.join("evalsuite/loaded");
    let archive = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.extension().is_some_and(|extension| extension == "embedded"))
        .expect("an archive");
    let modified = fs::metadata(archive).and_then(|it| it.modified()).expect("a time");
    let message = "cargo would compile the test program again, because it includes a file that is newer than the build";
    assert!(modified < SystemTime::now() - Duration::from_secs(1800), "{message}");
}

#[test]
fn a_trailing_slash_is_the_same_suite() {
    let fixture = expanded(&[]);
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
        let fixture = expanded(&[]);
        let before = call(&fixture).expand();
        change(&fixture);
        assert!(!is_cached(&call(&fixture)), "{name}");
        assert_ne!(call(&fixture).expand().tokens().to_string(), before.tokens().to_string(), "{name}");
    }
}

#[test]
fn a_nearer_file_outside_of_the_suite_is_seen() {
    let fixture = Fixture::new(&[
        ("shared/note.txt", "far"),
        (
            "suites/near/EVAL.yaml",
            "tests:\n  - { id: a, input: hi, input_files: [shared/note.txt], criteria: polite }\n",
        ),
    ]);
    fixture.age("shared");
    let call = fixture.call("suites/near");
    let expansion = call.expand();
    assert!(is_cached(&call), "{:?}", texts(&expansion, true));
    // Files come and go beside the package's own.
    fixture.write("Cargo.lock", "");
    assert!(is_cached(&call));
    fixture.write("suites/shared/note.txt", "near");
    assert!(!is_cached(&call));
    let code = call.expand().tokens().to_string();
    assert!(code.contains("\"path\":\"suites/shared/note.txt\""), "{code}");
}

#[test]
fn a_file_that_a_pattern_matches_outside_of_the_suite_is_seen() {
    let case = |id: &str| format!("{{\"id\": \"{id}\", \"input\": \"hi\", \"criteria\": \"polite\"}}\n");
    for (pattern, added) in [
        ("../../data/**/*.jsonl", "data/empty/b.jsonl"),
        ("../../data/**/*.jsonl", "data/new/deep/b.jsonl"),
        ("../../data/*/*.jsonl", "data/empty/b.jsonl"),
        // A directory that is searched before the one with a match.
        ("data/**/*.jsonl", "suites/data/b.jsonl"),
        ("data/**/*.jsonl", "suites/far/data/b.jsonl"),
    ] {
        let fixture = Fixture::new(&[
            ("data/full/a.jsonl", &case("a")),
            ("data/empty/note.txt", ""),
            ("suites/far/EVAL.yaml", &format!("name: far\ntests: [\"file://{pattern}\"]\n")),
        ]);
        fixture.age("data");
        let call = fixture.call("suites/far");
        let expansion = call.expand();
        assert!(is_cached(&call), "{pattern}: {:?}", texts(&expansion, true));
        fixture.write(added, &case("b"));
        let code = call.expand().tokens().to_string();
        assert_eq!(code, call.clone().expand_uncached().tokens().to_string(), "{pattern} {added}");
        assert!(code.contains("id : \"b\""), "{pattern} {added}: {code}");
    }
}

#[test]
fn a_suite_whose_cases_are_changed_by_options_is_neither_taken_nor_stored() {
    let fixture = Fixture::new(&[]);
    let mut all = vec![call(&fixture); 3];
    all[0].binding.fixtures = false;
    all[1].binding.targets = vec![literal("x")];
    all[2].binding.require_env = vec![literal("KEY")];
    for (index, changed) in all.iter().enumerate() {
        changed.expand();
        assert_eq!(read(&call(&fixture)), None, "call {index}");
    }
    let plain = call(&fixture).expand().tokens().to_string();
    for (index, changed) in all.iter().enumerate() {
        assert_eq!(changed.expand().tokens().to_string(), changed.clone().expand_uncached().tokens().to_string());
        assert_eq!(call(&fixture).expand().tokens().to_string(), plain, "after call {index}");
    }
    let mut elsewhere = call(&fixture);
    elsewhere.context.request.workspace_root = fixture.path("..");
    assert_eq!(read(&elsewhere), None, "its paths are shown in another way");
}

#[test]
fn a_suite_with_other_graders_than_the_registered_ones_is_loaded_for_diagnostics_with_places() {
    let fixture = Fixture::new(&[(
        "suites/card_agent/tasks/b.json",
        &TASK.replace("\"a\"", "\"b\"").replace("contains", "is_nice"),
    )]);
    let mut call = call(&fixture);
    for _ in 0..2 {
        let errors = texts(&call.expand(), true);
        assert!(errors[0].contains("unknown grader `is_nice`"), "{errors:?}");
        assert!(errors[0].contains("suites/card_agent/tasks/b.json:1:"), "{errors:?}");
    }
    call.graders(&["is-nice", "other"]);
    for _ in 0..2 {
        let expansion = call.expand();
        assert_eq!(texts(&expansion, true), [""; 0]);
        let warnings = texts(&expansion, false);
        assert!(
            warnings[0].starts_with("[W016 unused-grader] grader `other` is registered, but no case"),
            "{warnings:?}"
        );
    }
}

#[test]
fn warnings_are_the_same_with_a_cached_suite_and_can_be_denied() {
    let fixture = Fixture::new(&[]);
    let yaml = "tests:\n  - id: a\n    input: Hi\n    assert:\n      - type: contains\n        value: hi\n";
    fixture.write("suites/old/EVAL.yaml", yaml);
    fixture.age("suites");
    let mut call = fixture.call("suites/old");
    let first = call.expand();
    assert!(is_cached(&call));
    let cached = call.expand();
    let loaded = call.clone().expand_uncached();
    for expansion in [&first, &cached, &loaded] {
        let warnings = texts(expansion, false);
        assert!(warnings[0].starts_with("[W001 deprecated-key]") && warnings.len() == 1, "{warnings:?}");
        assert_eq!(warnings, texts(&loaded, false));
        assert_eq!(expansion.recorded_warnings, loaded.recorded_warnings);
    }
    call.binding.deny_warnings = true;
    let expansion = call.expand();
    let errors = texts(&expansion, true);
    assert!(errors[0].starts_with("[W001 deprecated-key]"), "{errors:?}");
    assert_eq!(errors, texts(&call.clone().expand_uncached(), true), "the same text with and without a cache");
    assert!(expansion.tokens().to_string().contains("cases : & []"));
    call.binding.allow = vec![literal("deprecated-key")];
    let expansion = call.expand();
    assert_eq!((expansion.problems().len(), expansion.recorded_warnings.len()), (0, 0));
}

#[test]
fn damaged_files_are_not_used() {
    let fixture = expanded(&[]);
    let folder = fixture.cache.out_dir.join("evalsuite/loaded");
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let content = std::fs::read_to_string(&path).expect("text");
        if content.is_empty() {
            continue;
        }
        std::fs::write(&path, &content[..content.len() / 2]).expect("written");
        assert!(!is_cached(&call(&fixture)), "{}", path.display());
        std::fs::write(&path, content).expect("written");
    }
    assert!(is_cached(&call(&fixture)));
}

#[test]
fn another_build_of_the_macro_trusts_no_old_cache() {
    let fixture = expanded(&[]);
    let mut call = call(&fixture);
    assert!(is_cached(&call));
    call.context.cache.as_mut().expect("a cache").program = "another one".to_owned();
    assert_eq!(read(&call), None);
}

#[test]
fn a_directory_that_cannot_be_written_means_no_cache() {
    let fixture = Fixture::new(&[]);
    let mut call = call(&fixture);
    let expected = call.clone().expand_uncached().tokens().to_string();
    let file = fixture.path("file");
    fs::write(&file, "").expect("a file");
    for out_dir in [file.clone(), file.join("below"), fixture.path("no/such/directory")] {
        call.context.cache.as_mut().expect("a cache").out_dir = out_dir;
        assert_eq!(call.expand().tokens().to_string(), expected);
    }
}

#[test]
fn of_several_expansions_at_once_one_loads_the_suite() {
    let fixture = Fixture::new(&[]);
    let loads: Vec<bool> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let call = call(&fixture);
                    let location = call.context.cache.as_ref().expect("a cache");
                    let cache = Cache::of(location, &call.context.request).expect("it can be stored");
                    let is_found = cache.find().is_some();
                    if !is_found {
                        cache.store(&evalsuite_loader::load(&call.context.request)).expect("a suite");
                    }
                    !is_found
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(loads.iter().filter(|loads| **loads).count(), 1, "{loads:?}");
}

/// The task that is edited.
const PATH: &str = "suites/card_agent/tasks/a.json";

/// What an expansion takes from the cache after the task has this text.
fn after(fixture: &Fixture, text: &str) -> Option<Read> {
    fixture.write(PATH, text);
    fixture.age(PATH);
    read(&call(fixture))
}

#[test]
fn the_edit_of_a_case_reads_that_case_only_and_gives_the_same_suite() {
    let fixture = expanded(&[("suites/card_agent/tasks/b.json", &TASK.replace("\"a\"", "\"b\""))]);
    assert_eq!(after(&fixture, &TASK.replace("hello", "hallo")), Some(Read::EditedCases));
    let call = call(&fixture);
    assert!(is_cached(&call));
    let code = call.expand().tokens().to_string();
    assert!(code.contains("hallo"), "{code}");
    assert_eq!(code, call.expand_uncached().tokens().to_string());
}

#[test]
fn what_a_suite_takes_from_a_case_makes_it_read_as_a_whole() {
    let changes: [(&str, &str, &str); 4] = [
        ("an id", "\"a\"", "\"other\""),
        ("a grader of the user's", "contains", "is_nice"),
        ("a place", "{ \"id\"", "\n{ \"id\""),
        ("a path", "\"description\"", "\"input\": { \"fixture_dir\": \"tasks\" }, \"description\""),
    ];
    for (name, from, to) in changes {
        let fixture = expanded(&[]);
        assert_eq!(after(&fixture, &TASK.replacen(from, to, 1)), None, "{name}");
    }
}

#[test]
fn a_mistake_that_is_corrected_leaves_the_rest_of_the_suite_in_the_cache() {
    let fixture = expanded(&[("suites/card_agent/tasks/b.json", &TASK.replace("\"a\"", "\"b\""))]);
    assert_eq!(after(&fixture, "{"), None);
    assert!(!texts(&call(&fixture).expand(), true).is_empty(), "the mistake is an error");
    assert_eq!(after(&fixture, &TASK.replace("hello", "hallo")), Some(Read::EditedCases));
}
