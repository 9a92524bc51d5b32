//! What of a run becomes the baseline.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::baseline::{Counts, UnchangedSuite, counts, has_risen};
use evalsuite_records::record::{
    AcceptedAnswer, AcceptedAnswers, AddedTrials, Baseline, BaselineCase, BaselineHeader, CaseRecord, GraderRecord,
    Mode, ModelCalls, Status, TrialSummary,
};
use evalsuite_schema::decimal::is_same;

use crate::baseline_as_run::{ran_as_other_target, rounded};
use crate::run_data::{CaseData, RunData, SuiteData, answer_of};

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
    /// Number of cases that the test runner repeated: of each, the first attempt with a result is accepted.
    pub repeated_cases: usize,
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
    pub before: Option<Counts>,
    /// Trials that passed and trials that ended, in the run.
    pub run: Option<Counts>,
    /// Trials that passed and trials that ended, in the baseline as it is now.
    pub after: Option<Counts>,
    /// Why a result of the run was not accepted, or what it lacks.
    pub why_kept: Option<String>,
}

/// What accepting a run did to a case of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decision {
    /// It is new.
    Added,
    /// It passes and never did, or it passes more often than chance explains.
    Raised,
    /// It passes less often than chance explains, or it was forced.
    Lowered,
    /// Its input, graders, threshold or strategy of trials are other ones: its result is replaced.
    Redefined,
    /// It has the trials of the run, too, or those that the run has now.
    Updated,
    /// The suite does not have it any more.
    Removed,
    /// The baseline is as it was, although the run differs or has no result.
    Kept,
    /// It has no result, and the baseline has none of it either.
    LeftOut,
    /// The run adds no result: it was accepted before with this one, or it is a replay.
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
            Self::LeftOut => "left out",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Accepted {
    /// Whether the baseline differs from what it was.
    pub fn is_changed(&self) -> bool {
        self.cases.iter().any(|case| !matches!(case.decision, Decision::Kept | Decision::LeftOut | Decision::Unchanged))
    }
}

/// Accepts the results of a suite in a run as its baseline.
///
/// What scores are compared with is what the run measured. What tests hold a case to is all trials of accepted runs since it last changed:
/// one lucky run does not raise it, and a noisy one does not take away what the agent could do. If the run differs from them by more than
/// chance, or if the id of the case is in `forced`, the case has changed, and only the trials of the run count from then on. Cases without
/// a result stay as they are, and cases that the suite does not have any more are removed, unless the run is older than another accepted one.
///
/// The trials of a run count once. If it has more results now, they replace those that it had.
pub fn accept(run: &RunData, suite: &SuiteData, before: Option<&Baseline>, forced: &BTreeSet<String>) -> Accepted {
    let suite = &*suite.measured();
    let old: BTreeMap<(&str, &str), &BaselineCase> =
        before.iter().flat_map(|baseline| &baseline.cases).map(|case| (case.key(), case)).collect();
    let mut ran: BTreeMap<(&str, &str), &CaseData> = BTreeMap::new();
    for case in &suite.cases {
        // Of several tests that run one case, the first one.
        ran.entry((&case.record.case_id, &case.record.target)).or_insert(case);
    }
    let newest = before.map(|before| before.header.date.as_str()).unwrap_or_default();
    let is_older = run.record.as_ref().is_some_and(|record| record.started_at.as_str() < newest);
    let known = KnownRuns { ids: before.map_or(&[][..], |before| &before.header.runs), is_older };
    let unchanged = UnchangedSuite::new(&without_run(before, &ran));
    let keys: BTreeSet<(&str, &str)> = old.keys().chain(ran.keys()).copied().collect();
    let (mut lines, mut cases) = (Vec::new(), Vec::new());
    for key @ (id, target) in keys {
        let (old, case) = (old.get(&key).copied(), ran.get(&key));
        let new = case.and_then(|case| line(case));
        let run = new.as_ref().map(trials);
        let (decision, why_kept, line) = match case {
            Some(case) if is_older && !forced.contains(id) && old.is_some_and(|old| is_other_case(old, case)) => {
                kept(old, format!("another input, graders, threshold or strategy in {OLDER}"))
            }
            Some(case) => decide(old, new, case, forced.contains(id), &unchanged, &known),
            None if is_in_suite(suite, id, target) && ran_as_other_target(suite, key) => {
                kept(old, "ran as another target".to_owned())
            }
            None if is_in_suite(suite, id, target) => kept(old, "not in this run".to_owned()),
            None if is_older => kept(old, format!("not in the suite of {OLDER}")),
            None => (Decision::Removed, None, None),
        };
        let (id, target) = (id.to_owned(), target.to_owned());
        let (before, after) = (old.map(trials), line.as_ref().map(trials));
        cases.push(AcceptedCase { case: id, target, decision, before, run, after, why_kept });
        lines.extend(line);
    }
    let repeated_cases = suite.repeated_cases();
    let mut accepted = Accepted { suite: suite.name.clone(), baseline: Baseline::default(), cases, repeated_cases };
    accepted.baseline.header = match before {
        Some(before) if !accepted.is_changed() => before.header.clone(),
        _ => header(run, suite, &known, newest),
    };
    accepted.baseline.cases = lines;
    accepted
}

