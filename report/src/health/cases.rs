//! What the results over several runs, without the runs, say about cases, and about judges, which may not judge as they did.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::{
    CalibrationRecord, CaseRecord, GraderRecord, GraderState, Mode, ModelCalls, ReasonCode, Status, SuiteId,
    TrialRecord,
};
use evalsuite_schema::SuiteKind;
use evalsuite_schema::decimal::{at_least, at_most};
use evalsuite_statistics::{holm, mean, sign_flip_p_value};

use super::{CaseHealth, Health, HealthOptions, JudgeHealth, SkippedCase, SuiteHealth, UndecidedGrader};
use crate::run_data::{CaseData, RunData, SuiteData};

/// Upper ends of the histogram's classes, without the last one.
const CLASSES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 0.95];

/// A case in one run.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) passed: u32,
    /// Trials that passed or failed.
    pub(super) trials: u32,
    /// Digests of input and graders.
    pub(super) definition: [String; 2],
    pub(super) run: String,
    /// `None` if it is not known, or files differed from it.
    pub(super) commit: Option<String>,
}

/// The cases of a suite with one target, by id.
#[derive(Debug, Default)]
pub(super) struct CaseRuns {
    /// Their results, the newest first.
    results: BTreeMap<String, Vec<Seen>>,
    /// Cases that ran without a result.
    without_result: BTreeSet<String>,
    /// In how many runs a case was skipped, and why in the newest one.
    skipped: BTreeMap<String, (usize, String)>,
}

impl CaseRuns {
    /// Adds an older run in which a case was skipped.
    fn add_skip(&mut self, case: &str, reason: &str) {
        self.skipped.entry(case.to_owned()).or_insert_with(|| (0, reason.to_owned())).0 += 1;
    }

    /// Adds an older result; one of another definition is ignored, as is a run without a decided trial.
    pub(super) fn add(&mut self, case: &str, seen: Seen) {
        if seen.trials == 0 {
            self.without_result.insert(case.to_owned());
            return;
        }
        let runs = self.results.entry(case.to_owned()).or_default();
        if runs.first().is_none_or(|newest| newest.definition == seen.definition) {
            runs.push(seen);
        }
    }

    /// `None` without any result, unless cases were skipped.
    pub(super) fn findings(
        &self,
        suite: &str,
        target: &str,
        kind: SuiteKind,
        options: &HealthOptions,
    ) -> Option<SuiteHealth> {
        let ran = |case: &str| self.results.contains_key(case) || self.without_result.contains(case);
        let skipped = self.skipped.iter().filter(|(case, _)| !ran(case)).map(|(case, (runs, reason))| SkippedCase {
            case: case.clone(),
            runs: *runs,
            reason: reason.clone(),
        });
        let skipped: Vec<SkippedCase> = skipped.collect();
        if self.results.is_empty() && skipped.is_empty() {
            return None;
        }
        let is_mature = |seen: &Seen| at_least(rate(seen.passed, seen.trials), options.mature);
        let mature = self.results.values().filter(|runs| runs.first().is_some_and(is_mature)).count();
        let without_result = self.without_result.iter().filter(|case| !self.results.contains_key(*case)).count();
        let mut health = SuiteHealth {
            suite: suite.to_owned(),
            target: target.to_owned(),
            cases: self.results.len(),
            mature,
            without_result,
            is_saturated: at_least(
                mature as f64 / (self.results.len() + without_result).max(1) as f64,
                options.saturated,
            ),
            histogram: [0; 6],
            graduates: Vec::new(),
            broken: Vec::new(),
            flaky: Vec::new(),
            skipped,
        };
        for (id, runs) in &self.results {
            let all = pooled(id, runs, None);
            health.histogram[CLASSES.partition_point(|end| *end <= rate(all.passed, all.trials))] += 1;
            let series = runs.iter().take_while(|seen| is_mature(seen)).count();
            if series >= options.graduation_runs && kind != SuiteKind::Regression {
                health.graduates.push(CaseHealth { runs: series, ..all.clone() });
            }
            if all.trials >= options.broken_trials && at_most(rate(all.passed, all.trials), options.broken) {
                health.broken.push(all);
            }
            health.flaky.extend(flaky(id, runs));
        }
        Some(health)
    }
}

