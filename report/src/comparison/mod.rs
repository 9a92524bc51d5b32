//! Two runs compared, case by case and suite by suite.

mod compared;
mod evidence;
mod judged_answers;
mod pairing;
mod pooled;
mod suite_pairs;
mod suite_verdict;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::PairRecord;
use evalsuite_records::run_directory::{CASE_RECORD, CaseDirectoryName};
use evalsuite_schema::gate::SliceKey;
use evalsuite_schema::json::written_by_serde;
use evalsuite_statistics::holm;
use serde::Serialize;

use crate::run_data::{CaseData, Problem, RunData, SuiteNames};
use crate::sequential::{DecisionVerdict, RunDecision};

pub use self::compared::CaseChange;
pub use self::evidence::{ComparisonUnit, SliceComparison};
pub use self::judged_answers::{JudgedAnswers, answer_pairs, judges_of};
use self::pairing::{Groups, OtherRun};
pub(crate) use self::pairing::{Standard, has_same_definition, has_same_threshold};
pub(crate) use self::pooled::without_trials;
pub use self::pooled::{CountedRuns, pooled, retain_cases_of};
use self::suite_pairs::SuitePairs;
pub use self::suite_verdict::{SuiteComparison, UnknownTrials};

/// Share of missing pairs above which a comparison says nothing.
pub(crate) const MOST_MISSING: f64 = 0.1;
/// Fewest pairs that can show that nothing changed much.
pub(crate) const FEWEST_PAIRS: usize = 6;
/// Adjusted p-value below which a difference of judged answers is not chance.
const SIGNIFICANT: f64 = 0.05;

/// How runs are compared.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompareOptions {
    /// A key of the cases' metadata: cases with the same value are not independent of each other.
    pub cluster_by: Option<String>,
    /// How much worse the run may be, as a share of the score: it is accepted only if the lower end of the interval is above `−margin`.
    pub margin: Option<f64>,
    /// How many cases of a suite and target may end in an error that had a result in the base. Trials that ended in an error are then left
    /// out. With more, the comparison is decided only if the verdict is the same whether these trials had passed or failed.
    pub allowed_errors: usize,
    /// What counts as one observation; `None`: a trial, unless the results show that the trials of a case within one run resemble
    /// each other.
    pub unit: Option<ComparisonUnit>,
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
    /// The runs that are counted together as the earlier one; `None` if it is one run.
    pub base_runs: Option<CountedRuns>,
    /// The runs that are counted together as the run; `None` if it is one run.
    pub runs: Option<CountedRuns>,
    /// Number of cases of both runs that the test runner repeated: of each, the first attempt with a result is compared.
    pub repeated_cases: usize,
    /// The suites that are in one of them, by name and target.
    pub suites: Vec<SuiteComparison>,
    /// What the run decided while its trials ran, if it compared itself with this base until it was decided: then this is the verdict. The
    /// other values do not account for its looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<RunDecision>,
}

/// What a comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ComparisonVerdict {
    /// All results are the same, in all trials.
    Same,
    /// The run is better.
    Improved,
    /// There is no evidence of a change.
    Unchanged,
    /// There are too few pairs, too many are missing, or trials ended in an error and the verdict depends on how they would have ended.
    Undecided,
    /// The run is worse, or not shown to be within the margin.
    Regressed,
}

written_by_serde!(ComparisonVerdict);

impl Comparison {
    /// Compares a run with an earlier one.
    pub fn new(base: &RunData, run: &RunData, options: &CompareOptions) -> Self {
        Self::with(base, &OtherRun, run, options)
    }

    /// Compares a run with a standard, whose results are those of `base`.
    pub(crate) fn with(base: &RunData, standard: &dyn Standard, run: &RunData, options: &CompareOptions) -> Self {
        let measured = [base, run].map(RunData::measured);
        let [base, run] = measured.each_ref().map(AsRef::as_ref);
        let repeated_cases = base.repeated_cases() + run.repeated_cases();
        let mut keys = by_suite_and_target([base, run], options);
        if options.only_cases_of_run {
            for [base, run] in keys.values_mut() {
                let ran: BTreeSet<&str> = run.iter().map(|case| case.record.case_id.as_str()).collect();
                base.retain(|case| ran.contains(case.record.case_id.as_str()));
            }
            keys.retain(|_, [_, run]| !run.is_empty());
        }
        let groups = Groups::new(run, options);
        let torn = [torn_cases(base, |_| true), torn_cases(run, Problem::is_of_file)];
        let pairs =
            keys.into_iter().map(|(name, [base, run])| SuitePairs::new(name, standard, [&base, &run], &torn, &groups));
        let pairs: Vec<SuitePairs> = pairs.collect();
        // Where several suites are compared, each has its share of the probability to be wrong. One in which nothing varies needs none.
        let varying = pairs.iter().filter(|suite| suite.varies()).count().max(1);
        let suites = pairs.into_iter().map(|suite| suite.compare(varying, options)).collect();
        let name = standard.name(base);
        let decision = RunDecision::of(run).filter(|decision| decision.base == name && options.targets.is_none());
        let [base_runs, runs] = [base, run].map(CountedRuns::of);
        let (base, run) = (base.run_id.clone(), run.run_id.clone());
        Self { schema: Self::SCHEMA, base, run, base_runs, runs, repeated_cases, suites, decision }
    }

