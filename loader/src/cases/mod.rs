//! Reading many cases: files are read on several threads, results keep their order.

pub(crate) mod case;
mod conversation;
pub(crate) mod execution;
mod hooks;
pub(crate) mod input;
mod matrix;
mod repos;
pub(crate) mod sources;
pub(crate) mod target_skill;
pub(crate) mod workspace;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use evalsuite_schema::PathRef;
use evalsuite_schema::discovery::in_parts;

use self::case::{CaseContext, CheckedCase, Defaults};
use self::matrix::Expanded;
use self::sources::{CaseSource, CaseSources};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{self, Scope};
use crate::read::node::{Data, Node};
use crate::request::{OtherCase, Request};
use crate::{fields, names, read};

/// An element of a list of cases, as messages name it.
const CASE: &str = "case";

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
    pub(crate) stands_alone: bool,
}

/// The cases that were read, and those that a request for a part of the suite leaves out.
#[derive(Debug, Default)]
pub(crate) struct ReadCases {
    pub(crate) cases: Vec<PlacedCase>,
    pub(crate) others: Vec<OtherCase>,
}

impl ReadCases {
    pub(crate) fn leave_out(&mut self, source: &str, path: String, may_be_several: bool) {
        self.others.push(OtherCase { source: source.to_owned(), path, may_be_several });
    }

    /// Whether the case of a list with this id is read. One that has no id is: its problems are reported.
    pub(crate) fn takes(&mut self, id: Option<&str>, source: &str, request: &Request) -> bool {
        let Some(part) = &request.part else { return true };
        let Some(id) = id else { return false };
        let is_wanted = part.ids.contains(id);
        if !is_wanted {
            self.leave_out(source, names::segment(id), false);
        }
        is_wanted
    }

    /// Reads a case of a list, unless the request leaves it out.
    fn read_listed(&mut self, node: &Node, source: &str, defaults: &Defaults, scope: Scope<'_>, d: &mut Diagnostics) {
        let id = node.entry("id").and_then(|entry| entry.value.as_str());
        if self.takes(id, source, scope.request) {
            let around = CaseContext { scope, directory: None, sibling_workspace: None };
            self.cases.extend(case::read(node, around, defaults, d).map(|checked| by_id(checked, source)));
        }
    }
}

/// Whether the case that has the file `source` for itself is read.
pub(crate) fn takes_file(source: &str, request: &Request) -> bool {
    request.part.as_ref().is_none_or(|part| part.sources.contains(source))
}

/// Where the cases of a suite are, with what the suite says about them.
pub(crate) trait CaseFiles: Debug + Send + Sync {
    /// Number of the places that can be read one by one.
    fn len(&self) -> usize;

