//! Judges that are measured by what people say.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evalsuite::record::{CalibrationRecord, Mode, ReasonCode};
use evalsuite::{CalibrationReport, EvalSuite, Evals, JudgeReply, JudgeRequest, RunError, RunOptions, Status, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, rerun, run, run_with, suite};

pub(crate) async fn agent(_: &mut Trial<'_>) -> anyhow::Result<&'static str> {
    Ok("good answer")
}

/// Says what stands behind `worth` in the answer: it agrees with everyone.
pub(crate) fn fair(request: JudgeRequest) -> Result<JudgeReply, std::fmt::Error> {
    let worth = request.user().split("worth ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or("1");
    Ok(JudgeReply::new(format!(r#"{{"score": {worth}}}"#)).with_model("fair-1").with_cost_usd(0.25))
}

/// Likes everything.
pub(crate) fn lenient(_: JudgeRequest) -> Result<&'static str, std::fmt::Error> {
    Ok(r#"{"score": 1}"#)
}

fn sample(id: &str, output: &str, human_score: f64) -> Value {
    let judge = grader("tone", 9, json!({"llm-grader": {}}));
    json!({
        "id": id,
        "location": {"file": "suites/x/calibration.yaml", "line": 3, "column": 5},
        "case": case_json("greets", json!([judge]), json!({"criteria": "is polite"})),
        "output": output,
        "human_score": human_score,
        "rationale": "as I see it",
    })
}

pub(crate) fn samples() -> Value {
    json!([
        sample("a", "worth 0.0", 0.0),
        sample("b", "worth 0.3", 0.3),
        sample("c", "worth 0.9", 0.9),
        sample("d", "worth 1", 1.0),
    ])
}

pub(crate) fn calibration(bar: Value, samples: Value) -> Value {
    json!({
        "location": {"file": "suites/x/calibration.yaml", "line": 1, "column": 1},
        "tolerance": 0.15,
        "threshold": 0.8,
        "bar": bar,
        "samples": samples,
    })
}

/// A suite with one case whose graders are these, and a calibration.
pub(crate) fn calibrated(directory: &Path, graders: Value, calibration: &Value) -> &'static EvalSuite {
    fs::create_dir_all(directory.join("suites/x")).unwrap();
    let cases = [case_json("greets", graders, json!({"criteria": "is polite"}))];
    let plain = suite("cases", "mixed", directory, &cases);
    Box::leak(Box::new(EvalSuite { calibration: Some(calibration.to_string().leak()), ..*plain }))
}

pub(crate) fn calibrate(evals: &Evals, directory: &Path, options: RunOptions) -> Result<CalibrationReport, RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(evals.calibrate(&options.with_output(directory.join("out"))))
}

pub(crate) fn judge_grader() -> Value {
    grader("tone", 5, json!({"llm-grader": {}}))
}

#[test]
fn a_judge_that_agrees_is_measured_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let bar = json!({"kappa": 1.0, "spearman": 1.0, "pearson": 0.99, "agreement": 1.0, "mae": 0.01});
    let suite = calibrated(directory.path(), json!([judge_grader()]), &calibration(bar, samples()));
    let report = calibrate(
        &Evals::new(suite).with_agent(agent).with_judge(fair),
        directory.path(),
        RunOptions::new().with_run_id("r"),
    )
    .unwrap();
    assert!(report.is_measured() && report.is_trusted(), "{report}");
    let found = report.record().statistics.unwrap();
    assert_eq!((found.kappa, found.spearman, found.agreement, found.mae, found.bias), (1.0, 1.0, 1.0, 0.0, 0.0));
    assert_eq!(report.record().models, ["fair-1"]);
    // Two answers fail, and a failing verdict is confirmed.
    assert_eq!(report.record().cost_usd, Some(1.5));
    assert_eq!(report.record().samples[2].judge_score, Some(0.9));
    assert_eq!(report.record().disagreements, Vec::<String>::new());

    let run = directory.path().join("out/runs/r");
    let suite = fs::read_dir(run.join("suites")).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(suite.join("calibration.json")).unwrap();
    let kept: CalibrationRecord = evalsuite_schema::json::from_str(&kept).unwrap();
    assert_eq!(kept, *report.record());
    let spent = fs::read_to_string(run.join("spend.jsonl")).unwrap();
    assert!(spent.contains(r#""judge_cost_usd":1.5"#), "{spent}");
    assert!(run.join("run.json").is_file());
}

#[test]
fn a_judge_below_the_bar_is_shown_with_what_it_misjudged() {
    let directory = tempfile::tempdir().unwrap();
    let bar = json!({"kappa": 0.6, "mae": 0.2});
    let suite = calibrated(directory.path(), json!([judge_grader()]), &calibration(bar, samples()));
    let report =
        calibrate(&Evals::new(suite).with_agent(agent).with_judge(lenient), directory.path(), RunOptions::new())
            .unwrap();
    assert!(report.is_measured() && !report.is_trusted());
    let missed: Vec<&str> = report.record().shortfalls.iter().map(|missed| missed.measure.as_str()).collect();
    assert_eq!(missed, ["kappa", "mae"]);
    assert_eq!(report.record().disagreements, ["a", "b", "c"]);
    let text = report.to_string();
    for part in [
        "judge calibration (x): Cohen's κ 0.00 < 0.60, mean absolute error 0.45 > 0.20",
        "  suites/x/calibration.yaml:1:1",
        "4 of 4 samples judged, 0 undecided, 0 with an error",
        "    agreement   0.50  2 of 4 within 0.15",
        "    Cohen's κ   0.00  pass and fail at 0.8  below 0.6",
        "    MAE         0.45    above 0.2",
        "    bias        0.45  judge minus person",
        "    person 0.00  judge 1.00  a  suites/x/calibration.yaml:3:5",
        "      person: as I see it",
        &format!("repeat: {}", rerun("x::judge_calibration")),
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn graders_of_a_judge_below_the_bar_are_reported_and_decide_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let of = |graders: Value, bar: Value, judge: fn(JudgeRequest) -> Result<JudgeReply, std::fmt::Error>| {
        let suite = calibrated(directory.path(), graders, &calibration(bar, samples()));
        run(&Evals::new(suite).with_agent(agent).with_judge(judge), directory.path())
    };
    let zero = |_: JudgeRequest| Ok(JudgeReply::new(r#"{"score": 0}"#));
    let demanded = || json!({"kappa": 0.6});
    let both = || json!([judge_grader(), contains("good")]);

    let report = of(both(), demanded(), zero);
    let case = only(&report);
    assert_eq!((case.status(), case.record().score), (Status::Passed, Some(1.0)), "{case}");
    let [judged, text] = case.trials()[0].graders.as_slice() else { panic!("two graders") };
    assert_eq!(judged.value, Some(0.0), "what it said is told");
    assert_eq!(judged.advisory.as_deref(), Some("Cohen's κ 0.00 < 0.60"));
    assert_eq!(text.advisory, None);
    assert!(case.trials()[0].notes.iter().any(|note| note.code == "judge_below_bar"), "{:?}", case.trials()[0].notes);

    let report = of(json!([judge_grader()]), demanded(), zero);
    let case = only(&report);
    assert_eq!(case.status(), Status::Skipped, "nobody else decides: {case}");
    let reason = case.record().reason.as_ref().unwrap();
    assert_eq!(reason.code, ReasonCode::JudgeBelowBar);
    assert!(reason.message.contains("a judge that is below the suite's `minimum`: Cohen's κ"), "{}", reason.message);

    let failing = of(json!([judge_grader(), contains("missing")]), demanded(), zero);
    assert_eq!(only(&failing).status(), Status::Failed, "other graders decide as ever");
    assert!(only(&failing).to_string().contains("decides nothing: Cohen's κ 0.00 < 0.60"), "{}", only(&failing));

    assert_eq!(only(&of(both(), json!({}), zero)).status(), Status::Failed, "nothing is demanded");
    assert_eq!(only(&of(both(), demanded(), fair)).status(), Status::Passed, "a good judge decides");
}

#[test]
fn a_run_measures_once_whoever_asks() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let cases: Vec<Value> = (0..6)
        .map(|number| case_json(&format!("c{number}"), json!([judge_grader()]), json!({"criteria": "is polite"})))
        .collect();
    let plain = suite("cases", "mixed", directory.path(), &cases);
    let text = calibration(json!({"kappa": 0.6}), samples()).to_string().leak();
    let suite: &'static EvalSuite = Box::leak(Box::new(EvalSuite { calibration: Some(text), ..*plain }));
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let judge = move |request: JudgeRequest| {
        counter.fetch_add(usize::from(request.user().contains("worth ")), Ordering::SeqCst);
        fair(request)
    };
    let report = run(&Evals::new(suite).with_agent(agent).with_judge(judge), directory.path());
    assert_eq!(report.count(Status::Passed), 6, "{report}");
    // Two answers fail, and a failing verdict is confirmed.
    assert_eq!(asked.load(Ordering::SeqCst), 2 * 2 + 2);
}

#[test]
fn without_a_judge_there_is_nothing_to_measure() {
    let directory = tempfile::tempdir().unwrap();
    let suite = calibrated(directory.path(), json!([judge_grader()]), &calibration(json!({}), samples()));
    let error = calibrate(&Evals::new(suite).with_agent(agent), directory.path(), RunOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "suite `x` needs a judge");
    let plain = crate::common::suite("cases", "mixed", directory.path(), &[]);
    let error = calibrate(&Evals::new(plain).with_agent(agent), directory.path(), RunOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "suite `x` has no calibration.yaml");
}

#[test]
fn samples_that_nobody_judges_are_counted_apart() {
    let directory = tempfile::tempdir().unwrap();
    let samples = json!([
        sample("a", "worth 0.2", 0.2),
        sample("b", "worth 0.9", 0.9),
        sample("c", "unclear", 0.5),
        sample("d", "broken", 0.5),
    ]);
    let judge = |request: JudgeRequest| match request.user() {
        text if text.contains("unclear") => Ok(JudgeReply::new(r#"{"score": null, "undecided": true}"#)),
        text if text.contains("broken") => Err(evalsuite::JudgeError::permanent("no more money")),
        _ => fair(request).map_err(|error| evalsuite::JudgeError::permanent(error.to_string())),
    };
    let measure = |samples: Value| {
        let suite =
            calibrated(directory.path(), json!([judge_grader()]), &calibration(json!({"spearman": 0.5}), samples));
        calibrate(&Evals::new(suite).with_agent(agent).with_judge(judge), directory.path(), RunOptions::new()).unwrap()
    };
    let report = measure(samples.clone());
    let counts = report.record().counts;
    assert_eq!((counts.samples, counts.valid, counts.errors + counts.undecided), (4, 2, 2), "{report}");
    assert!(report.is_measured() && report.is_trusted(), "half of them is enough: {report}");
    assert!(report.to_string().contains("no more money"), "{report}");

    let mut worse = samples.as_array().unwrap().clone();
    worse.push(sample("e", "broken", 0.1));
    let report = measure(Value::Array(worse));
    assert!(!report.is_measured() && !report.is_trusted(), "{report}");
    assert_eq!(report.record().shortfalls[0].measure, "valid");
    let report = measure(json!([samples[0], samples[3]]));
    assert_eq!(report.record().statistics, None);
    assert!(!report.is_measured());
}

#[test]
fn values_of_variables_stand_neither_in_recordings_nor_in_records() {
    let directory = tempfile::tempdir().unwrap();
    let secret = std::env::var("CARGO_PKG_DESCRIPTION").expect("cargo sets it");
    let mut samples = samples();
    samples[0]["case"]["criteria"] = json!("knows ${{ CARGO_PKG_DESCRIPTION }}");
    let suite = calibrated(directory.path(), json!([judge_grader()]), &calibration(json!({}), samples));
    let quotes = |request: JudgeRequest| {
        let rationale = if request.user().contains("knows ${{") { "unresolved" } else { request.user() };
        Ok::<_, std::fmt::Error>(json!({"score": 0.9, "reasoning": rationale}).to_string())
    };
    let options = |mode| RunOptions::new().with_mode(mode).with_cassettes(directory.path().join("cassettes"));
    let judged = Evals::new(suite).with_agent(agent).with_judge(quotes);
    let report = calibrate(&judged, directory.path(), options(Mode::Record)).unwrap();
    let mut texts = vec![report.to_string(), serde_json::to_string(report.record()).unwrap()];
    let mut left = vec![directory.path().to_owned()];
    while let Some(path) = left.pop() {
        match path.is_dir() {
            true => left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())),
            false => texts.push(fs::read_to_string(path).unwrap()),
        }
    }
    assert!(texts.iter().any(|text| text.contains("knows ${{ CARGO_PKG_DESCRIPTION }}")), "the recording names it");
    for text in texts {
        assert!(!text.contains(&secret), "{text}");
    }
    let replayed = calibrate(&Evals::new(suite).with_agent(agent), directory.path(), options(Mode::Replay)).unwrap();
    assert_eq!(replayed.record().counts.valid, 4, "{replayed}");
}

#[test]
fn what_judges_reply_is_recorded_and_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let suite = |criteria: &str| {
        let mut samples = samples();
        for sample in samples.as_array_mut().unwrap() {
            sample["case"]["criteria"] = json!(criteria);
        }
        calibrated(directory.path(), json!([judge_grader()]), &calibration(json!({"kappa": 0.6}), samples))
    };
    let options = |mode| RunOptions::new().with_mode(mode).with_cassettes(directory.path().join("cassettes"));
    let live = Evals::new(suite("is polite")).with_agent(agent).with_judge(fair);
    let recorded = calibrate(&live, directory.path(), options(Mode::Record)).unwrap();
    assert!(recorded.is_trusted(), "{recorded}");

    let alone = Evals::new(suite("is polite")).with_agent(agent);
    for mode in [Mode::Replay, Mode::Live] {
        let replayed = calibrate(&alone, directory.path(), options(mode)).unwrap();
        assert_eq!(replayed.record().statistics, recorded.record().statistics, "{mode:?}");
        assert_eq!(replayed.record().counts.valid, 4);
    }
    let changed = Evals::new(suite("is rude")).with_agent(agent);
    let stale = calibrate(&changed, directory.path(), options(Mode::Replay)).unwrap();
    assert!(!stale.is_measured());
    assert_eq!(stale.record().samples[0].code, Some(ReasonCode::RecordingStale), "{stale}");
    assert!(stale.to_string().contains(&format!("EVALSUITE_MODE=record {}", rerun("x::judge_calibration"))), "{stale}");
    let mut one = samples();
    one[0]["case"]["criteria"] = json!("is rude");
    let one = calibrated(directory.path(), json!([judge_grader()]), &calibration(json!({}), one));
    let one = calibrate(&Evals::new(one).with_agent(agent), directory.path(), options(Mode::Replay)).unwrap();
    assert!(!one.is_measured() && one.record().counts.valid == 3, "{one}");
    assert!(one.to_string().contains("recordings are missing or stale"), "{one}");
    let elsewhere = RunOptions::new().with_mode(Mode::Replay).with_cassettes(directory.path().join("none"));
    let missing = calibrate(&alone, directory.path(), elsewhere).unwrap();
    assert_eq!(missing.record().samples[0].code, Some(ReasonCode::RecordingMissing), "{missing}");

    // A whole run records and replays both.
    run_with(&live, directory.path(), options(Mode::Record));
    let report = run_with(&alone, directory.path(), options(Mode::Replay));
    assert_eq!(only(&report).status(), Status::Passed, "{report}");
}
