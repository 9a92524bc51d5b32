//! A command agent that tries what a sealed one may not do: everything succeeds unsealed, and nothing sealed.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{fs, io, process};

use evalsuite::record::TrialRecord;
use evalsuite::{CliAgents, Evals, RunOptions};
use serde_json::json;

use crate::static_suite::{case_json, grader, suite};

const SCRIPT: &str = include_str!("attempts.py");
/// The attempts that a system may also refuse to every program.
const OFTEN_REFUSED: [&str; 1] = ["trace a process"];
/// The fewest attempts.
const FEWEST: usize = 20;
/// The variable by which the programs of the agent are found.
const MARK: &str = "CAMPAIGN_SEAL";

/// Runs the agent unsealed and sealed, in processes of `program` whose home directory is in `place`; what is wrong.
///
/// # Errors
///
/// If a process cannot be started.
pub fn try_seals(program: &Path, place: &Path) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    for mode in ["off", "auto"] {
        let place = place.join(mode);
        fs::create_dir_all(place.join("home"))?;
        let place = place.canonicalize()?;
        let mut command = Command::new(program);
        command.args(["seal", mode]).arg(&place).env("HOME", place.join("home")).env(MARK, &place);
        // The programs of the system: toolchain managers are in the real home directory.
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
        let output = command.output()?;
        if !output.status.success() {
            problems.push(format!("sealed: {mode}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        if let Some(left) = left_running(&place) {
            problems.push(format!("sealed: {mode}: process {left} outlives its trial"));
        }
    }
    Ok(problems)
}

/// Runs the agent in this mode, in a package at `place`.
///
/// # Errors
///
/// If an attempt ends in another way than it should.
pub fn try_seal(mode: &str, place: &Path) -> io::Result<()> {
    let mut sleeper = Command::new("sleep").arg("300").env_remove(MARK).spawn()?;
    let trial = run_agent(mode, place, &sleeper);
    sleeper.kill()?;
    sleeper.wait()?;
    let problems = problems(mode, &trial?);
    if problems.is_empty() { Ok(()) } else { Err(io::Error::other(problems.join("\n"))) }
}

fn run_agent(mode: &str, place: &Path, sleeper: &Child) -> io::Result<TrialRecord> {
    let case = "suites/x/cases/a/case.yaml";
    for file in [
        case,
        "out/sibling/workspace/file",
        "out/sibling/result.json",
        "out/sibling/renamed.json",
        "out/sibling/removed.json",
        "home/.ssh/id_test",
        "home/.cargo/config.toml",
        ".git/objects/later",
        ".evalsuite/baselines/x.json",
        ".evalsuite/cassettes/x.json",
        "target/debug/evals",
        "build.rs",
    ] {
        let file = place.join(file);
        fs::create_dir_all(file.parent().unwrap_or(place))?;
        fs::write(file, "secret\n")?;
    }
    fs::write(place.join("suites/x/attempts.py"), SCRIPT)?;
    let abstract_name = format!("evalsuite-campaign-{}", process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name)?)?;
    let _socket = UnixListener::bind(place.join("agent.socket"))?;
    let tcp = std::net::TcpListener::bind("127.0.0.1:0")?;
    let udp = std::net::UdpSocket::bind("127.0.0.1:0")?;
    let targets = json!({"targets": [{
        "name": "default",
        "provider": "cli",
        "command": "python3 \"$EVALSUITE_SUITE_DIR/attempts.py\" {OUTPUT_FILE}",
        "sealed": mode,
        "network": "none",
        "env": {
            "PLACE": place, "REAL_HOME": place.join("home"), "TEST_PID": process::id().to_string(),
            "SLEEPER": sleeper.id().to_string(), "TCP": tcp.local_addr()?.port().to_string(),
            "UDP": udp.local_addr()?.port().to_string(), "ABSTRACT": abstract_name,
        },
    }]});
    fs::write(place.join("targets.yaml"), targets.to_string())?;
    let link = format!("ln -s {} {{{{workspace_path}}}}/link-before", place.join(case).display());
    let hook = json!({"command": {"shell": link}, "timeout_ms": 10_000});
    let answers = grader("answers", &json!({"contains": {"value": "read a case"}}));
    let case = case_json("a", &json!([answers]), &json!({"workspace": {"hooks": {"before_each": hook}}}));
    let evals = Evals::new(suite(place, &[case], &json!({}))).with_agent(CliAgents);
    let options = RunOptions::new().with_output(place.join("out"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(evals.run(&options)).map_err(io::Error::other)?;
    let trial = report.cases().first().and_then(|case| case.trials().first()).cloned();
    trial.ok_or_else(|| io::Error::other("no trial ran"))
}

fn problems(mode: &str, trial: &TrialRecord) -> Vec<String> {
    let answer = trial.answer.as_deref().unwrap_or_default();
    let attempts: Vec<(bool, &str)> =
        answer.lines().filter_map(|line| Some((line.starts_with("reached: "), line.split_once(": ")?.1))).collect();
    let mut problems = Vec::new();
    if attempts.len() < FEWEST {
        problems.push(format!("{} attempts: {answer} {:?}", attempts.len(), trial.reason));
    }
    let seal = trial.sealed.as_ref();
    match (mode, seal) {
        ("off", Some(seal)) if seal.text() == "off" => {}
        // Without a kernel for it, the record says so, and the attempts succeed.
        ("auto", Some(seal)) if !seal.is_sealed() => {
            eprintln!("NOT SEALED: {}", seal.text());
            if seal.reason.is_none() {
                problems.push("the record does not say why the agent is not sealed".to_owned());
            }
        }
        ("auto", Some(_)) => {}
        (mode, seal) => problems.push(format!("the record of `sealed: {mode}` is {seal:?}")),
    }
    let is_sealed = seal.is_some_and(|seal| seal.is_sealed());
    for (is_reached, attempt) in attempts {
        let may_be_refused = OFTEN_REFUSED.iter().any(|name| attempt.starts_with(name));
        if is_sealed == is_reached && (is_reached || !may_be_refused) {
            let how = if is_reached { "is reached" } else { "is refused" };
            problems.push(format!("`{attempt}` {how}"));
        }
    }
    problems
}

/// A process of the agent that still runs.
fn left_running(place: &Path) -> Option<String> {
    let mark = format!("{MARK}={}", place.display());
    let has_mark = |id: &String| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut ids = processes.map(|entry| entry.file_name().to_string_lossy().into_owned());
    ids.find(|id| id.bytes().all(|byte| byte.is_ascii_digit()) && has_mark(id))
}
