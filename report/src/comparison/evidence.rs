//! What the tests say about compared cases, and how often each may call a change what is none.

use std::collections::BTreeMap;

use evalsuite_records::trial_statistics::bounded_interval;
use evalsuite_statistics::{CaseTrials, ExchangeTest, Unit, Worse, exchange_tests, holm, mean, smallest_p_value};
use serde::Serialize;

use super::compared::Compared;
use super::pooled::{ALIKE, BetweenRuns};
use super::suite_pairs::SuitePairs;
use super::{CompareOptions, ComparisonVerdict, FEWEST_PAIRS};

/// Probability that a comparison of an agent that has not changed says *regressed*.
pub(super) use crate::sequential::REGRESSED;

/// What could be of either run by itself if nothing had changed, and counts as one observation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ComparisonUnit {
    /// A trial. The trials of a case within one run are independent of each other.
    #[default]
    Trial,
    /// A case. Its trials within one run resemble each other, as with a response cache or one seed per run.
    Case,
    /// A run. Runs of the base differ by more than their trials do, as from day to day.
    Run,
}

/// What the tests in one direction say.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// The cases that changed in this direction more than chance explains.
    pub(super) cases: Worse,
    /// The tests of all scores, then of those of each slice.
    pub(super) tests: Vec<ExchangeTest>,
    /// The largest p-value of the scores that is a change.
    pub(super) level: f64,
    pub(super) unit: ComparisonUnit,
    /// Probability that the scores of the other cases differ as much if trials are independent.
    pub(super) alike_p: f64,
}

impl SuitePairs<'_> {
    pub(super) fn differences(&self, is_meant: impl Fn(&Compared) -> bool) -> Differences {
        let cases = self.compared.iter().filter(|case| is_meant(case));
        let (values, clusters) = cases.map(|case| (case.difference(), case.cluster)).unzip();
        Differences { values, clusters }
    }

    /// That the run is worse, and that it is better; `suites`: of how many suites and targets that vary.
    pub(super) fn evidence(
        &self,
        suites: usize,
        options: &CompareOptions,
        between: Option<&BetweenRuns>,
    ) -> [Evidence; 2] {
        let sums = 1 + self.slices.len();
        let smallest = smallest_p_value(&self.units(ComparisonUnit::Trial, [&[], &[]]), 0);
        let of_tests = self.standard.chance_of_tests(&self.name.0);
        let all = [REGRESSED - of_tests, IMPROVED].map(|all| all / suites as f64);
        let sides: [fn(CaseTrials) -> CaseTrials; 2] = [|trials| trials, CaseTrials::reversed];
        let cases = [0, 1].map(|side| self.changed(of_cases(all[side], smallest), sides[side]));
        let found = cases.each_ref().map(|cases| cases.p_values.as_slice());
        let by_trial = exchange_tests(&self.units(ComparisonUnit::Trial, found), sums);
        let mut by_case = None;
        let mut cases = cases.into_iter();
        [0, 1].map(|side| {
            let alike_p = by_trial.spread[side];
            let is_alike = options.unit.map_or(alike_p <= ALIKE, |unit| unit == ComparisonUnit::Case);
            let mut cases = cases.next().unwrap_or_default();
            let (mut unit, mut tests) = if is_alike {
                let tests = by_case
                    .get_or_insert_with(|| exchange_tests(&self.units(ComparisonUnit::Case, [&[], &[]]), sums).tests);
                (ComparisonUnit::Case, tests.clone())
            } else {
                (ComparisonUnit::Trial, by_trial.tests.clone())
            };
            if let Some(between) = between {
                unit = ComparisonUnit::Run;
                let in_sum = |sum: usize| self.differences(move |case| sum == 0 || case.slices.contains(&(sum - 1)));
                for (sum, test) in tests.iter_mut().enumerate() {
                    let differences = in_sum(sum).values;
                    *test = between.test(sum, mean(&differences), differences.len(), *test);
                }
            }
            // A single case is one observation, which shows nothing.
            let is_untested = match options.unit {
                None => alike_p <= ALIKE_CASES && !self.standard.has_tested_cases(),
                Some(unit) => unit == ComparisonUnit::Case,
            };
            if is_untested {
                cases = Worse { p_values: vec![None; self.compared.len()], used: 0.0 };
            }
            if side == 0 {
                self.add_worse_than_standard(&mut cases);
            }
            let level = of_scores(all[side], cases.used, !self.slices.is_empty());
            Evidence { cases, tests, level, unit, alike_p }
        })
    }

    /// What can be exchanged: the trials of a case, or all cases of a cluster at once. The first sum is that of all cases. `found`: cases
    /// that count in a sum of differences and not in its spread.
    fn units(&self, unit: ComparisonUnit, found: [&[Option<f64>]; 2]) -> Vec<Unit> {
        let sizes = self.cluster_sizes();
        let mut units = Vec::new();
        let mut clusters: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for (index, case) in self.compared.iter().enumerate() {
            let sums: Vec<usize> = [0].into_iter().chain(case.slices.iter().map(|slice| slice + 1)).collect();
            if sizes[&case.cluster] == 1 && unit == ComparisonUnit::Trial {
                let mut unit = Unit::scores(&case.base, &case.run, sums);
                for (side, found) in found.into_iter().enumerate() {
                    if found.get(index).is_some_and(Option::is_some) {
                        unit.leave_out_of_spread(side);
                    }
                }
                units.push(unit);
            } else {
                let parts = clusters.entry(case.cluster).or_default();
                parts.extend(sums.into_iter().map(|sum| (sum, case.difference())));
            }
        }
        units.extend(clusters.into_values().map(|parts| Unit::Cluster { parts }));
        units
    }

    /// Numbers of cases by cluster.
    pub(super) fn cluster_sizes(&self) -> BTreeMap<usize, usize> {
        let mut sizes = BTreeMap::new();
        self.compared.iter().for_each(|case| *sizes.entry(case.cluster).or_default() += 1);
        sizes
    }

    /// The slices, by key and value.
    pub(super) fn slice_comparisons(&self, evidence: &[Evidence; 2]) -> Vec<SliceComparison> {
        let compare = |(index, slice): (usize, &(String, String))| {
            let differences = self.differences(|case: &Compared| case.slices.contains(&index));
            SliceComparison::new(slice.clone(), &differences, evidence.each_ref().map(|it| it.tests[index + 1]))
        };
        let all = self.slices.iter().enumerate().map(compare);
        let mut slices: Vec<SliceComparison> = all.filter(|slice| slice.pairs > 0).collect();
        for is_worse in [true, false] {
            let is_meant = |slice: &SliceComparison| (slice.difference < 0.0) == is_worse;
            // The others are of the same family, and as far from this direction as can be.
            let p_value = |slice: &&mut SliceComparison| if is_meant(slice) { slice.p_value } else { 1.0 };
            let gating: Vec<_> = slices.iter_mut().filter(|slice| slice.pairs >= FEWEST_PAIRS).collect();
            let adjusted = holm(&gating.iter().map(p_value).collect::<Vec<_>>());
            for (slice, p) in gating.into_iter().zip(adjusted).filter(|(slice, _)| is_meant(slice)) {
                slice.adjusted_p = p;
            }
        }
        let [down, up] = evidence.each_ref().map(|it| it.level);
        slices.iter_mut().for_each(|slice| slice.judge(down, up));
        slices.sort_by(|left, right| (&left.key, &left.value).cmp(&(&right.key, &right.value)));
        slices
    }
}

