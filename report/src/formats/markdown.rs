//! Markdown for pull requests and the summary of a CI job.

use std::collections::BTreeMap;
use std::io;

use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::Status;
use evalsuite_records::summary::lower_bound;
use evalsuite_schema::decimal::{shown_against, shown_beside};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::diagnostics::terminal::printable;
use evalsuite_statistics::mean;

use super::{Destination, Format};
use crate::failure_text::{FailureText, flakiness};
use crate::markdown_text::{code, escape, fence, limited};
use crate::run_data::{CaseData, Problem, RunData, SuiteData, count_outcomes};
use crate::sequential::RunDecision;
use crate::suite_text::judged_rates;

pub(super) const FORMAT: Format = Format::of_text(
    "markdown",
    Destination::EndOfFile,
    markdown,
    "Append Markdown, for pull requests and summaries of CI jobs",
);

/// The run as GitHub-flavoured Markdown: a table of suites and targets, with the cost of agents, judges and simulated users; then every case that
/// did not pass, with its details folded; then flaky and skipped ones. Cut at [`MARKDOWN_LIMIT`](crate::MARKDOWN_LIMIT) bytes with a line that says so.
pub(super) fn markdown(run: &RunData, out: &mut dyn io::Write) -> io::Result<Vec<Problem>> {
    let mut text = format!("## Evaluation: {}\n\n", headline(run));
    text.push_str("| suite | target | passed | failed | error | skipped | mean score | cost |\n");
    text.push_str("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for suite in &run.suites {
        for row in rows(suite) {
            text.push_str(&row);
        }
    }
    let mut sections: Vec<String> = Vec::new();
    let mut section = |title: &str, entries: Vec<String>| {
        if !entries.is_empty() {
            sections.push(format!("\n### {title}\n\n"));
            sections.extend(entries);
        }
    };
    let decided = RunDecision::of(run).map(|decision| {
        let lines: Vec<String> =
            decision.to_string().lines().map(|line| format!("- {}\n", escape(line.trim()))).collect();
        lines.concat()
    });
    section("Decided", decided.into_iter().collect());
    let probed = |suite: &SuiteData| Some(format!("- {}: {}\n", escape(&suite.name), suite.record.as_ref()?.probe?));
    section("Floor and ceiling", run.suites.iter().filter_map(probed).collect());
    section("Unsealed", unsealed(run));
    let rates = judged_rates(run).into_iter().map(|rate| format!("- {}\n", escape(&rate.to_string())));
    section("Judged graders, corrected by calibration", rates.collect());
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    for (outcome, title) in [(Status::Error, "Errors"), (Status::Failed, "Failures")] {
        section(title, cases().filter(|case| case.record.outcome == outcome).map(failure).collect());
    }
    let flaky = cases().filter(|case| case.is_flaky()).map(|case| entry(case, &flakiness(case)));
    section("Flaky", flaky.collect());
    let hidden = cases().filter(|case| !case.record.failed_graders.is_empty());
    let hidden = hidden.map(|case| entry(case, &case.record.failed_graders.join(", ")));
    section("Passed although a grader failed", hidden.collect());
    let skipped = cases().filter(|case| case.record.outcome == Status::Skipped);
    section("Skipped", skipped.map(|case| entry(case, &FailureText::of_case(case).message)).collect());
    let problem = |problem: &Problem| format!("- {}: {}\n", code(&problem.file), escape(&problem.message));
    section("Records that cannot be read", run.problems.iter().map(problem).collect());
    let text = limited(text, &sections, |left| match left {
        1 => "1 more entry is left out".to_owned(),
        left => format!("{left} more entries are left out"),
    });
    out.write_all(text.as_bytes())?;
    Ok(Vec::new())
}

/// An entry for each reason why trials that were to be sealed are not.
fn unsealed(run: &RunData) -> Vec<String> {
    let cases = run.suites.iter().flat_map(|suite| &suite.cases);
    let seals = cases.flat_map(|case| &case.trials).flat_map(|trial| trial.record.seals());
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    for seal in seals.filter(|seal| seal.starts_with("unsealed")) {
        *reasons.entry(seal).or_default() += 1;
    }
    reasons.into_iter().map(|(text, trials)| format!("- {}: {}\n", counted(trials, "trial"), escape(&text))).collect()
}

