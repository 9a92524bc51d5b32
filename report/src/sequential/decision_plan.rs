//! The plan of a run that ends as soon as it is decided, made from its base before the first trial.

use std::collections::BTreeMap;

use evalsuite_records::record::{CaseRecord, DecisionCase, DecisionRecord, DecisionSuite, Status};
use evalsuite_statistics::mean;

use super::decision::{RunDecision, SuiteDecision, units};
use super::looks::{MOST, REGRESSED, batches};
use crate::run_data::{RunData, identity};

/// Trials of a case that may run, as a multiple of the planned ones.
const MOST_OF_PLAN: u32 = 2;
/// Share of the cases that have all trials of the base which are compared; the others are left out.
const COMPLETE: f64 = 0.9;
/// By how much bets that have to find their size, and looks only now and then, take longer than the fastest ones.
const OVERHEAD: f64 = 1.3;

/// A case that was chosen to run.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ChosenCase {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// Id of the case.
    pub case_id: String,
    /// Trials that the files plan.
    pub planned: u32,
    /// The cases with the same text belong together.
    pub cluster: Option<String>,
}

impl ChosenCase {
    /// A case by itself.
    pub fn new(suite: impl Into<String>, target: impl Into<String>, case_id: impl Into<String>, planned: u32) -> Self {
        Self { suite: suite.into(), target: target.into(), case_id: case_id.into(), planned, cluster: None }
    }

    /// Sets what it has in common with the cases that belong to it.
    #[must_use]
    pub fn with_cluster(mut self, cluster: Option<String>) -> Self {
        self.cluster = cluster;
        self
    }
}

/// How a run is decided.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DecisionOptions {
    /// How much worse the run may be, above 0, at most 1.
    pub margin: f64,
    /// Key of the cases' metadata whose values say which cases belong together.
    pub cluster_by: Option<String>,
    /// The number of trials of each case, if it is fixed.
    pub trials: Option<u32>,
    /// SHA-256 of the digest of the agent.
    pub agent: String,
}

impl DecisionOptions {
    /// Bets with this margin, every case by itself.
    pub fn new(margin: f64) -> Self {
        Self { margin, ..Self::default() }
    }
}

/// The plan of a run of these cases that is compared with a base. `earlier`: the plan of the newest earlier run of this agent that was compared
/// with the same base, and what it decided: its evidence counts, and the trials of the base that it used are not used again.
pub fn plan_decision(
    base: &RunData,
    base_name: &str,
    chosen: &[ChosenCase],
    options: &DecisionOptions,
    earlier: Option<(&DecisionRecord, &RunDecision)>,
) -> DecisionRecord {
    let base = &*base.measured();
    let mut plan = DecisionRecord::new();
    plan.base = base_name.to_owned();
    plan.agent.clone_from(&options.agent);
    plan.margin = options.margin;
    plan.cluster_by.clone_from(&options.cluster_by);
    plan.fixed = options.trials.is_some();
    let cases = base.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record);
    // Of several tests that run one case, the first one, as in the run.
    let records: BTreeMap<[&str; 3], &CaseRecord> = cases.rev().map(|record| (identity(record), record)).collect();
    let mut groups: BTreeMap<[&str; 2], Vec<(&ChosenCase, &CaseRecord)>> = BTreeMap::new();
    for case in chosen {
        let Some(record) = records.get(&[case.suite.as_str(), &case.case_id, &case.target]) else { continue };
        if record.completed > 0 {
            groups.entry([&case.suite, &case.target]).or_default().push((case, record));
        }
    }
    let count = groups.len().max(1) as f64;
    for ([name, target], mut cases) in groups {
        cases.sort_by(|(left, _), (right, _)| left.case_id.cmp(&right.case_id));
        cases.dedup_by(|(left, _), (right, _)| left.case_id == right.case_id);
        let mut suite = DecisionSuite::default();
        (suite.suite, suite.target) = (name.to_owned(), target.to_owned());
        suite.level = REGRESSED / count;
        suite.planned = cases.iter().map(|(case, _)| case.planned).max().unwrap_or(1).max(1);
        let most = options.trials.unwrap_or(suite.planned.saturating_mul(MOST_OF_PLAN));
        // A case that is only in early rounds would be missing in the mean of later ones.
        let least = most.min(complete_rounds(&cases));
        cases.retain(|(_, record)| base_scores(record).count() >= least as usize);
        let before = earlier.and_then(|earlier| evidence_of(earlier, [name, target], &cases));
        suite.used = before.map_or(0, |suite| suite.used);
        suite.before = before.and_then(|suite| suite.log_e_values).unwrap_or_default();
        suite.cases = cases.iter().map(|(case, record)| decision_case(case, record, suite.used)).collect();
        let pairs = suite.cases.iter().map(|case| case.base.len()).min().unwrap_or_default();
        suite.rounds = most.min(u32::try_from(pairs).unwrap_or(u32::MAX));
        let units = units(&suite.cases).len();
        let planned = if plan.fixed { suite.rounds } else { suite.planned } as usize * suite.cases.len();
        suite.batches = u32::try_from(batches(suite.cases.len(), units, planned)).unwrap_or(1);
        plan.suites.push(suite);
    }
    if let Some((earlier, decision)) = earlier.filter(|_| plan.suites.iter().any(|suite| suite.used > 0)) {
        plan.continues = earlier.continues.iter().chain([&decision.run]).cloned().collect();
    }
    plan
}

