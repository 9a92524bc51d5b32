//! What the views show.

use std::fs;

use evalsuite_needs::{needs, slow};
use evalsuite_records::record::{
    CalibrationRecord, CaseRecord, GraderRecord, ProbeRecord, ResultKind, SampleRecord, Stability, Status,
};
use evalsuite_records::summary::summarize_run;
use evalsuite_report::{CompareOptions, Comparison, ComparisonVerdict, Details, HtmlReport, RunData, judged_rates};
use evalsuite_tests::browser::Browser;
use evalsuite_tests::synthetic_probe::synthetic_probe;
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::{ROWS, assert_quiet, browser, report};

#[slow(page)]
#[needs(chromium)]
#[test]
fn the_page_of_a_case_shows_everything_that_was_recorded() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 30), "");
    browser.evaluate("go({ view: 'case', case: page.report.cases.find(it => it.outcome === 'f').key, trial: '1' })");
    browser.wait("Boolean(document.querySelector('.tabs'))");
    browser.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })");
    browser.wait("document.querySelectorAll('.folded').length > 5");
    let text = browser.evaluate("document.querySelector('article').innerText").as_str().unwrap().to_owned();
    for expected in [
        "required grader states-policy did not pass",
        "You are the support agent of a small shop.",
        "Our policy covers returns within 60 days",
        "the answer names the window of 30 days",
        "case.yaml:14",
        "judge-small",
        "warmth 0.75",
        "Check the answer below against each item.",
        "find_order",
        "charged twice",
        "Returns are possible within 30 days after delivery.",
        "orders/88213.toml",
        "refunded = \"24.90\"",
        "policy v7 loaded",
        "support-large-2",
    ] {
        assert!(text.contains(expected), "the page lacks {expected:?}:\n{text}");
    }
    browser.press("a");
    browser.wait("document.querySelectorAll('.answer-column').length > 1");
    let trials = browser.evaluate("document.querySelectorAll('.answer-column:not(.base) .trial-links a').length");
    assert_eq!(trials, 3, "equal answers share a column, and every trial is in one");
    assert_eq!(browser.evaluate("document.querySelectorAll('.answer-column.base').length > 0"), true);
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn the_headline_has_the_numbers_of_the_summary() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let run_directory = SyntheticRun::new("run", 60, 3).write(directory.path());
    let mut run = RunData::read(&run_directory).unwrap();
    let mut cases = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).map(|case| &mut case.record);
    // Every trial has to pass.
    let is_flaky = |case: &&mut CaseRecord| case.stability == Some(Stability::Flaky) && case.outcome == Status::Passed;
    cases.find(is_flaky).expect("a flaky case").outcome = Status::Failed;
    let file = directory.path().join("report.html");
    HtmlReport::new(run).write_file(&file).unwrap();
    browser.open(&file, "");
    let outcomes = "page.report.cases.reduce((all, it) => ({ ...all, [it.shown]: (all[it.shown] || 0) + 1 }), {})";
    let legend = "Object.fromEntries([...document.querySelectorAll('.legend a')].map(it => [it.querySelector('svg') && it.textContent.trim().split(' ')[1], Number(it.querySelector('strong').textContent)]))";
    let (outcomes, legend) = (browser.evaluate(outcomes), browser.evaluate(legend));
    for (code, name) in [("p", "passed"), ("~", "flaky"), ("f", "failed"), ("e", "error")] {
        assert_eq!(legend[name], outcomes[code], "{name}: {legend} {outcomes}");
    }
    let summary = summarize_run(&run_directory).unwrap();
    let targets: Vec<_> = summary.suites.iter().flat_map(|suite| &suite.targets).collect();
    let cases: u32 = targets.iter().map(|target| target.scored_cases).sum();
    let scores: f64 = targets.iter().filter_map(|it| Some(it.mean_score? * f64::from(it.scored_cases))).sum();
    let shown = browser.evaluate("document.querySelector('.measures dd').textContent");
    assert_eq!(shown, format!("{:.2}mean of {cases} cases", scores / f64::from(cases)));
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn runs_are_compared_case_by_case() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 30), "#/?different=1");
    let kinds = "[...new Set(page.views.cases.order.map(it => it.change(basePast(page.report)).kind))]";
    let kinds: Vec<String> = evalsuite_schema::json::from_value(browser.evaluate(kinds)).unwrap();
    assert!(!kinds.is_empty() && !kinds.contains(&"same".to_owned()), "{kinds:?}");
    let text = browser.evaluate("document.querySelector('main').innerText").as_str().unwrap().to_lowercase();
    assert!(!text.contains("regress"), "three trials of a case cannot show a regression");
    // Another run, then none.
    browser.evaluate("go({ base: 'run-0' })");
    browser.wait("basePast(page.report).run.id === 'run-0'");
    browser.evaluate("go({ base: 'none', different: '' })");
    browser.wait("!document.querySelector('.c-change')");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn colours_follow_the_system_and_the_button() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 12);
    let paper = "getComputedStyle(document.body).backgroundColor";
    browser.open(&file, "");
    let light = browser.evaluate(paper);
    browser.set_media("prefers-color-scheme", "dark");
    let dark = browser.evaluate(paper);
    assert_ne!(light, dark);
    browser.press("t");
    assert_eq!(browser.evaluate(paper), light);
    // Text on paper has a contrast of at least 4.5 in both, outcomes too.
    for scheme in ["light", "dark"] {
        browser.evaluate(&format!("document.documentElement.dataset.theme = '{scheme}'"));
        let contrasts = browser.evaluate(
            "(() => { const style = getComputedStyle(document.documentElement);
                const channels = (name) => { const hex = style.getPropertyValue(name).trim().slice(1); return [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16) / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); };
                const luminance = (name) => { const [r, g, b] = channels(name); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
                const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
                return ['--ink', '--muted', '--accent', '--passed', '--failed', '--error', '--flaky', '--skipped'].flatMap(name =>
                    ['--paper', '--raised', '--sunken', ...(style.getPropertyValue(name + '-soft') ? [name + '-soft'] : [])].map(on => [scheme, name, on, contrast(name, on)])).filter(([, , , value]) => value < 4.5);
            })()"
                .replace("[scheme,", &format!("['{scheme}',"))
                .as_str(),
        );
        assert_eq!(contrasts, evalsuite_schema::json::json!([]));
    }
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_run_without_cases_and_a_case_without_details_say_so() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let empty = SyntheticRun::new("empty", 0, 1).write(directory.path());
    let file = directory.path().join("empty.html");
    HtmlReport::new(RunData::read(empty).unwrap()).write_file(&file).unwrap();
    browser.open(&file, "");
    assert_eq!(browser.evaluate("document.querySelector('.empty h2').textContent"), "No case has run");
    browser.press("4");
    browser.wait("document.querySelector('.empty h2')?.textContent === 'No earlier runs'");

    let run = SyntheticRun::new("some", 30, 3).write(directory.path());
    let file = directory.path().join("some.html");
    HtmlReport::new(RunData::read(run).unwrap()).with_details(Details::NotPassed).write_file(&file).unwrap();
    browser.open(&file, "");
    browser.evaluate("go({ view: 'case', case: page.report.cases.find(it => it.outcome === 'p' && !it.flaky && !it.trials.some(trial => trial.outcome !== 'p')).key })");
    browser.wait("document.querySelector('.empty h2')?.textContent === 'Only in the run directory'");
    browser.evaluate("go({ view: 'case', case: 'no/such@case' })");
    browser.wait("document.querySelector('.empty h2')?.textContent === 'This report has no such case'");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn a_directory_loads_its_chunks_when_they_are_needed() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let run = SyntheticRun::new("run", 12, 2).write(directory.path());
    let out = directory.path().join("report");
    HtmlReport::new(RunData::read(run).unwrap()).write_directory(&out).unwrap();
    let page = out.join("index.html");
    browser.open(&page, "");
    browser.evaluate("go({ view: 'case', case: page.report.cases[0].key })");
    browser.wait("Boolean(document.querySelector('#answer .markdown'))");
    assert_quiet(&browser);
    fs::remove_dir_all(out.join("data")).unwrap();
    browser.open(&page, "");
    browser.evaluate("go({ view: 'case', case: page.report.cases[0].key })");
    browser.wait("document.querySelector('.empty h2')?.textContent === 'The details cannot be read'");
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn no_view_shows_what_only_a_program_understands() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let file = report(directory.path(), 30);
    browser.open(&file, "");
    let case = browser.evaluate("page.report.cases[0].key").as_str().unwrap().to_owned();
    let case = browser.evaluate(&format!("encodeURIComponent({})", evalsuite_schema::Value::from(case)));
    let case = case.as_str().unwrap();
    for hash in [
        "#/",
        "#/?group=tag",
        "#/breakdown",
        "#/grid",
        "#/trends",
        "#/run",
        &format!("#/case/{case}"),
        &format!("#/case/{case}?trial=all"),
    ] {
        browser.open(&file, hash);
        browser.wait("!document.querySelector('.loading') && document.querySelector('main').innerText.length > 100");
        let text = browser.evaluate("document.body.innerText").as_str().unwrap().to_owned();
        for word in ["[object", "undefined", "NaN", "null", "false", "true"] {
            assert!(!text.contains(word), "{hash} shows {word:?}:\n{text}");
        }
    }
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn rates_of_judges_are_shown_beside_the_corrected_ones() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 30, 1).write(directory.path())).unwrap();
    let file = directory.path().join("report.html");
    let text = "document.querySelector('.breakdown').innerText";
    HtmlReport::new(run.clone()).write_file(&file).unwrap();
    browser.open(&file, "#/breakdown");
    assert!(!browser.evaluate(text).as_str().unwrap().contains("corrected"), "there is no calibration");

    // The judge lets all of four rated answers pass, people three.
    let mut calibration = CalibrationRecord::new();
    (calibration.judges, calibration.threshold) = (vec!["judge-large".to_owned()], 0.7);
    for human_score in [0.9, 0.9, 0.2, 0.8] {
        let (mut sample, mut grader) = (SampleRecord::default(), GraderRecord::default());
        grader.name = "tone".to_owned();
        (sample.human_score, sample.judge_score, sample.grader) = (human_score, Some(0.9), Some(grader));
        calibration.samples.push(sample);
    }
    run.suites.iter_mut().for_each(|suite| suite.calibration = Some(calibration.clone()));
    let rates = judged_rates(&run);
    assert_eq!(rates.len(), 6, "one per suite and target: {rates:?}");
    HtmlReport::new(run).write_file(&file).unwrap();
    browser.open(&file, "#/breakdown");
    let shown = browser.evaluate(text).as_str().unwrap().to_owned();
    assert!(shown.contains("Judged graders, corrected by calibration"), "{shown}");
    let rows =
        "[...document.querySelectorAll('.judged tr')].map(row => [...row.children].map(cell => cell.textContent))";
    let rows: Vec<Vec<String>> = evalsuite_schema::json::from_value(browser.evaluate(rows)).unwrap();
    for rate in rates {
        let mut share = |value: f64| browser.evaluate(&format!("percent({value}, 0)")).as_str().unwrap().to_owned();
        let rates = [share(rate.judge_rate), share(rate.corrected_rate)];
        let row =
            [format!("tone {} · {}", rate.suite, rate.target), rates[0].clone(), rates[1].clone(), "4".to_owned()];
        assert!(rows.iter().any(|shown| *shown == row), "{row:?} is missing:\n{rows:?}");
        let interval = format!("95 % interval {} to {}", share(rate.lower), share(rate.upper));
        let has_interval = format!("[...document.querySelectorAll('.rate-bar')].some(it => it.title === '{interval}')");
        assert_eq!(browser.evaluate(&has_interval), true, "{interval}");
    }
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn paper_has_all_rows() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&report(directory.path(), 90), "");
    assert!(browser.evaluate(ROWS).as_u64().unwrap() <= 60);
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.evaluate(ROWS), 90);
    let ids = "[...document.querySelectorAll('.rows .row')].map(row => Number(row.getAttribute('aria-rowindex')))";
    let places: Vec<u64> = evalsuite_schema::json::from_value(browser.evaluate(ids)).unwrap();
    assert!(places.is_sorted(), "rows follow the order of the table in the document: {places:?}");
    let dark = evalsuite_schema::json::json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
    browser.call("Emulation.setEmulatedMedia", evalsuite_schema::json::json!({ "media": "print", "features": dark }));
    let paper = browser.evaluate("getComputedStyle(document.body).backgroundColor");
    assert_eq!(paper, "rgb(255, 255, 255)", "the dark theme is not printed");
    browser.evaluate("dispatchEvent(new Event('afterprint'))");
    assert!(browser.evaluate(ROWS).as_u64().unwrap() <= 60);
    assert_quiet(&browser);
}