fn trials(line: &BaselineCase) -> Counts {
    (line.passed, line.trials)
}

/// The decision about a line, the reason to keep it, and the new line.
type Decided = (Decision, Option<String>, Option<BaselineCase>);

/// The baseline stays as it is for a case, with its line if it has one.
fn kept(old: Option<&BaselineCase>, why: String) -> Decided {
    (if old.is_some() { Decision::Kept } else { Decision::LeftOut }, Some(why), old.cloned())
}

/// Of a run that started before another accepted one: its suite and its cases may be those of that time.
const OLDER: &str = "this run, which is older than the baseline";

/// Whether a line is about the case as it was before its input, graders, threshold or strategy changed, or after.
fn is_other_case(old: &BaselineCase, case: &CaseData) -> bool {
    let record = &case.record;
    !old.is_same_definition(record, record.threshold, record.is_one_observation())
}

fn decide(
    old: Option<&BaselineCase>,
    new: Option<BaselineCase>,
    case: &CaseData,
    is_forced: bool,
    suite: &UnchangedSuite,
    known: &KnownRuns<'_>,
) -> Decided {
    let record = &case.record;
    let Some(mut new) = new else { return kept(old, format!("no result: {}", record.outcome.as_str())) };
    new.added = vec![added(&new.run, trials(&new))];
    let Some(old) = old else { return (Decision::Added, None, Some(new)) };
    if is_other_case(old, case) {
        return (Decision::Redefined, None, Some(new));
    }
    let (held, now) = (trials(old), trials(&new));
    let is_better_than =
        |before: Counts| u64::from(now.0) * u64::from(before.1) > u64::from(before.0) * u64::from(now.1);
    if is_forced {
        let decision = match (held == now, is_better_than(held)) {
            (true, _) => Decision::Updated,
            (false, true) => Decision::Raised,
            (false, false) => Decision::Lowered,
        };
        new.replaced = true;
        return (decision, None, Some(new));
    }
    let is_replayed = case
        .trials
        .iter()
        .any(|trial| trial.record.mode != Mode::Live || trial.record.model_calls == Some(ModelCalls::Replayed));
    if is_replayed && old.outcomes == new.outcomes {
        return (Decision::Unchanged, None, Some(old.clone()));
    }
    let before = match Held::of(old, &new, known) {
        Held::NotYet => Some(held),
        Held::Same => return (Decision::Unchanged, None, Some(old.clone())),
        Held::Earlier => return decide_earlier(old, &new, known, is_replayed),
        Held::Last => old.before,
    };
    let earlier = earlier_runs(old, &new.run);
    new.replaced = earlier.replaced;
    new.added = earlier.added.into_iter().chain(new.added).collect();
    forget_oldest(&mut new.added);
    let Some(before) = before else { return (Decision::Updated, None, Some(new)) };
    new.before = Some(before);
    let is_better = is_better_than(before);
    if is_better && has_risen(before, now) {
        return (Decision::Raised, None, Some(new));
    }
    if !is_better && suite.has_fallen(before, now) {
        return (Decision::Lowered, None, Some(new));
    }
    // A new recording replaces the old one, so its trials are not added.
    if !is_replayed {
        (new.passed, new.trials) = (before.0.saturating_add(now.0), before.1.saturating_add(now.1));
    }
    (if before.0 == 0 && now.0 > 0 { Decision::Raised } else { Decision::Updated }, None, Some(new))
}

