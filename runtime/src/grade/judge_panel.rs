//! The judges of a grader: the question they are asked, their votes, and the record of the majority.

use std::slice;

use evalsuite_records::record::{GraderKind, GraderRecord, Verdict};
use evalsuite_schema::Value;
use evalsuite_schema::grader::{Criterion, JudgeSettings, PreparedCommand, Prompt};

use crate::grade::code_grader::command_input;
use crate::grade::grader_call::{Graded, GraderCall};
use crate::grade::grader_record::GraderResult;
use crate::grade::grading_context::GradingContext;
use crate::grade::{grader_command, judgement_score};
use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_choice::{ChosenJudge, JudgeChoice};
use crate::judge::judge_options::CONFIRM;
use crate::judge::prompt_variables::PromptVariables;
use crate::judge::reply_reader;
use crate::judge::requested_reply::ReplyShape;
use crate::judge::shown_answer::{ShownAnswer, shown_answer};
use crate::judge::user_prompt::user_prompt;
use crate::judge::votes::{Majority, majority, representative};
use crate::model::judge::JudgeRequest;
use crate::model::score::Score;

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
pub(crate) fn grade_answer(
    prompt: Option<&Prompt>,
    criteria: &[Criterion],
    settings: &JudgeSettings,
    call: &GraderCall<'_>,
) -> Result<GraderRecord, String> {
    let GraderCall { path, context, .. } = *call;
    let ShownAnswer { text, images } = answer(settings, context)?;
    let variables = PromptVariables::new(&text, context.evidence, context.places);
    let shape = ReplyShape::of(criteria);
    let user = user_prompt(prompt, (shape, criteria), &variables, |command, config| {
        let run = |input: &Value| grader_command::output(command, input, context);
        command_input::with_input(config, path, context, run)
            .map_err(grader_command::unwritable_input)
            .flatten()
            .and_then(|text| if text.is_empty() { Err("the command printed nothing".into()) } else { Ok(text) })
    });
    let user = user.map_err(|error| format!("the command of the prompt failed: {error}"))?;
    let request = JudgeRequest::new(shape.system(), user).with_response_schema(shape.schema(criteria));
    Ok(ask(call, settings, JudgeRequest { images, ..request }, criteria, |result| result))
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
        let read = |reply: &str| judgement_score::score(reply_reader::read(shape, reply)?, criteria);
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
