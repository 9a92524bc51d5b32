//! Recordings, baselines and records that are made in one checkout are valid in another one, whose texts have `\r\n`.

use std::fs;

use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, Package, suites};

const LIB: &str = r#"
pub fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::io::Error> {
    std::fs::write(trial.workspace().join("made.txt"), "made\n")?;
    Ok(format!("{} {}", trial.prompt(), trial.workspace().join("made.txt").display()))
}
"#;

const SUITE: &str = "\
name: shop
execution: { threshold: 1 }
workspace: { template: template }
tests:
  - id: refund
    input:
      - role: user
        content:
          - { type: text, value: Read it. }
          - { type: file, value: note.txt }
    assertions:
      - { type: icontains, value: made.txt }
  - id: block
    input: |
      one
      two
    assertions:
      - { type: regex, value: made }
";

fn package() -> Package {
    let package = Package::new("line_breaks");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(LIB)
        .write("tests/evals.rs", "use line_breaks::agent;\nevalsuite::include_eval_suite!(\"suites/shop\");\n")
        .write("suites/shop/EVAL.yaml", SUITE)
        .write("suites/shop/note.txt", "first\nsecond\n")
        .write("suites/shop/template/kept.txt", "a\nb\n");
    package
}

fn evalsuite(package: &Package, arguments: &[&str], mode: &str) -> evalsuite_tests::throwaway::CommandOutput {
    Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), package)
        .args(["evalsuite"])
        .args(arguments.iter().copied())
        .with_cargo()
        .env("EVALSUITE_MODE", mode)
        .run()
}

/// Writes every text of a directory with `\r\n`.
fn check_out_with_returns(directory: &std::path::Path) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_name() == "target" {
        } else if path.is_dir() {
            check_out_with_returns(&path);
        } else if let Ok(text) = fs::read_to_string(&path) {
            fs::write(&path, text.replace('\n', "\r\n")).unwrap();
        }
    }
}

/// What identifies the cases in the records.
fn identities(package: &Package) -> Vec<String> {
    let cases = package.records().cases();
    let mut found: Vec<String> = cases.iter().map(identity).collect();
    found.sort();
    found.dedup();
    found
}

fn identity(case: &Value) -> String {
    let digests = ["case_id", "test_name", "suite_digest", "case_digest", "input_digest", "grader_digest", "location"]
        .map(|key| case[key].to_string());
    digests.join(" ")
}

#[test]
fn a_checkout_with_other_line_breaks_replays_and_compares() {
    let package = package();
    evalsuite(&package, &["run"], "record").succeeds("it is recorded").says("shop: 2 passed");
    evalsuite(&package, &["accept"], "record").succeeds("it is accepted").says("shop: 2 added");
    let recorded = identities(&package);
    assert_eq!(recorded.len(), 2, "{recorded:?}");

    check_out_with_returns(package.root());
    let ran = evalsuite(&package, &["run"], "replay").succeeds("the recordings are valid");
    ran.says("shop: 2 passed").says("shop @ default: same").is_silent_about("changed since");
    assert_eq!(identities(&package), recorded, "names and digests are the same");
}
