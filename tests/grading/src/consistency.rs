//! Whether a grade agrees with itself: its value with its verdict, its assertions, its members, and with what its command printed.
//!
//! Rules explain why two grades differ. They are not asked whether one of the grades is possible at all: that is checked here, for both.

use evalsuite::Verdict;
use evalsuite::record::{GraderRecord, GraderState};
use evalsuite_schema::Value;
use evalsuite_schema::decimal::at_least;

use crate::grader_rules::{reference_says, sources};
use crate::graders::Graded;

/// Graders whose value is the share of their assertions that passed.
const SHARES: &[&str] = &[
    "contains",
    "contains-any",
    "contains-all",
    "icontains",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "ends-with",
    "equals",
    "regex",
    "is-json",
    "skill-trigger",
    "cost",
    "latency",
    "token-usage",
    "execution-metrics",
    "field-accuracy",
    "tool-trajectory",
];

/// Graders that a judge decides.
const JUDGES: &[&str] = &["llm-grader", "rubrics", "rubric", "inline-assert"];

/// In the reference, graders pass with this value.
const MARK: f64 = 0.8;

/// What is impossible in the recorded grade, or in ours.
pub fn contradictions(cx: &Graded<'_>) -> Vec<String> {
    let theirs = [of_their_verdict(cx), of_their_assertions(cx), of_their_members(cx), of_their_command(cx)];
    let mut found: Vec<String> = theirs.into_iter().flatten().map(|what| format!("recorded grade: {what}")).collect();
    if let Some(ours) = cx.ours.as_ref().filter(|ours| ours.state == GraderState::Decided) {
        let own = [of_our_verdict(cx, ours), of_our_assertions(cx, ours)];
        found.extend(own.into_iter().flatten().map(|what| format!("our grade: {what}")));
    }
    found
}

fn of_their_verdict(cx: &Graded<'_>) -> Option<String> {
    let (value, kind) = (cx.expected_value()?, cx.kind());
    let is_negated = cx.grader["negate"] == true;
    let passes = match cx.expected["verdict"].as_str()? {
        "pass" => !is_negated,
        "fail" => is_negated,
        // A judge that cannot be read.
        _ => return (value != 0.0 && !is_negated).then(|| format!("no verdict with the score {value}")),
    };
    // A composite has its own mark, and criteria may be required.
    let is_possible = match (kind == "composite", passes) {
        (true, _) => true,
        (false, true) => value >= MARK,
        (false, false) => value < MARK || JUDGES.contains(&kind.as_str()),
    };
    (!is_possible).then(|| format!("verdict {} with the value {value}", cx.expected["verdict"]))
}

fn of_their_assertions(cx: &Graded<'_>) -> Option<String> {
    let list = cx.expected["assertions"].as_array()?;
    let entries = list.iter().map(|it| (it["text"].as_str().unwrap_or_default(), it["passed"] == true));
    let share = share(cx, entries.collect())?;
    let score = cx.expected["score"].as_f64()?;
    ((share - score).abs() > 1e-9).then(|| format!("score {score}, but {share} of the assertions passed"))
}

/// The share of assertions that passed, if it is the value of the grader.
#[allow(clippy::cast_precision_loss, reason = "a handful of assertions")]
fn share(cx: &Graded<'_>, entries: Vec<(&str, bool)>) -> Option<f64> {
    let has_weights =
        cx.grader["fields"].as_array().is_some_and(|fields| fields.iter().any(|it| !it["weight"].is_null()));
    let left_out = [": optional field missing", ": no expected value"];
    let is_other = has_weights || !cx.grader["aggregation"].is_null() || !SHARES.contains(&cx.kind().as_str());
    let is_left_out = |text: &str| left_out.iter().any(|end| text.ends_with(end));
    // The number of calls is shown, and counts in the denominator.
    let entries: Vec<_> = entries
        .into_iter()
        .filter(|(text, _)| !text.starts_with("Expected ") || !text.contains(" tool calls, got "))
        .collect();
    if is_other || entries.is_empty() || entries.iter().any(|(text, _)| is_left_out(text)) {
        return None;
    }
    Some(entries.iter().filter(|(_, passed)| *passed).count() as f64 / entries.len() as f64)
}

