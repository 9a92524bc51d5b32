//! The page around the data, of a run or of transcripts alone.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evalsuite_records::file_replacement::replace_user_file;
use evalsuite_schema::json::{Value, json};
use hmac_sha256::Hash;

use super::Written;
use super::case_details::packed;

/// The files of the script, in order. They share one scope.
const SCRIPT_FILES: &[&str] = &[
    include_str!("../../assets/js/strict.js"),
    include_str!("../../assets/js/dom.js"),
    include_str!("../../assets/js/icons.js"),
    include_str!("../../assets/js/format.js"),
    include_str!("../../assets/js/statistics.js"),
    include_str!("../../assets/js/report_data.js"),
    include_str!("../../assets/js/route.js"),
    include_str!("../../assets/js/filter.js"),
    include_str!("../../assets/js/search.js"),
    include_str!("../../assets/js/header.js"),
    include_str!("../../assets/js/case_table.js"),
    include_str!("../../assets/js/overview.js"),
    include_str!("../../assets/js/text_block.js"),
    include_str!("../../assets/js/markdown.js"),
    include_str!("../../assets/js/transcript.js"),
    include_str!("../../assets/js/diff_view.js"),
    include_str!("../../assets/js/grader_view.js"),
    include_str!("../../assets/js/case_page.js"),
    include_str!("../../assets/js/plots.js"),
    include_str!("../../assets/js/grid_view.js"),
    include_str!("../../assets/js/trends_view.js"),
    include_str!("../../assets/js/breakdown_view.js"),
    include_str!("../../assets/js/lift_panel.js"),
    include_str!("../../assets/js/transcripts_page.js"),
    include_str!("../../assets/js/help.js"),
    include_str!("../../assets/js/main.js"),
];

/// The style of the page.
const STYLE: &str = include_str!("../../assets/report.css");

/// Writes a page with an index, which is JSON, to a file. The chunks are in the page, or in files of their own. Returns its size in bytes.
pub(super) fn write_page(path: &Path, index: &str, chunks: Option<&[String]>) -> io::Result<u64> {
    replace_user_file(path, |file| {
        let mut out = BufWriter::new(file);
        page(index, chunks, &mut out)?;
        Ok(out.into_inner().map_err(io::IntoInnerError::into_error)?.metadata()?.len())
    })
}

fn page(index: &str, chunks: Option<&[String]>, out: &mut impl Write) -> io::Result<()> {
    let script = SCRIPT_FILES.concat();
    let files = if chunks.is_some() { "" } else { " 'self'" };
    let (script_digest, style_digest) = (digest(&script), digest(STYLE));
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src \
         'sha256-{script_digest}'{files}; style-src 'sha256-{style_digest}'; img-src data:; base-uri 'none'; form-action \
         'none'\">"
    )?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">\n<title>evalsuite report</title>")?;
    // The digests are of exactly what is between the tags.
    writeln!(out, "<style>{}</style>\n</head>\n<body>", STYLE)?;
    writeln!(out, "<noscript>This report needs JavaScript. It loads nothing from the network.</noscript>")?;
    writeln!(out, "{}", data_element("index", &packed(index)))?;
    // Not deferred: the page works while the browser still reads the chunks.
    writeln!(out, "<script>{script}</script>")?;
    for (number, chunk) in chunks.unwrap_or_default().iter().enumerate() {
        writeln!(out, "{}", data_element(&format!("c{number}"), chunk))?;
    }
    writeln!(out, "</body>\n</html>")
}

fn data_element(id: &str, base64: &str) -> String {
    format!("<script type=\"application/octet-stream\" id=\"{id}\">{base64}</script>")
}

/// Name of the file of a chunk beside the page.
pub(super) fn chunk_file(number: usize) -> String {
    format!("c{number}.js")
}

/// A chunk as a file of its own: pages opened from a disk can load scripts, but nothing else.
pub(super) fn chunk_script(number: usize, base64: &str) -> String {
    format!("evalsuiteChunk({number},\"{base64}\");\n")
}

fn digest(text: &str) -> String {
    STANDARD.encode(Hash::hash(text.as_bytes()))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn written(chunks: Option<&[String]>) -> String {
        let mut out = Vec::new();
        page("{}", chunks, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_policy_allows_only_this_script_and_this_style() {
        let page = written(Some(&[]));
        let between = |open: &str, close: &str| {
            let start = page.find(open).unwrap() + open.len();
            &page[start..start + page[start..].find(close).unwrap()]
        };
        let policy = between("Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains(&format!("script-src 'sha256-{}';", digest(between("<script>", "</script>")))));
        assert!(policy.contains(&format!("style-src 'sha256-{}';", digest(between("<style>", "</style>")))));
        assert!(!policy.contains("unsafe") && !policy.contains("'self'") && !policy.contains("http"), "{policy}");
    }

    #[test]
    fn script_and_style_do_not_end_their_elements() {
        assert!(!SCRIPT_FILES.concat().to_ascii_lowercase().contains("</script"));
        assert!(!SCRIPT_FILES.concat().contains("<!--"));
        assert!(!STYLE.to_ascii_lowercase().contains("</style"));
    }

    #[test]
    fn the_script_never_makes_markup_of_text() {
        for name in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "Function("]
        {
            assert!(!SCRIPT_FILES.concat().contains(name), "{name}");
        }
    }

    #[test]
    fn chunks_are_in_the_page_or_in_files() {
        assert!(written(Some(&["QUJD".to_owned()])).contains("id=\"c0\">QUJD</script>"));
        let beside = written(None);
        assert!(
            beside.contains("script-src 'sha256-") && beside.contains("' 'self';") && !beside.contains("id=\"c0\"")
        );
        assert_eq!(chunk_file(3), "c3.js");
        assert_eq!(chunk_script(3, "QUJD"), "evalsuiteChunk(3,\"QUJD\");\n");
    }
}
