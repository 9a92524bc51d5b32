//! `cargo evalsuite merge`, run as a program.

use std::fs;

use evalsuite_schema::json::{Value, json};

use crate::package::{Output, Package};

const SUITE: &str = "suites/s-12345678";

/// The record of a part, with what is peculiar to it.
fn run_json(package: &Package, part: &str, commit: &str, tests: u32) {
    let run = json!({
        "schema": "evalsuite.run/1", "run_id": "r", "started_at": format!("2026-01-04T09:15:0{tests}.000Z"),
        "package": "p", "package_version": "1.0.0", "git": {"commit": commit, "dirty": false}, "ci": null,
        "env": {"EVALSUITE_RUN_ID": "r"},
        "suites": [{"name": "s", "package": "p", "tests": tests, "before_all": "done", "after_all": "none"}],
    });
    package.write(&format!("{part}/run.json"), &run.to_string());
    let tests: Vec<Value> = (0..tests)
        .map(|number| {
            let program = format!("evals-000000000000000{part}", part = part.len() % 10);
            json!({"program": program, "test_name": format!("s::{number}"), "case_id": number.to_string(), "target": null})
        })
        .collect();
    let suite = json!({"schema": "evalsuite.suite/1", "name": "s", "kind": "mixed", "layout": "cases", "digest": "d", "tests": tests});
    package.write(&format!("{part}/{SUITE}/suite.json"), &suite.to_string());
    package.write(&format!("{part}/locks/run.lock"), "");
}

fn case(package: &Package, part: &str, id: &str, requested_by: Option<&str>, answer: &str) {
    let case = json!({
        "schema": "evalsuite.case/1", "run_id": "r", "suite": "s", "suite_digest": "d", "layout": "cases", "kind": "mixed",
        "case_id": id, "case_key": id, "case_digest": "", "input_digest": "", "grader_digest": "", "test_name": format!("s::{id}"),
        "target": "default", "agent": "a", "location": {"file": "f", "line": 1, "column": 1}, "runner_attempt": 1,
        "requested_by": requested_by, "outcome": "passed", "reason": null, "score": 1.0, "threshold": 0.8, "rule": "any",
        "strategy": null, "trials": [], "planned": 1, "completed": 1, "passed": 1, "errors": 0, "truncated": false,
        "cost_limited": false, "pass_at_k": {}, "pass_hat_k": {}, "mean": null, "min": null, "max": null, "stddev": null,
        "ci95_lower": null, "ci95_upper": null, "stability": null,
    });
    package.write(&format!("{part}/{SUITE}/cases/{id}/case.json"), &case.to_string());
    package.write(&format!("{part}/{SUITE}/cases/{id}/trial-000/log.txt"), answer);
    package.write(&format!("{part}/spend.jsonl"), &format!("{{\"case_key\":\"{id}\"}}\n"));
}

fn two_parts() -> Package {
    let package = Package::new(&[]);
    run_json(&package, "one/runs/r", "abc", 2);
    package.write("one/latest", "r");
    run_json(&package, "two", "abc", 3);
    case(&package, "one/runs/r", "a", None, "from one");
    case(&package, "two", "b", None, "from two");
    package
}

fn merge(package: &Package) -> Output {
    package.run(&["merge", "one", "two", "--into", "all"])
}