/// What a line has of the run whose result of the case is accepted.
enum Held {
    /// Nothing.
    NotYet,
    /// This result.
    Same,
    /// Another result, and none of a run that was accepted later.
    Last,
    /// It may have one. Later runs have been accepted since.
    Earlier,
}

impl Held {
    /// `new`: of the run alone.
    fn of(old: &BaselineCase, new: &BaselineCase, known: &KnownRuns<'_>) -> Self {
        if !old.run.is_empty() && old.run == new.run {
            let more = old.before.map_or(trials(old), |before| minus(trials(old), before).unwrap_or_default());
            // A result that was raised or lowered is that of the run alone.
            let has_counts = match added_by(old, &new.run) {
                Some(added) => added == trials(new),
                None => [more, trials(old)].contains(&trials(new)),
            };
            let is_same =
                has_counts && (&old.outcomes, &old.scores, old.score) == (&new.outcomes, &new.scores, new.score);
            return if is_same { Self::Same } else { Self::Last };
        }
        match (known.place(&new.run), known.place(&old.run)) {
            (None, _) if known.may_be_forgotten(&new.run) => Self::Earlier,
            (None, _) => Self::NotYet,
            (Some(run), Some(last)) if run > last => Self::NotYet,
            _ => Self::Earlier,
        }
    }
}

/// Decides a result of a run after which a later one was accepted: it takes the place of what the run had added. The sample stays that of the
/// later run.
fn decide_earlier(old: &BaselineCase, new: &BaselineCase, known: &KnownRuns<'_>, is_replayed: bool) -> Decided {
    let kept = |why: Option<String>| (Decision::Unchanged, why, Some(old.clone()));
    let unknown = || kept(Some(format!("run `{}` was accepted after this one", old.run)));
    let had = match added_by(old, &new.run) {
        Some(had) if had == trials(new) => return kept(None),
        _ if is_replayed => return unknown(),
        None if !has_added_nothing(old, &new.run, known) => return unknown(),
        had => had.unwrap_or_default(),
    };
    let grown = |counts: Counts| {
        minus(counts, had).map(|(passed, all)| (passed.saturating_add(new.passed), all.saturating_add(new.trials)))
    };
    let now = if is_of_last_run_alone(old) { Some(trials(old)) } else { grown(trials(old)) };
    let (Some(before), Some(now)) = (grown(old.before.unwrap_or_default()), now) else { return unknown() };
    let mut line = old.clone();
    (line.before, line.passed, line.trials) = (Some(before), now.0, now.1);
    line.added.retain(|added| added.run != new.run);
    let is_later = |other: &AddedTrials| known.place(&other.run) > known.place(&new.run);
    let at = line.added.iter().position(is_later).unwrap_or(line.added.len());
    line.added.insert(at, added(&new.run, trials(new)));
    forget_oldest(&mut line.added);
    (if old.passed == 0 && line.passed > 0 { Decision::Raised } else { Decision::Updated }, None, Some(line))
}

/// The last runs that were accepted before.
struct KnownRuns<'a> {
    /// In the order in which they were accepted.
    ids: &'a [String],
    /// Whether the run that is accepted now began before one of them.
    is_older: bool,
}

impl KnownRuns<'_> {
    /// Position of a run among them.
    fn place(&self, run: &str) -> Option<usize> {
        self.ids.iter().position(|id| id == run)
    }

    /// Whether a run that is none of them may have been accepted before them, as far as ids tell, which begin with the time of their run.
    fn may_be_forgotten(&self, run: &str) -> bool {
        self.is_older && self.ids.len() >= BaselineHeader::RUNS && self.ids.iter().all(|id| run < id.as_str())
    }
}

/// Most runs of which a line has what they added.
const MOST_ADDED: usize = 10;

fn added(run: &str, (passed, trials): Counts) -> AddedTrials {
    let mut added = AddedTrials::default();
    (added.run, added.passed, added.trials) = (run.to_owned(), passed, trials);
    added
}

fn forget_oldest(added: &mut Vec<AddedTrials>) {
    added.drain(..added.len().saturating_sub(MOST_ADDED));
}

