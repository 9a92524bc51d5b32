//! What a run is compared with.

use evalsuite_records::record::CaseRecord;

use super::ChangeKind;
use crate::run_data::RunData;

/// What a run is compared with: another run, unless an implementation says otherwise.
pub(crate) trait Standard {
    /// What comparisons and decisions call it.
    fn name<'a>(&'a self, base: &'a RunData) -> &'a str {
        &base.run_id
    }

    /// Whether it says which score passed.
    fn has_thresholds(&self) -> bool {
        true
    }

    /// A score as it is compared.
    fn score(&self, score: f64) -> f64 {
        score
    }

    /// What happened to a case that did not change more than chance explains; `None` if nothing did. `scores_differ`: whether its mean
    /// scores do.
    fn change(&self, [base, run]: [&CaseRecord; 2], scores_differ: bool) -> Option<ChangeKind> {
        (scores_differ || base.outcome != run.outcome).then_some(ChangeKind::Changed)
    }

    /// Whether a case of a suite can change by itself although its trials within one run resemble each other. It is one observation then,
    /// which shows nothing unless the tests of the suite say so.
    fn has_tested_cases(&self) -> bool {
        false
    }

    /// Probability that its tests of the cases of a suite say of any that it passes no more, if nothing has changed.
    fn chance_of_tests(&self, _suite: &str) -> f64 {
        0.0
    }

    /// Of a case whose test says that it passes no more, the probability that chance alone makes any case of the suite do so.
    fn worse(&self, _suite: &str, _cases: [&CaseRecord; 2]) -> Option<f64> {
        None
    }
}

/// Another run.
pub(super) struct OtherRun;

impl Standard for OtherRun {}
