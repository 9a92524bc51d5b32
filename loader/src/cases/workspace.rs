//! `workspace`: the directory an agent works in.

use std::path::Path;

use evalsuite_schema::WrittenHooks;
use evalsuite_schema::keys::{Keys, Written};
use evalsuite_schema::{Isolation, PathRef, Repo, Workspace};
use walkdir::WalkDir;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths::{FoundPath, PathKind, Scope};
use crate::fields::{self, Fields};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// Where a workspace is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsOwner {
    Suite,
    Case,
}

/// Files and directories of a template, at most.
const MAX_TEMPLATE_ENTRIES: usize = 250_000;

/// A workspace as a suite or a case writes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenWorkspace {
    template: Option<PathRef>,
    isolation: Option<Isolation>,
    /// Where the template of a case is written.
    template_span: Option<Span>,
    repos: Option<Vec<Repo>>,
    hooks: WrittenHooks,
    docker: bool,
}

pub(crate) fn read(
    entry: &Entry,
    place: SettingsOwner,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<WrittenWorkspace> {
    match &entry.value.data {
        Data::String(_) => external(&entry.value, place, scope, d),
        Data::Mapping(_) => object(&entry.value, place, scope, d),
        _ => fields::wrong_type(&entry.value, "`workspace`", "a mapping or a path", d),
    }
}

/// A workspace in a file of its own.
fn external(node: &Node, place: SettingsOwner, scope: Scope<'_>, d: &mut Diagnostics) -> Option<WrittenWorkspace> {
    let text = node.as_str().unwrap_or_default().trim();
    // A link is followed below, where it may be refused.
    if !text.is_empty() && scope.dir.join(text).symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let message = format!("`workspace`: `{text}` is a directory, not a file with a workspace");
        let help = format!("write `workspace: {{ template: {text} }}`");
        let fix = fields::around(node.span, "{ template: ", " }").filter(|_| node.is_plain());
        d.push(Diagnostic::new(Code::MissingPath, message).at(node.span).help(help).fix_if(fix));
        return None;
    }
    let found = scope.find(node, "`workspace`", PathKind::File, d)?;
    let root = scope.shared.tree(&found.path, scope.files, d)?;
    let wrapped = root.entry("workspace").is_some();
    if root.as_mapping().is_none() || wrapped {
        let message = if wrapped {
            "a workspace file contains the workspace itself, without `workspace:` around it".to_owned()
        } else {
            format!("a workspace file must be a mapping, found {}", root.kind())
        };
        let help = "write `template: …` at the top level";
        return fields::reject(Code::InvalidExternalFile, root.span, message, help, d);
    }
    let dir = found.path.parent().unwrap_or(scope.dir);
    let mut written = object(&root, place, scope.at(dir), d)?;
    written.hooks.default_cwd(&PathRef::found(".", scope.roots.compiled(dir)));
    Some(written)
}

