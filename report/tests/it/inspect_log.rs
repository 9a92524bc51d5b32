//! Logs for Inspect. `tests/tools/with_inspect.py` opens them with Inspect itself.

use std::collections::HashSet;
use std::io::{Cursor, Read};
use std::path::Path;

use evalsuite_records::record::{GraderState, Reason, ReasonCode, Stage, Status};
use evalsuite_report::{InspectFormat, InspectLog, RunData, TrialData, inspect_logs};
use evalsuite_schema::Value;
use evalsuite_tests::synthetic_run::SyntheticRun;

fn run(change: impl FnOnce(&mut SyntheticRun)) -> (tempfile::TempDir, RunData) {
    let output = tempfile::tempdir().expect("a temporary directory");
    let mut synthetic = SyntheticRun::new("20261122T142550Z-000001", 45, 2);
    change(&mut synthetic);
    let run = RunData::read(synthetic.write(output.path())).expect("the run can be read");
    (output, run)
}

fn written(log: &InspectLog<'_>, format: InspectFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    assert_eq!(log.write(format, &mut out).expect("a log"), []);
    out.into_inner()
}

fn json(log: &InspectLog<'_>) -> Value {
    evalsuite_schema::json::from_slice(&written(log, InspectFormat::Json)).expect("JSON")
}

fn samples(log: &Value) -> &[Value] {
    log["samples"].as_array().expect("a list")
}

#[test]
fn there_is_a_log_for_each_suite_and_target_under_a_name_that_inspect_finds() {
    let (_output, mut run) = run(|_| {});
    run.suites[0].name = "re_funds/ä b".to_owned();
    let logs = inspect_logs(&run);
    let names: Vec<String> = logs.iter().map(|log| log.file_name(InspectFormat::Eval)).collect();
    assert_eq!(logs.len(), 6);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 6, "{names:?}");
    for (log, name) in logs.iter().zip(&names) {
        let parts: Vec<&str> = name.split('_').collect();
        assert_eq!((parts.len(), parts[0]), (3, "2026-11-22T14-25-50"), "{name}");
        let task_id = parts[2].strip_suffix(".eval").expect("the extension");
        assert_eq!(json(log)["eval"]["task_id"], task_id);
    }
    assert!(names[0].contains("_re-funds-ä-b_"), "{names:?}");
    assert!(logs.iter().any(|log| (log.suite(), log.target()) == ("scheduling", "small")));
}

#[test]
fn large_logs_are_archives() {
    let (_output, mut run) = run(|_| {});
    assert!(inspect_logs(&run).iter().all(|log| log.format() == InspectFormat::Json));
    let trials = &mut run.suites[0].cases[0].trials;
    let trial = trials[0].clone();
    trials.resize(1_001, trial);
    assert_eq!(inspect_logs(&run)[0].format(), InspectFormat::Eval);
    assert_eq!(InspectFormat::of_file(Path::new("a.eval")), Some(InspectFormat::Eval));
    assert_eq!(InspectFormat::of_file(Path::new("logs.d")), None);
}

#[test]
fn readers_of_headers_find_everything_before_the_samples() {
    let (_output, run) = run(|run| run.skill = 0.5);
    for log in inspect_logs(&run) {
        let log = json(&log);
        let keys: Vec<&str> = log.as_object().expect("an object").keys().map(String::as_str).collect();
        let has_error = log["status"] == "error";
        let mut expected = vec!["version", "status", "eval", "plan", "results", "stats", "error", "invalidated"];
        expected.extend(["tags", "metadata", "samples", "reductions"]);
        expected.retain(|key| has_error || *key != "error");
        assert_eq!(keys, expected);
        assert!(log.as_object().expect("an object").values().all(|value| !value.is_null()), "{keys:?}");
        assert_eq!(log["version"], 2);
    }
}

