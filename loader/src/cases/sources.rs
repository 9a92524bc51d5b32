//! Where the cases of an eval file come from: `tests`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::discovery::{Listing, MAX_VISITED, ProblemKind, is_case_file};

use super::case::Defaults;
use super::matrix;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{PathKind, Scope};
use crate::fields::{self, paths};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// Patterns of one suite, at most: each is a search of the directories.
const MAX_PATTERNS: usize = 500;

const FILE_SCHEME: &str = "file://";

/// A place that cases are read from.
#[derive(Debug, Clone)]
pub(crate) enum CaseSource {
    /// A mapping in the eval file.
    Inline(Node),
    /// A file that defines a whole case: `case.yaml`.
    Directory { file: PathBuf, source: String },
    /// A YAML list or a JSONL file, with the span that names it.
    List { file: PathBuf, source: String, span: Span },
}

/// The places that the cases of a suite are read from.
#[derive(Debug, Default)]
pub(crate) struct CaseSources {
    /// In their order.
    pub(crate) list: Vec<CaseSource>,
    /// What to list again to see whether cases were added.
    pub(crate) watched: Vec<(String, String)>,
    /// What the suite gives to each case.
    pub(crate) defaults: Defaults,
}

/// Reads `tests`.
pub(crate) fn read(tests: Entry, scope: Scope<'_>, sources: &mut CaseSources, d: &mut Diagnostics) {
    let node = tests.value;
    match node.data {
        Data::Sequence(items) => {
            if items.is_empty() {
                d.report(Code::NoCases, node.span, "`tests` is empty", "add a case, or name where they are");
            }
            let is_pattern = |item: &&Node| item.as_str().is_some_and(evalsuite_schema::discovery::is_glob);
            if let Some(item) = items.iter().filter(is_pattern).nth(MAX_PATTERNS) {
                let message = format!("more than {MAX_PATTERNS} patterns in `tests`");
                return d.report(Code::LimitExceeded, item.span, message, "write patterns that match more files");
            }
            for item in items {
                element(item, scope, sources, d);
            }
        }
        Data::String(ref text) => plain(text, &node, scope, sources, d),
        Data::Mapping(ref entries) if entries.iter().any(|entry| entry.value.as_mapping().is_some()) => {
            let help = format!("begin each case with its id: `- id: {}`, and its keys below `id`", entries[0].key);
            d.report(Code::InvalidTests, node.span, "`tests` must be a list or a path, found a mapping", help);
        }
        _ => invalid(&node, format!("`tests` must be a list or a path, found {}", node.kind()), d),
    }
}

fn invalid(node: &Node, message: String, d: &mut Diagnostics) {
    let help = "write a list of cases, `./cases/`, or a path of a `.yaml`, `.yml` or `.jsonl` file";
    d.report(Code::InvalidTests, node.span, message, help);
}

fn element(node: Node, scope: Scope<'_>, sources: &mut CaseSources, d: &mut Diagnostics) {
    match &node.data {
        Data::Mapping(_) => {
            let cases = matrix::expand(node, None, scope, d).into_iter();
            sources.list.extend(cases.map(|case| CaseSource::Inline(case.node)));
        }
        Data::String(text) => match text.trim().strip_prefix(FILE_SCHEME) {
            Some(path) if !fields::literal(path, &node, "`tests`", d) => {}
            Some(path) if evalsuite_schema::discovery::is_glob(path) => glob(path, &node, scope, sources, d),
            Some(path) => named(path, false, &node, scope, sources, d),
            None => {
                let help = format!("write `file://{}`", text.trim());
                d.report(Code::InvalidTests, node.span, format!("`{text}` is not a case"), help);
            }
        },
        _ => {
            let message = format!("an element of `tests` must be a case, found {}", node.kind());
            let help = "write a mapping with `id` and `input`, or `file://cases.yaml`";
            d.report(Code::InvalidTests, node.span, message, help);
        }
    }
}

fn plain(text: &str, node: &Node, scope: Scope<'_>, sources: &mut CaseSources, d: &mut Diagnostics) {
    let path = text.trim();
    if path.is_empty() {
        return invalid(node, "`tests` is blank".to_owned(), d);
    }
    if !fields::literal(path, node, "`tests`", d) {
        return;
    }
    if path.starts_with(FILE_SCHEME) || evalsuite_schema::discovery::is_glob(path) {
        let scheme = if path.starts_with(FILE_SCHEME) { "" } else { FILE_SCHEME };
        let message = format!("`{path}` can only be an element of a list");
        return d.report(Code::InvalidTests, node.span, message, format!("write `tests: [\"{scheme}{path}\"]`"));
    }
    named(path, true, node, scope, sources, d);
}