/// Paired cases of a suite or a slice: their differences, and which of them belong together.
pub(super) struct Differences {
    pub(super) values: Vec<f64>,
    pub(super) clusters: Vec<usize>,
}

impl Differences {
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        bounded_interval(&self.values, Some(&self.clusters), [-1.0, 1.0])
    }
}

/// The probability of a difference at least as large in its direction, by the tests that it is worse and that it is better.
pub(super) fn p_value(difference: f64, [worse, better]: [ExchangeTest; 2]) -> f64 {
    match difference {
        difference if difference < 0.0 => worse.at_most,
        difference if difference > 0.0 => better.at_least,
        _ => 1.0,
    }
}

/// The cases of a suite and target with one value of a key, in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SliceComparison {
    /// The key, such as `bucket` or `metadata.language`.
    pub key: String,
    /// The value.
    pub value: String,
    /// Number of cases that were compared.
    pub pairs: usize,
    /// Mean over them of the score in the run minus that in the base, −1 to 1.
    pub difference: f64,
    /// 95 % interval of the mean difference of such cases.
    pub interval: Option<(f64, f64)>,
    /// Probability of a difference at least as large in this direction if nothing had changed, 0 to 1.
    pub p_value: f64,
    /// The same, adjusted for the number of slices that gate: those with six cases or more (Holm).
    pub adjusted_p: f64,
    /// What follows. A slice with fewer than six cases is undecided, and does not gate.
    pub verdict: ComparisonVerdict,
}

impl SliceComparison {
    pub(super) fn new((key, value): (String, String), differences: &Differences, tests: [ExchangeTest; 2]) -> Self {
        let difference = mean(&differences.values);
        let p_value = p_value(difference, tests);
        Self {
            key,
            value,
            pairs: differences.values.len(),
            difference,
            interval: differences.interval(),
            p_value,
            adjusted_p: p_value,
            verdict: ComparisonVerdict::Undecided,
        }
    }

    /// Decides it by its adjusted p-value and the levels of a regression and of an improvement.
    pub(super) fn judge(&mut self, regressed: f64, improved: f64) {
        self.verdict = match self.difference {
            _ if self.pairs < FEWEST_PAIRS => ComparisonVerdict::Undecided,
            difference if difference < 0.0 && self.adjusted_p <= regressed => ComparisonVerdict::Regressed,
            difference if difference > 0.0 && self.adjusted_p <= improved => ComparisonVerdict::Improved,
            _ => ComparisonVerdict::Unchanged,
        };
    }
}

/// Probability that it says *improved*.
const IMPROVED: f64 = 0.005;
/// Largest part of these that the tests of single cases take where scores can show a change, too.
const CASES: f64 = 0.5;
/// As [`ALIKE`], for the tests of single cases, which are not made then.
const ALIKE_CASES: f64 = 0.05;

/// Level of the tests of single cases of a suite and target in one direction, where all its tests together may be wrong with the
/// probability `all`. `smallest`: the smallest p-value that the scores could have; where it is too large to show
/// anything, single cases get their part.
pub(super) fn of_cases(all: f64, smallest: f64) -> f64 {
    if smallest > all { all } else { all * CASES }
}

/// Level of the score, and of the slices together, after the tests of single cases have used a part.
fn of_scores(all: f64, used: f64, has_slices: bool) -> f64 {
    let left = (all - used).max(0.0);
    if has_slices { left / 2.0 } else { left }
}
