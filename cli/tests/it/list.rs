//! `cargo evalsuite list`, run as a program.

use crate::package::{Package, TASK};
use evalsuite_tests::synthetic_run::SyntheticRun;

#[test]
fn suites_cases_and_graders_are_listed_with_their_places() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    let output = package.run_in_output(&["list"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert_eq!(output.out, "cards (suites/card_agent)\n  a  suites/card_agent/tasks/a.json:1  contains\n\n");
    let listing = package.json("list", &package.run_in_output(&["list", "--format", "json"]).out);
    assert_eq!(listing["suites"][0]["cases"][0]["tests"][0], "card_agent::a");
    assert_eq!(listing["suites"][0]["cases"][0]["graders"][0]["type"], "contains");
    assert!(listing["runs"].is_null(), "{listing}");
}

#[test]
fn runs_are_listed_with_their_rates_the_newest_first() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    for id in ["run-1", "run-2"] {
        SyntheticRun::new(id, 12, 1).write(&package.root().join("out"));
    }
    let output = package.run_in_output(&["list", "--runs", "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let listing = package.json("list", &output.out);
    assert_eq!((&listing["schema"], listing["suites"].is_null()), (&"evalsuite.list/1".into(), true));
    let ids: Vec<&str> = listing["runs"].as_array().unwrap().iter().filter_map(|run| run["run_id"].as_str()).collect();
    assert_eq!(ids, ["run-2", "run-1"]);
    let rate = listing["runs"][0]["suites"][0]["pass_rate"].as_f64().expect("a rate");
    assert!((0.0..=1.0).contains(&rate));
    let output = package.run_in_output(&["list", "--runs"]);
    assert!(output.out.starts_with("run    suite"), "{}", output.out);
    assert!(output.out.contains("run-2  refunds@default"), "{}", output.out);
    assert_eq!(package.run(&["list", "--runs"]).out, "no runs\n");
    assert_eq!(package.run_in_output(&["list", "suites", "--runs"]).code, 2, "a run has no path of a suite");
}

#[test]
fn a_run_is_found_by_the_id_that_it_was_given() {
    let package = Package::new(&[]);
    let name = evalsuite::tooling::run_id_or_new(Some("7301/2"));
    assert_ne!(name, evalsuite::tooling::run_id_or_new(Some("7301 2")));
    SyntheticRun::new(&*name, 3, 1).write(&package.root().join("out"));
    for id in ["7301/2", &name] {
        let output = package.run_in_output(&["report", id]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{id}: {}", output.out);
    }
    for (id, error) in [("7301/3", "`7301/3` does not exist"), ("7301 2", "there is no run `7301 2` in ")] {
        let output = package.run_in_output(&["report", id]);
        assert!(output.code == 2 && output.err.starts_with(&format!("error: {error}")), "{}", output.err);
    }
}

#[test]
fn an_output_directory_that_is_a_file_is_an_error() {
    let package = Package::new(&[("out", "not a directory")]);
    for command in [&["list", "--runs"][..], &["clean", "--keep", "1"], &["show", "a"]] {
        let output = package.run_in_output(command);
        assert!(output.code == 2 && output.err.contains("out: not a directory"), "{command:?}: {}", output.err);
    }
}

#[test]
fn a_suite_with_errors_is_listed_with_their_number() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{")]);
    let output = package.run_in_output(&["list"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.starts_with("suites/card_agent: 1 error, see `cargo evalsuite check suites/card_agent`\n"),
        "{}",
        output.out
    );
}

#[test]
fn suites_and_their_tests_are_those_of_the_includes() {
    let case = "{ \"id\": \"a\", \"input\": \"Hi\", \"assertions\": [{ \"type\": \"equals\", \"value\": \"x\" }] }\n";
    let tests = "evalsuite::include_eval_suite!(\"data/riddles.jsonl\", name = puzzles, agent = agent);\n";
    let package = Package::new(&[("member/data/riddles.jsonl", case), ("member/tests/evals.rs", tests)]);
    package.write("Cargo.toml", "[workspace]\nmembers = [\"member\"]\n");
    package.write("member/Cargo.toml", "[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let output = package.run_in_output(&["list", "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let listing = package.json("list", &output.out);
    assert_eq!(listing["suites"][0]["cases"][0]["tests"][0], "puzzles::a", "{listing}");
    package.write("member/data/riddles.jsonl", "{}\n");
    let output = package.run_in_output(&["list"]);
    assert!(output.out.contains(", see `cargo evalsuite check member/data/riddles.jsonl`\n"), "{}", output.out);
}

#[test]
fn a_case_with_criteria_only_has_a_judge() {
    let case = "input: You are late!\ncriteria: Stays polite.\n";
    let package =
        Package::new(&[("suites/polite/EVAL.yaml", "name: polite\n"), ("suites/polite/cases/a/case.yaml", case)]);
    let output = package.run_in_output(&["list", "suites/polite"]);
    assert!(output.out.contains("  a  suites/polite/cases/a/case.yaml:1  llm-grader\n"), "{}", output.out);
}

#[test]
fn tags_of_a_case_add_up_with_those_of_its_suite() {
    let case = "input: Hello\ncriteria: Greets.\ntags: [slow, nightly, slow]\n";
    let task = TASK.replace("\"graders\"", "\"tags\": [\"slow\"], \"graders\"");
    let package = Package::new(&[
        ("suites/card_agent/tasks/a.json", &task),
        ("suites/shop/EVAL.yaml", "tags: [nightly]\n"),
        ("suites/shop/cases/a/case.yaml", case),
    ]);
    let output = package.run_in_output(&["list", "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let listing = package.json("list", &output.out);
    assert_eq!(listing["suites"][0]["cases"][0]["tags"], evalsuite_schema::json::json!(["slow"]));
    assert_eq!(listing["suites"][1]["cases"][0]["tags"], evalsuite_schema::json::json!(["nightly", "slow"]));
    let code = package.run(&["expand", "suites/shop", "--agent", "none"]).out;
    assert!(code.contains("tags: &[\"nightly\", \"slow\""), "the tests are chosen by them:\n{code}");
}