/// What the published schema requires of each object, as far as a log has it.
const REQUIRED: &[(&str, &[&str])] = &[
    (
        "/eval",
        &[
            "eval_id",
            "run_id",
            "created",
            "task",
            "task_id",
            "task_version",
            "task_attribs",
            "task_args",
            "task_args_passed",
            "dataset",
            "model",
            "model_generate_config",
            "model_args",
            "config",
            "packages",
        ],
    ),
    ("/eval/viewer", &["scanner_result_view"]),
    ("/eval/viewer/task_samples_view", &["name"]),
    ("/eval/revision", &["type", "origin", "commit"]),
    ("/plan", &["name", "steps", "config"]),
    ("/plan/steps/*", &["solver", "params", "params_passed"]),
    ("/results", &["total_samples", "completed_samples", "scores"]),
    ("/results/scores/*", &["name", "scorer", "params", "metrics"]),
    ("/results/scores/*/metrics/*", &["name", "value", "params"]),
    ("/stats", &["started_at", "completed_at", "model_usage", "role_usage", "connection_limit_history"]),
    ("/error", &["message", "traceback", "traceback_ansi"]),
    ("/reductions/*", &["scorer", "samples"]),
    ("/reductions/*/samples/*", &["value", "history", "sample_id"]),
    (
        "/samples/*",
        &[
            "id",
            "epoch",
            "input",
            "target",
            "messages",
            "output",
            "metadata",
            "store",
            "events",
            "model_usage",
            "role_usage",
            "attachments",
        ],
    ),
    ("/samples/*/messages/*", &["role", "content"]),
    ("/samples/*/messages/*/tool_calls/*", &["id", "function", "arguments", "type"]),
    ("/samples/*/output", &["model", "choices", "completion"]),
    ("/samples/*/output/choices/*", &["message", "stop_reason"]),
    ("/samples/*/scores/*", &["value", "history"]),
    ("/samples/*/error", &["message", "traceback", "traceback_ansi"]),
    ("/samples/*/limit", &["type", "limit"]),
    ("/samples/*/events/*", &["event", "timestamp", "working_start"]),
    ("/samples/*/role_usage/*", &["input_tokens", "output_tokens", "total_tokens"]),
];

/// The values at a path in which `*` is every element of a list or object.
fn at<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    path.split('/').skip(1).fold(vec![value], |values, key| {
        let children = values.into_iter().flat_map(|value| match (key, value) {
            ("*", Value::Array(values)) => values.iter().collect(),
            ("*", Value::Object(fields)) => fields.values().collect(),
            (key, value) => value.get(key).into_iter().collect::<Vec<_>>(),
        });
        children.filter(|value| !value.is_null()).collect()
    })
}

#[test]
fn every_object_has_what_readers_and_the_published_schema_require() {
    let (_output, mut run) = run(|run| run.skill = 0.6);
    break_a_case(&mut run);
    let logs: Vec<Value> = inspect_logs(&run).iter().map(json).collect();
    for (path, required) in REQUIRED {
        let objects: Vec<&Value> = logs.iter().flat_map(|log| at(log, path)).collect();
        assert!(!objects.is_empty(), "no log has {path}");
        for object in objects {
            for key in *required {
                assert!(!object[*key].is_null(), "{path} has no {key}: {object}");
            }
        }
    }
}

/// Ends the first case in an error: its first trial broke, and its second one reached its time limit.
fn break_a_case(run: &mut RunData) {
    let case = &mut run.suites[0].cases[0];
    case.record.outcome = Status::Error;
    for (trial, code) in case.trials.iter_mut().zip([ReasonCode::AgentError, ReasonCode::Timeout]) {
        trial.record.outcome = Status::Error;
        trial.record.duration_ms = Some(300_000);
        trial.record.reason = Some(Reason::new(Stage::Agent, code, "no answer"));
    }
}

