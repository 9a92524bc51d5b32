//! The documented differences that are no diagnostics: what the reference does, what we do, and how to tell.

mod complaints;
mod interpolation;
mod lists;
mod tests;
mod values;
mod written;

use std::path::Path;

use serde_json::Value;

pub use complaints::excuse;
pub use tests::{added, left_out};
pub use values::explain;

use crate::place;
use crate::record::Record;
use crate::reference_form::Site;

/// What a rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The record.
    pub record: &'a Record,
    /// Where its files lie.
    pub site: Site<'a>,
    /// Directory of the case's file, relative to the root.
    pub case_dir: &'a str,
    /// Id of the case.
    pub id: &'a str,
}

impl Context<'_> {
    fn root(&self) -> &Path {
        self.site.root
    }

    /// The suite file, as another reader sees it.
    fn suite_file(&self) -> Option<Value> {
        let eval = self.record.eval.as_deref()?;
        let (_, text) = self.record.texts().find(|(path, _)| *path == eval)?;
        place::from_yaml(text)
    }

    /// The case as it is written: the mapping with its id, or the file of its directory.
    fn written_case(&self) -> Option<Value> {
        let file = |path: &str| path.starts_with(&format!("{}/case.y", self.case_dir));
        if let Some((_, text)) = self.record.texts().find(|(path, _)| file(path)) {
            return place::from_yaml(text);
        }
        written::cases(self.record).into_iter().find(|(id, _)| id == self.id).map(|(_, case)| case)
    }

    /// Whether the suite is a file of lines.
    fn is_lines(&self) -> bool {
        self.record.eval.as_deref().is_some_and(|eval| eval.to_ascii_lowercase().ends_with(".jsonl"))
    }
}

/// Whether some case says how often it is run.
pub fn a_case_has_trials(record: &Record) -> bool {
    written::cases(record).iter().any(|(_, case)| !case["execution"]["trials"].is_null())
}

fn text(value: &Option<Value>) -> Option<&str> {
    value.as_ref().and_then(Value::as_str)
}

fn uses_merge_keys(record: &Record) -> bool {
    record.texts().any(|(path, text)| !path.ends_with("jsonl") && text.contains("<<:"))
}