/// The members' mean, or their share with a `threshold`; a member without a verdict does not count.
#[allow(clippy::cast_precision_loss, reason = "a handful of members")]
fn of_their_members(cx: &Graded<'_>) -> Option<String> {
    let (members, value) = (cx.expected["scores"].as_array()?, cx.expected_value()?);
    let aggregator = &cx.grader["aggregator"];
    let decided: Vec<&Value> = members.iter().filter(|member| member["verdict"] != "skip").collect();
    let weight = |member: &Value| {
        let name = member["name"].as_str().unwrap_or_default();
        aggregator["weights"][name].as_f64().unwrap_or(1.0)
    };
    let (own, passes) = match aggregator["type"].as_str()? {
        "weighted_average" => {
            let total: f64 = decided.iter().map(|member| weight(member)).sum();
            let sum: f64 = decided.iter().filter_map(|member| Some(weight(member) * member["score"].as_f64()?)).sum();
            let mean = if total > 0.0 { sum / total } else { 0.0 };
            (mean, mean >= MARK)
        }
        "threshold" => {
            let passing = decided.iter().filter(|member| member["verdict"] == "pass").count();
            let share = if decided.is_empty() { 0.0 } else { passing as f64 / decided.len() as f64 };
            (share, share >= aggregator["threshold"].as_f64()?)
        }
        _ => return None,
    };
    let verdict = if passes == (cx.grader["negate"] == true) { "fail" } else { "pass" };
    let is_skipped = decided.is_empty() && cx.expected["verdict"] == "skip";
    let is_same = (own - value).abs() < 1e-9 && (is_skipped || cx.expected["verdict"] == verdict);
    (!is_same).then(|| format!("{value}, but its members make {own}, {verdict}"))
}

/// The score in the output of a command that ended with 0, or by a signal, and 0 for every other end and output.
fn of_their_command(cx: &Graded<'_>) -> Option<String> {
    let (command, printed) = (cx.command()?, cx.printed()?);
    let source = sources(cx);
    // What such a command prints depends on what it reads, which may differ.
    if ["stdin", "AGENTV_", "$("].iter().any(|part| source.contains(part)) {
        return None;
    }
    let failed =
        ["exited with code", "timed out", "ailed to start", "ENOENT"].iter().any(|part| reference_says(cx, part));
    let has_failed = command.timed_out || command.exit_code.is_some_and(|code| code != 0);
    if failed != has_failed && !(failed && source.contains('&')) {
        return Some(format!("exit code {:?}, and {:?}", command.exit_code, cx.expected_texts()));
    }
    let result = if failed { Value::Null } else { evalsuite_schema::json::from_str(printed).unwrap_or(Value::Null) };
    let score = result["score"].as_f64().map_or(0.0, |score| score.clamp(0.0, 1.0));
    let is_flipped = cx.grader["negate"] == true;
    let entries = result["assertions"].as_array().into_iter().flatten().filter(|it| it["text"].is_string());
    let truthy = |value: &Value| {
        !matches!(value, Value::Null | Value::Bool(false)) && value != "" && value.as_f64() != Some(0.0)
    };
    let passed: Vec<bool> = entries.map(|it| truthy(&it["passed"]) != is_flipped).collect();
    let recorded = cx.expected["assertions"].as_array().into_iter().flatten();
    let recorded: Vec<bool> = recorded.map(|assertion| assertion["passed"] == true).collect();
    let is_same =
        cx.expected_value() == Some(score) && (failed && recorded == [is_flipped] || !failed && recorded == passed);
    (!is_same).then(|| format!("{:?} {recorded:?}, but the command printed {score} {passed:?}", cx.expected_value()))
}

fn of_our_verdict(cx: &Graded<'_>, ours: &GraderRecord) -> Option<String> {
    let value = ours.value?;
    let plain = if ours.negated { 1.0 - value } else { value };
    let passes = match ours.pass_mark {
        _ if ours.lacks_evidence => false,
        _ if ours.forced_fail => ours.negated,
        _ if ours.guard => (plain >= 1.0) != ours.negated,
        mark => at_least(value, mark.unwrap_or(MARK)),
    };
    // Its members, its judge, or its command decide.
    let has_own = cx.kind() == "composite"
        || ours.judge.is_some()
        || ours.command.is_some() && ours.verdict == Some(Verdict::Fail);
    let verdict = Some(Verdict::from_passed(passes));
    (!has_own && ours.verdict != verdict).then(|| format!("verdict {:?} with the value {value}", ours.verdict))
}

fn of_our_assertions(cx: &Graded<'_>, ours: &GraderRecord) -> Option<String> {
    let value = ours.value?;
    let share = share(cx, ours.assertions.iter().map(|it| (it.text.as_str(), it.passed)).collect())?;
    let items = cx.grader["expected"].as_array().map_or(0, Vec::len);
    // They are in the denominator.
    let has_surplus = cx.grader["mode"] == "exact" && cx.calls().count() > items;
    (!has_surplus && (share - value).abs() > 1e-9)
        .then(|| format!("value {value}, but {share} of the assertions passed"))
}
