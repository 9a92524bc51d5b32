//! What people read on a terminal of 80 columns.

mod package;

use evalsuite_tests::synthetic_run::SyntheticRun;
use package::{Output, Package, TASK};

/// Runs a command, and hides the name of the temporary directory.
fn run(package: &Package, arguments: &[&str]) -> Output {
    let records = package.root().join("out").display().to_string();
    let mut output = package.run_with(arguments, &[("EVALSUITE_OUTPUT", &records), ("COLUMNS", "80")]);
    let root = package.root().canonicalize().expect("a directory").display().to_string();
    output.out = output.out.replace(&root, "DIR").replace(&package.root().display().to_string(), "DIR");
    output
}

#[test]
fn help_fits_into_80_columns() {
    let package = Package::new(&[]);
    for command in ["calibrate", "clean", "expand", "finish", "merge", "regrade", "run"] {
        let help = run(&package, &[command, "--help"]).out;
        // Examples are lines to copy, and stay as they are.
        let (text, examples) = help.split_once("\nExample").expect("examples");
        assert!(examples.contains(&format!("cargo evalsuite {command}")), "{examples}");
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{command}");
        insta::assert_snapshot!(format!("help_{command}"), help);
    }
}

#[test]
fn suites_and_runs_are_listed() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    SyntheticRun::new("run-1", 12, 1).write(&package.root().join("out"));
    insta::assert_snapshot!("list", run(&package, &["list"]).out);
}

#[test]
fn runs_are_finished_merged_and_removed() {
    let package = Package::new(&[]);
    for part in ["one", "two"] {
        SyntheticRun::new("run-1", 12, 1).write(&package.root().join(part));
    }
    let merged = run(&package, &["merge", "one/runs/run-1", "two/runs/run-1", "--into", "out"]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    insta::assert_snapshot!("merge", merged.out);
    let finished = run(&package, &["finish"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    insta::assert_snapshot!("finish", finished.out);
    insta::assert_snapshot!("clean", run(&package, &["clean", "--keep", "0"]).out);
}

#[test]
fn conversions_are_reported() {
    let configuration = "prompts: ['Say {{word}}']\nproviders: [echo]\nenv: {A: b}\ntests:\n  - vars: {word: hi}\n    \
                         assert: [{type: contains, value: hi}, {type: similar, value: hello}]\n";
    let package = Package::new(&[("promptfooconfig.yaml", configuration)]);
    insta::assert_snapshot!("convert", run(&package, &["convert", ".", "suites/words"]).out);
}
