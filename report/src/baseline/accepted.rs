//! What of a run becomes the baseline.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::{
    AcceptedAnswer, AcceptedAnswers, Baseline, BaselineCase, BaselineHeader, CaseRecord, GraderRecord, PassState,
    Status, TrialSummary,
};
use evalsuite_schema::decimal::is_same;

use crate::run_data::{CaseData, RunData, SuiteData, answer_of, count_outcomes};

/// Fewest trials, all failed, that lower the baseline of a case.
const FEWEST_FAILED: u32 = 2;

/// The baseline of a suite after a run was accepted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Accepted {
    /// What the suite is called.
    pub suite: String,
    /// The baseline, whose header is unchanged if no case changed.
    pub baseline: Baseline,
    /// What happened to each case that is in the run or was in the baseline, sorted by case and target.
    pub cases: Vec<AcceptedCase>,
}

/// A case of which a run was accepted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AcceptedCase {
    /// Id of the case.
    pub case: String,
    /// Name of the target.
    pub target: String,
    /// What happened to it.
    pub decision: Decision,
    /// Trials that passed and trials that ended, in the baseline as it was.
    pub before: Option<(u32, u32)>,
    /// Trials that passed and trials that ended, in the run.
    pub run: Option<(u32, u32)>,
    /// Why the result of the run was not accepted.
    pub why_kept: Option<String>,
}

/// What accepting a run did to a case of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decision {
    /// It is new.
    Added,
    /// It passes more often: it failed or was flaky.
    Raised,
    /// It passes less often: two or more trials all failed, or it was forced.
    Lowered,
    /// Its input or graders are other ones: its result is replaced.
    Redefined,
    /// It passes, fails or is flaky as before, and has the numbers of the run now.
    Updated,
    /// The suite does not have it any more.
    Removed,
    /// The baseline is as it was, although the run differs or has no result.
    Kept,
    /// The run has the same result.
    Unchanged,
}

impl Decision {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Raised => "raised",
            Self::Lowered => "lowered",
            Self::Redefined => "redefined",
            Self::Updated => "updated",
            Self::Removed => "removed",
            Self::Kept => "kept",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Accepted {
    /// Whether the baseline differs from what it was.
    pub fn is_changed(&self) -> bool {
        self.cases.iter().any(|case| !matches!(case.decision, Decision::Kept | Decision::Unchanged))
    }
}

/// Accepts the results of a suite in a run as its baseline.
///
/// A case is raised by at least as many trials as the baseline has, with those that repeated it: one lucky trial does not end what three
/// others showed. It is lowered only if two or more trials all failed, or if its id is in `forced`: one noisy run does not take away what
/// the agent could do. Cases without a result stay as they are, and cases that the suite does not have any more are removed.
pub fn accept(run: &RunData, suite: &SuiteData, before: Option<&Baseline>, forced: &BTreeSet<String>) -> Accepted {
    let old: BTreeMap<(&str, &str), &BaselineCase> =
        before.iter().flat_map(|baseline| &baseline.cases).map(|case| (case.key(), case)).collect();
    let mut ran: BTreeMap<(&str, &str), &CaseData> = BTreeMap::new();
    for case in &suite.cases {
        // Of several tests that run one case, the first one.
        ran.entry((&case.record.case_id, &case.record.target)).or_insert(case);
    }
    let keys: BTreeSet<(&str, &str)> = old.keys().chain(ran.keys()).copied().collect();
    let (mut lines, mut cases) = (Vec::new(), Vec::new());
    for key @ (id, target) in keys {
        let (old, case) = (old.get(&key).copied(), ran.get(&key));
        let new = case.and_then(|case| line(case));
        let (decision, why_kept) = match case {
            Some(case) => decide(old, new.as_ref(), &case.record, forced.contains(id)),
            None if is_in_suite(suite, id, target) => (Decision::Kept, Some("not in this run".to_owned())),
            None => (Decision::Removed, None),
        };
        let trials = |case: &BaselineCase| (case.passed, case.trials);
        cases.push(AcceptedCase {
            case: id.to_owned(),
            target: target.to_owned(),
            decision,
            before: old.map(trials),
            run: new.as_ref().map(trials),
            why_kept,
        });
        lines.extend(if matches!(decision, Decision::Kept | Decision::Unchanged) { old.cloned() } else { new });
    }
    let mut accepted = Accepted { suite: suite.name.clone(), baseline: Baseline::default(), cases };
    accepted.baseline.header = match before {
        Some(before) if !accepted.is_changed() => before.header.clone(),
        _ => header(run, suite),
    };
    accepted.baseline.cases = lines;
    accepted
}

fn decide(
    old: Option<&BaselineCase>,
    new: Option<&BaselineCase>,
    record: &CaseRecord,
    is_forced: bool,
) -> (Decision, Option<String>) {
    let Some(new) = new else {
        return (Decision::Kept, Some(format!("no result: {}", record.outcome.as_str())));
    };
    let Some(old) = old else { return (Decision::Added, None) };
    if old == new {
        return (Decision::Unchanged, None);
    }
    if !old.is_same_definition(record) {
        return (Decision::Redefined, None);
    }
    let kept = |why: String| (Decision::Kept, Some(why));
    let is_as_much = new.trials >= old.trials || is_forced;
    match (old.state(), new.state()) {
        (before, now) if now > before && !is_as_much => {
            let state = if before == PassState::Fails { "no trial passed" } else { "flaky" };
            kept(format!("{state}; it takes {} trials to replace {} of {}", old.trials, old.passed, old.trials))
        }
        (before, now) if now > before => (Decision::Raised, None),
        (before, now) if now == before && is_as_much => (Decision::Updated, None),
        (before, now) if now == before => (Decision::Unchanged, None),
        (_, PassState::Fails) if new.trials >= FEWEST_FAILED => (Decision::Lowered, None),
        _ if is_forced => (Decision::Lowered, None),
        (_, PassState::Fails) => kept(format!("one failed trial does not lower it; {FEWEST_FAILED} do, or --force")),
        _ => kept("flaky in this run, which does not lower it; --force does".to_owned()),
    }
}

/// Whether the suite has the case, selected or not. Without a record of the suite: `true`.
fn is_in_suite(suite: &SuiteData, id: &str, target: &str) -> bool {
    let is_it = |test: &evalsuite_records::record::SuiteTest| {
        test.case_id == id && test.target.as_deref().is_none_or(|name| name == target)
    };
    suite.record.as_ref().is_none_or(|record| record.tests.iter().any(is_it))
}

fn header(run: &RunData, suite: &SuiteData) -> BaselineHeader {
    let mut header = BaselineHeader::default();
    header.schema = BaselineHeader::SCHEMA.to_owned();
    let is_included_again = |other: &SuiteData| {
        other.id.module != suite.id.module && (&other.id.package, &other.id.path) == (&suite.id.package, &suite.id.path)
    };
    header.suite.clone_from(&suite.id.name);
    header.path.clone_from(&suite.id.path);
    if run.suites.iter().any(is_included_again) {
        header.module.clone_from(&suite.id.module);
    }
    if let Some(record) = &run.record {
        header.commit = record.git.as_ref().map(|git| format!("{}{}", git.commit, if git.dirty { "+" } else { "" }));
        header.date = record.started_at.chars().take("2026-11-22".len()).collect();
    }
    header.version = env!("CARGO_PKG_VERSION").to_owned();
    header
}

/// The line of a case; `None` if it has no result: it ended in an error, or no trial passed or failed.
fn line(case: &CaseData) -> Option<BaselineCase> {
    let record = &case.record;
    if record.completed == 0 || record.outcome == Status::Error {
        return None;
    }
    let completed = record.trials.iter().filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed));
    let scores: Vec<f64> = completed.filter_map(|trial| trial.score).collect();
    let mut line = BaselineCase::default();
    line.case.clone_from(&record.case_id);
    line.target.clone_from(&record.target);
    let repeated = count_outcomes(record.confirming.iter().map(|trial| trial.outcome));
    line.passed = record.passed + repeated.passed;
    line.trials = record.completed + repeated.passed + repeated.failed;
    line.score = (!scores.is_empty()).then(|| rounded(crate::statistics::mean(&scores)));
    line.spread = crate::statistics::standard_deviation(&scores).map(rounded);
    line.outcomes = completed_outcomes(record);
    line.stops_early = record.ends_early();
    let scores: Vec<f64> = scores.into_iter().map(rounded).collect();
    if scores.windows(2).any(|pair| !is_same(pair[0], pair[1])) {
        line.scores = scores;
    }
    line.input.clone_from(&record.input_digest);
    line.graders.clone_from(&record.grader_digest);
    let mut judges = BTreeSet::new();
    case.trials.iter().flat_map(|trial| &trial.record.graders).for_each(|grader| add_judges(grader, &mut judges));
    line.judges = judges.into_iter().collect();
    Some(line)
}

