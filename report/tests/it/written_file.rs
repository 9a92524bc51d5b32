//! What is in the file: an index that says what the records say, chunks that can be inflated, and no markup from recorded texts.

use std::fs;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evalsuite_report::{Details, HtmlReport, RunData, earlier_runs};
use evalsuite_schema::Value;
use evalsuite_tests::synthetic_run::SyntheticRun;
use flate2::read::GzDecoder;

/// The data of a written page: its index and its chunks.
struct Page {
    text: String,
    index: Value,
    chunks: Vec<Value>,
}

impl Page {
    fn of(report: &HtmlReport) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("report.html");
        let written = report.write_file(&file).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(written.bytes, text.len() as u64);
        let mut data = text.split("<script type=\"application/octet-stream\" id=\"").skip(1).map(|part| {
            let (id, rest) = part.split_once("\">").unwrap();
            (id.to_owned(), inflated(rest.split_once("</script>").unwrap().0))
        });
        let (id, index) = data.next().unwrap();
        assert_eq!(id, "index");
        let chunks = data.enumerate().map(|(number, (id, chunk))| {
            assert_eq!(id, format!("c{number}"));
            chunk
        });
        let chunks = chunks.collect();
        Self { text, index, chunks }
    }

    fn details(&self, case: usize) -> &Value {
        let place = &self.index["cases"]["details"][case];
        &self.chunks[place[0].as_u64().unwrap() as usize][place[1].as_u64().unwrap() as usize]
    }
}

fn inflated(base64: &str) -> Value {
    let mut text = String::new();
    GzDecoder::new(STANDARD.decode(base64).unwrap().as_slice()).read_to_string(&mut text).unwrap();
    evalsuite_schema::json::from_str(&text).unwrap()
}

#[test]
fn the_index_says_what_the_records_say() {
    let root = tempfile::tempdir().unwrap();
    let run = RunData::read(SyntheticRun::new("run", 60, 3).write(root.path())).unwrap();
    let page = Page::of(&HtmlReport::new(run.clone()));
    let (cases, trials, names) = (&page.index["cases"], &page.index["trials"], &page.index["names"]);
    let mut next_trial = 0;
    let records: Vec<_> = run.suites.iter().flat_map(|suite| &suite.cases).collect();
    for (at, case) in records.iter().enumerate() {
        let record = &case.record;
        let name = |column: &str| names[cases[column][at].as_u64().unwrap() as usize].as_str().unwrap();
        assert_eq!(cases["id"][at], record.case_id.as_str());
        assert_eq!(
            (name("suite"), name("target"), name("file")),
            (&*record.suite, &*record.target, &*record.location.file)
        );
        assert_eq!(cases["outcome"].as_str().unwrap()[at..=at], record.outcome.as_str()[..1]);
        assert_eq!(cases["score"][at].as_f64(), record.score);
        assert_eq!(cases["firstTrial"][at], next_trial);
        let graders = page.index["graderLists"][cases["graders"][at].as_u64().unwrap() as usize].as_array().unwrap();
        for trial in &case.trials {
            let trial = &trial.record;
            assert_eq!(trials["outcome"].as_str().unwrap()[next_trial..=next_trial], trial.outcome.as_str()[..1]);
            assert_eq!(trials["ms"][next_trial].as_u64(), trial.duration_ms);
            assert_eq!(trials["cost"][next_trial].as_f64(), trial.cost_usd);
            for (position, grader) in graders.iter().enumerate() {
                let grader = names[grader.as_u64().unwrap() as usize].as_str().unwrap();
                let value = trial.graders.iter().find(|known| known.name == grader).and_then(|known| known.value);
                assert_eq!(trials["values"][next_trial][position].as_f64(), value);
            }
            next_trial += 1;
        }
        let details = page.details(at);
        assert_eq!(details["trials"].as_array().unwrap().len(), case.trials.len());
        assert_eq!(details["trials"][0]["record"]["answer"].as_str(), case.trials[0].record.answer.as_deref());
        assert_eq!(details["input"]["messages"][0]["role"], "system");
    }
    assert_eq!(trials["index"].as_array().unwrap().len(), next_trial);
    assert!(records.len() == 60 && next_trial > 150);
}

#[test]
fn earlier_runs_are_told_apart_by_definition_and_their_answers_are_there() {
    let root = tempfile::tempdir().unwrap();
    for (id, day) in [("one", 1), ("three", 2)] {
        let mut run = SyntheticRun::new(id, 60, 2);
        run.started_at = format!("2026-11-0{day}T00:00:00.000Z");
        run.write(root.path());
    }
    let run = RunData::read(root.path().join("runs/three")).unwrap();
    let history = earlier_runs(&run, 5).unwrap();
    let page = Page::of(&HtmlReport::new(run.clone()).with_history(history));
    let past = &page.index["past"][0];
    assert_eq!((&page.index["base"], &past["run"]["id"]), (&Value::from(0), &Value::from("one")));
    let ids = page.index["cases"]["id"].as_array().unwrap();
    for (at, definition) in past["definitions"].as_str().unwrap().chars().enumerate() {
        // Case 40 has other graders in each run.
        let expected = if ids[at].as_str().unwrap().ends_with("-0040") { 'g' } else { '=' };
        assert_eq!(definition, expected, "{}", ids[at]);
    }
    assert_eq!(past["outcomes"].as_str().unwrap().len(), 60);
    let base = &page.details(0)["base"];
    assert_eq!((&base["run"], base["trials"].as_array().unwrap().len()), (&Value::from("one"), 2));
    assert!(base["trials"][0]["answer"].is_string());
}

