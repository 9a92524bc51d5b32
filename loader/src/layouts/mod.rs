//! The layouts of suites: how the entry path shows which one it is, and what the files of each say.
//!
//! A layout is a file or folder here with its `outline`, a line where [`entry`] or [`suite_json`] recognizes it, and its
//! [`evalsuite_schema::LayoutRules`].

mod bare;
mod cases;
mod combined;
mod entry;
mod skill;
mod suite_json;
mod tasks;

use evalsuite_schema::{Layout, Suite, SuiteKind};

use crate::cases::CaseFiles;
use crate::cases::sources::CaseSources;
use crate::diagnostic::Diagnostics;
use crate::fields::paths::Scope;
use crate::source::Span;

pub(crate) use entry::{SuiteEntry, find};

/// What the files of a suite say without its cases.
#[derive(Debug)]
pub(crate) struct Outline {
    /// `None` if the file of the suite has errors.
    pub(crate) suite: Option<Suite>,
    pub(crate) cases: Box<dyn CaseFiles>,
    /// What to list again to see whether cases were added: kind and path, as [`evalsuite_schema::discovery::list`] takes them.
    pub(crate) watched: Vec<(String, String)>,
    /// Where the suite's own settings are.
    pub(crate) place: Span,
}

/// Reads the files of a suite in a layout without its cases.
pub(crate) type ReadOutline = fn(&SuiteEntry, Scope<'_>, &mut Diagnostics) -> Option<Outline>;

/// The outline of a suite whose cases are read as those of an eval file.
fn outline_of(suite: Option<Suite>, mut sources: CaseSources, place: Span) -> Outline {
    Outline { suite, watched: std::mem::take(&mut sources.watched), cases: Box::new(sources), place }
}

/// A suite with a name, a layout and a place.
fn new_suite(name: String, layout: Layout, span: Span, scope: Scope<'_>) -> Suite {
    let mut suite = Suite::new(name, layout, SuiteKind::Capability, scope.files.location(span));
    suite.root = scope.roots.compiled(&scope.roots.suite_root);
    suite
}
