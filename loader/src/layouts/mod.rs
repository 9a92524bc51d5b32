//! The layouts of suites: how the entry path shows which one it is, and what the files of each say.
//!
//! A layout is a file or folder here with its `outline`, a line where [`entry`] recognizes it, and its [`evalsuite_schema::LayoutRules`].

mod bare;
mod cases;
mod combined;
mod entry;
mod skill;
mod tasks;

use std::path::{Path, PathBuf};

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Layout, Suite, SuiteJson, SuiteKind};

use crate::cases::CaseFiles;
use crate::cases::sources::CaseSources;
use crate::diagnostic::Diagnostics;
use crate::fields::paths::{Roots, Scope};
use crate::fields::{self, Fields};
use crate::read;
use crate::source::Span;
use crate::suite::cross_check;

pub(crate) use entry::find;

/// A layout, with the directory of the suite, and its file if it has one.
struct Found {
    layout: Layout,
    outline: ReadOutline,
    root: PathBuf,
    file: Option<PathBuf>,
}

impl Found {
    /// A suite whose file lies in its directory.
    fn file(layout: Layout, outline: ReadOutline, path: &Path) -> Self {
        let root = path.parent().unwrap_or(path).to_path_buf();
        Self { layout, outline, root, file: Some(path.to_path_buf()) }
    }
}

/// An entry that was found.
#[derive(Debug, Clone)]
pub(crate) struct SuiteEntry {
    pub(crate) layout: Layout,
    pub(crate) outline: ReadOutline,
    /// The file of the suite, if it has one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) roots: Roots,
    /// Last component of the entry path; for files the stem.
    pub(crate) stem: String,
}

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

/// What `suite.json` says, which two layouts have.
fn read_suite_json(path: &Path, layout: Layout, scope: Scope<'_>, d: &mut Diagnostics) -> Option<(Suite, SuiteJson)> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let root = read::parse_json(file, &text, d)?;
    let help = "write `{\"name\": …, \"agent_name\": …}`";
    let mut fields = Fields::of_root(&root, SuiteJson::TABLE, help, d)?;
    fields.get("$schema");
    let written: SuiteJson = fields.parts(scope, d).into_value_of_rest()?;
    let gates = fields.get("gates").map(|entry| cross_check::read_gates(entry, &[], d)).unwrap_or_default();
    let canary = fields.get("canary").and_then(|entry| fields::canary(entry, d));
    let has_kind = fields.get("kind").is_some();
    fields.finish(d);
    let trimmed = |name: &Option<String>| name.as_ref().map(|name| name.trim().to_owned());
    let mut suite = new_suite(trimmed(&written.name).unwrap_or_default(), layout, root.span, scope);
    (suite.gates, suite.canary) = (gates, canary);
    suite.agent_name = trimmed(&written.agent_name);
    // Nothing in the cases contradicts `capability`: a word that is no kind has no other consequences.
    suite.kind = written.kind.unwrap_or(if has_kind { SuiteKind::Capability } else { SuiteKind::Mixed });
    Some((suite, written))
}
