//! What the page of a case shows beyond its row: input, and for each trial its record, transcript, changes and files; packed into chunks
//! that a browser inflates one at a time.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evalsuite_records::record::{CaseRecord, TrialRecord};
use evalsuite_schema::json::{Value, json, written_by_serde};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::HtmlReport;
use crate::formats::trial_path;
use crate::run_data::{CaseData, CaseLookup, Problem, TrialData, TrialFiles, read_record};

impl HtmlReport {
    /// The details of a case as JSON.
    pub(super) fn case_details(
        &self,
        case: &CaseData,
        base: Option<&CaseLookup<'_>>,
        problems: &mut Vec<Problem>,
    ) -> Value {
        let mut input = Value::Null;
        let mut turns = Value::Null;
        let mut trials = Vec::new();
        for trial in &case.trials {
            let mut files = TrialFiles::read(&self.run, trial, problems);
            if input.is_null() {
                input = files.input.take().unwrap_or_default();
                turns = files.turns.take().unwrap_or_default();
            }
            trials.push(trial_details(trial, files));
        }
        let earlier = case.other_attempts.iter().map(|attempt| &attempt.record).map(
            |it| json!({ "attempt": it.runner_attempt, "outcome": it.outcome, "score": it.score, "reason": it.reason }),
        );
        let record = &case.record;
        object([
            ("input", input),
            ("turns", turns),
            (
                "digests",
                json!({ "case": record.case_digest, "input": record.input_digest, "graders": record.grader_digest }),
            ),
            ("program", record.program.as_str().into()),
            ("trials", Value::Array(trials)),
            ("earlier", Value::Array(earlier.collect())),
            ("base", base.and_then(|base| base_trials(base, record)).unwrap_or_default()),
        ])
    }
}

/// An object of values that are moved: `json!` copies them, which takes longer than to read the files of a trial.
fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn trial_details(trial: &TrialData, files: TrialFiles) -> Value {
    let mut record = evalsuite_schema::json::to_value(&trial.record).expect("records are JSON objects with text keys");
    if let Some(fields) = record.as_object_mut() {
        fields.retain(|name, value| match name.as_str() {
            // The index has them, or all trials of the case share them.
            "schema" | "run_id" | "suite" | "suite_digest" | "layout" | "kind" | "case_id" | "case_key"
            | "test_name" | "target" | "location" | "metadata" | "tags" | "category" | "conversation_id"
            | "failure_bucket" | "trials_planned" | "runner_attempt" | "case_digest" | "input_digest"
            | "grader_digest" => false,
            _ => !value.is_null(),
        });
    }
    object([
        ("directory", trial_path(trial).into()),
        ("record", record),
        ("trajectory", files.trajectory.unwrap_or_default()),
        ("patch", json!(files.patch)),
        ("log", json!(files.log)),
        ("texts", json!(files.texts)),
    ])
}

/// The answers that the base has for this case; `None` if it has not run there.
fn base_trials(base: &CaseLookup<'_>, record: &CaseRecord) -> Option<Value> {
    let theirs = base.get(record)?;
    let root = &base.run.directory;
    let directory = root.join(&theirs.directory);
    let mut trials = Vec::new();
    for summary in &theirs.record.trials {
        let file = directory.join(&summary.path);
        // Without its record, the answer of a trial is not known; its outcome is.
        let trial: Option<TrialRecord> = read_record(root, &file, &mut Vec::new());
        trials.push(json!({
            "index": summary.index,
            "outcome": summary.outcome,
            "score": summary.score,
            "answer": trial.and_then(|trial| trial.answer),
        }));
    }
    Some(json!({ "run": base.run.run_id, "trials": trials }))
}

/// The size at which a chunk ends, in bytes before compression.
const CHUNK_BYTES: usize = 256 << 10;

/// Texts in chunks, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    packed: Vec<String>,
    open: String,
    entries: usize,
}

/// Where a text is: a chunk is a JSON list with a line per entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct ChunkPlace(pub(super) usize, pub(super) usize);

written_by_serde!(ChunkPlace);

impl Chunks {
    /// Adds a JSON value.
    pub(super) fn add(&mut self, json: &str) -> ChunkPlace {
        if self.entries > 0 && self.open.len() + json.len() > CHUNK_BYTES {
            self.close();
        }
        // JSON without indentation has no line break: the page finds the entries without parsing them.
        self.open.push_str(if self.entries == 0 { "[" } else { "\n," });
        self.open.push_str(json);
        self.entries += 1;
        ChunkPlace(self.packed.len(), self.entries - 1)
    }

    /// The chunks, compressed and in base64.
    pub(super) fn finish(mut self) -> Vec<String> {
        if self.entries > 0 {
            self.close();
        }
        self.packed
    }

    fn close(&mut self) {
        self.open.push(']');
        self.packed.push(packed(&self.open));
        self.open.clear();
        self.entries = 0;
    }
}

/// A text, compressed with gzip and in base64.
pub(super) fn packed(text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    STANDARD.encode(bytes.expect("writing to memory cannot fail"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use evalsuite_schema::Value;
    use flate2::read::GzDecoder;

    use super::*;

    pub(crate) fn unpacked(base64: &str) -> String {
        let bytes = STANDARD.decode(base64).unwrap();
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn every_text_is_where_its_place_says() {
        let texts: Vec<String> = (0..40).map(|n| format!("{n} {}", "x".repeat(n * 1000))).collect();
        let mut chunks = Chunks::default();
        let places: Vec<ChunkPlace> =
            texts.iter().map(|text| chunks.add(&Value::from(text.as_str()).to_string())).collect();
        let chunks: Vec<Value> =
            chunks.finish().iter().map(|chunk| evalsuite_schema::json::from_str(&unpacked(chunk)).unwrap()).collect();
        assert!(chunks.len() > 2, "{} chunks", chunks.len());
        for (text, ChunkPlace(chunk, entry)) in texts.iter().zip(places) {
            assert_eq!(chunks[chunk][entry], Value::from(text.as_str()));
        }
    }

    #[test]
    fn a_text_larger_than_a_chunk_has_one_of_its_own() {
        let mut chunks = Chunks::default();
        let large = Value::from("y".repeat(2 * CHUNK_BYTES)).to_string();
        let places = [chunks.add("1"), chunks.add(&large), chunks.add("3")];
        assert_eq!(places, [ChunkPlace(0, 0), ChunkPlace(1, 0), ChunkPlace(2, 0)]);
        assert_eq!(chunks.finish().len(), 3);
    }

    #[test]
    fn no_cases_are_no_chunks() {
        assert!(Chunks::default().finish().is_empty());
    }
}
