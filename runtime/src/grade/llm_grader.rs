//! The graders `llm-grader` and `rubrics`: a judge gives a score, or checks the answer criterion by criterion. Several judges vote, and the
//! majority is recorded.

use std::slice;

use evalsuite_records::record::{Assertion, GraderKind, GraderRecord, Verdict};
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::grader::{Criterion, JudgeSettings, LlmGrader, PreparedCommand, Prompt, Rubrics};
use evalsuite_schema::json::Object;
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Grader, GraderConfig, Location, Value};

use crate::grade::grader_command;
use crate::grade::grader_command::with_input;
use crate::grade::grader_record::GraderResult;
use crate::grade::grading_context::GradingContext;
use crate::grade::reported_work::tool_calls;
use crate::grade::scoring::weighted_mean;
use crate::grade::user_grader::{Graded, GraderCall};
use crate::judge::contradiction::{ReplyDefect, SATISFIED};
use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_call::{Majority, majority, representative};
use crate::judge::judge_choice::{CONFIRM, ChosenJudge, JudgeChoice};
use crate::judge::prompt_texts::ReplyShape;
use crate::judge::reply_reader::{self, Check, Judgement};
use crate::judge::user_prompt::{PromptVariables, ShownAnswer, shown_answer, user_prompt};
use crate::model::judge::JudgeRequest;
use crate::model::score::Score;

/// The grader of a case that lists none.
pub(crate) fn implicit(location: Location) -> Grader {
    Grader::new("llm-grader", location, GraderConfig::LlmGrader(LlmGrader::default()))
}

pub(crate) fn grade(config: &LlmGrader, call: &GraderCall<'_>) -> Result<GraderRecord, String> {
    grade_answer(config.prompt.as_ref(), &config.rubrics, &config.judge, call)
}

pub(crate) fn grade_rubrics(config: &Rubrics, call: &GraderCall<'_>) -> Result<GraderRecord, String> {
    grade_answer(None, &config.criteria, &config.judge, call)
}

/// The record of a result for which a judge is responsible.
pub(crate) fn record(call: &GraderCall<'_>, result: impl Into<GraderResult>) -> GraderRecord {
    GraderResult { kind: Some(GraderKind::Model), ..result.into() }.into_record(call)
}

/// The answer of the trial as the judges of a grader are shown it.
pub(crate) fn answer(settings: &JudgeSettings, context: &GradingContext<'_>) -> Result<ShownAnswer, String> {
    // The first one that takes the file applies: the grader's own come before the suite's.
    let own = settings.preprocessors.as_deref().unwrap_or_default();
    let preprocessors = [own, context.preprocessors].concat();
    shown_answer(&preprocessors, context.evidence, |preprocessor, name, input| {
        let command = PreparedCommand { command: preprocessor.command.clone(), cwd: None };
        grader_command::output(&command, input, context)
            .map_err(|error| format!("the preprocessor of `{name}` failed: {error}"))
    })
}

/// Asks the judges of a grader about the answer of a trial.
fn grade_answer(
    prompt: Option<&Prompt>,
    criteria: &[Criterion],
    settings: &JudgeSettings,
    call: &GraderCall<'_>,
) -> Result<GraderRecord, String> {
    let GraderCall { path, context, .. } = *call;
    if prompt.is_some_and(shows_tool_calls) {
        // Calls that are not known would look like calls that were not made.
        tool_calls(context.evidence).map_err(|why| format!("the prompt contains `tool_calls`, but {why}"))?;
    }
    let ShownAnswer { text, images } = answer(settings, context)?;
    let variables = PromptVariables::new(&text, context.evidence, context.places);
    if shows_changes(prompt, &variables)
        && let Some(why) = context.cassette.lost_workspace()
    {
        // Changes that are not known would look like none.
        return Err(why);
    }
    let shape = ReplyShape::of(criteria);
    let user = user_prompt(prompt, (shape, criteria), &variables, |command, config| {
        let run = |input: &Value| grader_command::output(command, input, context);
        with_input(config, path, context, run)
            .map_err(grader_command::unwritable_input)
            .flatten()
            .and_then(|text| if text.is_empty() { Err("the command printed nothing".into()) } else { Ok(text) })
    });
    let user = user.map_err(|error| format!("the command of the prompt failed: {error}"))?;
    context.add_note(variables.note_of_unshown(&user));
    let request = JudgeRequest::new(shape.system(), user).with_response_schema(shape.schema(criteria));
    Ok(ask(call, settings, JudgeRequest { images, ..request }, criteria, |result| result))
}