/// `PPF`: the planned trials that passed or failed.
fn completed_outcomes(record: &CaseRecord) -> String {
    let letter = |trial: &TrialSummary| match trial.outcome {
        Status::Passed => Some('P'),
        Status::Failed => Some('F'),
        Status::Error | Status::Skipped => None,
    };
    record.trials.iter().filter_map(letter).collect()
}

/// Four places: more would be noise in reviews.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn add_judges(grader: &GraderRecord, judges: &mut BTreeSet<String>) {
    if let Some(judge) = &grader.judge {
        let model = judge.model.as_ref().map(|model| format!(" ({model})"));
        judges.insert(format!("{}{}", judge.name, model.unwrap_or_default()));
    }
    grader.members.iter().for_each(|member| add_judges(member, judges));
}

/// The accepted answers of a suite after [`accept`] accepted its results in a run.
///
/// A case whose line in the baseline is replaced takes the answer of its first trial that passed and has an answer; without such a trial,
/// it has no accepted answer any more. A case whose line is kept keeps its answer. A case with the same result as before keeps its answer,
/// or takes one if it has none.
pub fn accept_answers(suite: &SuiteData, accepted: &Accepted, before: Option<&AcceptedAnswers>) -> AcceptedAnswers {
    let mut answers = AcceptedAnswers::new(&suite.id.name);
    for case in &accepted.cases {
        let (id, target) = (case.case.as_str(), case.target.as_str());
        let old = || before.and_then(|before| before.find(id, target)).cloned();
        answers.answers.extend(match case.decision {
            Decision::Removed => None,
            Decision::Kept => old(),
            Decision::Unchanged => match (old(), passed_answer(suite, id, target)) {
                // After a merge, the answer may be to another input than the line of the baseline.
                (Some(old), Some(new)) if old.input != new.input => Some(new),
                (old, new) => old.or(new),
            },
            _ => passed_answer(suite, id, target),
        });
    }
    answers
}

/// The answer of the first trial that passed and has one.
fn passed_answer(suite: &SuiteData, id: &str, target: &str) -> Option<AcceptedAnswer> {
    let case = suite.cases.iter().find(|case| case.record.case_id == id && case.record.target == target)?;
    let passed = case.trials.iter().map(|trial| &trial.record).filter(|trial| trial.outcome == Status::Passed);
    let mut answer = AcceptedAnswer::default();
    answer.case = id.to_owned();
    answer.target = target.to_owned();
    answer.input.clone_from(&case.record.input_digest);
    answer.answer = passed.filter_map(answer_of).next()?;
    Some(answer)
}
