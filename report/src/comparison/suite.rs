//! A suite in two runs, in one target.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::baseline::{LARGEST_CHANCE, UnchangedSuite, counts};
use evalsuite_records::record::{CaseRecord, Expectation};
use evalsuite_schema::decimal::{at_least, at_most, is_same};
use serde::Serialize;

use super::case_change::Standard;
use super::groups::Groups;
use super::levels::{self, IMPROVED, REGRESSED};
use super::measured::{Differences, p_value};
use super::observed::{case_trials, observed, records};
use super::pairing::{Pair, pair_cases};
use super::{
    CaseChange, ChangeKind, CompareOptions, ComparisonVerdict, FEWEST_PAIRS, JudgedAnswers, MOST_MISSING,
    SliceComparison,
};
use crate::run_data::{CaseData, count_outcomes, identity};
use crate::statistics::{CaseTrials, ExchangeTest, Unit, Worse, exchange_tests, holm, mean, worse_cases};

/// Between minus and plus so many standard deviations are 95 % of the differences that chance alone makes.
const CHANCE: f64 = 1.96;

/// A suite in two runs, in one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteComparison {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// The cases that changed, or could not be compared.
    pub changes: Vec<CaseChange>,
    /// Number of cases that were compared.
    pub pairs: usize,
    /// Number of compared cases whose score differs.
    pub differing: usize,
    /// Number of cases that have no result in one of the runs, or in both.
    pub missing: usize,
    /// Number of cases that had a result in the base and end in an error now.
    pub errors: usize,
    /// Number of compared cases of which only the first trials are, because the number of others depends on how they ended.
    pub first_trials: usize,
    /// Mean over the pairs of the score in the run minus that in the base, −1 to 1.
    pub difference: f64,
    /// 95 % interval of the mean difference of cases such as these; `None` without pairs.
    pub interval: Option<(f64, f64)>,
    /// How far from 0 chance alone moves `difference` in 95 of 100 comparisons of these cases; 0 where nothing varies.
    pub noise: f64,
    /// Probability of a difference at least as large in this direction if nothing had changed, 0 to 1.
    pub p_value: f64,
    /// The largest `p_value` that is called a change in its direction.
    pub level: f64,
    /// Cases that passed and cases that ended, in the base.
    pub base_passed: (u32, u32),
    /// Cases that passed and cases that ended, in the run.
    pub run_passed: (u32, u32),
    /// The slices that were asked for, by key and value.
    pub slices: Vec<SliceComparison>,
    /// What judges said about the answers, if they were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedAnswers>,
    /// What follows from the scores.
    pub verdict: ComparisonVerdict,
}

/// The paired cases of a suite and target, before anything is said about them.
pub(super) struct SuitePairs<'a> {
    name: (String, String),
    standard: Standard,
    pairs: Vec<Pair<'a>>,
    /// Those of `pairs` that are compared, in their order.
    compared: Vec<Compared>,
    slices: Vec<(String, String)>,
    base_passed: (u32, u32),
    run_passed: (u32, u32),
    /// The suite as its baseline tells, if that is the base.
    accepted: Option<&'a UnchangedSuite>,
}

/// A case that is compared.
struct Compared {
    /// Scores in base and run.
    base: Vec<f64>,
    run: Vec<f64>,
    trials: CaseTrials,
    cluster: usize,
    /// Indices of its slices, from 0.
    slices: Vec<usize>,
}