/// The headline of the report says what `diff` says, for each run that can be compared with.
#[slow(page)]
#[needs(chromium)]
#[test]
fn the_headline_is_the_paired_comparison() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let mut earlier = SyntheticRun::new("run-a", 40, 3);
    earlier.started_at = "2026-11-18T08:00:00.000Z".to_owned();
    let earlier = RunData::read(earlier.write(directory.path())).unwrap();
    let mut later = SyntheticRun::new("run-b", 40, 3);
    later.started_at = "2026-11-19T08:00:00.000Z".to_owned();
    let mut run = RunData::read(later.write(directory.path())).unwrap();
    for case in run.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        for trial in &mut case.record.trials {
            trial.score = trial.score.map(|score| score / 2.0);
        }
    }
    let comparison = Comparison::new(&earlier, &run, &CompareOptions::new());
    assert_eq!(comparison.verdict(), ComparisonVerdict::Regressed);
    let file = directory.path().join("report.html");
    HtmlReport::new(run).with_history(vec![earlier]).write_file(&file).unwrap();
    browser.open(&file, "");
    let text = |of: &str| format!("document.querySelector('{of}').textContent");
    assert_eq!(browser.evaluate(&text(".versus .verdict")), "Regressed");
    let shown = browser.evaluate(&text(".versus")).as_str().unwrap().to_owned();
    let worst = comparison.suites.iter().find(|suite| suite.verdict == ComparisonVerdict::Regressed).unwrap();
    assert!(worst.p_value < 0.001, "{}", worst.p_value);
    for part in [format!("−{:.3}", worst.difference.abs()), "p < 0.001".to_owned()] {
        assert!(shown.contains(&part), "{part} is missing in: {shown}");
    }
    browser.evaluate("go({ base: 'none' })");
    browser.wait("!document.querySelector('.versus')");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn the_headline_counts_trials_without_a_result_and_passes_with_a_failed_grader() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 40, 3).write(directory.path())).unwrap();
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    let errors = cases().flat_map(|case| &case.trials).filter(|trial| trial.record.outcome == Status::Error).count();
    let trials = cases().map(|case| case.trials.len()).sum::<usize>();
    assert!(errors > 0, "the made-up run has trials in error");
    run.suites[0].cases[0].record.failed_graders = vec!["tone".to_owned()];
    let file = directory.path().join("report.html");
    HtmlReport::new(run).write_file(&file).unwrap();
    browser.open(&file, "");
    let shown =
        browser.evaluate("document.querySelector('.headline .figure').textContent").as_str().unwrap().to_owned();
    let ended = format!("{errors} of {trials} trials ended in an error");
    assert!(shown.contains(&ended) && shown.contains("1 case passed although a grader failed"), "{shown}");
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn an_address_with_the_name_of_a_property_of_all_objects_sorts_by_outcome() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    for name in ["__proto__", "constructor", "toString"] {
        browser.open(&report(directory.path(), 12), &format!("#/?sort={name}&group={name}&base={name}"));
        assert_eq!(browser.evaluate("page.views.cases.order.length"), 12, "{name}");
    }
    assert_quiet(&browser);
}

