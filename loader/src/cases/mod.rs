//! Reading many cases: files are read on several threads, results keep their order.

pub(crate) mod case;
mod conversation;
pub(crate) mod execution;
pub(crate) mod expected_output;
mod hooks;
pub(crate) mod input;
pub(crate) mod metadata;
mod repos;
pub(crate) mod requires;
pub(crate) mod sources;
pub(crate) mod task;
pub(crate) mod workspace;

use std::path::{Path, PathBuf};

use evalsuite_schema::PathRef;

use self::case::{CaseContext, CheckedCase, Defaults};
use self::sources::CaseSource;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths;
use crate::fields::paths::Scope;
use crate::read::node::{Data, Node};
use crate::source::Span;
use crate::{names, read};

/// Fewer files than this are read faster without another thread.
const FILES_PER_THREAD: usize = 32;

/// A case with its place among files and tests.
#[derive(Debug)]
pub(crate) struct PlacedCase {
    pub(crate) checked: CheckedCase,
    /// File that defines it relative to the suite root, if listing a directory found it.
    pub(crate) source: String,
    pub(crate) folders: Vec<String>,
    pub(crate) function: String,
}

/// Reads every source; bad cases are reported and left out.
pub(crate) fn read_sources(
    sources: &[CaseSource<'_>],
    defaults: &Defaults,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Vec<PlacedCase> {
    on_threads(sources, scope.request.threads, d, |source, cases, d| match source {
        CaseSource::Inline(node) => {
            let around = CaseContext { scope, directory: None, sibling_workspace: None };
            cases.extend(case::read(node, around, defaults, d).map(|checked| by_id(checked, "")));
        }
        CaseSource::Directory { file, source } => cases.extend(case_directory(file, source, defaults, scope, d)),
        CaseSource::List { file, source, span } => case_list(file, source, *span, defaults, scope, cases, d),
    })
}

/// Reads every task file below the suite root.
pub(crate) fn read_tasks(
    files: &[String],
    rules: task::TaskRules,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Vec<PlacedCase> {
    on_threads(files, scope.request.threads, d, |source, cases, d| {
        let path = scope.roots.suite_root.join(source);
        cases.extend(task_file(&path, source, rules, scope, d));
    })
}

/// Runs `read` for each item, in order, on up to `threads` threads.
fn on_threads<T: Sync>(
    items: &[T],
    threads: usize,
    d: &mut Diagnostics,
    read: impl Fn(&T, &mut Vec<PlacedCase>, &mut Diagnostics) + Sync,
) -> Vec<PlacedCase> {
    let threads = threads.min(items.len() / FILES_PER_THREAD).max(1);
    let chunk = items.len().div_ceil(threads).max(1);
    let run = |items: &[T]| {
        let (mut cases, mut found) = (Vec::with_capacity(items.len()), Diagnostics::new());
        for item in items {
            read(item, &mut cases, &mut found);
        }
        (cases, found)
    };
    let results: Vec<(Vec<PlacedCase>, Diagnostics)> = std::thread::scope(|scope| {
        let mut chunks = items.chunks(chunk);
        let own = chunks.next().unwrap_or_default();
        let others: Vec<_> = chunks.map(|items| scope.spawn(|| run(items))).collect();
        let first = run(own);
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        std::iter::once(first).chain(others.into_iter().map(join)).collect()
    });
    let mut all = Vec::with_capacity(items.len());
    for (cases, found) in results {
        all.extend(cases);
        d.append(found);
    }
    all
}

/// A case whose test is named by its id.
fn by_id(checked: CheckedCase, source: &str) -> PlacedCase {
    let function = names::segment(&checked.case.id);
    PlacedCase { checked, source: source.to_owned(), folders: Vec::new(), function }
}

fn case_directory(
    file: &Path,
    source: &str,
    defaults: &Defaults,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<PlacedCase> {
    let (id, text) = read::read_text(file, scope.files, d)?;
    let root = read::parse_yaml(id, &text, d)?;
    if !is_mapping(&root, "a case file contains one case", d) {
        return None;
    }
    let dir = file.parent().unwrap_or(scope.dir);
    let name = paths::file_name(dir);
    let template = dir.join("workspace");
    let sibling_workspace =
        template.is_dir().then(|| PathRef { written: "workspace".to_owned(), path: scope.roots.compiled(&template) });
    if sibling_workspace.is_some() && root.entry("workspace").is_none() {
        crate::cases::workspace::check_links(&template, &root, scope, d);
    }
    let around = CaseContext { scope: scope.at(dir), directory: Some(&name), sibling_workspace };
    let checked = case::read(&root, around, defaults, d)?;
    Some(PlacedCase { checked, source: source.to_owned(), folders: Vec::new(), function: names::segment(&name) })
}

fn is_mapping(root: &Node, help: &str, d: &mut Diagnostics) -> bool {
    let mapping = root.as_mapping().is_some();
    if !mapping {
        d.report(Code::RootNotMapping, root.span, format!("expected a mapping, found {}", root.kind()), help);
    }
    mapping
}

fn case_list(
    file: &Path,
    source: &str,
    span: Span,
    defaults: &Defaults,
    scope: Scope<'_>,
    cases: &mut Vec<PlacedCase>,
    d: &mut Diagnostics,
) {
    let Some((id, text)) = read::read_text(file, scope.files, d) else { return };
    let before = d.len();
    let nodes = if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl")) {
        read::parse_jsonl(id, &text, d)
    } else {
        let Some(root) = read::parse_yaml(id, &text, d) else { return };
        match root.data {
            Data::Sequence(items) => items,
            Data::Null => Vec::new(),
            _ => {
                let message = format!("expected a list of cases, found {}", root.kind());
                d.report(Code::InvalidExternalFile, root.span, message, "start each case with `- id:`");
                return;
            }
        }
    };
    if nodes.is_empty() && d.len() == before {
        let shown = scope.files.shown(file);
        d.report(Code::NoCases, span, format!("no case in `{shown}`"), "add a case");
    }
    let dir: PathBuf = file.parent().unwrap_or(scope.dir).to_path_buf();
    for node in &nodes {
        if node.as_mapping().is_none() {
            let message = format!("a case must be a mapping, found {}", node.kind());
            d.report(Code::InvalidExternalFile, node.span, message, "start each case with `- id:`");
            continue;
        }
        let around = CaseContext { scope: scope.at(&dir), directory: None, sibling_workspace: None };
        cases.extend(case::read(node, around, defaults, d).map(|checked| by_id(checked, source)));
    }
}

/// Name of the file that gives its directory's name to the test.
const TASK_FILE: &str = "task.json";

fn task_file(
    path: &Path,
    source: &str,
    rules: task::TaskRules,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<PlacedCase> {
    let (id, text) = read::read_text(path, scope.files, d)?;
    let root = read::parse_json(id, &text, d)?;
    if !is_mapping(&root, "a task file contains one task", d) {
        return None;
    }
    let dir = path.parent().unwrap_or(scope.dir);
    let checked = task::read(&root, path, rules, scope.at(dir), d)?;
    let mut folders: Vec<&str> = source.split('/').skip(1).collect();
    let file = folders.pop().unwrap_or_default();
    let function = match file {
        TASK_FILE => folders.pop().unwrap_or("task"),
        name => &name[..name.len() - ".json".len()],
    };
    let function = names::segment(function);
    Some(PlacedCase {
        checked,
        source: source.to_owned(),
        folders: folders.into_iter().map(names::segment).collect(),
        function,
    })
}
