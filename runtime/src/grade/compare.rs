//! The `compare` grader: a judge decides whether the answer is better than another one (an extension,
//! docs/grading-differences.md).

use evalsuite_records::record::{Assertion, GraderRecord};
use evalsuite_schema::grader::{Compare, ComparedWith, ReferenceAnswer};
use evalsuite_schema::json::{Value, json};

use crate::grade::grader_record::GraderResult;
use crate::grade::llm_grader;
use crate::grade::user_grader::{Graded, GraderCall};
use crate::judge::preference::{self, ComparedTask, OrderedReply};
use crate::judge::user_prompt::{PromptVariables, ShownAnswer};
use crate::model::score::Score;
use crate::platform::excerpt::trim;

/// Index of the answer among the two that are compared; the other one is the reference.
const ANSWER: usize = 0;
const NOTHING_ACCEPTED: &str =
    "there is no accepted answer to compare with: `cargo evalsuite accept --answers` writes those of a run";
/// An answer that is no worse passes.
const PASS_MARK: f64 = 0.5;

pub(crate) fn grade(config: &Compare, call: &GraderCall<'_>) -> Result<GraderRecord, String> {
    let context = call.context;
    let answer = llm_grader::answer(&config.judge, context)?;
    let variables = PromptVariables::new(&answer.text, context.evidence, context.places);
    let expected_output = variables.expected_output.as_str();
    let (other, reference) = match (config.against, config.reference.as_ref().map(ReferenceAnswer::text)) {
        (ComparedWith::Baseline, _) => {
            let accepted = context.accepted_answer.map_or(Ok(&None), Result::as_ref);
            let Some(accepted) = accepted.map_err(ToString::to_string)? else {
                return Ok(Score::undecided(NOTHING_ACCEPTED).into_record(call));
            };
            (trim(accepted), expected_output)
        }
        (ComparedWith::Reference, Some(other)) => (trim(other), expected_output),
        (ComparedWith::Reference, None) if expected_output.is_empty() => {
            return Err(
                "there is neither a `reference` in the grader nor a reference in the case to compare with".into()
            );
        }
        (ComparedWith::Reference, None) => (expected_output, ""),
    };
    let criteria = config.criteria.as_deref().map_or(variables.criteria.as_str(), trim);
    let task = ComparedTask { criteria, question: &variables.question, reference };
    let other = ShownAnswer { text: other.to_owned(), images: Vec::new() };
    context.add_note(variables.note_of_unshown(&variables.question));
    let questions = preference::questions(task, &[answer, other], &config.judge);
    Ok(llm_grader::vote(call, &config.judge, &questions, |inquiry, judge| {
        match preference::ask(inquiry, judge, &questions) {
            Ok(Ok(replies)) => result(&replies, config.against),
            Ok(Err(reason)) => Score::undecided(reason).into(),
            Err(failure) => failure.into(),
        }
    }))
}

/// 1 for an answer that is better in both orders, 0 for one that is worse, else 0.5.
fn result(replies: &[OrderedReply; 2], against: ComparedWith) -> GraderResult {
    let other = match against {
        ComparedWith::Reference => "reference",
        ComparedWith::Baseline => "accepted answer",
    };
    let is_consistent = preference::is_consistent(replies);
    let better = preference::better(replies);
    let value = match better {
        Some(ANSWER) => 1.0,
        Some(_) => 0.0,
        None => PASS_MARK,
    };
    let rationale = match better {
        _ if !is_consistent => "a tie: the judge replies differently when the answers change places".to_owned(),
        None => format!("as good as the {other}"),
        better => format!("the {} is better", named(better, other)),
    };
    let order = |(first, reply): (usize, &OrderedReply)| -> Value {
        json!({"first": named(Some(first), other), "better": named(reply.better, other), "reasoning": reply.reasoning})
    };
    let assertion = |(first, reply): (usize, &OrderedReply)| {
        let verdict = match reply.better {
            None => "neither is better".to_owned(),
            better => format!("the {} is better", named(better, other)),
        };
        let text = format!("the {} shown first: {verdict}", named(Some(first), other));
        let is_met = reply.better.is_none_or(|better| better == ANSWER);
        Assertion::new(text, is_met).with_evidence(reply.reasoning.clone().unwrap_or_default())
    };
    let orders: Vec<Value> = replies.iter().enumerate().map(order).collect();
    let score = Score { assertions: replies.iter().enumerate().map(assertion).collect(), ..Score::new(value) };
    let score = score.with_rationale(rationale).with_detail("orders", orders).with_detail("consistent", is_consistent);
    GraderResult { pass_mark: Some(PASS_MARK), ..score.into() }
}

/// The name of one of the two answers in results.
fn named(answer: Option<usize>, other: &'static str) -> &'static str {
    match answer {
        Some(ANSWER) => "answer",
        Some(_) => other,
        None => "tie",
    }
}
