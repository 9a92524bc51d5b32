//! The paired cases of a suite and target.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_statistics::{CaseTrials, Worse, worse_cases};

use super::compared::{Compared, case_trials, observed, unknown_trials};
use super::pairing::{Groups, Pair, Standard, pair_cases};
use crate::run_data::{CaseData, count_outcomes, counted_records, identity};

/// The paired cases of a suite and target, before anything is said about them.
#[derive(Clone)]
pub(super) struct SuitePairs<'a> {
    pub(super) name: (String, String),
    pub(super) standard: &'a dyn Standard,
    pub(super) pairs: Vec<Pair<'a>>,
    /// Those of `pairs` that are compared, in their order.
    pub(super) compared: Vec<Compared>,
    /// Those that would be compared if they had not ended in an error in one of the runs.
    hidden: Vec<Compared>,
    pub(super) slices: Vec<(String, String)>,
    pub(super) base_passed: (u32, u32),
    pub(super) run_passed: (u32, u32),
}

impl<'a> SuitePairs<'a> {
    /// `torn`: keys of the cases whose record in base and run cannot be read.
    pub(super) fn new(
        name: (String, String),
        standard: &'a dyn Standard,
        [base, run]: [&[&'a CaseData]; 2],
        torn: &[BTreeSet<String>; 2],
        groups: &Groups<'_>,
    ) -> Self {
        let stops =
            [base, run].map(|cases| cases.iter().any(|case| case.record.with_independent_trials().ends_early()));
        let mut numbers: BTreeMap<(String, String), usize> = BTreeMap::new();
        let pairs = pair_cases([base, run], torn, true);
        let (mut compared, mut hidden) = (Vec::new(), Vec::new());
        for pair in &pairs {
            let has_results = matches!(pair, Pair::Both(..));
            let Some([base, run]) = pair.same_case().filter(|_| has_results || pair.is_hidden()) else { continue };
            let identity = identity(&run.record);
            let slices = groups.slices(identity).iter().map(|slice| {
                let next = numbers.len();
                *numbers.entry(slice.clone()).or_insert(next)
            });
            let slices = slices.collect();
            let unknown = [base, run].map(unknown_trials);
            let both = [(base, stops[0]), (run, stops[1])];
            let [(in_base, base), (in_run, scores)] =
                both.map(|(case, stops)| observed(case, standard, run.record.rule, stops));
            let trials = case_trials(in_base, in_run, run);
            let by_run = [(both[0].0, &base), (both[1].0, &scores)].map(|(case, scores)| {
                let ids = counted_records(case).iter().map(|record| record.run_id.clone());
                ids.zip(scores.iter().cloned()).filter(|(_, scores)| !scores.is_empty()).collect()
            });
            let cluster = groups.cluster(identity, compared.len() + hidden.len());
            let cases = if has_results { &mut compared } else { &mut hidden };
            let (base, run) = (base.concat(), scores.concat());
            cases.push(Compared { base, run, trials, cluster, slices, unknown, by_run });
        }
        let mut slices: Vec<_> = numbers.into_iter().collect();
        slices.sort_by_key(|(_, number)| *number);
        let slices = slices.into_iter().map(|(slice, _)| slice).collect();
        let (base_passed, run_passed) = (passed(base), passed(run));
        Self { name, standard, pairs, compared, hidden, slices, base_passed, run_passed }
    }

    /// Whether chance can be at work in the results.
    pub(super) fn varies(&self) -> bool {
        self.compared.iter().any(|case| !case.agrees())
    }

    /// Number of cases that should have been compared, and have no result.
    pub(super) fn missing(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.is_missing()).count()
    }

    /// Number of trials that ended in an error.
    pub(super) fn unknown(&self) -> usize {
        let cases = self.compared.iter().chain(&self.hidden);
        cases.flat_map(|case| case.unknown).map(|trials| trials as usize).sum()
    }

    /// The pairs if the trials of the run that ended in an error had passed and those of the base had failed, or the reverse.
    pub(super) fn with_unknown(&self, run_passes: bool) -> Self {
        let cases = self.compared.iter().chain(&self.hidden);
        Self { compared: cases.map(|case| case.with_unknown(run_passes)).collect(), hidden: Vec::new(), ..self.clone() }
    }

    /// The cases that changed more than chance explains, those with cases of their cluster left out: they are not independent trials.
    pub(super) fn changed(&self, level: f64, side: fn(CaseTrials) -> CaseTrials) -> Worse {
        let sizes = self.cluster_sizes();
        let alone = |case: &&Compared| sizes[&case.cluster] == 1;
        let trials: Vec<CaseTrials> = self.compared.iter().filter(alone).map(|case| side(case.trials)).collect();
        let found = worse_cases(&trials, level);
        let mut of_alone = found.p_values.into_iter();
        let p_value = |case: &Compared| if alone(&case) { of_alone.next().flatten() } else { None };
        Worse { p_values: self.compared.iter().map(p_value).collect(), used: found.used }
    }

    /// Adds the cases whose tests say that they pass no more.
    pub(super) fn add_worse_than_standard(&self, worse: &mut Worse) {
        let both = self.pairs.iter().filter_map(|pair| match pair {
            Pair::Both(base, run) => Some([*base, *run]),
            _ => None,
        });
        for (found, cases) in worse.p_values.iter_mut().zip(both) {
            if let Some(chance) = self.standard.worse(&self.name.0, cases) {
                *found = Some(found.unwrap_or(1.0).min(chance));
            }
        }
    }
}

fn passed(cases: &[&CaseData]) -> (u32, u32) {
    let counts = count_outcomes(cases.iter().flat_map(|case| counted_records(case)).map(|record| record.outcome));
    (counts.passed, counts.run())
}
