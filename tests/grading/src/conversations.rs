//! Conversations of `scoring.jsonl`: every grader of a turn and of the whole is compared by itself, with its own rules.
//!
//! The outcome has to be the one that `decide` computes from our grades: a second implementation of the rules for
//! conversations, written from their description alone.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite::Verdict;
use evalsuite::record::{GraderRecord, GraderState, Status, TurnRecord};
use evalsuite_conformance::record::Record;
use evalsuite_schema::Value;
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::json::json;

use crate::graders::{self, Field, Graded, differences};
use crate::replay::CaseRun;
use crate::{grader_rules, member_rules};

/// Names of the rules about conversations.
pub const RULES: &[&str] =
    &["agent-error-in-a-turn", "conversation-gate", "ungraded-turns-do-not-count", "turn-type-spelling"];

/// What the recorded agent replies to every turn.
const REPLY: &str = "the answer";

/// What the reference says of a turn after one that failed.
const SKIPPED: &str = "Skipped due to previous turn failure";

/// A conversation and its recorded result.
#[derive(Debug)]
pub struct Conversation<'a> {
    /// The record.
    pub record: &'a Record,
    /// The case as written.
    pub test: &'a Value,
    /// The result of the reference.
    pub expected: &'a Value,
    /// The effective threshold.
    pub threshold: f64,
    /// Number of calls of our judge.
    pub asked: usize,
}

