//! Two runs compared, case by case and suite by suite.

mod answers;
mod case_change;
mod groups;
mod judged;
mod markdown;
mod measured;
mod pairing;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::gate::SliceKey;
use evalsuite_schema::record::{Baseline, CaseRecord, PairRecord};
use serde::Serialize;

use crate::baseline::as_run;
use crate::run_data::{CaseData, RunData, SuiteData};
use crate::statistics::{holm, mean};

pub use self::answers::{answer_pairs, answer_pairs_with_accepted, judges_of};
use self::case_change::Standard;
pub use self::case_change::{CaseChange, ChangeKind};
use self::groups::{Clusters, Slices};
pub use self::judged::JudgedAnswers;
pub use self::measured::SliceComparison;
use self::measured::{Measured, Pairs};
use self::pairing::{Pair, pair_cases};

/// Share of missing pairs above which a comparison says nothing.
const MOST_MISSING: f64 = 0.1;
/// Fewest pairs that can show anything: with five, the smallest p-value is 0.0625.
const FEWEST_PAIRS: usize = 6;
/// Adjusted p-value below which a difference is not chance.
const SIGNIFICANT: f64 = 0.05;

/// How runs are compared.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompareOptions {
    /// A key of the cases' metadata: cases with the same value are not independent of each other.
    pub cluster_by: Option<String>,
    /// How much worse the run may be, as a share of the score: it is accepted only if the lower end of the interval is above `−margin`.
    pub margin: Option<f64>,
    /// Whether cases that are not in the run are left out, as after a run of chosen cases; else they are missing results.
    pub only_cases_of_run: bool,
    /// Keys whose values are compared by themselves, in every suite and target.
    pub by: Vec<SliceKey>,
    /// Two targets, of which the first one's cases in the base are compared with the second one's in the run; without them, cases are
    /// compared with those of the same target.
    pub targets: Option<(String, String)>,
}

impl CompareOptions {
    /// Every case by itself, and no margin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the key of the cases' metadata whose values say which cases belong together.
    #[must_use]
    pub fn with_cluster_by(mut self, key: impl Into<String>) -> Self {
        self.cluster_by = Some(key.into());
        self
    }

    /// Adds a key whose values are compared by themselves.
    #[must_use]
    pub fn with_slices_by(mut self, key: SliceKey) -> Self {
        self.by.push(key);
        self
    }

    /// Compares the cases of a target in the base with those of another one in the run.
    #[must_use]
    pub fn with_targets(mut self, base: impl Into<String>, run: impl Into<String>) -> Self {
        self.targets = Some((base.into(), run.into()));
        self
    }

    /// Leaves out cases that are not in the run.
    #[must_use]
    pub fn with_only_cases_of_run(mut self) -> Self {
        self.only_cases_of_run = true;
        self
    }

    /// Sets how much worse the run may be, 0 to 1.
    #[must_use]
    pub fn with_margin(mut self, margin: f64) -> Self {
        self.margin = Some(margin);
        self
    }
}

/// A run compared with an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// [`Comparison::SCHEMA`].
    pub schema: &'static str,
    /// Id of the earlier run.
    pub base: String,
    /// Id of the run.
    pub run: String,
    /// The suites that are in one of them, by name and target.
    pub suites: Vec<SuiteComparison>,
}

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
    /// Number of cases that have a result in only one of the runs.
    pub missing: usize,
    /// Mean over the pairs of the score in the run minus that in the base, −1 to 1.
    pub difference: f64,
    /// 95 % interval of `difference`; `None` with fewer than two cases or clusters.
    pub interval: Option<(f64, f64)>,
    /// Probability of a difference at least as large if nothing had changed, 0 to 1.
    pub p_value: f64,
    /// The same, adjusted for the number of suites and targets that are compared (Holm).
    pub adjusted_p: f64,
    /// The smallest difference that would have been seen in four of five such comparisons.
    pub visible_effect: Option<f64>,
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

/// What a comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ComparisonVerdict {
    /// The run is better.
    Improved,
    /// There is no evidence of a change.
    Unchanged,
    /// There are too few pairs, or too many are missing.
    Undecided,
    /// The run is worse, or not shown to be within the margin.
    Regressed,
}

impl Comparison {
    /// Compares a run with an earlier one.
    pub fn new(base: &RunData, run: &RunData, options: &CompareOptions) -> Self {
        Self::with(base, Standard::Run, run, options)
    }