/// What a run has added to a line, or to what it was before the last run; `None` if the line has nothing of it.
fn added_by(line: &BaselineCase, run: &str) -> Option<Counts> {
    line.added.iter().find(|added| added.run == run).map(|added| (added.passed, added.trials))
}

fn minus((passed, trials): Counts, (fewer_passed, fewer): Counts) -> Option<Counts> {
    Some((passed.checked_sub(fewer_passed)?, trials.checked_sub(fewer)?)).filter(|(passed, trials)| passed <= trials)
}

/// Whether only the trials of the last run count, which differ from the earlier ones: these count again if its result changes.
fn is_of_last_run_alone(line: &BaselineCase) -> bool {
    line.before.is_some() && added_by(line, &line.run) == Some(trials(line))
}

/// The runs that count in a line without those of a run that is accepted now: what they have added, and whether earlier ones were replaced.
struct EarlierRuns {
    added: Vec<AddedTrials>,
    replaced: bool,
}

fn earlier_runs(old: &BaselineCase, run: &str) -> EarlierRuns {
    let last = || added(&old.run, trials(old));
    if old.run == run {
        let others = old.added.iter().filter(|added| added.run != run).cloned();
        return EarlierRuns { added: others.collect(), replaced: old.replaced };
    }
    if is_of_last_run_alone(old) {
        return EarlierRuns { added: vec![last()], replaced: true };
    }
    // In a file of an older version, the first run is known, but not whether it was forced.
    let is_unknown = old.added.is_empty();
    let is_first = is_unknown && !old.run.is_empty() && old.before.is_none();
    let added = if is_first { vec![last()] } else { old.added.clone() };
    EarlierRuns { added, replaced: old.replaced || is_unknown }
}

/// Whether a run without an entry in the line had no result of the case when it was accepted: it was accepted after the first run of the line,
/// or the line has all runs that were ever accepted with a result.
fn has_added_nothing(line: &BaselineCase, run: &str, known: &KnownRuns<'_>) -> bool {
    let (Some(first), Some(place)) = (line.added.first(), known.place(run)) else { return false };
    let all = line.added.iter().fold((0, 0), |(passed, trials): Counts, added| {
        (passed.saturating_add(added.passed), trials.saturating_add(added.trials))
    });
    let expected = match line.before {
        Some(before) if is_of_last_run_alone(line) => (before.0 + line.passed, before.1 + line.trials),
        _ => trials(line),
    };
    Some(place) > known.place(&first.run) || !line.replaced && all == expected
}

/// The lines of a baseline as they were before a run was accepted. `ran`: its cases.
fn without_run(before: Option<&Baseline>, ran: &BTreeMap<(&str, &str), &CaseData>) -> Vec<BaselineCase> {
    let lines = before.iter().flat_map(|before| &before.cases);
    let line = |line: &BaselineCase| {
        let run = ran.get(&line.key()).map(|case| case.record.run_of_result());
        let (passed, trials) = match run.and_then(|run| added_by(line, run)) {
            _ if run == Some(&line.run) => line.before?,
            Some(added) if !is_of_last_run_alone(line) => {
                minus(trials(line), added).filter(|(_, trials)| *trials > 0)?
            }
            _ => trials(line),
        };
        let mut line = line.clone();
        (line.passed, line.trials) = (passed, trials);
        Some(line)
    };
    lines.filter_map(line).collect()
}

/// Whether the suite has the case, selected or not. Without a record of the suite: `true`.
fn is_in_suite(suite: &SuiteData, id: &str, target: &str) -> bool {
    let is_it = |test: &evalsuite_records::record::SuiteTest| {
        test.case_id == id && test.target.as_deref().is_none_or(|name| name == target)
    };
    suite.record.as_ref().is_none_or(|record| record.tests.iter().any(is_it))
}

