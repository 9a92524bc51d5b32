//! Whether a grade agrees with itself: its value with its verdict, its assertions, its members, and with what its command printed.
//!
//! Rules explain why two grades differ. They are not asked whether one of the grades is possible at all: that is checked here, for both.

use evalsuite::Verdict;
use evalsuite::record::{GraderRecord, GraderState};
use evalsuite_schema::Value;
use evalsuite_schema::decimal::at_least;

use crate::grader_rules::{list, pattern_matches, reference_says, sources};
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

/// What is impossible in the recorded grade.
pub fn of_theirs(cx: &Graded<'_>) -> Vec<String> {
    let list = cx.expected["assertions"].as_array().map_or(&[][..], Vec::as_slice);
    let assertions: Vec<(String, bool)> =
        cx.expected_texts().into_iter().zip(list.iter().map(|it| it["passed"] == true)).collect();
    let found = [
        of_their_verdict(cx),
        of_their_share(cx, &assertions),
        of_their_criteria(cx, &assertions),
        of_their_members(cx, &assertions),
        of_their_command(cx),
        of_sentences(cx, &assertions, cx.grader["negate"] == true),
    ];
    found.into_iter().flatten().map(|what| format!("recorded grade: {what}")).collect()
}

/// What is impossible in our grade.
pub fn of_ours(cx: &Graded<'_>) -> Vec<String> {
    let Some(ours) = cx.ours.as_ref().filter(|ours| ours.state == GraderState::Decided) else { return Vec::new() };
    let assertions: Vec<(String, bool)> = ours.assertions.iter().map(|it| (it.text.clone(), it.passed)).collect();
    let found = [
        of_our_verdict(cx, ours),
        of_our_share(cx, ours, &assertions),
        of_our_pattern(cx, ours),
        of_our_command(cx),
        of_sentences(cx, &assertions, ours.negated && !ours.lacks_evidence),
    ];
    found.into_iter().flatten().map(|what| format!("our grade: {what}")).collect()
}

fn of_their_verdict(cx: &Graded<'_>) -> Option<String> {
    let (value, kind) = (cx.expected_value()?, cx.kind());
    let is_negated = cx.grader["negate"] == true;
    let passes = match cx.expected["verdict"].as_str()? {
        "pass" => !is_negated,
        "fail" => is_negated,
        // A judge that cannot be read.
        _ => {
            let passes = list(cx.expected, "assertions").iter().any(|assertion| assertion["passed"] == true);
            let is_possible = is_negated || cx.kind() == "composite" || value == 0.0 && !passes;
            return (!is_possible).then(|| format!("no verdict with the score {value}"));
        }
    };
    // A composite has its own mark, and criteria may be required.
    let is_possible = match (kind == "composite", passes) {
        (true, _) => true,
        (false, true) => value >= MARK,
        (false, false) => value < MARK || JUDGES.contains(&kind.as_str()),
    };
    (!is_possible).then(|| format!("verdict {} with the value {value}", cx.expected["verdict"]))
}

fn of_their_share(cx: &Graded<'_>, assertions: &[(String, bool)]) -> Option<String> {
    let (share, score) = (share(cx, assertions)?, cx.expected["score"].as_f64()?);
    ((share - score).abs() > 1e-9).then(|| format!("score {score}, but {share} of the assertions passed"))
}

/// The mean of the criteria that were answered.
fn of_their_criteria(cx: &Graded<'_>, assertions: &[(String, bool)]) -> Option<String> {
    let entries = [list(cx.grader, "criteria"), list(cx.grader, "rubrics")].concat();
    let (mut sum, mut total) = (0.0, 0.0);
    for (text, passed) in assertions {
        let id = text.strip_prefix('[')?.split_once("] ")?.0;
        let entry = entries.iter().find(|entry| entry["id"] == id);
        let weight = entry.and_then(|entry| entry["weight"].as_f64()).unwrap_or(1.0);
        let points = text.rsplit_once(" - Score: ").and_then(|(_, rest)| rest.split_once("/10")?.0.parse::<f64>().ok());
        sum += weight * points.map_or(if *passed { 1.0 } else { 0.0 }, |points| points / 10.0);
        total += weight;
    }
    let value = cx.expected_value().filter(|_| JUDGES.contains(&cx.kind().as_str()) && !entries.is_empty())?;
    let mean = if total > 0.0 { sum / total } else { 0.0 };
    let is_same = (mean - value).abs() < 1e-9 || cx.grader["negate"] == true;
    (!is_same).then(|| format!("score {value}, but the criteria make {mean}"))
}

