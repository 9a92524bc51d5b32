//! The result of a code grader's command: its output and exit code.

use std::collections::BTreeMap;

use evalsuite_records::record::{Assertion, Verdict};
use evalsuite_schema::{Object, Value};

use crate::model::score::Score;
use crate::platform::excerpt::{last_chars, trim};
use crate::platform::process::Finished;

/// Characters of output that are shown.
const SHOWN: usize = 2000;

/// The effect of `verdict` in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictRule {
    /// It is a detail; the score decides.
    IsDetail,
    /// It decides.
    Decides,
}

pub(crate) fn read(finished: &Finished, rule: VerdictRule) -> Score {
    let stdout = finished.stdout.text();
    let stdout = trim(&stdout);
    let stderr = finished.stderr.text();
    let Some(code) = finished.status.code() else {
        return Score::error(format!("the command was ended by a signal ({}){}", finished.status, tail_of(&stderr)));
    };
    if matches!(code, 126 | 127) {
        return Score::error(format!("the command cannot be run (exit code {code}){}", tail_of(&stderr)));
    }
    let parsed = evalsuite_schema::json::from_str_with_unique_keys::<Value>(stdout);
    if let Ok(Value::Object(result)) = parsed {
        if !is_result(&result) {
            return Score::error("the command printed a JSON object without `score`, `assertions` or `verdict`");
        }
        if code != 0 {
            return Score::error(format!(
                "the command printed a result but failed with exit code {code}{}",
                tail_of(&stderr)
            ));
        }
        return from_result(result, rule).unwrap_or_else(Score::error);
    }
    // Braces mean a result, and a result that cannot be read must not pass.
    if let (Err(error), 0, true) = (&parsed, code, stdout.starts_with('{') && stdout.ends_with('}')) {
        return Score::error(format!("the command printed a result that is not valid JSON: {error}"));
    }
    let last_line = stdout.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if let Ok(Value::Object(result)) = evalsuite_schema::json::from_str::<Value>(last_line.trim())
        && is_result(&result)
    {
        return Score::error(
            "the command printed other lines before its result; help: print only the result to stdout, logs to stderr",
        );
    }
    if let (0, Some(score)) = (code, from_first_line(stdout)) {
        return score;
    }
    let text = match (stdout, trim(&stderr)) {
        ("", "") => format!("exit code {code}"),
        ("", stderr) => last_chars(stderr, SHOWN),
        (stdout, _) => last_chars(stdout, SHOWN),
    };
    let assertion =
        Assertion::new(text, code == 0).with_expected("exit code 0").with_actual(format!("exit code {code}"));
    Score::from_assertions([assertion])
}

/// The result whose first line is a score, `pass` or `fail`; the other lines explain it.
fn from_first_line(stdout: &str) -> Option<Score> {
    let (first, rest) = stdout.split_once('\n').unwrap_or((stdout, ""));
    let first = trim(first);
    let mut score = match (first.to_ascii_lowercase().as_str(), first.parse::<f64>()) {
        ("pass", _) => Score::pass(),
        ("fail", _) => Score::from(false),
        (_, Ok(value)) if (0.0..=1.0).contains(&value) => Score::new(value),
        // Words such as `inf` are text.
        (_, Ok(_)) if !first.contains(|letter: char| letter.is_ascii_alphabetic() && letter != 'e') => {
            Score::error(format!(
                "the command printed the score {first}, not a number from 0 to 1; help: where only the exit code counts, print text before it"
            ))
        }
        _ => return None,
    };
    score.rationale = Some(trim(rest)).filter(|rest| !rest.is_empty()).map(|rest| last_chars(rest, SHOWN));
    Some(score)
}

/// Whether a command failed and wrote to standard error only, as one that fell over does: its exit code is a verdict, but not one
/// that can be negated.
pub(crate) fn is_crash(finished: &Finished) -> bool {
    finished.status.code().is_some_and(|code| code != 0)
        && trim(&finished.stdout.text()).is_empty()
        && !trim(&finished.stderr.text()).is_empty()
}

fn is_result(object: &Object) -> bool {
    ["score", "assertions", "verdict"].iter().any(|key| object.contains_key(key))
}

