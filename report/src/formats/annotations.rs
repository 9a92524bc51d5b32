//! Annotations of GitHub Actions.

use std::io::{self, Write};

use evalsuite_records::record::{ReasonCode, Status};
use evalsuite_schema::diagnostics::Severity;
use evalsuite_schema::diagnostics::terminal::counted;
use evalsuite_schema::diagnostics::workflow_command::{command, commands};

use super::{Destination, Format};
use crate::failure_text::{FailureText, flakiness};
use crate::run_data::{CaseData, Problem, RunData, SuiteData};
use crate::suite_text::first_of;

pub(super) const FORMAT: Format =
    Format::of_text("github", Destination::Output, annotations, "GitHub Actions annotations");

/// The failed cases as workflow commands of GitHub Actions, one per line, at the file and line of the first grader that did not
/// pass: errors first, at most nine of them and one that says how many more there are. Flaky cases and skipped ones are warnings, likewise.
/// The first errors are the files of the run that cannot be read, and per suite the tests that were chosen and did not start.
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
    // At most a few: they must not take the place of cases.
    let of_run = unreadable(run).into_iter().chain(run.all_suites().filter_map(not_started));
    let errors: Vec<String> = of_run.chain(failed.iter().map(failure)).collect();
    let errors = commands(Severity::Error, &errors, String::clone, more_failed);
    let warnings = commands(Severity::Warning, &warned, warning, more_warned);
    write!(out, "{errors}{warnings}")?;
    Ok(Vec::new())
}

/// An error with the files of the run that cannot be read.
fn unreadable(run: &RunData) -> Option<String> {
    let files = run.problems.iter().filter(|problem| problem.is_of_file());
    let files: Vec<String> = files.map(|problem| format!("{}: {}", problem.file, problem.message)).collect();
    (!files.is_empty()).then(|| command(Severity::Error, None, "records of the run", &first_of(&files)))
}

/// An error with the tests of a suite that were chosen and did not start.
fn not_started(suite: &SuiteData) -> Option<String> {
    let tests: Vec<String> = suite.chosen_and_not_started().into_iter().map(|test| test.test_name.clone()).collect();
    let message = format!("{} not started: {}", counted(tests.len(), "test"), first_of(&tests));
    (!tests.is_empty()).then(|| command(Severity::Error, None, &suite.name, &message))
}

fn title(case: &CaseData) -> String {
    format!("{} ({}@{})", case.record.case_id, case.record.suite, case.record.target)
}
