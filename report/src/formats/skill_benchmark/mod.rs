//! The evals of skills in the files of the guide of Agent Skills: `grading.json` and `timing.json` of each trial, and `benchmark.json` with
//! the means of all trials by arm, and how they differ.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::file_replacement::error_at;
use evalsuite_records::record::{GraderRecord, Status, TrialRecord, Verdict};
use evalsuite_schema::{Layout, REFERENCE_ARMS, Value, WITH_SKILL};
use evalsuite_statistics::{mean, standard_deviation};
use serde::{Deserialize, Serialize};

use super::{Destination, Exported, Format, file};
use crate::failure_text::expectation_text;
use crate::run_data::{CaseData, Problem, RunData, SuiteData, TrialData};

pub(super) const FORMAT: Format = Format::of_files(
    "skill-benchmark",
    Destination::Directory,
    files,
    "Write evals of skills as their guide has them: grading.json, timing.json and benchmark.json, below the next iteration-N",
);

/// Writes the next iteration of the skill of a run; of several skills, each has a directory of its name.
fn files(run: &RunData, directory: &Path) -> io::Result<Exported> {
    // As `lift` counts them.
    let run = &*run.measured();
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

/// The values of the trials of an arm.
#[derive(Debug, Default)]
struct ArmResults {
    pass_rates: Vec<f64>,
    seconds: Vec<f64>,
    tokens: Vec<f64>,
}

impl ArmResults {
    /// Adds a trial. One that ended in an error has no pass rate.
    fn add(&mut self, outcome: Status, grading: &Grading, timing: &Timing) {
        let is_graded = matches!(outcome, Status::Passed | Status::Failed);
        self.pass_rates.extend(is_graded.then_some(grading.summary.pass_rate));
        self.seconds.extend(timing.total_duration_seconds);
        self.tokens.extend(timing.total_tokens.map(|tokens| tokens as f64));
    }
}

/// `benchmark.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Benchmark {
    run_summary: RunSummary,
}

/// The arms by name, then the difference of the one with the skill to the one that it is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RunSummary {
    #[serde(flatten)]
    arms: BTreeMap<String, Arm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Delta>,
}

/// The means of an arm. What no trial reported is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Arm {
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_rate: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_seconds: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Spread>,
}

/// A mean, and the standard deviation (n − 1); 0 for one value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Spread {
    mean: f64,
    stddev: f64,
}

/// Differences of the means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Delta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<f64>,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let stddev = standard_deviation(values).unwrap_or_default();
        (!values.is_empty()).then(|| Self { mean: mean(values), stddev })
    }
}

fn benchmark(results: &BTreeMap<String, ArmResults>) -> Benchmark {
    let arm = |(name, results): (&String, &ArmResults)| {
        let ArmResults { pass_rates, seconds, tokens } = results;
        let arm =
            Arm { pass_rate: Spread::of(pass_rates), time_seconds: Spread::of(seconds), tokens: Spread::of(tokens) };
        (name.clone(), arm)
    };
    let arms: BTreeMap<String, Arm> = results.iter().map(arm).collect();
    let reference = REFERENCE_ARMS.into_iter().find_map(|name| arms.get(name));
    let delta = arms.get(WITH_SKILL).zip(reference).map(|(with_skill, reference)| {
        let difference = |of: fn(&Arm) -> Option<Spread>| Some(of(with_skill)?.mean - of(reference)?.mean);
        Delta {
            pass_rate: difference(|arm| arm.pass_rate),
            time_seconds: difference(|arm| arm.time_seconds),
            tokens: difference(|arm| arm.tokens),
        }
    });
    Benchmark { run_summary: RunSummary { arms, delta } }
}

/// `grading.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Grading {
    expectations: Vec<Expectation>,
    summary: Summary,
}

/// What was expected, and whether it is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Expectation {
    text: String,
    passed: bool,
    evidence: String,
}

/// How many expectations are true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Summary {
    passed: usize,
    failed: usize,
    total: usize,
    /// 0 to 1; 0 without expectations.
    pass_rate: f64,
}

/// `timing.json`, without what is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Timing {
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// The same duration, as the scripts of the guide read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_duration_seconds: Option<f64>,
}

impl Grading {
    fn of(trial: &TrialRecord) -> Self {
        let expectations: Vec<Expectation> = trial.all_graders().flat_map(expectations).collect();
        let (total, passed) = (expectations.len(), expectations.iter().filter(|it| it.passed).count());
        let pass_rate = passed as f64 / total.max(1) as f64;
        Self { expectations, summary: Summary { passed, failed: total - passed, total, pass_rate } }
    }
}

/// The assertions of a grader, else what it decided. What it did not decide is not true.
fn expectations(grader: &GraderRecord) -> Vec<Expectation> {
    let rationale = grader.rationale.clone().unwrap_or_default();
    if grader.verdict.is_none() || grader.assertions.is_empty() {
        let passed = grader.verdict == Some(Verdict::Pass);
        return vec![Expectation { text: grader.name.clone(), passed, evidence: rationale }];
    }
    let assertions = grader.assertions.iter().map(|assertion| Expectation {
        text: expectation_text(grader, assertion).to_owned(),
        passed: assertion.passed,
        evidence: assertion.evidence.clone().unwrap_or_else(|| rationale.clone()),
    });
    assertions.collect()
}

impl Timing {
    fn of(trial: &TrialRecord) -> Self {
        let duration_ms = trial.duration_ms;
        Self {
            total_tokens: trial.usage.map(|usage| usage.total()),
            duration_ms,
            total_duration_seconds: duration_ms.map(|milliseconds| milliseconds as f64 / 1e3),
        }
    }
}
