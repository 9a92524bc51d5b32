//! What the records of a run decide: a pure function of the run directory, and its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evalsuite_records::record::{CaseRecord, DecisionCase, DecisionRecord, DecisionSuite, Status};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::digest::short_hash;
use evalsuite_schema::json::written_by_serde;
use fastrand::Rng;
use serde::Serialize;

use super::looks::{Design, Looks, Observation, Verdict};
use crate::run_data::{RunData, repeated_text};

/// Share of the trials that may have no result before nothing is decided.
const MOST_MISSING: f64 = 0.1;
/// The largest logarithm of an e-value that is shown: larger e-values overflow.
const LARGEST_LOG: f64 = 700.0;
/// The smallest margin: with 0, no number of trials decides.
const LEAST_MARGIN: f64 = 1e-6;

/// What a run has decided about its base with the trials that have ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunDecision {
    /// Id of the run.
    pub run: String,
    /// Id of the run that it is compared with, or `baseline`.
    pub base: String,
    /// How much worse the run may be, above 0, at most 1.
    pub margin: f64,
    /// Key of the cases' metadata whose values say which cases belong together.
    pub cluster_by: Option<String>,
    /// Whether the number of trials is fixed.
    pub fixed: bool,
    /// Ids of the earlier runs of the agent whose evidence counts.
    pub continues: Vec<String>,
    /// *Regressed* if a suite is, *within the margin* if all are, else *undecided*.
    pub verdict: DecisionVerdict,
    /// Trials of the run that were compared with the base.
    pub trials: usize,
    /// Trials that the files of the suites plan.
    pub planned: usize,
    /// Most trials.
    pub most: usize,
    /// Pairs that a run of the same agent can add.
    pub left: usize,
    /// Number of cases of the run that the test runner repeated: of each, the first attempt with a result is compared.
    pub repeated_cases: usize,
    /// The suites and targets.
    pub suites: Vec<SuiteDecision>,
}

/// What is shown of a run, or of one of its suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionVerdict {
    /// It is worse than its base.
    Regressed,
    /// It is worse by less than the margin, or not worse.
    WithinMargin,
    /// Neither.
    Undecided,
}

written_by_serde!(DecisionVerdict);

/// What is decided about a suite and target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteDecision {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// What is shown.
    pub verdict: DecisionVerdict,
    /// Mean score of the run's trials minus that of the trials of the base that they are compared with, −1 to 1; `None` without any.
    pub difference: Option<f64>,
    /// E-values for *regressed* and for *within the margin*, from 0; `None` where the number of trials is fixed.
    pub e_values: Option<[f64; 2]>,
    /// Trials of the run that were compared.
    pub trials: usize,
    /// Trials that the files plan.
    pub planned: usize,
    /// Most trials.
    pub most: usize,
    /// Trials of the run that ended in an error.
    pub errors: usize,
    /// Ids of the cases that cannot be compared: they were skipped, or their input or graders differ from the base.
    pub left_out: Vec<String>,
    /// Pairs that a run of the same agent can add.
    pub left: usize,
    /// Trials of the base of each case that are used up, with those of earlier runs.
    #[serde(skip)]
    pub(crate) used: u32,
    /// Logarithms of the e-values.
    #[serde(skip)]
    pub(crate) log_e_values: Option<[f64; 2]>,
    /// The trials that the next look needs; `None` if there is no further look.
    #[serde(skip)]
    pub(crate) next: Option<NextTrials>,
}

/// The trials that the next look needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NextTrials {
    /// Number of trials that each of the cases needs.
    pub trials: u32,
    /// Ids of the cases.
    pub cases: BTreeSet<String>,
}

impl RunDecision {
    /// What the records of a run decide; `None` if the run does not compare itself with a base while it runs. Of runs that are counted together,
    /// the last one decides by its own trials: those of the others are not the trials that its plan compares.
    pub fn of(run: &RunData) -> Option<Self> {
        let run = run.alone.as_deref().unwrap_or(run);
        Some(Self::with(run.decision.as_ref()?, run))
    }