#[slow(page)]
#[needs(chromium)]
#[test]
fn marks_on_the_bar_of_outcomes_show_between_which_pass_rates_a_run_says_something() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let run = RunData::read(SyntheticRun::new("probed", 30, 1).write(directory.path())).unwrap();
    let file = directory.path().join("report.html");
    HtmlReport::new(run.clone()).write_file(&file).unwrap();
    browser.open(&file, "");
    let marks = "document.querySelectorAll('.distribution .marked .mark').length";
    assert_eq!(browser.evaluate(marks), 0, "the suites were not probed");

    // One of four cases passes for an empty answer, and three of four references pass.
    let case = |index| [(ResultKind::Silent, index == 0), (ResultKind::Reference, index != 0)];
    let probes: Vec<ProbeRecord> =
        run.suites.iter().map(|suite| synthetic_probe(&suite.id, (0..4).map(case))).collect();
    HtmlReport::new(run.with_probes(&probes)).write_file(&file).unwrap();
    browser.open(&file, "");
    assert_eq!(browser.evaluate(marks), 2);
    let place = "(name) => { const bar = document.querySelector('.distribution .outcomes').getBoundingClientRect(); \
                 const mark = document.querySelector(`.mark.is-${name}`).getBoundingClientRect(); \
                 return (mark.left + mark.width / 2 - bar.left) / bar.width; }";
    let at = |browser: &mut Browser, name: &str| browser.evaluate(&format!("({place})('{name}')")).as_f64().unwrap();
    let (floor, ceiling) = (at(&mut browser, "floor"), at(&mut browser, "ceiling"));
    assert!((ceiling / floor - 3.0).abs() < 0.1 && ceiling < 0.76, "{floor} {ceiling}");
    let text = browser.evaluate("document.querySelector('.headline').innerText").as_str().unwrap().to_owned();
    assert!(text.contains("doing nothing passes 25") && text.contains("the references pass 75"), "{text}");
    assert_quiet(&browser);
}
