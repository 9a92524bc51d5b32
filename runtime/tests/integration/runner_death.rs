//! A test runner that is killed: its tests end, with everything their agents started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use evalsuite::{CliAgents, EvalSuite, Evals};
use evalsuite_schema::json::json;

use crate::common::{case_json, contains, suite};

const PLACE: &str = "TEST_OF_EVALSUITE_PLACE";

fn evals() -> Evals {
    static SUITE: OnceLock<&'static EvalSuite> = OnceLock::new();
    let suite = SUITE.get_or_init(|| {
        let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
        suite("cases", "mixed", &place, &[case_json("waits", json!([contains("x")]), json!({}))])
    });
    Evals::new(suite).with_agent(CliAgents)
}

#[test]
#[ignore = "run by the test below"]
fn child() {
    evalsuite::__private::run_case(evals, 0);
}

#[cfg(target_os = "linux")]
fn is_running(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    !id.is_empty() && stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[track_caller]
fn wait_until(what: &str, done: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < limit, "expected that {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
fn id(place: &Path, file: &str) -> String {
    fs::read_to_string(place.join(file)).unwrap_or_default()
}

/// A package in which the agent of all cases is a command.
fn package(place: &Path, command: &str) {
    fs::create_dir_all(place.join("suites/x")).unwrap();
    let targets = format!("targets:\n  - {{ name: default, provider: cli, command: '{command}' }}\n");
    fs::write(place.join("targets.yaml"), targets).unwrap();
}

/// Starts a runner of the test above, as nextest is one.
fn start(runner: &mut Command, place: &Path) -> Child {
    runner
        .env(PLACE, place)
        .env("NEXTEST_RUN_ID", "killed")
        .env("EVALSUITE_OUTPUT", place.join("out"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn tests_and_all_their_programs_end_when_the_runner_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let script = "setsid sh -c 'echo $$ > \"$TEST_OF_EVALSUITE_PLACE/detached\"; exec sleep 100' &\n\
                  echo $$ > \"$TEST_OF_EVALSUITE_PLACE/agent\"; sleep 100\n";
    fs::write(place.join("agent.sh"), script).unwrap();
    package(place, &format!("sh {}/agent.sh {{OUTPUT_FILE}}", place.display()));
    let line = "\"$0\" --exact runner_death::child --ignored & echo $! > \"$TEST_OF_EVALSUITE_PLACE/test\"; wait";
    let mut runner = start(Command::new("sh").args(["-c", line]).arg(std::env::current_exe().unwrap()), place);
    let programs = ["test", "agent", "detached"];
    wait_until("all programs start", || programs.iter().all(|file| is_running(&id(place, file))));
    runner.kill().unwrap();
    runner.wait().unwrap();
    for file in programs {
        wait_until(&format!("`{file}` ends with the runner"), || !is_running(&id(place, file)));
    }
}

/// The agent writes a line each second, and the program that waits in between is one that it started.
#[cfg(windows)]
#[test]
fn tests_and_their_programs_end_when_the_runner_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    package(
        place,
        r"(for /L %i in (1,1,100) do (echo x>>%TEST_OF_EVALSUITE_PLACE%\agent & ping -n 2 127.0.0.1 >nul)) & echo x>{OUTPUT_FILE}",
    );
    let test = std::env::current_exe().unwrap();
    let mut runner =
        start(Command::new("cmd").arg("/C").arg(test).args(["--exact", "runner_death::child", "--ignored"]), place);
    let written = || fs::metadata(place.join("agent")).map_or(0, |file| file.len());
    wait_until("the agent starts", || written() > 0);
    let before = written();
    wait_until("the agent goes on", || written() > before);
    runner.kill().unwrap();
    runner.wait().unwrap();
    wait_until("the agent ends with the runner", || {
        let before = written();
        thread::sleep(Duration::from_secs(4));
        written() == before
    });
}
