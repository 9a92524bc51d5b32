//! The documented differences that are no diagnostics: what the reference does, what we do, and how to tell.

mod complaints;
mod interpolation;
mod tests;
mod values;

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
        let lists = self.record.texts().flat_map(|(path, text)| {
            if path.to_ascii_lowercase().ends_with(".jsonl") {
                return text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<Value>>();
            }
            match place::from_yaml(text) {
                Some(Value::Array(cases)) => cases,
                Some(root) => root["tests"].as_array().cloned().unwrap_or_default(),
                None => Vec::new(),
            }
        });
        lists.into_iter().find(|case| case["id"] == self.id)
    }
}

fn text(value: &Option<Value>) -> Option<&str> {
    value.as_ref().and_then(Value::as_str)
}

fn uses_merge_keys(record: &Record) -> bool {
    record.texts().any(|(path, text)| !path.ends_with("jsonl") && text.contains("<<:"))
}
