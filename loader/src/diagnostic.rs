//! Diagnostics while files are read: their places are [`Span`]s, which [`resolve`] turns into source ranges.

use std::collections::BTreeMap;

use evalsuite_schema::diagnostic;

use crate::source::{FileId, Files, LineIndex, Span};

pub(crate) use evalsuite_schema::diagnostic::{Code, Fix};

pub(crate) type Diagnostic = diagnostic::Diagnostic<Span>;
pub(crate) type Diagnostics = diagnostic::Diagnostics<Span>;

/// Number of problems above which checks leave out what is slow, such as suggestions.
const MANY: usize = 50;

/// Whether suggestions are left out because there are many problems already.
pub(crate) fn are_many(d: &Diagnostics) -> bool {
    d.len() > MANY
}

/// Help for a value that was meant as text. What has to be quoted is the source, which [`resolve`] adds: `1.10` is not `1.1`.
pub(crate) const QUOTE_IT: &str = "quote it";

/// The problems with everything that is shown of them, sorted by file and position.
pub(crate) fn resolve(diagnostics: Diagnostics, files: &Files) -> diagnostic::Diagnostics {
    // A file is indexed once, however many problems it has.
    let mut indexes: BTreeMap<FileId, Option<LineIndex>> = BTreeMap::new();
    let mut resolve_one = |mut problem: Diagnostic| {
        if let (Some(QUOTE_IT), Some(Span { file, range: Some(range) })) = (problem.help.as_deref(), problem.place)
            && let Some(index) = indexes.entry(file).or_insert_with(|| files.line_index(file))
        {
            problem.help = Some(format!("{QUOTE_IT}: \"{}\"", index.text(range)));
        }
        problem.map_places(|span| {
            let index = indexes.entry(span.file).or_insert_with(|| files.line_index(span.file));
            files.range(span, index.as_ref())
        })
    };
    let mut resolved: diagnostic::Diagnostics = diagnostics.into_iter().map(&mut resolve_one).collect();
    resolved.sort();
    resolved
}
