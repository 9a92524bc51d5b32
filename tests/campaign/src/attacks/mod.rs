//! Agents that misbehave. Each runs in a process of its own, beside an agent that does not.

mod scripts;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use evalsuite::{CliAgents, Evals, RunOptions, Status};
use serde_json::json;

use self::scripts::{ATTACKS, Attack};
use crate::findings::Findings;
use crate::static_suite::{case_json, grader, suite};

/// Time limit of an agent that answers, and of one that does not, in seconds.
const LIMITS: [u64; 2] = [60, 2];
/// Longest time of an attack: the limit, the grace of its programs, the time in which a workspace is read, and as much again.
const PATIENCE: Duration = Duration::from_secs(150);
/// How long a program may take to end after it was killed.
const DEATH: Duration = Duration::from_secs(10);
/// Most memory of a process that runs an attack, in KiB.
const MEMORY: u64 = 768 << 10;
/// The variable by which the programs of an attack are found.
const MARK: &str = "CAMPAIGN_ATTACK";
/// The variable whose value nothing that is written may have, and its value. The words of it are in no script.
const SECRET: (&str, &str) = ("CAMPAIGN_SECRET", "\"Vq7xk2Lm'&Tz4+wH9/é\\Jr5nB8pDy3\"");
/// Parts of the value that no encoder changes.
const SECRET_WORDS: [&str; 3] = ["Vq7xk2Lm", "Tz4", "Jr5nB8pDy3"];

/// What attacks took.
#[derive(Debug, Default)]
pub(crate) struct Attacked {
    pub(crate) attacks: usize,
    pub(crate) longest: Duration,
    /// Most memory of a process, in KiB.
    pub(crate) largest: u64,
}

/// Runs every attack, or one of `every`.
pub(crate) fn run(program: &Path, every: usize, findings: &mut Findings) -> io::Result<Attacked> {
    let mut attacked = Attacked::default();
    for (index, attack) in ATTACKS.iter().enumerate().step_by(every.max(1)) {
        let place = tempfile::tempdir()?;
        let began = Instant::now();
        let problems = one(program, index, place.path(), &mut attacked)?;
        attacked.longest = attacked.longest.max(began.elapsed());
        attacked.attacks += 1;
        findings.report(&format!("attack {}", attack.name), &problems, place.path());
        // The agent may have taken the permission to remove it.
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(place.path()).stderr(Stdio::null()).status();
    }
    Ok(attacked)
}

fn one(program: &Path, index: usize, place: &Path, attacked: &mut Attacked) -> io::Result<Vec<String>> {
    let victim = place.join("victim");
    fs::create_dir_all(&victim)?;
    fs::write(victim.join("file"), "unharmed\n")?;
    let errors = fs::File::create(place.join("errors"))?;
    let mut command = Command::new(program);
    command.args(["attack", &index.to_string()]).arg(place).env(MARK, place).env(SECRET.0, SECRET.1);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn()?;
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut problems = Vec::new();
    match status {
        None => problems.push(format!("did not end within {} s", PATIENCE.as_secs())),
        Some(status) if !status.success() => {
            let errors = fs::read_to_string(place.join("errors"))?;
            problems.push(format!("{status}: {}", errors.trim()));
        }
        Some(_) => {}
    }
    let names: Vec<_> = fs::read_dir(&victim)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    if fs::read_to_string(victim.join("file"))? != "unharmed\n" || names != ["file"] {
        problems.push(format!("the victim was changed: {names:?}"));
    }
    let end = Instant::now() + DEATH;
    let mut left = programs_of(place);
    while !left.is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
        left = programs_of(place);
    }
    if !left.is_empty() {
        problems.push(format!("programs are left: {left:?}"));
        left.iter().for_each(|id| drop(Command::new("sh").args(["-c", &format!("kill -9 {id}")]).status()));
    }
    for name in with_secret(&place.join("out"))? {
        problems.push(format!("a part of the secret is in {name}"));
    }
    let memory = fs::read_to_string(place.join("memory")).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    attacked.largest = attacked.largest.max(memory);
    if memory > MEMORY {
        problems.push(format!("took {} MiB of memory", memory >> 10));
    }
    Ok(problems)
}