    /// The same with a plan that need not be stored yet.
    pub fn with(plan: &DecisionRecord, run: &RunData) -> Self {
        let run = &*run.measured();
        let suites: Vec<SuiteDecision> = plan.suites.iter().map(|suite| decide(plan, suite, run)).collect();
        let is = |verdict| move |suite: &SuiteDecision| suite.verdict == verdict;
        let verdict = if suites.iter().any(is(DecisionVerdict::Regressed)) {
            DecisionVerdict::Regressed
        } else if !suites.is_empty() && suites.iter().all(is(DecisionVerdict::WithinMargin)) {
            DecisionVerdict::WithinMargin
        } else {
            DecisionVerdict::Undecided
        };
        let sum = |count: fn(&SuiteDecision) -> usize| suites.iter().map(count).sum();
        Self {
            run: run.run_id.clone(),
            base: plan.base.clone(),
            margin: plan.margin,
            cluster_by: plan.cluster_by.clone(),
            fixed: plan.fixed,
            continues: plan.continues.clone(),
            verdict,
            trials: sum(|suite| suite.trials),
            planned: sum(|suite| suite.planned),
            most: sum(|suite| suite.most),
            left: sum(|suite| suite.left),
            repeated_cases: run.repeated_cases(),
            suites,
        }
    }
}

impl SuiteDecision {
    /// The trials that the next look needs; `None` if there is no further look.
    pub fn next(&self) -> Option<&NextTrials> {
        self.next.as_ref()
    }
}

/// A case of the run as far as it can be compared.
enum InRun<'a> {
    /// It has not run.
    Waits,
    /// It was skipped, or its definition differs.
    LeftOut,
    Ran(&'a CaseRecord),
}

fn decide(plan: &DecisionRecord, suite: &DecisionSuite, run: &RunData) -> SuiteDecision {
    let records = records(suite, run);
    let in_run = |case: &DecisionCase| match records.get(case.case_id.as_str()) {
        None => InRun::Waits,
        Some(record) if record.outcome == Status::Skipped => InRun::LeftOut,
        Some(record) if record.input_digest != case.input || record.grader_digest != case.graders => InRun::LeftOut,
        Some(record) => InRun::Ran(record),
    };
    let units = units(&suite.cases);
    let largest = units.iter().map(|unit| unit.len()).max().unwrap_or(1) as f64;
    let weights = || units.iter().map(|unit| unit.len() as f64 / largest);
    let count = units.len().max(1) as f64;
    // The plan is read as any other record: no more rounds than each case has trials of the base.
    let pairs = suite.cases.iter().map(|case| case.base.len()).min().unwrap_or_default();
    let rounds = (suite.rounds as usize).min(pairs);
    let margin = plan.margin.clamp(LEAST_MARGIN, 1.0);
    let mut looks = Looks::new(Design {
        margin,
        level: suite.level,
        mean_weight: weights().sum::<f64>() / count,
        mean_square_weight: weights().map(|weight| weight * weight).sum::<f64>() / count,
        fixed: plan.fixed.then_some(rounds * units.len()),
        before: suite.before,
    });
    let left_out = suite.cases.iter().filter(|case| matches!(in_run(case), InRun::LeftOut));
    let left_out: Vec<String> = left_out.map(|case| case.case_id.clone()).collect();
    let too_few = left_out.len() as f64 > MOST_MISSING * suite.cases.len() as f64;
    let (mut trials, mut errors, mut sum, mut used, mut next) = (0, 0, 0.0, suite.used, None);
    'rounds: for round in 0..rounds {
        let order = order(&units, suite, round);
        for batch in order.chunks(order.len().div_ceil(suite.batches.max(1) as usize).max(1)) {
            let has_many_errors = trials >= suite.cases.len() && errors as f64 > MOST_MISSING * trials as f64;
            if looks.verdict() != Verdict::Undecided || has_many_errors || too_few {
                break 'rounds;
            }
            let missing = batch.iter().flat_map(|unit| &units[*unit]).filter(|case| match in_run(case) {
                InRun::Waits => true,
                InRun::LeftOut => false,
                InRun::Ran(record) => record.trials.len() <= round,
            });
            let missing: BTreeSet<String> = missing.map(|case| case.case_id.clone()).collect();
            if !missing.is_empty() {
                next = Some(NextTrials { trials: u32::try_from(round + 1).unwrap_or(u32::MAX), cases: missing });
                break 'rounds;
            }
            let observed = batch.iter().filter_map(|unit| {
                let pairs = units[*unit].iter().filter_map(|case| {
                    let InRun::Ran(record) = in_run(case) else { return None };
                    let base = case.base.get(round)?.clamp(0.0, 1.0);
                    trials += 1;
                    Some(match record.trials[round].score.filter(|_| is_completed(record.trials[round].outcome)) {
                        Some(score) => {
                            let score = score.clamp(0.0, 1.0);
                            sum += score - base;
                            (score - base, score - base)
                        }
                        // It may have passed or failed.
                        None => {
                            errors += 1;
                            (-base, 1.0 - base)
                        }
                    })
                });
                let pairs: Vec<(f64, f64)> = pairs.collect();
                let (lower, upper) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
                let count = pairs.len() as f64;
                (count > 0.0).then(|| Observation {
                    lower: lower / count,
                    upper: upper / count,
                    weight: count / largest,
                })
            });
            looks.look(&observed.collect::<Vec<_>>());
            used = suite.used.saturating_add(u32::try_from(round + 1).unwrap_or(u32::MAX));
        }
        looks.end_round();
    }
    let verdict = match looks.verdict() {
        _ if too_few => DecisionVerdict::Undecided,
        Verdict::Regressed => DecisionVerdict::Regressed,
        Verdict::Within => DecisionVerdict::WithinMargin,
        Verdict::Undecided => DecisionVerdict::Undecided,
    };
    let compared = trials - errors;
    let own = (used - suite.used) as usize;
    SuiteDecision {
        suite: suite.suite.clone(),
        target: suite.target.clone(),
        verdict,
        difference: (compared > 0).then(|| sum / compared as f64),
        e_values: looks.log_e_values().map(|logs| logs.map(|log| log.min(LARGEST_LOG).exp())),
        trials,
        planned: suite.planned as usize * suite.cases.len(),
        most: rounds * suite.cases.len(),
        errors,
        left_out,
        left: pairs.saturating_sub(own) * suite.cases.len(),
        used,
        log_e_values: looks.log_e_values(),
        next: next.filter(|_| verdict == DecisionVerdict::Undecided),
    }
}

