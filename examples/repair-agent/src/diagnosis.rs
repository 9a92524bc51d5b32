//! What the compiler and the tests say.

use std::ops::Range;

use serde::Deserialize;

/// An error of the compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompilerError {
    /// Such as `E0382`; empty for errors without code.
    pub(crate) code: String,
    pub(crate) message: String,
    /// Where it stands: file and line, and the bytes in it.
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) bytes: Range<usize>,
    /// Changes the compiler proposes, each a list of replacements to make together.
    pub(crate) suggestions: Vec<Suggestion>,
}

/// A change the compiler proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suggestion {
    pub(crate) message: String,
    pub(crate) replacements: Vec<(Range<usize>, String)>,
    /// Whether the compiler is sure.
    pub(crate) is_sure: bool,
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

/// The errors in what `rustc --error-format=json` wrote, one JSON object a line. Other lines are none.
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
    let mut is_sure = true;
    let mut replacements = Vec::new();
    for span in help.spans {
        let applicability = span.suggestion_applicability.as_deref();
        if applicability == Some("HasPlaceholders") {
            return None;
        }
        is_sure &= applicability == Some("MachineApplicable");
        replacements.push((span.byte_start..span.byte_end, span.suggested_replacement?));
    }
    (!replacements.is_empty()).then_some(Suggestion { message: help.message, replacements, is_sure })
}

/// Results of a test binary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestRun {
    /// Tests that passed, by path.
    pub(crate) passed: Vec<String>,
    pub(crate) failed: Vec<Failure>,
    /// Whether the binary itself said that all is well.
    pub(crate) success: bool,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) test: String,
    /// Where it panicked; `None` if it says nothing.
    pub(crate) place: Option<(String, usize)>,
    /// What it said.
    pub(crate) message: String,
}

impl TestRun {
    pub(crate) fn read(stdout: &str, success: bool) -> Self {
        let mut run = Self { success, ..Self::default() };
        for line in stdout.lines() {
            let Some((test, result)) = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... ")) else {
                continue;
            };
            // Tests with `#[should_panic]` are listed with a remark.
            let test = test.split(" - ").next().unwrap_or(test).to_owned();
            match result {
                "ok" => run.passed.push(test),
                "FAILED" => {
                    let (place, message) = panic_of(stdout, &test);
                    run.failed.push(Failure { test, place, message });
                }
                _ => {}
            }
        }
        run
    }

    pub(crate) fn total(&self) -> usize {
        self.passed.len() + self.failed.len()
    }

    /// Everything ran and nothing failed. A program without tests proves nothing.
    pub(crate) fn all_pass(&self) -> bool {
        self.success && self.failed.is_empty() && !self.passed.is_empty()
    }
}

/// Place and message of a test's panic, from the section `---- name stdout ----`.
fn panic_of(stdout: &str, test: &str) -> (Option<(String, usize)>, String) {
    let Some((_, section)) = stdout.split_once(&format!("---- {test} stdout ----")) else {
        return (None, String::new());
    };
    let section = section.split("\n---- ").next().unwrap_or(section);
    let Some((_, panic)) = section.split_once(" panicked at ") else { return (None, section.trim().to_owned()) };
    let (place, message) = panic.split_once(":\n").unwrap_or((panic, ""));
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next(), parts.next(), parts.next());
    let message = message.split("\nnote: ").next().unwrap_or(message).split("\n\n").next().unwrap_or(message);
    let place = file.zip(line.and_then(|line| line.parse().ok())).map(|(file, line)| (file.to_owned(), line));
    (place, message.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\nrunning 2 tests\ntest tests::empty ... ok\ntest tests::three - should panic ... FAILED\n\nfailures:\n\n\
        ---- tests::three stdout ----\n\nthread 'tests::three' (7) panicked at /tmp/x/program.rs:4:9:\nattempt to add with overflow\n\
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    tests::three\n";

    #[test]
    fn a_failing_test_tells_where_and_why() {
        let run = TestRun::read(OUTPUT, false);
        assert_eq!(run.passed, ["tests::empty"]);
        assert_eq!(
            run.failed,
            [Failure {
                test: "tests::three".into(),
                place: Some(("/tmp/x/program.rs".into(), 4)),
                message: "attempt to add with overflow".into()
            }]
        );
        assert!(!run.all_pass());
    }

    #[test]
    fn no_tests_prove_nothing() {
        assert!(!TestRun::read("running 0 tests\n", true).all_pass());
    }

    #[test]
    fn suggestions_with_placeholders_are_left_out() {
        let line = r#"{"message":"m","code":{"code":"E0004"},"level":"error","spans":[{"file_name":"a.rs","byte_start":1,"byte_end":2,
            "line_start":1,"is_primary":true,"suggested_replacement":null,"suggestion_applicability":null}],"children":[
            {"message":"h","code":null,"level":"help","spans":[{"file_name":"a.rs","byte_start":1,"byte_end":1,"line_start":1,
            "is_primary":true,"suggested_replacement":"todo!()","suggestion_applicability":"HasPlaceholders"}],"children":[]}]}"#;
        let errors = compiler_errors(&line.replace('\n', " "));
        assert_eq!((errors[0].code.as_str(), errors[0].suggestions.len()), ("E0004", 0));
    }
}
