//! The table on paper.

use std::path::{Path, PathBuf};

use evalsuite_needs::{needs, slow};
use evalsuite_report::{HtmlReport, RunData};
use evalsuite_schema::Value;
use evalsuite_schema::json::json;
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::large_run::hundredfold;
use super::{ROWS, assert_quiet, browser};

fn report_of_5_000_cases(directory: &Path) -> PathBuf {
    let run = RunData::read(SyntheticRun::new("run", 50, 1).write(directory)).unwrap();
    let file = directory.join("report.html");
    HtmlReport::new(hundredfold(run)).write_file(&file).unwrap();
    file
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn paper_has_the_first_500_of_5_000_rows_and_says_so() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report_of_5_000_cases(directory.path()), "");
    let order = "page.views.cases.order.map(it => it.outcome).join('').slice(0, 500)";
    let outcomes = browser.evaluate(order).as_str().unwrap().to_owned();
    assert!(outcomes.starts_with('e') && outcomes.contains('f'), "those that did not pass are first: {outcomes}");

    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.evaluate(ROWS), 500);
    let sentence = "document.querySelector('.unprinted').textContent";
    let shown = browser.evaluate(sentence).as_str().unwrap().to_owned();
    assert!(shown.starts_with("4 500 more cases not printed: the rows above are the first of 5 000 cases"), "{shown}");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let style = |of: &str, property: &str| format!("getComputedStyle(document.querySelector('{of}')).{property}");
    assert_eq!(browser.evaluate(&style(".rows .row", "breakInside")), "avoid");
    assert_ne!(browser.evaluate(&style(".row .because", "display")), "none");
    let covered = "[...document.querySelectorAll('.rows .row')].some((row, at, all) => at > 0 && row.getBoundingClientRect().top < all[at - 1].getBoundingClientRect().bottom - 1)";
    assert_eq!(browser.evaluate(covered), false, "no row covers another one");
    let cut =
        "[...document.querySelectorAll('.row .because')].some(it => it.scrollWidth > it.parentElement.clientWidth + 1)";
    assert_eq!(browser.evaluate(cut), false, "every reason is whole");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    browser.evaluate("dispatchEvent(new Event('afterprint'))");
    assert!(browser.evaluate(ROWS).as_u64().unwrap() <= 60);
    assert_eq!(browser.evaluate(sentence), "");

    // The browser itself says that it prints.
    let printed = browser.call("Page.printToPDF", json!({}));
    assert!(printed["data"].as_str().unwrap().len() > 10_000, "the paper is not empty");
    assert!(browser.evaluate(ROWS).as_u64().unwrap() <= 60);
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_focused_row_far_below_is_printed_after_those_before_it() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report_of_5_000_cases(directory.path()), "");
    browser.evaluate("page.views.cases.table.focus(4000)");
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    let places = "[...document.querySelectorAll('.rows .row')].map(row => Number(row.getAttribute('aria-rowindex')))";
    let places: Vec<u64> = evalsuite_schema::json::from_value(browser.evaluate(places)).unwrap();
    assert!(places.is_sorted() && places.len() == 501, "{places:?}");
    let shown = browser.evaluate("document.querySelector('.unprinted').textContent");
    assert!(matches!(&shown, Value::String(text) if text.starts_with("4 499 more cases")), "{shown}");
    assert_quiet(&browser);
}
