//! Annotations of GitHub Actions.

use std::io::{self, Write};

use evalsuite_records::record::{ReasonCode, Status};
use evalsuite_schema::diagnostics::Severity;
use evalsuite_schema::diagnostics::terminal::counted;
use evalsuite_schema::diagnostics::workflow_command::{command, commands};

use super::{Destination, Format};
use crate::failure_text::{FailureText, flakiness};
use crate::run_data::{CaseData, Problem, RunData, SuiteData};

pub(super) const FORMAT: Format =
    Format::of_text("github", Destination::Output, annotations, "GitHub Actions annotations");

/// The most tests that are named.
const SHOWN_TESTS: usize = 10;

/// The failed cases as workflow commands of GitHub Actions, one per line, at the file and line of the first grader that did not
/// pass: errors first, at most nine of them and one that says how many more there are. Flaky cases and skipped ones are warnings, likewise.
/// Before them, files of the run that cannot be read, and per suite the tests that were chosen and did not start, as errors.
pub(super) fn annotations(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    let mut failed: Vec<&CaseData> =
        cases().filter(|case| matches!(case.record.outcome, Status::Failed | Status::Error)).collect();
    // What broke says nothing about the agent and has to be mended first.
    failed.sort_by_key(|case| case.record.outcome != Status::Error);
    let is_skipped = |case: &&CaseData| {
        let reason = case.record.reason.as_ref().map(|reason| reason.code);
        case.record.outcome == Status::Skipped && reason != Some(ReasonCode::Filtered)
    };
    let flaky = cases().filter(|case| case.is_flaky());
    let warned: Vec<&CaseData> = flaky.chain(cases().filter(is_skipped)).collect();

    let more_failed = |count| format!("{count} more cases did not pass; see the summary of the job");
    let more_warned = |count| format!("{count} more cases are flaky or skipped; see the summary of the job");
    let failure = |case: &&CaseData| {
        let failure = FailureText::of_case(case);
        command(Severity::Error, Some(&failure.location), &title(case), &failure.message)
    };
    let warning = |case: &&CaseData| {
        let message = match case.record.outcome {
            Status::Skipped => format!("skipped: {}", FailureText::of_case(case).message),
            _ => format!("flaky: {}", flakiness(case)),
        };
        command(Severity::Warning, Some(&case.record.location), &title(case), &message)
    };
    let unreadable: Vec<&Problem> = run.problems.iter().filter(|problem| problem.is_of_file()).collect();
    let more_unreadable = |count| format!("{count} more files of the run cannot be read; see the summary of the job");
    let problem = |problem: &&Problem| {
        command(Severity::Error, None, "records of the run", &format!("{}: {}", problem.file, problem.message))
    };
    let errors = commands(Severity::Error, &failed, failure, more_failed);
    let warnings = commands(Severity::Warning, &warned, warning, more_warned);
    let problems = commands(Severity::Error, &unreadable, problem, more_unreadable);
    let not_started: String = run.suites.iter().filter_map(not_started).collect();
    write!(out, "{problems}{not_started}{errors}{warnings}")?;
    Ok(Vec::new())
}

/// An error with the tests of a suite that were chosen and did not start.
fn not_started(suite: &SuiteData) -> Option<String> {
    let tests = suite.chosen_and_not_started();
    let more = if tests.len() > SHOWN_TESTS { ", …" } else { "" };
    let shown = tests.iter().map(|test| test.test_name.as_str()).take(SHOWN_TESTS).collect::<Vec<_>>().join(", ");
    let message = format!("{} not started: {shown}{more}", counted(tests.len(), "test"));
    (!tests.is_empty()).then(|| command(Severity::Error, None, &suite.name, &message) + "\n")
}

fn title(case: &CaseData) -> String {
    format!("{} ({}@{})", case.record.case_id, case.record.suite, case.record.target)
}