/// `3 of 4 cases passed, 1 failed`.
fn headline(run: &RunData) -> String {
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    let counts = count_outcomes(cases().map(|case| case.record.outcome));
    let mut text = format!("{} of {} cases passed", counts.passed, counts.run());
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let reused = number(cases().filter(|case| case.record.reused_run.is_some()).count());
    let running = number(run.suites.iter().map(|suite| suite.running.len()).sum());
    let not_started = number(run.all_suites().map(|suite| suite.not_started().len()).sum());
    for (count, what) in [
        (counts.failed, "failed"),
        (counts.error, "with an error"),
        (counts.skipped, "skipped"),
        (running, "still running"),
        (not_started, run.not_started_text()),
        (reused, "unchanged since an earlier run"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    let errors: u32 = cases().map(|case| case.record.errors).sum();
    let trials: u32 = cases().map(|case| case.record.completed + case.record.errors).sum();
    if errors > 0 && trials > counts.run() {
        text.push_str(&format!("; {errors} of {trials} trials ended in an error"));
    }
    match cases().filter(|case| !case.record.failed_graders.is_empty()).count() {
        0 => {}
        count => text.push_str(&format!("; {} passed although a grader failed", counted(count, "case"))),
    }
    text
}

/// A row per target.
fn rows(suite: &SuiteData) -> Vec<String> {
    let row = |(target, cases): (&str, Vec<&CaseData>)| {
        let counts = count_outcomes(cases.iter().map(|case| case.record.outcome));
        let scores: Vec<f64> = cases.iter().filter_map(|case| case.record.sampled_score()).collect();
        let mean = if scores.is_empty() { "–".to_owned() } else { format!("{:.3}", mean(&scores)) };
        let is_bound = cases.iter().flat_map(|case| case.record.unknown_costs()).any(|unknown| !unknown.is_none());
        let cost = sum_of_known(cases.iter().flat_map(|case| case.record.costs()).flatten());
        let cost = cost.map_or("–".to_owned(), |cost| lower_bound(is_bound, &format!("${cost:.4}")));
        format!(
            "| {} | {} | {} | {} | {} | {} | {mean} | {cost} |\n",
            escape(&suite.name),
            escape(target),
            counts.passed,
            counts.failed,
            counts.error,
            counts.skipped
        )
    };
    suite.by_target().into_iter().map(row).collect()
}

fn failure(case: &CaseData) -> String {
    let (record, failure) = (&case.record, FailureText::of_case(case));
    let score =
        record.score.map(|score| format!(" · {}", beside_threshold(score, record.threshold))).unwrap_or_default();
    let mut text = format!(
        "- **{}** ({}){score}: {} — {}\n",
        escape(&record.case_id),
        escape(&format!("{}@{}", record.suite, record.target)),
        escape(&failure.message),
        code(&failure.location.to_string()),
    );
    if !failure.details.is_empty() {
        let fence = fence(&failure.details);
        // A carriage return ends a line, too.
        let details: String =
            failure.details.replace("\r\n", "\n").replace('\r', "\n").chars().map(printable).collect();
        let details = details.replace('\n', "\n  ");
        text.push_str(&format!(
            "  <details><summary>details</summary>\n\n  {fence}text\n  {details}\n  {fence}\n\n  </details>\n"
        ));
    }
    text
}

/// `0.75 of 0.80`; with as many decimals as it takes to show on which side of its threshold a score is.
fn beside_threshold(score: f64, threshold: f64) -> String {
    let short = format!("{score:.2}");
    let shown = if shown_against(score, threshold) == short { short } else { shown_beside(score, threshold) };
    format!("{shown} of {}", shown_against(threshold, threshold))
}

/// What is said of a case in a list.
fn entry(case: &CaseData, text: &str) -> String {
    let name = format!("{} ({}@{})", case.record.case_id, case.record.suite, case.record.target);
    format!("- {}: {}\n", escape(&name), escape(text))
}