/// The score of a result; the error is what is wrong with the result.
fn from_result(mut result: Object, rule: VerdictRule) -> Result<Score, String> {
    let assertions = result.remove("assertions").map(assertions).transpose()?.unwrap_or_default();
    let verdict = match result.remove("verdict") {
        None => None,
        Some(Value::String(text)) if matches!(text.as_str(), "pass" | "fail" | "undecided") => Some(text),
        Some(other) => {
            return Err(format!("`verdict` is {other}, not \"pass\", \"fail\" or \"undecided\""));
        }
    };
    let rationale = text(&mut result, "rationale")?;
    let details = match result.remove("details") {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(details)) => details,
        Some(other) => return Err(format!("`details` is {other}, not an object")),
    };
    let metrics = result.get("metrics").and_then(metrics);
    if metrics.is_some() {
        result.remove("metrics");
    }
    let mut score = match (result.remove("score"), verdict.as_deref()) {
        (_, Some("undecided")) => {
            Score::undecided(rationale.clone().unwrap_or_else(|| "the command did not decide".to_owned()))
        }
        (Some(value), _) => match value.as_f64() {
            Some(number) if (0.0..=1.0).contains(&number) => Score::new(number),
            _ => return Err(format!("`score` is {value}, not a number from 0 to 1")),
        },
        (None, _) if assertions.is_empty() => {
            return Err("the result has neither `score` nor assertions".into());
        }
        (None, _) => Score::from_assertions(assertions.iter().cloned()),
    };
    score.assertions = assertions;
    score.metrics = metrics.unwrap_or_default();
    score.rationale = rationale;
    score.details = details;
    match (verdict, rule) {
        (Some(verdict), VerdictRule::Decides) if verdict != "undecided" => {
            score.verdict = Some(Verdict::from_passed(verdict == "pass"));
        }
        (Some(verdict), _) => score = score.with_detail("verdict", verdict),
        (None, _) => {}
    }
    if !result.is_empty() {
        score = score.with_detail("extra", Value::Object(result));
    }
    Ok(score)
}

/// Named measurements; `None` for anything but an object of numbers, which is kept as another key is.
fn metrics(value: &Value) -> Option<BTreeMap<String, f64>> {
    value.as_object()?.iter().map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
}

