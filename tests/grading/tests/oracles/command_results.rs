//! `code-grader`: what a command prints, and its exit status, classified by a table. The commands are processes.

use std::path::Path;

use evalsuite::__private::GradableEvidence;
use evalsuite::Verdict;
use evalsuite_schema::json::{Value, json};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::{Expected, answered, compare, for_each_of, grader, inputs};
use crate::decimal::{Exact, ratio, whole};
use crate::fields::exact;
use crate::json_grammar::{Json, whole as whole_json};
use crate::text::trimmed;

/// What a command does.
#[derive(Debug, Clone)]
struct Run {
    stdout: String,
    stderr: &'static str,
    code: u8,
    negate: bool,
}

/// What is said about a run.
#[derive(Debug)]
enum Says {
    Exactly(Expected),
    /// An error, or this.
    ErrorOr(Expected),
    /// Anything but a pass.
    NeverPass,
}

/// What an interpreter writes about an exception that was not caught.
const CRASH: &str =
    "Traceback (most recent call last):\n  File \"c.py\", line 1\nModuleNotFoundError: No module named 'x'";

/// Lines that are results.
const RESULTS: [&str; 14] =
    ["pass", "PASS", "Fail", "fail", "0", "1", "0.5", "1.0", "0.80", "5e-1", "1e0", ".9", "1.", " 0.79 "];
/// Lines that are not.
const OTHERS: [&str; 24] = [
    "-0.1",
    "1.01",
    "2",
    "100",
    "0%",
    "1/2",
    "0,5",
    "nan",
    "inf",
    "1e999",
    "true",
    "False",
    "null",
    "\"pass\"",
    "all good",
    "FAIL: amount missing",
    "score: 0",
    "passed",
    "pass fail",
    "[]",
    "[{\"score\": 0}]",
    "```",
    "1 point",
    "--",
];

fn line() -> impl Strategy<Value = String> {
    prop_oneof![2 => select(RESULTS.to_vec()), 3 => select(OTHERS.to_vec()), 1 => Just("")].prop_map(str::to_owned)
}

/// Texts of result objects, and of objects that are almost results.
fn object() -> impl Strategy<Value = String> {
    let score = select(vec![
        "\"score\": 0",
        "\"score\": 1",
        "\"score\": 0.25",
        "\"score\": 1.0",
        "\"score\": 8e-1",
        "\"score\": 1.01",
        "\"score\": -0.5",
        "\"score\": \"1\"",
        "\"score\": null",
        "\"score\": true",
        "\"score\": NaN",
        "",
    ]);
    let assertion = select(vec![
        "{\"text\": \"a\", \"passed\": true}",
        "{\"text\": \"a\", \"passed\": true}",
        "{\"text\": \"b\", \"passed\": false, \"evidence\": \"e\"}",
        "{\"text\": \"b\", \"passed\": \"yes\"}",
        "{\"passed\": true}",
        "1",
    ]);
    let assertions = prop_oneof![
        3 => Just(String::new()),
        2 => vec(assertion, 0..3).prop_map(|list| format!("\"assertions\": [{}]", list.join(","))),
        1 => Just("\"assertions\": {}".to_owned()),
    ];
    let verdict = select(vec![
        "",
        "",
        "\"verdict\": \"pass\"",
        "\"verdict\": \"fail\"",
        "\"verdict\": \"undecided\"",
        "\"verdict\": \"maybe\"",
        "\"verdict\": 1",
    ]);
    let other = select(vec![
        "",
        "",
        "\"rationale\": \"why\"",
        "\"rationale\": 1",
        "\"details\": {\"a\": [1]}",
        "\"details\": []",
        "\"note\": 1",
        "\"score\": 1",
        "\"metrics\": {\"a\": 1}",
    ]);
    (score, assertions, verdict, other, select(vec!["", " ", "\n  "])).prop_map(
        |(score, assertions, verdict, other, blank)| {
            let parts = [score.to_owned(), assertions, verdict.to_owned(), other.to_owned()];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            format!("{{{blank}{}{blank}}}", parts.join(&format!(",{blank}")))
        },
    )
}

fn runs() -> impl Strategy<Value = Run> {
    let around = || {
        select(vec![
            "",
            "",
            "",
            "",
            "\n",
            " ",
            "log\n",
            "```json\n",
            "\n```",
            "Result: ",
            "[",
            "]",
            "\nlog",
            "\u{feff}",
        ])
    };
    let of_object = (around(), object(), around(), 0..8_u8, any::<prop::sample::Index>()).prop_map(
        |(before, object, after, way, index)| {
            let mut text: Vec<char> = format!("{before}{object}{after}").chars().collect();
            if way == 0 {
                text.truncate(index.index(text.len()));
            }
            if way == 1 {
                text.remove(index.index(text.len()));
            }
            text.into_iter().collect()
        },
    );
    let of_lines = vec(prop_oneof![6 => line(), 1 => object()], 0..3).prop_map(|lines| lines.join("\n"));
    let stdout = prop_oneof![2 => of_object, 3 => of_lines];
    let code = select(vec![0, 0, 0, 0, 1, 1, 1, 3, 101, 126, 127, 137]);
    (stdout, select(vec!["", "", "log", "log", CRASH]), code, prop::bool::weighted(0.2))
        .prop_map(|(stdout, stderr, code, negate)| Run { stdout, stderr, code, negate })
}