    /// Compares a run with the baselines of its suites.
    ///
    /// A case that was stable there needs no p-value: if all of two or more trials passed, and all of two or more fail now, it is
    /// [`ChangeKind::Lost`]; where every trial has to pass, one is enough on both sides. A case that is flaky in the baseline never
    /// makes the verdict alone.
    pub fn with_baselines(baselines: &[Baseline], run: &RunData, options: &CompareOptions) -> Self {
        Self::with(&as_run(baselines), Standard::Baseline, run, options)
    }

    fn with(base: &RunData, standard: Standard, run: &RunData, options: &CompareOptions) -> Self {
        let mut keys = by_suite_and_target([base, run], options);
        if options.only_cases_of_run {
            for [base, run] in keys.values_mut() {
                let ran: BTreeSet<&str> = run.iter().map(|case| case.record.case_id.as_str()).collect();
                base.retain(|case| ran.contains(case.record.case_id.as_str()));
            }
            keys.retain(|_, [_, run]| !run.is_empty());
        }
        let groups = Groups { clusters: Clusters::new(run, options), slices: Slices::new(run, options) };
        let mut suites: Vec<SuiteComparison> = keys
            .into_iter()
            .map(|((suite, target), sides)| {
                let [base, run] = sides.map(|cases| cases.into_iter().map(|case| &case.record).collect::<Vec<_>>());
                compare_suite((suite, &target), standard, [&base, &run], &groups)
            })
            .collect();
        judge(&mut suites, options.margin);
        Self { schema: Self::SCHEMA, base: base.run_id.clone(), run: run.run_id.clone(), suites }
    }

    /// Value of `schema` in comparisons of this version.
    pub const SCHEMA: &'static str = "evalsuite.comparison/1";

    /// The worst verdict of the suites, on scores and on judged answers; [`ComparisonVerdict::Undecided`] without suites.
    pub fn verdict(&self) -> ComparisonVerdict {
        let judged = self.suites.iter().filter_map(|suite| Some(suite.judged.as_ref()?.verdict));
        self.suites.iter().map(|suite| suite.verdict).chain(judged).max().unwrap_or(ComparisonVerdict::Undecided)
    }

    /// Adds what judges said about the [answers](answer_pairs) of the same runs.
    #[must_use]
    pub fn with_judged_answers(mut self, judged: &[PairRecord], run: &RunData, options: &CompareOptions) -> Self {
        let clusters = Clusters::new(run, options);
        for suite in &mut self.suites {
            let is_of_suite = |record: &&PairRecord| record.suite == suite.suite && record.target == suite.target;
            let records: Vec<PairRecord> = judged.iter().filter(is_of_suite).cloned().collect();
            let cluster = |(index, record): (usize, &PairRecord)| {
                let target = options.targets.as_ref().map_or(record.target.as_str(), |(_, target)| target);
                clusters.of([&record.suite, &record.case_id, target], index)
            };
            let clusters = records.iter().enumerate().map(cluster).collect();
            suite.judged = (!records.is_empty()).then(|| JudgedAnswers::new(records, clusters));
        }
        let judged = self.suites.iter_mut().filter_map(|suite| suite.judged.as_mut());
        adjust(judged.filter(|judged| judged.count() >= FEWEST_PAIRS).map(|judged| &mut judged.adjusted_p));
        self.suites.iter_mut().filter_map(|suite| suite.judged.as_mut()).for_each(JudgedAnswers::decide);
        self
    }
}

/// The cases of base and run by suite and target. Two targets that are compared are one, named after both.
fn by_suite_and_target<'a>(
    sides: [&'a RunData; 2],
    options: &CompareOptions,
) -> BTreeMap<(&'a str, String), [Vec<&'a CaseData>; 2]> {
    let mut keys: BTreeMap<(&str, String), [Vec<&CaseData>; 2]> = BTreeMap::new();
    for (side, data) in sides.into_iter().enumerate() {
        for case in data.suites.iter().flat_map(|suite: &SuiteData| &suite.cases) {
            let target = match &options.targets {
                None => case.record.target.clone(),
                Some(targets) if case.record.target != *[&targets.0, &targets.1][side] => continue,
                Some((base, run)) => format!("{base} -> {run}"),
            };
            keys.entry((&case.record.suite, target)).or_default()[side].push(case);
        }
    }
    keys
}

/// Which cases belong together, and which are compared by themselves.
struct Groups<'a> {
    clusters: Clusters<'a>,
    slices: Slices<'a>,
}

