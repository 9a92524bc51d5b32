//! What happened to one case.

use evalsuite_records::record::CaseRecord;
use evalsuite_schema::decimal::is_same;
use serde::Serialize;

use super::pairing::Pair;
use super::standard::Standard;
use crate::run_data::count_outcomes;

/// A case that is not the same in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CaseChange {
    /// Id of the case.
    pub case_id: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Trials that passed and trials that ended in the base.
    pub base: (u32, u32),
    /// Trials that passed and trials that ended in the run.
    pub run: (u32, u32),
    /// Trials that passed and trials that ended of those that repeated the case because it came out otherwise than in the baseline.
    pub confirming: (u32, u32),
    /// Mean score in the base, of the trials that are compared.
    pub base_score: Option<f64>,
    /// Mean score in the run, of the trials that are compared.
    pub run_score: Option<f64>,
    /// Probability that chance alone makes any case of the suite change as much, 0 to 1; only of cases that regressed or improved.
    pub p_value: Option<f64>,
}

/// What happened to a case between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It has a result in the base, and ends in an error now.
    Error,
    /// It passes less often than chance explains.
    Regressed,
    /// It passes more often than chance explains.
    Improved,
    /// Its outcome or score differs, which may be chance.
    Changed,
    /// It is flaky in the baseline, and not all of its trials pass.
    Quarantined,
    /// Its input, its graders or its threshold differ: it was not compared.
    Redefined,
    /// It has no result in one of the runs.
    Missing,
    /// It is only in the run.
    Added,
    /// It is only in the base.
    Removed,
}

impl ChangeKind {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error now",
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Changed => "changed",
            Self::Quarantined => "quarantined",
            Self::Redefined => "definition changed",
            Self::Missing => "no result",
            Self::Added => "not in the base",
            Self::Removed => "not in the run",
        }
    }
}

impl CaseChange {
    /// `None` for a case that is the same. `scores`: of a case that is compared, its mean scores in base and run. `tested`: whether it
    /// became worse or better than chance explains, and with which probability.
    pub(super) fn of(
        pair: &Pair<'_>,
        standard: &dyn Standard,
        scores: Option<[f64; 2]>,
        tested: Option<(ChangeKind, f64)>,
    ) -> Option<Self> {
        let (kind, p_value) = match (pair, tested) {
            (Pair::Both(..), Some((kind, p_value))) => (kind, Some(p_value)),
            _ if pair.is_error_now() => (ChangeKind::Error, None),
            (Pair::Both(base, run), None) => {
                let scores_differ = scores.is_some_and(|[base, run]| !is_same(run, base));
                (standard.change([&base.record, &run.record], scores_differ)?, None)
            }
            (Pair::Redefined(..), _) => (ChangeKind::Redefined, None),
            (Pair::NoBase(..) | Pair::NoResult(..) | Pair::TornBase(_), _) => (ChangeKind::Missing, None),
            (Pair::Added(_), _) => (ChangeKind::Added, None),
            (Pair::Removed(_), _) => (ChangeKind::Removed, None),
        };
        let [base, run] = pair.cases().map(|case| case.map(|case| &case.record));
        let id = run.or(base).map(|record| record.case_id.clone()).unwrap_or_default();
        let trials = |record: Option<&CaseRecord>| record.map_or((0, 0), |record| (record.passed, record.completed));
        let confirming = count_outcomes(run.iter().flat_map(|record| &record.confirming).map(|trial| trial.outcome));
        Some(Self {
            case_id: id,
            kind,
            base: trials(base),
            run: trials(run),
            confirming: (confirming.passed, confirming.passed.saturating_add(confirming.failed)),
            base_score: scores.map(|[base, _]| base).or_else(|| base.and_then(CaseRecord::sampled_score)),
            run_score: scores.map(|[_, run]| run).or_else(|| run.and_then(CaseRecord::sampled_score)),
            p_value,
        })
    }
}
