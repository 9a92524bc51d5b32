//! What happened to one case.

use evalsuite_schema::record::{CaseRecord, PassState, Rule};
use serde::Serialize;

use super::pairing::Pair;
use crate::baseline::rounded;
use crate::statistics::fisher_two_sided;

/// Fewest trials on both sides from which a case can be said to have become better or worse.
const FEWEST_TRIALS: u32 = 5;

/// What a run is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standard {
    /// Another run.
    Run,
    /// What was accepted.
    Baseline,
}

impl Standard {
    /// The score of a run minus that of its base. Baselines have rounded scores, which are compared with rounded ones.
    pub(super) fn difference(self, base: f64, run: f64) -> f64 {
        match self {
            Self::Run => run - base,
            Self::Baseline => rounded(run) - rounded(base),
        }
    }
}

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
    /// Mean score in the base.
    pub base_score: Option<f64>,
    /// Mean score in the run.
    pub run_score: Option<f64>,
}

/// What happened to a case between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// All trials of the baseline passed, and all trials fail now.
    Lost,
    /// It passes less often than chance explains: five trials or more on both sides.
    Regressed,
    /// It passes more often than chance explains.
    Improved,
    /// Its outcome or score differs, with too few trials to say why.
    Changed,
    /// It is flaky in the baseline, and not all of its trials pass.
    Quarantined,
    /// Its input or graders differ: it was not compared.
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
            Self::Lost => "lost",
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Changed => "changed",
            Self::Quarantined => "quarantined",
            Self::Redefined => "definition changed",
            Self::Missing => "no result",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

impl CaseChange {
    /// `None` for a case that is the same.
    pub(super) fn of(pair: &Pair<'_>, standard: Standard) -> Option<Self> {
        Some(match pair {
            Pair::Both(base, run) => Self::new(compared(base, standard, run)?, Some(base), Some(run)),
            Pair::Redefined(base, run) => Self::new(ChangeKind::Redefined, Some(base), Some(run)),
            Pair::NoBase(base, run) | Pair::NoResult(base, run) => {
                Self::new(ChangeKind::Missing, Some(base), Some(run))
            }
            Pair::Added(run) => Self::new(ChangeKind::Added, None, Some(run)),
            Pair::Removed(base) => Self::new(ChangeKind::Removed, Some(base), None),
        })
    }

    fn new(kind: ChangeKind, base: Option<&CaseRecord>, run: Option<&CaseRecord>) -> Self {
        let id = run.or(base).map(|record| record.case_id.clone()).unwrap_or_default();
        let trials = |record: Option<&CaseRecord>| record.map_or((0, 0), |record| (record.passed, record.completed));
        Self {
            case_id: id,
            kind,
            base: trials(base),
            run: trials(run),
            base_score: base.and_then(|record| record.mean),
            run_score: run.and_then(|record| record.mean),
        }
    }
}

fn compared(base: &CaseRecord, standard: Standard, run: &CaseRecord) -> Option<ChangeKind> {
    let state = |record: &CaseRecord| PassState::of(record.passed, record.completed);
    if standard == Standard::Baseline {
        match (state(base), state(run)) {
            (PassState::Passes, PassState::Fails) if is_settled(base, run) => return Some(ChangeKind::Lost),
            (PassState::Flaky, PassState::Passes) => return None,
            (PassState::Flaky, _) => return Some(ChangeKind::Quarantined),
            _ => {}
        }
    }
    let rate = |record: &CaseRecord| (record.passed, record.completed);
    let is_enough = base.completed.min(run.completed) >= FEWEST_TRIALS;
    if is_enough && fisher_two_sided(rate(base), rate(run)) < 0.05 {
        // Compared without division: p/n < q/m.
        let is_worse =
            u64::from(run.passed) * u64::from(base.completed) < u64::from(base.passed) * u64::from(run.completed);
        return Some(if is_worse { ChangeKind::Regressed } else { ChangeKind::Improved });
    }
    let score_differs = match (base.mean, run.mean) {
        (Some(base), Some(run)) => standard.difference(base, run).abs() > 1e-9,
        (base, run) => base.is_some() != run.is_some(),
    };
    let outcome_differs = match standard {
        Standard::Run => base.outcome != run.outcome,
        Standard::Baseline => state(base) != state(run),
    };
    (outcome_differs || score_differs).then_some(ChangeKind::Changed)
}

/// Whether a case that passed in all trials, and fails in all now, can be said to be lost.
fn is_settled(base: &CaseRecord, run: &CaseRecord) -> bool {
    run.rule == Rule::Every || base.completed.min(run.completed) >= 2
}