/// `newest`: when the newest of the runs started that were accepted before.
fn header(run: &RunData, suite: &SuiteData, known: &KnownRuns<'_>, newest: &str) -> BaselineHeader {
    let mut header = BaselineHeader::default();
    header.runs = known.ids.to_vec();
    let results = suite.cases.iter().map(|case| &case.record).filter(|record| record.completed > 0);
    let mut runs: Vec<&str> =
        results.map(|record| record.run_of_result()).collect::<BTreeSet<_>>().into_iter().collect();
    // The directory of a run may have another name.
    runs.push(&run.run_id);
    runs.into_iter().filter(|run| !known.may_be_forgotten(run)).for_each(|run| header.add_run(run));
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
        newest.max(record.started_at.as_str()).clone_into(&mut header.date);
    }
    header.version = env!("CARGO_PKG_VERSION").to_owned();
    header
}

/// The line of a case; `None` if it has no result: it ended in an error, or no trial passed or failed.
fn line(case: &CaseData) -> Option<BaselineCase> {
    let record = &*case.record.with_independent_trials();
    if record.completed == 0 || record.outcome == Status::Error {
        return None;
    }
    let completed = record.trials.iter().filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed));
    let scores: Vec<f64> = completed.filter_map(|trial| trial.score).collect();
    let mut line = BaselineCase::default();
    line.case.clone_from(&record.case_id);
    line.target.clone_from(&record.target);
    record.run_of_result().clone_into(&mut line.run);
    (line.passed, line.trials) = counts(record);
    line.score = (!scores.is_empty()).then(|| rounded(evalsuite_statistics::mean(&scores)));
    line.spread = evalsuite_statistics::standard_deviation(&scores).map(rounded);
    line.outcomes = completed_outcomes(record);
    line.counts_runs = record.is_one_observation();
    line.stops_early = record.ends_early();
    let scores: Vec<f64> = scores.into_iter().map(rounded).collect();
    if scores.windows(2).any(|pair| !is_same(pair[0], pair[1])) {
        line.scores = scores;
    }
    line.input.clone_from(&record.input_digest);
    line.graders.clone_from(&record.grader_digest);
    line.threshold = Some(record.threshold);
    let mut judges = BTreeSet::new();
    case.trials.iter().flat_map(|trial| trial.record.all_graders()).for_each(|grader| add_judges(grader, &mut judges));
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

fn add_judges(grader: &GraderRecord, judges: &mut BTreeSet<String>) {
    if let Some(judge) = &grader.judge {
        let model = judge.model.as_ref().map(|model| format!(" ({model})"));
        judges.insert(format!("{}{}", judge.name, model.unwrap_or_default()));
    }
    grader.members.iter().for_each(|member| add_judges(member, judges));
}

/// The accepted answers of a suite after [`accept`] accepted its results in a run.
///
/// A case that is new, or has changed, takes the answer of its first trial that passed and whose record has all of an answer; without such a
/// trial, it has no accepted answer any more. Every other case keeps its answer, or takes one if it has none.
pub fn accept_answers(suite: &SuiteData, accepted: &Accepted, before: Option<&AcceptedAnswers>) -> AcceptedAnswers {
    let suite = &*suite.measured();
    let mut answers = AcceptedAnswers::new(&suite.id.name);
    for case in &accepted.cases {
        let (id, target) = (case.case.as_str(), case.target.as_str());
        let old = || before.and_then(|before| before.find(id, target)).cloned();
        answers.answers.extend(match case.decision {
            Decision::Removed => None,
            Decision::Kept | Decision::LeftOut => old(),
            Decision::Unchanged | Decision::Updated => match (old(), passed_answer(suite, id, target)) {
                // After a merge, the answer may be to another input than the line of the baseline.
                (Some(old), Some(new)) if old.input != new.input => Some(new),
                (old, new) => old.or(new),
            },
            _ => passed_answer(suite, id, target),
        });
    }
    answers
}

/// The answer of the first trial that passed and whose record has all of one: the beginning of an answer is another answer.
fn passed_answer(suite: &SuiteData, id: &str, target: &str) -> Option<AcceptedAnswer> {
    let case = suite.cases.iter().find(|case| case.record.case_id == id && case.record.target == target)?;
    let passed = case.trials.iter().map(|trial| &trial.record).filter(|trial| trial.outcome == Status::Passed);
    let mut answer = AcceptedAnswer::default();
    answer.case = id.to_owned();
    answer.target = target.to_owned();
    answer.input.clone_from(&case.record.input_digest);
    answer.answer = passed.filter(|trial| !trial.answer_truncated).filter_map(answer_of).next()?;
    Some(answer)
}
