//! The documented differences other than diagnostics: what the reference does, what we do, and how to detect it.

mod complaints;
mod interpolation;
mod lists;
mod source_documents;
mod values;
mod whole_tests;

use std::path::Path;

use evalsuite_schema::Value;

use crate::record::Record;
use crate::reference_form::RecordPaths;
use crate::source_excerpt;

pub use complaints::excuse;
pub use values::explain;
pub use whole_tests::{added, left_out};

/// The input of a rule.
#[derive(Debug, Clone, Copy)]
pub struct RuleContext<'a> {
    /// The record.
    pub record: &'a Record,
    /// Its root and suite directory.
    pub paths: RecordPaths<'a>,
    /// Directory of the case's file, relative to the root.
    pub case_dir: &'a str,
    /// Id of the case.
    pub id: &'a str,
}

impl RuleContext<'_> {
    fn root(&self) -> &Path {
        self.paths.root
    }

    /// The suite file as the second reader sees it.
    fn suite_file(&self) -> Option<Value> {
        let eval = self.record.eval.as_deref()?;
        let (_, text) = self.record.texts().find(|(path, _)| *path == eval)?;
        source_excerpt::from_yaml(text)
    }

    /// The case as written: the mapping with its id, or the file in its directory.
    fn written_case(&self) -> Option<Value> {
        let file = |path: &str| path.starts_with(&format!("{}/case.y", self.case_dir));
        if let Some((_, text)) = self.record.texts().find(|(path, _)| file(path)) {
            return source_excerpt::from_yaml(text);
        }
        source_documents::cases(self.record).into_iter().find(|(id, _)| id == self.id).map(|(_, case)| case)
    }

    /// Whether the suite is a JSONL file.
    fn is_jsonl(&self) -> bool {
        self.record.eval.as_deref().is_some_and(|eval| eval.to_ascii_lowercase().ends_with(".jsonl"))
    }
}

/// Whether any case has its own trials.
pub fn any_case_has_trials(record: &Record) -> bool {
    source_documents::cases(record).iter().any(|(_, case)| !case["execution"]["trials"].is_null())
}

fn text(value: &Option<Value>) -> Option<&str> {
    value.as_ref().and_then(Value::as_str)
}

fn uses_merge_keys(record: &Record) -> bool {
    record.texts().any(|(path, text)| !path.ends_with("jsonl") && text.contains("<<:"))
}