/// The records of the suite's cases in the target, by id. Of several tests that run one case, the first one.
fn records<'a>(suite: &DecisionSuite, run: &'a RunData) -> BTreeMap<&'a str, &'a CaseRecord> {
    let suites = run.suites.iter().filter(|data| run.is_called(data, &suite.suite));
    let cases = suites.flat_map(|data| &data.cases).filter(|case| case.record.target == suite.target);
    let mut records = BTreeMap::new();
    for case in cases {
        records.entry(case.record.case_id.as_str()).or_insert(&case.record);
    }
    records
}

/// The cases by themselves, or with those that belong to them, in the order of the plan.
pub(super) fn units(cases: &[DecisionCase]) -> Vec<Vec<&DecisionCase>> {
    let mut units: Vec<Vec<&DecisionCase>> = Vec::new();
    let mut clusters: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        let next = units.len();
        let index = case.cluster.as_deref().map_or(next, |cluster| *clusters.entry(cluster).or_insert(next));
        match units.get_mut(index) {
            Some(unit) => unit.push(case),
            None => units.push(vec![case]),
        }
    }
    units
}

/// The units in an order that is random, and the same whenever the run is looked at: it depends on the suite and on the round only.
fn order(units: &[Vec<&DecisionCase>], suite: &DecisionSuite, round: usize) -> Vec<usize> {
    let text = format!("{}\0{}\0{}", suite.suite, suite.target, suite.used as usize + round);
    let mut order: Vec<usize> = (0..units.len()).collect();
    Rng::with_seed(short_hash(text.as_bytes())).shuffle(&mut order);
    order
}

fn is_completed(outcome: Status) -> bool {
    matches!(outcome, Status::Passed | Status::Failed)
}

