//! A log as an archive: the header, a summary of all samples, and a file for each of them.

use std::io::{self, Seek, Write};

use evalsuite_records::record::{GraderRecord, JudgeRecord, RunRecord, Status};
use evalsuite_schema::json::{Object, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::InspectLog;
use super::messages::{JUDGE, TotalUsage, lower_bounds};
use super::scores::{Scorer, TRIAL, cut, scorers};
use crate::run_data::Problem;

/// Version of the format.
const VERSION: u32 = 2;

/// Everything of a log but its samples.
pub(super) struct Header {
    /// In the order of the format: readers of headers read up to the samples. None is `null`, which they do not accept.
    pub(super) fields: Value,
    /// The mean scores of each case.
    pub(super) reductions: Value,
    /// The model of the agent, of trials that report none.
    pub(super) model: String,
}

impl Header {
    pub(super) fn new(log: &InspectLog<'_>) -> Self {
        let reported = log.trials().find_map(|trial| trial.record.model.clone());
        let model = reported.unwrap_or_else(|| format!("none/{}", log.target));
        let scorers = scorers(log);
        let (status, error) = status(log);
        let mut fields = json!({
            "version": VERSION,
            "status": status,
            "eval": eval(log, &model, &scorers),
            "plan": {
                "name": "plan",
                "steps": [{ "solver": log.cases[0].1.record.agent, "params": {}, "params_passed": {} }],
                "config": {},
            },
            "results": results(log, &scorers),
            "stats": stats(log, &model),
            "error": error,
            "invalidated": false,
            "tags": [],
            "metadata": {},
        });
        if let Some(fields) = fields.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let reductions = scorers.iter().map(Scorer::reduction).collect();
        Self { fields, reductions, model }
    }
}

fn status(log: &InspectLog<'_>) -> (&'static str, Value) {
    let broken = log.cases.iter().filter(|(_, case)| case.record.outcome == Status::Error).count();
    match broken {
        _ if log.run.in_use => ("cancelled", Value::Null),
        0 => ("success", Value::Null),
        _ => {
            let message = format!("{broken} of {} cases ended in an error", log.cases.len());
            ("error", json!({ "message": message, "traceback": "", "traceback_ansi": "" }))
        }
    }
}

fn eval(log: &InspectLog<'_>, model: &str, scorers: &[Scorer]) -> Value {
    let record = log.run.record.clone().unwrap_or_default();
    let case = &log.cases[0].1.record;
    let ids: Vec<&str> = log.cases.iter().map(|(id, _)| id.as_str()).collect();
    let scorer =
        |scorer: &Scorer| json!({ "name": scorer.name, "metrics": [{ "name": "mean" }, { "name": "stderr" }] });
    json!({
        "eval_id": log.id,
        "run_id": log.run.run_id,
        "created": log.started_at(),
        "task": log.suite,
        "task_id": log.id,
        "task_version": 0,
        "task_attribs": {},
        "task_args": { "target": log.target },
        "task_args_passed": {},
        "solver": case.agent,
        "dataset": { "name": log.suite, "samples": ids.len(), "sample_ids": ids, "shuffled": false },
        "model": with_provider(model),
        "model_generate_config": {},
        "model_args": {},
        "model_roles": judge(log).map(|judge| {
            let model = judge.model.as_ref().unwrap_or(&judge.name);
            json!({ JUDGE: { "model": with_provider(model), "config": {}, "args": {} } })
        }),
        "config": {
            "epochs": log.cases.iter().map(|(_, case)| case.record.planned).max().unwrap_or_default().max(1),
            "epochs_reducer": ["mean"],
        },
        "revision": revision(&record),
        "packages": packages(log, &record),
        "metadata": metadata(log, &record),
        "viewer": viewer(scorers),
        "scorers": scorers.iter().map(scorer).collect::<Vec<_>>(),
    })
}

fn metadata(log: &InspectLog<'_>, record: &RunRecord) -> Object {
    let case = &log.cases[0].1.record;
    let mut metadata = lower_bounds(&log.trials().map(|trial| &trial.record).collect::<Vec<_>>());
    metadata.insert("target".to_owned(), log.target.into());
    metadata.insert("kind".to_owned(), json!(case.kind));
    metadata.insert("suite_digest".to_owned(), json!(case.suite_digest));
    metadata.insert("ci".to_owned(), json!(record.ci.as_ref().and_then(|ci| ci.url.as_ref())));
    metadata
}

/// A judge of any grader.
fn judge<'a>(log: &'a InspectLog<'_>) -> Option<&'a JudgeRecord> {
    fn of(grader: &GraderRecord) -> Option<&JudgeRecord> {
        grader.judge.as_ref().or_else(|| grader.members.iter().find_map(of))
    }
    log.trials().flat_map(|trial| trial.record.all_graders()).find_map(of)
}

/// The commit, and the repository where the CI service names it.
fn revision(record: &RunRecord) -> Option<Value> {
    let git = record.git.as_ref()?;
    let url = record.ci.as_ref().and_then(|ci| ci.url.as_deref()).unwrap_or_default();
    let repository = ["/actions/runs/", "/-/jobs/"].into_iter().find_map(|page| url.split_once(page));
    let origin = repository.map_or("", |(repository, _)| repository);
    Some(json!({ "type": "git", "origin": origin, "commit": git.commit, "dirty": git.dirty }))
}

fn packages(log: &InspectLog<'_>, record: &RunRecord) -> Value {
    let mut packages = json!({});
    if let Some(trial) = log.trials().find(|trial| !trial.record.versions.evalsuite.is_empty()) {
        packages["evalsuite"] = trial.record.versions.evalsuite.as_str().into();
    }
    if !record.package.is_empty() {
        packages[&record.package] = record.package_version.as_str().into();
    }
    packages
}

/// What Inspect's viewer shows unless its user chose something else: graders as columns, and what failed first.
fn viewer(scorers: &[Scorer]) -> Value {
    let column = |name: &str| format!("score__{name}__{name}");
    let mut columns = vec![];
    let mut add = |id: &str| columns.push(json!({ "id": id, "visible": true }));
    ["sampleStatus", "sampleId", "epoch", "input", "answer"].into_iter().for_each(&mut add);
    scorers.iter().for_each(|scorer| add(&column(&scorer.name)));
    ["tokens", "duration", "error", "limit"].into_iter().for_each(&mut add);
    let scale = |scorer: &Scorer| (scorer.name.clone(), json!({ "palette": "good-high", "min": 0.0, "max": 1.0 }));
    json!({
        "scanner_result_view": {},
        "sample_score_view": { "default": "grid", "sort": { "column": "value", "dir": "asc" } },
        "task_samples_view": {
            "name": "evalsuite",
            "columns": columns,
            "sort": [{ "column": column(TRIAL), "dir": "asc" }],
            "multiline": false,
            "score_labels": { TRIAL: "score" },
            "score_color_scales": scorers.iter().map(scale).collect::<evalsuite_schema::Object>(),
            "color_scales_enabled": true,
        },
    })
}

fn results(log: &InspectLog<'_>, scorers: &[Scorer]) -> Value {
    let is_complete = |outcome| matches!(outcome, Status::Passed | Status::Failed);
    json!({
        "total_samples": log.trials().count(),
        "completed_samples": log.trials().filter(|trial| is_complete(trial.record.outcome)).count(),
        "scores": scorers.iter().map(Scorer::result).collect::<Vec<_>>(),
    })
}

/// Inspect's commands make a model of the name, which needs a provider. `none` answers nothing.
fn with_provider(model: &str) -> String {
    if model.contains('/') { model.to_owned() } else { format!("none/{model}") }
}

fn stats(log: &InspectLog<'_>, model: &str) -> Value {
    let mut usage = TotalUsage::default();
    log.trials().for_each(|trial| usage.add(&trial.record, model));
    let ended = log.trials().map(|trial| trial.record.ended_at.as_str()).max().unwrap_or_default();
    json!({
        "started_at": log.started_at(),
        "completed_at": ended,
        "model_usage": usage.of_models(),
        "role_usage": usage.of_roles(),
        "connection_limit_history": [],
    })
}

pub(super) fn write_archive(
    log: &InspectLog<'_>,
    header: &Header,
    out: impl Write + Seek,
    problems: &mut Vec<Problem>,
) -> io::Result<()> {
    let mut archive = ZipWriter::new(out);
    let mut add = |name: &str, content: &Value| -> io::Result<()> {
        archive.start_file(name, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated))?;
        Ok(serde_json::to_writer(&mut archive, content)?)
    };
    let Header { fields, reductions, .. } = header;
    let start = json!({ "version": fields["version"], "eval": fields["eval"], "plan": fields["plan"] });
    add("_journal/start.json", &start)?;
    let mut summaries = Vec::new();
    for (id, case) in &log.cases {
        for trial in &case.trials {
            let sample = log.sample(header, id, trial, problems);
            add(&format!("samples/{id}_epoch_{}.json", sample["epoch"]), &sample)?;
            summaries.push(summary(&sample));
        }
    }
    let summaries = Value::Array(summaries);
    add("_journal/summaries/1.json", &summaries)?;
    add("summaries.json", &summaries)?;
    add("reductions.json", reductions)?;
    add("header.json", fields)?;
    archive.finish()?;
    Ok(())
}