/// The newest commit on which some trials of a case passed and some failed. A run whose commit is unknown counts as a commit of its own.
fn flaky(id: &str, runs: &[Seen]) -> Option<CaseHealth> {
    let state = |seen: &Seen| seen.commit.clone().unwrap_or_else(|| format!("run {}", seen.run));
    runs.iter().find_map(|newest| {
        let same = runs.iter().filter(|seen| state(seen) == state(newest));
        let found = pooled(id, same, newest.commit.clone());
        (0 < found.passed && found.passed < found.trials).then_some(found)
    })
}

fn pooled<'s>(id: &str, runs: impl IntoIterator<Item = &'s Seen>, commit: Option<String>) -> CaseHealth {
    let mut found = CaseHealth { case: id.to_owned(), passed: 0, trials: 0, runs: 0, commit };
    for seen in runs {
        found.passed = found.passed.saturating_add(seen.passed);
        found.trials = found.trials.saturating_add(seen.trials);
        found.runs += 1;
    }
    found
}

fn rate(passed: u32, trials: u32) -> f64 {
    f64::from(passed) / f64::from(trials.max(1))
}

/// Adjusted p-value up to which values or agreement have moved.
const SIGNIFICANT: f64 = 0.05;
/// Fewest differences that can have a one-sided p-value of that size: 2⁻⁵. Two-sided, it is one more.
const FEWEST: usize = 5;

/// What was seen of a judge, the newest first.
#[derive(Debug, Default)]
pub(super) struct Judge {
    models: Vec<String>,
    /// By digest of the prompt: the values of each run.
    values: BTreeMap<String, Vec<(String, Vec<f64>)>>,
    calibrations: Vec<Calibrated>,
}

/// A calibration with a judge.
#[derive(Debug)]
struct Calibrated {
    /// Digest of the samples.
    samples: String,
    kappa: f64,
    /// Whether the judge lets the same answers pass as the person, by id of the sample.
    agrees: BTreeMap<String, bool>,
}

impl Calibrated {
    /// For each sample of two calibrations, whether the judge agrees with the person only in this one, 1, or only in the older one, -1.
    fn changes(&self, older: &Self) -> Vec<f64> {
        let number = |agrees: bool| f64::from(u8::from(agrees));
        self.agrees.iter().filter_map(|(id, now)| Some(number(*now) - number(*older.agrees.get(id)?))).collect()
    }
}

/// One-sided p-value of a fall.
fn fall_p_value(changes: &[f64]) -> f64 {
    if changes.iter().sum::<f64>() < 0.0 { sign_flip_p_value(changes) / 2.0 } else { 1.0 }
}

/// The p-value, if as many differences could have a small one: their signs do not matter, so this selects no results.
fn testable(p_value: f64, differences: &[f64], fewest: usize) -> Option<f64> {
    (differences.iter().filter(|difference| **difference != 0.0).count() >= fewest).then_some(p_value)
}

impl Judge {
    pub(super) fn add_model(&mut self, model: &str) {
        if self.models.last().is_none_or(|newer| newer != model) {
            self.models.push(model.to_owned());
        }
    }

    pub(super) fn add_value(&mut self, prompt: &str, run: &str, value: f64) {
        let runs = self.values.entry(prompt.to_owned()).or_default();
        match runs.last_mut() {
            Some((last, values)) if last == run => values.push(value),
            _ => runs.push((run.to_owned(), vec![value])),
        }
    }

    pub(super) fn add_calibration(&mut self, calibration: &CalibrationRecord) {
        let Some(statistics) = &calibration.statistics else { return };
        let passes = |score: f64| at_least(score, calibration.threshold);
        let judged = calibration
            .samples
            .iter()
            .filter_map(|sample| Some((sample.id.clone(), passes(sample.judge_score?) == passes(sample.human_score))));
        self.calibrations.push(Calibrated {
            samples: calibration.prompt_sha256.clone(),
            kappa: statistics.kappa,
            agrees: judged.collect(),
        });
    }

