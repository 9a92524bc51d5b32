//! Transcripts in ATIF as one HTML file.

use std::path::Path;
use std::{fmt, io};

use evalsuite_schema::json::{Value, json};

use super::Written;
use super::page::write_page;

/// An ATIF document.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    name: String,
    document: Value,
}

/// Why a text is not an ATIF document.
#[derive(Debug)]
#[non_exhaustive]
pub struct TranscriptError {
    message: String,
    source: Option<serde_json::Error>,
}

impl Transcript {
    /// A document with the name that the page shows, such as its path. Fields that are not known are kept.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or has no ATIF version or no list of steps.
    pub fn parse(name: impl Into<String>, json: &[u8]) -> Result<Self, TranscriptError> {
        let error = |message: &str| TranscriptError { message: message.to_owned(), source: None };
        let document: Value = evalsuite_schema::json::from_slice(json)
            .map_err(|source| TranscriptError { message: "not JSON".to_owned(), source: Some(source) })?;
        if !document["schema_version"].as_str().is_some_and(|version| version.starts_with("ATIF-v1.")) {
            return Err(error("not an ATIF document: `schema_version` is not `ATIF-v1.…`"));
        }
        if !document["steps"].is_array() {
            return Err(error("not an ATIF document: `steps` is not a list"));
        }
        Ok(Self { name: name.into(), document })
    }
}

impl fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TranscriptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Writes transcripts as one self-contained HTML file.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_transcripts(transcripts: &[Transcript], path: &Path) -> io::Result<Written> {
    let list: Vec<Value> = transcripts.iter().map(|it| json!({ "name": it.name, "document": it.document })).collect();
    let index = json!({ "version": 1, "evalsuite": env!("CARGO_PKG_VERSION"), "transcripts": list }).to_string();
    Ok(Written { bytes: write_page(path, &index, Some(&[]))?, problems: Vec::new() })
}
