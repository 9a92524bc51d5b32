//! The verdict on a suite, also where trials ended in an error.

use evalsuite_schema::decimal::{at_least, at_most};
use evalsuite_statistics::mean;
use serde::Serialize;

use super::between_runs::BetweenRuns;
use super::evidence::Evidence;
use super::measured::p_value;
use super::suite::SuitePairs;
use super::{CompareOptions, ComparisonVerdict, FEWEST_PAIRS, MOST_MISSING, SliceComparison};

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
