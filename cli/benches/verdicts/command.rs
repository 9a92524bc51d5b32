//! Calls of the command, and what it says.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// What the command says about two runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    /// `regressed`, `improved`, `unchanged`, `same` or `undecided`.
    pub(crate) verdict: String,
    /// Its exit status.
    pub(crate) status: i32,
    /// The comparison of the suite.
    pub(crate) suite: Value,
    /// The whole comparison.
    pub(crate) comparison: Value,
}

impl Said {
    pub(crate) fn is(&self, verdict: &str) -> bool {
        self.verdict == verdict
    }
}

/// What the command prints, and its exit status, in a package with an output directory.
pub(crate) fn evalsuite(package: &Path, output: &Path, arguments: &[&str]) -> (String, i32) {
    let done = Command::new(env!("CARGO_BIN_EXE_cargo-evalsuite"))
        .arg("evalsuite")
        .args(arguments)
        .current_dir(package)
        .env("EVALSUITE_OUTPUT", output)
        .output()
        .expect("the command can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (said, done.status.code().unwrap_or(-1))
}

/// `cargo evalsuite diff base run` in an output directory.
pub(crate) fn diff(output: &Path, arguments: &[&str]) -> Said {
    said(output, &[&["diff", "base", "run"], arguments].concat())
}

/// `cargo evalsuite diff`: the newest run, and the one that the command chooses.
pub(crate) fn newest(output: &Path) -> Said {
    said(output, &["diff"])
}

/// The same with a judge of the answers, a service.
pub(crate) fn judged(output: &Path, url: &str, arguments: &[&str]) -> Value {
    let done = Command::new(env!("CARGO_BIN_EXE_cargo-evalsuite"))
        .args(["evalsuite", "diff", "base", "run", "--judge", "--format", "json"])
        .args(arguments)
        .env("EVALSUITE_OUTPUT", output)
        .env("EVALSUITE_JUDGE_URL", url)
        .env("EVALSUITE_JUDGE_MODEL", "simulated")
        .output()
        .expect("the command can be started");
    let parsed: Value = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&done.stderr)));
    parsed["suites"][0]["judged"].clone()
}

/// Whether a gate is met.
pub(crate) fn gate(output: &Path, gate: &str) -> bool {
    let done = command(output, &["gate", "--require", gate]);
    match done.status.code() {
        Some(0) => true,
        Some(1) => false,
        _ => panic!("{}", String::from_utf8_lossy(&done.stderr)),
    }
}

/// The exit status of a gate: 0 if it is met, 1 if it is missed, 4 if it is undecided.
pub(crate) fn gate_status(output: &Path, gate: &str) -> i32 {
    let done = command(output, &["gate", "--require", gate]);
    match done.status.code() {
        Some(status @ (0 | 1 | 4)) => status,
        _ => panic!("{}", String::from_utf8_lossy(&done.stderr)),
    }
}

fn command(output: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-evalsuite"))
        .arg("evalsuite")
        .args(arguments)
        .env("EVALSUITE_OUTPUT", output)
        .output()
        .expect("the command can be started")
}

fn said(output: &Path, arguments: &[&str]) -> Said {
    let (status, parsed) = json(output, arguments);
    let suite = parsed["suites"][0].clone();
    let verdict = suite["verdict"].as_str().expect("the suite has a verdict").to_owned();
    Said { verdict, status, suite, comparison: parsed }
}

/// `cargo evalsuite health` in an output directory.
pub(crate) fn health(output: &Path) -> Value {
    json(output, &["health"]).1
}

/// The exit status of the command, and what it prints as JSON.
fn json(output: &Path, arguments: &[&str]) -> (i32, Value) {
    let done = command(output, &[arguments, &["--format", "json"]].concat());
    let parsed = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&done.stderr)));
    (done.status.code().unwrap_or(-1), parsed)
}
