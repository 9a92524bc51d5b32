//! The `composite` grader: several graders in one.

use std::time::Duration;

use evalsuite_schema::{
    grader::{Aggregator, Composite},
    record::{Assertion, GraderKind, GraderRecord, GraderState, Verdict},
};
use serde_json::{Map, Value, json};

use super::{
    Context, Graded,
    code_grader::{self, VerdictRule},
    grade_as,
};
use crate::{
    Score,
    score::ratio,
    scoring::{gate_is_closed, weighted_mean},
};

/// Limit of a command that combines the members.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

pub(super) fn grade(path: &str, config: &Composite, context: &Context<'_>) -> Graded {
    let members: Vec<GraderRecord> =
        config.members.iter().map(|member| grade_as(&format!("{path}/{}", member.name), member, context)).collect();
    let mut graded = combine(path, config, &members, context);
    for member in &members {
        graded.score.assertions.extend(member.assertions.iter().map(|assertion| {
            let mut assertion = assertion.clone();
            assertion.text = format!("[{}] {}", member.name, assertion.text);
            assertion
        }));
    }
    graded.members = members;
    graded
}

fn combine(path: &str, config: &Composite, members: &[GraderRecord], context: &Context<'_>) -> Graded {
    if let Some(broken) = members.iter().find(|member| member.state == GraderState::Error) {
        let error = broken.error.as_deref().unwrap_or_default();
        return Score::error(format!("member `{}`: {error}", broken.name)).into();
    }
    let decided: Vec<&GraderRecord> = members.iter().filter(|member| member.state == GraderState::Decided).collect();
    if decided.is_empty() {
        return Score::undecided("no member came to a decision").into();
    }
    if let Some(closed) = members.iter().find(|member| gate_is_closed(member, context.threshold)) {
        let score = Score::fail(format!("required member `{}` failed", closed.name));
        return Graded { forced_fail: true, ..score.into() };
    }
    match &config.aggregator {
        Aggregator::WeightedAverage { weights } => {
            let weight_of = |member: &GraderRecord| {
                let written = weights.iter().find(|(name, _)| *name == member.name);
                written.map_or(member.weight, |(_, weight)| *weight)
            };
            let values = decided.iter().filter_map(|member| Some((weight_of(member), member.value?)));
            Score::new(weighted_mean(values).unwrap_or(0.0)).into()
        }
        Aggregator::Threshold { threshold } => {
            let passing = decided.iter().filter(|member| member.verdict == Some(Verdict::Pass)).count();
            let value = ratio(passing, decided.len());
            let verdict = Verdict::from_passed(value >= *threshold);
            let text = format!("{passing}/{} evaluators passed (threshold: {threshold})", decided.len());
            Score::new(value).verdict(verdict).assertion(Assertion::new(text, verdict.is_pass())).into()
        }
        Aggregator::CodeGrader(command) => {
            let directory = context.grader_directory(path);
            let input = json!({"results": results(members)});
            code_grader::run(command, &input, COMMAND_LIMIT, VerdictRule::Decides, &directory, context)
        }
        Aggregator::LlmGrader { .. } => Graded {
            kind: Some(GraderKind::Model),
            ..Score::error("composites with an `llm-grader` as aggregator are not supported yet").into()
        },
    }
}

fn results(members: &[GraderRecord]) -> Map<String, Value> {
    members
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
        .collect()
}