impl<'a> SuitePairs<'a> {
    /// `torn`: keys of the cases whose record in the base cannot be read.
    pub(super) fn new(
        name: (String, String),
        standard: Standard,
        [base, run]: [&[&'a CaseData]; 2],
        torn: &BTreeSet<String>,
        groups: &Groups<'_>,
    ) -> Self {
        let stops = [base, run].map(|cases| cases.iter().any(|case| case.record.ends_early()));
        let mut numbers: BTreeMap<(String, String), usize> = BTreeMap::new();
        let pairs = pair_cases([base, run], torn, standard == Standard::Run);
        let mut compared = Vec::new();
        for pair in &pairs {
            let Pair::Both(base, run) = pair else { continue };
            let identity = identity(&run.record);
            let slices = groups.slices(identity).iter().map(|slice| {
                let next = numbers.len();
                *numbers.entry(slice.clone()).or_insert(next)
            });
            let slices = slices.collect();
            let [(in_base, base), (in_run, scores)] = [(base, stops[0]), (run, stops[1])]
                .map(|(case, stops)| observed(case, standard, run.record.rule, stops));
            let trials = case_trials(in_base, in_run, run);
            let cluster = groups.cluster(identity, compared.len());
            compared.push(Compared { base: base.concat(), run: scores.concat(), trials, cluster, slices });
        }
        let mut slices: Vec<_> = numbers.into_iter().collect();
        slices.sort_by_key(|(_, number)| *number);
        let slices = slices.into_iter().map(|(slice, _)| slice).collect();
        let (base_passed, run_passed) = (passed(base), passed(run));
        Self { name, standard, pairs, compared, slices, base_passed, run_passed, accepted: None }
    }

    /// Sets what the baseline of the suite tells, if that is the base.
    pub(super) fn with_accepted(self, accepted: Option<&'a UnchangedSuite>) -> Self {
        Self { accepted, ..self }
    }

    /// Whether chance can be at work in the results.
    pub(super) fn varies(&self) -> bool {
        self.compared.iter().any(|case| !case.agrees())
    }

    /// Compares the pairs; `suites`: of how many suites and targets that vary.
    pub(super) fn compare(self, suites: usize, options: &CompareOptions) -> SuiteComparison {
        let tests = exchange_tests(&self.units(), 1 + self.slices.len());
        let has_slices = !self.slices.is_empty();
        let of_tests = if self.accepted.is_some() { LARGEST_CHANCE } else { 0.0 };
        let [down, up] = [REGRESSED - of_tests, IMPROVED].map(|all| all / suites as f64);
        let mut worse = self.changed(levels::of_cases(down, tests[0].smallest), |trials| trials);
        self.add_worse_than_accepted(&mut worse);
        let better = self.changed(levels::of_cases(up, tests[0].smallest), CaseTrials::reversed);
        let [down, up] = [(down, &worse), (up, &better)].map(|(all, of)| levels::of_scores(all, of.used, has_slices));
        let all = self.differences(|_| true);
        let mut slices = self.slice_comparisons(&tests);
        slices.iter_mut().for_each(|slice| slice.judge(down, up));
        slices.sort_by(|left, right| (&left.key, &left.value).cmp(&(&right.key, &right.value)));
        let changes = self.changes(&worse, &better);
        let difference = mean(&all.values);
        let noise = CHANCE * tests[0].deviation / all.values.len().max(1) as f64;
        let mut comparison = SuiteComparison {
            suite: self.name.0.clone(),
            target: self.name.1.clone(),
            changes,
            pairs: all.values.len(),
            differing: all.values.iter().filter(|difference| !is_same(**difference, 0.0)).count(),
            missing: self.pairs.iter().filter(|pair| pair.is_missing()).count(),
            errors: self.pairs.iter().filter(|pair| pair.is_error_now()).count(),
            first_trials: self.compared.iter().filter(|case| !case.trials.have_planned_ends()).count(),
            difference,
            interval: all.interval(),
            noise,
            p_value: p_value(difference, tests[0]),
            level: if difference > 0.0 { up } else { down },
            base_passed: self.base_passed,
            run_passed: self.run_passed,
            slices,
            judged: None,
            verdict: ComparisonVerdict::Undecided,
        };
        comparison.verdict = comparison.decide(!self.varies(), options);
        comparison
    }

    /// The cases that changed more than chance explains, those with cases of their cluster left out: they are not independent trials.
    fn changed(&self, level: f64, side: fn(CaseTrials) -> CaseTrials) -> Worse {
        let sizes = self.cluster_sizes();
        let alone = |case: &&Compared| sizes[&case.cluster] == 1;
        let trials: Vec<CaseTrials> = self.compared.iter().filter(alone).map(|case| side(case.trials)).collect();
        let found = worse_cases(&trials, level);
        let mut of_alone = found.p_values.into_iter();
        let p_value = |case: &Compared| if alone(&case) { of_alone.next().flatten() } else { None };
        Worse { p_values: self.compared.iter().map(p_value).collect(), used: found.used }
    }

    /// Adds the cases whose tests say that they pass no more, by the trials of all accepted runs.
    fn add_worse_than_accepted(&self, worse: &mut Worse) {
        let Some(accepted) = self.accepted else { return };
        let both = self.pairs.iter().filter_map(|pair| match pair {
            Pair::Both(base, run) => Some((&base.record, &run.record)),
            _ => None,
        });
        let says = |run: &CaseRecord| run.baseline.map(|result| result.expectation) == Some(Expectation::Regression);
        for (found, (base, run)) in worse.p_values.iter_mut().zip(both) {
            let [before, now] = [base, run].map(counts);
            if before.0 > 0 && (accepted.is_worse(before, now) || says(run)) {
                *found = Some(found.unwrap_or(1.0).min(accepted.chance(before, now)));
            }
        }
    }

    fn cluster_sizes(&self) -> BTreeMap<usize, usize> {
        let mut sizes = BTreeMap::new();
        self.compared.iter().for_each(|case| *sizes.entry(case.cluster).or_default() += 1);
        sizes
    }

    /// What can be exchanged: the trials of a case, or all cases of a cluster at once. The first sum is that of all cases.
    fn units(&self) -> Vec<Unit> {
        let sizes = self.cluster_sizes();
        let mut units = Vec::new();
        let mut clusters: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for case in &self.compared {
            let sums: Vec<usize> = [0].into_iter().chain(case.slices.iter().map(|slice| slice + 1)).collect();
            if sizes[&case.cluster] == 1 {
                units.push(Unit::scores(&case.base, &case.run, sums));
            } else {
                let parts = clusters.entry(case.cluster).or_default();
                parts.extend(sums.into_iter().map(|sum| (sum, case.difference())));
            }
        }
        units.extend(clusters.into_values().map(|parts| Unit::Cluster { parts }));
        units
    }

    fn differences(&self, is_meant: impl Fn(&Compared) -> bool) -> Differences {
        let cases = self.compared.iter().filter(|case| is_meant(case));
        let (values, clusters) = cases.map(|case| (case.difference(), case.cluster)).unzip();
        Differences { values, clusters }
    }

    fn slice_comparisons(&self, tests: &[ExchangeTest]) -> Vec<SliceComparison> {
        let compare = |(index, slice): (usize, &(String, String))| {
            let differences = self.differences(|case| case.slices.contains(&index));
            SliceComparison::new(slice.clone(), &differences, tests[index + 1])
        };
        let mut slices: Vec<SliceComparison> = self.slices.iter().enumerate().map(compare).collect();
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
        slices
    }

    fn changes(&self, worse: &Worse, better: &Worse) -> Vec<CaseChange> {
        let mut of_compared = self.compared.iter().zip(worse.p_values.iter().zip(&better.p_values));
        let mut change = |pair: &Pair<'_>| {
            let compared = if matches!(pair, Pair::Both(..)) { of_compared.next() } else { None };
            let scores = compared.map(|(case, _)| [mean(&case.base), mean(&case.run)]);
            let tested = compared.and_then(|(_, (worse, better))| {
                worse.map(|p| (ChangeKind::Regressed, p)).or(better.map(|p| (ChangeKind::Improved, p)))
            });
            CaseChange::of(pair, self.standard, scores, tested)
        };
        self.pairs.iter().filter_map(&mut change).collect()
    }
}

impl Compared {
    fn difference(&self) -> f64 {
        mean(&self.run) - mean(&self.base)
    }

