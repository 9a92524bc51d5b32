//! The generated test that checks the suite itself.

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
