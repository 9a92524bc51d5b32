//! Test processes that are killed while cases run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Package, files_below, read_json, suites};

use super::leftover_programs;

/// Quick cases that leave a program in the background. The case `waits` waits for a program that ignores SIGTERM.
const CODE: &str = r#"
use evalsuite::{AgentError, Trial};

fn echo(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let script = match trial.case_id() {
        "waits" => "trap '' TERM; touch waiting; while :; do sleep 0.2; done",
        _ => "sleep 1000 >/dev/null 2>&1 & echo x > file",
    };
    trial.command("sh").args(["-c", script]).output().map_err(|error| AgentError::new(error.to_string()))?;
    Ok(trial.prompt().to_owned())
}

evalsuite::include_eval_suite!("suites/dying", agent = echo);
"#;

const QUICK: usize = 6;

fn package() -> (Package, PathBuf) {
    let package = suites::package_with_suite("dying", "dying", CODE);
    package.write("suites/dying/cases/waits/case.yaml", &suites::case("hello", "hello"));
    let grader = "  - { type: code-grader, command: 'cat >/dev/null; exit 0' }\n";
    for number in 0..QUICK {
        let case = format!("{}{grader}", suites::case("hello", "hello"));
        package.write(&format!("suites/dying/cases/quick-{number:02}/case.yaml"), &case);
    }
    let program = package.build([]).succeeds("the package builds").executable("test", "evals");
    (package, program)
}

/// Starts the test program without cargo; all its records belong to one run.
fn start(package: &Package, program: &Path, arguments: &[&str]) -> Child {
    // Commands that a script starts in the background ignore signals that `dies_of` sends, as does what they start.
    let mut command = if [2, 15].into_iter().any(is_ignored) {
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM").arg(program);
        command
    } else {
        Command::new(program)
    };
    command
        .args(arguments)
        .env("EVALSUITE_OUTPUT", package.records_directory())
        .env("EVALSUITE_RUN_ID", "dying")
        .env("CARGO_MANIFEST_DIR", package.root())
        .current_dir(package.root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test program starts")
}

/// The quick tests that the program has reported as passed.
fn passed_tests(child: Child) -> BTreeSet<String> {
    let output = child.wait_with_output().expect("the output can be read");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed = text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"));
    passed.filter(|test| test.contains("::quick_")).map(str::to_owned).collect()
}

#[test]
fn a_process_killed_at_any_moment_leaves_complete_records_and_no_programs_and_the_next_run_works() {
    let (package, program) = package();
    let quick = ["quick", "--test-threads", "3"];
    let started = Instant::now();
    let whole = passed_tests(start(&package, &program, &quick));
    let takes = started.elapsed();
    assert_eq!(whole.len(), QUICK, "without interruption all cases pass");
    for round in 0..50_u32 {
        let mut child = start(&package, &program, &quick);
        // Spread over the duration of a complete run, in no particular order.
        thread::sleep(takes.mul_f64(f64::from(round * 37 % 50) / 50.0));
        child.kill().expect("the process can be killed");
        let reported = passed_tests(child);
        let run = package.records_directory().join("runs/dying");
        let files = files_below(&run);
        let is_json = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let records: Vec<Value> = files.iter().filter(is_json).map(|path| read_json(path)).collect();
        for test in &reported {
            let is_of_test =
                |record: &&Value| record["schema"] == "evalsuite.case/1" && record["test_name"] == test.as_str();
            let cases: Vec<&Value> = records.iter().filter(is_of_test).collect();
            assert!(
                cases.len() == 1 && cases[0]["outcome"] == "passed",
                "round {round}: {test} was reported as passed, but its record is {cases:?}"
            );
        }
        for line in fs::read_to_string(run.join("spend.jsonl")).unwrap_or_default().lines() {
            evalsuite_schema::json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
    assert_eq!(passed_tests(start(&package, &program, &quick)), whole, "the next run works");
    let files = files_below(&package.records_directory().join("runs/dying/suites"));
    let temporary: Vec<&PathBuf> =
        files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "tmp")).collect();
    assert!(temporary.is_empty(), "expected temporary files of killed processes to be removed: {temporary:?}");
    leftover_programs::have_ended(package.records_directory());

    for (name, number) in [("INT", 2), ("TERM", 15)] {
        dies_of(name, number, &package, &program);
    }
}

/// Whether this process ignores a signal, as then does every program it starts.
fn is_ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

/// The signal ends the process at once, as it ends a process without a handler, and all programs it has started.
fn dies_of(name: &str, number: i32, package: &Package, program: &Path) {
    package.records().clear();
    let mut child = start(package, program, &["waits"]);
    let limit = Instant::now() + Duration::from_secs(60);
    while package.records().named("waiting").is_empty() {
        assert!(Instant::now() < limit, "expected the agent's program to start");
        thread::sleep(Duration::from_millis(10));
    }
    let kill = format!("kill -s {name} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status().expect("a shell can be run");
    assert!(sent.success());
    let status = child.wait().expect("the process can be waited for");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(number), "it died of SIG{name}");
    leftover_programs::have_ended(package.records_directory());
    assert_eq!(package.records().named("started.json").len(), 1, "the trial has started");
    assert!(package.records().named("result.json").is_empty(), "an interrupted trial has no result");
    assert_eq!(passed_tests(start(package, program, &["quick_00"])).len(), 1, "expected no lock to be held");
}
