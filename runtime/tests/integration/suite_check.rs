//! The generated test that checks the suite itself.

use std::cell::Cell;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use evalsuite::__private::CompiledJson;
use evalsuite::{EvalCase, EvalSuite, Evals, Evidence};
use evalsuite_schema::json::json;

use crate::common::{case_json, contains, grader};

/// A suite directory with two tasks, and the suite compiled from the first `known` files.
fn tasks(known: &[&'static str]) -> &'static EvalSuite {
    let directory = Box::leak(Box::new(tempfile::tempdir().unwrap()));
    let tasks = directory.path().join("suites/x/tasks");
    fs::create_dir_all(tasks.join("deep")).unwrap();
    fs::write(tasks.join("a.json"), "{}").unwrap();
    fs::write(tasks.join("deep/b.json"), "{}").unwrap();
    compiled(directory.path(), known)
}

fn compiled(root: &Path, sources: &[&'static str]) -> &'static EvalSuite {
    let location = json!({"file": "suites/x/suite.json", "line": 1, "column": 1});
    let suite = json!({"name": "x", "layout": "tasks", "kind": "mixed", "location": location, "root": "suites/x"});
    let graders = json!([contains("x"), grader("own", 12, json!({"user": {"grader": "own", "config": {"a": 1}}}))]);
    let json: &'static str = case_json("c", graders, json!({})).to_string().leak();
    let cases: Vec<EvalCase> = sources
        .iter()
        .map(|source| EvalCase {
            id: source,
            test_name: source,
            file: source,
            line: 1,
            column: 1,
            source,
            target: None,
            tags: &[],
            json: CompiledJson::Text(json),
        })
        .collect();
    Box::leak(Box::new(EvalSuite {
        name: "x",
        agent_name: None,
        module_path: "evals::x",
        package: "demo",
        package_version: "1.2.3",
        manifest_dir: root.display().to_string().leak(),
        root: "suites/x",
        json: CompiledJson::Text(suite.to_string().leak()),
        sources: &[("tasks", "tasks")],
        diagnostics: &[],
        embedded: None,
        origin: None,
        calibration: None,
        cases: cases.leak(),
    }))
}

fn with_config(_: evalsuite_schema::Value, _: &Evidence<'_>) -> bool {
    true
}

fn without_config(_: &Evidence<'_>) -> bool {
    true
}

fn text(result: std::thread::Result<()>) -> String {
    *result.unwrap_err().downcast::<String>().unwrap()
}

#[test]
fn the_compiled_suite_passes() {
    evalsuite::__private::suite_check(|| {
        Evals::new(tasks(&["tasks/a.json", "tasks/deep/b.json"])).with_grader("own", with_config)
    });
}

#[test]
fn added_and_removed_cases_are_named_with_the_line_for_build_rs() {
    let text = text(catch_unwind(|| {
        evalsuite::__private::suite_check(|| {
            Evals::new(tasks(&["tasks/a.json", "tasks/gone.json"])).with_grader("own", with_config)
        });
    }));
    assert!(text.contains("error[E075 suite-changed]"), "{text}");
    assert!(text.contains("added after the build: suites/x/tasks/deep/b.json"), "{text}");
    assert!(text.contains("gone since the build: suites/x/tasks/gone.json"), "{text}");
    assert!(text.contains("evalsuite_build::track(\"suites\");"), "{text}");
}

#[test]
fn a_pattern_that_leaves_the_suite_lists_the_files_that_the_loader_names_by_their_whole_paths() {
    thread_local! {
        static SUITE: Cell<Option<&'static EvalSuite>> = const { Cell::new(None) };
    }
    let directory = Box::leak(Box::new(tempfile::tempdir().unwrap()));
    for folder in ["suites/x/cases", "data/deep"] {
        fs::create_dir_all(directory.path().join(folder)).unwrap();
    }
    for file in ["data/a.jsonl", "data/deep/b.jsonl", "suites/x/cases/c.jsonl"] {
        fs::write(directory.path().join(file), "").unwrap();
    }
    let whole = |file: &str| -> &'static str { directory.path().join(file).display().to_string().leak() };
    let sources = [whole("data/a.jsonl"), whole("data/deep/b.jsonl"), "cases/c.jsonl"];
    let check = |known: &[&'static str]| {
        let suite = compiled(directory.path(), known);
        let patterns = &[("glob", "../../data/**/*.jsonl"), ("glob", "../x/cases/*.jsonl")];
        let suite: &'static EvalSuite = Box::leak(Box::new(EvalSuite { sources: patterns, ..*suite }));
        SUITE.set(Some(suite));
        catch_unwind(|| {
            evalsuite::__private::suite_check(|| Evals::new(SUITE.get().unwrap()).with_grader("own", with_config));
        })
    };
    check(&sources).unwrap();
    let gone = whole("data/gone.jsonl");
    let text = text(check(&[sources[0], gone, sources[2]]));
    assert!(text.contains("added after the build: data/deep/b.jsonl\n"), "{text}");
    assert!(text.contains("gone since the build: data/gone.jsonl\n"), "{text}");
}

#[test]
fn a_calibration_that_the_build_did_not_know_is_named() {
    let text = text(catch_unwind(|| {
        evalsuite::__private::suite_check(|| {
            let suite = tasks(&["tasks/a.json", "tasks/deep/b.json"]);
            fs::write(Path::new(suite.manifest_dir).join("suites/x/calibration.yaml"), "").unwrap();
            Evals::new(suite).with_grader("own", with_config)
        });
    }));
    assert!(text.contains("error[E075 suite-changed]"), "{text}");
    assert!(text.contains("added after the build: suites/x/calibration.yaml"), "{text}");
}

/// The program was built in a checkout, and is run for the package of these tests.
#[test]
fn the_suite_of_another_checkout_is_named_if_its_files_differ() {
    thread_local! {
        static SUITE: Cell<Option<&'static EvalSuite>> = const { Cell::new(None) };
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/card_agent");
    let (first, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let check = |root: &Path| {
        let suite = EvalSuite { root: "suites/card_agent", sources: &[], ..*compiled(root, &[]) };
        SUITE.set(Some(Box::leak(Box::new(suite))));
        catch_unwind(|| evalsuite::__private::suite_check(|| Evals::new(SUITE.get().unwrap())))
    };
    for root in [&first, &other] {
        copy(&here, &root.path().join("suites/card_agent"));
    }
    check(first.path()).unwrap();
    fs::write(other.path().join("suites/card_agent/tasks/new.json"), "{}").unwrap();
    fs::write(other.path().join("suites/card_agent/suite.json"), "{}").unwrap();
    let text = text(check(other.path()));
    assert!(text.starts_with("error[E075 suite-changed]: this test was built from "), "{text}");
    let parts = [other.path().canonicalize().unwrap().display().to_string(), here.display().to_string()];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    assert!(text.contains(" differs from it in `suite.json` and 1 other file\n"), "{text}");
}

/// The digest that the macro compiles, of a checkout that is gone when the program runs.
#[cfg(feature = "cli-agents")]
#[test]
fn the_suite_of_a_checkout_that_is_gone_is_compared_with_what_was_compiled() {
    thread_local! {
        static SUITE: Cell<Option<&'static EvalSuite>> = const { Cell::new(None) };
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let loaded = evalsuite_loader::load(&evalsuite_loader::Request::new("suites/card_agent", package)).suite.unwrap();
    let of_case = |path: &&String| loaded.cases.iter().any(|case| case.source == **path);
    let others: Vec<(&'static str, &'static str)> =
        loaded.files.keys().filter(|path| !of_case(path)).map(|path| ("file", &*path.clone().leak())).collect();
    assert!(!others.is_empty(), "the file of the suite is read besides those of its cases");
    let cases: Vec<&'static str> = loaded.cases.iter().map(|case| &*case.source.clone().leak()).collect();
    let check = |digest: &str| {
        let gone = Path::new("/nonexistent/checkout");
        let mut data = compiled(gone, &cases).decode().unwrap();
        data.digest = digest.to_owned();
        let json = CompiledJson::Text(evalsuite_schema::json::to_string(&data).unwrap().leak());
        let (root, sources) = ("suites/card_agent", &*others.clone().leak());
        let suite = EvalSuite { root, sources, json, ..*compiled(gone, &cases) };
        SUITE.set(Some(Box::leak(Box::new(suite))));
        catch_unwind(|| {
            evalsuite::__private::suite_check(|| Evals::new(SUITE.get().unwrap()).with_grader("own", with_config))
        })
    };
    check(&loaded.suite.digest).unwrap();
    let text = text(check(&"0".repeat(64)));
    assert!(text.starts_with("error[E075 suite-changed]: this test was built from /nonexistent/checkout"), "{text}");
    assert!(text.contains(", which does not exist any more, and "), "{text}");
    assert!(text.contains(" has other files than those that were compiled\nhelp: "), "{text}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn a_config_a_grader_rejects_is_named_with_its_place() {
    let text = text(catch_unwind(|| {
        evalsuite::__private::suite_check(|| {
            Evals::new(tasks(&["tasks/a.json", "tasks/deep/b.json"])).with_grader("own", without_config)
        });
    }));
    let expected = "error[E074 grader-config-rejected]: grader `own` rejects its config: the grader takes no config, but `a` is set\n --> suites/x/tasks/a.json:12:5";
    assert_eq!(text, expected, "the same entry is reported once");
}

#[test]
fn a_wrong_value_in_a_config_is_named_by_its_key() {
    #[derive(serde::Deserialize)]
    struct Limits {
        words: Vec<usize>,
    }
    let text = text(catch_unwind(|| {
        evalsuite::__private::suite_check(|| {
            let config = json!({"user": {"grader": "own", "config": {"words": [1, "two"]}}});
            let cases = [case_json("c", json!([grader("own", 9, config)]), json!({}))];
            let suite = crate::common::suite("tasks", "mixed", Path::new("/"), &cases);
            let own = |limits: Limits, evidence: &Evidence<'_>| limits.words.contains(&evidence.answer().len());
            Evals::new(suite).with_grader("own", own)
        });
    }));
    let expected = "grader `own` rejects its config: words[1]: invalid type: string \"two\", expected usize";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn an_absent_directory_has_nothing_to_compare() {
    evalsuite::__private::suite_check(|| {
        Evals::new(compiled(Path::new("/nonexistent"), &["tasks/gone.json"])).with_grader("own", with_config)
    });
}
