//! The page of a case: what explains its outcome comes first, and answers can be read as they were meant.

use std::path::{Path, PathBuf};

use evalsuite_report::{HtmlReport, RunData};
use evalsuite_schema::json::json;
use evalsuite_tests::browser::Browser;
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::{assert_quiet, browser, report};

/// The report of a run whose first case has this answer, opened at that case.
fn open_answer(browser: &mut Browser, directory: &Path, answer: &str) -> PathBuf {
    let mut run = SyntheticRun::new("run", 3, 2);
    run.hostile = Some(answer.to_owned());
    let file = directory.join("report.html");
    HtmlReport::new(RunData::read(run.write(directory)).unwrap()).write_file(&file).unwrap();
    browser.open(&file, "");
    browser.evaluate("go({ view: 'case', case: page.report.cases[0].key, trial: '1' })");
    browser.wait("Boolean(document.querySelector('#answer :is(.markdown, pre)'))");
    file
}

#[test]
fn graders_that_explain_the_outcome_come_first() {
    let Some(mut browser) = browser() else { return };
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 30), "");
    let graders = json!([
        { "name": "a", "type": "a", "state": "decided", "verdict": "pass", "value": 1.0, "weight": 1 },
        { "name": "b", "type": "b", "state": "undecided", "weight": 1 },
        { "name": "c", "type": "c", "state": "decided", "verdict": "fail", "value": 0.0, "weight": 1 },
        { "name": "d", "type": "d", "state": "error", "error": "no judge", "weight": 1 },
        { "name": "e", "type": "e", "state": "decided", "verdict": "fail", "value": 0.0, "weight": 1 },
    ]);
    let names = browser
        .evaluate(&format!("[...gradersView({graders}, []).querySelectorAll('.name')].map(it => it.textContent)"));
    assert_eq!(names, json!(["d", "c", "e", "b", "a"]));
    assert_quiet(&browser);
}

const ANSWER: &str = r#"# Refund **policy**

Call `refund(order)`, see *the* [rules](https://example.com/rules?a=1) or <mailto:help@example.com>.
Not [this](javascript:alert(1)), not snake_case_name, not 2 * 3 * 4.

- one
- two
  1. inner
  2. second

> quoted __text__

| Item | Price |
|------|------:|
| `a\|b` | 5 |

```rust
let x = "<b id=hacked>";
```
<b id=hacked>no</b>"#;

#[test]
fn answers_are_shown_as_markdown_or_raw() {
    let Some(mut browser) = browser() else { return };
    let directory = tempfile::tempdir().unwrap();
    open_answer(&mut browser, directory.path(), ANSWER);
    let texts = |selector: &str| {
        format!("[...document.querySelectorAll('#answer .markdown {selector}')].map(it => it.textContent)")
    };
    for (selector, expected) in [
        ("h3", json!(["Refund policy"])),
        ("strong", json!(["policy", "text"])),
        ("em", json!(["the"])),
        ("p code", json!(["refund(order)"])),
        ("ol li", json!(["inner", "second"])),
        ("blockquote", json!(["quoted text"])),
        ("th", json!(["Item", "Price"])),
        ("td", json!(["a|b", "5"])),
        ("pre", json!(["let x = \"<b id=hacked>\";"])),
        ("a", json!(["rules", "mailto:help@example.com"])),
    ] {
        assert_eq!(browser.evaluate(&texts(selector)), expected, "{selector}");
    }
    assert_eq!(browser.evaluate("document.querySelector('#answer ul').children.length"), 2);
    assert_eq!(browser.evaluate("document.querySelector('#answer a').title"), "https://example.com/rules?a=1");
    assert_eq!(browser.evaluate("document.getElementById('hacked')"), json!(null));
    let shown =
        browser.evaluate("document.querySelector('#answer .markdown').textContent").as_str().unwrap().to_owned();
    for text in ["[this](javascript:alert(1)), not snake_case_name, not 2 * 3 * 4.", "<b id=hacked>no</b>"] {
        assert!(shown.contains(text), "{shown}");
    }
    // The raw text is the whole answer, and stays chosen on the next page.
    browser.evaluate("document.querySelector('#answer .as button:last-child').click()");
    assert_eq!(browser.evaluate("document.querySelector('#answer pre').textContent"), ANSWER);
    assert_eq!(browser.evaluate("document.activeElement.textContent"), "Raw");
    browser.evaluate("go({ trial: '2' }, { replace: true })");
    browser.wait("Boolean(document.querySelector('[aria-selected=\"true\"][href*=\"trial=2\"]'))");
    assert_eq!(browser.evaluate("document.querySelector('#answer .markdown')"), json!(null));
    browser.evaluate("document.querySelector('#answer .as button').click()");
    assert_eq!(browser.evaluate("document.querySelectorAll('#answer .markdown').length"), 1);
    assert_quiet(&browser);
}

#[test]
fn answers_that_are_data_or_large_stay_raw() {
    let Some(mut browser) = browser() else { return };
    for answer in ["{\"name\": \"*a* _b_\"}".to_owned(), "*word* ".repeat(15_000)] {
        let directory = tempfile::tempdir().unwrap();
        open_answer(&mut browser, directory.path(), &answer);
        assert_eq!(browser.evaluate("document.querySelectorAll('#answer pre.answer').length"), 1);
        assert_eq!(browser.evaluate("document.querySelectorAll('#answer .as').length"), 0);
    }
    assert_quiet(&browser);
}

#[test]
fn texts_made_to_be_slow_come_through_whole() {
    let Some(mut browser) = browser() else { return };
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 3), "");
    for piece in [
        "*a ", "[a", "`a", "> a", "- a", "# a ", "~~a", "_a", "a|-", "\\a", " a ", "**a", "ha", "![a](", "<a",
        "- a\n ", "`a``",
    ] {
        let piece = json!(piece);
        let lost = format!(
            "(() => {{ const text = Array(11).fill({piece}.repeat(9_000 / {piece}.length)).join('\\n\\n'), letters = (one) => one.match(/a/g).length; return letters(text) - letters(el('div', {{}}, markdown(text)).textContent); }})()"
        );
        assert_eq!(browser.evaluate(&lost), json!(0), "{piece}");
    }
    assert_quiet(&browser);
}