/// The base of a decision in a sentence.
pub fn base_text(base: &str) -> String {
    if base == DecisionRecord::BASELINE { "the baseline".to_owned() } else { format!("run `{base}`") }
}

impl DecisionVerdict {
    /// The name used in reports of other formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::WithinMargin => "within_margin",
            Self::Undecided => "undecided",
        }
    }

    fn text(self, margin: f64) -> String {
        match self {
            Self::WithinMargin => format!("shown within the margin of {}", percent(margin)),
            Self::Regressed | Self::Undecided => self.as_str().to_owned(),
        }
    }
}

impl RunDecision {
    /// `regressed after 150 trials, 150 fewer than the 300 planned`.
    pub fn headline(&self) -> String {
        let verdict = self.verdict.text(self.margin);
        if self.trials == 0 && self.verdict != DecisionVerdict::Undecided {
            return format!("{verdict} by {}", self.earlier_runs());
        }
        format!("{verdict} after {}, {}", counted(self.trials, "trial"), self.savings())
    }

    /// What the looks saved.
    pub fn savings(&self) -> String {
        let Self { trials, planned, most, .. } = *self;
        let saved = if trials <= planned {
            format!("{} fewer than the {planned} planned", planned - trials)
        } else {
            format!("{} more than the {planned} planned", trials - planned)
        };
        format!("{saved}, at most {most}")
    }

    /// What another run of the agent adds.
    pub fn rerun(&self) -> String {
        if self.fixed {
            return "a rerun starts again: a fixed number of trials cannot be continued".to_owned();
        }
        let (is_baseline, base) = (self.base == DecisionRecord::BASELINE, base_text(&self.base));
        match (self.verdict, self.left) {
            (DecisionVerdict::Undecided, 0) => {
                let next = if is_baseline { "; then accept it" } else { "" };
                format!(
                    "a rerun of this agent adds nothing: no trial of {base} is left to compare with; a base with more trials: \
                     `EVALSUITE_RUN_ALL=1 EVALSUITE_TRIALS=N cargo evalsuite run` of the agent that it has{next}"
                )
            }
            (DecisionVerdict::Undecided, left) => format!(
                "a rerun of this agent continues with {} of {base} that {} left: its evidence is added to this",
                counted(left, "trial"),
                if left == 1 { "is" } else { "are" }
            ),
            _ => "a rerun of this agent adds nothing: it is decided".to_owned(),
        }
    }

    fn earlier_runs(&self) -> String {
        let runs: Vec<String> = self.continues.iter().map(|run| format!("`{run}`")).collect();
        format!("the earlier {} of this agent, {}", if runs.len() == 1 { "run" } else { "runs" }, runs.join(", "))
    }
}

impl fmt::Display for RunDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "until decided: {}", self.headline())?;
        for suite in &self.suites {
            writeln!(f, "  {suite}")?;
        }
        if !self.continues.is_empty() && self.trials > 0 {
            writeln!(f, "  counted with {}", self.earlier_runs())?;
        }
        repeated_text(self.repeated_cases).iter().try_for_each(|text| writeln!(f, "  {text}"))?;
        writeln!(f, "  {}", self.rerun())
    }
}

impl fmt::Display for SuiteDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @ {}: {}", self.suite, self.target, self.verdict.as_str().replace('_', " the "))?;
        if let Some(difference) = self.difference {
            write!(f, ", difference {difference:+.3}")?;
        }
        write!(f, ", {} of at most {}", counted(self.trials, "trial"), self.most)?;
        if let Some([regressed, within]) = self.e_values {
            write!(f, ", e-values {} (regressed), {} (within)", e_value(regressed), e_value(within))?;
        }
        if self.errors > 0 {
            write!(f, ", {} ended in an error", counted(self.errors, "trial"))?;
        }
        if !self.left_out.is_empty() {
            write!(f, ", {} cannot be compared", counted(self.left_out.len(), "case"))?;
        }
        Ok(())
    }
}

fn e_value(value: f64) -> String {
    if (0.01..1000.0).contains(&value) { format!("{value:.2}") } else { format!("{value:.0e}") }
}

/// `10%`.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
