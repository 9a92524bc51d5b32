//! An agent that reads the files of its suite, from the test that fails to the report.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use evalsuite_tests::throwaway::{Call, CommandOutput, Package, suites};

/// It answers with the file that has the expected answers.
const AGENT: &str = "
pub fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::io::Error> {
    std::fs::read_to_string(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/suites/shop/EVAL.yaml\"))
}
";

const SUITE: &str = "canary: 3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46
assertions: [{ type: contains, value: canary }]
";

const MESSAGE: &str = "the agent saw the answers: the canary of the suite is in its answer";

fn call(package: &Package, arguments: &[&str]) -> CommandOutput {
    let call = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), package);
    call.args(["evalsuite"])
        .args(arguments.iter().copied())
        .in_directory(package.root())
        .with_cargo()
        .env("EVALSUITE_OUTPUT", package.records_directory())
        .run()
}

/// The data of a report, which a browser inflates.
fn inflated(base64: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", "base64 -d | gzip -d"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("sh");
    child.stdin.take().expect("a pipe").write_all(base64.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("its output");
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).expect("JSON")
}

#[test]
fn everything_that_shows_a_run_says_that_the_agent_saw_the_answers() {
    let package = Package::new("saw_answers");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(AGENT)
        .write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/shop\", agent = saw_answers::agent);\n")
        .write("suites/shop/EVAL.yaml", SUITE)
        .write("suites/shop/cases/refund/case.yaml", "input: A refund, please.\n");
    package.records().clear();
    let ran = call(&package, &["run", "-p", package.name()]);
    assert_eq!(ran.code, Some(1), "{}", ran.transcript());
    // The text of the failed test, the summary, and the record.
    ran.says(MESSAGE).says("grading/saw_answers").says("1 error");
    let record = package.records().of_case("refund").remove(0);
    assert_eq!((&record["outcome"], &record["reason"]["code"]), (&"error".into(), &"saw_answers".into()), "{record}");
    assert_eq!(record["score"], evalsuite_schema::Value::Null, "graders that passed do not count");
    call(&package, &["show", "refund"]).succeeds("the case is shown").says(MESSAGE);
    call(&package, &["report", "--markdown", "report.md", "--junit", "report.xml", "--html", "report.html"])
        .succeeds("the run is written");
    let read = |file: &str| fs::read_to_string(package.root().join(file)).expect("a report");
    for file in ["report.md", "report.xml"] {
        assert!(read(file).contains(MESSAGE), "{file}: {}", read(file));
    }
    let page = read("report.html");
    let (_, chunk) = page.split_once("id=\"c0\">").expect("the details of the case");
    let details = inflated(chunk.split_once('<').expect("their end").0);
    assert!(details.contains(MESSAGE), "{details}");
}
