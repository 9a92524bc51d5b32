//! Earlier runs, as the index has them.

use evalsuite_records::record::{CaseRecord, OutcomeCounts, Status};
use serde::Serialize;

use super::index::{RunInfo, outcome_code};
use crate::comparison::{CompareOptions, Comparison, ComparisonVerdict, SuiteComparison};
use crate::run_data::{CaseLookup, RunData};

/// An earlier run: its totals, and one entry per case of the report's run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PastRun {
    run: RunInfo,
    /// Its totals by suite and target.
    totals: Vec<Totals>,
    /// What `diff` says about the report's run and this one, by suite and target.
    compared: Vec<ComparedSuite>,
    /// Outcome by case of the report's run; `-` where the case has not run.
    outcomes: String,
    scores: Vec<Option<f64>>,
    passed: Vec<u32>,
    completed: Vec<u32>,
    /// Mean duration of a trial in milliseconds.
    ms: Vec<Option<u64>>,
    /// `=` where case, input and graders are those of the report's run, `i` where the input differs, `g` where only the graders
    /// do, `c` where something else does, `-` where the case has not run.
    definitions: String,
    /// Ids of cases that the report's run does not have, with their suite and target.
    removed: Vec<[String; 3]>,
}

/// The comparison of a suite and target, without its cases.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparedSuite {
    suite: String,
    target: String,
    verdict: ComparisonVerdict,
    pairs: usize,
    missing: usize,
    /// Cases that had a result and end in an error now.
    errors: usize,
    difference: f64,
    interval: Option<(f64, f64)>,
    p_value: f64,
}

impl From<SuiteComparison> for ComparedSuite {
    fn from(suite: SuiteComparison) -> Self {
        Self {
            suite: suite.suite,
            target: suite.target,
            verdict: suite.verdict,
            pairs: suite.pairs,
            missing: suite.missing,
            errors: suite.errors,
            difference: suite.difference,
            interval: suite.interval,
            p_value: suite.p_value,
        }
    }
}

/// Numbers of one suite and target in one run.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Totals {
    suite: String,
    target: String,
    cases: OutcomeCounts,
    /// Mean of the scores of its cases.
    score: Option<f64>,
    cost_usd: Option<f64>,
    /// Mean duration of a trial in milliseconds.
    ms: Option<f64>,
}

impl PastRun {
    /// `ours` is the report's run, with these cases.
    pub(super) fn new(run: &RunData, ours: &RunData, cases: &[&CaseRecord]) -> Self {
        let lookup = CaseLookup::new(run);
        let comparison = Comparison::new(run, ours, &CompareOptions::new());
        let mut past = Self {
            run: RunInfo::new(run),
            totals: totals(run),
            compared: comparison.suites.into_iter().map(ComparedSuite::from).collect(),
            outcomes: String::new(),
            scores: Vec::new(),
            passed: Vec::new(),
            completed: Vec::new(),
            ms: Vec::new(),
            definitions: String::new(),
            removed: removed(run, cases),
        };
        for case in cases {
            let theirs = lookup.get(case).map(|theirs| &theirs.record);
            past.outcomes.push(theirs.map_or('-', |theirs| outcome_code(theirs.outcome)));
            past.definitions.push(theirs.map_or('-', |theirs| definition(case, theirs)));
            past.scores.push(theirs.and_then(|theirs| theirs.score));
            past.passed.push(theirs.map_or(0, |theirs| theirs.passed));
            past.completed.push(theirs.map_or(0, |theirs| theirs.completed));
            past.ms.push(theirs.and_then(mean_ms));
        }
        past
    }
}

fn definition(ours: &CaseRecord, theirs: &CaseRecord) -> char {
    if ours.case_digest == theirs.case_digest {
        '='
    } else if ours.input_digest != theirs.input_digest {
        'i'
    } else if ours.grader_digest != theirs.grader_digest {
        'g'
    } else {
        'c'
    }
}

fn removed(run: &RunData, cases: &[&CaseRecord]) -> Vec<[String; 3]> {
    let identity = |record: &CaseRecord| [record.suite.clone(), record.case_id.clone(), record.target.clone()];
    let ours: std::collections::HashSet<[String; 3]> = cases.iter().map(|case| identity(case)).collect();
    let theirs = run.suites.iter().flat_map(|suite| &suite.cases).map(|case| identity(&case.record));
    theirs.filter(|case| !ours.contains(case)).collect()
}

fn mean_ms(record: &CaseRecord) -> Option<u64> {
    let known: Vec<u64> = record.trials.iter().filter_map(|trial| trial.duration_ms).collect();
    known.iter().sum::<u64>().checked_div(known.len() as u64)
}

/// The totals of a run by suite and target, in the order in which they first occur.
pub(super) fn totals(run: &RunData) -> Vec<Totals> {
    let mut totals: Vec<(Totals, Mean, Mean)> = Vec::new();
    for record in run.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record) {
        let known = totals.iter().position(|(it, ..)| it.suite == record.suite && it.target == record.target);
        let index = known.unwrap_or_else(|| {
            let new = Totals { suite: record.suite.clone(), target: record.target.clone(), ..Totals::default() };
            totals.push((new, Mean::default(), Mean::default()));
            totals.len() - 1
        });
        let (total, scores, durations) = &mut totals[index];
        total.cases.add(record.outcome);
        if matches!(record.outcome, Status::Passed | Status::Failed) {
            scores.add(record.sampled_score());
        }
        for trial in &record.trials {
            if let Some(cost) = trial.cost_usd {
                total.cost_usd = Some(total.cost_usd.unwrap_or_default() + cost);
            }
            durations.add(trial.duration_ms.map(|ms| ms as f64));
        }
    }
    let finish = |(total, scores, durations): (Totals, Mean, Mean)| Totals {
        score: scores.value(),
        ms: durations.value(),
        ..total
    };
    totals.into_iter().map(finish).collect()
}

#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1.0;
        }
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}
