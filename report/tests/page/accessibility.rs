//! What axe-core finds in every view, in both themes, on wide and narrow screens: nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_needs::{needs, slow};
use evalsuite_schema::Value;
use evalsuite_tests::browser::Browser;

use super::{browser, report};

/// The rules that are checked: WCAG 2.2 up to AA, and those of axe itself.
const RULES: &str = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']";

/// The script of axe-core.
fn axe() -> String {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/axe/package/axe.min.js");
    let file = env::var_os("EVALSUITE_AXE").map_or(built, PathBuf::from);
    fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!(
            "cannot read {} ({error}); `mkdir -p target/axe && cd target/axe && npm pack axe-core@4.10.3 && \
             tar xzf axe-core-4.10.3.tgz` makes it",
            file.display()
        )
    })
}

/// One line per finding, after the place where it was found.
fn findings(browser: &mut Browser, place: &str) -> Vec<String> {
    let found = browser.evaluate(&format!(
        "axe.run(document, {{ runOnly: {RULES}, resultTypes: ['violations'] }}).then(({{ violations }}) => violations.flatMap(rule =>
            rule.nodes.map(node => `${{rule.id}}: ${{node.html.slice(0, 160)}} ${{(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? ''}}`)))"
    ));
    let found: Vec<String> = evalsuite_schema::json::from_value(found).unwrap();
    found.into_iter().map(|line| format!("{place}: {line}")).collect()
}

#[slow(page)]
#[needs(chromium, axe)]
#[test]
fn axe_finds_nothing_in_any_view() {
    let axe = axe();
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 30);
    browser.open(&file, "");
    let keys = "['f', 'p', 'e', 's'].flatMap(code => page.report.cases.filter(it => it.outcome === code).slice(0, 1)).map(it => encodeURIComponent(it.key))";
    let keys: Vec<String> = evalsuite_schema::json::from_value(browser.evaluate(keys)).unwrap();
    let mut views: Vec<String> = [
        "#/",
        "#/?group=tag",
        "#/?graders=tone,states-policy",
        "#/?q=no-such-case",
        "#/grid",
        "#/breakdown",
        "#/trends",
        "#/run",
    ]
    .map(str::to_owned)
    .to_vec();
    views.extend(keys.iter().map(|key| format!("#/case/{key}")));
    views.push(format!("#/case/{}?trial=all", keys[0]));
    let mut all = Vec::new();
    for (width, height) in [(1280, 900), (375, 800)] {
        browser.set_window(width, height);
        for theme in ["light", "dark"] {
            browser.set_media("prefers-color-scheme", theme);
            browser.open(&file, "");
            browser.evaluate(&axe);
            for view in &views {
                browser.evaluate(&format!("location.hash = {}", Value::from(view.as_str())));
                browser.wait(
                    "page.hash === location.hash && !document.querySelector('.loading') && document.querySelector('main').innerText.length > 100",
                );
                browser.evaluate("document.querySelectorAll('main details').forEach(it => { it.open = true; })");
                all.extend(findings(&mut browser, &format!("{view}, {theme}, {width} px")));
            }
            browser.evaluate("showHelp()");
            all.extend(findings(&mut browser, &format!("help, {theme}, {width} px")));
        }
    }
    assert!(all.is_empty(), "{} findings:\n{}", all.len(), all.join("\n"));
}
