//! The answers of two runs that judges compare, and what judges said about them.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::{AnswerPair, GraderRecord, PairRecord, Side, Usage};
use evalsuite_schema::decimal::{at_least, at_most};
use evalsuite_statistics::{mean, share_interval, sign_flip_p_value};
use serde::Serialize;

use super::pairing::pair_cases;
use super::{CompareOptions, ComparisonVerdict, FEWEST_PAIRS, MOST_MISSING, SIGNIFICANT, by_suite_and_target};
use crate::formats::input_messages;
use crate::run_data::{RunData, TrialData, TrialFiles, answer_of};

/// The answers of a suite and target in two runs, compared by judges. Each judge was asked about each case twice, with each of the two
/// answers first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgedAnswers {
    /// Names of the judges.
    pub judge: String,
    /// Their model, as reported.
    pub model: Option<String>,
    /// Number of cases in which the answer of the run is better.
    pub wins: usize,
    /// Number of cases in which the answer of the base is better.
    pub losses: usize,
    /// Number of other cases with a judgement.
    pub ties: usize,
    /// Number of ties and other cases about which a judge replied differently to the two orders.
    pub inconsistent: usize,
    /// Number of cases without a judgement.
    pub missing: usize,
    /// Share of wins in the cases with a judgement, where a tie is half a win, 0 to 1; `None` without any.
    pub win_rate: Option<f64>,
    /// 95 % interval of `win_rate` (Wilson); cases of one cluster count as less than one each.
    pub win_interval: Option<(f64, f64)>,
    /// Probability of a win rate at least as far from 0.5 if the answers were equally good, 0 to 1.
    pub p_value: f64,
    /// The same, adjusted for the number of suites and targets that are compared (Holm).
    pub adjusted_p: f64,
    /// Share of the replies that prefer the answer shown first, where a tie is half a reply, 0 to 1: 0.5 is no bias; `None` without replies.
    pub first_rate: Option<f64>,
    /// 95 % interval of `first_rate` (Wilson); the replies about a case count as one.
    pub first_interval: Option<(f64, f64)>,
    /// Number of calls of judges.
    pub calls: u32,
    /// Tokens of judges; `None` where none was reported.
    pub usage: Option<Usage>,
    /// Cost of judges in US dollars; `None` where none was reported.
    pub cost_usd: Option<f64>,
    /// Whether the tokens of some calls are not known, so that `usage` is a lower bound.
    pub is_usage_partial: bool,
    /// Whether the cost of some calls is not known, so that `cost_usd` is a lower bound.
    pub is_cost_partial: bool,
    /// What follows.
    pub verdict: ComparisonVerdict,
    /// The cases, also those without a judgement.
    pub cases: Vec<PairRecord>,
}

impl JudgedAnswers {
    /// Of the cases of one suite and target, at least one, and the clusters they belong to.
    pub(super) fn new(cases: Vec<PairRecord>, clusters: Vec<usize>) -> Self {
        let with_clusters = || cases.iter().zip(&clusters);
        let judged = with_clusters().filter(|(case, _)| case.is_judged());
        let (wins, of_wins): (Vec<f64>, Vec<usize>) =
            judged.map(|(case, cluster)| (share(case.better, Side::Run), *cluster)).unzip();
        let replies = with_clusters().flat_map(|(case, cluster)| case.replies.iter().map(move |it| (it, *cluster)));
        let (firsts, of_firsts): (Vec<f64>, Vec<usize>) =
            replies.map(|(reply, cluster)| (share(reply.better, reply.first), cluster)).unzip();
        let count =
            |better: Option<Side>| cases.iter().filter(|case| case.is_judged() && case.better == better).count();
        let mut balances: BTreeMap<usize, f64> = BTreeMap::new();
        for (share, cluster) in wins.iter().zip(&of_wins) {
            *balances.entry(*cluster).or_default() += 2.0 * share - 1.0;
        }
        let p_value = sign_flip_p_value(&balances.into_values().collect::<Vec<_>>());
        let records = || cases.iter().filter_map(|case| case.judge.as_ref());
        let mut usage: Option<Usage> = None;
        records().filter_map(|record| record.usage).for_each(|used| *usage.get_or_insert_default() += used);
        let cost_usd = sum_of_known(records().filter_map(|record| record.cost_usd));
        Self {
            judge: records().map(|record| record.name.clone()).find(|name| !name.is_empty()).unwrap_or_default(),
            model: records().find_map(|record| record.model.clone()),
            wins: count(Some(Side::Run)),
            losses: count(Some(Side::Base)),
            ties: count(None),
            inconsistent: cases.iter().filter(|case| case.is_judged() && !case.consistent).count(),
            missing: cases.iter().filter(|case| !case.is_judged()).count(),
            win_rate: (!wins.is_empty()).then(|| mean(&wins)),
            win_interval: share_interval(&wins, &of_wins),
            p_value,
            adjusted_p: p_value,
            first_rate: (!firsts.is_empty()).then(|| mean(&firsts)),
            first_interval: share_interval(&firsts, &of_firsts),
            calls: records().map(|record| record.attempts).sum(),
            usage,
            is_usage_partial: usage.is_some() && records().any(|record| !record.is_usage_known()),
            is_cost_partial: cost_usd.is_some() && records().any(|record| !record.is_cost_known()),
            cost_usd,
            verdict: ComparisonVerdict::Undecided,
            cases,
        }
    }