fn text(package: &Package, path: &str) -> String {
    fs::read_to_string(package.root().join("all/runs/r").join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_part_whose_tests_are_still_running_is_not_merged() {
    let package = two_parts();
    let lock = std::fs::File::options().write(true).open(package.root().join("two/locks/run.lock")).unwrap();
    lock.lock().unwrap();
    let output = merge(&package);
    assert_eq!(output.code, 2, "{}", output.out);
    assert!(
        output.err.starts_with("error: tests of run ") && output.err.contains("two are still running\n"),
        "{}",
        output.err
    );
    assert!(!package.root().join("all").exists());
}

#[test]
fn parts_of_a_run_become_one_run() {
    let package = two_parts();
    package.write(&format!("one/runs/r/{SUITE}/hooks/before_all.log"), "on one");
    package.write(&format!("two/{SUITE}/hooks/before_all.log"), "on two");
    let output = merge(&package);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with("merged 2 cases from 2 parts: "), "{}", output.out);
    assert_eq!(text(&package, &format!("{SUITE}/cases/a/trial-000/log.txt")), "from one");
    assert_eq!(text(&package, &format!("{SUITE}/cases/b/trial-000/log.txt")), "from two");
    assert_eq!(text(&package, "spend.jsonl"), "{\"case_key\":\"a\"}\n{\"case_key\":\"b\"}\n");
    assert_eq!(text(&package, &format!("{SUITE}/hooks/before_all.log")), "on one");
    assert_eq!(text(&package, &format!("shards/2/{SUITE}/hooks/before_all.log")), "on two");
    assert_eq!(fs::read_to_string(package.root().join("all/latest")).unwrap(), "r");
    let run: Value = evalsuite_schema::json::from_str(&text(&package, "run.json")).unwrap();
    assert_eq!((&run["suites"][0]["tests"], run["shards"].as_array().map(Vec::len)), (&json!(3), Some(2)), "{run}");
    assert_eq!(run["started_at"], "2026-01-04T09:15:02.000Z", "when the first part began");
    let summary: Value = evalsuite_schema::json::from_str(&text(&package, "summary.json")).unwrap();
    assert_eq!((&summary["run_id"], summary["suites"][0]["cases"].as_array().map(Vec::len)), (&json!("r"), Some(2)));
    assert!(!package.root().join("all/runs/r/locks").exists(), "locks are those of the machines");
    assert_eq!(fs::read_dir(package.root().join("all/runs")).unwrap().count(), 1, "nothing is left of the work");

    // What a `merge` and a `clean` left that were killed.
    for left in [".r.0123456789abcdef.tmp/r", ".s.0123456789abcdef.tmp"] {
        run_json(&package, &format!("all/runs/{left}"), "abc", 3);
    }
    package.write("all/runs/.r.0123456789abcdef.tmp/locks/unfinished.lock", "");
    let package = &package;
    let call = |arguments: &[&str]| package.run_with(arguments, &[("EVALSUITE_OUTPUT", "all")]);
    let listed: Value = package.json("list", &call(&["list", "--runs", "--format", "json"]).out);
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(call(&["clean", "--keep", "1"]).code, 0);
    assert_eq!(fs::read_dir(package.root().join("all/runs")).unwrap().count(), 1);

    let again = merge(package);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("already exists"), "{}", again.err);
}

#[test]
#[cfg(unix)]
fn what_cannot_be_removed_does_not_prevent_a_merge() {
    let package = two_parts();
    let left = package.root().join("all/runs/.s.0123456789abcdef.tmp");
    fs::create_dir_all(&left).unwrap();
    std::os::unix::fs::symlink("locks", left.join("locks")).unwrap();
    let output = merge(&package);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("warning: cannot remove ") && output.err.contains(".s.0123"), "{}", output.err);
}

#[test]
fn attempts_of_the_test_runner_are_one_case() {
    let package = two_parts();
    for attempt in [2, 3] {
        case(&package, "two", "b", None, "again");
        let from = package.root().join(format!("two/{SUITE}/cases/b"));
        let record = fs::read_to_string(from.join("case.json")).unwrap();
        let record = record.replace("\"runner_attempt\":1", &format!("\"runner_attempt\":{attempt}"));
        package.write(&format!("two/{SUITE}/cases/b.attempt-{attempt}/case.json"), &record);
    }
    let output = package.run(&["merge", "one", "two", "--into", "all", "--format", "json"]);
    assert_eq!(package.json("merge", &output.out)["cases"], 2, "{}", output.out);
}

#[test]
fn a_dependency_that_ran_in_several_parts_keeps_all_its_records() {
    let package = two_parts();
    case(&package, "one/runs/r", "b", Some("a"), "for a");
    let output = merge(&package);
    assert_eq!(output.code, 0, "{}", output.err);
    assert_eq!(text(&package, &format!("{SUITE}/cases/b/trial-000/log.txt")), "from two", "its own test counts");
    assert_eq!(text(&package, &format!("shards/1/{SUITE}/cases/b/trial-000/log.txt")), "for a");
}

