//! Run directories in which something else is in place of a file. A process of its own reads each in every way; then tests go on in
//! the run, and another run grades its trials again.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use evalsuite::tooling::finish_run;
use evalsuite_records::run_directory::{OutputDirectory, StoredRun};
use evalsuite_records::summary::{SummaryText, summarize_run};
use evalsuite_report::{FORMATS, GateOptions, HtmlReport, RunData, check_gates, earlier_runs};

use crate::attacks::{Attacked, most_memory};
use crate::consistency::files;
use crate::findings::Findings;
use crate::kills::wait;
use crate::victim::{CASES, Package};

/// Longest time of a process.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most memory of a process that reads a run, in KiB.
const MEMORY: u64 = 256 << 10;
/// A file that is larger than any limit.
const HUGE: u64 = 100 << 20;
/// What no output may contain.
const SECRET: &str = "of somebody else 5d1c";
/// What is in place of a file.
const ATTACKS: [&str; 6] = ["pipe", "link to /dev/zero", "link to a victim", "directory", "100 MB", "many values"];

/// Attacks every kind of file of a run, or one of `every`.
pub(crate) fn run(program: &Path, every: usize, findings: &mut Findings) -> io::Result<Attacked> {
    let mut attacked = Attacked::default();
    let package = Package::new()?;
    for index in 0..CASES.len() {
        wait(&mut package.test(program, index, "whole", "record").spawn()?, PATIENCE)?;
    }
    let whole = package.run("whole");
    let kinds = kinds_of_files(&whole);
    let attacks = kinds.iter().flat_map(|file| ATTACKS.iter().map(move |attack| (file, *attack)));
    for (file, attack) in attacks.step_by(every.max(1)) {
        let place = tempfile::tempdir()?;
        fs::write(place.path().join("victim"), SECRET)?;
        let run = package.run("attacked");
        let _ = fs::remove_dir_all(&run);
        copy(&whole, &run)?;
        put(&run.join(file), attack, &place.path().join("victim"))?;
        let began = Instant::now();
        let problems = one(program, &package, place.path(), &mut attacked)?;
        attacked.longest = attacked.longest.max(began.elapsed());
        attacked.attacks += 1;
        findings.report(&format!("{attack} in place of {}", file.display()), &problems, place.path());
    }
    Ok(attacked)
}

/// One file of each name, relative to the run.
fn kinds_of_files(run: &Path) -> Vec<PathBuf> {
    let mut kinds = BTreeMap::new();
    for file in files(run) {
        let relative = file.strip_prefix(run).unwrap_or(&file).to_owned();
        kinds.entry(file.file_name().unwrap_or_default().to_owned()).or_insert(relative);
    }
    kinds.into_values().collect()
}

fn put(file: &Path, attack: &str, victim: &Path) -> io::Result<()> {
    fs::remove_file(file)?;
    match attack {
        "pipe" => drop(Command::new("mkfifo").arg(file).status()?),
        "link to /dev/zero" => symlink("/dev/zero", file)?,
        "link to a victim" => symlink(victim, file)?,
        "directory" => fs::create_dir(file)?,
        "many values" => fs::write(file, format!("[{}0]", "0,".repeat(6 << 20)))?,
        _ => File::create(file)?.set_len(HUGE)?,
    }
    Ok(())
}

fn one(program: &Path, package: &Package, place: &Path, attacked: &mut Attacked) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut reading = Command::new(program);
    reading.arg("read-run").arg(package.output()).arg(place).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = reading.stderr(File::create(place.join("errors"))?).spawn()?;
    if !wait(&mut child, PATIENCE)? {
        let errors = fs::read_to_string(place.join("errors"))?;
        problems.push(format!("reading it did not end well: {}", errors.trim()));
    }
    let memory = fs::read_to_string(place.join("memory")).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    attacked.largest = attacked.largest.max(memory);
    if memory > MEMORY {
        problems.push(format!("reading it took {} MiB of memory", memory >> 10));
    }
    // Whether these tests pass depends on the file. They have to end.
    for (run, regraded) in [("attacked", ""), ("again", "attacked")] {
        for index in [0, CASES.len() - 1] {
            let mut test = package.test(program, index, run, "record");
            if !regraded.is_empty() {
                test.env("EVALSUITE_REGRADE", regraded).env_remove("EVALSUITE_MODE");
            }
            if ended(test, PATIENCE)?.is_none() {
                problems.push(format!("a test of run {run} did not end"));
            }
        }
    }
    if fs::read_to_string(place.join("victim"))? != SECRET {
        problems.push("the victim was changed".to_owned());
    }
    for file in files(&place.join("written")) {
        if fs::read(&file)?.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
            problems.push(format!("{} shows the victim", file.display()));
        }
    }
    Ok(problems)
}

/// The status of a process that ended within the limit.
fn ended(mut command: Command, limit: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let mut child = command.spawn()?;
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Reads the run `attacked` of an output directory in every way, and writes every report to a directory in `place`.
///
/// # Errors
///
/// If a reader fails, instead of saying what it cannot read.
pub fn read_run(output: &Path, place: &Path) -> io::Result<()> {
    let written = place.join("written");
    fs::create_dir_all(&written)?;
    let output = OutputDirectory::new(output);
    let directory = output.run_directory("attacked");
    let stored = StoredRun::open(&directory).ok_or_else(|| io::Error::other("it is not a run"))?;
    output.runs_newest_first()?;
    let run = RunData::read(stored.path())?;
    earlier_runs(&run, 3)?;
    evalsuite_report::Health::of_output(output.path(), &["x".to_owned()], 3, &Default::default())?;
    let gate = "pass_rate >= 50%".parse().map_err(io::Error::other)?;
    let mut texts = vec![("gate", check_gates(&run, &[gate], GateOptions::new()).to_string())];
    let summary = summarize_run(&directory)?;
    texts.push(("text", summary.suites.iter().map(|suite| SummaryText::new(suite).to_string()).collect()));
    for (name, text) in texts {
        fs::write(written.join(name), text)?;
    }
    for format in FORMATS {
        match format.write(&run, &written.join(format.name)) {
            // This run has no skill to compare.
            Err(error) if format.name == "skill-benchmark" && error.kind() == io::ErrorKind::InvalidInput => {}
            result => drop(result?),
        }
    }
    HtmlReport::new(run).write_file(&written.join("page"))?;
    stored.remove_leftovers()?;
    // What hooks and locks cannot be read is among its problems.
    let finished = finish_run(&directory).map_err(io::Error::other)?;
    fs::write(written.join("finished"), format!("{:?}", finished.problems))?;
    fs::write(place.join("memory"), most_memory().to_string())
}
