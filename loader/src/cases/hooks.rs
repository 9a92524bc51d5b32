//! `hooks`: commands run around trials.

use std::path::Path;

use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Argument, Command, Hook, Hooks, PathRef, Reset};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths::{Kind, Scope};
use crate::fields::{Fields, command};
use crate::keys::placeholder;
use crate::keys::workspace::{HOOK, HOOKS, RESETS};
use crate::read::node::{Data, Entry, Node};
use crate::{fields, suggest};

/// The name of each hook, whether it may reset the workspace, and its timeout.
const NAMES: [(&str, bool, u64); 4] = [
    ("before_all", false, 60_000),
    ("before_each", true, 60_000),
    ("after_each", true, 30_000),
    ("after_all", false, 30_000),
];

/// A hook as written: missing keys are taken from the suite's hook, then from the defaults.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenHook {
    command: Option<Command>,
    timeout_ms: Option<u64>,
    cwd: Option<PathRef>,
    reset: Option<Reset>,
}

/// Hooks of a workspace that several runs share.
const OF_REUSED_WORKSPACES: &[&str] = &["on_reuse", "on_finish"];

/// The hooks of one `workspace` or target.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenHooks {
    enabled: Option<bool>,
    /// In the order of [`NAMES`].
    hooks: [Option<WrittenHook>; 4],
}

pub(crate) fn read(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> WrittenHooks {
    if node.as_mapping().is_none() {
        return invalid(
            node,
            format!("`hooks` must be a mapping, found {}", node.kind()),
            "write `before_each: {command: …}`",
            d,
        )
        .unwrap_or_default();
    }
    let Some(mut fields) = Fields::new(node, &HOOKS, d) else { return WrittenHooks::default() };
    let set = WrittenHooks {
        enabled: fields.read("enabled", fields::boolean, d),
        hooks: NAMES.map(|(name, may_reset, _)| fields.get(name).and_then(|entry| hook(entry, may_reset, scope, d))),
    };
    for name in OF_REUSED_WORKSPACES {
        fields.no_effect(name, d);
    }
    for entry in fields.rest() {
        let help = suggest::did_you_mean_or_known(&entry.key, &fields.known());
        d.push(
            Diagnostic::new(Code::InvalidHook, format!("unknown hook `{}`", entry.key))
                .at(entry.key_span)
                .help(help)
                .fix_if(fields.certain_key(entry)),
        );
    }
    set
}

fn invalid<T>(node: &Node, message: String, help: &str, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::InvalidHook, node.span, message, help, d)
}

fn hook(entry: &Entry, may_reset: bool, scope: Scope<'_>, d: &mut Diagnostics) -> Option<WrittenHook> {
    let (node, what) = (&entry.value, fields::label(entry));
    match &node.data {
        Data::String(_) | Data::Sequence(_) => {
            let command = read_command(node, &what, scope, None, d)?;
            Some(WrittenHook { command: Some(command), ..WrittenHook::default() })
        }
        Data::Mapping(_) => object(node, &what, may_reset, scope, d),
        _ => {
            let message = format!("{what} must be a command or a mapping, found {}", node.kind());
            invalid(node, message, "write `{command: …}`", d)
        }
    }
}

/// A command; each unknown placeholder is a warning.
fn read_command(node: &Node, what: &str, scope: Scope<'_>, cwd: Option<&Path>, d: &mut Diagnostics) -> Option<Command> {
    let command = command::read(node, what, scope, cwd, d)?;
    let texts: Vec<&str> = match &command {
        Command::Shell(line) => vec![line],
        Command::Argv(arguments) => arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Text(text) => Some(text.as_str()),
                Argument::Path(_) => None,
            })
            .collect(),
    };
    for name in texts.into_iter().flat_map(|text| Syntax::TemplateBesideVariables.names(text)) {
        if !placeholder::is_known(placeholder::OF_HOOKS, name) {
            let message = format!("`{{{{ {name} }}}}` is not a placeholder of hooks, and is left as it is");
            let help = suggest::did_you_mean_or_known(name, &placeholder::names(placeholder::OF_HOOKS));
            d.report(Code::UnknownTemplateVariable, node.span, message, help);
        }
    }
    Some(command)
}

