//! The deliberate differences of graders: what the reference does, what we do, and how to detect it in a record.

use std::collections::BTreeSet;

use evalsuite::record::{GraderRecord, GraderState, ReasonCode};
use evalsuite_schema::Value;
use evalsuite_schema::decimal::at_least;
use fancy_regex::Regex;

use crate::graders::{Field, Graded, of_members};
use crate::member_rules::members;
use crate::{field_rules, member_rules};

type Check = fn(&Graded<'_>) -> bool;

/// Grader types that the reference lacks.
const OWN: &[&str] = &["similar", "contains-json", "json-schema", "compare"];

/// Name of a rule, the fields that may differ because of it, and whether it applies to a record.
const RULES: &[(&str, &[Field], Check)] = {
    use Field::{Assertions, Calls, Details, Error, Evidence, Members, Prompt, Score, Skipped, Verdict};
    const VALUE: &[Field] = &[Score, Verdict, Assertions, Evidence];
    const ANY: &[Field] = &[Score, Verdict, Assertions, Evidence, Details, Error, Calls, Prompt];
    &[
        ("regex-flags-without-effect", &[Assertions], regex_flags),
        ("regex-flags-without-effect", VALUE, matched_after_the_start),
        ("regex-dialect", VALUE, regex_dialect),
        ("letter-case-without-context", VALUE, |cx| {
            // The lower case of a text depends on what is around a letter, as in the reference.
            let folded = |text: &str| text.to_uppercase().to_lowercase().replace(['ς', 'Σ'], "σ");
            contains_values(cx, &folded) == cx.value() && contains_values(cx, &str::to_lowercase) == cx.expected_value()
        }),
        ("equal-texts-are-contained", VALUE, equals_without_white_space),
        ("javascript-values", VALUE, |cx| is_decided(cx) && cx.has_tag("js-quirk") && has_javascript_value(cx)),
        ("javascript-values", &[Prompt], has_javascript_value),
        ("tool-names-are-patterns", VALUE, names_tools_by_pattern),
        ("unknown-grader-is-an-error", &[Error], |cx| cx.error().starts_with("no grader named `")),
        ("additional-graders", VALUE, |cx| {
            reference_says(cx, "Unknown grader type") && OWN.contains(&cx.kind().as_str())
        }),
        ("unset-variable-is-an-error", &[Skipped], |cx| cx.is_variable_unset()),
        ("agents-judge-like-models", ANY, judged_like_models),
        ("judge-failure-is-an-error", &[Error, Score], judge_failure),
        ("judges-may-be-undecided", &[Error, Calls], is_undecided_by_judge),
        ("contradicting-judgement-is-an-error", &[Error, Calls], |cx| {
            cx.error().contains(" contradicts itself, also when asked")
        }),
        ("contradicting-judgement-is-an-error", ANY, asked_about_a_contradiction),
        ("last-object-of-a-reply", ANY, answers_after_other_objects),
        ("last-object-of-a-reply", &[Error, Calls], |cx| cx.error().contains("the reply ends with its thinking")),
        ("duplicate-key-is-an-error", &[Error, Calls], |cx| {
            cx.error().contains("the reply is not JSON: an object has the key `")
        }),
        ("duplicate-key-is-an-error", VALUE, |cx| {
            let ours = cx.ours.iter().flat_map(|ours| &ours.assertions).filter_map(|own| own.evidence.as_deref());
            ours.into_iter().any(|why| why.starts_with("an object has the key `"))
        }),
        ("unknown-target-is-an-error", &[Error], |cx| cx.error().starts_with("there is no judge `")),
        ("unreadable-file-is-an-error", &[Error, Calls], |cx| {
            let starts = ["the file `", "the preprocessor of `"];
            starts.iter().any(|start| cx.error().starts_with(start)) && cx.evidence()["messages"].is_array()
        }),
        ("failed-prompt-command-is-an-error", &[Error], |cx| cx.error().starts_with("the command of the prompt ")),
        ("aggregator-retries", &[Calls], |cx| aggregator(cx) == Some("llm-grader")),
        ("aggregator-retries", VALUE, |cx| {
            reference_says(cx, "LLM aggregator failed") && cx.asked > 1 && is_decided(cx)
        }),
        ("failing-verdict-is-confirmed", &[Calls], |cx| cx.ours.as_ref().is_some_and(is_confirmed)),
        ("failing-verdict-is-confirmed", ANY, confirmed_by_other_replies),
        ("unanswered-criterion-is-an-error", &[Error, Calls], |cx| {
            cx.error().contains(": `checks` has no verdict on the criteri")
        }),
        ("criteria-order", &[Assertions], answered_in_other_order),
        ("worse-of-two-answers", &[Score, Verdict, Assertions, Evidence, Details], answered_twice),
        ("rubrics-as-strings", ANY, |cx| {
            let rubrics = list(cx.grader, "rubrics");
            let is_answered = |ours: &GraderRecord| match ours.state {
                GraderState::Error => ours.code == Some(ReasonCode::JudgeError),
                _ => ours.assertions.len() == rubrics.len(),
            };
            rubrics.iter().any(Value::is_string) && cx.ours.as_ref().is_some_and(is_answered)
        }),
        ("effective-minimum-is-shown", &[Prompt], has_implicit_required_mark),
        ("criteria-as-members", &[Skipped], |cx| members(cx.grader).iter().any(Value::is_string)),
        ("prompt-and-rubrics", &[Prompt], |cx| !cx.grader["prompt"].is_null() && cx.grader["rubrics"].is_array()),
        ("results-in-snake-case", &[Prompt], |cx| aggregator(cx) == Some("llm-grader")),
        ("prompt-command-payload", &[Prompt], |cx| cx.grader["prompt"]["command"].is_array()),
        ("min-score-is-the-pass-mark", &[Verdict], decided_by_its_own_mark),
        ("negated-score-reaches-the-mark", &[Verdict], negated_below_its_mark),
        ("scores-are-decimal-numbers", &[Verdict], reaches_its_mark_as_decimal),
        ("numbers-agree-with-their-sentence", &[Assertions], contradicts_itself),
        ("most-expected-calls-are-found", VALUE, finds_more_calls),
        ("no-input-is-no-arguments", VALUE, |cx| {
            let is_lower = cx.value().zip(cx.expected_value()).is_some_and(|(ours, theirs)| theirs < ours);
            cx.kind() == "tool-trajectory" && cx.calls().any(|call| call["input"].is_null()) && is_lower
        }),
        ("measured-duration", VALUE, measured_duration),
        ("durations-from-times", VALUE, limits_a_call_by_its_times),
        ("whole-token-counts", VALUE, fractional_tokens),
        ("not-reported-is-an-error", &[Error], lacks_data),
        ("exact-counts-surplus-calls", VALUE, surplus_calls),
        ("empty-list-means-no-calls", VALUE, no_calls),
        ("in-order-keeps-scanning", VALUE, skipped_call),
        ("keys-with-dots-are-compared", VALUE, key_with_dot),
        ("guards-hold-entirely", &[Verdict], holds_in_part),
        ("exact-integers", VALUE, integers_beyond_double),
        ("nothing-to-compare-is-undecided", &[Error], all_fields_left_out),
        ("unreadable-answer-is-not-negated", VALUE, |cx| {
            reference_says(cx, "Failed to parse candidate answer as JSON") && cx.grader["negate"] == true
        }),
        ("out-of-range-numbers", VALUE, number_out_of_range),
        ("passed-field-untouched", VALUE, has_passed_field),
        ("fences-in-strings", VALUE, fence_in_string),
        ("fences-in-strings", &[Assertions, Evidence], fence_in_reply),
        ("aggregator-lists-members", &[Members], |cx| matches!(aggregator(cx), Some("code-grader" | "llm-grader"))),
        ("member-error-is-an-error", &[Error], has_broken_member),
        ("aggregator-payload", &[Score, Verdict, Assertions, Evidence, Error], aggregator_reads),
        ("plain-text-results", VALUE, plain_text_result),
        ("unreadable-output-is-an-error", &[Error], |cx| {
            let kinds = ["text that is not a result", "a score that is not from 0 to 1", "more than one result"];
            let is_unreadable =
                kinds.iter().any(|kind| cx.error().starts_with(&format!("the command printed {kind}: ")));
            is_unreadable && exited(cx) == Some(0) && matches!(cx.expected_value(), Some(0.0 | 1.0))
        }),
        ("reported-error-is-an-error", &[Error], |cx| cx.error().starts_with("the command reported an error: ")),
        ("exit-code-decides", VALUE, exit_code_decides),
        ("reported-fail-decides", &[Verdict], |cx| {
            let is_same =
                cx.value().zip(cx.expected_value()).is_some_and(|(ours, theirs)| (ours - theirs).abs() < 1e-12);
            let verdict = cx.ours.as_ref().and_then(|ours| ours.verdict);
            let is_reported = sources(cx).contains("verdict") && sources(cx).contains("fail");
            is_same && is_reported && verdict == Some(evalsuite::Verdict::from_passed(cx.grader["negate"] == true))
        }),
        ("commands-end-with-their-process", VALUE, |cx| {
            let is_over = cx.command().is_some_and(|command| !command.timed_out);
            reference_says(cx, "Process timed out after") && is_over && sources(cx).contains('&')
        }),
        ("additional-payload-fields", VALUE, |cx| {
            // The command fails because it gets no messages.
            let has_none = cx.evidence().get("messages").is_some_and(Value::is_null);
            has_none && sources(cx).contains("stdin") && reference_says(cx, "exited with code 1") && is_decided(cx)
        }),
        ("workspace-per-trial", &[Assertions], |cx| {
            let asks = sources(cx).contains("AGENTV_WORKSPACE_PATH");
            let has_none = reference_says(cx, "unset") || cx.expected_texts().iter().any(String::is_empty);
            (reference_says(cx, "{WORKSPACES}") || asks && has_none) && cx.command().is_some()
        }),
        ("share-of-assertions", &[Score, Verdict], share_of_assertions),
        ("escaped-control-characters", &[Assertions], texts_are_escaped),
        ("variables-are-hidden", &[Assertions], |cx| {
            let has_variable = cx.grader.to_string().contains("${{");
            has_variable && cx.ours.iter().flat_map(|ours| &ours.assertions).any(|own| own.text.contains("***"))
        }),
        ("malformed-result-is-an-error", &[Error], malformed_result),
        ("commands-may-be-undecided", &[Error], is_undecided_by_command),
        ("contradicting-exit-code-is-an-error", &[Error], |cx| {
            cx.error().starts_with("the command printed a result but failed with exit code") && exited(cx) > Some(0)
        }),
        ("contradicting-result-is-an-error", &[Error], |cx| {
            cx.error().contains("contradicts itself") && cx.command().is_some()
        }),
        ("log-lines-before-the-result", &[Error], |cx| {
            cx.error().starts_with("the command printed a result with other text around it") && exited(cx) == Some(0)
        }),
        ("crash-is-an-error", &[Error], |cx| {
            cx.error().starts_with("the command had an error of its own") && matches!(exited(cx), Some(0 | 1))
        }),
        ("one-exit-code-fails", &[Error], |cx| {
            let is_signal = cx.error().starts_with("the command was ended by signal ") && exited(cx) > Some(128);
            cx.error().starts_with("the command ended with exit code ") && exited(cx) > Some(1) || is_signal
        }),
        ("crash-is-not-negated", &[Error], |cx| cx.error().contains("the command crashed (exit code ")),
        ("ended-by-a-signal", &[Error], |cx| {
            cx.command().is_some_and(|command| command.signal.is_some() && !command.timed_out)
        }),
        ("timeout-is-an-error", &[Error], |cx| {
            cx.command().is_some_and(|command| command.timed_out) && reference_says(cx, "timed out")
        }),
        ("missing-program-is-an-error", &[Error], program_missing),
    ]
};

/// The rules that explain a difference.
pub fn explain(field: Field, graded: &Graded<'_>) -> Option<BTreeSet<&'static str>> {
    let rule = of_entry(field, graded).map(|rule| BTreeSet::from([rule]));
    rule.or_else(|| field_rules::explain(graded)).or_else(|| member_rules::explain(graded))
}

/// The rule that explains a difference of an entry by itself, without its members.
pub fn of_entry(field: Field, graded: &Graded<'_>) -> Option<&'static str> {
    let fits = |(_, fields, check): &&(&str, &[Field], Check)| fields.contains(&field) && check(graded);
    RULES.iter().find(fits).map(|(name, _, _)| *name)
}

/// Names of all rules about graders.
pub fn all() -> impl Iterator<Item = &'static str> {
    let own = RULES.iter().map(|(name, _, _)| *name);
    own.chain(field_rules::RULES.iter().copied())
        .chain(member_rules::RULES.iter().copied())
        .chain(["decided-at-load-time"])
}

fn is_decided(cx: &Graded<'_>) -> bool {
    cx.value().is_some_and(|value| (0.0..=1.0).contains(&value))
}

/// Whether an assertion of the recorded grade contains a text.
pub fn reference_says(cx: &Graded<'_>, part: &str) -> bool {
    cx.expected_texts().iter().any(|text| text.contains(part))
}

/// The elements of a list; none if there is no list.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// JavaScript and the crate `fancy-regex` differ, and our value is that of the crate: Unicode classes and word boundaries,
/// characters in place of UTF-16 units, line terminators, and syntax or flags that JavaScript does not have.
fn regex_dialect(cx: &Graded<'_>) -> bool {
    let is_own = pattern_matches(cx).is_some_and(|found| cx.value() == Some(if found { 1.0 } else { 0.0 }));
    let is_refused =
        reference_says(cx, "failed: Invalid regular expression") || reference_says(cx, "failed: Invalid flags");
    cx.kind() == "regex" && is_own && (is_refused || cx.has_tag("js-regex") && cx.value() != cx.expected_value())
}

/// Whether the pattern matches the answer; `None` if it cannot be compiled.
pub fn pattern_matches(cx: &Graded<'_>) -> Option<bool> {
    let flags = cx.grader["flags"].as_str().unwrap_or_default();
    let kept: String = flags.chars().filter(|flag| "imsx".contains(*flag)).collect();
    let group = if kept.is_empty() { String::new() } else { format!("(?{kept})") };
    let pattern = Regex::new(&format!("{group}{}", cx.grader["value"].as_str().unwrap_or_default()));
    pattern.ok().and_then(|pattern| pattern.is_match(&cx.answer()).ok())
}

/// A call has an input or an output that JavaScript treats as an object or a text, or a tool is called like a property of
/// every object.
fn has_javascript_value(cx: &Graded<'_>) -> bool {
    let is_odd = |call: &Value| {
        let input = call.get("input").filter(|input| !input.is_null() || cx.kind() == "tool-trajectory");
        let skill =
            ["skill", "file_path"].iter().any(|key| !call["input"][*key].is_null() && !call["input"][*key].is_string());
        input.is_some_and(|input| !input.is_object()) || cx.kind() == "skill-trigger" && skill
    };
    let mut names = cx.grader["minimums"].as_object().into_iter().flat_map(|tools| tools.keys());
    let is_inherited = reference_says(cx, "[native code]") || names.any(|name| name == "__proto__");
    cx.calls().any(is_odd) || is_inherited
}

/// One of the values is the answer but for white space around one of the two.
fn equals_without_white_space(cx: &Graded<'_>) -> bool {
    let value = &cx.grader["value"];
    let mut values = value.as_str().into_iter().chain(list(cx.grader, "value").iter().filter_map(Value::as_str));
    let (kind, answer) = (cx.kind(), cx.answer());
    let fold = |text: &str| text.to_uppercase().to_lowercase();
    let is_equal = |one: &str, other: &str| match kind.strip_prefix("icontains") {
        Some(_) => fold(one) == fold(other),
        None => kind.starts_with("contains") && one == other,
    };
    values.any(|value| is_equal(value.trim(), answer.trim()) && value != value.trim())
}

/// The value of an `icontains` grader whose texts are compared in this form.
#[allow(clippy::cast_precision_loss, reason = "a handful of values")]
fn contains_values(cx: &Graded<'_>, form: &dyn Fn(&str) -> String) -> Option<f64> {
    let answer = form(&cx.answer());
    let values =
        cx.grader["value"].as_str().into_iter().chain(list(cx.grader, "value").iter().filter_map(Value::as_str));
    let found: Vec<bool> = values.map(|value| answer.contains(&form(value))).collect();
    let share = found.iter().filter(|found| **found).count() as f64 / found.len() as f64;
    match cx.kind().strip_prefix("icontains")? {
        "-any" => Some(if found.contains(&true) { 1.0 } else { 0.0 }),
        _ => Some(share),
    }
}

fn names_tools_by_pattern(cx: &Graded<'_>) -> bool {
    let items = list(cx.grader, "expected").iter().filter_map(|item| item["tool"].as_str());
    let mut names =
        items.chain(cx.grader["minimums"].as_object().into_iter().flat_map(|tools| tools.keys().map(String::as_str)));
    cx.kind() == "tool-trajectory" && names.any(|name| name.contains(['*', '?']))
}

/// The same assertion without the flags `g` and `y`, which have no effect on a single search.
fn regex_flags(cx: &Graded<'_>) -> bool {
    let Some(flags) = cx.grader["flags"].as_str() else { return false };
    let kept: String = flags.chars().filter(|flag| !"gy".contains(*flag)).collect();
    let old = (format!("/{flags} (flags: {flags})"), format!("/{flags}"));
    let new = if kept.is_empty() { "/".to_owned() } else { format!("/{kept} (flags: {kept})") };
    let without = |text: String| text.replace(&old.0, &new).replace(&old.1, &new);
    let ours = cx.ours.iter().flat_map(|ours| &ours.assertions).map(|assertion| assertion.text.clone());
    flags != kept && cx.expected_texts().into_iter().map(without).eq(ours)
}

/// With `y`, JavaScript matches at the beginning only.
fn matched_after_the_start(cx: &Graded<'_>) -> bool {
    let has_flag = cx.grader["flags"].as_str().is_some_and(|flags| flags.contains('y'));
    has_flag && cx.kind() == "regex" && cx.value() == Some(1.0) && cx.expected_value() == Some(0.0)
}

/// No reply could be read, or the judge could not be reached; in the reference, the implicit judge then scores 0.
fn judge_failure(cx: &Graded<'_>) -> bool {
    let ours = cx.ours.as_ref();
    let broke = |grader: &GraderRecord| grader.code == Some(ReasonCode::JudgeError);
    ours.is_some_and(|ours| broke(ours) || ours.members.iter().any(broke))
        && (cx.expected["verdict"] == "skip"
            || reference_says(cx, "Grader parse failure")
            || reference_says(cx, "LLM aggregator failed"))
}

/// The first verdict was fail, so the judge was asked again.
fn is_confirmed(ours: &GraderRecord) -> bool {
    ours.detail("votes").is_some() || ours.members.iter().any(is_confirmed)
}

/// The confirming judgement has a different reply.
fn confirmed_by_other_replies(cx: &Graded<'_>) -> bool {
    let calls = cx.record.json["judge_calls"].as_u64();
    cx.record.json["judge_reply"].is_array() && calls.is_some_and(|calls| cx.asked as u64 > calls)
}

/// Ids of criteria, in the order of their assertions.
fn ids(texts: impl Iterator<Item = String>) -> Vec<String> {
    texts.filter_map(|text| Some(text.strip_prefix('[')?.split_once("] ")?.0.to_owned())).collect()
}

fn entries<'a>(cx: &'a Graded<'_>) -> &'a [Value] {
    list(cx.grader, if cx.grader["criteria"].is_array() { "criteria" } else { "rubrics" })
}

/// We list the criteria in their order; the reference lists the answers in theirs.
fn answered_in_other_order(cx: &Graded<'_>) -> bool {
    let Some(record) = &cx.ours else { return false };
    let mut theirs = ids(cx.expected_texts().into_iter());
    let mut ours = ids(record.assertions.iter().map(|assertion| assertion.text.clone()));
    ours.retain(|id| theirs.contains(id));
    let differs = theirs != ours;
    theirs.sort();
    ours.sort();
    record.judge.is_some() && differs && theirs == ours
}

/// A required criterion needs the full score, which we tell the judge.
fn has_implicit_required_mark(cx: &Graded<'_>) -> bool {
    let entries = entries(cx);
    let is_required = |entry: &Value| match &entry["required"] {
        Value::Bool(required) => *required,
        _ => entry.get("score_ranges").is_none(),
    };
    let has_ranges = entries.iter().any(|entry| entry.get("score_ranges").is_some());
    has_ranges && entries.iter().any(|entry| is_required(entry) && !entry["min_score"].is_number())
}

fn answered_twice(cx: &Graded<'_>) -> bool {
    let mut answered = ids(cx.expected_texts().into_iter());
    let count = answered.len();
    answered.sort();
    answered.dedup();
    cx.asked > 0 && answered.len() < count
}

/// The same value, and a verdict decided by the grader's own mark.
fn decided_by_its_own_mark(cx: &Graded<'_>) -> bool {
    let written = &cx.grader["min_score"];
    let mark = if written.is_number() { written.as_f64() } else { cx.grader["required"].as_f64() };
    let (Some(mark), Some(ours)) = (mark, &cx.ours) else { return false };
    let is_same = matches!((ours.value, cx.expected["score"].as_f64()), (Some(a), Some(b)) if (a - b).abs() < 1e-12);
    let passed = ours.value.is_some_and(|value| value >= mark) && !ours.forced_fail;
    is_same && ours.verdict == Some(evalsuite::Verdict::from_passed(passed))
}

/// The same value, which is negated and does not reach the mark that it is compared with.
fn negated_below_its_mark(cx: &Graded<'_>) -> bool {
    let Some(ours) = cx.ours.as_ref().filter(|ours| ours.negated && !ours.guard) else { return false };
    let is_same = cx.value().zip(cx.expected_value()).is_some_and(|(ours, theirs)| (ours - theirs).abs() < 1e-12);
    let is_below = is_same && ours.value.zip(ours.pass_mark).is_some_and(|(value, mark)| value < mark);
    is_below && cx.expected["verdict"] == "pass" && ours.verdict == Some(evalsuite::Verdict::Fail)
}

/// The same value, which reaches the mark as a decimal number only.
fn reaches_its_mark_as_decimal(cx: &Graded<'_>) -> bool {
    let Some(ours) = &cx.ours else { return false };
    let values = cx.value().zip(cx.expected["score"].as_f64());
    let differs = |mark: f64| {
        values.is_some_and(|(ours, theirs)| (ours - theirs).abs() < 1e-12 && at_least(ours, mark) && theirs < mark)
    };
    ours.pass_mark.is_some_and(differs) && ours.verdict == Some(evalsuite::Verdict::Pass)
}

/// A limit is broken, or a call is missing or not allowed; in the reference, 0.8 of them are enough.
fn holds_in_part(cx: &Graded<'_>) -> bool {
    let is_guard = evalsuite_schema::grader::GUARDS.contains(&cx.kind().as_str());
    let (plain, verdict) = (cx.value(), cx.ours.as_ref().and_then(|ours| ours.verdict));
    let wanted = evalsuite::Verdict::from_passed(cx.grader["negate"] == true);
    is_guard && cx.grader["min_score"].is_null() && plain.is_some_and(|value| value < 1.0) && verdict == Some(wanted)
}

/// The recorded text says that a number is outside of a bound, and shows a number inside of it.
fn contradicts_itself(cx: &Graded<'_>) -> bool {
    let number = Regex::new(r"[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?( of [0-9.e+-]+)?").expect("the pattern is valid");
    let without = |text: &str| number.replace_all(text, "#").into_owned();
    let ours = cx.ours.iter().flat_map(|ours| &ours.assertions);
    let differing: Vec<_> =
        cx.expected_texts().into_iter().zip(ours.map(|own| own.text.clone())).filter(|(a, b)| a != b).collect();
    let is_contradiction = |text: &str| {
        let numbers: Vec<f64> = number.find_iter(text).filter_map(|found| found.ok()?.as_str().parse().ok()).collect();
        let last = numbers.len().checked_sub(2).map(|start| (numbers[start], numbers[start + 1]));
        (text.contains("outside") || text.contains(" > ")) && last.is_some_and(|(shown, bound)| shown <= bound)
    };
    !differing.is_empty()
        && differing.iter().all(|(theirs, ours)| without(theirs) == without(ours) && is_contradiction(theirs))
}

/// The reference gives each expected call the first one that matches, which another one may need.
fn finds_more_calls(cx: &Graded<'_>) -> bool {
    let more = cx.value().zip(cx.expected_value()).is_some_and(|(ours, theirs)| ours > theirs);
    let tools: Vec<&Value> = list(cx.grader, "expected").iter().map(|item| &item["tool"]).collect();
    let competes = |(index, tool): (usize, &&Value)| tools[..index].contains(tool);
    let has_rivals = tools.iter().enumerate().any(competes) || names_tools_by_pattern(cx);
    cx.kind() == "tool-trajectory" && cx.grader["mode"] == "superset" && more && has_rivals
}

fn measured_duration(cx: &Graded<'_>) -> bool {
    let absent = ["No duration data available", "Duration data not available"];
    let is_absent = |text: &String| absent.iter().any(|start| text.starts_with(start));
    let ours = cx.ours.iter().flat_map(|ours| &ours.assertions).map(|assertion| &assertion.text);
    let texts = cx.expected_texts();
    let only_duration = texts.iter().zip(ours).all(|(theirs, ours)| theirs == ours || is_absent(theirs));
    cx.evidence()["duration_ms"].is_null() && only_duration && texts.iter().any(is_absent)
}

/// A limited call has no duration, but times from which we know it.
fn limits_a_call_by_its_times(cx: &Graded<'_>) -> bool {
    let is_limited = |tool: &Value| {
        let items = list(cx.grader, "expected").iter().filter(|item| item["tool"] == *tool);
        items.into_iter().any(|item| ["max_duration_ms", "maxDurationMs"].iter().any(|key| item[*key].is_number()))
    };
    let has_only_times =
        |call: &Value| call["duration_ms"].is_null() && call["start_time"].is_string() && call["end_time"].is_string();
    cx.kind() == "tool-trajectory" && cx.calls().any(|call| has_only_times(call) && is_limited(&call["tool"]))
}

fn fractional_tokens(cx: &Graded<'_>) -> bool {
    let usage = cx.evidence()["token_usage"].as_object();
    usage.is_some_and(|usage| usage.values().any(|tokens| tokens.is_number() && !tokens.is_u64()))
}

/// The error says what the agent did not report, and the record does not have it.
fn lacks_data(cx: &Graded<'_>) -> bool {
    let evidence = cx.evidence();
    let is_absent = |key: &str| evidence[key].is_null();
    let lacks = |part: &str, is_absent: bool| is_absent && cx.error().contains(part);
    lacks("the agent's calls are not known", is_absent("messages"))
        || lacks("the agent did not report its cost", is_absent("cost_usd"))
        || lacks("the agent did not report its tokens", is_absent("token_usage"))
        || lacks("the agent did not report how long", cx.calls().any(|call| call["duration_ms"].as_f64() < Some(0.0)))
}

/// The same points divided by the number of calls in place of items, and not a pass.
fn surplus_calls(cx: &Graded<'_>) -> bool {
    let items = list(cx.grader, "expected");
    let (Some(theirs), Some(ours)) = (cx.expected_value(), cx.value()) else { return false };
    let is_limited = |item: &&Value| ["max_duration_ms", "maxDurationMs"].iter().any(|key| item[*key].is_number());
    let limits = items.iter().filter(is_limited).count();
    let is_same = |limits: usize| {
        #[allow(clippy::cast_precision_loss, reason = "a handful of calls")]
        let (before, after) = ((items.len() + limits) as f64, (items.len().max(cx.calls().count()) + limits) as f64);
        (theirs * before - ours * after).abs() < 1e-9
    };
    let forced = cx.ours.as_ref().is_some_and(|record| record.forced_fail);
    let lifted = cx.grader["negate"] == true;
    cx.grader["mode"] == "exact" && items.len() != cx.calls().count() && (0..=limits).any(is_same) && (forced || lifted)
}

fn no_calls(cx: &Graded<'_>) -> bool {
    let modes = ["exact", "superset", "subset"];
    let is_empty = cx.grader["expected"].as_array().is_some_and(Vec::is_empty);
    let wanted = if cx.calls().count() == 0 { 1.0 } else { 0.0 };
    cx.grader["mode"].as_str().is_some_and(|mode| modes.contains(&mode)) && is_empty && cx.value() == Some(wanted)
}

/// A call of the right name with other arguments used the item up in the reference.
fn skipped_call(cx: &Graded<'_>) -> bool {
    cx.grader["mode"] == "in_order" && reference_says(cx, "args mismatch")
}

/// A path is a key with a dot in it, which the reference takes for two keys.
fn key_with_dot(cx: &Graded<'_>) -> bool {
    let has_key = |call: &Value| {
        let how = if call["args_match"].is_null() { &cx.grader["args_match"] } else { &call["args_match"] };
        let paths = how.as_array().into_iter().flatten().filter_map(Value::as_str);
        paths.filter(|path| path.contains('.')).any(|path| call["args"].get(path).is_some())
    };
    let ours = cx.value().zip(cx.expected_value());
    ours.is_some_and(|(ours, theirs)| ours < theirs) && list(cx.grader, "expected").iter().any(has_key)
}

/// The recorded texts contain invisible characters, which we escape.
fn texts_are_escaped(cx: &Graded<'_>) -> bool {
    let is_hidden = |c: char| {
        // Control characters, and those of the general categories Cf, Zl and Zp.
        c.is_control() && !"\n\r\t".contains(c)
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let show = |c: char| if is_hidden(c) { c.escape_default().to_string() } else { c.to_string() };
    let theirs = cx.expected_texts();
    let escaped: Vec<String> = theirs.iter().map(|text| text.chars().map(show).collect()).collect();
    let ours = cx.ours.iter().flat_map(|ours| &ours.assertions).map(|assertion| &assertion.text);
    escaped != theirs && ours.eq(&escaped)
}

/// Integers that are equal as doubles are different.
fn integers_beyond_double(cx: &Graded<'_>) -> bool {
    fn has_large(text: &str) -> bool {
        let numbers = text.split(|c: char| !c.is_ascii_digit());
        numbers.filter_map(|digits| digits.parse::<u128>().ok()).any(|number| number > 1 << 53)
    }
    let ours = cx.value().zip(cx.expected_value());
    ours.is_some_and(|(ours, theirs)| ours < theirs) && has_large(&cx.evidence().to_string())
}

/// No field of the reference is in the answer, or no field of the answer in the reference.
fn all_fields_left_out(cx: &Graded<'_>) -> bool {
    let is_left_out =
        |text: &String| text.ends_with(": optional field missing") || text.ends_with(": no expected value");
    let is_undecided = cx.ours.as_ref().is_some_and(|ours| ours.state == GraderState::Undecided);
    let weighs = |field: &Value| field["weight"].as_f64() != Some(0.0);
    let texts = cx.expected_texts();
    let (fields, left_out) = (list(cx.grader, "fields"), texts.iter().map(is_left_out));
    let counts = fields.iter().zip(left_out).any(|(field, is_left_out)| weighs(field) && !is_left_out);
    cx.kind() == "field-accuracy" && is_undecided && fields.len() == texts.len() && !counts
}

fn number_out_of_range(cx: &Graded<'_>) -> bool {
    cx.has_tag("json-limits") && is_decided(cx) && evalsuite_schema::json::from_str::<Value>(&cx.answer()).is_err()
}

/// The reference rewrites what looks like a judge's `passed` before it parses the document.
fn has_passed_field(cx: &Graded<'_>) -> bool {
    let rewritten = Regex::new(r#"(?i)"passed"\s*:\s*("[^"]+"|(?!(?-i:true|false)\b)[a-z_])"#);
    let rewritten = rewritten.is_ok_and(|rewritten| rewritten.is_match(&cx.answer()).unwrap_or(false));
    cx.kind() == "field-accuracy" && rewritten
}

/// Only a fence around the document is removed.
fn fence_in_string(cx: &Graded<'_>) -> bool {
    let answer = cx.answer();
    let (start, end) = (answer.find('{').unwrap_or(0), answer.rfind('}').map_or(answer.len(), |end| end + 1));
    let document = answer.get(start..end).unwrap_or_default();
    cx.kind() == "field-accuracy"
        && document.contains("```")
        && evalsuite_schema::json::from_str::<Value>(document).is_ok()
}

/// The reference removes the backticks in a judge's reply.
fn fence_in_reply(cx: &Graded<'_>) -> bool {
    let strip = |text: &str| text.replace("```json\n", "").replace("```json", "").replace("```", "");
    let ours = cx.ours.iter().flat_map(|ours| &ours.assertions).map(|assertion| strip(&assertion.text));
    cx.asked > 0 && cx.record.json["judge_reply"].to_string().contains("```") && ours.eq(cx.expected_texts())
}

/// Texts of the judge's replies.
fn replies<'a>(cx: &'a Graded<'_>) -> impl Iterator<Item = &'a str> {
    let reply = &cx.record.json["judge_reply"];
    reply.as_array().map_or(std::slice::from_ref(reply), Vec::as_slice).iter().filter_map(Value::as_str)
}

/// The judge is an agent, and our grade is that of its first reply with a score, if it has no criteria; without any, it is an error.
fn judged_like_models(cx: &Graded<'_>) -> bool {
    let score = |reply: &str| evalsuite_schema::json::from_str::<Value>(reply).ok()?["score"].as_f64();
    let is_own = match replies(cx).find_map(score).filter(|_| entries(cx).is_empty()) {
        Some(score) => is_decided(cx) && cx.value() == Some(score),
        None => cx.ours.as_ref().is_some_and(|ours| ours.code == Some(ReasonCode::JudgeError)),
    };
    cx.record.json["judge_kind"] == "agent" && is_own
}

/// The first reply has a score of 1 or 0 that its assertions deny, so the judge was asked again.
fn asked_about_a_contradiction(cx: &Graded<'_>) -> bool {
    let Some(reply) = replies(cx).next().and_then(|reply| evalsuite_schema::json::from_str::<Value>(reply).ok()) else {
        return false;
    };
    let passed: Vec<bool> = list(&reply, "assertions").iter().map(|assertion| assertion["passed"] == true).collect();
    let denies = match reply["score"].as_f64() {
        Some(1.0) => passed.contains(&false),
        Some(0.0) => !passed.is_empty() && !passed.contains(&false),
        _ => false,
    };
    denies && cx.asked > 1
}

/// The reference reads from the first brace to the last one, which is not JSON if there are braces before the judgement. We read it.
fn answers_after_other_objects(cx: &Graded<'_>) -> bool {
    let has_others = |reply: &str| {
        let outer = reply.find('{').zip(reply.rfind('}')).and_then(|(first, last)| reply.get(first..=last));
        outer.is_some_and(|outer| evalsuite_schema::json::from_str::<Value>(outer).is_err())
    };
    let refused = cx.expected["verdict"] == "skip" || reference_says(cx, "Grader parse failure");
    cx.asked > 0 && refused && is_decided(cx) && replies(cx).any(has_others)
}

/// The judge's reply is undecided.
fn is_undecided_by_judge(cx: &Graded<'_>) -> bool {
    let is_undecided = cx.ours.as_ref().is_some_and(|ours| ours.state == GraderState::Undecided);
    cx.asked > 0 && is_undecided && cx.record.json["judge_reply"].to_string().contains("undecided")
}

fn has_broken_member(cx: &Graded<'_>) -> bool {
    let is_broken = |member: &GraderRecord| member.state == GraderState::Error;
    cx.ours.as_ref().is_some_and(|ours| ours.members.iter().any(is_broken))
}

fn aggregator<'a>(cx: &'a Graded<'_>) -> Option<&'a str> {
    Some(match cx.grader["aggregator"]["type"].as_str()? {
        "code_grader" => "code-grader",
        "llm_grader" => "llm-grader",
        other => other,
    })
}

fn aggregator_command<'a>(cx: &'a Graded<'_>) -> Option<&'a str> {
    (aggregator(cx) == Some("code-grader")).then(|| cx.grader["aggregator"]["path"].as_str()).flatten()
}

/// The aggregator reads the results of the members, whose field names differ.
fn aggregator_reads(cx: &Graded<'_>) -> bool {
    aggregator_command(cx).is_some_and(|command| command.contains("stdin"))
}

/// The command and the files of the record: what the command prints comes from them.
pub fn sources(cx: &Graded<'_>) -> String {
    let grader = cx.grader;
    format!("{}{}{}{}", grader["command"], grader["script"], grader["aggregator"]["path"], cx.record.json["files"])
}

fn exited(cx: &Graded<'_>) -> Option<i32> {
    cx.command()?.exit_code
}

/// The first line of the output is the score; the reference reads only JSON.
fn plain_text_result(cx: &Graded<'_>) -> bool {
    let command = sources(cx).to_ascii_lowercase();
    // White space is escaped in JSON and in the shell.
    let command = Regex::new(r"\\+[nrtf]").expect("the pattern is valid").replace_all(&command, " ").into_owned();
    let words = command.split(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    let value = |word: &str| match word {
        "pass" => Some(1.0),
        "fail" => Some(0.0),
        number => number.parse::<f64>().ok(),
    };
    let has_text = cx.ours.as_ref().is_none_or(|ours| ours.assertions.len() > of_members(ours));
    let is_value = |printed: Option<f64>| printed.zip(cx.value()).is_some_and(|(a, b)| (a - b).abs() < 1e-12);
    let is_printed = !has_text && words.map(value).any(is_value);
    // Only text has other lines, which are its rationale.
    let has_lines = cx.ours.as_ref().is_some_and(|ours| ours.rationale.is_some());
    let is_object = command.contains("score") && !has_lines;
    exited(cx) == Some(0) && cx.expected_value() == Some(0.0) && is_printed && !is_object
}

/// No output, or a failed command: the reference scores 0 whatever the exit code; here the exit code decides.
fn exit_code_decides(cx: &Graded<'_>) -> bool {
    let own = |record: &&GraderRecord| {
        let says = record.assertions.first().map(|assertion| assertion.passed != record.negated);
        record.assertions.len() == of_members(record) + 1 && says == Some(exited(cx) == Some(0))
    };
    let value = cx.value();
    let is_single = cx.ours.as_ref().filter(own).is_some();
    match exited(cx) {
        Some(0) => {
            is_single && value == Some(1.0) && cx.expected_value() == Some(0.0) && cx.expected_texts().is_empty()
        }
        Some(code) => is_single && value == Some(0.0) && reference_says(cx, &format!("exited with code {code}")),
        None => false,
    }
}

/// A result without `score` is worth the share of its assertions that passed.
#[allow(clippy::cast_precision_loss, reason = "a handful of assertions")]
fn share_of_assertions(cx: &Graded<'_>) -> bool {
    let Some(ours) = &cx.ours else { return false };
    let own = &ours.assertions[..ours.assertions.len().saturating_sub(of_members(ours))];
    let passed = own.iter().filter(|assertion| assertion.passed != ours.negated).count();
    exited(cx) == Some(0)
        && cx.expected_value() == Some(0.0)
        && !own.is_empty()
        && cx.value() == Some(passed as f64 / own.len() as f64)
}

fn malformed_result(cx: &Graded<'_>) -> bool {
    let error = cx.error();
    // This output is not a result whatever the exit code.
    let never = [
        "the command printed a result with other text around it",
        "the command printed a JSON object without `score`",
        "the command printed a result that is not valid JSON",
    ];
    if exited(cx) > Some(0) && never.iter().any(|start| error.starts_with(start)) {
        return true;
    }
    let starts = [
        "the result has neither `score` nor assertions",
        "`score",
        "`assertions",
        "`verdict",
        "`details",
        "`rationale",
        "the command printed a result that is not valid JSON",
        "the command printed a JSON object without `score`",
    ];
    exited(cx) == Some(0) && starts.iter().any(|start| error.starts_with(start))
}

/// The command's result is `undecided`.
fn is_undecided_by_command(cx: &Graded<'_>) -> bool {
    let is_undecided = cx.ours.as_ref().is_some_and(|ours| ours.state == GraderState::Undecided);
    exited(cx) == Some(0) && is_undecided && sources(cx).contains("undecided")
}

fn program_missing(cx: &Graded<'_>) -> bool {
    let is_missing = cx.error().starts_with("cannot run `") || matches!(exited(cx), Some(126 | 127));
    is_missing && cx.expected_value() == Some(0.0) && reference_says(cx, "ailed")
}
