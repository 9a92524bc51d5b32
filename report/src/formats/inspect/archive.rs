//! A log as an archive: the header, a summary of all samples, and a file for each of them.

use std::io::{self, Seek, Write};

use evalsuite_schema::json::{Object, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::InspectLog;
use super::header::Header;
use super::scores::cut;
use crate::run_data::Problem;

pub(super) fn write(
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
