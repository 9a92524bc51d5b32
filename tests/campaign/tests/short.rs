//! The short form of the campaign: no finding.

#![cfg(unix)]

use std::path::Path;

use evalsuite_campaign::{SHORT, run};
use evalsuite_needs::{needs, slow};

const PROGRAM: &str = env!("CARGO_BIN_EXE_evalsuite-campaign");

#[track_caller]
fn assert_no_findings(part: &str) {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(part);
    let table = run(Path::new(PROGRAM), &[part], SHORT, 1, &kept).unwrap_or_else(|error| panic!("{part}: {error}"));
    assert_eq!(table.findings, [] as [String; 0], "{}", table.text);
}

#[slow(hostile)]
#[test]
fn mutated_inputs_break_no_reader() {
    assert_no_findings("fuzz");
}

#[slow(hostile)]
#[test]
fn killed_tests_lose_no_record() {
    assert_no_findings("kills");
}

#[slow(hostile)]
#[test]
fn tests_that_run_again_find_their_records() {
    assert_no_findings("reruns");
}

#[slow(hostile)]
#[needs(c_compiler)]
#[test]
fn failing_calls_lose_no_record() {
    assert_no_findings("faults");
}

#[slow(hostile)]
#[needs(python)]
#[test]
fn hostile_agents_harm_nothing() {
    assert_no_findings("attacks");
}

#[slow(hostile)]
#[test]
fn hostile_run_directories_hold_up_no_reader() {
    assert_no_findings("runs");
}

#[slow(hostile)]
#[cfg(target_os = "linux")]
#[needs(python)]
#[test]
fn a_sealed_agent_reaches_nothing_that_it_may_not() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let problems = evalsuite_campaign::try_seals(Path::new(PROGRAM), place.path()).expect("processes that start");
    assert_eq!(problems, [] as [String; 0], "{}", problems.join("\n"));
}
