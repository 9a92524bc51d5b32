//! The JSON of a suite and of its cases, in a module of its own.
//!
//! After the edit of a case, rustc checks and translates only the items whose tokens changed, and the modules around them: so what
//! changes with every edit is apart from what seldom does. For 2,000 cases that saves half of the time after an edit.

use evalsuite_discovery::{in_parts, processors};
use evalsuite_loader::{LoadedCase, LoadedSuite, SuiteFiles};
use evalsuite_schema::Case;
use evalsuite_schema::digest::{CaseDigests, hexadecimal};
use evalsuite_schema::json::ToJson;
use evalsuite_schema::json::writer::{Spacing, written};

use crate::rust_literals::{escape_bidirectional, push_lines, push_raw};

/// Fewer cases than this are written faster without another thread.
const CASES_PER_THREAD: usize = 128;

/// A suite and its cases as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SuiteTexts {
    /// The suite without its cases.
    pub(crate) suite: String,
    /// The cases, one a line: the JSON and the digests of each.
    pub(crate) cases: String,
    /// Digest and path of each file that was read, one a line.
    pub(crate) files: String,
}

impl SuiteTexts {
    pub(super) fn new(suite: &LoadedSuite) -> serde_json::Result<Self> {
        Ok(Self { suite: json_of(&suite.suite)?, cases: cases(&suite.cases)?, files: files(&suite.files) })
    }

    /// The module that holds the texts.
    pub(crate) fn code(&self) -> String {
        let mut out = String::with_capacity(self.cases.len() + self.files.len() + self.suite.len() + 1024);
        out.push_str("mod __texts {\npub(super) static FILES: &str = ");
        push_lines(&mut out, &self.files);
        out.push_str(
            ";\npub(super) static TEXTS: super::__evalsuite::__private::SuiteTexts = super::__evalsuite::__private::SuiteTexts {\nsuite: ",
        );
        push_raw(&mut out, &self.suite);
        out.push_str(",\ncases: ");
        push_raw(&mut out, &self.cases);
        out.push_str(",\nends: &[");
        for (newline, _) in self.cases.match_indices('\n') {
            out.push_str(&format!("{},", newline + 1));
        }
        out.push_str("],\n};\n}\n");
        out
    }
}

/// JSON that can stand in a raw string literal: it has no control characters, and outside of its strings nothing to escape.
pub(crate) fn json_of(value: &dyn ToJson) -> serde_json::Result<String> {
    Ok(escape_bidirectional(written(value, Spacing::Compact, None)?))
}

/// A case as a line: its JSON, and its digests, so that no run has to compute them.
pub(crate) fn case_line(case: &Case) -> serde_json::Result<String> {
    Ok(format!("{}{}\n", json_of(case)?, CaseDigests::of(case)))
}

/// Digest and path of each file, one a line.
pub(crate) fn files(files: &SuiteFiles) -> String {
    let mut text = String::with_capacity(128 * files.len());
    for (path, digest) in files {
        text.push_str(&format!("{} {path}\n", hexadecimal(*digest)));
    }
    text
}

/// The cases, written on several threads.
fn cases(cases: &[LoadedCase]) -> serde_json::Result<String> {
    let parts = in_parts(cases, CASES_PER_THREAD, processors, |cases| {
        let mut text = String::with_capacity(1024 * cases.len());
        for loaded in cases {
            text.push_str(&case_line(&loaded.case)?);
        }
        Ok(text)
    });
    parts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Grader, GraderConfig, Location};

    use super::*;

    #[test]
    fn the_digests_of_a_line_are_those_of_the_case_that_is_read_from_it() {
        let mut case = Case::new("right-to-left \u{202e}", Location::new("f", 1, 1));
        case.metadata.insert("z".to_owned(), json!({"number": 1.10, "large": u64::MAX, "text": "tab\t, line\n"}));
        case.metadata.insert("a".to_owned(), json!([null, -0.0, 1e300]));
        case.graders.push(Grader::new("g", Location::new("f", 2, 1), GraderConfig::IsJson));
        let line = case_line(&case).unwrap();
        let (json, digests) = CaseDigests::split(line.strip_suffix('\n').unwrap());
        assert_eq!(digests, Some(CaseDigests::of(&evalsuite_schema::json::from_str(json).unwrap())));
    }
}