fn object(node: &Node, what: &str, may_reset: bool, scope: Scope<'_>, d: &mut Diagnostics) -> Option<WrittenHook> {
    let mut fields = Fields::new(node, &HOOK, d)?;
    let cwd_entry = fields.get("cwd");
    let cwd = cwd_entry.and_then(|entry| scope.find(&entry.value, "`cwd`", Kind::Directory, d));
    let command_entry = fields.get_renamed("command", d);
    let reset_entry = fields.get("reset");
    let timeout_ms = fields
        .get_renamed("timeout_ms", d)
        .and_then(|entry| fields::integer(&entry.value, "`timeout_ms`", 1, u64::MAX, d));
    fields.finish(d);
    let reset = reset_entry.and_then(|entry| fields::choice(&entry.value, "`reset`", RESETS, d));
    if let (Some(entry), false) = (reset_entry, may_reset) {
        d.report(
            Code::SettingConflict,
            entry.key_span,
            format!("`reset` has no meaning in {what}"),
            "write it in `before_each` or `after_each`",
        );
    }
    if command_entry.is_none() && reset_entry.is_none() {
        d.report(Code::InvalidHook, node.span, format!("{what} has no `command`"), "add `command`");
    }
    let directory = cwd.as_ref().map(|found| found.path.as_path());
    let mut found = Diagnostics::new();
    let command = command_entry.and_then(|entry| read_command(&entry.value, "`command`", scope, directory, &mut found));
    if cwd_entry.is_some() && cwd.is_none() {
        command::forgive_paths(&mut found);
    }
    d.append(found);
    Some(WrittenHook { command, timeout_ms, cwd: cwd.map(|found| found.reference), reset })
}

impl WrittenHooks {
    /// These hooks over a suite's: hook by hook, key by key.
    pub(crate) fn over(self, suite: &WrittenHooks) -> WrittenHooks {
        let mut suite_hooks = suite.hooks.iter();
        let hooks = self.hooks.map(|hook| over(hook, suite_hooks.next().and_then(Option::as_ref)));
        WrittenHooks { enabled: self.enabled.or(suite.enabled), hooks }
    }

    /// The hooks with their defaults; none at all where they are turned off.
    pub(crate) fn into_hooks(self) -> Hooks {
        if self.enabled == Some(false) {
            return Hooks::default();
        }
        let mut timeouts = NAMES.iter().map(|(.., timeout_ms)| *timeout_ms);
        let [before_all, before_each, after_each, after_all] =
            self.hooks.map(|hook| hook.zip(timeouts.next()).map(|(hook, timeout_ms)| hook.into_hook(timeout_ms)));
        Hooks { before_all, before_each, after_each, after_all }
    }

    /// Lets hooks without `cwd` run in `directory`.
    pub(crate) fn default_cwd(&mut self, directory: &PathRef) {
        for hook in self.hooks.iter_mut().flatten() {
            hook.cwd.get_or_insert_with(|| directory.clone());
        }
    }
}

fn over(case: Option<WrittenHook>, suite: Option<&WrittenHook>) -> Option<WrittenHook> {
    match (case, suite.cloned()) {
        (Some(case), Some(suite)) => Some(WrittenHook {
            command: case.command.or(suite.command),
            timeout_ms: case.timeout_ms.or(suite.timeout_ms),
            cwd: case.cwd.or(suite.cwd),
            reset: case.reset.or(suite.reset),
        }),
        (case, suite) => case.or(suite),
    }
}

impl WrittenHook {
    fn into_hook(self, timeout_ms: u64) -> Hook {
        Hook {
            command: self.command,
            timeout_ms: self.timeout_ms.unwrap_or(timeout_ms),
            cwd: self.cwd,
            reset: self.reset.unwrap_or_default(),
        }
    }
}
