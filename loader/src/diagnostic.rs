//! Diagnostics while files are read: their places are [`Span`]s, which [`resolve`] turns into source ranges.

use std::collections::{BTreeMap, HashMap};

use evalsuite_schema::diagnostic;
use evalsuite_schema::diagnostic::SourceRange;

use crate::source::{FileId, Files, LineIndex, Span};

pub(crate) use evalsuite_schema::diagnostic::Code;

pub(crate) type Diagnostic = diagnostic::Diagnostic<Span>;
pub(crate) type Diagnostics = diagnostic::Diagnostics<Span>;

/// Number of problems above which checks leave out what is slow, such as suggestions.
const MANY: usize = 50;

/// Whether suggestions are left out because there are many problems already.
pub(crate) fn are_many(d: &Diagnostics) -> bool {
    d.len() > MANY
}

/// Problems that have one cause, however many cases show it: a file that is missing, something that is not supported.
const OF_ONE_CAUSE: &[Code] = &[Code::PathEscape, Code::MissingPath, Code::UnsupportedKey, Code::UnsupportedDocker];

/// Maximum number of other places that are shown of a problem.
const MAX_OTHER_PLACES: usize = 2;

/// Makes problems of one cause one diagnostic, with the other places.
pub(crate) fn merge_repeats(diagnostics: diagnostic::Diagnostics) -> diagnostic::Diagnostics {
    let mut merged: Vec<(diagnostic::Diagnostic, Vec<SourceRange>)> = Vec::new();
    let mut first: HashMap<(Code, String, Option<String>), usize> = HashMap::new();
    for problem in diagnostics {
        let known = OF_ONE_CAUSE.contains(&problem.code).then(|| {
            let cause = (problem.code, problem.message.clone(), problem.help.clone());
            *first.entry(cause).or_insert(merged.len())
        });
        match known.and_then(|known| merged.get_mut(known)) {
            Some((_, others)) => others.extend(problem.place),
            None => merged.push((problem, Vec::new())),
        }
    }
    let one = |(mut problem, others): (diagnostic::Diagnostic, Vec<SourceRange>)| {
        let more = others.len().saturating_sub(MAX_OTHER_PLACES);
        let shown = others.len() - more;
        for (index, place) in others.into_iter().take(MAX_OTHER_PLACES).enumerate() {
            let is_last = index + 1 == shown;
            let message = match more {
                1 if is_last => "also here, and in 1 other place".to_owned(),
                2.. if is_last => format!("also here, and in {more} other places"),
                _ => "also here".to_owned(),
            };
            problem = problem.related(place, message);
        }
        problem
    };
    merged.into_iter().map(one).collect()
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