/// Whether a judge is shown what changed in the workspace: by the built-in prompt, which takes every text without a variable, by a variable of
/// its own, or by a command, which gets everything.
fn shows_changes(prompt: Option<&Prompt>, variables: &PromptVariables) -> bool {
    match prompt {
        Some(Prompt::Text(text) | Prompt::File { text, .. }) => {
            let mut names = Syntax::Template.names(text).filter(|name| variables.value(name).is_some()).peekable();
            names.peek().is_none() || names.any(|name| name == "file_changes")
        }
        Some(Prompt::Command { .. }) | None => true,
    }
}

/// Whether a prompt asks for the calls of tools.
fn shows_tool_calls(prompt: &Prompt) -> bool {
    match prompt {
        Prompt::Text(text) | Prompt::File { text, .. } => Syntax::Template.names(text).any(|name| name == "tool_calls"),
        Prompt::Command { .. } => false,
    }
}

/// Asks judges for a judgement by criteria. `complete` adds to each result what the record of the grader needs.
pub(crate) fn ask(
    call: &GraderCall<'_>,
    settings: &JudgeSettings,
    question: JudgeRequest,
    criteria: &[Criterion],
    complete: impl Fn(GraderResult) -> GraderResult,
) -> GraderRecord {
    let shape = ReplyShape::of(criteria);
    let question = question.with_settings(settings);
    vote(call, settings, slice::from_ref(&question), |inquiry, judge| {
        let read = |reply: &str| judgement_score(reply_reader::read(shape, reply)?, criteria);
        complete(inquiry.answer(judge, &question, read).unwrap_or_else(Into::into))
    })
}

/// Has judges judge until their majority is clear. `questions`, at least one, are what `judgement` asks a judge.
pub(crate) fn vote(
    call: &GraderCall<'_>,
    settings: &JudgeSettings,
    questions: &[JudgeRequest],
    judgement: impl Fn(&GraderInquiry, &ChosenJudge) -> GraderResult,
) -> GraderRecord {
    let GraderCall { path, context, .. } = *call;
    let inquiry = context.inquiry(path);
    let (judges, are_recorded) = match inquiry.judges(settings) {
        Ok(judges) => judges,
        Err(error) => return record(call, Score::error(error.to_string())),
    };
    let asks_all = are_recorded && judges.len() > 1;
    let JudgeChoice { judges: of_suite, options, .. } = context.judges;
    let confirm = settings.confirm.or(options.confirm).or(of_suite.confirm).unwrap_or(CONFIRM);
    inquiry.begin(questions);
    let mut votes: Vec<GraderRecord> = Vec::new();
    let mut total = judges.len();
    while majority(&votes, total) == Majority::Open || asks_all && votes.len() < total {
        let judge = &judges[votes.len() % judges.len()];
        let mut vote = record(call, judgement(&inquiry, judge));
        vote.judge.get_or_insert_default().name.clone_from(&judge.name);
        let is_first_fail = votes.is_empty() && vote.verdict == Some(Verdict::Fail);
        votes.push(vote);
        if judges.len() == 1 && is_first_fail {
            total += confirm as usize;
        }
    }
    let majority = majority(&votes, total);
    let mut record =
        representative(votes, majority).unwrap_or_else(|| record(call, Score::error("no judge gave a judgement")));
    let (judge, _, notes) = inquiry.end();
    record.judge = judge;
    context.notes.borrow_mut().extend(notes);
    record
}