#[test]
fn every_trial_is_a_sample_with_the_scores_of_its_graders() {
    let (_output, mut run) = run(|_| {});
    let undecided = &mut run.suites[0].cases[0].trials[1].record;
    undecided.outcome = Status::Passed;
    undecided.graders[1].state = GraderState::Undecided;
    undecided.graders[2].name = undecided.graders[0].name.clone();
    let case = run.suites[0].cases[0].clone();
    let log = &inspect_logs(&run)[0];
    let log = json(log);
    let trials: Vec<_> = run.suites[0].cases.iter().filter(|case| case.record.target == "default").collect();
    assert_eq!(samples(&log).len(), trials.iter().map(|case| case.trials.len()).sum::<usize>());
    let keys: HashSet<String> =
        samples(&log).iter().map(|sample| format!("{}#{}", sample["id"], sample["epoch"])).collect();
    assert_eq!(keys.len(), samples(&log).len(), "id and epoch identify a sample");

    let [first, second] = [&samples(&log)[0], &samples(&log)[1]];
    let record = &case.trials[0].record;
    assert_eq!((&first["id"], &first["epoch"]), (&record.case_id.as_str().into(), &1.into()));
    assert_eq!(first["input"][1]["role"], "user");
    assert_eq!(first["output"]["completion"], record.answer.clone().expect("an answer"));
    assert_eq!(first["scores"]["evalsuite"]["value"], record.score.expect("a score"));
    assert_eq!(first["scores"]["tone"]["value"], record.graders[1].value.expect("a value"));
    assert_eq!(first["scores"]["tone"]["metadata"]["type"], "llm-grader");
    assert_eq!(first["metadata"]["difficulty"], record.metadata["difficulty"], "the author's metadata");
    assert_eq!(first["metadata"]["location"], record.location.to_string());
    assert!(first["metadata"]["folder"].as_str().is_some_and(|folder| record.location.file.starts_with(folder)));
    let tools: Vec<&Value> =
        first["events"].as_array().expect("events").iter().filter(|event| event["event"] == "tool").collect();
    assert_eq!(tools.len(), 3, "an event for each call");
    assert_eq!(tools[0]["function"], "find_order");
    assert!((tools[0]["working_time"].as_f64().expect("seconds") - 0.4125).abs() < 1e-9);

    let names: Vec<&String> = second["scores"].as_object().expect("scores").keys().collect();
    assert_eq!(names, ["evalsuite", "states-policy", "states-policy (2)"], "undecided graders have no score");
    let tone = at(&log, "/results/scores/*").into_iter().find(|score| score["name"] == "tone").expect("tone");
    let decided = samples(&log).iter().filter(|sample| !sample["scores"]["tone"].is_null()).count();
    assert_eq!(tone["scored_samples"], decided);
    assert_eq!(tone["unscored_samples"], samples(&log).len() - decided);
}

#[test]
fn errors_and_limits_are_told_apart_and_have_no_scores() {
    let (_output, mut run) = run(|_| {});
    break_a_case(&mut run);
    let log = json(&inspect_logs(&run)[0]);
    assert_eq!(log["status"], "error");
    assert!(log["error"]["message"].as_str().is_some_and(|message| message.ends_with("cases ended in an error")));
    let [broken, limited] = [&samples(&log)[0], &samples(&log)[1]];
    assert_eq!((&broken["error"]["message"], &broken["limit"]), (&"no answer".into(), &Value::Null));
    let limit = evalsuite_schema::json::json!({ "type": "time", "limit": 300.0, "reason": "no answer" });
    assert_eq!((&limited["error"], &limited["limit"]), (&Value::Null, &limit));
    assert!(broken["scores"].is_null() && limited["scores"].is_null());
    run.in_use = true;
    assert_eq!(json(&inspect_logs(&run)[0])["status"], "cancelled");
}

#[test]
fn means_are_over_cases_and_judges_cost_apart_from_agents() {
    let (_output, run) = run(|_| {});
    let log = json(&inspect_logs(&run)[0]);
    let mut means: Vec<f64> = Vec::new();
    for case in run.suites[0].cases.iter().filter(|case| case.record.target == "default") {
        let graded = |outcome| matches!(outcome, Status::Passed | Status::Failed);
        let trials = case.trials.iter().filter(|trial| graded(trial.record.outcome));
        let scores: Vec<f64> = trials.filter_map(|trial| trial.record.score).collect();
        if !scores.is_empty() {
            means.push(scores.iter().sum::<f64>() / scores.len() as f64);
        }
    }
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let metrics = &log["results"]["scores"][0]["metrics"];
    assert!((metrics["mean"]["value"].as_f64().expect("a mean") - mean).abs() < 1e-12);
    assert!((metrics["stderr"]["value"].as_f64().expect("an error") - (variance / count).sqrt()).abs() < 1e-12);
    assert_eq!(log["reductions"][0]["samples"].as_array().map(Vec::len), Some(means.len()));

    let judge_cost: f64 =
        at(&log, "/samples/*/role_usage/grader/total_cost").into_iter().filter_map(Value::as_f64).sum();
    let total = log["stats"]["role_usage"]["grader"]["total_cost"].as_f64().expect("a cost");
    assert!(total > 0.0 && (total - judge_cost).abs() < 1e-9);
    let models: Vec<&String> = log["stats"]["model_usage"].as_object().expect("models").keys().collect();
    assert_eq!(models, ["support-large-2"], "the judge is not among the models");
    assert_eq!(log["eval"]["model_roles"]["grader"]["model"], "none/judge-large-1");
    let columns = at(&log, "/eval/viewer/task_samples_view/columns/*/id");
    assert!(columns.contains(&&"score__tone__tone".into()), "graders are columns: {columns:?}");
}

