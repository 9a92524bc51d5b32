//! The page in headless Chromium: no error on its console, keyboard, filters, themes, hostile texts, rows in the document.
//!
//! Without a browser these tests are ignored; in CI they fail.

mod accessibility;
mod case_page;
mod filters;
mod hostile_texts;
mod keyboard;
mod large_run;
mod lifts;
mod printing;
mod transcripts;
mod views;

use std::path::{Path, PathBuf};

use evalsuite_report::{HtmlReport, RunData, earlier_runs};
use evalsuite_tests::browser::Browser;
use evalsuite_tests::synthetic_run::SyntheticRun;

fn browser() -> Browser {
    Browser::start().expect("Chromium is installed, as by `apt-get install chromium`")
}

/// The report of the newest of three made-up runs.
fn report(directory: &Path, cases: usize) -> PathBuf {
    let mut last = None;
    for (index, day) in (18..21).enumerate() {
        let mut run = SyntheticRun::new(format!("run-{index}"), cases, 3);
        run.started_at = format!("2026-11-{day}T08:00:00.000Z");
        last = Some(run.write(directory));
    }
    let run = RunData::read(last.unwrap()).unwrap();
    assert_eq!(run.problems, []);
    let history = earlier_runs(&run, 10).unwrap();
    assert_eq!(history.len(), 2);
    let file = directory.join("report.html");
    HtmlReport::new(run).with_history(history).write_file(&file).unwrap();
    file
}

/// Ends a test: whatever the page complained about fails it.
fn assert_quiet(browser: &Browser) {
    assert!(browser.reports.is_empty(), "the page reported:\n{}", browser.reports.join("\n"));
}

const ROWS: &str = "document.querySelectorAll('.rows .row').length";
const HITS: &str = "document.querySelector('.hits').textContent";
