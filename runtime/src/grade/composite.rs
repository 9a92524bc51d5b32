//! The `composite` grader: combines the results of several graders.

use std::borrow::Cow;

use evalsuite_records::record::{Assertion, GraderRecord, GraderState, Verdict};
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::grader::{Aggregator, Composite, JudgeSettings, Prompt};
use evalsuite_schema::json::{Object, Value, json};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Grader, Sealing};

use crate::grade::code_grader::result_object::VerdictRule;
use crate::grade::grader_command::COMMAND_LIMIT;
use crate::grade::grader_record::GraderResult;
use crate::grade::scoring::{CountedScore, decided, is_broken_guard, mean_passes, weighted_mean};
use crate::grade::user_grader::{Graded, GraderCall};
use crate::grade::{code_grader, grade_at, llm_grader};
use crate::judge::prompt_texts::{AGGREGATE, ReplyShape};
use crate::model::judge::{JudgeRequest, fenced};
use crate::model::messages::pretty;
use crate::model::score::Score;
use crate::record::trial_statistics::ratio;

/// Template variable of the members' results.
const RESULTS: &str = "EVALUATOR_RESULTS_JSON";
/// Why there is no mean and no share.
const NO_WEIGHT: &str = "no member with a weight decides";

/// Runs the members, and aggregates their results.
pub(crate) fn grade(config: &Composite, call: &GraderCall<'_>) -> GraderRecord {
    let GraderCall { path, context, .. } = *call;
    let members = config.members.iter();
    let members =
        members.map(|member| grade_at(&format!("{path}/{}", member.name), &counted_member(config, member), context));
    aggregate(config, &members.collect::<Vec<_>>(), call)
}

/// The member with the weight that the composite gives it: a limit with a weight is a guard, whatever the member's own weight.
pub(crate) fn counted_member<'m>(config: &Composite, member: &'m Grader) -> Cow<'m, Grader> {
    let Aggregator::WeightedAverage { weights } = &config.aggregator else { return Cow::Borrowed(member) };
    let mut counted = Cow::Borrowed(member);
    let weight = weight_of(weights, &member.name, member.weight);
    if weight.total_cmp(&member.weight).is_ne() {
        counted.to_mut().weight = weight;
    }
    counted
}

/// The result of a composite whose members have these results.
pub(super) fn aggregate(config: &Composite, members: &[GraderRecord], call: &GraderCall<'_>) -> GraderRecord {
    let complete = |mut result: GraderResult| {
        for member in members {
            result.score.assertions.extend(member.assertions.iter().map(|assertion| {
                let mut assertion = assertion.clone();
                assertion.text = format!("[{}] {}", member.name, assertion.text);
                assertion
            }));
        }
        // A member that failed for all of them is enough, whatever another one could not read.
        result.has_blind_member |= !result.broken_guard && members.iter().any(|member| member.lacks_evidence);
        result.members = members.to_vec();
        result
    };
    let record = |result| complete(result).into_record(call);
    if let Some(result) = decided_before(&config.aggregator, members) {
        return record(result);
    }
    match &config.aggregator {
        Aggregator::WeightedAverage { weights } => {
            let counts = (call.context.threshold, call.grader.min_score.is_none());
            record(weighted_average(weights, members, counts).into())
        }
        Aggregator::Threshold { threshold } => record(share(*threshold, members)),
        Aggregator::CodeGrader { run, result } => {
            let command = (run, &Sealing::default());
            record(code_grader::run(call, command, &results(members), COMMAND_LIMIT, (*result, VerdictRule::Decides)))
        }
        Aggregator::LlmGrader { prompt, model } => match aggregation_prompt(prompt.as_ref(), &results(members)) {
            Ok(user) => {
                let settings = JudgeSettings { model: model.clone(), ..JudgeSettings::default() };
                let shape = ReplyShape::FreeForm;
                let question = JudgeRequest::new(shape.system(), user).with_response_schema(shape.schema(&[]));
                llm_grader::ask(call, &settings, question, &[], complete)
            }
            Err(error) => llm_grader::record(call, Score::error(error)),
        },
    }
}

/// The result that no aggregator changes: a member is an error, a required one is undecided, a member failed that no other one makes up for,
/// or no member is decided.
fn decided_before(aggregator: &Aggregator, members: &[GraderRecord]) -> Option<GraderResult> {
    if let Some(broken) = members.iter().find(|member| member.state == GraderState::Error) {
        let error = broken.error.as_deref().unwrap_or_default();
        return Some(Score::error(format!("member `{}`: {error}", broken.name)).into());
    }
    if let Some(open) = members.iter().find(|member| member.required && member.state == GraderState::Undecided) {
        let why = open.rationale.as_deref().unwrap_or_default();
        return Some(Score::error(format!("required member `{}` is undecided: {why}", open.name)).into());
    }
    // Any other aggregator than the mean decides itself what a failed member counts for, unless that is required.
    let is_averaged = |member: &GraderRecord| match aggregator {
        Aggregator::WeightedAverage { weights } => weight_of(weights, &member.name, member.weight) > 0.0,
        _ => false,
    };
    let breaks = |member: &&GraderRecord| is_broken_guard(member) && (member.required || is_averaged(member));
    let sees = |member: &&GraderRecord| breaks(member) && !member.lacks_evidence;
    let Some(broken) = members.iter().find(sees).or_else(|| members.iter().find(breaks)) else {
        let is_undecided = decided(members).next().is_none();
        return is_undecided.then(|| Score::undecided("every member is undecided").into());
    };
    let required = if broken.required { "required " } else { "" };
    let score = Score::fail(format!("{required}member `{}` failed", broken.name));
    let has_blind_member = broken.lacks_evidence;
    Some(GraderResult { forced_fail: true, broken_guard: true, has_blind_member, ..score.into() })
}

