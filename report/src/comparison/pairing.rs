//! Cases of two runs, or of a run and a baseline, paired by their ids where their definition is the same; and which belong together.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::baseline::Counts;
use evalsuite_records::record::{CaseRecord, Status};
use evalsuite_schema::decimal::is_same;

use super::{ChangeKind, CompareOptions};
use crate::run_data::{CaseData, RunData, identity, values_of};

/// A case in two runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pair<'a> {
    /// It has a result in both, and the same definition.
    Both(&'a CaseData, &'a CaseData),
    /// Its input, its graders or its threshold differ, so its results mean different things.
    Redefined(&'a CaseData, &'a CaseData),
    /// It has no result in the base: an error, or skipped.
    NoBase(&'a CaseData, &'a CaseData),
    /// It has no result in the run.
    NoResult(&'a CaseData, &'a CaseData),
    /// Its record in the base cannot be read.
    TornBase(&'a CaseData),
    /// It is only in the run.
    Added(&'a CaseData),
    /// It is only in the base.
    Removed(&'a CaseData),
}

impl Pair<'_> {
    /// The records of a case that has the same definition in both, whatever became of it.
    pub(super) fn same_case(&self) -> Option<[&CaseData; 2]> {
        match self {
            Self::Both(base, run) | Self::NoBase(base, run) | Self::NoResult(base, run) => Some([base, run]),
            Self::Redefined(..) | Self::TornBase(_) | Self::Added(_) | Self::Removed(_) => None,
        }
    }

    /// Whether it is compared, and its trials within one run resemble each other.
    pub(super) fn is_correlated(&self) -> bool {
        matches!(self, Self::Both(base, run) if base.record.correlated || run.record.correlated)
    }

    /// Whether the case should have been compared, and a result is missing.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::NoBase(..) | Self::NoResult(..) | Self::TornBase(_) | Self::Removed(_))
    }

    /// Whether the case had a result in the base, and ends in an error now.
    pub(super) fn is_error_now(&self) -> bool {
        match self {
            Self::Both(base, run) | Self::NoResult(base, run) => {
                let (base, run) = (&base.record, &run.record);
                base.completed > 0 && base.outcome != Status::Error && run.outcome == Status::Error
            }
            _ => false,
        }
    }

    /// Whether the case has a result in one of the runs, and ends in an error in the other one.
    pub(super) fn is_hidden(&self) -> bool {
        match self {
            Self::NoResult(..) => self.is_error_now(),
            Self::NoBase(base, run) => base.record.outcome == Status::Error && run.record.completed > 0,
            _ => false,
        }
    }

    /// The case in base and run, as far as it is there.
    pub(super) fn cases(&self) -> [Option<&CaseData>; 2] {
        match *self {
            Self::Both(base, run) | Self::Redefined(base, run) => [Some(base), Some(run)],
            Self::NoBase(base, run) | Self::NoResult(base, run) => [Some(base), Some(run)],
            Self::Removed(base) => [Some(base), None],
            Self::TornBase(run) | Self::Added(run) => [None, Some(run)],
        }
    }
}

/// The cases of a suite and target in two runs, by id. `torn`: keys of the cases whose record in base and run cannot be read;
/// `by_threshold`: whether a case is another one if other scores pass.
pub(super) fn pair_cases<'a>(
    [base, run]: [&[&'a CaseData]; 2],
    torn: &[BTreeSet<String>; 2],
    by_threshold: bool,
) -> Vec<Pair<'a>> {
    let is_torn = |case: &CaseData| torn[0].contains(&case.record.case_key);
    let by_id = |cases: &[&'a CaseData]| -> BTreeMap<&'a str, &'a CaseData> {
        // Of several tests that run one case, the first one.
        cases.iter().rev().map(|case| (case.record.case_id.as_str(), *case)).collect()
    };
    let (base, run) = (by_id(base), by_id(run));
    let mut pairs: Vec<Pair<'_>> = run
        .iter()
        .map(|(id, now)| match base.get(id) {
            None if is_torn(now) => Pair::TornBase(now),
            None => Pair::Added(now),
            Some(then) if is_torn(now) => Pair::NoBase(then, now),
            Some(then) if torn[1].contains(&now.record.case_key) => Pair::NoResult(then, now),
            Some(then) => match pair(then, now) {
                Pair::Both(then, now) if by_threshold && !has_same_threshold(&then.record, &now.record) => {
                    Pair::Redefined(then, now)
                }
                pair => pair,
            },
        })
        .collect();
    pairs.extend(base.iter().filter(|(id, _)| !run.contains_key(*id)).map(|(_, then)| Pair::Removed(then)));
    pairs
}

