//! `cargo evalsuite regrade`, run as a program with another one in cargo's place. What the tests then do is tested with
//! real test programs.

#[cfg(unix)]
use std::path::PathBuf;

use crate::package::{Package, TASK};
#[cfg(unix)]
use evalsuite_records::record::RunRecord;
#[cfg(unix)]
use evalsuite_schema::json::{json, to_string};

#[test]
fn an_unknown_run_is_said_to_be_unknown() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    package.write("src/lib.rs", "");
    let output = package.run_in_output(&["regrade"]);
    assert_eq!(output.code, 2, "{}", output.err);
    let output = package.run_in_output(&["regrade", "no-such-run"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("there is no run `no-such-run` in "), "{}", output.err);
    assert_eq!(package.run(&["regrade", "--unknown"]).code, 2);
}

/// A package with the run `r` in `out`, and a program that is called as cargo.
#[cfg(unix)]
fn package_with_cargo(script: &str) -> (Package, PathBuf) {
    use std::os::unix::fs::PermissionsExt;

    let package = Package::new(&[]);
    package.write("out/latest", "r");
    package.write("out/runs/r/run.json", "{}");
    package.write("cargo.sh", &format!("#!/bin/sh\n{script}"));
    let cargo = package.root().join("cargo.sh");
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    (package, cargo)
}

#[cfg(unix)]
#[test]
fn the_new_run_is_finished_and_printed() {
    let suite = r#"{"schema": "evalsuite.suite/1", "name": "s", "kind": "mixed", "layout": "cases", "digest": "", "tests": []}"#;
    let run = to_string(&RunRecord::new()).expect("JSON");
    let (package, cargo) = package_with_cargo(&format!(
        "echo tests\nrun=$EVALSUITE_OUTPUT/runs/$EVALSUITE_RUN_ID\nmkdir -p $run/suites/s\necho '{run}' > $run/run.json\necho '{suite}' > $run/suites/s/suite.json\n"
    ));
    let output = package.root().join("out").display().to_string();
    let variables = [("CARGO", cargo.to_str().expect("UTF-8")), ("EVALSUITE_OUTPUT", &output)];
    let ran = package.run_with(&["regrade"], &variables);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("tests\n"), "{}", ran.out);
    assert!(ran.out.contains("summary.json\ns: 0 passed, 0 failed"), "{}", ran.out);
    let ran = package.run_with(&["regrade", "r", "--format", "json"], &variables);
    assert_eq!((ran.code, ran.err.as_str()), (0, "tests\n"));
    let regraded = package.json("regrade", &ran.out);
    assert_eq!((&regraded["regraded"], &regraded["tests_passed"]), (&json!("r"), &json!(true)), "{regraded}");
    assert_eq!(regraded["run"]["suites"][0]["suite"], "s");
    assert_ne!(regraded["run"]["run_id"], "r", "the results are a run of their own");
}

#[cfg(unix)]
#[test]
fn the_tests_are_run_with_the_run_in_their_environment() {
    let (package, cargo) = package_with_cargo(
        "echo \"$* | $EVALSUITE_REGRADE | ${EVALSUITE_MODE-none} | $EVALSUITE_OUTPUT\"\ncase $* in *--no-run*) exit $BUILD;; nextest*) exit $NEXTEST;; esac\nexit 101\n",
    );
    let run_with = |arguments: &[&str], output: &str, build: &str, nextest: &str| {
        let ran = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"))
            .args(["evalsuite", "regrade"])
            .args(arguments)
            .current_dir(package.root())
            .env("CARGO", &cargo)
            .env("EVALSUITE_MODE", "record")
            .env("EVALSUITE_OUTPUT", output)
            .env("BUILD", build)
            .env("NEXTEST", nextest)
            .output()
            .expect("it runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).trim().to_owned())
    };
    let run = |arguments: &[&str], output: &str| {
        let (code, out) = run_with(arguments, output, "0", "100");
        assert_eq!(code, Some(1), "tests fail");
        out
    };
    assert_eq!(run_with(&[], "out", "101", "100").0, Some(2), "what cannot be built cannot be run");
    assert_eq!(run_with(&["--nextest"], "out", "0", "101").0, Some(2), "what cannot be built cannot be run");
    let root = package.root().canonicalize().expect("a directory").join("out");
    let root = root.display();
    assert_eq!(run(&[], "out"), format!("test --no-fail-fast | latest | none | {root}"));
    assert_eq!(
        run(&["r", "--nextest", "--", "-p", "cards"], "out"),
        format!("nextest run --no-fail-fast -p cards | r | none | {root}")
    );
    assert_eq!(run(&["out/runs/r"], "other"), format!("test --no-fail-fast | r | none | {root}"));
}