fn object(node: &Node, place: SettingsOwner, scope: Scope<'_>, d: &mut Diagnostics) -> Option<WrittenWorkspace> {
    let mut fields = Fields::new(node, Workspace::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    let mut written = WrittenWorkspace { isolation: parts.take("isolation")?, ..WrittenWorkspace::default() };
    if let Some(entry) = fields.get("template") {
        written.template_span = Some(entry.key_span);
        written.template = template(entry, scope, d).map(|found| found.reference);
    }
    if let (Some(entry), Some(Isolation::Shared)) = (fields.get("isolation"), written.isolation) {
        let has_template = written.template_span.is_some();
        let mut refuse = |code, message, help| {
            d.report(code, entry.value.span, message, help);
            written.isolation = None;
        };
        if place == SettingsOwner::Case {
            let message = "`isolation: shared` has no meaning in a case";
            refuse(Code::SettingConflict, message, "write it in the `workspace` of the suite");
        } else if !has_template {
            let message = "`isolation: shared` needs a `template`";
            refuse(Code::UnsupportedWorkspace, message, "add `template`, or delete `isolation`");
        }
    }
    mode(&mut fields, scope, d);
    written.repos = fields.get("repos").map(|entry| super::repos::read(entry, scope, d));
    written.hooks = hooks(&mut fields, scope, d);
    if let Some(entry) = fields.get("docker") {
        written.docker = true;
        if !scope.request.allow_docker {
            let help =
                "use a `template`, or let the cases be skipped with `allow = [\"unsupported-docker\"]` in the macro";
            d.report(Code::UnsupportedDocker, entry.key_span, "docker workspaces are not supported", help);
        }
    }
    fields.finish(d);
    Some(written)
}

/// The hooks of a workspace, or of a target.
pub(super) fn hooks(fields: &mut Fields<'_>, scope: Scope<'_>, d: &mut Diagnostics) -> WrittenHooks {
    let mut written = WrittenHooks::default();
    super::hooks::read(&mut written, fields, scope, d);
    written
}

fn template(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<FoundPath> {
    let text = fields::literal_text(&entry.value, "`template`", d)?;
    if text.trim().ends_with(".code-workspace") {
        let message = "a `.code-workspace` file cannot be a template";
        let help = "name the directory it describes";
        return fields::reject(Code::UnsupportedWorkspace, entry.value.span, message, help, d);
    }
    let found = scope.find(&entry.value, "`template`", PathKind::Directory, d)?;
    check_links(&found.path, &entry.value, scope, d);
    Some(found)
}

/// A link inside a template may point to another part of the template, not outside.
pub(crate) fn check_links(template: &Path, node: &Node, scope: Scope<'_>, d: &mut Diagnostics) {
    let Ok(root) = template.canonicalize() else { return };
    if !root.starts_with(&scope.roots.real_boundary) {
        let message = format!("`{}` resolves to `{}`, outside the suite", scope.files.shown(template), root.display());
        d.report(Code::PathEscape, node.span, message, "copy its target into the suite");
        return;
    }
    for problem in scope.shared.template(template, || template_problems(template, &root, scope)).iter() {
        d.push(problem.clone().at(node.span));
    }
}

/// The links and directories of the template with the resolved path `root` that cannot be copied.
fn template_problems(template: &Path, root: &Path, scope: Scope<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut report = |code, message, help: &str| problems.push(Diagnostic::new(code, message).help(help));
    let entries =
        WalkDir::new(template).max_depth(evalsuite_schema::discovery::MAX_DEPTH + 1).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(|entry| !(entry.file_type().is_dir() && entry.file_name() == ".git"));
    for (number, entry) in entries.enumerate() {
        if number > MAX_TEMPLATE_ENTRIES {
            let message = format!("`{}` has more than {MAX_TEMPLATE_ENTRIES} files", scope.files.shown(template));
            report(Code::LimitExceeded, message, "name a smaller directory");
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let shown = scope.files.shown(error.path().unwrap_or(template));
                report(Code::UnreadableFile, format!("`{shown}` cannot be read"), "fix its permissions");
                continue;
            }
        };
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.is_dir() && entry.depth() > evalsuite_schema::discovery::MAX_DEPTH {
            let message = format!("`{}` is nested too deeply", scope.files.shown(path));
            report(Code::LimitExceeded, message, "flatten the template");
        } else if entry.path_is_symlink() && !path.canonicalize().is_ok_and(|target| target.starts_with(root)) {
            let message = format!("the link `{}` is broken or points outside the template", scope.files.shown(path));
            report(Code::PathEscape, message, "copy its target into the template");
        }
    }
    problems
}

fn mode(fields: &mut Fields<'_>, scope: Scope<'_>, d: &mut Diagnostics) {
    let Some(entry) = fields.get("mode") else { return };
    if entry.value.as_str() == Some("static") {
        let message = "`mode: static`: working in place is not supported";
        let help = "use `template`: every trial gets its own copy";
        d.report(Code::UnsupportedWorkspace, entry.value.span, message, help);
    } else if let Some(Written::Word("pooled")) = fields.value_of("mode", scope, d) {
        let help = "delete it: each trial gets its own copy";
        d.report(Code::NoEffect, entry.key_span, "`mode: pooled` has no effect", help);
    }
}

/// The workspace of a case: each key of the case replaces the suite's, hooks key by key.
pub(crate) fn merge(
    suite: Option<&WrittenWorkspace>,
    case: Option<WrittenWorkspace>,
    d: &mut Diagnostics,
) -> Option<Workspace> {
    if suite.is_none() && case.is_none() {
        return None;
    }
    let empty = WrittenWorkspace::default();
    let (suite, case) = (suite.unwrap_or(&empty), case.unwrap_or_default());
    if let (Some(span), Some(Isolation::Shared)) = (case.template_span, suite.isolation) {
        let message = "`isolation: shared` of the suite has no effect here: a case with its own `template` has its own copy per trial";
        d.report(Code::NoEffect, span, message, "delete `template` to share the suite's copy");
    }
    let isolation = match &case.template {
        Some(_) => Isolation::PerTest,
        None => case.isolation.or(suite.isolation).unwrap_or_default(),
    };
    Some(Workspace {
        template: case.template.or_else(|| suite.template.clone()),
        base_fixture: None,
        copies: Vec::new(),
        isolation,
        repos: case.repos.or_else(|| suite.repos.clone()).unwrap_or_default(),
        hooks: case.hooks.over(&suite.hooks).into_hooks(),
        docker: case.docker || suite.docker,
    })
}

impl WrittenWorkspace {
    /// A case's own `workspace/` directory, used where it names no template.
    pub(crate) fn default_template(&mut self, template: PathRef) {
        if self.template.is_none() && self.template_span.is_none() {
            self.template = Some(template);
        }
    }
}