/// The cases of a file or, if nothing else is in `tests`, of the directories in a directory.
fn named(path: &str, is_alone: bool, node: &Node, scope: Scope<'_>, sources: &mut CaseSources, d: &mut Diagnostics) {
    let Some(found) = scope.find_text(path, node, "`tests`", (Code::MissingPath, PathKind::Any), d) else { return };
    match (found.path.is_dir(), is_alone) {
        (true, true) => directory(&found.path, node.span, scope, sources, d),
        (true, false) => {
            let help = "write `tests: ./cases/`, or name its files";
            d.report(Code::InvalidTests, node.span, format!("`{path}` is a directory"), help);
        }
        (false, _) if is_case_list(&found.path) => {
            sources.list.push(CaseSource::List { file: found.path, source: String::new(), span: node.span });
        }
        (false, true) => {
            invalid(node, format!("`{path}` is neither a directory nor a `.yaml`, `.yml` or `.jsonl` file"), d);
        }
        (false, false) => invalid(node, format!("`{path}` is not a `.yaml`, `.yml` or `.jsonl` file"), d),
    }
}

fn is_case_list(path: &Path) -> bool {
    let ending = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "yaml" | "yml" | "jsonl")
}

fn glob(pattern: &str, node: &Node, scope: Scope<'_>, sources: &mut CaseSources, d: &mut Diagnostics) {
    let fixed: PathBuf = pattern.split('/').take_while(|part| !evalsuite_schema::discovery::is_glob(part)).collect();
    // The first place of the search order in which something matches.
    let mut outcome = None;
    let absolute = paths::not_relative(pattern).is_some();
    for place in scope.roots.search(scope.dir).into_iter().filter(|_| !absolute) {
        // The pattern that went beyond it was reported.
        if scope.shared.visited.load(Ordering::Relaxed) > MAX_VISITED {
            return;
        }
        let start = paths::normalize(&place.join(&fixed));
        // A search of the whole disk would take minutes.
        if !start.starts_with(&scope.roots.boundary) {
            continue;
        }
        if start.canonicalize().is_ok_and(|real| !real.starts_with(&scope.roots.real_boundary)) {
            outcome = None;
            break;
        }
        let listing = evalsuite_schema::discovery::list(&place, &scope.roots.boundary, "glob", pattern);
        // A file that is added to one of them may match.
        for directory in &listing.directories {
            scope.files.add(&paths::normalize(&place.join(directory)));
        }
        let before = scope.shared.visited.fetch_add(listing.visited, Ordering::Relaxed);
        if before <= MAX_VISITED && before + listing.visited > MAX_VISITED && listing.visited <= MAX_VISITED {
            let message = format!("the patterns of `tests` visit more than {MAX_VISITED} files and directories");
            d.report(Code::LimitExceeded, node.span, message, "write patterns that start with a directory");
        }
        let found = !listing.files.is_empty();
        if found || outcome.is_none() {
            outcome = Some((place, listing));
        }
        if found {
            break;
        }
    }
    let Some((place, listing)) = outcome else { return leaves_the_package(pattern, node, d) };
    report(&listing, &place, Some(node), scope, d);
    if listing.files.is_empty() {
        if listing.problems.is_empty() {
            d.report(Code::NoCases, node.span, format!("`{pattern}` matches nothing"), "check the path");
        }
        return;
    }
    let prefix = scope.roots.in_suite(&place);
    let clean = pattern.strip_prefix("./").unwrap_or(pattern);
    let watched = if place == scope.roots.suite_root { clean.to_owned() } else { format!("{prefix}/{clean}") };
    sources.watched.push(("glob".to_owned(), watched));
    for name in &listing.files {
        let file = paths::normalize(&place.join(name));
        if !file.starts_with(&scope.roots.boundary) {
            return leaves_the_package(pattern, node, d);
        }
        if !is_case_list(&file) {
            invalid(node, format!("`{}` is not a `.yaml`, `.yml` or `.jsonl` file", scope.files.shown(&file)), d);
            continue;
        }
        sources.list.push(CaseSource::List { source: scope.roots.in_suite(&file), file, span: node.span });
    }
}

