//! Baselines in the shape of a run, to compare runs with.

use std::path::PathBuf;

use evalsuite::record::run_directory::CaseDirectoryName;
use evalsuite_schema::record::{Baseline, BaselineCase, CaseOutcome, CaseRecord, PassState, TrialSummary};

use crate::run_data::{CaseData, RunData, SuiteData};

/// The accepted results as cases of a run without files.
pub(crate) fn as_run(baselines: &[Baseline]) -> RunData {
    let suite = |baseline: &Baseline| SuiteData {
        name: baseline.header.suite.clone(),
        cases: baseline.cases.iter().map(|case| self::case(&baseline.header.suite, case)).collect(),
        ..SuiteData::default()
    };
    RunData { run_id: "the baseline".to_owned(), suites: baselines.iter().map(suite).collect(), ..RunData::default() }
}

fn case(suite: &str, case: &BaselineCase) -> CaseData {
    let mut record = CaseRecord::new();
    record.suite = suite.to_owned();
    record.case_id.clone_from(&case.case);
    record.target.clone_from(&case.target);
    record.input_digest.clone_from(&case.input);
    record.grader_digest.clone_from(&case.graders);
    record.outcome = if case.state() == PassState::Fails { CaseOutcome::Failed } else { CaseOutcome::Passed };
    (record.passed, record.completed, record.planned) = (case.passed, case.trials, case.trials);
    (record.mean, record.stddev) = (case.score, case.spread);
    record.trials = scores(case)
        .into_iter()
        .map(|score| {
            let mut trial = TrialSummary::default();
            trial.score = Some(score);
            trial
        })
        .collect();
    let name = CaseDirectoryName::parse(&record.case_id);
    CaseData { name, directory: PathBuf::new(), record, trials: Vec::new(), earlier: Vec::new() }
}

/// As many scores as there were trials, with the same mean and the same standard deviation.
fn scores(case: &BaselineCase) -> Vec<f64> {
    let Some(mean) = case.score else { return Vec::new() };
    let (n, spread) = (f64::from(case.trials), case.spread.unwrap_or_default());
    // Half of them above, half below the mean, and with an odd number one on it.
    let is_odd = case.trials % 2 == 1;
    let distance = if is_odd { spread } else { spread * ((n - 1.0) / n).sqrt() };
    let score = |index: u32| match index {
        0 if is_odd => mean,
        index if index % 2 == 0 => mean + distance,
        _ => mean - distance,
    };
    (0..case.trials).map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{mean, standard_deviation};

    #[test]
    fn the_scores_have_the_mean_and_the_spread_of_the_line() {
        for trials in [1, 2, 3, 4, 5, 10] {
            let mut line = BaselineCase::default();
            (line.trials, line.score) = (trials, Some(0.6));
            line.spread = (trials > 1).then_some(0.25);
            let scores = scores(&line);
            assert_eq!(scores.len(), trials as usize);
            assert!((mean(&scores) - 0.6).abs() < 1e-12, "{scores:?}");
            let spread = standard_deviation(&scores);
            assert_eq!(
                spread.map(|spread| (spread * 1e9).round()),
                line.spread.map(|spread| spread * 1e9),
                "{scores:?}"
            );
        }
    }
}
