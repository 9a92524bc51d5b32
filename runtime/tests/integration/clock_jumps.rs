//! Runs during which the clock of the system is set: the agent sets it, through a library that is loaded before the C library.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use evalsuite::record::TrialRecord;
use evalsuite::{AgentError, Evals, RunOptions, Status, ToolCall, Trial};
use evalsuite_needs::needs;
use evalsuite_schema::json::json;
use evalsuite_schema::rfc3339;

use crate::common::{case_json, contains, grader, run_with, suite_with};

/// The file with the seconds by which the clock is wrong.
const JUMP: &str = "TEST_OF_EVALSUITE_CLOCK";
const HOUR: i64 = 3600;

const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    char text[32] = "";
    const char *path = getenv("TEST_OF_EVALSUITE_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t id, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(now, zone);
    if (result == 0) now->tv_sec += offset();
    return result;
}

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
"#;

fn set_clock(seconds: i64) {
    // Readers see one value or the other.
    let file = std::env::var(JUMP).expect("the test sets it");
    fs::write(format!("{file}.new"), seconds.to_string()).unwrap();
    fs::rename(format!("{file}.new"), file).unwrap();
}

/// Sets the clock by as many hours as the id of the case says, while a tool runs.
async fn sets_the_clock(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let hours: i64 = trial.case_id()[1..].parse().map_err(|_| AgentError::new("the id has no number"))?;
    let wait = || {
        set_clock(hours * HOUR);
        std::thread::sleep(Duration::from_millis(30));
        Ok::<_, String>("done")
    };
    trial.recorder().call_blocking_tool("wait", &"x", wait).map_err(AgentError::new)?;
    trial.tool_call(ToolCall::new("look"));
    trial.cost_usd(0.25);
    Ok("hello".into())
}

fn check(trial: &TrialRecord) {
    let id = &trial.case_id;
    assert_eq!((trial.outcome, &trial.reason), (Status::Passed, &None), "{id}");
    assert!(trial.timings.total_ms < 20_000 && trial.duration_ms.is_some_and(|ms| (30..20_000).contains(&ms)), "{id}");
    let [began, ended] = [&trial.started_at, &trial.ended_at].map(|time| rfc3339::parse(time).expect("a time"));
    let took = ended.duration_since(began).unwrap_or_else(|_| panic!("{id}: it ends before it begins"));
    assert!(took.as_millis().abs_diff(u128::from(trial.timings.total_ms)) <= 2, "{id}: {took:?}");
}

#[test]
#[ignore = "run by the test below"]
fn child() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out");
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let limits = [
        contains("hello"),
        grader("latency", 3, json!({"latency": {"threshold": 20_000.0}})),
        grader("command", 4, json!({"code-grader": {"run": {"command": {"shell": "sleep 0.05; echo pass"}}}})),
    ];
    let case = |id: &str| case_json(id, json!(limits), json!({"timeout_seconds": 20}));
    let cases = ["c5", "c-7", "c9", "c-11"].map(case);
    let suite = suite_with("cases", "mixed", directory.path(), &cases, json!({"budget_usd": 1.5}));
    let evals = Evals::new(suite).with_agent(sets_the_clock);
    let run = || {
        let options = RunOptions::new().with_concurrency(std::num::NonZeroUsize::MIN);
        run_with(&evals, &output, options)
    };
    let before = SystemTime::now();
    let first = run();
    assert!(SystemTime::now() < before, "the clock was set back");
    let second = run();
    for report in [&first, &second] {
        assert_eq!(report.problems(), &[] as &[String]);
        assert_eq!(report.cases().len(), 4);
        report.cases().iter().flat_map(|case| case.trials()).for_each(check);
    }
    assert_ne!(first.run_id(), second.run_id());
    assert_eq!(fs::read_to_string(output.join("latest")).unwrap().trim(), second.run_id());
}

fn compile(directory: &Path) -> std::path::PathBuf {
    let (source, shim) = (directory.join("clock.c"), directory.join("clock.so"));
    fs::write(&source, SHIM).unwrap();
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&shim, &source]).arg("-ldl").output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    shim
}

#[needs(c_compiler)]
#[test]
fn a_clock_that_is_set_while_trials_run_changes_neither_outcomes_nor_durations() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "clock_jumps::child", "--ignored", "--nocapture"]);
    child.env("LD_PRELOAD", compile(directory.path())).env(JUMP, directory.path().join("offset"));
    let output = child.env_remove("NEXTEST_RUN_ID").output().unwrap();
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && printed[0].contains("1 passed"), "{}\n{}", printed[0], printed[1]);
}
