//! How the process of a target runs: its command line, directory, health check and environment.

use std::path::Path;

use evalsuite_discovery::SuiteFile;
use evalsuite_schema::keys::{Keys, Parts, Written};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{HealthCheck, PathRef, Probe};
use walkdir::WalkDir;

use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::paths::{PathKind, Scope, normalize};
use crate::fields::{Fields, sealing};
use crate::read::node::{Entry, Node};
use crate::source::Span;

/// How far below a targets file its suites are looked for.
const SUITE_DEPTH: usize = 4;

/// Reads how a process of a target runs: `cwd`, what it may use, `healthcheck` and `env`.
pub(super) fn read_process(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    if let Some(entry) = fields.get("cwd") {
        let directory = directory(&entry.value, scope, d);
        if let Some(found) = &directory
            && has_suite(&normalize(&scope.roots.package_root.join(&found.path)), scope)
        {
            warn_of_answers(entry.key_span, &format!("`{}`, which contains a suite", found.written), d);
        }
        parts.make("cwd", directory);
    }
    sealing::read_of_target(fields, parts, scope, d);
    if let Some(entry) = fields.get("healthcheck") {
        parts.make("healthcheck", healthcheck(entry, scope, d));
    }
    if let Some(entry) = fields.get("env") {
        parts.set("env", Written::made(fields::environment(entry, d)));
    }
}

/// Warns of a command that runs in a directory with a suite.
pub(super) fn warn_of_answers(key: Span, what: &str, d: &mut Diagnostics) {
    let message = format!("the command runs in {what}: the agent is given the answers of its cases");
    let help = "give the cases a workspace, or the target a directory without suites";
    d.report(Code::AnswersInReach, key, message, help);
}

/// Whether a working directory contains the targets file and a suite next to it or below.
fn has_suite(cwd: &Path, scope: Scope<'_>) -> bool {
    let directory = scope.dir;
    let is_suite = |entry: &walkdir::DirEntry| {
        entry.file_type().is_file() && SuiteFile::named(&entry.file_name().to_string_lossy()).is_some()
    };
    directory.starts_with(cwd)
        && WalkDir::new(directory)
            .max_depth(SUITE_DEPTH)
            .into_iter()
            .filter_map(Result::ok)
            .any(|entry| is_suite(&entry))
}

/// A directory; one with variables is looked for when the command runs.
fn directory(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<PathRef> {
    match node.as_str().filter(|text| Syntax::Variable.is_in(text)) {
        Some(text) => Some(PathRef::new(text)),
        None => scope.find(node, "`cwd`", PathKind::Directory, d).map(|found| found.reference),
    }
}

/// A command line for the shell.
pub(super) fn command_line(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = fields::string(node, "`command`", d)?;
    if text.trim().is_empty() {
        return fields::reject(Code::InvalidCommand, node.span, "`command` is empty", "write a shell command", d);
    }
    Some(text)
}

/// The names that are meant as placeholders. Shells have braces, too.
pub(super) fn placeholder_names(command: &str) -> impl Iterator<Item = &str> {
    Syntax::Command.names(command).filter(|name| !name.bytes().any(|byte| byte.is_ascii_lowercase()))
}

fn healthcheck(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<HealthCheck> {
    let mut fields = Fields::new(&entry.value, HealthCheck::TABLE, d)?;
    let timeout_seconds = fields.parts(scope, d).take("timeout_seconds")?;
    let (url, command) = (fields.get("url"), fields.get("command"));
    let cwd = fields.get("cwd").and_then(|entry| directory(&entry.value, scope, d));
    fields.finish(d);
    let probe = match (url, command) {
        (Some(url), None) => Probe::Url(fields::text(&url.value, "`url`", d)?),
        (None, Some(command)) => {
            let command = fields::text(&command.value, "`command`", d)?;
            Probe::Command { command, cwd }
        }
        (Some(_), Some(command)) => {
            let message = "`url` and `command` are one setting";
            return fields::reject(Code::ConflictingKeys, command.key_span, message, "keep one", d);
        }
        (None, None) => {
            let message = "`healthcheck` has neither `url` nor `command`";
            return fields::reject(Code::TargetsFile, entry.value.span, message, "add one", d);
        }
    };
    Some(HealthCheck { probe, timeout_seconds })
}