/// What an earlier run decided about a suite and target, if it had the same cases, with the same trials of the base.
fn evidence_of<'a>(
    (plan, decision): (&DecisionRecord, &'a RunDecision),
    [name, target]: [&str; 2],
    cases: &[(&ChosenCase, &CaseRecord)],
) -> Option<&'a SuiteDecision> {
    let planned = plan.suites.iter().find(|suite| suite.suite == name && suite.target == target)?;
    let same = cases.iter().map(|(case, record)| decision_case(case, record, planned.used));
    let is_same = planned.cases.iter().cloned().eq(same);
    decision.suites.iter().find(|suite| suite.suite == name && suite.target == target).filter(|_| is_same)
}

fn decision_case(chosen: &ChosenCase, record: &CaseRecord, used: u32) -> DecisionCase {
    let mut case = DecisionCase::default();
    case.case_id.clone_from(&chosen.case_id);
    case.input.clone_from(&record.input_digest);
    case.graders.clone_from(&record.grader_digest);
    case.cluster.clone_from(&chosen.cluster);
    case.base = base_scores(record).skip(used as usize).collect();
    case
}

/// The scores of the trials of a case in the base that can be compared.
fn base_scores(record: &CaseRecord) -> impl Iterator<Item = f64> {
    // Where trials end early, whether there is a second one depends on the first.
    let trials = &record.trials[..record.sampled_trials()];
    let completed = trials.iter().filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed));
    completed.filter_map(|trial| trial.score)
}

/// The largest number of trials that enough of the cases have in the base.
fn complete_rounds(cases: &[(&ChosenCase, &CaseRecord)]) -> u32 {
    let enough = (cases.len() as f64 * COMPLETE).ceil() as usize;
    let mut counts: Vec<usize> = cases.iter().map(|(_, record)| base_scores(record).count()).collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    counts.get(enough.saturating_sub(1)).map_or(0, |count| u32::try_from(*count).unwrap_or(u32::MAX))
}

/// About how many trials it takes to decide a suite, as far as its base shows how much its outcomes vary.
pub fn usual_trials(suite: &DecisionSuite, margin: f64) -> usize {
    let units = units(&suite.cases);
    let of_round = |unit: &[&DecisionCase], round: usize| -> Vec<f64> {
        unit.iter().filter_map(|case| case.base.get(round).copied()).collect()
    };
    let all: Vec<f64> = suite.cases.iter().flat_map(|case| &case.base).copied().collect();
    let unknown = mean(&all) * (1.0 - mean(&all));
    let variance = |unit: &[&DecisionCase]| {
        let rounds = unit.iter().map(|case| case.base.len()).max().unwrap_or_default();
        let means: Vec<f64> = (0..rounds).map(|round| mean(&of_round(unit, round))).collect();
        let center = mean(&means);
        let squares: f64 = means.iter().map(|mean| (mean - center).powi(2)).sum();
        if rounds > 1 { squares / (rounds - 1) as f64 } else { unknown }
    };
    let variances: Vec<f64> = units.iter().map(|unit| variance(unit)).collect();
    let second = 2.0 * mean(&variances) + margin * margin;
    let evidence = -suite.level.ln();
    // Where nothing varies, bets are as large as they may be.
    let fewest = evidence / (MOST * margin / (1.0 - margin).max(f64::MIN_POSITIVE)).ln_1p();
    let needed = (OVERHEAD * 2.0 * evidence * second / (margin * margin)).max(fewest);
    (needed * suite.cases.len() as f64 / units.len().max(1) as f64).ceil() as usize
}
