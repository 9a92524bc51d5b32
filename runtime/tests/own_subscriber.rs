//! A program whose agent sets a global subscriber of its own, with our layer in it. A process has one, so this test has its own.
#![cfg(feature = "capture")]

use evalsuite::__private::CompiledJson;
use evalsuite::{CaseOutcome, EvalCase, EvalSuite, Evals, Report, RunOptions, Trial};
use tracing::{Instrument, info_span};
use tracing_subscriber::prelude::*;

static CASES: &[EvalCase] = &[case("first"), case("second"), case("third"), case("fourth")];

const fn case(id: &'static str) -> EvalCase {
    EvalCase {
        id,
        test_name: id,
        file: "suites/x/cases.yaml",
        line: 1,
        column: 1,
        source: "cases.yaml",
        target: None,
        tags: &[],
        json: CompiledJson::Text(
            r#"{
            "id": "x",
            "location": {"file": "suites/x/cases.yaml", "line": 1, "column": 1},
            "input": {"messages": [{"role": "user", "content": {"text": "go"}}]},
            "graders": [{"name": "called", "location": {"file": "suites/x/cases.yaml", "line": 2, "column": 1}, "config":
                {"tool-trajectory": {"mode": "exact", "expected": [
                    {"tool": "first poll"}, {"tool": "later"}, {"tool": "elsewhere"}]}}}]
        }"#,
        ),
    }
}

static SUITE: EvalSuite = EvalSuite {
    name: "x",
    agent_name: None,
    module_path: "own_subscriber::x",
    package: "demo",
    package_version: "1.2.3",
    manifest_dir: env!("CARGO_MANIFEST_DIR"),
    root: "tests",
    json: CompiledJson::Text(
        r#"{"name": "x", "layout": "cases", "kind": "mixed", "root": "tests",
        "location": {"file": "suites/x/EVAL.yaml", "line": 1, "column": 1}}"#,
    ),
    sources: &[],
    diagnostics: &[],
    embedded: None,
    origin: None,
    calibration: None,
    cases: CASES,
};

fn tool(name: &str) {
    info_span!("execute_tool", gen_ai.operation.name = "execute_tool", gen_ai.tool.name = name).in_scope(|| ());
}

async fn agent(_: &mut Trial<'_>) -> Result<String, std::io::Error> {
    // As programs do it: whoever comes first sets it, and it has to work.
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| tracing_subscriber::registry().with(evalsuite::capture_layer()).init());
    tool("first poll");
    tokio::task::yield_now().await;
    tool("later");
    // A thread of nobody, which gets the trial's span.
    let task = async { tool("elsewhere") }.instrument(info_span!("work"));
    std::thread::spawn(move || tokio::runtime::Builder::new_current_thread().build().map(|own| own.block_on(task)))
        .join()
        .map_err(|_| std::io::Error::other("the thread panicked"))??;
    Ok("done".to_owned())
}

#[test]
fn an_agent_can_set_a_subscriber_of_its_own_with_our_layer() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let run = |concurrency: usize| -> Report {
        let options = RunOptions::new().with_output(directory.path()).with_concurrency(concurrency.try_into().unwrap());
        runtime.block_on(Evals::new(&SUITE).with_agent(agent).run(&options)).unwrap()
    };
    // The first case sets it; one after the other, then all at once.
    for report in [run(1), run(4)] {
        for case in report.cases() {
            let graders = &case.trials()[0].graders;
            assert_eq!(case.outcome(), CaseOutcome::Passed, "{:?} {graders:#?}", case.record().reason);
        }
    }
}
