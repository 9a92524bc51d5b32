//! Parses the output of the compiler and of tests.

use std::ops::Range;

use serde::Deserialize;

/// An error of the compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompilerError {
    /// Such as `E0382`; empty for errors without a code.
    pub(crate) code: String,
    pub(crate) message: String,
    /// File of the primary span.
    pub(crate) file: String,
    /// First line of the primary span, from 1.
    pub(crate) line: usize,
    /// Bytes of the primary span.
    pub(crate) bytes: Range<usize>,
    /// Changes that the compiler suggests, each a list of replacements to apply together.
    pub(crate) suggestions: Vec<Suggestion>,
}

/// A change that the compiler suggests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suggestion {
    pub(crate) message: String,
    pub(crate) replacements: Vec<(Range<usize>, String)>,
    /// Whether the compiler marks it as machine-applicable.
    pub(crate) is_machine_applicable: bool,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    code: Option<Code>,
    level: String,
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Diagnostic>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    line_start: usize,
    is_primary: bool,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
}

/// The errors in the output of `rustc --error-format=json`, one JSON object per line. Other lines are ignored.
pub(crate) fn compiler_errors(stderr: &str) -> Vec<CompilerError> {
    stderr
        .lines()
        .filter_map(|line| serde_json::from_str::<Diagnostic>(line).ok())
        .filter(|diagnostic| diagnostic.level == "error")
        .filter_map(|diagnostic| {
            let primary = diagnostic.spans.iter().find(|span| span.is_primary)?;
            Some(CompilerError {
                code: diagnostic.code.map(|code| code.code).unwrap_or_default(),
                message: diagnostic.message,
                file: primary.file_name.clone(),
                line: primary.line_start,
                bytes: primary.byte_start..primary.byte_end,
                suggestions: diagnostic.children.into_iter().filter_map(suggestion).collect(),
            })
        })
        .collect()
}

fn suggestion(help: Diagnostic) -> Option<Suggestion> {
    let mut is_machine_applicable = true;
    let mut replacements = Vec::new();
    for span in help.spans {
        let applicability = span.suggestion_applicability.as_deref();
        if applicability == Some("HasPlaceholders") {
            return None;
        }
        is_machine_applicable &= applicability == Some("MachineApplicable");
        replacements.push((span.byte_start..span.byte_end, span.suggested_replacement?));
    }
    (!replacements.is_empty()).then_some(Suggestion { message: help.message, replacements, is_machine_applicable })
}

/// Results of a test binary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestRun {
    /// Tests that passed, by path.
    pub(crate) passed: Vec<String>,
    pub(crate) failed: Vec<Failure>,
    /// Whether the binary exited with success.
    pub(crate) success: bool,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) test: String,
    /// File and line of the panic, if known.
    pub(crate) location: Option<(String, usize)>,
    /// The panic message.
    pub(crate) message: String,
}

impl TestRun {
    pub(crate) fn read(stdout: &str, success: bool) -> Self {
        let mut run = Self { success, ..Self::default() };
        for line in stdout.lines() {
            let Some((test, result)) = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... ")) else {
                continue;
            };
            // Tests with `#[should_panic]` are listed with the suffix ` - should panic`.
            let test = test.split(" - ").next().unwrap_or(test).to_owned();
            match result {
                "ok" => run.passed.push(test),
                "FAILED" => {
                    let (location, message) = panic_of(stdout, &test);
                    run.failed.push(Failure { test, location, message });
                }
                _ => {}
            }
        }
        run
    }

    pub(crate) fn total(&self) -> usize {
        self.passed.len() + self.failed.len()
    }

    /// Whether all tests passed. A program without tests does not count as passing.
    pub(crate) fn all_pass(&self) -> bool {
        self.success && self.failed.is_empty() && !self.passed.is_empty()
    }
}

/// Location and message of a test's panic, from the section `---- name stdout ----`.
fn panic_of(stdout: &str, test: &str) -> (Option<(String, usize)>, String) {
    let Some((_, section)) = stdout.split_once(&format!("---- {test} stdout ----")) else {
        return (None, String::new());
    };
    let section = section.split("\n---- ").next().unwrap_or(section);
    let Some((_, panic)) = section.split_once(" panicked at ") else { return (None, section.trim().to_owned()) };
    let (location, message) = panic.split_once(":\n").unwrap_or((panic, ""));
    let mut parts = location.rsplitn(3, ':');
    let (_column, line, file) = (parts.next(), parts.next(), parts.next());
    let message = message.split("\nnote: ").next().unwrap_or(message).split("\n\n").next().unwrap_or(message);
    let location = file.zip(line.and_then(|line| line.parse().ok())).map(|(file, line)| (file.to_owned(), line));
    (location, message.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\nrunning 2 tests\ntest tests::empty ... ok\ntest tests::three - should panic ... FAILED\n\nfailures:\n\n\
        ---- tests::three stdout ----\n\nthread 'tests::three' (7) panicked at /tmp/x/program.rs:4:9:\nattempt to add with overflow\n\
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    tests::three\n";

    #[test]
    fn location_and_message_of_a_failing_test_are_parsed() {
        let run = TestRun::read(OUTPUT, false);
        assert_eq!(run.passed, ["tests::empty"]);
        assert_eq!(
            run.failed,
            [Failure {
                test: "tests::three".into(),
                location: Some(("/tmp/x/program.rs".into(), 4)),
                message: "attempt to add with overflow".into()
            }]
        );
        assert!(!run.all_pass());
    }

    #[test]
    fn a_run_without_tests_does_not_pass() {
        assert!(!TestRun::read("running 0 tests\n", true).all_pass());
    }

    #[test]
    fn suggestions_with_placeholders_are_ignored() {
        let line = r#"{"message":"m","code":{"code":"E0004"},"level":"error","spans":[{"file_name":"a.rs","byte_start":1,"byte_end":2,
            "line_start":1,"is_primary":true,"suggested_replacement":null,"suggestion_applicability":null}],"children":[
            {"message":"h","code":null,"level":"help","spans":[{"file_name":"a.rs","byte_start":1,"byte_end":1,"line_start":1,
            "is_primary":true,"suggested_replacement":"todo!()","suggestion_applicability":"HasPlaceholders"}],"children":[]}]}"#;
        let errors = compiler_errors(&line.replace('\n', " "));
        assert_eq!((errors[0].code.as_str(), errors[0].suggestions.len()), ("E0004", 0));
    }
}
