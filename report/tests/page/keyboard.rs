//! The page without a mouse.

use evalsuite_needs::{needs, slow};
use evalsuite_tests::browser::Browser;

use super::{assert_quiet, browser, report};

fn hash(browser: &mut Browser) -> String {
    browser.evaluate("location.hash").as_str().unwrap().to_owned()
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn every_view_is_reached_with_the_keyboard() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 30), "");
    let focused = "document.activeElement.querySelector('.id')?.textContent ?? ''";

    // Down and up in the table, into a case and back to its row.
    browser.press("j");
    let first = browser.evaluate(focused);
    browser.press("j");
    let second = browser.evaluate(focused);
    assert!(first != second && second != "", "{first} {second}");
    browser.press("k");
    assert_eq!(browser.evaluate(focused), first);
    browser.press("j");
    browser.press("Enter");
    browser.wait("document.querySelector('h1')?.textContent !== undefined && Boolean(document.querySelector('.tabs'))");
    assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), second);

    // Trials, all of them, and the next case.
    let tab = "document.querySelector('[role=tab][aria-selected=true]').textContent";
    assert!(browser.evaluate(tab).as_str().unwrap().starts_with("Trial 1"));
    browser.press("ArrowRight");
    browser.wait(&format!("{tab}.startsWith('Trial 2')"));
    browser.press("ArrowLeft");
    browser.wait(&format!("{tab}.startsWith('Trial 1')"));
    assert_eq!(browser.evaluate("document.activeElement.id"), "main");
    browser.press("a");
    browser.wait(&format!("{tab}.startsWith('Side by side')"));
    browser.press("a");
    browser.wait(&format!("!{tab}.startsWith('Side by side')"));
    browser.press("j");
    browser.wait(&format!("document.querySelector('h1').textContent !== {second}"));
    browser.press("k");
    browser.wait(&format!("document.querySelector('h1').textContent === {second}"));
    browser.press("Escape");
    browser.wait(&format!("({focused}) === {second}"));

    // The filter.
    browser.press("/");
    browser.wait("document.activeElement.id === 'filter'");
    browser.write("s:failed");
    browser.wait("location.hash.includes('q=s%3Afailed') && /of 30/.test(document.querySelector('.hits').textContent)");
    browser.press("Enter");
    browser.wait("document.activeElement.classList.contains('row')");
    browser.press("Escape");
    browser.wait("!location.hash.includes('q=')");

    // From another view, the filter takes the focus in the table.
    browser.press("4");
    browser.wait("location.hash === '#/trends'");
    browser.press("/");
    browser.wait("location.hash === '#/' && document.activeElement.id === 'filter'");
    browser.press("Escape");
    browser.wait("document.activeElement.id !== 'filter'");

    // Views, different only, help.
    for (key, view) in [("2", "breakdown"), ("3", "grid"), ("4", "trends"), ("5", "run"), ("1", "")] {
        browser.press(key);
        browser.wait(&format!("location.hash === '#/{view}'"));
    }
    browser.press("d");
    browser.wait("location.hash.includes('different=1')");
    browser.press("?");
    browser.wait("document.getElementById('help').open");
    browser.press("Escape");
    browser.wait("!document.getElementById('help').open");
    assert!(hash(&mut browser).contains("different=1"), "Escape closes the help first");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_key_acts_on_what_the_key_before_it_led_to() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 30), "");
    // Within one task of the page: it gets to none of its own events in between.
    let at_once = |keys: &str| {
        format!(
            "for (const key of {keys}) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }}))"
        )
    };
    browser.evaluate(&at_once("['4', '/']"));
    assert_eq!(browser.evaluate("location.hash + document.activeElement.id"), "#/filter");

    // What was typed last is filtered by before the focus goes to the first case, and stays there.
    browser.evaluate(
        "document.activeElement.value = 's:failed', document.activeElement.dispatchEvent(new Event('input'))",
    );
    browser.evaluate(&at_once("['Enter']"));
    let focused = "document.activeElement.querySelector('.id')?.textContent ?? ''";
    let first = browser.evaluate(focused);
    assert_ne!(first, "");
    assert_eq!(browser.evaluate("location.hash"), "#/?q=s%3Afailed");
    assert_eq!(browser.evaluate("document.querySelector('.rows .id').textContent"), first);

    // Into the case, on to the next one, and back to its row.
    browser.evaluate(&at_once("['Enter', 'j', 'Escape']"));
    assert_eq!(browser.evaluate("document.activeElement.getAttribute('aria-rowindex')"), "3");

    // Back leads to the case, and the key after it acts there. Browsers report the move before the new address.
    browser.evaluate(&format!(
        "new Promise(moved => {{ addEventListener('popstate', () => {{ {}; moved(); }}, {{ once: true }}); history.back(); }})",
        at_once("['k']")
    ));
    browser.wait(&format!("document.querySelector('h1')?.textContent === {first}"));
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn the_table_tells_assistive_technology_what_it_shows() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 30), "");
    assert_eq!(browser.evaluate("document.querySelector('[role=grid]').getAttribute('aria-rowcount')"), "31");
    let rows = browser.evaluate(
        "[...document.querySelectorAll('.rows [role=row]')].map(row => Number(row.getAttribute('aria-rowindex')))",
    );
    assert_eq!(rows.as_array().unwrap().first(), Some(&2.into()));
    // One row is in the tab order; every control and every sign has a name.
    assert_eq!(browser.evaluate("document.querySelectorAll('.rows [role=row][tabindex=\"0\"]').length"), 1);
    let nameless = "[...document.querySelectorAll('button, a, input, select, [role=img]')].filter(it => !(it.getAttribute('aria-label') || it.textContent.trim() || it.title || it.closest('label'))).length";
    assert_eq!(browser.evaluate(nameless), 0);
    assert_quiet(&browser);
}