#[test]
fn a_record_that_can_be_read_counts_whatever_the_order_of_the_parts() {
    let merged = |order: [&str; 2], damage: &dyn Fn(&Package)| {
        let package = two_parts();
        case(&package, "one/runs/r", "b", None, "from one");
        damage(&package);
        let output = package.run(&["merge", order[0], order[1], "--into", "all", "--format", "json"]);
        assert_eq!(output.code, 0, "{order:?}: {}", output.err);
        let merged = package.json("merge", &output.out);
        let summary: Value = evalsuite_schema::json::from_str(&text(&package, "summary.json")).unwrap();
        let cases = summary["suites"][0]["cases"].as_array().unwrap();
        let b: Vec<&Value> = cases.iter().filter(|case| case["case_id"] == "b").collect();
        assert_eq!(b.len(), 1, "{order:?}: {summary}");
        let warnings =
            merged["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap().to_owned());
        (b[0]["outcome"].clone(), merged["cases"].clone(), warnings.collect::<Vec<_>>().join("\n"))
    };
    let record = |part: &str| format!("{part}/{SUITE}/cases/b/case.json");
    let torn = |package: &Package| package.write(&record("one/runs/r"), "{\"schema\": \"evalsuite.case/1\", ");
    let missing = |package: &Package| fs::remove_file(package.root().join(record("one/runs/r"))).unwrap();
    // A dependency, whose own record would otherwise take precedence over it.
    let requested = |package: &Package| {
        case(package, "two", "b", Some("a"), "from two");
        torn(package);
    };
    let both = |package: &Package| {
        torn(package);
        package.write(&record("two"), "nothing");
    };
    for order in [["one", "two"], ["two", "one"]] {
        for damage in [&torn as &dyn Fn(&Package), &missing, &requested] {
            let (outcome, cases, warnings) = merged(order, damage);
            assert_eq!((&outcome, &cases), (&json!("passed"), &json!(2)), "{order:?}: {warnings}");
            assert!(
                warnings.contains("one/runs/r/suites/s-12345678/cases/b has no record that can be read; "),
                "{warnings}"
            );
        }
        let (outcome, cases, warnings) = merged(order, &both);
        assert_eq!((&outcome, &cases), (&json!("error"), &json!(1)), "{order:?}: {warnings}");
        assert_eq!(warnings.matches("b/case.json: ").count(), 2, "{warnings}");
    }
}

#[test]
fn a_list_of_chosen_tests_that_cannot_be_read_is_named() {
    let package = two_parts();
    package.write("one/runs/r/chosen.json", r#"{"schema": "evalsuite.chosen/1", "tests": {}}"#);
    package.write("two/chosen.json", "{");
    let output = merge(&package);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("warning: ") && output.err.contains("two/chosen.json: EOF"), "{}", output.err);
    assert!(!package.root().join("all/runs/r/chosen.json").exists(), "which tests were chosen is not known");
}

#[test]
fn the_same_record_twice_is_one_record() {
    let package = two_parts();
    case(&package, "one/runs/r", "b", None, "from two");
    let output = merge(&package);
    assert_eq!(output.code, 0, "{}", output.err);
}

#[test]
fn parts_that_contradict_each_other_are_not_merged() {
    let refused = |change: &dyn Fn(&Package), says: &str| {
        let package = two_parts();
        change(&package);
        let output = merge(&package);
        assert_eq!(output.code, 1, "{says}\n{}", output.out);
        assert!(output.err.contains(says), "expected {says}\n{}", output.err);
        assert!(!package.root().join("all").exists(), "nothing is written");
    };
    refused(&|package| case(package, "one/runs/r", "b", None, "another"), "case `b` has different records: ");
    refused(&|package| run_json(package, "two", "def", 3), "has records of commit def, not abc");
    let refused_of_three = |package: &Package| {
        let output = package.run(&["merge", "one", "three", "two", "--into", "all"]);
        assert_eq!(output.code, 1, "{}", output.out);
        assert!(output.err.contains("two has records of commit abc, not def"), "{}", output.err);
    };
    let replace = |package: &Package, file: &str, from: &str, to: &str| {
        let text = fs::read_to_string(package.root().join(file)).unwrap();
        assert!(text.contains(from), "{text}");
        package.write(file, &text.replace(from, to));
    };
    refused(
        &|package| replace(package, "two/run.json", "\"run_id\":\"r\"", "\"run_id\":\"q\""),
        "is run `q`, not `r`: set EVALSUITE_RUN_ID",
    );
    refused(
        &|package| replace(package, &format!("two/{SUITE}/suite.json"), "\"digest\":\"d\"", "\"digest\":\"e\""),
        "suite `s` in ",
    );
    // The first part was not in a repository.
    let package = two_parts();
    run_json(&package, "three", "def", 2);
    replace(&package, "one/runs/r/run.json", "\"git\":{\"commit\":\"abc\",\"dirty\":false}", "\"git\":null");
    refused_of_three(&package);
}

#[test]
fn parts_with_different_digests_of_the_agent_are_a_run_without_a_digest() {
    let package = two_parts();
    let set_digest = |part: &str, digest: &str| {
        let file = package.root().join(part).join("run.json");
        let mut record: Value = evalsuite_schema::json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        record["env"] = json!({ "EVALSUITE_AGENT_DIGEST": digest });
        fs::write(&file, record.to_string()).unwrap();
    };
    set_digest("one/runs/r", "5d");
    set_digest("two", "a0");
    let output = merge(&package);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("two has another EVALSUITE_AGENT_DIGEST than "), "{}", output.err);
    let run: Value = evalsuite_schema::json::from_str(&text(&package, "run.json")).unwrap();
    assert_eq!(run["env"]["EVALSUITE_AGENT_DIGEST"], Value::Null, "{run}");
    fs::remove_dir_all(package.root().join("all")).unwrap();
    set_digest("two", "5d");
    let output = merge(&package);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let run: Value = evalsuite_schema::json::from_str(&text(&package, "run.json")).unwrap();
    assert_eq!(run["env"]["EVALSUITE_AGENT_DIGEST"], "5d", "{run}");
}

