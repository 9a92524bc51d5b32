//! What test programs print about their tests: libtest a line per test, and evalsuite a line past it for those that it skips.

/// What libtest says about a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestResult {
    Passed,
    Failed,
    Ignored,
}

/// The test that a line of standard output is about, with its result. What a program wrote that a test started may be in front of it.
pub(crate) fn test_result(line: &str) -> Option<(&str, TestResult)> {
    let (before, result) = line.rsplit_once(" ... ")?;
    let (_, test) = before.rsplit_once("test ")?;
    let result = match result {
        "ok" => TestResult::Passed,
        "FAILED" => TestResult::Failed,
        _ if result.starts_with("ignored") => TestResult::Ignored,
        _ => return None,
    };
    Some((test, result))
}

/// The test that is skipped, as a line of standard error says. Nextest indents the output of tests.
pub(crate) fn skipped_test(line: &str) -> Option<&str> {
    let (test, _) = line.trim_start().strip_prefix("evalsuite: SKIPPED ")?.split_once(": ")?;
    Some(test)
}
