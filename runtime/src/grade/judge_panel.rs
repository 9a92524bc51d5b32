//! The judges of a grader: the question they are asked, their votes, and the record of the majority.

use std::slice;

use evalsuite_records::record::{GraderKind, GraderRecord, Verdict};
use evalsuite_schema::grader::{Criterion, JudgeSettings, PreparedCommand, Prompt};

use crate::grade::code_grader::command_input;
use crate::grade::grader_call::{Graded, GraderCall};
use crate::grade::grader_command::GraderCommandError;
use crate::grade::grader_record::GraderResult;
use crate::grade::grading_context::GradingContext;
use crate::grade::{grader_command, judgement_score};
use crate::judge::judge_choice::{ChosenJudge, recorded_judges};
use crate::judge::judge_options::CONFIRM;
use crate::judge::judgement;
use crate::judge::prompt_variables::PromptVariables;
use crate::judge::question::{NoQuestion, Question, QuestionCalls};
use crate::judge::reply_shape::ReplyShape;
use crate::judge::shown_answer::{ShownAnswer, shown_answer};
use crate::judge::user_prompt::user_prompt;
use crate::judge::votes::{Majority, majority, representative};
use crate::model::score::Score;

/// Asks the judges of a grader about the answer of a trial.
pub(crate) fn grade_answer(
    prompt: Option<&Prompt>,
    criteria: &[Criterion],
    settings: &JudgeSettings,
    call: &GraderCall<'_>,
) -> GraderRecord {
    match question(call, prompt, criteria, settings) {
        Ok(question) => ask(call, &question, criteria, |result| result),
        Err(error) => record(call, Score::error(error.to_string())),
    }
}

/// The record of a result for which a judge is responsible.
pub(crate) fn record(call: &GraderCall<'_>, result: impl Into<GraderResult>) -> GraderRecord {
    GraderResult { kind: Some(GraderKind::Model), ..result.into() }.into_record(call)
}

/// The answer of the trial as the judges of a grader are shown it.
pub(crate) fn answer(settings: &JudgeSettings, context: &GradingContext<'_>) -> Result<ShownAnswer, NoQuestion> {
    // The first one that takes the file applies: the grader's own come before the suite's.
    let own = settings.preprocessors.as_deref().unwrap_or_default();
    let preprocessors = [own, context.preprocessors].concat();
    shown_answer(&preprocessors, context.evidence, |preprocessor, name, input| {
        let command = PreparedCommand { command: preprocessor.command.clone(), cwd: None };
        grader_command::output(&command, input, context)
            .map_err(|error| format!("the preprocessor of `{name}` failed: {error}").into())
    })
}

fn question<'a>(
    &GraderCall { path, context, .. }: &GraderCall<'_>,
    prompt: Option<&Prompt>,
    criteria: &[Criterion],
    settings: &'a JudgeSettings,
) -> Result<Question<'a>, NoQuestion> {
    let ShownAnswer { text, images } = answer(settings, context)?;
    let variables = PromptVariables::new(&text, context.evidence, context.places);
    let shape = ReplyShape::of(criteria);
    let user = user_prompt(prompt, (shape, criteria), &variables, |command, config| {
        let directory = context.grader_directory(path);
        let written = command_input::build(config, context, &directory)
            .map_err(GraderCommandError::unwritable_input)
            .and_then(|input| grader_command::output(command, &input, context));
        command_input::hide_secrets(context, &directory);
        written.and_then(|text| if text.is_empty() { Err("the command printed nothing".into()) } else { Ok(text) })
    });
    let user = user.map_err(|error| format!("the command of the prompt failed: {error}"))?;
    let (system, response_schema) = (shape.system(), shape.schema(criteria));
    Ok(Question { system, response_schema, user, images, settings })
}

/// Asks judges for a judgement by criteria. `complete` adds to each result what the record of the grader needs.
pub(crate) fn ask(
    call: &GraderCall<'_>,
    question: &Question<'_>,
    criteria: &[Criterion],
    complete: impl Fn(GraderResult) -> GraderResult,
) -> GraderRecord {
    let shape = ReplyShape::of(criteria);
    vote(call, slice::from_ref(question), |calls, judge| {
        complete(match calls.answer(judge, question, |reply| judgement::read(shape, reply)) {
            Ok(judgement) => judgement_score::score(judgement, criteria),
            Err(failure) => failure.into(),
        })
    })
}

/// Has judges judge until their majority is clear. `questions`, at least one, are what `judgement` asks a judge.
pub(crate) fn vote(
    call: &GraderCall<'_>,
    questions: &[Question<'_>],
    judgement: impl Fn(&mut QuestionCalls<'_>, &ChosenJudge) -> GraderResult,
) -> GraderRecord {
    let GraderCall { path, context, .. } = *call;
    let settings = questions[0].settings;
    let asking = context.asking_grader(path);
    let judges = match context.judges.of(settings, &asking) {
        Ok(judges) => judges,
        Err(error) => return record(call, Score::error(error.to_string())),
    };
    let recorded = recorded_judges(&judges, path, &asking.cassette);
    let asks_all = recorded.as_ref().is_some_and(|judges| judges.len() > 1);
    let judges = recorded.unwrap_or(judges);
    let options = &context.judges.options;
    let confirm = settings.confirm.or(options.confirm).or(context.judges.judges.confirm).unwrap_or(CONFIRM);
    let mut calls = QuestionCalls::new(&asking, questions, options);
    let mut votes: Vec<GraderRecord> = Vec::new();
    let mut total = judges.len();
    while majority(&votes, total) == Majority::Open || asks_all && votes.len() < total {
        let judge = &judges[votes.len() % judges.len()];
        let mut vote = record(call, judgement(&mut calls, judge));
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
    let (judge, notes) = calls.into_record();
    record.judge = Some(judge);
    context.notes.borrow_mut().extend(notes);
    record
}
