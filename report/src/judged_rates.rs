//! How often judges let answers pass, and how often people would.

use std::collections::BTreeSet;
use std::fmt;

use evalsuite_records::record::{CalibrationRecord, GraderRecord, SampleRecord};
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::json::written_by_serde;
use evalsuite_statistics::{corrected_rate, mean};
use serde::Serialize;

use crate::run_data::{CaseData, RunData};

/// How often a judge lets answers pass for a grader, beside the rate corrected by its calibration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgedRate {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// Name of the grader.
    pub grader: String,
    /// Name of the judge.
    pub judge: String,
    /// Number of cases in which it decided.
    pub cases: usize,
    /// Mean over these cases of the share of trials that it lets pass, 0 to 1.
    pub judge_rate: f64,
    /// Number of rated answers to the same grader, which the judge has rated, too.
    pub samples: usize,
    /// The rate that people would find, see [`corrected_rate`], 0 to 1.
    pub corrected_rate: f64,
    /// Lower end of its 95 % interval.
    pub lower: f64,
    /// Upper end of its 95 % interval.
    pub upper: f64,
}

written_by_serde!(JudgedRate);

/// The rates of a run's judged graders, by suite, target and name, as far as the run has a calibration of the same judge with at least
/// two answers to the same grader.
pub fn judged_rates(run: &RunData) -> Vec<JudgedRate> {
    let mut rates = Vec::new();
    for suite in &run.suites {
        let Some(calibration) = &suite.calibration else { continue };
        for (target, cases) in suite.by_target() {
            let graders =
                cases.iter().flat_map(|case| judged(case)).map(|(grader, judge)| (grader.name.as_str(), judge));
            let is_calibrated = |judge: &str| calibration.judges.iter().any(|it| it == judge);
            let graders: BTreeSet<(&str, &str)> = graders.filter(|(_, judge)| is_calibrated(judge)).collect();
            for (grader, judge) in graders {
                let of_cases: Vec<f64> = cases.iter().filter_map(|case| share_passed(case, grader, judge)).collect();
                let rated = rated(calibration, grader);
                let Some(corrected) = corrected_rate(&of_cases, &rated) else { continue };
                rates.push(JudgedRate {
                    suite: suite.name.clone(),
                    target: target.to_owned(),
                    grader: grader.to_owned(),
                    judge: judge.to_owned(),
                    cases: of_cases.len(),
                    judge_rate: mean(&of_cases),
                    samples: rated.len(),
                    corrected_rate: corrected.rate,
                    lower: corrected.lower,
                    upper: corrected.upper,
                });
            }
        }
    }
    rates
}

/// The results of a case's judged graders that can be compared with people, each with its judge. An inverted one says the opposite.
fn judged(case: &CaseData) -> impl Iterator<Item = (&GraderRecord, &str)> {
    let graders = case.trials.iter().flat_map(|trial| &trial.record.graders).filter(|grader| !grader.negated);
    graders.filter_map(|grader| Some((grader, grader.judge.as_ref()?.name.as_str())))
}

/// Share of the trials of a case that a judge lets pass; `None` if it never decided.
fn share_passed(case: &CaseData, grader: &str, judge: &str) -> Option<f64> {
    let of_grader = judged(case).filter(|(record, name)| record.name == grader && *name == judge);
    let passed: Vec<f64> =
        of_grader.filter_map(|(record, _)| Some(f64::from(u8::from(record.verdict?.is_pass())))).collect();
    (!passed.is_empty()).then(|| mean(&passed))
}

/// Whether person and judge let each rated answer to a grader pass, as 0 or 1.
fn rated(calibration: &CalibrationRecord, grader: &str) -> Vec<(f64, f64)> {
    let pair = |sample: &SampleRecord| {
        let record = sample.grader.as_ref().filter(|record| record.name == grader && !record.negated)?;
        let mark = record.pass_mark.unwrap_or(calibration.threshold);
        let passes = |score: f64| f64::from(u8::from(at_least(score, mark)));
        Some((passes(sample.human_score), passes(sample.judge_score?)))
    };
    calibration.samples.iter().filter_map(pair).collect()
}

/// `shop @ default: tone  judge 0.90 over 20 cases, corrected 0.78 [0.61, 0.95] with 30 rated answers`.
impl fmt::Display for JudgedRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, target, grader, cases, judge_rate, samples, corrected_rate, lower, upper, .. } = self;
        write!(f, "{suite} @ {target}: {grader}  judge {judge_rate:.2} over {}, ", counted(*cases, "case"))?;
        write!(f, "corrected {corrected_rate:.2} [{lower:.2}, {upper:.2}] with {samples} rated answers")
    }
}