/// Lowest score, of 10, with which the assertion of a criterion passes.
const SHOWN_AS_PASSED: u8 = 7;

/// The result, or why the judgement is not one of all criteria.
fn judgement_score(judgement: Judgement, criteria: &[Criterion]) -> Result<GraderResult, ReplyDefect> {
    match judgement {
        Judgement::Score(score) => Ok(score.into()),
        Judgement::Criteria { checks, reasoning } => by_criteria(criteria, &checks, reasoning),
    }
}

/// The weighted mean of the criteria. A criterion that is not met fails the answer. One that the judge left out has no verdict, so that
/// there is no result.
fn by_criteria(
    criteria: &[Criterion],
    checks: &[Check],
    reasoning: Option<String>,
) -> Result<GraderResult, ReplyDefect> {
    let has_ranges = ReplyShape::of(criteria) == ReplyShape::Ranges;
    let (mut values, mut assertions, mut raw) = (Vec::new(), Vec::new(), Object::new());
    let mut forced_fail = false;
    for criterion in criteria {
        let Some(Check { score, reasoning: evidence, .. }) = worst(checks, &criterion.id) else {
            return Err(unanswered(criteria, checks).into());
        };
        let score = *score;
        let value = f64::from(score) / f64::from(SATISFIED);
        let is_met =
            criterion.min_score.or(criterion.required.then_some(1.0)).is_none_or(|least| at_least(value, least));
        let mut text = format!("[{}] {}", criterion.id, criterion.outcome.as_deref().unwrap_or(&criterion.id));
        if has_ranges {
            let range = criterion.score_ranges.iter().find(|range| (range.low..=range.high).contains(&score));
            text.push_str(&format!(" - Score: {score}/10 ({})", range.map_or("", |range| &range.outcome)));
            raw.insert(criterion.id.clone(), score.into());
        }
        let mut assertion = Assertion::new(text, score >= SHOWN_AS_PASSED && is_met);
        assertion.evidence.clone_from(evidence);
        assertions.push(assertion);
        values.push((criterion.weight, value));
        forced_fail |= !is_met;
    }
    let rationale = reasoning.filter(|text| !text.trim().is_empty());
    let mean = weighted_mean(values.into_iter()).unwrap_or(0.0);
    let mut score = Score { assertions, rationale, ..Score::new(mean) };
    let is_known = |check: &&Check| criteria.iter().any(|criterion| criterion.id == check.id);
    let unknown: Vec<String> = checks.iter().filter(|check| !is_known(check)).map(|check| check.id.clone()).collect();
    if !unknown.is_empty() {
        score = score.with_detail("unknown_ids", unknown);
    }
    if has_ranges {
        score = score.with_detail("raw_scores", Value::Object(raw));
    }
    Ok(GraderResult { forced_fail, ..score.into() })
}

/// The worst answer to a criterion.
fn worst<'c>(checks: &'c [Check], id: &str) -> Option<&'c Check> {
    checks.iter().filter(|check| check.id == id).min_by_key(|check| check.score)
}

