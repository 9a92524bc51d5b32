//! `cargo evalsuite regrade`, run as a program with another one in cargo's place. What the tests then do is tested with
//! real test programs.

mod package;

use package::{Package, TASK};

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

#[cfg(unix)]
#[test]
fn the_tests_are_run_with_the_run_in_their_environment() {
    use std::os::unix::fs::PermissionsExt;

    let package = Package::new(&[]);
    package.write("out/latest", "r");
    package.write("out/runs/r/run.json", "{}");
    package.write(
        "cargo.sh",
        "#!/bin/sh\necho \"$* | $EVALSUITE_REGRADE | ${EVALSUITE_MODE-none} | $EVALSUITE_OUTPUT\"\ncase $* in *--no-run*) exit $BUILD;; nextest*) exit $NEXTEST;; esac\nexit 101\n",
    );
    let cargo = package.root().join("cargo.sh");
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).expect("a mode");
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
    assert_eq!(run(&[], "out"), "test --no-fail-fast | latest | none | out");
    assert_eq!(
        run(&["r", "--nextest", "--", "-p", "cards"], "out"),
        "nextest run --no-fail-fast -p cards | r | none | out"
    );
    let root = package.root().canonicalize().expect("a directory").join("out");
    assert_eq!(run(&["out/runs/r"], "other"), format!("test --no-fail-fast | r | none | {}", root.display()));
}