    /// Value of `schema` in comparisons of this version.
    pub const SCHEMA: &'static str = "evalsuite.comparison/1";

    /// The worst verdict of the suites, on scores and on judged answers; [`ComparisonVerdict::Undecided`] without suites.
    pub fn verdict(&self) -> ComparisonVerdict {
        let judged = self.suites.iter().filter_map(|suite| Some(suite.judged.as_ref()?.verdict));
        let scores = match &self.decision {
            Some(decision) => Some(match decision.verdict {
                DecisionVerdict::Regressed => ComparisonVerdict::Regressed,
                DecisionVerdict::WithinMargin => ComparisonVerdict::Unchanged,
                DecisionVerdict::Undecided => ComparisonVerdict::Undecided,
            }),
            None => self.suites.iter().map(|suite| suite.verdict).max(),
        };
        scores.into_iter().chain(judged).max().unwrap_or(ComparisonVerdict::Undecided)
    }

    /// Adds what judges said about the [answers](answer_pairs) of the same runs.
    #[must_use]
    pub fn with_judged_answers(mut self, judged: &[PairRecord], run: &RunData, options: &CompareOptions) -> Self {
        let groups = Groups::new(run, options);
        for suite in &mut self.suites {
            let is_of_suite = |record: &&PairRecord| record.suite == suite.suite && record.target == suite.target;
            let records: Vec<PairRecord> = judged.iter().filter(is_of_suite).cloned().collect();
            let cluster = |(index, record): (usize, &PairRecord)| {
                let target = options.targets.as_ref().map_or(record.target.as_str(), |(_, target)| target);
                groups.cluster([&record.suite, &record.case_id, target], index)
            };
            let clusters = records.iter().enumerate().map(cluster).collect();
            suite.judged = (!records.is_empty()).then(|| JudgedAnswers::new(records, clusters));
        }
        let judged = self.suites.iter_mut().filter_map(|suite| suite.judged.as_mut());
        let gating: Vec<_> = judged.filter(|judged| judged.count() >= FEWEST_PAIRS).collect();
        let adjusted = holm(&gating.iter().map(|judged| judged.p_value).collect::<Vec<_>>());
        gating.into_iter().zip(adjusted).for_each(|(judged, p)| judged.adjusted_p = p);
        self.suites.iter_mut().filter_map(|suite| suite.judged.as_mut()).for_each(JudgedAnswers::decide);
        self
    }
}

/// The cases of base and run by suite and target. A suite has the name it has in the run. Two targets that are compared are one, named
/// after both.
fn by_suite_and_target<'a>(
    sides: [&'a RunData; 2],
    options: &CompareOptions,
) -> BTreeMap<(String, String), [Vec<&'a CaseData>; 2]> {
    let names = [SuiteNames::new(sides[0], &sides[1].suite_names()), SuiteNames::default()];
    let mut keys: BTreeMap<(String, String), [Vec<&CaseData>; 2]> = BTreeMap::new();
    for (side, data) in sides.into_iter().enumerate() {
        for case in data.suites.iter().flat_map(|suite| &suite.cases) {
            let target = match &options.targets {
                None => case.record.target.clone(),
                Some(targets) if case.record.target != *[&targets.0, &targets.1][side] => continue,
                Some((base, run)) => format!("{base} -> {run}"),
            };
            let suite = names[side].of(&case.record.suite).to_owned();
            keys.entry((suite, target)).or_default()[side].push(case);
        }
    }
    keys
}

/// Keys of the cases whose record in a run cannot be read, by problems that mean so. Of a case whose process died, the trials that it ended are
/// known.
fn torn_cases(run: &RunData, is_meant: impl Fn(&Problem) -> bool) -> BTreeSet<String> {
    let problems = run.problems.iter().filter(|problem| is_meant(problem));
    let files = problems.filter_map(|problem| problem.file.strip_suffix(CASE_RECORD)?.strip_suffix('/'));
    files.filter_map(|directory| Some(CaseDirectoryName::parse(directory.rsplit('/').next()?).case_key)).collect()
}

/// What happened to a case between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It has a result in the base, and ends in an error now.
    Error,
    /// It passes less often than chance explains.
    Regressed,
    /// It passes more often than chance explains.
    Improved,
    /// Its outcome or score differs, which may be chance.
    Changed,
    /// It is flaky in the baseline, and not all of its trials pass.
    Quarantined,
    /// Its input, its graders or its threshold differ: it was not compared.
    Redefined,
    /// It has no result in one of the runs.
    Missing,
    /// It is only in the run.
    Added,
    /// It is only in the base.
    Removed,
}

impl ChangeKind {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error now",
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Changed => "changed",
            Self::Quarantined => "quarantined",
            Self::Redefined => "definition changed",
            Self::Missing => "no result",
            Self::Added => "not in the base",
            Self::Removed => "not in the run",
        }
    }
}
