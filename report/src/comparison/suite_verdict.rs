//! A suite in two runs, in one target, and the verdict on it, also where trials ended in an error.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::decimal::{at_least, at_most, is_same};
use evalsuite_statistics::{CaseTrials, Worse, mean, worse_cases};
use serde::Serialize;

use super::compared::{Compared, case_trials, observed, unknown_trials};
use super::evidence::{ComparisonUnit, Differences, Evidence, p_value};
use super::pairing::{Groups, Pair, Standard, pair_cases};
use super::pooled::BetweenRuns;
use super::{
    CaseChange, ChangeKind, CompareOptions, ComparisonVerdict, FEWEST_PAIRS, JudgedAnswers, MOST_MISSING,
    SliceComparison,
};
use crate::run_data::{CaseData, count_outcomes, counted_records, identity};

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
    /// What counts as one observation in `p_value` and `noise`.
    pub unit: ComparisonUnit,
    /// Why: whether `unit` was chosen, or follows from `alike_p`.
    pub is_unit_chosen: bool,
    /// Whether the cases themselves say so, with `trials.correlated`.
    pub is_correlated: bool,
    /// Probability that the scores of cases differ between the runs as much if the trials of a case within one run are independent of
    /// each other, 0 to 1. From 0.12 down, each case counts as one, unless the unit was chosen.
    pub alike_p: f64,
    /// Probability that runs of the base differ as much from each other if only their trials do, 0 to 1; `None` above 0.12, and if it is
    /// one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between_runs_p: Option<f64>,
    /// Trials that ended in an error, and whether they matter; `None` without any, and where they are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownTrials>,
    /// What follows from the scores.
    pub verdict: ComparisonVerdict,
}

/// The paired cases of a suite and target, before anything is said about them.
#[derive(Clone)]
pub(super) struct SuitePairs<'a> {
    pub(super) name: (String, String),
    pub(super) standard: &'a dyn Standard,
    pairs: Vec<Pair<'a>>,
    /// Those of `pairs` that are compared, in their order.
    pub(super) compared: Vec<Compared>,
    /// Those that would be compared if they had not ended in an error in one of the runs.
    hidden: Vec<Compared>,
    pub(super) slices: Vec<(String, String)>,
    base_passed: (u32, u32),
    run_passed: (u32, u32),
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

    /// Compares the pairs; `suites`: of how many suites and targets that vary.
    pub(super) fn compare(self, suites: usize, options: &CompareOptions) -> SuiteComparison {
        let finding = Finding::new(&self, suites, options);
        let errors = self.pairs.iter().filter(|pair| pair.is_error_now()).count();
        let is_allowed = options.allowed_errors > 0 && errors <= options.allowed_errors;
        let unknown = if is_allowed { 0 } else { self.unknown() };
        // What the errors hide may have been good or bad.
        let bounds = (unknown > 0)
            .then(|| [false, true].map(|run_passes| Finding::new(&self.with_unknown(run_passes), suites, options)));
        let unknown = bounds.as_ref().map(|[failed, passed]| UnknownTrials {
            trials: unknown,
            if_failed: failed.verdict,
            interval_if_failed: failed.interval,
            if_passed: passed.verdict,
        });
        let changes = self.changes(&finding, bounds.as_ref());
        let (count, difference) = (finding.differences.len(), finding.difference());
        let in_direction = finding.in_direction();
        let is_correlated = self.pairs.iter().any(Pair::is_correlated);
        SuiteComparison {
            changes,
            pairs: count,
            differing: finding.differences.iter().filter(|difference| !is_same(**difference, 0.0)).count(),
            missing: self.missing(),
            errors,
            first_trials: self.compared.iter().filter(|case| !case.trials.have_planned_ends()).count(),
            difference,
            interval: finding.interval,
            noise: CHANCE * in_direction.tests[0].deviation / count.max(1) as f64,
            p_value: finding.p_value(),
            level: in_direction.level,
            base_passed: self.base_passed,
            run_passed: self.run_passed,
            judged: None,
            unit: if is_correlated { in_direction.unit.max(ComparisonUnit::Case) } else { in_direction.unit },
            between_runs_p: finding.between.as_ref().map(|between| between.p),
            is_correlated,
            is_unit_chosen: options.unit.is_some(),
            alike_p: in_direction.alike_p,
            verdict: unknown.map_or(finding.verdict, |unknown| unknown.verdict(finding.verdict)),
            unknown,
            slices: finding.slices,
            suite: self.name.0,
            target: self.name.1,
        }
    }

    /// Number of trials that ended in an error.
    fn unknown(&self) -> usize {
        let cases = self.compared.iter().chain(&self.hidden);
        cases.flat_map(|case| case.unknown).map(|trials| trials as usize).sum()
    }

    /// The pairs if the trials of the run that ended in an error had passed and those of the base had failed, or the reverse.
    fn with_unknown(&self, run_passes: bool) -> Self {
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

    pub(super) fn differences(&self, is_meant: impl Fn(&Compared) -> bool) -> Differences {
        let cases = self.compared.iter().filter(|case| is_meant(case));
        let (values, clusters) = cases.map(|case| (case.difference(), case.cluster)).unzip();
        Differences { values, clusters }
    }

    /// What happened to the cases. A case has become worse or better only if it has so however its unknown trials would have ended.
    fn changes(&self, finding: &Finding, bounds: Option<&[Finding; 2]>) -> Vec<CaseChange> {
        let is_certain = |side: usize, index: usize| {
            let [failed, passed] = match bounds {
                Some(bounds) => bounds.each_ref().map(|it| it.evidence[side].cases.p_values[index].is_some()),
                None => [true; 2],
            };
            failed && passed
        };
        let mut indices = 0..self.compared.len();
        let mut change = |pair: &Pair<'_>| {
            let index = if matches!(pair, Pair::Both(..)) { indices.next() } else { None };
            let scores = index.map(|index| [mean(&self.compared[index].base), mean(&self.compared[index].run)]);
            let tested = index.and_then(|index| {
                let p = |side: usize| finding.evidence[side].cases.p_values[index].filter(|_| is_certain(side, index));
                p(0).map(|p| (ChangeKind::Regressed, p)).or(p(1).map(|p| (ChangeKind::Improved, p)))
            });
            CaseChange::of(pair, self.standard, scores, tested)
        };
        self.pairs.iter().filter_map(&mut change).collect()
    }
}

