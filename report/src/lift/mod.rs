//! What a skill does: the cases of a run with the skill compared with those without it, or with an older copy.

mod arm_totals;
mod compared_cases;
mod settled;
mod text;

use std::collections::BTreeSet;

use evalsuite_schema::arm::{REFERENCE_ARMS, WITH_SKILL};
use evalsuite_schema::json::written_by_serde;
use serde::Serialize;

pub use self::arm_totals::ArmTotals;
pub use self::compared_cases::LiftedMeasure;
use self::compared_cases::compared_cases;
pub(crate) use self::compared_cases::{LiftOf, lift_of};
pub use self::settled::SettledExpectation;
use self::settled::settled;
use crate::run_data::{CaseData, RunData};

/// What a skill does to the cases of a suite: the arm with it compared with another arm of the same run.
///
/// Cases are paired by their ids. Each case is one observation, whatever its number of trials; intervals and p-values are those of a
/// [`Comparison`](crate::Comparison).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lift {
    /// Name of the suite.
    pub suite: String,
    /// The arm that is compared with: `without_skill` or `old_skill`.
    pub reference: String,
    /// Number of cases that have a result in both arms.
    pub pairs: usize,
    /// Number of cases that should have been compared, and have no result in one of the arms.
    pub missing: usize,
    /// The shares of passed trials.
    pub pass_rate: LiftedMeasure,
    /// The scores.
    pub score: LiftedMeasure,
    /// What the trials of the compared cases used: in the reference arm, and with the skill.
    pub arms: [ArmTotals; 2],
    /// Expectations that hold in every trial of both arms: they say nothing about the skill.
    pub always_passed: Vec<SettledExpectation>,
    /// Expectations that hold in no trial of either arm.
    pub never_passed: Vec<SettledExpectation>,
}

written_by_serde!(Lift);

/// What skills do to the cases of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunLifts {
    /// [`RunLifts::SCHEMA`].
    pub schema: &'static str,
    /// Id of the run.
    pub run: String,
    /// The lifts by suite, and by the arm that is compared with.
    pub lifts: Vec<Lift>,
}

written_by_serde!(RunLifts);

impl RunLifts {
    /// Value of `schema` in output of this version.
    pub const SCHEMA: &'static str = "evalsuite.lift/1";

    /// The lifts of a run. A suite without arms has none.
    pub fn of(run: &RunData) -> Self {
        Self { schema: Self::SCHEMA, run: run.run_id.clone(), lifts: lifts(run) }
    }
}

fn lifts(run: &RunData) -> Vec<Lift> {
    let mut lifts = Vec::new();
    for suite in &run.suites {
        let cases: Vec<&CaseData> = suite.cases.iter().collect();
        let targets: BTreeSet<&str> = cases.iter().map(|case| case.record.target.as_str()).collect();
        for reference in REFERENCE_ARMS {
            if targets.contains(WITH_SKILL) && targets.contains(reference) {
                lifts.push(Lift::new(&suite.name, reference, &cases));
            }
        }
    }
    lifts
}

impl Lift {
    fn new(suite: &str, reference: &str, cases: &[&CaseData]) -> Self {
        let pairs = compared_cases(cases, reference);
        let [pass_rate, score] = [LiftOf::PassRate, LiftOf::Score].map(|of| lift_of(cases, reference, of));
        let [without, with]: [Vec<&CaseData>; 2] =
            [0, 1].map(|arm| pairs.iter().map(|pair| pair[arm]).collect::<Vec<_>>());
        let [always_passed, never_passed] = settled(&pairs);
        Self {
            suite: suite.to_owned(),
            reference: reference.to_owned(),
            pairs: pass_rate.pairs,
            missing: pass_rate.missing,
            pass_rate,
            score,
            arms: [ArmTotals::new(reference, &without), ArmTotals::new(WITH_SKILL, &with)],
            always_passed,
            never_passed,
        }
    }
}
