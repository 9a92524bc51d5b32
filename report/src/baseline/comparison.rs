//! Runs compared with the baselines of their suites.

use std::collections::BTreeMap;

use evalsuite_records::baseline::{LARGEST_CHANCE, UnchangedSuite, counts};
use evalsuite_records::record::{
    AcceptedAnswers, AnswerPair, Baseline, CaseRecord, DecisionRecord, Expectation, PassState,
};

use super::as_run::{as_run, as_run_with_answers};
use super::rounded;
use crate::comparison::{ChangeKind, CompareOptions, Comparison, Standard, answer_pairs};
use crate::run_data::RunData;

/// What was accepted, as what a run is compared with: suites as their baselines tell, by their names.
struct AcceptedResults(BTreeMap<String, UnchangedSuite>);

impl Standard for AcceptedResults {
    fn name<'a>(&'a self, _base: &'a RunData) -> &'a str {
        DecisionRecord::BASELINE
    }

    fn has_thresholds(&self) -> bool {
        false
    }

    /// Baselines have rounded scores, which are compared with rounded ones.
    fn score(&self, score: f64) -> f64 {
        rounded(score)
    }

    fn change(&self, cases: [&CaseRecord; 2], scores_differ: bool) -> Option<ChangeKind> {
        let [base, run] = cases.map(|record| PassState::of(record.passed, record.completed));
        match base {
            PassState::Flaky => (run != PassState::Passes).then_some(ChangeKind::Quarantined),
            _ => (scores_differ || base != run).then_some(ChangeKind::Changed),
        }
    }

    /// Cases are judged as their tests are.
    fn has_tested_cases(&self) -> bool {
        true
    }

    fn chance_of_tests(&self, suite: &str) -> f64 {
        if self.0.contains_key(suite) { LARGEST_CHANCE } else { 0.0 }
    }

    /// By the trials of all accepted runs.
    fn worse(&self, suite: &str, [base, run]: [&CaseRecord; 2]) -> Option<f64> {
        let accepted = self.0.get(suite)?;
        let [before, now] = [base, run].map(counts);
        let says = || run.baseline.map(|result| result.expectation) == Some(Expectation::Regression);
        let is_worse = before.0 > 0 && (accepted.is_worse(before, now) || says());
        is_worse.then(|| accepted.chance(before, now))
    }
}

impl Comparison {
    /// Compares a run with the baselines of its suites.
    ///
    /// A case that came out otherwise than in the baseline may have been repeated
    /// ([`CaseRecord::confirming`](evalsuite_records::record::CaseRecord::confirming)), which counts. A case whose test says that it
    /// passes no more has regressed here, too.
    pub fn with_baselines(baselines: &[Baseline], run: &RunData, options: &CompareOptions) -> Self {
        let suite = |baseline: &Baseline| (baseline.header.suite.clone(), UnchangedSuite::new(&baseline.cases));
        let accepted = AcceptedResults(baselines.iter().map(suite).collect());
        Self::with(&as_run(baselines), &accepted, run, options)
    }
}

/// [`answer_pairs`] with the accepted answers in place of those of another run. A case that failed when its result was accepted has no answer
/// and is left out.
pub fn answer_pairs_with_accepted(
    baselines: &[Baseline],
    answers: &[AcceptedAnswers],
    run: &RunData,
    criteria: Option<&str>,
    options: &CompareOptions,
) -> Vec<AnswerPair> {
    let mut base = as_run_with_answers(baselines, answers);
    for suite in &mut base.suites {
        suite.cases.retain(|case| case.record.passed > 0);
    }
    let mut pairs = answer_pairs(&base, run, criteria, options);
    for pair in &mut pairs {
        let why =
            "no accepted answer to this input; `cargo evalsuite accept --answers` takes one from a trial that passes";
        pair.why_no_base = Some(why.to_owned());
    }
    pairs
}