fn weighted_average(
    weights: &[(String, f64)],
    members: &[GraderRecord],
    (threshold, is_counted): (f64, bool),
) -> Score {
    let scores: Vec<CountedScore> = decided(members)
        .filter_map(|member| {
            let passed = member.verdict == Some(Verdict::Pass);
            Some(CountedScore { weight: weight_of(weights, &member.name, member.weight), score: member.value?, passed })
        })
        .collect();
    let Some(mean) = weighted_mean(scores.iter().map(|score| (score.weight, score.score))) else {
        return Score::undecided(NO_WEIGHT);
    };
    // Where the verdicts of members count, as in a case, they can contradict the mean.
    let passes = mean_passes(&scores, threshold);
    let stated = is_counted && passes != at_least(mean, threshold);
    Score { verdict: stated.then(|| Verdict::from_passed(passes)), ..Score::new(mean) }
}

/// The weight that the composite gives to the member of this name, otherwise its `own`.
fn weight_of(weights: &[(String, f64)], name: &str, own: f64) -> f64 {
    weights.iter().find(|(member, _)| member == name).map_or(own, |(_, weight)| *weight)
}

fn share(threshold: f64, members: &[GraderRecord]) -> GraderResult {
    let counted: Vec<&GraderRecord> = decided(members).filter(|member| member.weight > 0.0).collect();
    if counted.is_empty() {
        return Score::undecided(NO_WEIGHT).into();
    }
    let passing = counted.iter().filter(|member| member.verdict == Some(Verdict::Pass)).count();
    let count = counted.len();
    let value = ratio(passing, count);
    let text = format!("{passing}/{count} evaluators passed (threshold: {threshold})");
    let assertion = Assertion::new(text, at_least(value, threshold));
    GraderResult { pass_mark: Some(threshold), ..Score::new(value).with_assertion(assertion).into() }
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

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{Grader, GraderConfig};

    use super::*;
    use crate::grade::probed::{GraderClass, Passing, Probed};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        if let GraderConfig::Composite(config) = config { Some(config) } else { None }
    }

    impl Probed for Composite {
        fn class(&self, of_member: fn(&Grader) -> GraderClass) -> GraderClass {
            let classes: Vec<GraderClass> = self.members.iter().map(of_member).collect();
            let is_code = matches!(self.aggregator, Aggregator::CodeGrader { .. });
            if classes.iter().all(|class| *class == GraderClass::Limit) {
                GraderClass::Limit
            } else if is_code || classes.contains(&GraderClass::Opaque) {
                GraderClass::Opaque
            } else {
                GraderClass::Plain
            }
        }

        fn advice(&self, _grader: &Grader, _passing: &Passing<'_>) -> Option<String> {
            let is_always_met = matches!(self.aggregator, Aggregator::Threshold { threshold } if threshold <= 0.0);
            is_always_met
                .then(|| "a `threshold` of 0 is always met: write the share of members that has to pass".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::score::ScoreState;

    fn member(name: &str, weight: f64, value: f64) -> GraderRecord {
        let mut record = GraderRecord::default();
        (record.name, record.weight, record.state) = (name.to_owned(), weight, GraderState::Decided);
        (record.value, record.verdict) = (Some(value), Some(Verdict::from_passed(value >= 0.8)));
        record
    }

    #[test]
    fn members_without_weight_decide_nothing() {
        let shown = [member("a", 0.0, 1.0), member("b", 0.0, 0.0)];
        for (weights, members) in [(vec![], &shown[..]), (vec![("a".to_owned(), 0.0)], &[member("a", 1.0, 0.0)][..])] {
            let score = weighted_average(&weights, members, (0.8, true));
            assert_eq!(score.state, ScoreState::Undecided(NO_WEIGHT.to_owned()), "{weights:?}");
        }
        assert_eq!(share(0.5, &shown).score.state, ScoreState::Undecided(NO_WEIGHT.to_owned()));
        let weights = [("a".to_owned(), 1.0)];
        assert_eq!(weighted_average(&weights, &shown, (0.8, true)).state, ScoreState::Decided(1.0));
        let failing = [member("a", 0.0, 1.0), member("b", 1.0, 0.0), member("c", 2.0, 1.0), member("d", 1.0, 0.0)];
        assert_eq!(share(0.5, &failing).score.state, ScoreState::Decided(1.0 / 3.0));
    }
}