fn text(result: &mut Object, key: &str) -> Result<Option<String>, String> {
    match result.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` is {other}, not a text")),
    }
}

fn assertions(value: Value) -> Result<Vec<Assertion>, String> {
    let Value::Array(entries) = value else {
        return Err(format!("`assertions` is {value}, not a list"));
    };
    entries.into_iter().enumerate().map(|(index, entry)| assertion(index, &entry)).collect()
}

fn assertion(index: usize, entry: &Value) -> Result<Assertion, String> {
    let text = entry.get("text").and_then(Value::as_str);
    let passed = entry.get("passed").and_then(Value::as_bool);
    let (Some(text), Some(passed)) = (text, passed) else {
        return Err(format!("`assertions[{index}]` has no text `text` or no boolean `passed`"));
    };
    let mut assertion = Assertion::new(text, passed);
    let optional = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    assertion.expected = optional("expected");
    assertion.actual = optional("actual");
    assertion.evidence = optional("evidence");
    Ok(assertion)
}

fn tail_of(stderr: &str) -> String {
    match trim(stderr) {
        "" => String::new(),
        text => format!(": {}", last_chars(text, SHOWN)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;
    use crate::model::score::ScoreState;
    use crate::platform::process::Captured;
    use crate::platform::protocol_schema;

    fn reply(stdout: &str, stderr: &str, status: i32) -> Score {
        let captured = |text: &str| Captured { bytes: text.into(), truncated: false };
        let finished = Finished {
            status: ExitStatus::from_raw(status),
            timed_out: false,
            stdout: captured(stdout),
            stderr: captured(stderr),
        };
        read(&finished, VerdictRule::IsDetail)
    }

    fn exit(code: i32) -> i32 {
        code << 8
    }

    fn error(score: &Score) -> &str {
        match &score.state {
            ScoreState::Error(message) => message,
            other => panic!("expected an error, got {other:?}"),
        }
    }

    #[test]
    fn a_result_is_read_as_written() {
        let score = reply(
            "\u{feff} {\"score\": 0.25, \"verdict\": \"pass\", \"assertions\": [{\"text\": \"a\", \"passed\": true, \"evidence\": 5}], \"note\": 1}\n",
            "log",
            exit(0),
        );
        assert_eq!((score.state, score.verdict), (ScoreState::Decided(0.25), None));
        assert_eq!(score.assertions, [Assertion::new("a", true)]);
        assert_eq!(
            Value::Object(score.details),
            evalsuite_schema::json::json!({"verdict": "pass", "extra": {"note": 1}})
        );
    }

    #[test]
    fn the_examples_of_the_protocol_are_results() {
        for example in protocol_schema::examples("code-grader-result") {
            let score = reply(&example.to_string(), "", 0);
            assert!(!matches!(score.state, ScoreState::Error(_)), "{example}: {score:?}");
            assert_eq!(score.assertions.len(), example["assertions"].as_array().map_or(0, Vec::len));
        }
    }

    #[test]
    fn metrics_are_an_object_of_numbers() {
        let score = reply(r#"{"score": 0.5, "metrics": {"recall": 1, "tokens": 20.5}}"#, "", 0);
        assert_eq!(score.metrics, BTreeMap::from([("recall".to_owned(), 1.0), ("tokens".to_owned(), 20.5)]));
        assert!(score.details.is_empty());
        let other = reply(r#"{"score": 0.5, "metrics": {"recall": "high"}}"#, "", 0);
        assert!(other.metrics.is_empty());
        assert_eq!(Value::Object(other.details), serde_json::json!({"extra": {"metrics": {"recall": "high"}}}));
    }

    #[test]
    fn assertions_replace_a_missing_score() {
        let score = reply(r#"{"assertions": [{"text": "a", "passed": true}, {"text": "b", "passed": false}]}"#, "", 0);
        assert_eq!(score.state, ScoreState::Decided(0.5));
        assert!(matches!(reply(r#"{"verdict": "undecided"}"#, "", 0).state, ScoreState::Undecided(_)));
    }

    #[test]
    fn an_invalid_or_contradictory_result_is_an_error() {
        for stdout in [
            r#"{"score": 1.5}"#,
            r#"{"score": "0.9"}"#,
            r#"{"score": null}"#,
            r#"{"verdict": "pass"}"#,
            r#"{"score": 1, "verdict": "maybe"}"#,
            r#"{"score": 1, "assertions": [{"text": "a", "passed": "yes"}]}"#,
            r#"{"score": 1, "assertions": {}}"#,
            r#"{"result": 1}"#,
            r#"{"score": NaN}"#,
            r#"{"score": 1e999}"#,
            "{'score': 1}",
            "starting\n{\"score\": 1}",
        ] {
            error(&reply(stdout, "", 0));
            if let Ok(value) = evalsuite_schema::json::from_str(stdout) {
                assert_ne!(protocol_schema::problems("code-grader-result", &value), Vec::<String>::new(), "{stdout}");
            }
        }
        for stdout in [
            r#"{"score":0,"score":1}"#,
            r#"{"score":1,"assertions":[{"text":"a","passed":false,"passed":true}]}"#,
            r#"{"score":1,"verdict":"fail","verdict":"pass"}"#,
        ] {
            assert!(error(&reply(stdout, "", 0)).contains(" twice"), "{stdout}");
        }
        assert!(error(&reply(r#"{"score": 1}"#, " boom ", exit(1))).ends_with("exit code 1: boom"));
        error(&reply(r#"{"score": 1}"#, "", 9));
        error(&reply("", "", exit(127)));
    }

    #[test]
    fn the_first_line_may_be_a_score_or_a_verdict() {
        for (stdout, value, rationale) in [
            ("0.25\n", 0.25, None),
            ("1", 1.0, None),
            ("\u{feff}5e-1\r\nhalf of the items\nare there\n", 0.5, Some("half of the items\nare there")),
            ("pass", 1.0, None),
            ("FAIL\nno total", 0.0, Some("no total")),
        ] {
            let score = reply(stdout, "log", exit(0));
            assert_eq!((score.state, score.rationale.as_deref()), (ScoreState::Decided(value), rationale), "{stdout}");
        }
        for text in ["passed all", "failing", "0.5 of the items", "85%", "inf", "nan", "1/2"] {
            assert_eq!(reply(text, "", exit(0)).state, ScoreState::Decided(1.0), "{text}");
        }
        for number in ["85", "-0.1", "1.01\nbecause", "1e3"] {
            let score = reply(number, "", exit(0));
            assert!(error(&score).contains("not a number from 0 to 1"), "{number}");
        }
    }

    #[test]
    fn with_another_exit_code_plain_text_is_no_result() {
        for text in ["1", "pass", "0.9\nnearly", "85"] {
            assert_eq!(reply(text, "", exit(1)).state, ScoreState::Decided(0.0), "{text}");
        }
    }

    #[test]
    fn without_a_result_the_exit_code_decides() {
        let passed = reply("all good", "", exit(0));
        assert_eq!((passed.state, passed.assertions[0].text.as_str()), (ScoreState::Decided(1.0), "all good"));
        let failed = reply("", "2 tests failed", exit(1));
        assert_eq!((failed.state, failed.assertions[0].text.as_str()), (ScoreState::Decided(0.0), "2 tests failed"));
        assert_eq!(reply("[]", "", 0).state, ScoreState::Decided(1.0));
    }
}
