//! Includes: entries of a template in place of `{include: NAME}`.

use std::path::{Path, PathBuf};

use super::ParsedGrader;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::paths::{PathKind, SearchFailure};
use crate::fields::{Fields, paths, vars};
use crate::graders::{GraderContext, IncludedTemplate};
use crate::read::node::{Entry, Node};
use evalsuite_schema::grader::keys::Template;
use evalsuite_schema::keys::Keys;

/// Templates in templates, the outermost included.
const MAX_LEVELS: usize = 3;

/// Bytes that an include counts for at least: finding a template takes its time, too.
const LEAST_SIZE: usize = 2048;

/// Bytes that a grader takes with its texts.
const GRADER_SIZE: usize = 2 * size_of::<ParsedGrader>();

/// Directories of templates, and the endings of their names, as they are tried.
const DIRECTORIES: &[&str] = &[".evalsuite/templates", ".agentv/templates"];
const ENDINGS: &[&str] = &["yaml", "yml"];

/// The include of an entry: a mapping with only this key.
pub(super) fn name(node: &Node) -> Option<&Entry> {
    match node.as_mapping() {
        Some([only]) if only.key == "include" => Some(only),
        _ => None,
    }
}

/// Calls `read` with the entries of the named template and their context. `None`: a problem was reported.
pub(super) fn expand(
    entry: &Entry,
    cx: GraderContext<'_>,
    d: &mut Diagnostics,
    read: impl FnOnce(&[Node], GraderContext<'_>, &mut Diagnostics),
) -> Option<()> {
    let node = &entry.value;
    let written = fields::literal_text(node, "`include`", d)?;
    if cx.scope.shared.is_full() {
        return None;
    }
    let path = find(written.trim(), node, cx, d)?;
    check_chain(&path, node, cx, d)?;
    let files = cx.scope.files;
    let tree = cx.scope.shared.tree(&path, files, d)?;
    let items = entries(&tree, d)?;
    let size = tree.size() + items.len() * GRADER_SIZE;
    if !cx.scope.shared.may_copy(size.max(LEAST_SIZE), node.span, d) {
        return None;
    }
    let template = IncludedTemplate { path: &path, parent: cx.templates };
    let directory = path.parent().unwrap_or(Path::new(""));
    let items = vars::fill_graders(items, cx.scope, d);
    read(&items, GraderContext { scope: cx.scope.at(directory), templates: Some(&template), ..cx }, d);
    Some(())
}

fn find(written: &str, node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<PathBuf> {
    let scope = cx.scope;
    let describe = (Code::IncludeNotFound, PathKind::File);
    if written.contains(['/', '\\']) || written.starts_with('.') {
        return scope.find_text(written, node, "`include`", describe, d).map(|found| found.path);
    }
    let mut tried = Vec::new();
    for place in scope.roots.search(scope.dir) {
        let place = [place];
        for directory in DIRECTORIES {
            for ending in ENDINGS {
                let candidate = format!("{directory}/{written}.{ending}");
                match scope.search(&candidate, PathKind::File, &place) {
                    Ok(found) => {
                        scope.note_missed(&tried);
                        return Some(found.path);
                    }
                    Err(SearchFailure::Missing(paths)) => tried.extend(paths),
                    Err(miss) => {
                        scope.report(miss, written, node, "`include`", describe, d);
                        return None;
                    }
                }
            }
        }
    }
    let near = tried.iter().find_map(|path| paths::nearest_entry(path, |path| path.is_file()));
    let near = near.as_deref().map(|name| name.trim_end_matches(".yaml").trim_end_matches(".yml"));
    let help = scope.tried(&tried, near);
    fields::reject(Code::IncludeNotFound, node.span, format!("template `{written}` not found"), help, d)
}

/// A template does not include itself, and templates are not nested too deeply.
fn check_chain(path: &Path, node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<()> {
    let around = std::iter::successors(cx.templates, |template| template.parent).map(|template| template.path);
    let chain: Vec<&Path> = std::iter::once(path).chain(around).collect();
    let is_cycle = chain[1..].contains(&path);
    if !is_cycle && chain.len() <= MAX_LEVELS {
        return Some(());
    }
    let names: Vec<String> = chain.iter().rev().map(|path| cx.scope.files.shown(path)).collect();
    let problem = if is_cycle { "templates include each other" } else { "templates are included too deeply" };
    let help = if is_cycle { "remove one of the includes" } else { "include at most 3 levels deep" };
    d.push(Diagnostic::new(Code::IncludeCycle, format!("{problem}: {}", names.join(" -> "))).at(node.span).help(help));
    None
}

/// The entries of a template.
fn entries<'n>(tree: &'n Node, d: &mut Diagnostics) -> Option<&'n [Node]> {
    let help = "a template is a mapping with one key, `assertions`";
    if tree.as_mapping().is_none() {
        let message = format!("expected a template, found {}", tree.kind());
        return fields::reject(Code::InvalidExternalFile, tree.span, message, help, d);
    }
    let mut fields = Fields::new(tree, Template::TABLE, d)?.at_top();
    fields.get("$schema");
    let assertions = fields.get("assertions");
    fields.finish(d);
    let Some(entry) = assertions else {
        return fields::reject(Code::InvalidExternalFile, tree.span, "the template has no `assertions`", help, d);
    };
    let items = entry.value.as_sequence();
    if items.is_none() {
        let message = format!("`assertions` of a template must be a list, found {}", entry.value.kind());
        d.report(Code::InvalidExternalFile, entry.value.span, message, help);
    }
    items
}
