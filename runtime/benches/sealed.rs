//! What a seal adds to a trial: the same trials of a command, without and with one.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, hint};

use evalsuite::__private::CompiledJson;
use evalsuite::{CliAgents, EvalCase, EvalSuite, Evals, RunOptions};
use evalsuite_schema::json::json;

const TRIALS: usize = 50;
const ROUNDS: usize = 11;

fn main() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let evals = ["off", "auto"].map(|mode| evals(&place.path().join(mode), mode));
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        // In turn, so that both see the same machine.
        for (evals, times) in evals.iter().zip(&mut times) {
            times.push(one(evals, &place.path().join(format!("out-{round}"))));
        }
    }
    let [off, sealed] = times.map(|mut times: Vec<Duration>| {
        times.sort();
        times[ROUNDS / 2]
    });
    let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!("a trial of `true`: {:.2} ms, sealed {:.2} ms", milliseconds(off), milliseconds(sealed));
}

/// The time of a trial.
fn one(evals: &Evals, output: &Path) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let clock = Instant::now();
    hint::black_box(runtime.block_on(evals.run(&RunOptions::new().with_output(output))).expect("a run"));
    clock.elapsed() / u32::try_from(TRIALS).expect("a small number")
}

fn evals(root: &Path, mode: &str) -> Evals {
    fs::create_dir_all(root.join("suites/x")).expect("a directory");
    let target = format!("name: default, provider: cli, command: 'echo done > {{OUTPUT_FILE}}', sealed: {mode}");
    fs::write(root.join("targets.yaml"), format!("targets: [{{ {target} }}]\n")).expect("a file");
    let location = json!({"file": "suites/x/EVAL.yaml", "line": 1, "column": 1});
    let grader = json!({"name": "done", "location": location, "config": {"contains": {"value": "done"}}});
    let case = json!({
        "id": "a", "location": location, "graders": [grader], "trials": {"count": TRIALS, "strategy": "mean"},
        "input": {"messages": [{"role": "user", "content": {"text": "say hello"}}]},
    });
    let suite = json!({"name": "x", "layout": "cases", "kind": "mixed", "location": location, "root": "suites/x"});
    let case = EvalCase {
        id: "a",
        test_name: "a",
        file: "suites/x/EVAL.yaml",
        line: 1,
        column: 1,
        source: "EVAL.yaml",
        target: None,
        tags: &[],
        json: CompiledJson::Text(case.to_string().leak()),
    };
    Evals::new(Box::leak(Box::new(EvalSuite {
        name: "x",
        agent_name: None,
        module_path: "bench::x",
        package: "bench",
        package_version: "0.1.0",
        manifest_dir: root.display().to_string().leak(),
        root: "suites/x",
        json: CompiledJson::Text(suite.to_string().leak()),
        sources: &[],
        diagnostics: &[],
        embedded: None,
        origin: None,
        calibration: None,
        cases: Box::leak(Box::new([case])),
    })))
    .with_agent(CliAgents)
}
