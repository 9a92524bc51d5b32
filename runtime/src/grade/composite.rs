//! The `composite` grader: combines the results of several graders.

use evalsuite_records::record::{Assertion, GraderRecord, GraderState, Verdict};
use evalsuite_schema::grader::{Aggregator, Composite};
use evalsuite_schema::json::{Object, Value, json};

use crate::grade::code_grader::command_output::VerdictRule;
use crate::grade::grader_call::GraderCall;
use crate::grade::grader_command::COMMAND_LIMIT;
use crate::grade::grader_record::grader_record;
use crate::grade::grader_result::GraderResult;
use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::{gate_is_closed, weighted_mean};
use crate::grade::{code_grader, llm_aggregator};
use crate::model::score::Score;
use crate::record::statistics::ratio;

/// Runs the members, and aggregates their results.
pub(crate) fn grade(config: &Composite, call: &GraderCall<'_>) -> GraderRecord {
    let GraderCall { path, context, run, .. } = *call;
    let members: Vec<GraderRecord> =
        config.members.iter().map(|member| run(&format!("{path}/{}", member.name), member, context)).collect();
    aggregate(config, &members, call)
}

/// The result of a composite whose members have these results.
pub(crate) fn aggregate(config: &Composite, members: &[GraderRecord], call: &GraderCall<'_>) -> GraderRecord {
    let GraderCall { path, grader, context, .. } = *call;
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
    let record = |result| grader_record(grader, complete(result), context.layout);
    if let Some(result) = decided_before(members, context) {
        return record(result);
    }
    match &config.aggregator {
        Aggregator::WeightedAverage { weights } => record(weighted_average(weights, members)),
        Aggregator::Threshold { threshold } => record(share(*threshold, members)),
        Aggregator::CodeGrader(command) => {
            let directory = context.grader_directory(path);
            record(code_grader::run(
                command,
                &results(members),
                COMMAND_LIMIT,
                VerdictRule::Decides,
                &directory,
                context,
            ))
        }
        Aggregator::LlmGrader { prompt, model } => {
            let prompt = (prompt.as_ref(), model.as_deref());
            llm_aggregator::grade(path, grader, prompt, &results(members), context, complete)
        }
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

fn decided(members: &[GraderRecord]) -> impl Iterator<Item = &GraderRecord> {
    members.iter().filter(|member| member.state == GraderState::Decided)
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
    let passing = decided(members).filter(|member| member.verdict == Some(Verdict::Pass)).count();
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
