//! The evals of skills in the files of the guide of Agent Skills: `grading.json`, `timing.json` and `benchmark.json`.

mod benchmark;
mod grading;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::file_replacement::error_at;
use evalsuite_records::record::Status;
use evalsuite_schema::arm::{REFERENCE_ARMS, WITH_SKILL};
use evalsuite_schema::{Layout, Value};
use serde::Serialize;

use self::benchmark::{ArmResults, benchmark};
use self::grading::{Grading, Timing};
use super::{Destination, Exported, Format, file};
use crate::run_data::{CaseData, Problem, RunData, SuiteData, TrialData};

pub(super) const FORMAT: Format = Format::of_files(
    "skill-benchmark",
    Destination::Directory,
    files,
    "Write evals of skills as their guide has them: grading.json, timing.json and benchmark.json, below the next iteration-N",
);

/// Writes the next iteration of the skill of a run; of several skills, each has a directory of its name.
fn files(run: &RunData, directory: &Path) -> io::Result<Exported> {
    let suites: Vec<&SuiteData> = run.suites.iter().filter(|suite| suite.cases.iter().any(is_of_skill)).collect();
    if suites.is_empty() {
        let message = "the run has no evals of a skill, and no targets `with_skill` and `without_skill`";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let mut exported = Exported::default();
    for suite in &suites {
        let of_skill = if suites.len() > 1 { directory.join(slug(&suite.name)) } else { directory.to_owned() };
        let iteration = next_iteration(&of_skill)?;
        exported.problems.append(&mut write_suite(suite, &iteration)?);
        exported.named.push(iteration.join("benchmark.json"));
    }
    Ok(exported)
}

fn is_of_skill(case: &CaseData) -> bool {
    let targets = REFERENCE_ARMS.into_iter().chain([WITH_SKILL]);
    case.record.layout == Layout::Skill || targets.into_iter().any(|target| target == case.record.target)
}

/// The first iteration that a directory does not have.
fn next_iteration(directory: &Path) -> io::Result<PathBuf> {
    let mut paths = (1_u32..).map(|number| directory.join(format!("iteration-{number}")));
    loop {
        let path = paths.next().ok_or_else(|| io::Error::other("there are too many iterations"))?;
        if !path.try_exists().map_err(|error| error_at(&path, &error))? {
            return Ok(path);
        }
    }
}

fn write_suite(suite: &SuiteData, iteration: &Path) -> io::Result<Vec<Problem>> {
    let (mut results, mut problems) = (BTreeMap::<String, ArmResults>::new(), Vec::new());
    for (name, cases) in evals(suite) {
        for case in cases {
            let arm = arm_of(case);
            let directory = iteration.join(format!("eval-{name}")).join(&arm);
            for trial in &case.trials {
                let (grading, timing) = (Grading::of(&trial.record), Timing::of(&trial.record));
                let run = if case.trials.len() > 1 { format!("run-{}", trial.record.trial + 1) } else { String::new() };
                let directory = directory.join(run);
                write(&directory.join("timing.json"), &timing)?;
                // Of a trial that ended in an error nothing is known, which is not a failure.
                match matches!(trial.record.outcome, Status::Passed | Status::Failed) {
                    true => write(&directory.join("grading.json"), &grading)?,
                    false => problems.push(without_grading(case, trial)),
                }
                results.entry(arm.clone()).or_default().add(trial.record.outcome, &grading, &timing);
            }
        }
    }
    write(&iteration.join("benchmark.json"), &benchmark(&results))?;
    Ok(problems)
}

/// The evals of a suite by the names of their directories, each with its cases in all arms.
fn evals(suite: &SuiteData) -> Vec<(String, Vec<&CaseData>)> {
    let mut cases: Vec<(&str, Vec<&CaseData>)> = Vec::new();
    for case in suite.cases.iter().filter(|case| case.record.outcome != Status::Skipped) {
        match cases.iter_mut().find(|(id, _)| *id == case.record.case_id) {
            Some((_, of_eval)) => of_eval.push(case),
            None => cases.push((&case.record.case_id, vec![case])),
        }
    }
    let mut taken = BTreeSet::new();
    let named = cases.into_iter().map(|(id, cases)| {
        let written = cases.iter().flat_map(|case| &case.trials).find_map(|trial| trial.record.metadata.get("name"));
        let name = slug(written.and_then(Value::as_str).unwrap_or(id));
        let own = [name.clone(), format!("{name}-{}", slug(id))].into_iter();
        let mut all = own.chain((2..).map(|number| format!("{name}-{number}")));
        let name = all.find(|name| taken.insert(name.clone())).unwrap_or(name);
        (name, cases)
    });
    named.collect()
}

/// The name of the arm: of a suite without arms, every trial has the skill.
fn arm_of(case: &CaseData) -> String {
    match case.record.target.as_str() {
        "default" if case.record.layout == Layout::Skill => WITH_SKILL.to_owned(),
        target => slug(target),
    }
}

/// A name of a file: other characters are `-`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars() {
        if character.is_alphanumeric() || character == '_' {
            slug.extend(character.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "unnamed".to_owned() } else { slug.to_owned() }
}

fn without_grading(case: &CaseData, trial: &TrialData) -> Problem {
    let record = &trial.record;
    let reason = record.reason.as_ref().map(|reason| reason.message.as_str()).unwrap_or("it was not graded");
    let message = format!("no grading.json of trial {} of `{}`: {reason}", record.trial, case.record.test_name);
    Problem::new(Path::new(""), &trial.directory, message)
}

fn write(path: &Path, data: &impl Serialize) -> io::Result<()> {
    let directory = path.parent().map(PathBuf::from).unwrap_or_default();
    fs::create_dir_all(&directory).map_err(|error| error_at(&directory, &error))?;
    file(path, |out| {
        serde_json::to_writer_pretty(&mut *out, data)?;
        io::Write::write_all(out, b"\n")
    })
}