fn leaves_the_package(pattern: &str, node: &Node, d: &mut Diagnostics) {
    let message = format!("`{pattern}` leaves the package");
    d.report(Code::PathEscape, node.span, message, "copy the files into the suite");
}

/// Case directories below `path`, named at `span`.
pub(crate) fn directory(path: &Path, span: Span, scope: Scope<'_>, sources: &mut CaseSources, d: &mut Diagnostics) {
    let listing = evalsuite_schema::discovery::list(path, &scope.roots.boundary, "directories", "");
    report(&listing, path, None, scope, d);
    if listing.files.is_empty() && !listing.problems.iter().any(is_error) {
        let message = format!("no case in `{}`", scope.files.shown(path));
        d.report(Code::NoCases, span, message, "create a directory per case with a `case.yaml` in it");
    }
    let relative = if path == scope.roots.suite_root { String::new() } else { scope.roots.in_suite(path) };
    sources.watched.push(("directories".to_owned(), relative));
    for name in &listing.files {
        let file = path.join(name);
        sources.list.push(CaseSource::Directory { source: scope.roots.in_suite(&file), file });
    }
}

/// Reports case directories in `cases/` of a suite whose `tests`, at `span`, name nothing there.
pub(crate) fn check_directory(span: Span, sources: &CaseSources, scope: Scope<'_>, d: &mut Diagnostics) {
    let directory = scope.roots.suite_root.join("cases");
    let is_there = |source: &CaseSource| match source {
        CaseSource::Inline(_) => false,
        CaseSource::Directory { file, .. } | CaseSource::List { file, .. } => file.starts_with(&directory),
    };
    if !directory.is_dir() || sources.list.iter().any(is_there) {
        return;
    }
    let left_out = evalsuite_schema::discovery::list(&directory, &scope.roots.boundary, "directories", "").files.len();
    if left_out > 0 {
        let shown = scope.files.shown(&directory);
        let message = format!("`tests` leaves out {} in `{shown}`", counted(left_out, "case"));
        let help = "move the cases of `tests` to directories there and delete `tests`, or rename the directory";
        d.report(Code::InvalidTests, span, message, help);
    }
}

fn is_error(problem: &evalsuite_schema::discovery::Problem) -> bool {
    problem.kind != ProblemKind::NoCaseFile
}

/// Reports the problems of a listing of `root`; `node` names the pattern, if there is one.
pub(crate) fn report(listing: &Listing, root: &Path, node: Option<&Node>, scope: Scope<'_>, d: &mut Diagnostics) {
    for problem in &listing.problems {
        let path = root.join(&problem.path);
        let (code, help) = match problem.kind {
            ProblemKind::Unreadable => (Code::UnreadableFile, "fix its permissions, or rename it".to_owned()),
            ProblemKind::Link => (Code::PathEscape, "copy its target into the suite".to_owned()),
            ProblemKind::TooDeep => (Code::LimitExceeded, "flatten the directories".to_owned()),
            ProblemKind::TwoCaseFiles => (Code::TwoCaseFiles, "delete one".to_owned()),
            ProblemKind::NoCaseFile => (Code::MissingCaseFile, missing_case_file_help(&path)),
            _ => (Code::InvalidTests, "correct the pattern".to_owned()),
        };
        let span = match (problem.kind, node) {
            (ProblemKind::InvalidGlob, Some(node)) => node.span,
            _ => Span::whole(scope.files.add(&path)),
        };
        d.report(code, span, format!("`{}`: {}", scope.files.shown(&path), problem.message), help);
    }
}

fn missing_case_file_help(directory: &Path) -> String {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let near = names.iter().find(|name| is_case_file(name.to_ascii_lowercase().as_ref()));
    let mut data = names.iter().filter(|name| name.ends_with(".yaml") || name.ends_with(".yml"));
    let only = data.next().filter(|_| data.next().is_none());
    match near.or(only) {
        Some(name) if is_case_file(name.as_ref()) => format!("`{name}` is not a regular file"),
        Some(name) => format!("rename `{name}` to `case.yaml`"),
        None => "add a `case.yaml`, or start the directory's name with `_`".to_owned(),
    }
}