/// What is wrong with a reply without these criteria.
fn unanswered(criteria: &[Criterion], checks: &[Check]) -> String {
    let is_left_out = |criterion: &&Criterion| worst(checks, &criterion.id).is_none();
    let ids: Vec<String> = criteria.iter().filter(is_left_out).map(|criterion| format!("`{}`", criterion.id)).collect();
    let kind = if ids.len() == 1 { "the criterion" } else { "the criteria" };
    format!("`checks` has no verdict on {kind} {}", ids.join(", "))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Operator, ScoreRange};
    use evalsuite_schema::json::json;

    use super::*;
    use crate::model::score::ScoreState;

    fn criterion(id: &str, weight: f64, required: bool) -> Criterion {
        let outcome = Some(format!("{id} holds"));
        let operator = Operator::Correctness;
        Criterion { id: id.into(), outcome, operator, weight, required, min_score: None, score_ranges: Vec::new() }
    }

    fn check(id: &str, score: u8) -> Check {
        Check { id: id.into(), score, reasoning: Some("why".into()) }
    }

    fn judged(criteria: &[Criterion], checks: Vec<Check>, reasoning: Option<&str>) -> GraderResult {
        read(criteria, checks, reasoning).unwrap()
    }

    fn read(criteria: &[Criterion], checks: Vec<Check>, reasoning: Option<&str>) -> Result<GraderResult, ReplyDefect> {
        judgement_score(Judgement::Criteria { checks, reasoning: reasoning.map(str::to_owned) }, criteria)
    }

    fn value(graded: &GraderResult) -> f64 {
        match graded.score.state {
            ScoreState::Decided(value) => value,
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_worse_of_two_answers_counts_and_unknown_ids_do_not() {
        let criteria = [criterion("a", 3.0, true), criterion("b", 1.0, false)];
        let checks = vec![check("b", SATISFIED), check("a", SATISFIED), check("b", 0), check("z", SATISFIED)];
        let graded = judged(&criteria, checks, Some(" "));
        assert_eq!((value(&graded), graded.forced_fail, &graded.score.rationale), (0.75, false, &None));
        let evidence: Vec<_> = graded.score.assertions.iter().map(|a| (a.passed, a.evidence.as_deref())).collect();
        assert_eq!(evidence, [(true, Some("why")), (false, Some("why"))]);
        assert_eq!(graded.score.details["unknown_ids"], json!(["z"]));
    }

    #[test]
    fn a_criterion_that_is_left_out_has_no_verdict() {
        let criteria = [criterion("a", 2.0, true), criterion("b", 0.0, false), criterion("c", 1.0, false)];
        let problem = |checks| match read(&criteria, checks, None) {
            Err(ReplyDefect::Unreadable(problem)) => problem.to_string(),
            other => panic!("{other:?}"),
        };
        let without_b = vec![check("a", SATISFIED), check("c", SATISFIED), check("B", SATISFIED)];
        assert_eq!(problem(without_b), "`checks` has no verdict on the criterion `b`");
        assert_eq!(problem(vec![check("c", 0)]), "`checks` has no verdict on the criteria `a`, `b`");
    }

    #[test]
    fn a_range_below_its_minimum_fails_whatever_the_mean() {
        let range = |low, high, outcome: &str| ScoreRange { low, high, outcome: outcome.into() };
        let ranged = |id: &str, weight, min_score| Criterion {
            min_score,
            score_ranges: vec![range(0, 6, "poor"), range(7, 10, "good")],
            ..criterion(id, weight, false)
        };
        let criteria = [ranged("a", 3.0, None), ranged("b", 1.0, Some(0.6)), criterion("c", 1.0, true)];
        let checks = vec![check("a", 7), check("b", 5), check("c", 10)];
        let graded = judged(&criteria, checks, None);
        assert!((value(&graded) - 3.6 / 5.0).abs() < 1e-12 && graded.forced_fail);
        let shown: Vec<_> = graded.score.assertions.iter().map(|a| (a.text.as_str(), a.passed)).collect();
        assert_eq!(
            shown,
            [
                ("[a] a holds - Score: 7/10 (good)", true),
                ("[b] b holds - Score: 5/10 (poor)", false),
                ("[c] c holds - Score: 10/10 ()", true),
            ]
        );
        let met = judged(&criteria, vec![check("a", 0), check("b", 6), check("c", 10)], None);
        assert!(!met.forced_fail);
    }

    #[test]
    fn raw_scores_are_those_of_the_judge() {
        let any = ScoreRange { low: 0, high: 10, outcome: "any".into() };
        let criteria = ["a", "b"].map(|id| Criterion { score_ranges: vec![any.clone()], ..criterion(id, 1.0, false) });
        let graded = judged(&criteria, vec![check("b", 7), check("a", 0)], None);
        assert_eq!(graded.score.details["raw_scores"], json!({"a": 0, "b": 7}));
    }
}
