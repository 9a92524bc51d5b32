//! The result of a code grader's command: its output and exit code.

use evalsuite_records::record::Assertion;
use evalsuite_schema::Value;
use evalsuite_schema::grader::ResultSource;

use crate::grade::code_grader::result_object::{self, VerdictRule, line_of_crash};
use crate::model::score::Score;
use crate::platform::excerpt::{escaped, last_chars, middle_out, trim};
use crate::platform::process::{Captured, Finished};

/// Characters of output that an assertion or a rationale shows.
const SHOWN: usize = 2000;
/// Characters of output that is not a result, in an error.
const UNREADABLE_SHOWN: usize = 300;
const HELP: &str = "help: print `{\"score\": 0.5}`, or a first line that is `pass`, `fail` or a number from 0 to 1, to stdout, and logs to \
     stderr; if only the exit status counts, set `result: status`";

/// The exit status with which a command says *fail*. It is the one that `grep`, `diff`, `test` and test runners use for it; another one
/// says that they could not do their work.
const FAIL: i32 = 1;

/// The score of a command that has ended. What cannot be read is an error, and so is a command that died.
pub(crate) fn read(finished: &Finished, source: ResultSource, rule: VerdictRule) -> Score {
    let stdout = finished.stdout.text();
    let stdout = trim(&stdout);
    let stderr = finished.stderr.text();
    let Some(code) = finished.status.code() else {
        return Score::error(format!("the command was ended by a signal ({}){}", finished.status, tail_of(&stderr)));
    };
    if source == ResultSource::Output && (!stdout.is_empty() || finished.stdout.truncated) {
        match printed(stdout, finished.stdout.truncated, (code, &stderr), rule) {
            Err(error) => return Score::error(error),
            Ok(Some(score)) => return score,
            Ok(None) => {}
        }
    }
    let first = stdout.lines().next().map(trim).unwrap_or_default();
    if source == ResultSource::Output && rule == VerdictRule::Decides && code != 0 && first.eq_ignore_ascii_case("pass")
    {
        return Score::error(format!(
            "the command printed `{first}` but failed with exit code {code}{}",
            tail_of(&stderr)
        ));
    }
    if let Some(why) = broken(code, source, &finished.stderr) {
        return Score::error(why);
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

/// Why a command that printed no result broke: its exit status is neither that of a pass nor that of a fail, or it had an error of its
/// own, which says nothing about the answer. If only the status counts, test runners and build tools choose it.
fn broken(code: i32, source: ResultSource, captured: &Captured) -> Option<String> {
    let stderr = captured.text();
    let tail = tail_of(&stderr);
    match code {
        0 if source == ResultSource::Status => None,
        // A shell that does not find a command goes on.
        0 | FAIL => {
            let redirection = if code == FAIL { "2>&1" } else { "2>/dev/null" };
            let crash = line_of_crash(&stderr).map(|line| {
                format!(
                    "the command had an error of its own, which says nothing about the answer: `{}`; help: fix the command; if a program \
                     of the agent wrote this, redirect its standard error (`{redirection}`){tail}",
                    escaped(line, &[])
                )
            });
            // Reports of crashes come last.
            let unread = (captured.truncated && source != ResultSource::Status).then(|| {
                format!(
                    "the command wrote more to standard error than the {} bytes that are read, so it is unknown whether it had an error of its \
                     own; help: redirect what programs write there (`{redirection}`)",
                    captured.bytes.len()
                )
            });
            crash.or(unread)
        }
        126 | 127 => Some(format!("the command cannot be run (exit code {code}){tail}")),
        129..=192 => Some(format!("the command was ended by signal {} (exit code {code}){tail}", code - 128)),
        _ if source == ResultSource::Status => None,
        _ => Some(format!(
            "the command ended with exit code {code}, but only 0 (pass) and {FAIL} (fail) say something about the answer; help: if it \
             means a fail, end the command with `|| exit {FAIL}`, or set `result: status`{tail}"
        )),
    }
}

/// The result in an output, or why it is none; `None` if the exit code decides, because the command failed and its output is plain text.
fn printed(
    stdout: &str,
    is_truncated: bool,
    (code, stderr): (i32, &str),
    rule: VerdictRule,
) -> Result<Option<Score>, String> {
    let unreadable = |what: &str| {
        let shown = escaped(&middle_out(stdout, UNREADABLE_SHOWN), &[]);
        Err(format!("the command printed {what}: `{shown}`; {HELP}"))
    };
    let parsed = evalsuite_schema::json::from_str_with_unique_keys::<Value>(stdout);
    let parsed = match parsed {
        Ok(Value::Object(object)) if !is_truncated => {
            // A score beside an error is a default of the command, not a grade.
            return match (result_object::error(&object), result_object::is_result(&object)) {
                (Some(error), _) => Err(format!("the command reported an error: {}", last_chars(&error, SHOWN))),
                (None, true) if code != 0 => {
                    Err(format!("the command printed a result but failed with exit code {code}{}", tail_of(stderr)))
                }
                (None, true) => result_object::read(object, rule).map(Some),
                (None, false) => unreadable("a JSON object without `score`, `assertions` or `verdict`"),
            };
        }
        parsed => parsed,
    };
    let has_object = result_object::is_in(stdout);
    match parsed {
        _ if code != 0 && !has_object => return Ok(None),
        _ if is_truncated => return unreadable("more than can be read, so that its result is incomplete"),
        Err(error) if stdout.starts_with('{') && (stdout.ends_with('}') || !has_object) => {
            return unreadable(&format!("a result that is not valid JSON ({error})"));
        }
        _ if has_object => return unreadable("a result with other text around it"),
        _ => {}
    }
    let (first, rest) = stdout.split_once('\n').unwrap_or((stdout, ""));
    let Some(value) = plain_value(first) else {
        let is_number = trim(first).parse::<f64>().is_ok();
        return unreadable(if is_number { "a score that is not from 0 to 1" } else { "text that is not a result" });
    };
    if rest.lines().any(|line| plain_value(line).is_some()) {
        return unreadable("more than one result");
    }
    let mut score = Score::new(value);
    score.rationale = Some(trim(rest)).filter(|rest| !rest.is_empty()).map(|rest| last_chars(rest, SHOWN));
    Ok(Some(score))
}

/// The value of a line that is a result by itself.
fn plain_value(line: &str) -> Option<f64> {
    let line = trim(line);
    match line.to_ascii_lowercase().as_str() {
        "pass" => Some(1.0),
        "fail" => Some(0.0),
        number => number.parse().ok().filter(|value| (0.0..=1.0).contains(value)).map(f64::abs),
    }
}

/// Whether a command failed and wrote to standard error only, as one that fell over does: its exit code is a verdict, but not one
/// that can be negated.
pub(crate) fn is_crash(finished: &Finished) -> bool {
    finished.status.code().is_some_and(|code| code != 0)
        && trim(&finished.stdout.text()).is_empty()
        && !trim(&finished.stderr.text()).is_empty()
}

fn tail_of(stderr: &str) -> String {
    match trim(stderr) {
        "" => String::new(),
        text => format!(": {}", last_chars(text, SHOWN)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use evalsuite_records::record::Verdict;

    use super::*;
    use crate::model::score::ScoreState;
    use crate::platform::protocol_schema;

    fn finished(stdout: &str, stderr: &str, status: i32) -> Finished {
        let captured = |text: &str| Captured { bytes: text.into(), truncated: false };
        Finished {
            status: ExitStatus::from_raw(status),
            timed_out: false,
            stdout: captured(stdout),
            stderr: captured(stderr),
        }
    }

    fn reply(stdout: &str, stderr: &str, status: i32) -> Score {
        read(&finished(stdout, stderr, status), ResultSource::Output, VerdictRule::OnlyFailDecides)
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
        for (stdout, value) in [("PASS\r\n", 1.0), ("1e0", 1.0), ("+1", 1.0), (".5", 0.5), ("1.", 1.0), ("-0", 0.0)] {
            assert_eq!(reply(stdout, "", exit(0)).state, ScoreState::Decided(value), "{stdout}");
        }
    }

    #[test]
    fn an_output_that_is_not_a_result_is_an_error_that_shows_it_and_says_what_to_print() {
        for text in [
            "all good",
            "log\n{\n \"score\": 0\n}",
            "{\"score\": 0}\nlog",
            "Result: {\"score\": 0}",
            "```json\n{\"score\": 0}\n```",
            "[{\"score\": 0}]",
            "{\"score\": 0}\n{\"score\": 1}",
            "{\"score\": 0",
            "{\"result\": 1}",
            "[]",
            "False",
            "true",
            "null",
            "\"pass\"",
            "PASS.",
            "pass fail",
            "passed all",
            "FAIL: amount missing",
            "score: 0",
            "0%",
            "1.0 points",
            "0,5",
            "0.5 of the items",
            "1/2",
            "100",
            "-0.1",
            "1.01\nbecause",
            "1e999",
            "nan",
            "inf",
            "\u{1b}[32mpass\u{1b}[0m",
            "pass\rfail",
            "starting\npass",
            "pass\nfail",
            "0.5\nof these\n1",
            "1\n{\"score\": 0}",
            "pass\nlog\n{\n \"score\": 0\n}\nlog",
        ] {
            let score = reply(&format!("\u{feff}{text}\n"), "log", exit(0));
            let shown = format!(": `{}`; help: print `{{\"score\": 0.5}}`", escaped(text, &[]));
            assert!(error(&score).contains(shown.as_str()), "{text}: {}", error(&score));
            assert!(error(&score).ends_with("set `result: status`"), "{}", error(&score));
        }
        let long = reply(&"noise ".repeat(1000), "", exit(0));
        assert!(error(&long).len() < 700 && error(&long).contains('…'), "{}", error(&long));
    }

    #[test]
    fn an_output_that_was_cut_is_an_error() {
        for stdout in ["{\"score\": 1}", "pass", "1\nlog", ""] {
            let mut finished = finished(stdout, "", 0);
            finished.stdout.truncated = true;
            let score = read(&finished, ResultSource::Output, VerdictRule::Decides);
            assert!(error(&score).contains("more than can be read"), "{score:?}");
        }
    }

    #[test]
    fn an_exit_status_does_not_decide_if_the_report_of_a_crash_may_be_cut() {
        let cut = |stdout: &str, code: i32, source: ResultSource| {
            let mut finished = finished(stdout, "noise\n", exit(code));
            finished.stderr.truncated = true;
            read(&finished, source, VerdictRule::Decides)
        };
        for code in [0, 1] {
            let score = cut("", code, ResultSource::Output);
            assert!(error(&score).contains("it is unknown whether it had an error of its own"), "{score:?}");
        }
        assert_eq!(cut("", 0, ResultSource::Status).state, ScoreState::Decided(1.0));
        assert_eq!(cut("", 1, ResultSource::Status).state, ScoreState::Decided(0.0));
        assert_eq!(cut("pass", 0, ResultSource::Output).state, ScoreState::Decided(1.0), "the result decides");
    }

    #[test]
    fn a_command_can_report_its_own_error() {
        for code in [0, 1] {
            let score = reply(r#"{"error": "docker is down"}"#, "log", exit(code));
            assert_eq!(error(&score), "the command reported an error: docker is down");
        }
        for (written, shown) in [(r#""timed out""#, "timed out"), (r#"{"code":7}"#, r#"{"code":7}"#), ("true", "true")]
        {
            let beside_a_score = format!(r#"{{"score": 0, "assertions": [], "error": {written}}}"#);
            assert_eq!(error(&reply(&beside_a_score, "", 0)), format!("the command reported an error: {shown}"));
        }
        for none in ["null", "false", r#"" ""#, "{}", "[]"] {
            let result = format!(r#"{{"score": 1, "error": {none}}}"#);
            assert_eq!(reply(&result, "", 0).state, ScoreState::Decided(1.0), "{none}");
        }
    }

    #[test]
    fn a_verdict_of_fail_decides() {
        let verdict = |text: &str| reply(text, "", 0).verdict;
        assert_eq!(verdict(r#"{"score": 1, "verdict": "fail"}"#), Some(Verdict::Fail));
        assert_eq!(verdict(r#"{"score": 0.1, "verdict": "pass"}"#), None);
        let aggregated =
            read(&finished(r#"{"score": 0.1, "verdict": "pass"}"#, "", 0), ResultSource::Output, VerdictRule::Decides);
        assert_eq!(aggregated.verdict, Some(Verdict::Pass));
    }

    #[test]
    fn a_result_that_contradicts_itself_is_an_error_where_it_could_pass() {
        let read = |text: &str, code, rule| read(&finished(text, "", exit(code)), ResultSource::Output, rule);
        for text in [
            r#"{"score": 1, "passed": false}"#,
            r#"{"score": 1, "pass": "fail"}"#,
            r#"{"score": 1, "assertions": [{"text": "a", "passed": false}]}"#,
        ] {
            for rule in [VerdictRule::OnlyFailDecides, VerdictRule::Decides] {
                let score = read(text, 0, rule);
                assert!(error(&score).starts_with("the result contradicts itself: `score` is "), "{text}: {score:?}");
            }
        }
        for text in [
            r#"{"score": 0, "passed": true}"#,
            r#"{"score": 0, "assertions": [{"text": "a", "passed": true}, {"text": "b", "passed": true}]}"#,
            r#"{"score": 0, "verdict": "pass"}"#,
            r#"{"verdict": "pass", "assertions": [{"text": "a", "passed": false}]}"#,
        ] {
            assert_eq!(read(text, 0, VerdictRule::OnlyFailDecides).state, ScoreState::Decided(0.0), "{text}");
            let score = read(text, 0, VerdictRule::Decides);
            assert!(error(&score).starts_with("the result contradicts itself: "), "{text}: {score:?}");
        }
        assert!(error(&read("Pass\nall there", 1, VerdictRule::Decides)).starts_with("the command printed `Pass` but"));
        for text in [
            r#"{"score": 0.5, "passed": false}"#,
            r#"{"score": 1, "assertions": [{"text": "a", "passed": false}, {"text": "b", "passed": true}]}"#,
            r#"{"score": 0, "assertions": []}"#,
            r#"{"score": 1, "passed": 3}"#,
        ] {
            assert!(matches!(read(text, 0, VerdictRule::Decides).state, ScoreState::Decided(_)), "{text}");
        }
    }

    #[test]
    fn with_result_status_only_the_exit_code_counts() {
        for text in ["", "all good", "fail", "0", "{\"score\": 0}", "log\n{\n \"score\": 0\n}"] {
            for (code, value) in [(0, 1.0), (1, 0.0), (2, 0.0), (101, 0.0)] {
                let score = read(&finished(text, "", exit(code)), ResultSource::Status, VerdictRule::OnlyFailDecides);
                assert_eq!(score.state, ScoreState::Decided(value), "{text}");
                let shown = if text.is_empty() { format!("exit code {code}") } else { text.to_owned() };
                assert_eq!(score.assertions[0].text, shown);
            }
        }
    }

    #[test]
    fn a_command_that_broke_is_an_error_and_not_a_fail() {
        let of_output = [2, 3, 101, 124, 125, 255].as_slice();
        for (source, statuses) in [(ResultSource::Output, of_output), (ResultSource::Status, &[])] {
            let statuses = statuses.iter().chain(&[126, 127, 134, 137]).copied().map(exit);
            for status in statuses.chain([9]) {
                for (stdout, stderr) in [("", ""), ("", "boom"), ("FAIL: amount missing", "")] {
                    error(&read(&finished(stdout, stderr, status), source, VerdictRule::OnlyFailDecides));
                }
            }
            let traceback =
                "Traceback (most recent call last):\n  File \"c.py\", line 1\nModuleNotFoundError: No module named 'x'";
            for stdout in ["", "checking"] {
                let score = read(&finished(stdout, traceback, exit(1)), source, VerdictRule::OnlyFailDecides);
                assert!(error(&score).contains("`ModuleNotFoundError: No module named 'x'`"), "{score:?}");
            }
        }
        let missing = "sh: 1: jq: not found";
        let read = |stdout, source| read(&finished(stdout, missing, 0), source, VerdictRule::OnlyFailDecides);
        assert!(error(&read("", ResultSource::Output)).contains(missing), "the check was not made");
        for (stdout, source) in [("pass", ResultSource::Output), ("", ResultSource::Status)] {
            assert_eq!(read(stdout, source).state, ScoreState::Decided(1.0), "{stdout}");
        }
        assert!(error(&reply("", "", exit(101))).contains("`|| exit 1`"));
        assert!(error(&reply("", "", exit(137))).starts_with("the command was ended by signal 9"));
    }

    #[test]
    fn with_another_exit_code_plain_text_is_no_result() {
        for text in ["1", "pass", "0.9\nnearly", "85"] {
            assert_eq!(reply(text, "", exit(1)).state, ScoreState::Decided(0.0), "{text}");
        }
    }

    #[test]
    fn without_output_or_with_plain_text_and_another_exit_code_the_exit_code_decides() {
        for (stdout, stderr, code, value, shown) in [
            ("", "", 0, 1.0, "exit code 0"),
            (" \r\n\u{feff}", "log", 0, 1.0, "log"),
            ("", "2 tests failed", 1, 0.0, "2 tests failed"),
            ("FAIL: amount missing", "", 1, 0.0, "FAIL: amount missing"),
            ("[]", "", 1, 0.0, "[]"),
        ] {
            let score = reply(stdout, stderr, exit(code));
            assert_eq!((score.state, score.assertions[0].text.as_str()), (ScoreState::Decided(value), shown));
        }
        let result = "log\n{\n \"score\": 1\n}\n";
        assert!(error(&reply(result, "", exit(1))).contains("with other text around it"));
    }
}
