//! The `composite` grader: several graders in one.

use std::time::Duration;

use evalsuite_schema::{
    Grader,
    grader::{Aggregator, Composite},
    record::{Assertion, GraderRecord, GraderState, Verdict},
};
use serde_json::{Map, Value, json};

use crate::{
    grade::{
        Context, Graded,
        code_grader::{self, VerdictRule},
        grade_as, judge,
        scoring::{gate_is_closed, weighted_mean},
        settle::settle,
    },
    model::score::{Score, ratio},
};

/// Limit of a command that combines the members.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn grade(path: &str, grader: &Grader, config: &Composite, context: &Context<'_>) -> GraderRecord {
    let members: Vec<GraderRecord> =
        config.members.iter().map(|member| grade_as(&format!("{path}/{}", member.name), member, context)).collect();
    let complete = |mut graded: Graded| {
        for member in &members {
            graded.score.assertions.extend(member.assertions.iter().map(|assertion| {
                let mut assertion = assertion.clone();
                assertion.text = format!("[{}] {}", member.name, assertion.text);
                assertion
            }));
        }
        graded.members.clone_from(&members);
        graded
    };
    let settled = |graded| settle(grader, complete(graded), context.layout);
    if let Some(graded) = decided_before(&members, context) {
        return settled(graded);
    }
    match &config.aggregator {
        Aggregator::WeightedAverage { weights } => settled(weighted_average(weights, &members)),
        Aggregator::Threshold { threshold } => settled(share(*threshold, &members)),
        Aggregator::CodeGrader(command) => {
            let directory = context.grader_directory(path);
            let limit = COMMAND_LIMIT;
            settled(code_grader::run(command, &results(&members), limit, VerdictRule::Decides, &directory, context))
        }
        Aggregator::LlmGrader { prompt, model } => {
            let prompt = (prompt.as_ref(), model.as_deref());
            judge::aggregate(path, grader, prompt, &results(&members), context, complete)
        }
    }
}

/// What members come to whatever combines them: one broke, none decided, or a gate is closed.
fn decided_before(members: &[GraderRecord], context: &Context<'_>) -> Option<Graded> {
    if let Some(broken) = members.iter().find(|member| member.state == GraderState::Error) {
        let error = broken.error.as_deref().unwrap_or_default();
        return Some(Score::error(format!("member `{}`: {error}", broken.name)).into());
    }
    if decided(members).next().is_none() {
        return Some(Score::undecided("no member came to a decision").into());
    }
    let closed = members.iter().find(|member| gate_is_closed(member, context.threshold))?;
    let score = Score::fail(format!("required member `{}` failed", closed.name));
    Some(Graded { forced_fail: true, ..score.into() })
}

fn decided(members: &[GraderRecord]) -> impl Iterator<Item = &GraderRecord> {
    members.iter().filter(|member| member.state == GraderState::Decided)
}

fn weighted_average(weights: &[(String, f64)], members: &[GraderRecord]) -> Graded {
    let weight_of = |member: &GraderRecord| {
        let written = weights.iter().find(|(name, _)| *name == member.name);
        written.map_or(member.weight, |(_, weight)| *weight)
    };
    let values = decided(members).filter_map(|member| Some((weight_of(member), member.value?)));
    Score::new(weighted_mean(values).unwrap_or(0.0)).into()
}

fn share(threshold: f64, members: &[GraderRecord]) -> Graded {
    let count = decided(members).count();
    let passing = decided(members).filter(|member| member.verdict == Some(Verdict::Pass)).count();
    let value = ratio(passing, count);
    let verdict = Verdict::from_passed(value >= threshold);
    let text = format!("{passing}/{count} evaluators passed (threshold: {threshold})");
    Score::new(value).with_verdict(verdict).with_assertion(Assertion::new(text, verdict.is_pass())).into()
}

/// What an aggregator reads.
fn results(members: &[GraderRecord]) -> Value {
    let results: Map<String, Value> = members
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
