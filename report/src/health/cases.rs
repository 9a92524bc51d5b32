//! What the results of cases over several runs say about them.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::SuiteKind;
use evalsuite_schema::decimal::{at_least, at_most};

use super::{CaseHealth, HealthOptions, SuiteHealth};

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

/// The results of a suite's cases with one target, by id, the newest first, and the ids of cases that ran without a result.
#[derive(Debug, Default)]
pub(super) struct CaseRuns(BTreeMap<String, Vec<Seen>>, BTreeSet<String>);

impl CaseRuns {
    /// Adds an older result; one of another definition is ignored, as is a run without a decided trial.
    pub(super) fn add(&mut self, case: &str, seen: Seen) {
        if seen.trials == 0 {
            self.1.insert(case.to_owned());
            return;
        }
        let runs = self.0.entry(case.to_owned()).or_default();
        if runs.first().is_none_or(|newest| newest.definition == seen.definition) {
            runs.push(seen);
        }
    }

    /// `None` without any result.
    pub(super) fn findings(
        &self,
        suite: &str,
        target: &str,
        kind: SuiteKind,
        options: &HealthOptions,
    ) -> Option<SuiteHealth> {
        if self.0.is_empty() {
            return None;
        }
        let is_mature = |seen: &Seen| at_least(rate(seen.passed, seen.trials), options.mature);
        let mature = self.0.values().filter(|runs| runs.first().is_some_and(is_mature)).count();
        let without_result = self.1.iter().filter(|case| !self.0.contains_key(*case)).count();
        let mut health = SuiteHealth {
            suite: suite.to_owned(),
            target: target.to_owned(),
            cases: self.0.len(),
            mature,
            without_result,
            is_saturated: at_least(mature as f64 / (self.0.len() + without_result).max(1) as f64, options.saturated),
            histogram: [0; 6],
            graduates: Vec::new(),
            broken: Vec::new(),
            flaky: Vec::new(),
        };
        for (id, runs) in &self.0 {
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
