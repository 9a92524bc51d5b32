//! The page of a case: what explains its outcome comes first, and answers can be read as they were meant. Names and views on a phone.

use std::path::{Path, PathBuf};

use evalsuite_needs::{needs, slow};
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

#[slow(page)]
#[needs(chromium)]
#[test]
fn graders_that_explain_the_outcome_come_first() {
    let mut browser = browser();
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

#[slow(page)]
#[needs(chromium)]
#[test]
fn answers_are_shown_as_markdown_or_raw() {
    let mut browser = browser();
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
    let turn = browser.evaluate(
        "(() => { const { it, details } = page.views.case, trial = structuredClone(details.trials[0]);
            trial.record.turns = [{ index: 0, outcome: 'passed', score: 1, input: '*in*', answer: '*out*', graders: [] }];
            return [...el('div', {}, page.views.case.trialBody(it, trial, details)).querySelectorAll('.turn em')].map(it => it.textContent); })()",
    );
    assert_eq!(turn, json!(["out"]), "answers of turns are answers too");
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

#[slow(page)]
#[needs(chromium)]
#[test]
fn answers_that_are_data_or_large_stay_raw() {
    let mut browser = browser();
    for answer in ["{\"name\": \"*a* _b_\"}".to_owned(), "*word* ".repeat(15_000)] {
        let directory = tempfile::tempdir().unwrap();
        open_answer(&mut browser, directory.path(), &answer);
        assert_eq!(browser.evaluate("document.querySelectorAll('#answer pre.answer').length"), 1);
        assert_eq!(browser.evaluate("document.querySelectorAll('#answer .as').length"), 0);
    }
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn texts_made_to_be_slow_come_through_whole() {
    let mut browser = browser();
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

#[slow(page)]
#[needs(chromium)]
#[test]
fn names_break_after_separators_only() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 3), "");
    // In any width, a line begins where the name does or after a separator.
    let broken = browser.evaluate(
        "(() => { const box = el('div', {}, nameText('templates/support@default::greeting_short-words')); page.main.append(box);
            const nodes = [...box.querySelector('.name-text').childNodes].filter(it => it.nodeType === 3), broken = [];
            for (let width = 400; width > 10; width -= 7) {
                box.style.width = `${width}px`;
                for (const node of nodes) { const range = document.createRange(); range.selectNodeContents(node); if (new Set([...range.getClientRects()].map(it => Math.round(it.top))).size > 1) broken.push([width, node.data]); }
            }
            return [nodes.map(it => it.data), broken, box.textContent, box.firstChild.title]; })()",
    );
    let name = "templates/support@default::greeting_short-words";
    assert_eq!(
        broken,
        json!([["templates/", "support@", "default::", "greeting_", "short-", "words"], [], name, name])
    );
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_phone_shows_the_newest_run_and_the_reasons() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 30);
    browser.set_window(375, 900);
    browser.open(&file, "#/grid");
    let newest = "(() => { const { grid } = page.views; const at = grid.columns.findIndex(it => it.label === 'This run'); return [at, document.querySelector('.canvas-box').scrollLeft, grid.left + (at + 1) * grid.wide <= document.querySelector('.canvas-box').clientWidth]; })()";
    let shown = browser.evaluate(newest);
    assert_eq!([&shown[1], &shown[2]], [&json!(0), &json!(true)], "{shown}");
    browser.set_window(1300, 900);
    browser.wait("page.views.grid.columns.findIndex(it => it.label === 'This run') === 2");
    browser.set_window(375, 900);
    browser.open(&file, "#/?q=s:failed");
    let reason = "(() => { const reason = document.querySelector('.because').getBoundingClientRect(), row = document.querySelector('.row.case').getBoundingClientRect(); return reason.width > 250 && reason.top >= row.top && reason.bottom <= row.bottom; })()";
    assert_eq!(browser.evaluate(reason), json!(true));
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn the_breakdown_covers_what_the_filter_lets_through() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 30);
    browser.open(&file, "#/breakdown");
    assert_eq!(browser.evaluate("document.querySelector('.scope')"), json!(null));
    browser.open(&file, "#/breakdown?q=s:failed");
    let failed = browser.evaluate("page.report.cases.filter(it => it.outcome === 'f').length");
    let words = format!("Covers the {failed} of 30 cases that match the filter s:failed. Cover all 30");
    assert_eq!(browser.evaluate("document.querySelector('.scope').textContent"), json!(words));
    // What a row leads to are the cases that it counts.
    browser.evaluate("document.querySelectorAll('.rates')[1].querySelector('a').click()");
    browser.wait("page.shown === 'cases'");
    assert_eq!(
        browser.evaluate(
            "route.q.startsWith('s:failed suite:') && page.views.cases.order.every(it => it.outcome === 'f')"
        ),
        json!(true)
    );
    // Texts in quotes are looked up here too.
    browser.open(&file, "#/breakdown?q=%22no%20such%20text%22");
    browser.wait("document.querySelector('.scope')?.textContent.startsWith('Covers the 0 of 30 cases')");
    assert_quiet(&browser);
}
