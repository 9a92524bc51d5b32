//! `hooks`: commands run around trials.

use std::path::Path;

use evalsuite_schema::keys::{Keys, Parts, Written};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Argument, Command, WrittenHook, WrittenHooks};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths::{PathKind, Scope};
use crate::fields::{self, Fields, command, sealing};
use crate::key_tables;
use crate::read::node::{Data, Entry, Node};
use evalsuite_schema::diagnostics::suggest;

/// The name of each hook, and whether it may reset the workspace.
const NAMES: [(&str, bool); 4] =
    [("before_all", false), ("before_each", true), ("after_each", true), ("after_all", false)];

/// Reads `hooks` of an object.
pub(super) fn read(hooks: &mut WrittenHooks, fields: &mut Fields<'_>, scope: Scope<'_>, d: &mut Diagnostics) {
    if let Some(entry) = fields.get("hooks") {
        *hooks = written(&entry.value, scope, d);
    }
}

fn written(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> WrittenHooks {
    if node.as_mapping().is_none() {
        let message = format!("`hooks` must be a mapping, found {}", node.kind());
        d.report(Code::InvalidHook, node.span, message, "write `before_each: {command: …}`");
        return WrittenHooks::default();
    }
    let Some(mut fields) = Fields::new(node, WrittenHooks::TABLE, d) else { return WrittenHooks::default() };
    let mut parts = fields.parts(scope, d);
    for (name, may_reset) in NAMES {
        if let Some(hook) = fields.get(name).and_then(|entry| hook(entry, may_reset, scope, d)) {
            parts.set(name, Written::Parts(hook));
        }
    }
    for entry in fields.rest() {
        let help = suggest::did_you_mean_or_known(&entry.key, &fields.known());
        let problem = Diagnostic::new(Code::InvalidHook, format!("unknown hook `{}`", entry.key)).at(entry.key_span);
        d.push(problem.help(help).fix_if(fields.certain_key(entry)));
    }
    parts.into_value_of_rest().unwrap_or_default()
}

fn hook(entry: &Entry, may_reset: bool, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Parts> {
    let (node, what) = (&entry.value, fields::label(entry));
    match &node.data {
        Data::String(_) | Data::Sequence(_) => {
            let mut parts = Parts::default();
            parts.set("command", Written::made(read_command(node, &what, scope, None, d)?));
            Some(parts)
        }
        Data::Mapping(_) => object(node, &what, may_reset, scope, d),
        _ => {
            let message = format!("{what} must be a command or a mapping, found {}", node.kind());
            fields::reject(Code::InvalidHook, node.span, message, "write `{command: …}`", d)
        }
    }
}

/// A command; each unknown placeholder is a warning.
fn read_command(node: &Node, what: &str, scope: Scope<'_>, cwd: Option<&Path>, d: &mut Diagnostics) -> Option<Command> {
    let command = command::read(node, what, scope, cwd, d)?;
    let texts: Vec<&str> = match &command {
        Command::Shell(line) => vec![line],
        Command::Argv(arguments) => arguments.iter().filter_map(text_of).collect(),
    };
    for name in texts.into_iter().flat_map(|text| Syntax::TemplateBesideVariables.names(text)) {
        if !key_tables::is_known(key_tables::OF_HOOKS, name) {
            let message = format!("`{{{{ {name} }}}}` is not a placeholder of hooks, and is left as it is");
            let help = suggest::did_you_mean_or_known(name, &key_tables::placeholder_names(key_tables::OF_HOOKS));
            d.report(Code::UnknownTemplateVariable, node.span, message, help);
        }
    }
    Some(command)
}

fn text_of(argument: &Argument) -> Option<&str> {
    match argument {
        Argument::Text(text) => Some(text),
        Argument::Path(_) => None,
    }
}

fn object(node: &Node, what: &str, may_reset: bool, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Parts> {
    let mut fields = Fields::new(node, WrittenHook::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    sealing::read(&mut fields, &mut parts, scope, d);
    let (cwd, command, reset) = (fields.get("cwd"), fields.get_renamed("command", d), fields.get("reset"));
    fields.finish(d);
    if let (Some(entry), false) = (reset, may_reset) {
        let message = format!("`reset` has no meaning in {what}");
        d.report(Code::SettingConflict, entry.key_span, message, "write it in `before_each` or `after_each`");
    }
    if command.is_none() && reset.is_none() {
        d.report(Code::InvalidHook, node.span, format!("{what} has no `command`"), "add `command`");
    }
    let directory = cwd.and_then(|entry| scope.find(&entry.value, "`cwd`", PathKind::Directory, d));
    if let Some(entry) = command {
        let path = directory.as_ref().map(|found| found.path.as_path());
        let mut found = Diagnostics::new();
        parts.make("command", read_command(&entry.value, "`command`", scope, path, &mut found));
        if cwd.is_some() && directory.is_none() {
            command::forgive_paths(&mut found);
        }
        d.append(found);
    }
    if let Some(found) = directory {
        parts.set("cwd", Written::made(found.reference));
    }
    Some(parts)
}
