//! The `composite` grader: combines the results of several graders.

use evalsuite_records::record::{Assertion, GraderRecord, GraderState, Verdict};
use evalsuite_schema::grader::{Aggregator, Composite, JudgeSettings, Prompt};
use evalsuite_schema::json::{Object, Value, json};
use evalsuite_schema::placeholder::Syntax;

use crate::grade::code_grader::command_output::VerdictRule;
use crate::grade::grader_call::{Graded, GraderCall};
use crate::grade::grader_command::COMMAND_LIMIT;
use crate::grade::grader_record::GraderResult;
use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::{decided, gate_is_closed, weighted_mean, with_verdict};
use crate::grade::{code_grader, judge_panel};
use crate::judge::prompt_texts::AGGREGATE;
use crate::judge::reply_shape::ReplyShape;
use crate::model::judge::{JudgeRequest, fenced};
use crate::model::messages::pretty;
use crate::model::score::Score;
use crate::record::statistics::ratio;

/// Template variable of the members' results.
const RESULTS: &str = "EVALUATOR_RESULTS_JSON";

/// Runs the members, and aggregates their results.
pub(crate) fn grade(config: &Composite, call: &GraderCall<'_>) -> GraderRecord {
    let GraderCall { path, context, run, .. } = *call;
    let members: Vec<GraderRecord> =
        config.members.iter().map(|member| run(&format!("{path}/{}", member.name), member, context)).collect();
    aggregate(config, &members, call)
}

/// The result of a composite whose members have these results.
pub(crate) fn aggregate(config: &Composite, members: &[GraderRecord], call: &GraderCall<'_>) -> GraderRecord {
    let context = call.context;
    let complete = |mut result: GraderResult| {
        for member in members {
            result.score.assertions.extend(member.assertions.iter().map(|assertion| {
                let mut assertion = assertion.clone();
                assertion.text = format!("[{}] {}", member.name, assertion.text);
                assertion
            }));
        }
        result.members = members.to_vec();
        result
    };
    let record = |result| complete(result).into_record(call);
    if let Some(result) = decided_before(members, context) {
        return record(result);
    }
    match &config.aggregator {
        Aggregator::WeightedAverage { weights } => record(weighted_average(weights, members)),
        Aggregator::Threshold { threshold } => record(share(*threshold, members)),
        Aggregator::CodeGrader(command) => {
            record(code_grader::run(call, command, &results(members), COMMAND_LIMIT, VerdictRule::Decides))
        }
        Aggregator::LlmGrader { prompt, model } => match aggregation_prompt(prompt.as_ref(), &results(members)) {
            Ok(user) => {
                let settings = JudgeSettings { model: model.clone(), ..JudgeSettings::default() };
                let shape = ReplyShape::FreeForm;
                let question = JudgeRequest::new(shape.system(), user).with_response_schema(shape.schema(&[]));
                judge_panel::ask(call, &settings, question, &[], complete)
            }
            Err(error) => judge_panel::record(call, Score::error(error)),
        },
    }
}

/// The result that no aggregator changes: a member is an error, no member is decided, or a required member failed.
fn decided_before(members: &[GraderRecord], context: &GradingContext<'_>) -> Option<GraderResult> {
    if let Some(broken) = members.iter().find(|member| member.state == GraderState::Error) {
        let error = broken.error.as_deref().unwrap_or_default();
        return Some(Score::error(format!("member `{}`: {error}", broken.name)).into());
    }
    if decided(members).next().is_none() {
        return Some(Score::undecided("every member is undecided").into());
    }
    let closed = members.iter().find(|member| gate_is_closed(member, context.threshold))?;
    let score = Score::fail(format!("required member `{}` failed", closed.name));
    Some(GraderResult { forced_fail: true, ..score.into() })
}

fn weighted_average(weights: &[(String, f64)], members: &[GraderRecord]) -> GraderResult {
    let weight_of = |member: &GraderRecord| {
        let written = weights.iter().find(|(name, _)| *name == member.name);
        written.map_or(member.weight, |(_, weight)| *weight)
    };
    let values = decided(members).filter_map(|member| Some((weight_of(member), member.value?)));
    Score::new(weighted_mean(values).unwrap_or(0.0)).into()
}

fn share(threshold: f64, members: &[GraderRecord]) -> GraderResult {
    let count = decided(members).count();
    let passing = with_verdict(members, Verdict::Pass).count();
    let value = ratio(passing, count);
    let verdict = Verdict::from_passed(value >= threshold);
    let text = format!("{passing}/{count} evaluators passed (threshold: {threshold})");
    Score::new(value).with_verdict(verdict).with_assertion(Assertion::new(text, verdict.is_pass())).into()
}

/// The results of the members as an aggregator reads them.
fn results(members: &[GraderRecord]) -> Value {
    let results: Object = members
        .iter()
        .map(|member| {
            let result = json!({
                "type": member.grader_type,
                "value": member.value,
                "verdict": member.verdict,
                "weight": member.weight,
                "assertions": member.assertions,
                "rationale": member.rationale,
                "details": member.details,
            });
            (member.name.clone(), result)
        })
        .collect();
    json!({"results": results})
}

/// What a judge is asked that combines the results into one score.
fn aggregation_prompt(prompt: Option<&Prompt>, results: &Value) -> Result<String, &'static str> {
    let mut text = match prompt {
        None => AGGREGATE.to_owned(),
        Some(Prompt::Text(text) | Prompt::File { text, .. }) => text.clone(),
        Some(Prompt::Command { .. }) => return Err("a command cannot write the prompt of an aggregator"),
    };
    if !Syntax::Template.names(&text).any(|name| name == RESULTS) {
        text.push_str("\n\n{{EVALUATOR_RESULTS_JSON}}");
    }
    let results = fenced(&pretty(results));
    Ok(Syntax::Template.fill(&text, |name| (name == RESULTS).then(|| results.as_str().into())))
}
