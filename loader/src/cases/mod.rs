//! Reading many cases: files are read on several threads, results keep their order.

pub(crate) mod case;
mod conversation;
pub(crate) mod execution;
pub(crate) mod expected_output;
mod hooks;
pub(crate) mod input;
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

/// Where the cases of a suite are, with what the suite says about them.
#[derive(Debug)]
pub(crate) enum CaseFiles {
    /// Files of the tasks layout, relative to the suite root.
    Tasks { files: Vec<String>, rules: task::TaskRules },
    /// What the eval file and the directories of cases name.
    Sources { list: Vec<CaseSource>, defaults: Box<Defaults> },
}

impl CaseFiles {
    /// Reads all of them; bad cases are reported and left out.
    pub(crate) fn read(&self, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<PlacedCase> {
        self.map(scope.request.threads, d, |index, cases, d| self.read_one(index, scope, cases, d))
    }

    /// What `read` adds for each of them, in order.
    pub(crate) fn map<R: Send>(
        &self,
        threads: usize,
        d: &mut Diagnostics,
        read: impl Fn(usize, &mut Vec<R>, &mut Diagnostics) + Sync,
    ) -> Vec<R> {
        let count = match self {
            Self::Tasks { files, .. } => files.len(),
            Self::Sources { list, .. } => list.len(),
        };
        on_threads(count, threads, d, read)
    }

    /// Reads the cases of one of them.
    pub(crate) fn read_one(&self, index: usize, scope: Scope<'_>, cases: &mut Vec<PlacedCase>, d: &mut Diagnostics) {
        match self {
            Self::Tasks { files, rules } => {
                let path = scope.roots.suite_root.join(&files[index]);
                cases.extend(task_file(&path, &files[index], *rules, scope, d));
            }
            Self::Sources { list, defaults } => match &list[index] {
                CaseSource::Inline(node) => {
                    let around = CaseContext { scope, directory: None, sibling_workspace: None };
                    cases.extend(case::read(node, around, defaults, d).map(|checked| by_id(checked, "")));
                }
                CaseSource::Directory { file, source } => {
                    cases.extend(case_directory(file, source, defaults, scope, d))
                }
                CaseSource::List { file, source, span } => case_list(file, source, *span, defaults, scope, cases, d),
            },
        }
    }

    /// The file that one of them is; `None` for cases in the eval file.
    pub(crate) fn path(&self, index: usize, suite_root: &Path) -> Option<PathBuf> {
        match self {
            Self::Tasks { files, .. } => Some(suite_root.join(&files[index])),
            Self::Sources { list, .. } => match &list[index] {
                CaseSource::Inline(_) => None,
                CaseSource::Directory { file, .. } | CaseSource::List { file, .. } => Some(file.clone()),
            },
        }
    }
}

/// Runs `read` for each index up to `count`, in order, on up to `threads` threads.
fn on_threads<R: Send>(
    count: usize,
    threads: usize,
    d: &mut Diagnostics,
    read: impl Fn(usize, &mut Vec<R>, &mut Diagnostics) + Sync,
) -> Vec<R> {
    let threads = threads.min(count / FILES_PER_THREAD).max(1);
    let chunk = count.div_ceil(threads).max(1);
    let read = &read;
    let run = move |first: usize| {
        let part = first..(first + chunk).min(count);
        let (mut results, mut found) = (Vec::with_capacity(part.len()), Diagnostics::new());
        for index in part {
            read(index, &mut results, &mut found);
        }
        (results, found)
    };
    let results: Vec<(Vec<R>, Diagnostics)> = std::thread::scope(|scope| {
        let mut chunks = (0..count).step_by(chunk);
        let own = chunks.next().unwrap_or_default();
        let others: Vec<_> = chunks.map(|first| scope.spawn(move || run(first))).collect();
        let first = run(own);
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        std::iter::once(first).chain(others.into_iter().map(join)).collect()
    });
    let mut all = Vec::with_capacity(count);
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