fn passed(cases: &[&CaseData]) -> (u32, u32) {
    let counts = count_outcomes(cases.iter().flat_map(|case| counted_records(case)).map(|record| record.outcome));
    (counts.passed, counts.run())
}

/// Trials that ended in an error, and what the verdict would be without errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UnknownTrials {
    /// Number of trials of both runs that ended in an error and may have passed or failed.
    pub trials: usize,
    /// The verdict if all of them in the run had failed with score 0, and those in the base had passed with score 1.
    pub if_failed: ComparisonVerdict,
    /// The 95 % interval of the mean difference then.
    pub interval_if_failed: Option<(f64, f64)>,
    /// The verdict if all of them in the run had passed with score 1, and those in the base had failed with score 0.
    pub if_passed: ComparisonVerdict,
}

impl UnknownTrials {
    /// Whether it makes no difference how they would have ended.
    pub(super) fn agree(&self) -> bool {
        let [failed, passed] = [self.if_failed, self.if_passed].map(|verdict| verdict == ComparisonVerdict::Regressed);
        failed == passed && ![self.if_failed, self.if_passed].contains(&ComparisonVerdict::Undecided)
    }

    /// The verdict, where `known` is that of the other trials.
    pub(super) fn verdict(&self, known: ComparisonVerdict) -> ComparisonVerdict {
        let all = [known, self.if_failed, self.if_passed];
        let regressed = all.iter().filter(|verdict| **verdict == ComparisonVerdict::Regressed).count();
        match regressed {
            0 => all.into_iter().max().unwrap_or(known),
            3 => ComparisonVerdict::Regressed,
            _ => ComparisonVerdict::Undecided,
        }
    }
}

/// What is found in the pairs of a suite and target.
pub(super) struct Finding {
    /// That the run is worse, and that it is better.
    pub(super) evidence: [Evidence; 2],
    /// The difference of each case.
    pub(super) differences: Vec<f64>,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) slices: Vec<SliceComparison>,
    /// How much runs of one agent differ, if each counts as one.
    pub(super) between: Option<BetweenRuns>,
    /// What follows if errors do not matter.
    pub(super) verdict: ComparisonVerdict,
}

impl Finding {
    pub(super) fn new(pairs: &SuitePairs<'_>, suites: usize, options: &CompareOptions) -> Self {
        // Who chose a unit knows what the trials are.
        let is_open = options.unit.is_none();
        let between = is_open.then(|| BetweenRuns::of(&pairs.compared, 1 + pairs.slices.len())).flatten();
        let evidence = pairs.evidence(suites, options, between.as_ref());
        let slices = pairs.slice_comparisons(&evidence);
        let all = pairs.differences(|_| true);
        let verdict = ComparisonVerdict::Undecided;
        let own = |interval| between.as_ref().map_or(interval, |it| it.widened(interval, mean(&all.values)));
        let interval = all.interval().map(own);
        let mut finding = Self { evidence, interval, differences: all.values, slices, between, verdict };
        finding.verdict = finding.decide(pairs, options);
        finding
    }

    pub(super) fn difference(&self) -> f64 {
        mean(&self.differences)
    }

    /// The evidence in the direction of the difference.
    pub(super) fn in_direction(&self) -> &Evidence {
        &self.evidence[usize::from(self.difference() > 0.0)]
    }

    pub(super) fn p_value(&self) -> f64 {
        p_value(self.difference(), self.evidence.each_ref().map(|it| it.tests[0]))
    }

    fn decide(&self, pairs: &SuitePairs<'_>, options: &CompareOptions) -> ComparisonVerdict {
        let count = self.differences.len();
        let missing = pairs.missing() as f64 / (pairs.missing() + count).max(1) as f64;
        let [worse, better] = self.evidence.each_ref().map(|it| it.cases.p_values.iter().any(Option::is_some));
        let slice_is = |verdict| self.slices.iter().any(|slice| slice.verdict == verdict);
        let is_change = self.p_value() <= self.in_direction().level;
        let is_worse_than_margin =
            options.margin.is_some_and(|margin| self.interval.is_some_and(|(_, upper)| !at_least(upper, -margin)));
        if worse
            || slice_is(ComparisonVerdict::Regressed)
            || self.difference() < 0.0 && is_change
            || is_worse_than_margin
        {
            return ComparisonVerdict::Regressed;
        }
        let is_within_margin =
            options.margin.is_none_or(|margin| self.interval.is_some_and(|(lower, _)| !at_most(lower, -margin)));
        if !at_most(missing, MOST_MISSING) || count == 0 || !is_within_margin {
            return ComparisonVerdict::Undecided;
        }
        if better || self.difference() > 0.0 && is_change {
            return ComparisonVerdict::Improved;
        }
        match (pairs.varies(), count >= FEWEST_PAIRS) {
            (false, _) => ComparisonVerdict::Same,
            (true, true) => ComparisonVerdict::Unchanged,
            (true, false) => ComparisonVerdict::Undecided,
        }
    }
}
