//! A test runner that is killed: its tests end, with everything their agents started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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

fn id(place: &Path, file: &str) -> String {
    fs::read_to_string(place.join(file)).unwrap_or_default()
}

#[test]
fn tests_and_all_their_programs_end_when_the_runner_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    fs::create_dir_all(place.join("suites/x")).unwrap();
    let script = "setsid sh -c 'echo $$ > \"$TEST_OF_EVALSUITE_PLACE/detached\"; exec sleep 100' &\n\
                  echo $$ > \"$TEST_OF_EVALSUITE_PLACE/agent\"; sleep 100\n";
    fs::write(place.join("agent.sh"), script).unwrap();
    let command = format!("sh {}/agent.sh {{OUTPUT_FILE}}", place.display());
    fs::write(
        place.join("targets.yaml"),
        format!("targets:\n  - {{ name: default, provider: cli, command: '{command}' }}\n"),
    )
    .unwrap();
    let line = "\"$0\" --exact runner_death::child --ignored & echo $! > \"$TEST_OF_EVALSUITE_PLACE/test\"; wait";
    let mut runner = Command::new("sh")
        .args(["-c", line])
        .arg(std::env::current_exe().unwrap())
        .env(PLACE, place)
        .env("NEXTEST_RUN_ID", "killed")
        .env("EVALSUITE_OUTPUT", place.join("out"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let programs = ["test", "agent", "detached"];
    wait_until("all programs start", || programs.iter().all(|file| is_running(&id(place, file))));
    runner.kill().unwrap();
    runner.wait().unwrap();
    for file in programs {
        wait_until(&format!("`{file}` ends with the runner"), || !is_running(&id(place, file)));
    }
}