    /// Reads the cases of one of them; bad cases are reported and left out.
    fn read_one(&self, index: usize, scope: Scope<'_>, read: &mut ReadCases, d: &mut Diagnostics);

    /// The file that one of them is; `None` for cases in the file of the suite.
    fn path(&self, index: usize, suite_root: &Path) -> Option<PathBuf>;
}

impl dyn CaseFiles {
    /// Reads each of them, on up to as many threads as are asked for. The cases and problems of each, in order.
    pub(crate) fn read(&self, scope: Scope<'_>) -> Vec<(ReadCases, Diagnostics)> {
        let read = |index: &usize| {
            let (mut read, mut problems) = (ReadCases::default(), Diagnostics::new());
            self.read_one(*index, scope, &mut read, &mut problems);
            (read, problems)
        };
        let all: Vec<usize> = (0..self.len()).collect();
        let parts = in_parts(&all, FILES_PER_THREAD, || scope.request.threads, |part| part.iter().map(read).collect());
        parts.into_iter().flat_map(|part: Vec<_>| part).collect()
    }
}

impl CaseSources {
    /// The case of a directory, or the cases of its matrix.
    fn read_directory(&self, file: &Path, source: &str, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<PlacedCase> {
        let Some((id, text)) = read::read_text(file, scope.files, d) else { return Vec::new() };
        let Some(root) = read::parse_yaml(id, &text, d) else { return Vec::new() };
        if !is_mapping(&root, "a case file contains one case", d) {
            return Vec::new();
        }
        let dir = file.parent().unwrap_or(scope.dir);
        let name = paths::file_name(dir);
        let template = dir.join("workspace");
        let sibling_workspace = template.is_dir().then(|| PathRef::found("workspace", scope.roots.compiled(&template)));
        if sibling_workspace.is_some() && root.entry("workspace").is_none() {
            workspace::check_links(&template, &root, scope, d);
        }
        let around = CaseContext { scope: scope.at(dir), directory: Some(&name), sibling_workspace };
        let has_workspace = around.sibling_workspace.is_some();
        let before = paths::lookups();
        let has_matrix = root.entry(matrix::KEY).is_some();
        let mut cases = Vec::new();
        for Expanded { node, suffix } in matrix::expand(root, Some(&name), around.scope, d) {
            let Some(checked) = case::read(&node, around.clone(), &self.defaults, d) else { continue };
            let stands_alone = !has_workspace && !has_matrix && paths::lookups() == before;
            let function = names::segment(&format!("{name}{suffix}"));
            cases.push(PlacedCase { checked, source: source.to_owned(), folders: Vec::new(), function, stands_alone });
        }
        cases
    }
}

impl CaseFiles for CaseSources {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn read_one(&self, index: usize, scope: Scope<'_>, read: &mut ReadCases, d: &mut Diagnostics) {
        let defaults = &self.defaults;
        match &self.list[index] {
            CaseSource::Inline(node) => read.read_listed(node, "", defaults, scope, d),
            CaseSource::Directory { file, source } if takes_file(source, scope.request) => {
                read.cases.extend(self.read_directory(file, source, scope, d));
            }
            CaseSource::Directory { file, source } => {
                // Named like the function of its test; its file is not read.
                let directory = paths::file_name(file.parent().unwrap_or(file));
                read.leave_out(source, names::segment(&directory), true);
            }
            CaseSource::List { file, source, span } => {
                let before = d.len();
                let Some(nodes) = list_in_file(file, CASE, scope, d) else { return };
                if nodes.is_empty() && d.len() == before {
                    let message = format!("no case in `{}`", scope.files.shown(file));
                    d.report(Code::NoCases, *span, message, "add a case");
                }
                let scope = scope.at(file.parent().unwrap_or(scope.dir));
                let cases: Vec<Expanded> =
                    nodes.into_iter().flat_map(|node| matrix::expand(node, None, scope, d)).collect();
                for Expanded { node, .. } in &cases {
                    if node.as_mapping().is_some() {
                        read.read_listed(node, source, defaults, scope, d);
                    } else {
                        let message = format!("a case must be a mapping, found {}", node.kind());
                        d.report(Code::InvalidExternalFile, node.span, message, "start each case with `- id:`");
                    }
                }
            }
        }
    }

    fn path(&self, index: usize, _: &Path) -> Option<PathBuf> {
        match &self.list[index] {
            CaseSource::Inline(_) => None,
            CaseSource::Directory { file, .. } | CaseSource::List { file, .. } => Some(file.clone()),
        }
    }
}

/// A case whose test is named by its id.
pub(crate) fn by_id(checked: CheckedCase, source: &str) -> PlacedCase {
    let function = names::segment(&checked.case.id);
    PlacedCase { checked, source: source.to_owned(), folders: Vec::new(), function, stands_alone: false }
}

/// The elements of a list in a file of its own, which are called `element`. A list of cases may be null. `None`: a problem was reported.
pub(crate) fn list_in_file(file: &Path, element: &str, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Vec<Node>> {
    let (id, text) = read::read_text(file, scope.files, d)?;
    if is_lines(file) {
        return Some(read::parse_jsonl(id, &text, d));
    }
    let root = read::parse_yaml(id, &text, d)?;
    match root.data {
        Data::Sequence(items) => Some(items),
        Data::Null if element == CASE => Some(Vec::new()),
        _ => {
            let message = format!("expected a list of {element}s, found {}", root.kind());
            let help = format!("start each {element} with `- id:`");
            fields::reject(Code::InvalidExternalFile, root.span, message, help, d)
        }
    }
}

/// Whether a file has an element of a list on each line.
pub(crate) fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"))
}

pub(crate) fn is_mapping(root: &Node, help: &str, d: &mut Diagnostics) -> bool {
    let mapping = root.as_mapping().is_some();
    if !mapping {
        let is_list_of_one =
            root.as_sequence().is_some_and(|items| matches!(items, [one] if one.as_mapping().is_some()));
        let help = if is_list_of_one { format!("{help}: remove the `- `") } else { help.to_owned() };
        d.report(Code::RootNotMapping, root.span, format!("expected a mapping, found {}", root.kind()), help);
    }
    mapping
}
