//! Cases of two runs, paired by their ids where their definition is the same.

use std::collections::BTreeMap;

use evalsuite_records::record::{CaseRecord, Status};

/// A case in two runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pair<'a> {
    /// It has a result in both, and the same definition.
    Both(&'a CaseRecord, &'a CaseRecord),
    /// Its input or graders differ, so its results mean different things.
    Redefined(&'a CaseRecord, &'a CaseRecord),
    /// It has no result in the base: an error, or skipped.
    NoBase(&'a CaseRecord, &'a CaseRecord),
    /// It has no result in the run.
    NoResult(&'a CaseRecord, &'a CaseRecord),
    /// Its record in the base cannot be read.
    TornBase(&'a CaseRecord),
    /// It is only in the run.
    Added(&'a CaseRecord),
    /// It is only in the base.
    Removed(&'a CaseRecord),
}

impl Pair<'_> {
    /// The records of a case that has the same definition in both, whatever became of it.
    pub(super) fn same_case(&self) -> Option<[&CaseRecord; 2]> {
        match self {
            Self::Both(base, run) | Self::NoBase(base, run) | Self::NoResult(base, run) => Some([base, run]),
            Self::Redefined(..) | Self::TornBase(_) | Self::Added(_) | Self::Removed(_) => None,
        }
    }

    /// Whether the case should have been compared, and a result is missing.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::NoBase(..) | Self::NoResult(..) | Self::TornBase(_) | Self::Removed(_))
    }

    /// Whether the case had a result in the base, and ends in an error now.
    pub(super) fn is_error_now(&self) -> bool {
        match self {
            Self::Both(base, run) | Self::NoResult(base, run) => {
                base.completed > 0 && base.outcome != Status::Error && run.outcome == Status::Error
            }
            _ => false,
        }
    }

    /// The record in the base, if there is one.
    pub(super) fn records(&self) -> [Option<&CaseRecord>; 2] {
        match *self {
            Self::Both(base, run) | Self::Redefined(base, run) => [Some(base), Some(run)],
            Self::NoBase(base, run) | Self::NoResult(base, run) => [Some(base), Some(run)],
            Self::Removed(base) => [Some(base), None],
            Self::TornBase(run) | Self::Added(run) => [None, Some(run)],
        }
    }
}

/// The cases of a suite and target in two runs, by id. `is_torn` knows the cases whose record in the base cannot be read.
pub(super) fn pair_cases<'a>(
    base: &[&'a CaseRecord],
    run: &[&'a CaseRecord],
    is_torn: impl Fn(&CaseRecord) -> bool,
) -> Vec<Pair<'a>> {
    let by_id = |records: &[&'a CaseRecord]| -> BTreeMap<&'a str, &'a CaseRecord> {
        // Of several tests that run one case, the first one.
        records.iter().rev().map(|record| (record.case_id.as_str(), *record)).collect()
    };
    let (base, run) = (by_id(base), by_id(run));
    let mut pairs: Vec<Pair<'_>> = run
        .iter()
        .map(|(id, now)| match base.get(id) {
            None if is_torn(now) => Pair::TornBase(now),
            None => Pair::Added(now),
            Some(then) if is_torn(now) => Pair::NoBase(then, now),
            Some(then) => pair(then, now),
        })
        .collect();
    pairs.extend(base.iter().filter(|(id, _)| !run.contains_key(*id)).map(|(_, then)| Pair::Removed(then)));
    pairs
}

fn pair<'a>(base: &'a CaseRecord, run: &'a CaseRecord) -> Pair<'a> {
    let is_same = base.case_digest == run.case_digest
        || base.input_digest == run.input_digest && base.grader_digest == run.grader_digest;
    let has_score =
        |record: &CaseRecord| record.completed > 0 && record.trials.iter().any(|trial| trial.score.is_some());
    match (is_same, has_score(base), has_score(run)) {
        (false, ..) => Pair::Redefined(base, run),
        (true, _, false) => Pair::NoResult(base, run),
        (true, false, true) => Pair::NoBase(base, run),
        (true, true, true) => Pair::Both(base, run),
    }
}
