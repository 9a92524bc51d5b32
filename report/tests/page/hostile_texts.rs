//! Texts that are made to become something else stay texts.

use std::path::{Path, PathBuf};

use evalsuite_needs::{needs, slow};
use evalsuite_report::{HtmlReport, RunData};
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::{assert_quiet, browser};

/// The report of a run whose first case has this text everywhere.
fn report(directory: &Path, hostile: &str) -> PathBuf {
    let mut run = SyntheticRun::new("run", 3, 2);
    run.hostile = Some(hostile.to_owned());
    let file = directory.join("report.html");
    HtmlReport::new(RunData::read(run.write(directory)).unwrap()).write_file(&file).unwrap();
    file
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn hostile_texts_are_shown_as_text() {
    let mut browser = browser();
    let markup = "</script><img src=x onerror=\"globalThis.hacked=1\"><b id=hacked>$& $` ${globalThis.hacked=1} <!-- \u{2028}\u{2029}\0\u{202e}gnp.exe\u{7} ]]>&lt;";
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), markup);
    let case = "page.report.cases.find(it => it.id.includes('hacked'))";
    browser.open(&file, "");
    // The whole text came through, to the last character.
    let expected = evalsuite_schema::Value::from(markup);
    assert_eq!(browser.evaluate(&format!("{case}.id")), expected);
    for view in ["", "breakdown", "grid", "trends", "run"] {
        browser.evaluate(&format!("location.hash = '#/{view}'"));
        browser.wait(&format!("page.shown === '{}'", if view.is_empty() { "cases" } else { view }));
    }
    browser.evaluate(&format!("go({{ view: 'case', case: {case}.key, trial: '' }})"));
    browser.wait("Boolean(document.querySelector('.tabs'))");
    browser.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })");
    browser.wait("document.querySelectorAll('.folded').length > 5");
    let shown = browser.evaluate("document.querySelector('article h1').textContent");
    let shown = shown.as_str().unwrap();
    assert!(shown.starts_with("</script><img src=x onerror=\"globalThis.hacked=1\"><b id=hacked>$& $` ${"), "{shown}");
    assert!(shown.contains("U+2028U+2029U+0000U+202Egnp.exeU+0007 ]]>&lt;"), "{shown}");
    assert!(!shown.contains(['\u{202e}', '\0', '\u{2028}']), "{shown}");
    browser.evaluate("location.hash = location.hash.split('?')[0] + '?trial=all'");
    browser.wait("Boolean(document.querySelector('.answers'))");
    assert_eq!(browser.evaluate("[typeof globalThis.hacked, document.getElementById('hacked'), document.querySelectorAll('main img').length]"), evalsuite_schema::json::json!(["undefined", null, 0]));
    assert!(!browser.evaluate("document.body.innerText").as_str().unwrap().contains('\u{202e}'));
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_line_of_a_megabyte_is_folded_and_whole_on_demand() {
    let mut browser = browser();
    let line = "long ".repeat(200_000);
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), &line);
    browser.open(&file, "#/?q=");
    browser.evaluate("go({ view: 'case', case: page.report.cases.find(it => it.id.length > 1000).key, trial: '' })");
    browser.wait("Boolean(document.querySelector('#answer pre'))");
    let length = "document.querySelector('#answer pre').textContent.length";
    assert!(browser.evaluate(length).as_u64().unwrap() < 11_000);
    browser.evaluate("document.querySelector('#answer .more.inline').click()");
    assert_eq!(browser.evaluate(length), 1_000_000);
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_script_that_gets_into_the_page_does_not_run() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), "calm"), "");
    browser.evaluate("{ const script = document.createElement('script'); script.textContent = 'globalThis.hacked = 1'; document.body.append(script); }");
    assert_eq!(browser.evaluate("typeof globalThis.hacked"), "undefined");
    assert!(browser.reports.iter().any(|report| report.contains("Content Security Policy")), "{:?}", browser.reports);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_text_of_very_many_lines_is_whole_on_demand() {
    let mut browser = browser();
    let lines = "a\u{202e}\n".repeat(120_000);
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), &lines);
    browser.open(&file, "");
    browser.evaluate("go({ view: 'case', case: page.report.cases.find(it => it.id.length > 1000).key, trial: '' })");
    browser.wait("Boolean(document.querySelector('#answer .more'))");
    browser.evaluate("document.querySelector('#answer .more').click()");
    assert_eq!(browser.evaluate("document.querySelector('#answer pre').textContent.split('\\n').length"), 120_001);
    assert_quiet(&browser);
}