#[test]
fn an_output_directory_that_cannot_be_written_is_named() {
    let package = two_parts();
    package.write("all", "a file");
    let output = merge(&package);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    let named = output.err.strip_prefix("error: ").and_then(|error| error.split_once("/all/runs"));
    assert!(named.is_some(), "{}", output.err);
}

#[test]
fn a_part_has_to_be_a_run() {
    let package = two_parts();
    let output = package.run(&["merge", "one", "suites", "--into", "all"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("`suites` is not a run and contains none"), "{}", output.err);
    let output = package.run(&["merge", "one", "too", "--into", "all"]);
    assert_eq!(output.code, 2);
    assert!(output.err.starts_with("error: `too` does not exist\n  = help: did you mean `two`"), "{}", output.err);
    let output = package.run(&["merge", "one", "one/runs/r", "--into", "all"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("is listed twice"), "{}", output.err);
    assert_eq!(package.run(&["merge"]).code, 2);
}

#[test]
fn every_part_keeps_its_calibration() {
    let package = two_parts();
    for (part, worth) in [("one/runs/r", "0.9"), ("two", "0.8")] {
        package.write(&format!("{part}/{SUITE}/calibration.json"), worth);
        package.write(&format!("{part}/{SUITE}/calibration/a-12345678/prompt.md"), worth);
        package.write(&format!("{part}/locks/once-calibration-s.json"), worth);
    }
    package.write(&format!("two/{SUITE}/calibration.test-12345678.json"), "of another program");
    let output = merge(&package);
    assert_eq!(output.code, 0, "{}", output.err);
    assert_eq!(text(&package, &format!("{SUITE}/calibration.json")), "0.9");
    assert_eq!(text(&package, &format!("{SUITE}/calibration/a-12345678/prompt.md")), "0.9");
    assert_eq!(text(&package, &format!("shards/2/{SUITE}/calibration.json")), "0.8");
    assert_eq!(text(&package, &format!("shards/2/{SUITE}/calibration/a-12345678/prompt.md")), "0.8");
    assert_eq!(text(&package, &format!("{SUITE}/calibration.test-12345678.json")), "of another program");
    let output = package.run(&["finish", "all/runs/r"]);
    assert_eq!(output.code, 1, "a number is no calibration:\n{}{}", output.out, output.err);
    assert_eq!(text(&package, &format!("{SUITE}/calibration.json")), "0.9", "it stays as it is");
}

#[test]
fn the_merged_run_or_what_is_wrong_with_its_parts_is_printed_as_json() {
    let package = two_parts();
    let merge = || package.run(&["merge", "one", "two", "--into", "all", "--format", "json"]);
    case(&package, "one/runs/r", "b", None, "another");
    let output = merge();
    assert_eq!(output.code, 1, "{}", output.out);
    let merged = package.json("merge", &output.out);
    let problem = merged["problems"][0].as_str().expect("a problem");
    assert!(problem.starts_with("case `b` has different records: "), "{merged}");
    assert_eq!((&merged["run_id"], &merged["path"]), (&Value::Null, &Value::Null));
    case(&package, "one/runs/r", "b", None, "from two");
    let output = merge();
    assert_eq!(output.code, 0, "{}", output.err);
    let merged = package.json("merge", &output.out);
    assert_eq!((&merged["run_id"], &merged["cases"], &merged["problems"]), (&json!("r"), &json!(2), &json!([])));
    assert_eq!(merged["parts"].as_array().map(Vec::len), Some(2));
    assert!(merged["path"].as_str().is_some_and(|path| path.ends_with("all/runs/r")), "{merged}");
    let again = merge();
    assert_eq!((again.code, again.out.as_str()), (2, ""), "{}", again.err);
}