    /// What is known of the judge, and the p-values that may show drift.
    pub(super) fn finding(self, suite: &str, judge: String) -> (JudgeHealth, Vec<f64>) {
        let differences: Vec<f64> = self
            .values
            .values()
            .filter_map(|runs| match runs.as_slice() {
                [(_, newest), .., (_, oldest)] => Some(mean(newest) - mean(oldest)),
                _ => None,
            })
            .collect();
        let p_value = sign_flip_p_value(&differences);
        let calibrated = self.calibrations.split_first().and_then(|(newest, older)| {
            let oldest = older.iter().rev().find(|other| other.samples == newest.samples)?;
            Some(((oldest.kappa, newest.kappa), newest.changes(oldest)))
        });
        let fall = calibrated.as_ref().map(|(_, changes)| (fall_p_value(changes), changes));
        let of_kappa = fall.and_then(|(p, changes)| testable(p, changes, FEWEST));
        let tests = [testable(p_value, &differences, FEWEST + 1), of_kappa].into_iter().flatten().collect();
        let health = JudgeHealth {
            suite: suite.to_owned(),
            judge,
            is_drifting: self.models.len() > 1,
            models: self.models,
            prompts: differences.len(),
            difference: mean(&differences),
            p_value,
            kappa_p_value: fall.map(|(p, _)| p),
            kappa: calibrated.as_ref().map(|(kappa, _)| *kappa),
            adjusted_p: 1.0,
        };
        (health, tests)
    }
}

/// Adjusts the p-values of all judges for their number, and decides which judges drift.
pub(super) fn adjusted(found: Vec<(JudgeHealth, Vec<f64>)>) -> impl Iterator<Item = JudgeHealth> {
    let adjusted = holm(&found.iter().flat_map(|(_, tests)| tests.iter().copied()).collect::<Vec<_>>());
    let mut adjusted = adjusted.into_iter();
    found.into_iter().map(move |(mut judge, tests)| {
        judge.adjusted_p = adjusted.by_ref().take(tests.len()).fold(1.0, f64::min);
        judge.is_drifting |= judge.adjusted_p <= SIGNIFICANT;
        judge
    })
}

/// Whether a run says something about the agent.
pub(super) fn has_called_agent(run: &RunData) -> bool {
    run.suites.iter().flat_map(|suite| &suite.cases).any(is_of_agent)
}

/// Whether the agent was called in all trials of a case, with models that answered.
fn is_of_agent(case: &CaseData) -> bool {
    let called = |trial: &TrialRecord| {
        matches!(trial.mode, Mode::Live | Mode::Record) && trial.model_calls != Some(ModelCalls::Replayed)
    };
    case.trials.iter().all(|trial| called(&trial.record))
}

/// The runs of the window, which are added one by one, the newest first.
#[derive(Debug, Default)]
pub(super) struct Observed(BTreeMap<String, Suite>);

#[derive(Debug, Default)]
struct Suite {
    id: SuiteId,
    kind: SuiteKind,
    /// The ids of its cases in the newest run.
    known: BTreeSet<String>,
    /// By target.
    targets: BTreeMap<String, CaseRuns>,
    /// By name.
    graders: BTreeMap<String, Decisions>,
    /// By name.
    judges: BTreeMap<String, Judge>,
}

#[derive(Debug, Default)]
struct Decisions {
    decided: usize,
    undecided: usize,
    errors: usize,
}

impl Observed {
    /// The suites so far, with their names.
    pub(super) fn suite_names(&self) -> Vec<(SuiteId, String)> {
        self.0.iter().map(|(name, suite)| (suite.id.clone(), name.clone())).collect()
    }

    pub(super) fn add(&mut self, run: &RunData) {
        let commit = run.record.as_ref().and_then(|record| record.git.as_ref()).filter(|git| !git.dirty);
        let commit = commit.map(|git| git.commit.as_str());
        for data in &run.suites {
            self.0.entry(data.name.clone()).or_default().add(data, &run.run_id, commit);
        }
    }

