//! Annotations of GitHub Actions.

use std::io::{self, Write};

use evalsuite_diagnostics::Severity;
use evalsuite_diagnostics::workflow_command::{command, commands};
use evalsuite_records::record::Status;

use crate::failure_text::FailureText;
use crate::run_data::{CaseData, Problem, RunData};

/// The failed cases as workflow commands of GitHub Actions, one per line, at the file and line of the first grader that did not
/// pass: errors first, at most nine of them and one that says how many more there are. Flaky cases are warnings, likewise.
pub(super) fn annotations(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    let mut failed: Vec<&CaseData> =
        cases().filter(|case| matches!(case.record.outcome, Status::Failed | Status::Error)).collect();
    // What broke says nothing about the agent and has to be mended first.
    failed.sort_by_key(|case| case.record.outcome != Status::Error);
    let is_flaky =
        |case: &&CaseData| case.record.outcome == Status::Passed && case.record.passed < case.record.completed;
    let flaky: Vec<&CaseData> = cases().filter(is_flaky).collect();

    let more_failed = |count| format!("{count} more cases did not pass; see the summary of the job");
    let more_flaky = |count| format!("{count} more cases are flaky; see the summary of the job");
    let failure = |case: &&CaseData| {
        let failure = FailureText::of_case(case);
        command(Severity::Error, Some(&failure.location), &title(case), &failure.message)
    };
    let flakiness = |case: &&CaseData| {
        let message = format!("flaky: {} of {} trials passed", case.record.passed, case.record.completed);
        command(Severity::Warning, Some(&case.record.location), &title(case), &message)
    };
    let errors = commands(Severity::Error, &failed, failure, more_failed);
    let warnings = commands(Severity::Warning, &flaky, flakiness, more_flaky);
    write!(out, "{errors}{warnings}")?;
    Ok(Vec::new())
}

fn title(case: &CaseData) -> String {
    format!("{} ({}@{})", case.record.case_id, case.record.suite, case.record.target)
}