impl Conversation<'_> {
    /// The rules that explain a different result.
    ///
    /// # Errors
    ///
    /// The first difference that no rule explains.
    pub fn explain(&self, ran: &CaseRun) -> Result<BTreeSet<&'static str>, String> {
        let Some(trial) = ran.trials.first() else {
            // A judge of the criteria, which the record does not have.
            let is_ungraded = |part: &Value| list(part, "assertions").is_empty() && part["expected_output"].is_null();
            let is_judged = is_ungraded(self.test) && list(self.test, "turns").iter().all(is_ungraded);
            let is_skipped = is_judged && ran.case.outcome == Status::Skipped;
            return explained(is_skipped, BTreeSet::from(["ungraded-turns-do-not-count"]), "there is no trial");
        };
        let turns = trial.turns.as_deref().unwrap_or_default();
        let mut rules = BTreeSet::new();
        let mut is_stopped = false;
        for (index, written) in list(self.test, "turns").iter().enumerate() {
            let recorded = &self.expected["scores"][index];
            let Some(ours) = turns.get(index) else { return Err(format!("turn {} is missing", index + 1)) };
            if says(recorded, "Provider error: ") && !is_stopped {
                rules.insert("agent-error-in-a-turn");
                let is_error = ran.case.outcome == Status::Error && ours.outcome == Status::Error;
                return explained(is_error, rules, "an error of the agent is no error of the case");
            }
            if ours.outcome == Status::Error && ours.graders.is_empty() {
                // In the reference, this turn was not run.
                return explained(
                    ran.case.outcome == Status::Error,
                    rules,
                    "an error of the agent is no error of the case",
                );
            }
            if is_stopped != says(recorded, SKIPPED) {
                rules.extend(self.of_outcome(turns, &trial.graders));
            }
            if is_stopped != is_not_run(ours) {
                return Err(format!("turn {}: stopped {is_stopped}, ours {ours:?}", index + 1));
            }
            if !is_stopped && !says(recorded, SKIPPED) {
                rules.extend(self.of_graders(written, recorded, &ours.graders)?);
            }
            is_stopped |= self.test["on_turn_failure"] == "stop" && self.score(ours).is_some_and(|it| !it.passed);
        }
        let whole = list(self.expected, "scores").iter().find(|score| score["name"] == "conversation");
        match whole {
            Some(recorded) => rules.extend(self.of_graders(self.test, recorded, &trial.graders)?),
            // Criteria are judged if nothing else grades the conversation.
            None if !trial.graders.is_empty() => _ = rules.insert("ungraded-turns-do-not-count"),
            None => {}
        }
        let (outcome, score) = self.decide(turns, &trial.graders);
        let is_own = ran.case.outcome == outcome && close(ran.case.score, score);
        if rules.is_empty() {
            rules.extend(self.of_outcome(turns, &trial.graders));
        }
        let is_explained = is_own && !rules.is_empty();
        explained(is_explained, rules, &format!("computed {outcome:?} {score:?}, ours {:?}", ran.case.outcome))
    }

    /// The rules that explain the grades of a turn or of the whole.
    fn of_graders(
        &self,
        written: &Value,
        recorded: &Value,
        ours: &[GraderRecord],
    ) -> Result<BTreeSet<&'static str>, String> {
        let all = list(written, "assertions");
        let (criteria, entries): (Vec<_>, Vec<_>) = all.iter().partition(|entry| entry.is_string());
        let mut rules = BTreeSet::new();
        if ours.is_empty() {
            rules.insert("ungraded-turns-do-not-count");
            return explained(all.is_empty(), rules, "no grader ran");
        }
        let criteria = (!criteria.is_empty()).then(|| json!({ "type": "llm-grader", "criteria": criteria }));
        let implicit = json!({ "type": "llm-grader" });
        // Criteria of a turn are judged first, those of the whole in their place. Of a judge that compares with a reference,
        // the reference records nothing but the score.
        let place = if written["turns"].is_array() { all.iter().position(Value::is_string).unwrap_or(0) } else { 0 };
        let mut written = entries;
        written.splice(place..place, &criteria);
        let mut single = recorded.clone();
        single["verdict"] = json!(if single["score"].as_f64() >= Some(0.8) { "pass" } else { "fail" });
        let recorded = recorded["scores"].as_array().map_or(std::slice::from_ref(&single), Vec::as_slice);
        let written = if written.is_empty() { vec![&implicit] } else { written };
        let is_of_criteria = |grader: &&GraderRecord| criteria.is_some() && grader.name.ends_with("rubrics");
        let mut own: Vec<&GraderRecord> = ours.iter().filter(|grader| !is_of_criteria(grader)).collect();
        own.splice(place..place, ours.iter().find(is_of_criteria));
        if written.len() != recorded.len() || written.len() != own.len() {
            return Err(format!("{} graders, recorded {recorded:?}, ours {own:?}", written.len()));
        }
        for ((grader, expected), own) in written.into_iter().zip(recorded).zip(own) {
            rules.extend(self.of_grader(grader, expected, own)?);
        }
        Ok(rules)
    }

    fn of_grader(
        &self,
        grader: &Value,
        expected: &Value,
        own: &GraderRecord,
    ) -> Result<BTreeSet<&'static str>, String> {
        // Entries of a turn are used as written.
        let members = list(grader, "assertions").iter();
        let mut kinds = members.chain([grader]).map(|entry| entry["type"].as_str().unwrap_or_default());
        let is_unknown = says(expected, "Unknown grader type") || says(expected, "Unsupported grader type");
        if is_unknown && kinds.any(|kind| kind == "rubrics" || kind.contains('_')) {
            return Ok(BTreeSet::from(["turn-type-spelling"]));
        }
        let mut record = self.record.clone();
        record.json["evidence"] = json!({ "output": REPLY });
        let graded = Graded {
            record: &record,
            grader,
            expected,
            ours: Some(own.clone()),
            shown: String::new(),
            asked: self.asked,
            outputs: BTreeMap::new(),
        };
        let mut rules = BTreeSet::new();
        for field in differences(&graded, false) {
            match grader_rules::explain(field, &graded) {
                Some(explained) => rules.extend(explained),
                None if self.is_decided_by_threshold(grader, own, field) => _ = rules.insert("effective-threshold"),
                None => return Err(graders::describe(&format!("{field:?}"), &graded)),
            }
        }
        Ok(rules)
    }

    /// Whether the threshold of the case decides the verdict of a grader, or of members that make up its value; in the reference,
    /// graders pass with 0.8.
    fn is_decided_by_threshold(&self, grader: &Value, own: &GraderRecord, field: Field) -> bool {
        let is_other = |grader: &GraderRecord| {
            let Some(value) = grader.value else { return false };
            let mark = grader.pass_mark.unwrap_or(self.threshold);
            let passes = grader.verdict == Some(Verdict::Pass);
            passes == at_least(value, mark) && passes != (value >= 0.8)
        };
        let combined = member_rules::combine(grader, &own.members, self.threshold);
        let is_combined = combined.is_some_and(|(value, _)| own.negated || close(own.value, Some(value)));
        field == Field::Verdict && is_other(own) || own.members.iter().any(is_other) && is_combined
    }

    /// The rule that explains an outcome, or the end of a conversation, although the graders agree.
    fn of_outcome(&self, turns: &[TurnRecord], whole: &[GraderRecord]) -> Option<&'static str> {
        let graders = || turns.iter().flat_map(|turn| &turn.graders).chain(whole);
        let broken: Vec<&GraderRecord> = graders().filter(|grader| is_broken(grader)).collect();
        let recorded = list(self.expected, "scores").iter().chain([self.expected]);
        let mut recorded = recorded.filter_map(|score| score["score"].as_f64());
        let is_lifted = |grader: &GraderRecord| {
            let passes = grader.verdict == Some(Verdict::Pass);
            grader.value.is_some_and(|value| passes != at_least(value, self.threshold))
        };
        match () {
            () if broken.iter().any(|grader| grader.required) => Some("conversation-gate"),
            () if !broken.is_empty() => Some("guards-hold-entirely"),
            () if recorded.any(|score| at_least(score, self.threshold) && score < self.threshold) => {
                Some("scores-are-decimal-numbers")
            }
            () if ["suite_threshold", "cli_threshold"].iter().any(|key| self.record.json[*key].is_number()) => {
                Some("effective-threshold")
            }
            () => graders().any(is_lifted).then_some("verdict-counts-towards-passing"),
        }
    }

    /// Outcome and score of the conversation.
    fn decide(&self, turns: &[TurnRecord], whole: &[GraderRecord]) -> (Status, Option<f64>) {
        let graded = turns.iter().map(|turn| self.score(turn)).chain([self.score_of(whole)]);
        let scores: Vec<Score> = graded.flatten().collect();
        let is_error = |score: &Score| score.value.is_none();
        if scores.is_empty() || scores.iter().any(is_error) {
            return (Status::Error, None);
        }
        let combine = |values: Vec<f64>| match self.test["aggregation"].as_str() {
            Some("min") => values.into_iter().fold(f64::INFINITY, f64::min),
            Some("max") => values.into_iter().fold(0.0, f64::max),
            #[allow(clippy::cast_precision_loss, reason = "a handful of turns")]
            _ => values.iter().sum::<f64>() / values.len() as f64,
        };
        let score = combine(scores.iter().filter_map(|score| score.value).collect());
        // What passes counts at least the threshold, and what fails less.
        let counted = |score: &Score| {
            let value = score.value.unwrap_or(0.0);
            if score.passed { value.max(self.threshold) } else { value.min(self.threshold - 1e-9) }
        };
        let is_guarded = scores.iter().any(|score| score.is_guard_broken);
        let passed = !is_guarded && combine(scores.iter().map(counted).collect()) >= self.threshold - 1e-12;
        (if passed { Status::Passed } else { Status::Failed }, Some(score))
    }

    /// The score of a turn; `None` if it does not count.
    fn score(&self, turn: &TurnRecord) -> Option<Score> {
        if is_not_run(turn) {
            return Some(Score { value: Some(0.0), passed: false, is_guard_broken: false });
        }
        self.score_of(&turn.graders)
    }

    /// The score of a list of graders; `None` if none of them decides, and without a value if one of them is an error.
    fn score_of(&self, graders: &[GraderRecord]) -> Option<Score> {
        let is_error = |grader: &GraderRecord| {
            grader.state == GraderState::Error || grader.required && grader.state == GraderState::Undecided
        };
        if graders.iter().any(is_error) {
            return Some(Score { value: None, passed: false, is_guard_broken: false });
        }
        let decided = || graders.iter().filter_map(|grader| Some((grader, grader.value?)));
        let weights: f64 = decided().map(|(grader, _)| grader.weight).sum();
        let mean = decided().map(|(grader, value)| grader.weight * value).sum::<f64>() / weights;
        let mean = (weights > 0.0).then_some(mean);
        let mut broken = graders.iter().filter(|grader| is_broken(grader)).peekable();
        if broken.peek().is_some() {
            let value = if broken.any(|grader| grader.required) { 0.0 } else { mean.unwrap_or(0.0) };
            return Some(Score { value: Some(value), passed: false, is_guard_broken: true });
        }
        let above = |(grader, value): (&GraderRecord, f64)| {
            let distance = value - self.threshold;
            let passes = grader.verdict == Some(Verdict::Pass);
            grader.weight * if passes { distance.max(0.0) } else { distance.min(-1e-9) }
        };
        let passed = decided().map(above).sum::<f64>() >= -1e-12;
        mean.map(|value| Score { value: Some(value), passed, is_guard_broken: false })
    }
}

fn explained(
    is_explained: bool,
    rules: BTreeSet<&'static str>,
    problem: &str,
) -> Result<BTreeSet<&'static str>, String> {
    if is_explained { Ok(rules) } else { Err(problem.to_owned()) }
}

/// The score of a turn or of the whole.
struct Score {
    value: Option<f64>,
    passed: bool,
    is_guard_broken: bool,
}

/// Whether a grader keeps its conversation from passing, whatever the others say.
fn is_broken(grader: &GraderRecord) -> bool {
    grader.verdict == Some(Verdict::Fail) && (grader.required || grader.guard)
}

fn is_not_run(turn: &TurnRecord) -> bool {
    turn.outcome == Status::Skipped && turn.answer.is_none()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Whether an assertion of the recorded score contains `part`.
fn says(recorded: &Value, part: &str) -> bool {
    list(recorded, "assertions").iter().any(|it| it["text"].as_str().is_some_and(|text| text.contains(part)))
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-12,
        (a, b) => a.is_none() && b.is_none(),
    }
}
