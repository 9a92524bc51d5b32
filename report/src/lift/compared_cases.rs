//! The cases of two arms, and how they differ.

use std::collections::BTreeMap;

use evalsuite_records::record::{CaseRecord, Status};
use evalsuite_records::sums::mean;
use evalsuite_schema::arm::WITH_SKILL;
use evalsuite_schema::json::written_by_serde;
use serde::Serialize;

use crate::comparison::{CompareOptions, Comparison, has_same_definition, without_trials};
use crate::run_data::{CaseData, RunData, SuiteData};

/// What of the cases is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiftOf {
    /// The share of trials that passed.
    PassRate,
    /// The score.
    Score,
}

/// A measure of the cases in two arms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LiftedMeasure {
    /// Mean over the compared cases in the reference arm, 0 to 1; `None` without cases.
    pub reference: Option<f64>,
    /// Mean over the same cases with the skill, 0 to 1.
    pub with_skill: Option<f64>,
    /// Mean over these cases of the value with the skill minus that in the reference arm, −1 to 1.
    pub difference: f64,
    /// 95 % interval of the mean difference of cases such as these; `None` without cases.
    pub interval: Option<(f64, f64)>,
    /// Lower end of the interval if all trials that ended in an error had passed in the reference arm, and failed with the skill; `None` if no
    /// trial did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_with_errors: Option<f64>,
    /// Probability of a difference at least as large in this direction if the skill had no effect, 0 to 1.
    pub p_value: f64,
    #[serde(skip)]
    pub(crate) pairs: usize,
    #[serde(skip)]
    pub(crate) missing: usize,
}

written_by_serde!(LiftedMeasure);

impl LiftedMeasure {
    /// The lower end of the interval, however trials that ended in an error would have ended.
    pub(crate) fn sure_lower(&self) -> Option<f64> {
        self.lower_with_errors.or(self.interval.map(|(lower, _)| lower))
    }
}

/// The cases that have a result with the same definition in both arms: that of the reference arm, then the one with the skill.
pub(crate) fn compared_cases<'a>(cases: &[&'a CaseData], reference: &str) -> Vec<[&'a CaseData; 2]> {
    let of_target = |target: &str| {
        let cases = cases.iter().filter(|case| case.record.target == target && case.record.completed > 0);
        // Of several tests that run one case, the first one.
        cases.rev().map(|case| (case.record.case_id.clone(), *case)).collect::<BTreeMap<String, &CaseData>>()
    };
    let (reference, with_skill) = (of_target(reference), of_target(WITH_SKILL));
    let both = reference.iter().filter_map(|(id, case)| Some([*case, *with_skill.get(id)?]));
    both.filter(|[one, other]| has_same_definition(&one.record, &other.record)).collect()
}

/// How the arms of these cases, all of one suite, differ: by the method of every other comparison.
pub(crate) fn lift_of(cases: &[&CaseData], reference: &str, of: LiftOf) -> LiftedMeasure {
    let suite = cases.first().map(|case| case.record.suite.clone()).unwrap_or_default();
    let cases: Vec<CaseData> = cases.iter().map(|case| (*case).clone()).collect();
    let suite = SuiteData { name: suite, cases, ..SuiteData::default() };
    let mut run = without_trials(&RunData { suites: vec![suite], ..RunData::default() });
    if of == LiftOf::PassRate {
        let records = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).map(|case| &mut case.record);
        records.for_each(score_by_outcome);
    }
    let pairs = run.suites.first().map(|suite| suite.cases.iter().collect::<Vec<_>>()).unwrap_or_default();
    let pairs = compared_cases(&pairs, reference);
    let means = [0, 1].map(|arm| {
        mean(
            &pairs
                .iter()
                .filter_map(|pair| pair[arm].record.with_independent_trials().sampled_score())
                .collect::<Vec<_>>(),
        )
    });
    let options = CompareOptions::new().with_targets(reference, WITH_SKILL);
    let comparison = Comparison::new(&run, &run, &options).suites.into_iter().next();
    let found = comparison.as_ref();
    LiftedMeasure {
        reference: means[0],
        with_skill: means[1],
        difference: found.map_or(0.0, |found| found.difference),
        interval: found.and_then(|found| found.interval),
        lower_with_errors: found.and_then(|found| Some(found.unknown?.interval_if_failed?.0)),
        p_value: found.map_or(1.0, |found| found.p_value),
        pairs: found.map_or(0, |found| found.pairs),
        missing: found.map_or(0, |found| found.missing),
    }
}

/// Gives the trials of a case the score 1 if they passed and 0 if they failed.
fn score_by_outcome(record: &mut CaseRecord) {
    for trial in &mut record.trials {
        trial.score = match trial.outcome {
            Status::Passed => Some(1.0),
            Status::Failed => Some(0.0),
            Status::Error | Status::Skipped => None,
        };
    }
}