    /// Adds what the runs say.
    pub(super) fn add_findings(self, options: &HealthOptions, health: &mut Health) {
        let mut judges = Vec::new();
        for (name, suite) in self.0 {
            for (target, cases) in suite.targets {
                health.suites.extend(cases.findings(&name, &target, suite.kind, options));
            }
            for (grader, Decisions { decided, undecided, errors }) in suite.graders {
                if decided == 0 {
                    let grader = UndecidedGrader { suite: name.clone(), grader, undecided, errors };
                    health.undecided_graders.push(grader);
                }
            }
            judges.extend(suite.judges.into_iter().map(|(judge, asked)| asked.finding(&name, judge)));
        }
        health.judges.extend(adjusted(judges));
    }
}

impl Suite {
    fn add(&mut self, data: &SuiteData, run: &str, commit: Option<&str>) {
        if self.known.is_empty() {
            self.id.clone_from(&data.id);
            let tests = data.record.iter().flat_map(|record| &record.tests).map(|test| test.case_id.clone());
            self.known = tests.chain(data.cases.iter().map(|case| case.record.case_id.clone())).collect();
            self.kind = data.record.as_ref().map_or(SuiteKind::default(), |record| record.kind);
        }
        let mut models: BTreeMap<&str, &str> = BTreeMap::new();
        for case in &data.cases {
            // It is not in the suite any more, or the run that it is of counts.
            if !self.known.contains(&case.record.case_id) || case.record.reused_run.is_some() {
                continue;
            }
            // A replay, or a trial that is graded again, says nothing more about the agent.
            if is_of_agent(case) {
                self.add_case(&case.record, run, commit);
            }
            for trial in case.trials.iter().map(|trial| &trial.record) {
                let asked_in = (trial.mode != Mode::Replay).then_some(run);
                trial.all_graders().for_each(|grader| self.add_grader(grader, None, asked_in, &mut models));
            }
        }
        for (judge, model) in models {
            self.judges.entry(judge.to_owned()).or_default().add_model(model);
        }
        if let Some(calibration) = &data.calibration {
            self.add_calibration(calibration);
        }
    }

    fn add_case(&mut self, record: &CaseRecord, run: &str, commit: Option<&str>) {
        let of_target = self.targets.entry(record.target.clone()).or_default();
        if record.outcome == Status::Skipped {
            // A case that was not selected says nothing about itself.
            if let Some(reason) = record.reason.as_ref().filter(|reason| reason.code != ReasonCode::Filtered) {
                of_target.add_skip(&record.case_id, &reason.message);
            }
            return;
        }
        let seen = Seen {
            passed: record.passed,
            trials: record.completed,
            definition: [record.input_digest.clone(), record.grader_digest.clone()],
            run: run.to_owned(),
            commit: commit.map(str::to_owned),
        };
        of_target.add(&record.case_id, seen);
    }

    /// `run`: in which its judge was asked, if it was.
    fn add_grader<'g>(
        &mut self,
        grader: &'g GraderRecord,
        outer: Option<&str>,
        run: Option<&str>,
        models: &mut BTreeMap<&'g str, &'g str>,
    ) {
        let name = outer.map_or_else(|| grader.name.clone(), |outer| format!("{outer}/{}", grader.name));
        for member in &grader.members {
            self.add_grader(member, Some(&name), run, models);
        }
        let Decisions { decided, undecided, errors } = self.graders.entry(name).or_default();
        *match grader.state {
            GraderState::Decided => decided,
            GraderState::Undecided => undecided,
            GraderState::Error => errors,
        } += 1;
        let (Some(judge), Some(run)) = (&grader.judge, run) else { return };
        models.extend(judge.model.as_deref().map(|model| (judge.name.as_str(), model)));
        let asked = self.judges.entry(judge.name.clone()).or_default();
        if let Some(value) = grader.value {
            asked.add_value(&judge.prompt_sha256, run, value);
        }
    }

    fn add_calibration(&mut self, calibration: &CalibrationRecord) {
        for judge in &calibration.judges {
            self.judges.entry(judge.clone()).or_default().add_calibration(calibration);
        }
    }
}