fn compare_suite(
    (suite, target): (&str, &str),
    standard: Standard,
    [base, run]: [&[&CaseRecord]; 2],
    groups: &Groups<'_>,
) -> SuiteComparison {
    let (mut changes, mut pairs) = (Vec::new(), Pairs::default());
    let mut slices: BTreeMap<(String, String), Pairs> = BTreeMap::new();
    let mut missing = 0;
    for pair in pair_cases(base, run) {
        if let Pair::Both(base, run) = pair {
            let cluster = groups.clusters.of(identity(run), pairs.len());
            let difference = standard.difference(mean_score(base), mean_score(run));
            pairs.push(difference, cluster);
            for slice in groups.slices.of(run) {
                slices.entry(slice.clone()).or_default().push(difference, cluster);
            }
        }
        missing += usize::from(pair.is_missing());
        changes.extend(CaseChange::of(&pair, standard));
    }
    let measured = Measured::of(&pairs);
    SuiteComparison {
        suite: suite.to_owned(),
        target: target.to_owned(),
        changes,
        pairs: pairs.len(),
        differing: measured.differing,
        missing,
        difference: measured.difference,
        interval: measured.interval,
        p_value: measured.p_value,
        adjusted_p: measured.p_value,
        visible_effect: measured.visible_effect,
        base_passed: passed(base),
        run_passed: passed(run),
        judged: None,
        slices: slices.into_iter().map(|((key, value), pairs)| SliceComparison::new(key, value, &pairs)).collect(),
        verdict: ComparisonVerdict::Undecided,
    }
}

/// Decides suites and slices. What is compared besides others needs a smaller p-value, or chance alone would find a regression in one
/// of them.
fn judge(suites: &mut [SuiteComparison], margin: Option<f64>) {
    let gating = suites.iter_mut().filter(|suite| suite.pairs >= FEWEST_PAIRS);
    adjust(gating.map(|suite| &mut suite.adjusted_p));
    let slices = suites.iter_mut().flat_map(|suite| &mut suite.slices).filter(|slice| slice.pairs >= FEWEST_PAIRS);
    adjust(slices.map(|slice| &mut slice.adjusted_p));
    for suite in suites {
        suite.slices.iter_mut().for_each(SliceComparison::judge);
        let regressed = suite.slices.iter().any(|slice| slice.verdict == ComparisonVerdict::Regressed)
            || suite.changes.iter().any(|change| matches!(change.kind, ChangeKind::Regressed | ChangeKind::Lost));
        suite.verdict = verdict(suite, regressed, margin);
    }
}

/// Replaces the p-values of a family of comparisons by adjusted ones.
fn adjust<'a>(p_values: impl Iterator<Item = &'a mut f64>) {
    let p_values: Vec<&mut f64> = p_values.collect();
    let adjusted = holm(&p_values.iter().map(|p| **p).collect::<Vec<_>>());
    for (p, adjusted) in p_values.into_iter().zip(adjusted) {
        *p = adjusted;
    }
}

fn verdict(comparison: &SuiteComparison, regressed: bool, margin: Option<f64>) -> ComparisonVerdict {
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 cases")]
    let missing = comparison.missing as f64 / (comparison.missing + comparison.pairs).max(1) as f64;
    if regressed {
        return ComparisonVerdict::Regressed;
    }
    if missing > MOST_MISSING || comparison.pairs < FEWEST_PAIRS {
        return ComparisonVerdict::Undecided;
    }
    let is_significant = comparison.adjusted_p < SIGNIFICANT;
    match (comparison.interval, margin) {
        (None, _) => ComparisonVerdict::Undecided,
        (Some((_, upper)), _) if upper < 0.0 && is_significant => ComparisonVerdict::Regressed,
        (Some((lower, _)), Some(margin)) if lower <= -margin => {
            // An effect of the size of the margin could not have been seen: more cases or trials are needed, not another agent.
            match comparison.visible_effect {
                Some(visible) if visible > margin => ComparisonVerdict::Undecided,
                _ => ComparisonVerdict::Regressed,
            }
        }
        (Some((lower, _)), _) if lower > 0.0 && is_significant => ComparisonVerdict::Improved,
        (Some(_), _) => ComparisonVerdict::Unchanged,
    }
}

/// The mean score of the trials that ended.
fn mean_score(record: &CaseRecord) -> f64 {
    mean(&record.trials.iter().filter_map(|trial| trial.score).collect::<Vec<_>>())
}

fn passed(records: &[&CaseRecord]) -> (u32, u32) {
    let mut counts = evalsuite_schema::record::OutcomeCounts::default();
    records.iter().for_each(|record| counts.add(record.outcome));
    (counts.passed, counts.run())
}

fn identity(record: &CaseRecord) -> [&str; 3] {
    [&record.suite, &record.case_id, &record.target]
}