/// The score of a line that is a result by itself.
fn of_line(line: &str) -> Option<Exact> {
    let line: String = trimmed(line).into_iter().collect();
    match line.to_ascii_lowercase().as_str() {
        "pass" => Some(whole(1)),
        "fail" => Some(whole(0)),
        number => exact(number).filter(|number| *number >= whole(0) && *number <= whole(1)),
    }
}

/// Score and verdict of a result; `None` if a part of it cannot be read.
fn of_object(object: &Json) -> Option<Expected> {
    let assertions: Option<Vec<bool>> = match object.get("assertions") {
        None => Some(Vec::new()),
        Some(Json::List(entries)) => entries
            .iter()
            .map(|entry| match (entry.get("text"), entry.get("passed")) {
                (Some(Json::Text(_)), Some(Json::Word(word @ ("true" | "false")))) => Some(*word == "true"),
                _ => None,
            })
            .collect(),
        Some(_) => None,
    };
    let assertions = assertions?;
    if !matches!(object.get("rationale"), None | Some(Json::Text(_) | Json::Word("null")))
        || !matches!(object.get("details"), None | Some(Json::Object(_) | Json::Word("null")))
    {
        return None;
    }
    let verdict = match object.get("verdict") {
        None => "",
        Some(Json::Text(verdict)) => verdict,
        Some(_) => return None,
    };
    let score = match object.get("score") {
        _ if verdict == "undecided" => return Some(Expected::Undecided),
        Some(Json::Number(digits)) => exact(digits).filter(|score| *score >= whole(0) && *score <= whole(1))?,
        Some(_) => return None,
        None if assertions.is_empty() => return None,
        None => ratio(assertions.iter().filter(|passed| **passed).count(), assertions.len()),
    };
    match verdict {
        "" | "pass" => Some(plain(score)),
        "fail" => Some(Expected::Decided(score, false)),
        _ => None,
    }
}

/// A score that is compared with 0.8.
fn plain(score: Exact) -> Expected {
    let passes = score >= ratio(4, 5);
    Expected::Decided(score, passes)
}

fn says(run: &Run) -> Says {
    let stdout: String = trimmed(&run.stdout).into_iter().collect();
    if let Some(object @ Json::Object(_)) = whole_json(&stdout) {
        let is_result = ["score", "assertions", "verdict"].iter().any(|key| object.get(key).is_some());
        let is_readable = is_result && run.code == 0 && !object.repeats_a_key() && object.is_finite();
        let read = if is_readable { of_object(&object) } else { None };
        return Says::Exactly(read.unwrap_or(Expected::Error));
    }
    let has_brace = stdout.contains('{');
    match run.code {
        // A crash of the command itself says nothing, whatever its exit code.
        0 if stdout.is_empty() && run.stderr == CRASH => Says::Exactly(Expected::Error),
        0 if stdout.is_empty() => Says::Exactly(plain(whole(1))),
        0 => {
            let mut lines = stdout.lines();
            let first = lines.next().and_then(of_line);
            let Some(score) = first else { return Says::Exactly(Expected::Error) };
            let is_only = lines.all(|line| of_line(line).is_none());
            match is_only && !has_brace {
                true => Says::Exactly(plain(score)),
                false => Says::ErrorOr(plain(score)),
            }
        }
        // Without a word on standard output, a failed command has crashed; with a result, it contradicts itself.
        _ if run.negate && stdout.is_empty() && !run.stderr.is_empty() => Says::Exactly(Expected::Error),
        _ if has_brace => Says::NeverPass,
        // Only one exit status says fail, unless the command died with it.
        code if code != 1 || run.stderr == CRASH => Says::Exactly(Expected::Error),
        _ => Says::Exactly(plain(whole(0))),
    }
}

/// The result as it is inverted: a score has to reach 0.8, and a stated `fail` is swapped.
fn inverted(expected: Expected, is_stated: bool) -> Expected {
    match expected {
        Expected::Decided(score, passes) if is_stated => Expected::Decided(whole(1) - score, !passes),
        Expected::Decided(score, _) => plain(whole(1) - score),
        other => other,
    }
}

#[test]
fn what_a_command_prints_is_a_result_or_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let evidence = GradableEvidence::new(answered("the answer"));
    for_each_of(inputs(), "code-grader", runs(), |run| {
        let script = "printf %s \"$1\"; printf %s \"$2\" >&2; exit $3";
        let code = run.code.to_string();
        let argv = ["sh", "-c", script, "sh", &run.stdout, run.stderr, &code];
        let argv: Vec<Value> = argv.into_iter().map(|text| json!({"text": text})).collect();
        let mut grader = grader(json!({"code-grader": {"run": {"command": {"argv": argv}}, "config": {}}}));
        grader.negate = run.negate;
        let record = evidence.grade_at(&grader, 0.8, Path::new(directory.path()));
        let is_stated = whole_json(&String::from_iter(trimmed(&run.stdout)))
            .is_some_and(|result| result.get("verdict") == Some(&Json::Text("fail".to_owned())));
        let as_negated = |expected| if run.negate { inverted(expected, is_stated) } else { expected };
        match says(run) {
            Says::Exactly(expected) => compare(&record, &as_negated(expected)),
            Says::ErrorOr(expected) => {
                compare(&record, &Expected::Error).or_else(|_| compare(&record, &as_negated(expected)))
            }
            Says::NeverPass if run.negate || record.verdict != Some(Verdict::Pass) => Ok(()),
            Says::NeverPass => Err(format!("{:?} is a pass", run.stdout)),
        }
    });
}