    /// Number of cases with a judgement.
    pub(super) fn count(&self) -> usize {
        self.wins + self.losses + self.ties
    }

    /// Whether a coin would be as consistent as the judge.
    pub(super) fn is_position_bound(&self) -> bool {
        2 * self.inconsistent >= self.count()
    }

    /// Decides by the adjusted p-value.
    pub(super) fn decide(&mut self) {
        let missing = self.missing as f64 / self.cases.len().max(1) as f64;
        let is_significant = self.adjusted_p < SIGNIFICANT;
        self.verdict = match self.win_interval {
            _ if !at_most(missing, MOST_MISSING) || self.count() < FEWEST_PAIRS || self.is_position_bound() => {
                ComparisonVerdict::Undecided
            }
            Some((_, upper)) if !at_least(upper, 0.5) && is_significant => ComparisonVerdict::Regressed,
            Some((lower, _)) if !at_most(lower, 0.5) && is_significant => ComparisonVerdict::Improved,
            _ => ComparisonVerdict::Unchanged,
        };
    }
}

/// 1 if a judge prefers this one, 0 if the other one, and half for a tie.
fn share(better: Option<Side>, this: Side) -> f64 {
    match better {
        None => 0.5,
        Some(better) => f64::from(u8::from(better == this)),
    }
}

/// The answers to the cases of two runs that have the same definition in both, for judges to compare:
/// of each case, the answers of the first trials that have one. They are compared by `criteria`, else by what each case says. The runs
/// are read with their trials ([`RunData::read`]).
pub fn answer_pairs(
    base: &RunData,
    run: &RunData,
    criteria: Option<&str>,
    options: &CompareOptions,
) -> Vec<AnswerPair> {
    let measured = [base, run].map(RunData::measured);
    let [base, run] = measured.each_ref().map(AsRef::as_ref);
    let mut pairs = Vec::new();
    for ((suite, target), cases) in by_suite_and_target([base, run], options) {
        for paired in pair_cases(cases.each_ref().map(Vec::as_slice), &<[BTreeSet<String>; 2]>::default(), false) {
            let Some(same) = paired.same_case() else { continue };
            let has_answer = |trial: &&TrialData| answer_of(&trial.record).is_some();
            let [in_base, in_run] = same.map(|case| case.trials.iter().find(has_answer));
            let [_, now] = same.map(|case| &case.record);
            let mut pair = AnswerPair::new(suite.as_str(), target.as_str(), now.case_id.as_str());
            pair.criteria = criteria.or(now.criteria.as_deref()).unwrap_or_default().to_owned();
            // What was asked is the same in both; a pair without an answer in the run is not judged.
            pair.input = in_run.map(|trial| input(run, trial)).unwrap_or_default();
            pair.answers = [in_base, in_run].map(|trial| trial.and_then(|trial| answer_of(&trial.record)));
            pairs.push(pair);
        }
    }
    pairs
}

/// Names of the judges that the graders of a run asked, if all of them asked the same ones; else none.
pub fn judges_of(run: &RunData) -> Vec<String> {
    let mut names = BTreeSet::new();
    let trials = run.suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.trials);
    let mut graders: Vec<&GraderRecord> = trials.flat_map(|trial| trial.record.all_graders()).collect();
    while let Some(grader) = graders.pop() {
        names.extend(grader.judge.iter().map(|judge| judge.name.as_str()).filter(|name| !name.is_empty()));
        graders.extend(&grader.members);
    }
    match (names.pop_first(), names.is_empty()) {
        // Several judges of one grader are recorded as `a, b`.
        (Some(judges), true) => judges.split(", ").map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// What the agent was asked, as text.
fn input(run: &RunData, trial: &TrialData) -> String {
    // A file that cannot be read leaves the judge without the question.
    let files = TrialFiles::read_without_texts(run, trial, &mut Vec::new());
    let messages = input_messages(&files);
    match messages.as_slice() {
        [(_, only)] => only.clone(),
        messages => {
            let said: Vec<String> = messages.iter().map(|(role, text)| format!("{}: {text}", role.as_str())).collect();
            said.join("\n\n")
        }
    }
}
