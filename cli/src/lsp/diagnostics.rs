//! Problems of suites as diagnostics of the client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalsuite_schema::diagnostics::Position;
use gen_lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, PublishDiagnosticsParams, Range,
};

use super::documents::Documents;
use super::positions::{Encoding, Lines};
use super::workspace::{Found, OpenSuite};

/// The name of the program in diagnostics.
const SOURCE: &str = "evalsuite";

/// What was published last, by file.
#[derive(Default)]
pub(super) struct Published(BTreeMap<PathBuf, Vec<Diagnostic>>);

impl Published {
    /// Messages for the files whose diagnostics have changed.
    pub(super) fn update(
        &mut self,
        suites: &[OpenSuite],
        documents: &Documents,
        encoding: Encoding,
    ) -> Vec<PublishDiagnosticsParams> {
        let mut now: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        let mut ranges = Ranges { documents, encoding, texts: BTreeMap::new() };
        for suite in suites {
            for found in suite.found.iter().chain(&suite.probed) {
                let diagnostic = convert(found, suite, &mut ranges);
                let of_file = now.entry(found.file.clone()).or_default();
                // Suites share files, and one may be included twice.
                if !of_file.contains(&diagnostic) {
                    of_file.push(diagnostic);
                }
            }
        }
        let gone = self.0.keys().filter(|path| !now.contains_key(*path)).map(|path| (path, Vec::new()));
        let changed = now.iter().filter(|(path, list)| self.0.get(*path) != Some(*list));
        let changed = changed.map(|(path, list)| (path, list.clone()));
        let message = |(path, diagnostics): (&PathBuf, Vec<Diagnostic>)| PublishDiagnosticsParams {
            uri: documents.uri(path),
            version: documents.version(path),
            diagnostics,
        };
        let messages = gone.chain(changed).map(message).collect();
        self.0 = now;
        messages
    }
}

/// Ranges in files, each of which is read once.
struct Ranges<'d> {
    documents: &'d Documents,
    encoding: Encoding,
    texts: BTreeMap<PathBuf, std::sync::Arc<str>>,
}

impl Ranges<'_> {
    fn of(&mut self, path: &Path, range: Option<(Position, Position)>) -> Range {
        let Some((start, end)) = range else { return Range::default() };
        let documents = self.documents;
        let text =
            self.texts.entry(path.to_path_buf()).or_insert_with(|| documents.text(path).unwrap_or_else(|| "".into()));
        let lines = Lines::new(text, self.encoding);
        lines.range(lines.loader_offset(start)..lines.loader_offset(end))
    }
}

fn convert(found: &Found, suite: &OpenSuite, ranges: &mut Ranges<'_>) -> Diagnostic {
    let problem = &found.diagnostic;
    let related: Vec<DiagnosticRelatedInformation> = problem
        .related
        .iter()
        .map(|related| {
            let path = suite.path_of(&related.place);
            let location = Location { range: ranges.of(&path, related.place.range), uri: ranges.documents.uri(&path) };
            DiagnosticRelatedInformation { location, message: related.message.clone() }
        })
        .collect();
    let help = problem.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    Diagnostic {
        range: ranges.of(&found.file, found.range),
        severity: Some(if found.is_error { DiagnosticSeverity::Error } else { DiagnosticSeverity::Warning }),
        code: Some(problem.code.to_string().into()),
        source: Some(SOURCE.to_owned()),
        message: format!("{}{help}", problem.message).into(),
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}
