//! A result as the JSON object that a command prints.
//!
//! Whether a command died of an error of its own: the reports that interpreters and runtimes write to standard error before they exit with
//! the status that a check also uses to say *fail*.
//!
//! | written by | recognised by |
//! |---|---|
//! | Python | the last line at the margin that is `Traceback (most recent call last):`, unless `unittest` sums up its tests after it; `SyntaxError` and its kind; `No module named` of `python -m` |
//! | Node.js | the line `Node.js v…`, which ends the report of an uncaught exception |
//! | Deno, Bun | `error: Uncaught …`, `error: Module not found …`, `error: Cannot find module …` |
//! | Ruby | `FILE:LINE:in … (SomeError)` |
//! | Java | `Exception in thread …`, `Error: Could not find or load main class …`, `Error: Unable to access jarfile …` |
//! | Rust | `thread … panicked at …` |
//! | Go | `panic: …` with `goroutine … [running]:` |
//! | shells | `NAME: command not found`, `LINE: NAME: not found` |

use std::collections::BTreeMap;

use evalsuite_records::record::{Assertion, Verdict};
use evalsuite_schema::json::Reader;
use evalsuite_schema::{Object, Value};

use crate::judge::contradiction::of_verdict;
use crate::model::score::{Score, ScoreState};

/// The effect of `verdict` in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictRule {
    /// `fail` decides; `pass` is a detail, and the score decides.
    OnlyFailDecides,
    /// It decides, in a result that is inverted or that aggregates others.
    Decides,
}

/// Whether an object is meant as a result.
pub(super) fn is_result(object: &Object) -> bool {
    ["score", "assertions", "verdict"].iter().any(|key| object.contains_key(key))
}

/// The error that a command reports of itself: a text, or another value that says something.
pub(super) fn error(object: &Object) -> Option<String> {
    match object.get("error")? {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Array(items) if items.is_empty() => None,
        Value::Object(entries) if entries.is_empty() => None,
        other => Some(other.to_string()),
    }
}

/// Whether one of the JSON objects in a text is a result.
pub(super) fn is_in(text: &str) -> bool {
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let mut reader = Reader::new(&rest[start..]);
        rest = match reader.value() {
            Ok(object) if is_result(&object) => return true,
            Ok(_) => &rest[start + reader.offset()..],
            Err(_) => &rest[start + 1..],
        };
    }
    false
}

