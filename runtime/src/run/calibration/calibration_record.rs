//! The record of a calibration, computed from its samples.

use std::collections::BTreeSet;

use evalsuite_records::record::{
    CalibrationRecord, CalibrationStatistics, GraderState, JudgeRecord, ReasonCode, SampleCounts, SampleRecord,
    Shortfall,
};
use evalsuite_schema::decimal::{at_least, at_most};
use evalsuite_schema::sorting::sort_by;
use evalsuite_schema::{Bar, Calibration};

use crate::platform::digest::sha256;
use crate::run::calibration::agreement;

/// Samples that are named because of their difference.
const DISAGREEMENTS: usize = 20;

/// Least share of samples that have to be judged.
const VALID: f64 = 0.5;

/// Fills in what was measured; `record` has the run.
pub(crate) fn complete(
    mut record: CalibrationRecord,
    calibration: &Calibration,
    samples: Vec<SampleRecord>,
) -> CalibrationRecord {
    let pairs: Vec<(f64, f64)> =
        samples.iter().filter_map(|sample| Some((sample.human_score, sample.judge_score?))).collect();
    let statistics = agreement::of(&pairs, calibration.tolerance, calibration.threshold);
    let counts = counts(&samples, calibration.tolerance);
    let judges: Vec<&JudgeRecord> =
        samples.iter().filter_map(|sample| sample.grader.as_ref()?.judge.as_ref()).collect();
    let names = |of: fn(&JudgeRecord) -> Option<&str>| -> Vec<String> {
        let names: BTreeSet<&str> =
            judges.iter().filter_map(|judge| of(judge)).filter(|name| !name.is_empty()).collect();
        names.into_iter().map(str::to_owned).collect()
    };
    let prompts: Vec<&str> = judges.iter().map(|judge| judge.prompt_sha256.as_str()).collect();
    let costs = judges.iter().filter_map(|judge| judge.cost_usd);
    let shortfalls = shortfalls(&calibration.bar, &counts, statistics.as_ref());
    record.location = calibration.location.clone();
    record.judges = names(|judge| Some(&judge.name));
    record.models = names(|judge| judge.model.as_deref());
    record.prompt_sha256 = sha256(prompts.join("\n"));
    record.usage = judges.iter().filter_map(|judge| judge.usage).reduce(|mut sum, usage| {
        sum += usage;
        sum
    });
    record.cost_usd = costs.reduce(|sum, cost| sum + cost);
    record.tolerance = calibration.tolerance;
    record.threshold = calibration.threshold;
    record.counts = counts;
    record.statistics = statistics;
    record.bar = calibration.bar;
    record.shortfalls = shortfalls;
    record.disagreements = disagreements(&samples);
    record.samples = samples;
    record
}

fn counts(samples: &[SampleRecord], tolerance: f64) -> SampleCounts {
    let count = |fits: &dyn Fn(&SampleRecord) -> bool| {
        u32::try_from(samples.iter().filter(|sample| fits(sample)).count()).unwrap_or(u32::MAX)
    };
    let is_undecided =
        |sample: &SampleRecord| sample.grader.as_ref().is_some_and(|grader| grader.state == GraderState::Undecided);
    let agrees = |sample: &SampleRecord| {
        sample.judge_score.is_some_and(|judge| agreement::agree(sample.human_score, judge, tolerance))
    };
    let mut counts = SampleCounts::default();
    counts.samples = count(&|_| true);
    counts.valid = count(&|sample| sample.judge_score.is_some());
    counts.undecided = count(&is_undecided);
    counts.errors = count(&|sample| sample.judge_score.is_none() && !is_undecided(sample));
    counts.agreements = count(&agrees);
    counts
}

fn shortfalls(bar: &Bar, counts: &SampleCounts, statistics: Option<&CalibrationStatistics>) -> Vec<Shortfall> {
    if !bar.is_set() {
        return Vec::new();
    }
    let mut missed = Vec::new();
    let mut miss = |measure: &str, demanded, measured| missed.push(Shortfall::new(measure, demanded, measured));
    let valid = f64::from(counts.valid) / f64::from(counts.samples.max(1));
    if !at_least(valid, VALID) {
        miss("valid", VALID, Some(valid));
    }
    let of = |measure: fn(&CalibrationStatistics) -> f64| statistics.map(measure);
    let measures = [
        ("kappa", bar.kappa, of(|found| found.kappa)),
        ("spearman", bar.spearman, of(|found| found.spearman)),
        ("pearson", bar.pearson, of(|found| found.pearson)),
        ("agreement", bar.agreement, of(|found| found.agreement)),
        ("mae", bar.mae, of(|found| found.mae)),
    ];
    for (measure, demanded, measured) in measures {
        let Some(demanded) = demanded else { continue };
        let is_missed = |found: f64| match measure {
            "mae" => !at_most(found, demanded),
            _ => !at_least(found, demanded),
        };
        if measured.is_none_or(is_missed) {
            miss(measure, demanded, measured);
        }
    }
    missed
}

/// Ids of the samples whose scores differ most.
fn disagreements(samples: &[SampleRecord]) -> Vec<String> {
    let mut different: Vec<(&str, f64)> = samples
        .iter()
        .filter_map(|sample| Some((sample.id.as_str(), sample.difference?.abs())))
        .filter(|(_, difference)| *difference > 0.0)
        .collect();
    sort_by(&mut different, |a, b| b.1.total_cmp(&a.1));
    different.into_iter().take(DISAGREEMENTS).map(|(id, _)| id.to_owned()).collect()
}

/// Whether enough samples were judged, and no recorded reply is missing or stale.
pub(crate) fn is_measured(record: &CalibrationRecord) -> bool {
    let enough = at_least(f64::from(record.counts.valid), VALID * f64::from(record.counts.samples));
    record.statistics.is_some() && enough && !lacks_recordings(record)
}

/// Whether replies of a sample were to be replayed, and are not there or belong to something else.
pub(crate) fn lacks_recordings(record: &CalibrationRecord) -> bool {
    record.samples.iter().filter_map(|sample| sample.code).any(is_of_recording)
}

/// Whether a reply was to be replayed, and is not there or belongs to something else.
pub(crate) fn is_of_recording(code: ReasonCode) -> bool {
    matches!(code, ReasonCode::RecordingMissing | ReasonCode::RecordingStale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_met_at_its_limit() {
        let mut bar = Bar::default();
        (bar.mae, bar.agreement) = (Some(0.2), Some(1.0));
        let mut counts = SampleCounts::default();
        (counts.samples, counts.valid) = (3, 3);
        // Each difference is a little more than 0.2 in binary.
        let of = |judge: f64| agreement::of(&[(0.9, judge); 3], 0.2, 0.8).expect("enough pairs");
        assert_eq!(shortfalls(&bar, &counts, Some(&of(0.7))), []);
        assert_eq!(shortfalls(&bar, &counts, Some(&of(0.69))).len(), 2);
        assert_eq!(shortfalls(&bar, &counts, Some(&of(0.7 - 1e-10))).len(), 2, "this is no rounding");
    }
}
