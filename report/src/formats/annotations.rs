//! Annotations of GitHub Actions.

use evalsuite_schema::Location;
use evalsuite_schema::record::CaseOutcome;

use crate::failure_text::FailureText;
use crate::run_data::{CaseData, RunData};

/// Most annotations of one kind that are printed by themselves: GitHub shows ten of a step, and drops the others without a word.
const SHOWN: usize = 9;

/// The failed cases as workflow commands of GitHub Actions, one per line, at the file and line of the first grader that did not
/// pass: errors first, at most nine of them and one that says how many more there are. Flaky cases are warnings, likewise.
pub fn annotations(run: &RunData) -> String {
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    let mut failed: Vec<&CaseData> =
        cases().filter(|case| matches!(case.record.outcome, CaseOutcome::Failed | CaseOutcome::Error)).collect();
    // What broke says nothing about the agent and has to be mended first.
    failed.sort_by_key(|case| case.record.outcome != CaseOutcome::Error);
    let is_flaky =
        |case: &&CaseData| case.record.outcome == CaseOutcome::Passed && case.record.passed < case.record.completed;
    let flaky: Vec<&CaseData> = cases().filter(is_flaky).collect();

    let mut text = String::new();
    commands(&mut text, "error", &failed, |case| {
        let failure = FailureText::of_case(case);
        (failure.location, failure.message)
    });
    commands(&mut text, "warning", &flaky, |case| {
        let record = &case.record;
        (record.location.clone(), format!("flaky: {} of {} trials passed", record.passed, record.completed))
    });
    text
}

fn commands(text: &mut String, kind: &str, cases: &[&CaseData], describe: impl Fn(&CaseData) -> (Location, String)) {
    // The tenth place is for the last case if there are only ten.
    let shown = if cases.len() > SHOWN + 1 { SHOWN } else { cases.len() };
    for case in &cases[..shown] {
        let (location, message) = describe(case);
        let mut properties = Vec::new();
        if !location.file.is_empty() {
            properties.push(format!("file={}", property(&location.file)));
        }
        if location.line > 0 {
            properties.push(format!("line={},col={}", location.line, location.column));
        }
        let title = format!("{} ({}@{})", case.record.case_id, case.record.suite, case.record.target);
        properties.push(format!("title={}", property(&title)));
        text.push_str(&format!("::{kind} {}::{}\n", properties.join(","), data(&message)));
    }
    let more = cases.len() - shown;
    if more > 0 {
        let what = if kind == "error" { "cases did not pass" } else { "cases are flaky" };
        text.push_str(&format!("::{kind} title=evalsuite::{more} more {what}; see the summary of the job\n"));
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
