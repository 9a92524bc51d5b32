//! Long runs: cases of three trials, 64 at a time. Nothing may pile up. What the process holds is counted, so this is a program
//! of its own.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use evalsuite::__private::CompiledJson;
use evalsuite::{EvalCase, EvalSuite, Evals, Message, Report, Role, RunOptions, Status, ToolCall, Trial};

const TRIALS: usize = 3;
const CONCURRENCY: usize = 64;
/// All records of a run are in its report, a few kilobytes each.
const MEMORY: u64 = 512 << 20;
/// What a run may leave behind, for allocators keep what they had: less than 10 KB a trial.
const LEFT: u64 = 16 << 20;

static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

async fn agent(trial: &mut Trial<'_>) -> Result<String, std::io::Error> {
    let now = AT_ONCE.fetch_add(1, Ordering::SeqCst) + 1;
    MOST.fetch_max(now, Ordering::SeqCst);
    trial.message(Message::text(Role::User, trial.prompt()));
    trial.tool_call(ToolCall::new("read").with_output("x".repeat(1_000)));
    fs::write(trial.workspace().join("note.txt"), trial.case_id())?;
    tokio::time::sleep(Duration::from_millis(2)).await;
    AT_ONCE.fetch_sub(1, Ordering::SeqCst);
    Ok(format!("hello {}", trial.case_id()))
}

fn suite(cases: usize) -> &'static EvalSuite {
    let cases = (0..cases).map(|number| {
        let id: &str = format!("case-{number:04}").leak();
        let json = format!(
            r#"{{"id": "{id}", "trials": {{"count": {TRIALS}, "strategy": "mean"}},
                "location": {{"file": "suites/x/cases.yaml", "line": 1, "column": 1}},
                "input": {{"messages": [{{"role": "user", "content": {{"text": "say hello"}}}}]}},
                "graders": [{{"name": "greets", "location": {{"file": "suites/x/cases.yaml", "line": 2, "column": 1}},
                    "config": {{"contains": {{"value": "hello {id}"}}}}}}]}}"#
        );
        EvalCase {
            id,
            test_name: id,
            file: "suites/x/cases.yaml",
            line: 1,
            column: 1,
            source: "cases.yaml",
            target: None,
            tags: &[],
            json: CompiledJson::Text(json.leak()),
        }
    });
    Box::leak(Box::new(EvalSuite {
        name: "soak",
        agent_name: None,
        module_path: "soak::x",
        package: "demo",
        package_version: "1.2.3",
        manifest_dir: env!("CARGO_MANIFEST_DIR"),
        root: "tests",
        json: CompiledJson::Text(
            r#"{"name": "soak", "layout": "cases", "kind": "mixed", "root": "tests",
            "location": {"file": "suites/x/EVAL.yaml", "line": 1, "column": 1}}"#,
        ),
        sources: &[],
        diagnostics: &[],
        embedded: None,
        origin: None,
        calibration: None,
        cases: cases.collect::<Vec<_>>().leak(),
    }))
}

/// A line of what the system tells of this process, in bytes; `None` where it does not tell.
fn bytes(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn is_at_most(now: Option<(usize, usize, usize)>, before: Option<(usize, usize, usize)>) -> bool {
    let (Some((files, threads, children)), Some(before)) = (now, before) else { return true };
    files <= before.0 && threads <= before.1 && children <= before.2
}

/// Open files, threads, and children of this process.
fn held() -> Option<(usize, usize, usize)> {
    let count = |name: &str| Some(fs::read_dir(format!("/proc/self/{name}")).ok()?.count());
    let children = fs::read_dir("/proc/self/task").ok()?.flatten().map(|thread| {
        fs::read_to_string(thread.path().join("children")).unwrap_or_default().split_whitespace().count()
    });
    Some((count("fd")?, count("task")?, children.sum()))
}

#[test]
fn a_run_holds_nothing_when_it_is_over() {
    run_cases(100);
}

#[test]
#[ignore = "takes a minute; `cargo test -p evalsuite --release --test soak -- --ignored --nocapture`"]
fn a_long_run_holds_nothing_when_it_is_over() {
    run_cases(2_000);
}

fn run_cases(cases: usize) {
    // Two at the same time would count each other's.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let evals = Evals::new(suite(cases)).with_agent(agent);
    let run = |options: RunOptions| -> Report {
        let options = options.with_output(output.path()).with_concurrency(NonZeroUsize::new(CONCURRENCY).unwrap());
        runtime.block_on(evals.run(&options)).unwrap()
    };
    // Whatever is made once is there afterwards.
    assert!(run(RunOptions::new().with_filter("case-000")).is_success());
    let before = held();

    let clock = Instant::now();
    let report = run(RunOptions::new());
    let took = clock.elapsed();
    assert_eq!(report.problems(), &[] as &[String]);
    assert_eq!((report.cases().len(), report.count(Status::Passed)), (cases, cases));
    for (number, case) in report.cases().iter().enumerate() {
        assert_eq!((case.record().case_id.as_str(), case.trials().len()), (&*format!("case-{number:04}"), TRIALS));
    }
    assert!(MOST.load(Ordering::SeqCst) <= CONCURRENCY, "{MOST:?}");
    drop(report);
    let peak = bytes("VmHWM:");
    println!("{} trials in {took:.1?}, at most {peak:?} bytes", cases * TRIALS);
    assert!(peak.is_none_or(|peak| peak < MEMORY), "{peak:?}");

    let rested = bytes("VmRSS:");
    assert!(run(RunOptions::new().with_filter("case-0")).is_success());
    let left = bytes("VmRSS:").zip(rested).map(|(after, before)| after.saturating_sub(before));
    assert!(left.is_none_or(|left| left < LEFT), "{left:?} bytes more after further trials");

    // A thread that has sent its result needs a moment to end.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_at_most(held(), before) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(is_at_most(held(), before), "open files, threads, children: {:?}, before the run {before:?}", held());
}