    /// Whether all trials of both runs have one score, and none was repeated.
    fn agrees(&self) -> bool {
        let mut scores = self.base.iter().chain(&self.run);
        let first = scores.next().copied().unwrap_or_default();
        scores.all(|score| is_same(*score, first)) && self.trials.agrees()
    }
}

impl SuiteComparison {
    fn decide(&self, is_same: bool, options: &CompareOptions) -> ComparisonVerdict {
        let missing = self.missing as f64 / (self.missing + self.pairs).max(1) as f64;
        let has = |kind| self.changes.iter().any(|change| change.kind == kind);
        let slice_is = |verdict| self.slices.iter().any(|slice| slice.verdict == verdict);
        let is_change = self.p_value <= self.level;
        let is_worse_than_margin =
            options.margin.is_some_and(|margin| self.interval.is_some_and(|(_, upper)| !at_least(upper, -margin)));
        if has(ChangeKind::Regressed)
            || slice_is(ComparisonVerdict::Regressed)
            || self.difference < 0.0 && is_change
            || is_worse_than_margin
        {
            return ComparisonVerdict::Regressed;
        }
        let is_within_margin =
            options.margin.is_none_or(|margin| self.interval.is_some_and(|(lower, _)| !at_most(lower, -margin)));
        if !at_most(missing, MOST_MISSING)
            || self.errors > options.allowed_errors
            || self.pairs == 0
            || !is_within_margin
        {
            return ComparisonVerdict::Undecided;
        }
        if has(ChangeKind::Improved) || self.difference > 0.0 && is_change {
            return ComparisonVerdict::Improved;
        }
        match (is_same, self.pairs >= FEWEST_PAIRS) {
            (true, _) => ComparisonVerdict::Same,
            (false, true) => ComparisonVerdict::Unchanged,
            (false, false) => ComparisonVerdict::Undecided,
        }
    }
}

fn passed(cases: &[&CaseData]) -> (u32, u32) {
    let counts = count_outcomes(cases.iter().flat_map(|case| records(case)).map(|record| record.outcome));
    (counts.passed, counts.run())
}