/// The sums of Inspect have no sign for it.
#[test]
fn metadata_say_of_how_many_trials_the_cost_is_not_known() {
    let (_output, mut run) = run(|_| {});
    let is_asked = |trial: &&mut TrialData| trial.record.judges().iter().any(|judge| judge.cost_usd.is_some());
    let mut trials = run.suites[0].cases.iter_mut().filter(|case| case.record.target == "default");
    let mut trials = trials.by_ref().flat_map(|case| &mut case.trials).filter(is_asked);
    let partial = &mut trials.next().expect("a trial with a judge").record;
    let judge = partial.graders.iter_mut().find_map(|grader| grader.judge.as_mut()).expect("its judge");
    (judge.unknown_costs, judge.unknown_tokens) = (1, 1);
    let log = json(&inspect_logs(&run)[0]);
    for name in ["trials_of_unknown_cost", "trials_of_unknown_tokens"] {
        assert_eq!(log["eval"]["metadata"][name]["judges"], 1, "{}", log["eval"]["metadata"]);
        let of_samples = at(&log, &format!("/samples/*/metadata/{name}"));
        assert_eq!(of_samples.iter().filter(|counts| counts["judges"] == 1).count(), 1, "{of_samples:?}");
    }
}

#[test]
fn an_archive_has_the_samples_of_the_document_one_file_each() {
    let (_output, run) = run(|run| run.hostile = Some("a/../b \"c\"\n\u{202e}".to_owned()));
    let log = &inspect_logs(&run)[0];
    let document = json(log);
    let mut archive = zip::ZipArchive::new(Cursor::new(written(log, InspectFormat::Eval))).expect("an archive");
    let mut entry = |name: &str| -> Value {
        let mut text = String::new();
        archive.by_name(name).expect(name).read_to_string(&mut text).expect("text");
        evalsuite_schema::json::from_str(&text).expect("JSON")
    };
    let mut header = document.clone();
    let fields = header.as_object_mut().expect("an object");
    let (samples, reductions) = (fields.remove("samples"), fields.remove("reductions"));
    assert_eq!(entry("header.json"), header);
    assert_eq!(Some(entry("reductions.json")), reductions);
    assert_eq!(entry("_journal/start.json")["eval"], header["eval"]);
    let summaries = entry("summaries.json");
    let samples = samples.expect("samples");
    let samples = samples.as_array().expect("a list");
    assert_eq!(summaries.as_array().map(Vec::len), Some(samples.len()));
    for (sample, summary) in samples.iter().zip(summaries.as_array().expect("a list")) {
        let id = sample["id"].as_str().expect("an id");
        assert_eq!(&entry(&format!("samples/{id}_epoch_{}.json", sample["epoch"])), sample);
        assert_eq!((&summary["id"], &summary["uuid"]), (&sample["id"], &sample["uuid"]));
        assert_eq!(summary["scores"]["evalsuite"]["value"], sample["scores"]["evalsuite"]["value"]);
        assert_eq!(summary["completed"], true);
    }
}

#[test]
fn a_second_log_equals_the_first() {
    let (_output, run) = run(|run| run.cases = 30);
    for format in [InspectFormat::Json, InspectFormat::Eval] {
        assert_eq!(written(&inspect_logs(&run)[0], format), written(&inspect_logs(&run)[0], format));
    }
}

#[test]
fn the_log_of_a_real_run() {
    let run = RunData::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/card-agent-run")).expect("a run");
    let [log] = inspect_logs(&run).try_into().expect("one suite and target");
    insta::assert_snapshot!(format!("{:#}", json(&log)));
}
