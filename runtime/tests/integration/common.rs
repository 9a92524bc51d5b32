//! Suites written by hand, as the macro would generate them.

use std::path::Path;

use evalsuite::__private::CompiledJson;
use evalsuite::record::Mode;
use evalsuite::{CaseReport, EvalCase, EvalSuite, Evals, Report, RunOptions};
use evalsuite_schema::json::{Value, json};

/// A suite that lives as long as the test program.
pub(crate) fn suite(layout: &str, kind: &str, manifest_dir: &Path, cases: &[Value]) -> &'static EvalSuite {
    suite_with(layout, kind, manifest_dir, cases, json!({}))
}

/// A suite that says more than it has to.
pub(crate) fn suite_with(
    layout: &str,
    kind: &str,
    manifest_dir: &Path,
    cases: &[Value],
    more: Value,
) -> &'static EvalSuite {
    let location = json!({"file": "suites/x/suite.json", "line": 1, "column": 1});
    let mut suite = json!({"name": "x", "layout": layout, "kind": kind, "location": location, "root": "suites/x"});
    extend(&mut suite, more);
    let cases: Vec<EvalCase> = cases.iter().map(case).collect();
    leak(EvalSuite {
        name: "x",
        agent_name: None,
        module_path: "evals::x",
        package: "demo",
        package_version: "1.2.3",
        manifest_dir: manifest_dir.display().to_string().leak(),
        root: "suites/x",
        json: CompiledJson::Text(suite.to_string().leak()),
        sources: &[],
        diagnostics: &[],
        embedded: None,
        origin: None,
        calibration: None,
        cases: leak(cases),
    })
}

fn case(json: &Value) -> EvalCase {
    let id = json["id"].as_str().unwrap().to_owned().leak();
    EvalCase {
        id,
        test_name: id,
        file: json["location"]["file"].as_str().unwrap_or("suites/x/tasks/a.json").to_owned().leak(),
        line: 1,
        column: 1,
        source: "tasks/a.json",
        target: json["matrix"].as_str().map(|target| &*target.to_owned().leak()),
        tags: &[],
        json: CompiledJson::Text(json.to_string().leak()),
    }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A case with what the loader always writes, and more.
pub(crate) fn case_json(id: &str, graders: Value, more: Value) -> Value {
    let mut case = json!({
        "id": id,
        "location": {"file": "suites/x/tasks/a.json", "line": 1, "column": 1},
        "input": {"messages": [{"role": "user", "content": {"text": "say hello"}}]},
        "graders": graders,
    });
    extend(&mut case, more);
    case
}

fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

/// A grader entry at a line.
pub(crate) fn grader(name: &str, line: u32, config: Value) -> Value {
    json!({"name": name, "location": {"file": "suites/x/tasks/a.json", "line": line, "column": 5}, "config": config})
}

/// The grader most tests use: the answer contains a text.
pub(crate) fn contains(text: &str) -> Value {
    grader(&format!("contains-{text}"), 7, json!({"contains": {"value": text}}))
}

/// Runs a suite with its records in `output`.
pub(crate) fn run(evals: &Evals, output: &Path) -> Report {
    run_with(evals, output, RunOptions::new())
}

pub(crate) fn run_with(evals: &Evals, output: &Path, options: RunOptions) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(evals.run(&options.with_output(output))).unwrap()
}

/// Runs a suite of one case in a mode, with records and recordings below `directory`.
pub(crate) fn run_in_mode(evals: &Evals, directory: &Path, mode: Mode) -> CaseReport {
    let options = RunOptions::new().with_mode(mode).with_cassettes(directory.join("cassettes"));
    only(&run_with(evals, &directory.join("out"), options)).clone()
}

/// The command line in messages that runs a test of the suite again, with the test runner that runs this test.
pub(crate) fn rerun(test: &str) -> String {
    match std::env::var_os("NEXTEST") {
        Some(_) => format!("cargo nextest run -p demo -E 'test(={test})'"),
        None => format!("cargo test -p demo -- --exact {test}"),
    }
}

/// The only case of a report.
pub(crate) fn only(report: &Report) -> &CaseReport {
    assert_eq!(report.problems(), &[] as &[String]);
    assert_eq!(report.cases().len(), 1);
    &report.cases()[0]
}

/// Runs a test again, alone in a process of its own, where `run` runs: no trial of another test runs at the same time. `test` is the name
/// of the test with its modules.
#[cfg(feature = "capture")]
#[track_caller]
pub(crate) fn in_own_process(test: &str, run: impl FnOnce()) {
    const CHILD: &str = "TEST_IN_OWN_PROCESS";
    if std::env::var(CHILD).is_ok_and(|child| child == test) {
        return run();
    }
    let arguments = ["--exact", test, "--nocapture"];
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).args(arguments).env(CHILD, test).output().unwrap();
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && printed[0].contains("1 passed"), "{}\n{}", printed[0], printed[1]);
}