/// Parts of sentences about what is wrong, where no text of the author or of the agent is.
const FAILURES: &[&str] = &[
    " > ",
    " data available in trace",
    " not available",
    "outside tolerance",
    "(type mismatch",
    "(value mismatch)",
    "(date mismatch",
    "(required, missing)",
    "(unparseable ",
    "(invalid numeric value)",
    "(non-numeric value)",
    ", got ",
    " took ",
    "args mismatch",
    "No tool calls recorded",
    "No trace available",
    "not found in ",
    " is not in allowed set",
    "Failed to parse candidate",
    "No expected data found",
];

/// Starts of sentences about what is wrong with the text.
const FAILED_TEXTS: &[&str] = &["Output does not ", "Output missing", "Output is not ", "Grader '"];

/// Whether an assertion passed follows from its sentence.
fn of_sentences(cx: &Graded<'_>, assertions: &[(String, bool)], is_flipped: bool) -> Option<String> {
    let kind = cx.kind();
    if !SHARES.contains(&kind.as_str()) {
        return None;
    }
    let has_text =
        ["contains", "icontains", "starts", "ends", "equals", "regex"].iter().any(|start| kind.starts_with(start));
    let says_pass = |text: &str| {
        let calls = text
            .rsplit_once(": called ")
            .and_then(|(_, rest)| rest.strip_suffix(')')?.split_once(" times (required >="));
        if let Some((calls, needed)) = calls {
            return calls.parse::<f64>().ok() >= needed.parse::<f64>().ok();
        }
        if cx.grader["should_trigger"] == false {
            return text.ends_with(" correctly did not trigger");
        }
        let fails = FAILED_TEXTS.iter().any(|start| text.starts_with(start));
        !fails && (has_text || !FAILURES.iter().any(|part| text.contains(part)))
    };
    let differs = |(text, passed): &&(String, bool)| says_pass(text) != (*passed != is_flipped);
    assertions.iter().find(differs).map(|(text, passed)| format!("passed is {passed}: {text:?}"))
}

/// The share of assertions that passed, if it is the value of the grader.
#[allow(clippy::cast_precision_loss, reason = "a handful of assertions")]
fn share(cx: &Graded<'_>, entries: &[(String, bool)]) -> Option<f64> {
    let has_weights =
        cx.grader["fields"].as_array().is_some_and(|fields| fields.iter().any(|it| !it["weight"].is_null()));
    let left_out = [": optional field missing", ": no expected value"];
    // A missing call counts for its limit, too.
    let is_limited = |item: &Value| ["max_duration_ms", "maxDurationMs"].iter().any(|key| !item[*key].is_null());
    let has_weights = has_weights || list(cx.grader, "expected").iter().any(is_limited);
    let is_other = has_weights || !cx.grader["aggregation"].is_null() || !SHARES.contains(&cx.kind().as_str());
    let is_left_out = |text: &str| left_out.iter().any(|end| text.ends_with(end));
    // The number of calls is shown, and counts in the denominator.
    let is_count = |text: &str| text.starts_with("Expected ") && text.contains(" tool calls, got ");
    let entries: Vec<&(String, bool)> = entries.iter().filter(|(text, _)| !is_count(text)).collect();
    if is_other || entries.is_empty() || entries.iter().any(|(text, _)| is_left_out(text)) {
        return None;
    }
    Some(entries.iter().filter(|(_, passed)| *passed).count() as f64 / entries.len() as f64)
}

