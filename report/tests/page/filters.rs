//! The filter, sorting and grouping.

use evalsuite_needs::{needs, slow};

use super::{HITS, assert_quiet, browser, report};

#[slow(page)]
#[needs(chromium)]
#[test]
fn filters_let_through_what_they_say() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 60), "");
    browser.evaluate("globalThis.chosen = (query) => { const filter = parseFilter(query, page.report, basePast(page.report)); return filter.problems.length ? filter.problems : page.report.cases.filter(filter.test).map((it) => it.i); }");
    browser.evaluate("globalThis.all = (test) => page.report.cases.filter(test).map((it) => it.i)");
    for (query, test) in [
        ("", "it => true"),
        ("s:failed", "it => it.outcome === 'f'"),
        ("s:f,skip", "it => it.outcome === 'f' || it.outcome === 's'"),
        ("s:flaky", "it => it.passed > 0 && it.passed < it.completed"),
        ("-s:passed", "it => it.outcome !== 'p'"),
        ("@nightly", "it => it.tags.includes('nightly')"),
        ("!@gpu-free", "it => !it.tags.includes('gpu-free')"),
        ("metadata.language:de", "it => it.metadata.language === 'de'"),
        ("metadata.language:de s:passed", "it => it.metadata.language === 'de' && it.outcome === 'p'"),
        ("grader:tone<0.7", "it => it.trials.some(trial => (trial.values[it.graders.indexOf('tone')] ?? 1) < 0.7)"),
        (
            "grader:states-policy:fail",
            "it => it.trials.some(trial => trial.verdicts[it.graders.indexOf('states-policy')] === 'f')",
        ),
        ("grader:tone", "it => it.graders.includes('tone')"),
        ("time:>20s", "it => it.trials.some(trial => trial.ms > 20000)"),
        ("time>20000ms", "it => it.trials.some(trial => trial.ms > 20000)"),
        ("cost:<$0.03", "it => it.cost !== null && it.cost < 0.03"),
        (
            "tokens:>5k",
            "it => it.trials.some(trial => trial.tokens && trial.tokens[0] + trial.tokens[1] + trial.tokens[2] > 5000)",
        ),
        ("score:<80%", "it => it.score !== null && it.score < 0.8"),
        ("suite:refunds", "it => it.suite === 'refunds'"),
        ("target:small", "it => it.target === 'small'"),
        (
            "refund",
            "it => it.id.includes('refund') || it.suite === 'refunds' || it.test.includes('refund') || it.file.includes('refund')",
        ),
        ("bucket:code", "it => it.bucket === 'code'"),
        (
            "change:definition",
            "it => basePast(page.report).definitions[it.i] !== '=' && basePast(page.report).outcomes[it.i] !== '-'",
        ),
    ] {
        let query = evalsuite_schema::Value::from(query);
        let (chosen, expected) =
            (browser.evaluate(&format!("chosen({query})")), browser.evaluate(&format!("all({test})")));
        assert_eq!(chosen, expected, "{query}");
    }
    assert_eq!(browser.evaluate("chosen('metadata.constructor:x')"), serde_json::json!([]));
    for (query, problem) in [
        ("nonsense:1", "`nonsense` is not a key of filters; keys are s, metadata.KEY"),
        ("s:green", "`green` is not a state"),
        ("time:>fast", "`time:>fast`: expected a number"),
        ("grader:tone:maybe", "`maybe`: expected `<0.5`"),
        ("constructor:1", "`constructor` is not a key of filters"),
        ("grader:tone:constructor", "`constructor`: expected `<0.5`"),
        ("change:constructor", "`constructor` is not a change"),
    ] {
        let problems = browser.evaluate(&format!("chosen({})", evalsuite_schema::Value::from(query)));
        assert!(problems[0].as_str().unwrap().starts_with(problem), "{query}: {problems}");
    }
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn texts_in_quotes_are_found_in_prompts_and_answers() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 60), "#/?q=%22hunter2%22");
    browser.wait(&format!("{HITS} === '6 of 60 cases'"));
    browser.open(&directory.path().join("report.html"), "#/?q=%22no%20such%20text%22");
    browser.wait("!document.querySelector('.empty').hidden && document.querySelector('.empty h2').textContent === 'No case matches'");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn the_address_holds_filter_order_and_groups() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 60);
    browser.open(&file, "#/?q=suite:refunds&sort=time&group=metadata.language&dir=down");
    let times =
        browser.evaluate("page.order.length || page.views.cases.order.map(it => it.ms).filter(ms => ms !== null)");
    let times: Vec<f64> = times.as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
    assert!(times.len() > 10 && times.is_sorted(), "{times:?}");
    let groups =
        browser.evaluate("[...document.querySelectorAll('.row.group strong')].map(it => it.textContent).sort()");
    assert_eq!(groups, evalsuite_schema::json::json!(["de", "en", "ja", "pt"]));
    assert_eq!(browser.evaluate("document.getElementById('filter').value"), "suite:refunds");
    assert_eq!(browser.evaluate("document.querySelector('.c-time').getAttribute('aria-sort')"), "descending");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn outcomes_and_tags_lead_to_their_cases_and_back() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 60), "");
    let failed = "document.querySelector('.legend a[data-filter=\"s:failed\"]')";
    browser.evaluate(&format!("{failed}.click()"));
    browser.wait("route.q === 's:failed'");
    browser.wait(&format!("{failed}.getAttribute('aria-current') === 'true'"));
    assert_eq!(browser.evaluate("document.querySelectorAll('.legend a[aria-current=true]').length"), 1);
    browser.evaluate(&format!("{failed}.click()"));
    browser.wait(&format!("route.q === '' && {failed}.getAttribute('aria-current') === 'false'"));
    browser.evaluate("document.querySelector('.rows .tags .chip').click()");
    browser.wait("route.q.startsWith('@') && page.views.cases.order.every(it => it.tags.includes(route.q.slice(1)))");
    assert_eq!(browser.evaluate("route.view"), "cases", "the row is not opened");
    // The address can change view and filter at once.
    browser.evaluate("location.hash = '#/grid'");
    browser.wait("page.shown === 'grid' && page.order.length === page.report.cases.length");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_text_in_quotes_is_found_where_it_is_in_a_value() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 30), "");
    let both = "globalThis.both = async (text) => {
        const found = await searchDetails(page.report, page.report.cases, [{ text, negated: false }], () => {}, () => false);
        const slow = [];
        for (const it of page.report.cases) if (it.text.includes(text) || textsIn(await page.report.details(it)).join('\\n').toLowerCase().includes(text)) slow.push(it.i);
        return [[...found].map(it => it.i).sort((a, b) => a - b), slow];
    }";
    browser.evaluate(both);
    for text in [
        "within 30 days",
        "no such text",
        "rationale",
        "null",
        "true",
        "30",
        "e",
        ",",
        "\\",
        "\"",
        "n",
        "u001b",
        ".*",
        "états",
        "日",
        "case_id",
        "[",
        "orders/88213.toml",
        "refunded = \"24.90\"",
        "hunter2",
    ] {
        let found = browser.evaluate(&format!("both({})", evalsuite_schema::Value::from(text)));
        assert_eq!(found[0], found[1], "{text:?}");
    }
    // Escapes of JSON, and what looks like the space between two texts.
    for (line, text, is_there) in [
        (r#"{"a":"one\ntwo"}"#, "ntwo", false),
        (r#"{"a":"one\ntwo"}"#, "one\ntwo", true),
        (r#"{"a":"one\\ntwo"}"#, "ntwo", true),
        (r#"{"a":"say \"hello\", then"}"#, "\"hello\"", true),
        (r#"{"a":"x","key":1}"#, "key", false),
        (r#"{"a":"x","key":"A Key"}"#, "key", true),
        (r#"{"a":[1,2],"b":null}"#, "null", false),
        (r#"{"a":"null"}"#, "null", true),
        (r#"{"a":"x:","b":",y"}"#, ",", true),
        (r#"{"a":"\u001fb"}"#, "001f", false),
    ] {
        let text = evalsuite_schema::Value::from(text);
        let line = evalsuite_schema::Value::from(line);
        let found = browser.evaluate(&format!("hasText({line}, patternOf({text}), {text})"));
        assert_eq!(found, is_there, "{text} in {line}");
    }
    browser.evaluate("(async () => { page.report.inflated.clear(); await page.report.inflateAll(); })()");
    assert_eq!(
        browser.evaluate("page.report.inflated.size === new Set(page.report.cases.map(it => it.detailsAt[0])).size"),
        true
    );
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn graders_are_columns_that_the_address_holds() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 30);
    browser.open(&file, "");
    assert_eq!(browser.evaluate("document.querySelectorAll('.c-grader').length"), 0);
    browser.evaluate("[...document.querySelectorAll('.grader-list label')].find(it => it.textContent === 'tone').querySelector('input').click()");
    browser.wait("route.graders === 'tone' && document.querySelectorAll('.row.head .c-grader').length === 1");
    browser.evaluate("document.querySelector('.row.head .c-grader button').click()");
    browser.wait("route.sort === 'grader:tone'");
    let address = browser.evaluate("location.hash").as_str().unwrap().to_owned();
    browser.open(&file, &address);
    let values = "page.views.cases.order.map(it => graderMean(it, 'tone')).filter(value => value !== null)";
    let values: Vec<f64> = evalsuite_schema::json::from_value(browser.evaluate(values)).unwrap();
    assert!(values.len() > 5 && values.is_sorted(), "{values:?}");
    let shown = "document.querySelector('.rows .c-grader .heat').textContent === score(graderMean(page.views.cases.order[0], 'tone'))";
    assert_eq!(browser.evaluate(shown), true);
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn words_that_every_object_knows_are_unknown_in_an_address() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 60);
    for word in ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"] {
        browser.open(&file, &format!("#/?sort={word}&group={word}"));
        let ways = [
            format!("#/?sort={word}"),
            format!("#/?group={word}"),
            format!("#/?group=metadata.{word}"),
            format!("#/?q={word}:1"),
            format!("#/?q=metadata.{word}:1"),
            format!("#/?graders={word}&base={word}"),
            format!("#/?{word}=x"),
            format!("#/{word}"),
            format!("#/case/{word}"),
            format!("#/trends?measure={word}"),
            format!("#/grid?measure={word}&trial={word}"),
        ];
        for address in ways {
            let shown = "show(), document.getElementById('main').textContent.length > 0";
            let shown = browser.evaluate(&format!("location.hash = '{address}', {shown}"));
            assert_eq!(shown, true, "{address}");
            assert_quiet(&browser);
        }
        let sorted = browser.evaluate(&format!("location.hash = '#/?sort={word}'; show(); page.order.length"));
        assert_eq!(sorted, 60, "{word}");
    }
}