/// What a table of samples shows.
fn summary(sample: &Value) -> Value {
    let field = |(name, value): (&String, &Value)| match name.as_str() {
        "id" | "epoch" | "input" | "target" | "metadata" | "model_usage" | "role_usage" | "started_at"
        | "completed_at" | "total_time" | "working_time" | "uuid" => Some((name.clone(), shortened(value))),
        _ => None,
    };
    let mut summary: Object = sample.as_object().into_iter().flatten().filter_map(field).collect();
    if let Some(scores) = sample["scores"].as_object() {
        let short = |score: &Value| json!({ "value": score["value"], "answer": score["answer"], "history": [] });
        summary.insert("scores".to_owned(), scores.iter().map(|(name, score)| (name.clone(), short(score))).collect());
    }
    summary.insert("error".to_owned(), sample["error"]["message"].clone());
    summary.insert("limit".to_owned(), sample["limit"]["type"].clone());
    summary.insert("limit_reason".to_owned(), sample["limit"]["reason"].clone());
    summary.insert("message_count".to_owned(), sample["messages"].as_array().map_or(0, Vec::len).into());
    summary.insert("completed".to_owned(), true.into());
    Value::Object(summary)
}

/// The value with long texts cut.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => cut(text).into(),
        Value::Array(values) => values.iter().map(shortened).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), shortened(value))).collect(),
        other => other.clone(),
    }
}