/// The members' mean, or their share with a `threshold`; a member without a verdict does not count.
#[allow(clippy::cast_precision_loss, reason = "a handful of members")]
fn of_their_members(cx: &Graded<'_>, assertions: &[(String, bool)]) -> Option<String> {
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
    let is_flipped = cx.grader["negate"] == true;
    let listed =
        decided.iter().flat_map(|member| list(member, "assertions")).map(|it| (it["passed"] == true) != is_flipped);
    let is_sum = |text: &str| text.contains(" evaluators passed (threshold: ");
    let (sums, own_list): (Vec<_>, Vec<_>) = assertions.iter().partition(|(text, _)| is_sum(text));
    let is_listed = listed.eq(own_list.into_iter().map(|(_, passed)| *passed))
        && sums.into_iter().all(|(_, passed)| *passed == (passes != is_flipped));
    let verdict = if passes == (cx.grader["negate"] == true) { "fail" } else { "pass" };
    let is_skipped = decided.is_empty() && cx.expected["verdict"] == "skip";
    let is_same = (own - value).abs() < 1e-9
        && (is_listed || decided.is_empty())
        && (is_skipped || cx.expected["verdict"] == verdict);
    (!is_same).then(|| format!("{value}, but its members make {own}, {verdict}"))
}

/// The score in the output of a command that ended with 0, or by a signal, and 0 for every other end and output.
fn of_their_command(cx: &Graded<'_>) -> Option<String> {
    let (command, printed) = (cx.command()?, cx.printed().unwrap_or_default());
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
    // Its members, its criteria, or its command decide.
    let has_criteria =
        ["criteria", "rubrics"].iter().any(|key| cx.grader[*key].is_array()) || !cx.grader["type"].is_string();
    let is_reported = cx.printed().is_some_and(|printed| printed.contains("verdict"));
    let has_own = cx.kind() == "composite" || ours.judge.is_some() && has_criteria || is_reported;
    let verdict = Some(Verdict::from_passed(passes));
    (!has_own && ours.verdict != verdict).then(|| format!("verdict {:?} with the value {value}", ours.verdict))
}

fn of_our_share(cx: &Graded<'_>, ours: &GraderRecord, assertions: &[(String, bool)]) -> Option<String> {
    let (share, value) = (share(cx, assertions)?, ours.value?);
    // They are in the denominator.
    let has_surplus = cx.grader["mode"] == "exact" && cx.calls().count() > list(cx.grader, "expected").len();
    (!has_surplus && (share - value).abs() > 1e-9)
        .then(|| format!("value {value}, but {share} of the assertions passed"))
}

/// The pattern is compiled and tried again.
fn of_our_pattern(cx: &Graded<'_>, ours: &GraderRecord) -> Option<String> {
    let found = (cx.kind() == "regex").then(|| pattern_matches(cx)).flatten()?;
    let is_own = ours.value == Some(if found == ours.negated { 0.0 } else { 1.0 });
    (!is_own).then(|| format!("value {:?}, but the pattern matches: {found}", ours.value))
}

/// What a command has to print so that its grade is not an error.
fn of_our_command(cx: &Graded<'_>) -> Option<String> {
    let (command, printed) = (cx.command()?, cx.printed().unwrap_or_default());
    let printed = printed.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if cx.grader["result"] == "status" {
        return None;
    }
    let result = evalsuite_schema::json::from_str_with_unique_keys::<Value>(printed);
    let is_score = |value: f64| (0.0..=1.0).contains(&value);
    let is_readable = match &result {
        Ok(Value::Object(result)) => {
            let score = result.get("score");
            let has_other = ["assertions", "verdict"].iter().any(|key| result.contains_key(key));
            score.map_or(has_other, |score| score.as_f64().is_some_and(is_score))
        }
        _ => {
            let first = printed.lines().next().unwrap_or_default().trim().to_ascii_lowercase();
            printed.is_empty() || first == "pass" || first == "fail" || first.parse().is_ok_and(is_score)
        }
    };
    let is_grade = match command.exit_code {
        _ if command.timed_out || command.signal.is_some() => false,
        Some(0) => is_readable,
        code => code == Some(1) && !matches!(result, Ok(Value::Object(_))),
    };
    let shown: String = printed.chars().take(80).collect();
    (!is_grade).then(|| format!("no error with exit code {:?} and {shown:?}", command.exit_code))
}
