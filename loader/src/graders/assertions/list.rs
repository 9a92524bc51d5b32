//! One list: strings become one grader, `{include: NAME}` the entries of a template, mappings a grader each.

use std::path::{Path, PathBuf};

use evalsuite_schema::grader::common_keys::Template;
use evalsuite_schema::grader::{Criterion, Grader, GraderConfig, Rubrics};
use evalsuite_schema::keys::Keys;

use super::{ParsedGrader, entry};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths::{self, PathKind, SearchFailure};
use crate::fields::{self, Fields, vars};
use crate::graders::{self, GraderContext, IncludedTemplate, plain_criterion};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// What the plain strings of a list become.
#[derive(Clone, Copy)]
struct StringGroup {
    name: &'static str,
    id: &'static str,
    is_required: bool,
}

const RUBRICS: StringGroup = StringGroup { name: "rubrics", id: "rubric", is_required: true };
const TURN_RUBRICS: StringGroup = StringGroup { name: "turn-rubrics", id: "criterion", is_required: false };

/// Reads a list of assertions.
pub(crate) fn read_list(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    read(node, "`assertions`", RUBRICS, cx, d)
}

/// Reads the list of a turn, whose strings are weighed against each other, but none is required. Messages call it `what`.
pub(super) fn read_turn(node: &Node, what: &str, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    let mut parsed = read(node, what, TURN_RUBRICS, cx, d);
    for parsed in &mut parsed {
        if parsed.grader.name == TURN_RUBRICS.name && parsed.named.is_none() {
            parsed.grader.weight = 1.0;
        }
    }
    parsed
}

fn read(node: &Node, what: &str, group: StringGroup, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    let Some(items) = fields::list(node, what, d) else {
        return vec![ParsedGrader::broken(node, cx.scope)];
    };
    let parsed = Vec::with_capacity(items.len());
    let mut reading = Reading { parsed, criteria: Vec::new(), position: None, references: Vec::new(), group };
    reading.read(items, cx, d);
    reading.finish(cx)
}

struct Reading {
    parsed: Vec<ParsedGrader>,
    criteria: Vec<Criterion>,
    /// Index among the graders and place of the first string.
    position: Option<(usize, Span)>,
    /// References to variables in the strings.
    references: Vec<(String, Span)>,
    group: StringGroup,
}

impl Reading {
    fn read(&mut self, items: &[Node], cx: GraderContext<'_>, d: &mut Diagnostics) {
        for item in items {
            let first = self.parsed.len();
            match &item.data {
                Data::String(text) => self.criterion(text, item, cx, d),
                Data::Mapping(_) => match name(item) {
                    Some(name) => {
                        let found = expand(name, cx, d, |items, cx, d| self.read(items, cx, d));
                        if found.is_none() {
                            self.parsed.push(ParsedGrader::broken(item, cx.scope));
                        }
                    }
                    None => self.parsed.push(entry::read(item, cx, d)),
                },
                _ => self.parsed.push(
                    fields::wrong_type(item, "an assertion", "text or a mapping", d)
                        .unwrap_or_else(|| ParsedGrader::broken(item, cx.scope)),
                ),
            }
            if cx.scope.vars.is_none() {
                let of_this_item = self.parsed[first..].first_mut().map(|parsed| &mut parsed.notes.references);
                vars::references("", item, of_this_item.unwrap_or(&mut self.references));
            }
        }
    }

    fn criterion(&mut self, text: &str, node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) {
        let text = text.trim();
        if text.is_empty() {
            d.report(Code::BlankValue, node.span, "blank assertion", "write the criterion or delete the line");
            self.parsed.push(ParsedGrader::broken(node, cx.scope));
            return;
        }
        if let Some(name) = grader_at_start(text) {
            d.report(
                Code::GraderLikeCriterion,
                node.span,
                format!("a judge decides about this text; it is not the grader `{name}`"),
                format!("write `{{ type: {name}, … }}` for the grader, or start the criterion with another word"),
            );
        }
        self.position.get_or_insert((self.parsed.len(), node.span));
        let id = format!("{}-{}", self.group.id, self.criteria.len() + 1);
        self.criteria.push(plain_criterion(id, text.to_owned(), self.group.is_required));
    }

    fn finish(mut self, cx: GraderContext<'_>) -> Vec<ParsedGrader> {
        if let Some((index, span)) = self.position {
            #[allow(clippy::cast_precision_loss, reason = "a list has fewer than 2^52 strings")]
            let weight = self.criteria.len() as f64;
            let config = GraderConfig::Rubrics(Rubrics { criteria: self.criteria, ..Rubrics::default() });
            let mut grader = Grader::new(self.group.name, cx.scope.files.location(span), config);
            grader.weight = weight;
            let mut parsed = ParsedGrader::new(grader, span);
            parsed.notes.references = self.references;
            self.parsed.insert(index, parsed);
        }
        self.parsed
    }
}

/// The built-in type that a text starts with, as a grader would be written. Words that begin sentences, such as `cost`, are
/// one only before a colon.
fn grader_at_start(text: &str) -> Option<&'static str> {
    const COMPARING: [&str; 4] = ["contains", "icontains", "equals", "regex"];
    let end = text.find(|character: char| character == ':' || character.is_whitespace()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let name = graders::built_in(word)?.id;
    (rest.starts_with(':') || name.contains('-') || COMPARING.contains(&name)).then_some(name)
}

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