/// The score of a result; the error is what is wrong with the result.
pub(super) fn read(mut result: Object, rule: VerdictRule) -> Result<Score, String> {
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
    if let ScoreState::Decided(value) = score.state
        && (value == 1.0 || rule == VerdictRule::Decides)
    {
        let is_denied = verdict.as_deref() == Some("pass") && value == 0.0;
        let denied = is_denied.then(|| "`verdict` is \"pass\", but the score is 0".to_owned());
        let found = denied.or_else(|| of_assertions(value, &assertions)).or_else(|| of_verdict(value, &result));
        if let Some(what) = found {
            return Err(format!("the result contradicts itself: {what}"));
        }
    }
    score.assertions = assertions;
    score.metrics = metrics.unwrap_or_default();
    score.rationale = rationale;
    score.details = details;
    match (verdict, rule) {
        (Some(verdict), rule) if verdict == "fail" || verdict == "pass" && rule == VerdictRule::Decides => {
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

/// What contradicts a score of 1 or 0 among the assertions: all of them say the opposite. A command may pass or fail in spite of some.
fn of_assertions(score: f64, assertions: &[Assertion]) -> Option<String> {
    let opposite = if score == 0.0 {
        "passed"
    } else if score == 1.0 {
        "failed"
    } else {
        return None;
    };
    let is_opposite = |assertion: &Assertion| assertion.passed == (score == 0.0);
    let all = !assertions.is_empty() && assertions.iter().all(is_opposite);
    all.then(|| format!("`score` is {score}, but every assertion has {opposite}"))
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

/// The line of a report that shows an error of the command itself, such as the exception that was not caught; `None` if there is none.
pub(crate) fn line_of_crash(stderr: &str) -> Option<&str> {
    python(stderr).or_else(|| stderr.lines().find(|line| is_of_crash(line.trim_end(), stderr)))
}

fn is_of_crash(line: &str, stderr: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    begins(&["error: Uncaught ", "error: Module not found ", "error: Cannot find module "])
        || begins(&[
            "Exception in thread ",
            "Error: Could not find or load main class ",
            "Error: Unable to access jarfile ",
        ])
        || line.strip_prefix("Node.js v").is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
            && !stderr.lines().any(|line| line.starts_with("AssertionError [ERR_ASSERTION]"))
        || line.starts_with("thread ") && line.contains(" panicked at ")
        || line.starts_with("panic: ") && stderr.contains("\ngoroutine ")
        || is_of_ruby(line)
        || is_of_shell(line)
}

/// The exception of an uncaught one in Python.
fn python(stderr: &str) -> Option<&str> {
    let is_header =
        |line: &str| line == "Traceback (most recent call last):" || line.starts_with("  + Exception Group Traceback");
    let lines: Vec<&str> = stderr.lines().map(str::trim_end).collect();
    if let Some(at) = lines.iter().rposition(|line| is_header(line)) {
        // `unittest` shows the exceptions of tests that failed, and goes on.
        let is_summary = |line: &&str| line.starts_with("Ran ") && line.contains(" test");
        let rest = &lines[at + 1..];
        let exception = rest.iter().copied().find(|line| !line.is_empty() && !line.starts_with([' ', '\t']));
        // Scripts check with `assert`.
        let is_verdict =
            rest.iter().any(is_summary) || exception.is_some_and(|line| line.starts_with("AssertionError"));
        return if is_verdict { None } else { exception.or(Some(lines[at])) };
    }
    let of_interpreter = |line: &&str| line.contains("python") && line.contains(": No module named ");
    let of_source =
        |line: &&str| ["SyntaxError: ", "IndentationError: ", "TabError: "].iter().any(|kind| line.starts_with(kind));
    lines.into_iter().find(|line| of_interpreter(line) || of_source(line))
}

/// Such as ``x.rb:1:in `require': cannot load such file -- json2 (LoadError)``.
fn is_of_ruby(line: &str) -> bool {
    let class = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")).map(|(_, class)| class);
    let is_class = |class: &str| class.starts_with(|c: char| c.is_ascii_uppercase()) && !class.contains(' ');
    class.is_some_and(is_class) && (line.contains(":in `") || line.contains(":in \'") || line.contains("(SyntaxError)"))
}

/// Such as `bash: line 1: jq: command not found` and `sh: 1: jq: not found`.
fn is_of_shell(line: &str) -> bool {
    if line.ends_with(": command not found") || line.contains(": command not found: ") {
        return true;
    }
    let Some((before, name)) = line.strip_suffix(": not found").and_then(|line| line.rsplit_once(": ")) else {
        return false;
    };
    let number = before.rsplit(": ").next().unwrap_or_default();
    let number = number.strip_prefix("line ").unwrap_or(number);
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    !name.is_empty() && (is_number || before == "sh" || before.ends_with("/sh"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_errors_of_the_command_itself_are_recognised() {
        for (stderr, line) in [
            (
                "log\nTraceback (most recent call last):\n  File \"c.py\", line 1, in <module>\n    import tools\n\
                 ModuleNotFoundError: No module named \'tools\'\n",
                "ModuleNotFoundError: No module named \'tools\'",
            ),
            (
                "Traceback (most recent call last):\n  File \"c.py\", line 1\nKeyError: \'a\'\n\nDuring handling of the above \
                 exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"c.py\", line 3\n    x\n    \
                 ^\njsonschema.ValidationError: 1 is not\n\nFailed validating\n",
                "jsonschema.ValidationError: 1 is not",
            ),
            (
                "  File \"c.py\", line 1\n    (\n    ^\nSyntaxError: \'(\' was never closed",
                "SyntaxError: \'(\' was never closed",
            ),
            ("/usr/bin/python3: No module named pytest", "/usr/bin/python3: No module named pytest"),
            (
                "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module \'x\'\n    at f \
                 (node:internal)\n\nNode.js v20.11.0\n",
                "Node.js v20.11.0",
            ),
            ("error: Uncaught (in promise) TypeError: x", "error: Uncaught (in promise) TypeError: x"),
            (
                "c.rb:1:in `require\': cannot load such file -- nope (LoadError)\n\tfrom c.rb:1:in `<main>\'",
                "c.rb:1:in `require\': cannot load such file -- nope (LoadError)",
            ),
            (
                "c.rb:2:in \'Integer#/\': divided by 0 (ZeroDivisionError)",
                "c.rb:2:in \'Integer#/\': divided by 0 (ZeroDivisionError)",
            ),
            ("Exception in thread \"main\" java.lang.Error", "Exception in thread \"main\" java.lang.Error"),
            ("\nthread \'main\' panicked at src/main.rs:2:5:\nboom", "thread \'main\' panicked at src/main.rs:2:5:"),
            (
                "thread \'main\' (12) panicked at src/main.rs:2:5:\nboom",
                "thread \'main\' (12) panicked at src/main.rs:2:5:",
            ),
            ("panic: boom\n\ngoroutine 1 [running]:\nmain.main()", "panic: boom"),
            ("bash: line 1: jq: command not found\namount missing", "bash: line 1: jq: command not found"),
            ("sh: 1: jq: not found", "sh: 1: jq: not found"),
            ("./check.sh: 3: jq: not found", "./check.sh: 3: jq: not found"),
            ("./check.sh: line 3: jq: not found", "./check.sh: line 3: jq: not found"),
            ("/bin/sh: jq: not found", "/bin/sh: jq: not found"),
            ("zsh:1: command not found: jq", "zsh:1: command not found: jq"),
        ] {
            assert_eq!(line_of_crash(stderr), Some(line), "{stderr}");
        }
    }

    #[test]
    fn what_a_check_says_about_an_answer_is_no_crash() {
        for stderr in [
            "",
            "amount missing",
            "total: not found",
            "order 12: total: not found in answer",
            "expected 19.90 (EUR)",
            "the answer has a Traceback (most recent call last): in it",
            "  Traceback (most recent call last):",
            "F\n====\nFAIL: test_total\n----\nTraceback (most recent call last):\n  File \"t.py\", line 4\n    \
             self.assertEqual(1, 2)\nAssertionError: 1 != 2\n\n----\nRan 1 test in 0.000s\n\nFAILED (failures=1)",
            "  ● total\n    expect(received).toBe(expected)\n      at Object.<anonymous> (t.test.js:1:1)\nTests: 1 failed",
            "Traceback (most recent call last):\n  File \"check.py\", line 3, in <module>\n    assert total == 12, total\nAssertionError: 11",
            "node:assert:126\n  throw new AssertionError(obj);\n  ^\n\nAssertionError [ERR_ASSERTION]: 11 == 12\n    at main\n\nNode.js v22.1.0",
            "panic: the agent did not stop",
            "error: test failed, to rerun pass `--lib`",
        ] {
            assert_eq!(line_of_crash(stderr), None, "{stderr}");
        }
    }
}