/// The files below a directory that have a part of the secret, as it is or as base64. The workspace belongs to the agent.
fn with_secret(directory: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let (entry, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() && !entry.ends_with("workspace") {
            found.extend(with_secret(&entry)?);
        } else if kind.is_file() {
            let text = fs::read(&entry).unwrap_or_default();
            let text: String = String::from_utf8_lossy(&text).replace("\\n", "").split_whitespace().collect();
            let has = |part: &str| text.contains(part);
            // In base64, "k2Lm" and "B8pD" at each position of a group of three bytes.
            let encoded = ["azJMb", "syTG", "rMkxt", "QjhwR", "I4cE", "COHBE"];
            if SECRET_WORDS.into_iter().any(has) || encoded.into_iter().any(has) {
                found.push(entry.display().to_string());
            }
        }
    }
    Ok(found)
}

/// The ids of programs of the attack at `place`.
fn programs_of(place: &Path) -> Vec<String> {
    let mark = format!("{MARK}={}", place.display());
    let has_mark = |id: &str| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.map(|entry| entry.file_name().to_string_lossy().into_owned());
    ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()) && has_mark(id)).collect()
}

/// Runs an attack in the package at `place`; prints what is wrong.
///
/// # Errors
///
/// If the package cannot be written, or something is wrong.
pub fn attack(index: usize, place: &Path) -> io::Result<()> {
    let Some(attack) = ATTACKS.get(index) else { return Err(io::Error::other("there is no such attack")) };
    fs::create_dir_all(place.join("suites/x/template/docs"))?;
    fs::write(place.join("suites/x/template/docs/old.txt"), "one\n")?;
    let victim = place.join("victim");
    let begin = format!("VICTIM='{}'\nTRIAL=${{1%/agent/output}}\n", victim.display());
    fs::write(place.join("hostile.sh"), format!("{begin}{}\n", attack.script))?;
    fs::write(place.join("kind.sh"), "echo done > $1\n")?;
    let limit = if attack.passes { LIMITS[0] } else { LIMITS[1] };
    let target = |name: &str, script: &str, limit: u64| {
        let command = format!("sh {}/{script} {{OUTPUT_FILE}}", place.display());
        format!("  - {{ name: {name}, provider: cli, command: '{command}', timeout_seconds: {limit} }}\n")
    };
    let targets = [target("default", "kind.sh", LIMITS[0]), target("hostile", "hostile.sh", limit)].concat();
    fs::write(place.join("targets.yaml"), format!("targets:\n{targets}"))?;
    let graders = json!([grader("done", &json!({"contains": {"value": "done"}}))]);
    let template = json!({"template": {"written": "template", "path": "suites/x/template"}});
    let case = |id: &str, target: &str| {
        let more = json!({"workspace": template, "target": target, "requires": {"env": [SECRET.0]}});
        case_json(id, &graders, &more)
    };
    let suite = suite(place, &[case("hostile", "hostile"), case("kind", "default")], &json!({}));
    let evals = Evals::new(suite).with_agent(CliAgents);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let report = runtime.block_on(evals.run(&RunOptions::new().with_output(place.join("out"))));
    fs::write(place.join("memory"), most_memory().to_string())?;
    check(attack, &report.map_err(io::Error::other)?)
}

fn check(attack: &Attack, report: &evalsuite::Report) -> io::Result<()> {
    let mut problems = report.problems().to_vec();
    for case in report.cases() {
        let expected = match case.case().id() {
            "hostile" if !attack.passes => Status::Error,
            _ => Status::Passed,
        };
        if case.status() != expected {
            problems.push(format!("{case}"));
        }
        let records = [case.directory().join("case.json"), case.directory().join("trial-000/result.json")];
        for record in records {
            let text = fs::read(&record).unwrap_or_default();
            if serde_json::from_slice::<serde_json::Value>(&text).is_err() {
                problems.push(format!("{} is missing or torn", record.display()));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(io::Error::other(problems.join("\n"))),
    }
}

/// The most memory that this process ever took, in KiB, where the system says so.
pub(crate) fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0)
}
