//! Diagnostics while files are read: their places are [`Span`]s, which [`resolve`] turns into source ranges.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evalsuite_schema::diagnostics::{Severity, terminal};

use crate::source::{FileId, Files, LineIndex, Span};

pub(crate) use evalsuite_schema::diagnostics::{Code, Edit, Fix};

pub(crate) type Diagnostic = evalsuite_schema::diagnostics::Diagnostic<Span>;
pub(crate) type Diagnostics = evalsuite_schema::diagnostics::Diagnostics<Span>;

/// Number of problems above which checks leave out what is slow, such as suggestions.
const MANY: usize = 50;

/// Whether suggestions are left out because there are many problems already.
pub(crate) fn are_many(d: &Diagnostics) -> bool {
    d.len() > MANY
}

/// The change that puts another text in place of what is at a span.
pub(crate) fn in_place_of(span: Span, text: impl Into<String>) -> Option<Fix> {
    span.range.map(|(start, end)| Fix::Edits(vec![Edit::new(start, end, text)]))
}

/// Reports a problem with two places: the one of the message, and another one with what is there.
pub(crate) fn report_both(
    code: Code,
    (place, message): (Span, impl Into<String>),
    (other, what): (Span, impl Into<String>),
    help: impl Into<String>,
    d: &mut Diagnostics,
) {
    d.push(Diagnostic::new(code, message).at(place).related(other, what).help(help));
}

/// Values that messages name may be as long as a file.
fn shorten(text: &mut String) {
    if let Cow::Owned(short) = terminal::shortened(text) {
        *text = short;
    }
}

/// The problems with everything that is shown of them, sorted by file and position.
pub(crate) fn resolve(diagnostics: Diagnostics, files: &Files) -> evalsuite_schema::diagnostics::Diagnostics {
    // A file is indexed once, however many problems it has.
    let mut indexes: BTreeMap<FileId, Option<LineIndex>> = BTreeMap::new();
    let mut resolve_one = |mut problem: Diagnostic| {
        // What has to be quoted is the source: `1.10` is not `1.1`.
        if let (Some(Fix::Quote), Some(Span { file, range: Some(range) })) = (problem.fix.as_deref(), problem.place)
            && let Some(index) = indexes.entry(file).or_insert_with(|| files.line_index(file))
        {
            problem.help = Some(format!("quote it: \"{}\"", index.text(range)));
        }
        shorten(&mut problem.message);
        problem.help.iter_mut().for_each(shorten);
        problem.map_places(|span| {
            let index = indexes.entry(span.file).or_insert_with(|| files.line_index(span.file));
            files.range(span, index.as_ref())
        })
    };
    let mut resolved = evalsuite_schema::diagnostics::Diagnostics::new();
    let [errors, warnings] = [Severity::Error, Severity::Warning].map(|severity| diagnostics.left_out(severity));
    let last = diagnostics.iter().rev().find_map(|problem| problem.place);
    if let Some(span) = last.filter(|_| errors + warnings > 0) {
        // Added before the others, where it takes the place of the last error.
        let message = format!("too many problems: {} more are not listed", errors + warnings + usize::from(errors > 0));
        let place = files.locate(Span::whole(span.file));
        resolved.report(Code::LimitExceeded, place, message, "correct those that are listed first");
    }
    resolved.append(diagnostics.map(&mut resolve_one));
    resolved.sort();
    resolved
}