fn pair<'a>(base: &'a CaseData, run: &'a CaseData) -> Pair<'a> {
    let (then, now) = (&base.record, &run.record);
    let is_same = has_same_definition(then, now);
    let has_score =
        |record: &CaseRecord| record.completed > 0 && record.trials.iter().any(|trial| trial.score.is_some());
    match (is_same, has_score(then), has_score(now)) {
        (false, ..) => Pair::Redefined(base, run),
        (true, _, false) => Pair::NoResult(base, run),
        (true, false, true) => Pair::NoBase(base, run),
        (true, true, true) => Pair::Both(base, run),
    }
}

/// Whether input and graders are the same.
pub(crate) fn has_same_definition(base: &CaseRecord, run: &CaseRecord) -> bool {
    base.case_digest == run.case_digest
        || base.input_digest == run.input_digest && base.grader_digest == run.grader_digest
}

/// Whether the same scores pass.
pub(crate) fn has_same_threshold(base: &CaseRecord, run: &CaseRecord) -> bool {
    is_same(base.threshold, run.threshold)
}

/// Which cases belong together, and which are compared by themselves.
pub(super) struct Groups<'a>(BTreeMap<[&'a str; 3], Group>);

/// The cluster of a case, the cases of which belong together, and its slices: keys and values.
struct Group {
    cluster: Option<usize>,
    slices: Vec<(String, String)>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(run: &'a RunData, options: &CompareOptions) -> Self {
        let (mut numbers, mut groups) = (BTreeMap::new(), BTreeMap::new());
        let has_groups = options.cluster_by.is_some() || !options.by.is_empty();
        for case in run.suites.iter().flat_map(|suite| &suite.cases).filter(|_| has_groups) {
            let cluster = options.cluster_by.as_ref().map(|key| {
                // A case without the key is a cluster of its own.
                let value = case.trials.first().and_then(|trial| trial.record.metadata.get(key));
                let own = || format!("case {}", case.record.case_key);
                let next = numbers.len();
                *numbers.entry(value.map_or_else(own, |value| format!("value {value}"))).or_insert(next)
            });
            let slices = options
                .by
                .iter()
                .flat_map(|key| values_of(key, case).into_iter().map(move |value| (key.to_string(), value)));
            groups.entry(identity(&case.record)).or_insert_with(|| Group { cluster, slices: slices.collect() });
        }
        Self(groups)
    }

    /// The cluster of a case; `index` if it is one of its own.
    pub(super) fn cluster(&self, case: [&str; 3], index: usize) -> usize {
        self.0.get(&case).and_then(|group| group.cluster).unwrap_or(index)
    }

    pub(super) fn slices<'b>(&'b self, case: [&'b str; 3]) -> &'b [(String, String)] {
        self.0.get(&case).map(|group| group.slices.as_slice()).unwrap_or_default()
    }
}

/// What a run is compared with: another run, unless an implementation says otherwise.
pub(crate) trait Standard {
    /// What comparisons and decisions call it.
    fn name<'a>(&'a self, base: &'a RunData) -> &'a str {
        &base.run_id
    }

    /// Trials of a case that passed, and all that passed or failed, as they are compared.
    fn counts(&self, case: &CaseData) -> Counts {
        (case.record.passed, case.record.completed)
    }

    /// A score as it is compared.
    fn score(&self, score: f64) -> f64 {
        score
    }

    /// What happened to a case that did not change more than chance explains; `None` if nothing did. `scores_differ`: whether its mean
    /// scores do.
    fn change(&self, [base, run]: [&CaseData; 2], scores_differ: bool) -> Option<ChangeKind> {
        (scores_differ || base.record.outcome != run.record.outcome).then_some(ChangeKind::Changed)
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
    fn worse(&self, _suite: &str, _cases: [&CaseData; 2]) -> Option<f64> {
        None
    }
}

/// Another run.
pub(super) struct OtherRun;

impl Standard for OtherRun {}
