//! 5,000 cases of three trials.

use evalsuite_needs::{needs, slow};
use evalsuite_report::{CaseData, Details, HtmlReport, RunData};
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::{HITS, ROWS, assert_quiet, browser};

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_run_of_15_000_trials_opens_at_once_and_has_60_rows_in_the_document() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let run = hundredfold(RunData::read(SyntheticRun::new("run", 50, 3).write(directory.path())).unwrap());
    let file = directory.path().join("report.html");
    let written = HtmlReport::new(run).with_details(Details::NotPassed).write_file(&file).unwrap();

    browser.set_window(1440, 2400);
    browser.open(&file, "");
    let ready = browser.evaluate("Number(document.documentElement.dataset.ready)").as_f64().unwrap();
    let memory = browser.evaluate("performance.memory.usedJSHeapSize / 1e6").as_f64().unwrap();
    println!("15,000 trials, {} bytes: ready after {ready} ms, {memory:.0} MB of memory", written.bytes);
    assert!(ready < 10_000.0, "not interactive after {ready} ms");
    assert_eq!(browser.evaluate(HITS), "5 000 cases");
    assert!(browser.evaluate("page.report.trials.index.length").as_u64().unwrap() > 14_000);
    for position in ["0", "document.body.scrollHeight / 2", "document.body.scrollHeight", "0"] {
        browser.evaluate(&format!("scrollTo(0, {position})"));
        browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        let rows = browser.evaluate(ROWS).as_u64().unwrap();
        assert!((40..=61).contains(&rows), "{rows} rows in the document at {position}");
    }
    browser.press("/");
    browser.wait("document.activeElement.id === 'filter'");
    browser.write("s:failed grader:tone<0.7");
    browser.wait(&format!("{HITS}.endsWith('of 5 000 cases')"));
    browser.press("Enter");
    browser.press("Enter");
    browser.wait("Boolean(document.querySelector('#answer'))");
    assert_quiet(&browser);
}

/// The same cases a hundred times: writing 100,000 files is not what is tested.
pub(super) fn hundredfold(mut run: RunData) -> RunData {
    for suite in &mut run.suites {
        let cases = suite.cases.clone();
        suite.cases = (0..100).flat_map(|copy| cases.iter().map(move |case| copy_of(case, copy))).collect();
    }
    run
}

fn copy_of(case: &CaseData, copy: usize) -> CaseData {
    let mut case = case.clone();
    case.record.case_id = format!("{}-{copy:03}", case.record.case_id);
    case
}
