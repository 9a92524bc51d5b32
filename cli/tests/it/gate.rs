//! `cargo evalsuite gate`, run as a program.

use std::fs;

use crate::package::Package;
use evalsuite_schema::Value;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// A run in which about nine of ten cases pass.
fn package() -> Package {
    let package = Package::new(&[]);
    for (id, skill) in [("a-good", 0.95), ("b-badly", 0.2)] {
        let mut run = SyntheticRun::new(id, 30, 1);
        run.skill = skill;
        run.write(&package.root().join("out"));
    }
    package.write("out/latest", "a-good");
    package
}

#[test]
fn gates_that_are_met_are_green_and_missed_ones_are_red() {
    let package = package();
    let output = package.run_in_output(&["gate", "--require", "pass_rate >= 60%", "--require", "cost <= $5"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    assert!(output.out.starts_with("met        pass_rate >= 60%  0."), "{}", output.out);
    let output =
        package.run_in_output(&["gate", "--require", "pass_rate >= 60%", "--require", "score >= 0.999 per suite"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.out.contains("\nmissed     score >= 0.999 per suite  [suite:re"), "{}", output.out);
    let output = package.run_in_output(&["gate", "b-badly", "--require", "pass_rate >= 60%"]);
    assert_eq!(output.code, 1, "{}", output.out);
    let output = package.run_in_output(&["gate", "--require", "score >= 0.999 per suite", "--format", "json"]);
    let json = package.json("gate", &output.out);
    assert_eq!((&json["results"][0]["limit"], &json["comparison"]), (&0.999.into(), &Value::Null));
}

#[test]
fn what_cannot_be_decided_is_neither() {
    let package = package();
    let output = package.run_in_output(&["gate", "--require", "suite:other pass_rate >= 0"]);
    assert_eq!(output.code, 4);
    assert_eq!(output.out, "undecided  suite:other pass_rate >= 0  0 cases  (no case matches)\n");
    let cases = package.root().join("out/runs/a-good/suites/refunds-00000000/cases");
    let case = fs::read_dir(cases).unwrap().next().unwrap().unwrap().path();
    fs::write(case.join("case.json"), "{ \"schema\"").unwrap();
    let output = package.run_in_output(&["gate", "--require", "pass_rate >= 10%"]);
    assert_eq!(output.code, 4, "torn records are never green\n{}", output.out);
    fs::remove_dir_all(case).unwrap();
    let output = package.run_in_output(&["gate", "--require", "pass_rate >= 10%"]);
    assert_eq!(output.code, 4, "missing records neither\n{}", output.out);
    assert!(
        output.out.contains("(1 case did not run; with --selected, only cases that ran are counted)"),
        "{}",
        output.out
    );
    let output = package.run_in_output(&["gate", "--selected", "--require", "pass_rate >= 10%"]);
    assert_eq!(output.code, 0, "{}", output.out);
}

#[test]
fn a_mistake_is_an_error_with_its_place() {
    let package = package();
    let output = package.run_in_output(&["gate", "--require", "pas_rate >= 0.9"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    let expected =
        "error: unknown measure `pas_rate`\n  | pas_rate >= 0.9\n  | ^^^^^^^^\n  = help: did you mean `pass_rate`?\n";
    assert_eq!(output.err, expected);
    let output = package.run_in_output(&["gate"]);
    assert_eq!(output.code, 2, "there is nothing to check");
    assert!(
        output.err.starts_with("error: the suites of run `a-good` have no gates\n  = help: write `gates:"),
        "{}",
        output.err
    );
    assert_eq!(package.run_in_output(&["gate", "none", "--require", "score >= 0"]).code, 2);
    let output = package.run_in_output(&["gate", "pass_rate >= floor + 20%"]);
    let expected = "error: `pass_rate >= floor + 20%` is a gate, where the run is named\n  = help: write `--require 'pass_rate >= floor + 20%'`\n";
    assert_eq!((output.code, output.err.as_str()), (2, expected));
    for (arguments, message) in [
        (
            ["--margin", "2"],
            "error: invalid value '2' for '--margin <M>': expected a share from 0 to 1, such as `10%` or `0.1`\n",
        ),
        (["--by", "suite"], "error: --by suite: suites and targets are always compared separately\n"),
        (["--by", "language"], "error: --by language: expected `bucket`, `tag` or `metadata.KEY`\n"),
    ] {
        let output = package.run_in_output(&[&["gate", "--base", "b-badly"], arguments.as_slice()].concat());
        assert!(output.code == 2 && output.err.starts_with(message), "{}", output.err);
    }
    let with_margin = |margin| package.run_in_output(&["gate", "--base", "b-badly", "--margin", margin]);
    let [percent, share] = ["10%", "0.1"].map(with_margin);
    assert_eq!((percent.code, &percent.out), (share.code, &share.out), "{}", percent.err);
}

#[test]
fn a_regression_is_a_missed_gate() {
    let package = package();
    let gate = ["gate", "b-badly", "--base", "a-good", "--require", "time >= 0"];
    assert_eq!(package.run_in_output(&gate).code, 2, "time has an upper limit");
    let output = package.run_in_output(&["gate", "b-badly", "--base", "a-good", "--require", "pass_rate >= 0"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.out.contains("\nb-badly compared with a-good\n"), "{}", output.out);
    let arguments = ["gate", "b-badly", "--base", "a-good", "--by", "bucket", "--format", "json"];
    let output = package.run_in_output(&arguments);
    assert_eq!(output.code, 1, "{}", output.out);
    let json = package.json("gate", &output.out);
    assert_eq!((&json["schema"], &json["results"]), (&"evalsuite.gates/1".into(), &Value::Array(Vec::new())));
    assert_eq!(json["comparison"]["schema"], "evalsuite.comparison/1");
    let output = package.run_in_output(&["diff", "a-good", "b-badly", "--by", "bucket", "--format", "json"]);
    let diff: Value = evalsuite_schema::json::from_str(&output.out).unwrap();
    assert_eq!(diff, json["comparison"], "the same comparison");
    let slices = diff["suites"][0]["slices"].as_array().unwrap();
    assert!(slices.iter().any(|slice| slice["key"] == "bucket"), "{slices:?}");
}

#[test]
fn the_gates_of_suites_are_in_the_records_of_the_run() {
    let package = package();
    let file = package.root().join("out/runs/a-good/suites/refunds-00000000/suite.json");
    let mut suite: Value = evalsuite_schema::json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let mut set = |gates: &[&str]| {
        suite["gates"] = gates.into();
        fs::write(&file, suite.to_string()).unwrap();
    };
    set(&["pass_rate >= 50%", "lower(pass_rate) >= 99.9%"]);
    let output = package.run_in_output(&["gate"]);
    assert_eq!((output.code, output.out.lines().count()), (1, 2), "{}{}", output.out, output.err);
    assert!(output.out.starts_with("met        suite:refunds pass_rate >= 50%  1.000  10 cases\n"), "{}", output.out);
    assert!(output.out.contains("\nmissed     suite:refunds lower(pass_rate) >= 99.9%  0."), "{}", output.out);
    set(&["pass_rate >= 50%"]);
    let output = package.run_in_output(&["gate"]);
    assert_eq!(output.code, 0, "{}", output.out);
    let output = package.run_in_output(&["gate", "--require", "score >= 99.9%"]);
    assert_eq!((output.code, output.out.lines().count()), (1, 2), "both are checked: {}", output.out);
    set(&["pass_rate >= so much"]);
    let output = package.run_in_output(&["gate"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""), "another version wrote it");
    assert!(output.err.starts_with("error: `so` is not a valid limit of `pass_rate`"), "{}", output.err);
    fs::remove_file(&file).unwrap();
    let output = package.run_in_output(&["gate", "--require", "pass_rate >= 0"]);
    assert_eq!(output.code, 4, "its gates are not known: {}", output.out);
}