#[test]
fn hostile_texts_are_in_the_data_only() {
    let long = "l".repeat(1 << 20);
    for hostile in [
        "</script><script>hacked()</script>",
        "$& $` $' $1",
        "\u{2028}\u{2029}",
        "a\0b",
        "\u{202e}\u{2066}txt.exe",
        "<!--<script>",
        long.as_str(),
    ] {
        let root = tempfile::tempdir().unwrap();
        let mut run = SyntheticRun::new("run", 3, 1);
        run.hostile = Some(hostile.to_owned());
        let run = RunData::read(run.write(root.path())).unwrap();
        let page = Page::of(&HtmlReport::new(run));
        let at =
            page.index["cases"]["id"].as_array().unwrap().iter().position(|id| id == hostile).expect("the id is whole");
        let trial = &page.details(at)["trials"][0];
        assert_eq!(trial["record"]["answer"], hostile);
        assert_eq!(trial["trajectory"]["steps"][1]["message"], hostile);
        let end_of_script = page.text.split_once("\n<script>").unwrap().1.split_once("</script>").unwrap().1;
        assert!(!end_of_script.contains("hacked") && !end_of_script.contains(hostile));
        assert_eq!(page.text.matches("</script>").count(), page.chunks.len() + 2);
    }
}

#[test]
fn details_of_passed_cases_are_left_out_on_request() {
    let root = tempfile::tempdir().unwrap();
    let run = RunData::read(SyntheticRun::new("run", 60, 3).write(root.path())).unwrap();
    let page = Page::of(&HtmlReport::new(run.clone()).with_details(Details::NotPassed));
    let cases: Vec<_> = run.suites.iter().flat_map(|suite| &suite.cases).collect();
    for (at, case) in cases.iter().enumerate() {
        let all_passed = case.record.trials.iter().all(|trial| trial.outcome.as_str() == "passed");
        assert_eq!(page.index["cases"]["details"][at].is_null(), all_passed, "{}", case.record.case_id);
    }
    assert_eq!(page.index["cases"]["id"].as_array().unwrap().len(), 60, "the table has all cases");
}

#[test]
fn the_same_run_gives_the_same_file() {
    let root = tempfile::tempdir().unwrap();
    let run = RunData::read(SyntheticRun::new("run", 12, 2).write(root.path())).unwrap();
    assert_eq!(Page::of(&HtmlReport::new(run.clone())).text, Page::of(&HtmlReport::new(run)).text);
}

#[test]
fn trials_that_do_not_count_cost_all_the_same() {
    let root = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 3, 2).write(root.path())).unwrap();
    let record = &mut run.suites[0].cases[0].record;
    let mut surplus = record.trials[0].clone();
    (surplus.cost_usd, surplus.judge_cost_usd) = (Some(0.5), Some(0.25));
    record.surplus = vec![surplus.clone(), surplus.clone()];
    record.confirming = vec![surplus];
    let page = Page::of(&HtmlReport::new(run));
    let uncounted = evalsuite_schema::json::json!({ "surplus": 2, "confirming": [1, 1], "cost": 1.5, "judgeCost": 0.75, "userCost": null });
    assert_eq!(page.index["cases"]["uncounted"], evalsuite_schema::json::json!([uncounted, null, null]));
}

#[test]
fn the_base_has_its_place_in_time_among_the_earlier_runs() {
    let root = tempfile::tempdir().unwrap();
    let mut runs: Vec<RunData> = [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
        .map(|(id, day)| {
            let mut run = SyntheticRun::new(id, 3, 1);
            run.started_at = format!("2026-11-0{day}T00:00:00.000Z");
            RunData::read(run.write(root.path())).unwrap()
        })
        .into();
    let (run, base) = (runs.pop().unwrap(), runs.remove(1));
    let page = Page::of(&HtmlReport::new(run).with_history(runs).with_base(base));
    let ids: Vec<&str> =
        page.index["past"].as_array().unwrap().iter().map(|past| past["run"]["id"].as_str().unwrap()).collect();
    assert_eq!((ids, &page.index["base"]), (vec!["a", "b", "c"], &Value::from(1)));
}

#[test]
fn the_interval_of_a_case_has_a_width_where_all_trials_agree() {
    let root = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 3, 2).write(root.path())).unwrap();
    let record = &mut run.suites[0].cases[0].record;
    record.trials.iter_mut().for_each(|trial| trial.score = Some(1.0));
    (record.ci95_lower, record.ci95_upper) = (Some(1.0), Some(1.0));
    let page = Page::of(&HtmlReport::new(run));
    let [lower, upper] = [0, 1].map(|end| page.index["cases"]["interval"][0][end].as_f64().expect("an end"));
    assert!(lower < 0.5 && (upper - 1.0).abs() < 1e-9, "[{lower}, {upper}] of two trials");
}
