//! `hooks`: commands run around trials.

use std::path::Path;

use evalsuite_schema::{Argument, Command, Hook, Hooks, PathRef, Reset, placeholder::Syntax};

use crate::{
    diagnostic::{Code, Diagnostics},
    fields::{
        self, Fields, command,
        paths::{Kind, Scope},
    },
    read::node::{Data, Entry, Node},
    suggest,
};

/// What a command may hold in double braces.
const PLACEHOLDERS: &[&str] =
    &["workspace_path", "test_id", "eval_run_id", "case_input", "case_metadata", "suite_dir", "case_dir", "target"];
const BEFORE_MS: u64 = 60_000;
const AFTER_MS: u64 = 30_000;
const RESETS: &[(&str, Reset)] = &[("none", Reset::None), ("fast", Reset::Fast), ("strict", Reset::Strict)];

/// A hook as written: missing keys are taken from the suite's hook, then from the defaults.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenHook {
    command: Option<Command>,
    timeout_ms: Option<u64>,
    cwd: Option<PathRef>,
    reset: Option<Reset>,
}

/// The hooks of one `workspace` or target.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenHooks {
    enabled: Option<bool>,
    before_all: Option<WrittenHook>,
    before_each: Option<WrittenHook>,
    after_each: Option<WrittenHook>,
    after_all: Option<WrittenHook>,
}

pub(crate) fn read(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> WrittenHooks {
    if node.as_mapping().is_none() {
        invalid(
            node,
            format!("`hooks` must be a mapping, found {}", node.kind()),
            "write `before_each: {command: …}`",
            d,
        );
        return WrittenHooks::default();
    }
    let Some(mut fields) = Fields::new(node, "`hooks`", d) else { return WrittenHooks::default() };
    let set = WrittenHooks {
        enabled: fields.get("enabled").and_then(|entry| fields::boolean(&entry.value, "`enabled`", d)),
        before_all: fields.get("before_all").and_then(|entry| hook(entry, false, scope, d)),
        before_each: fields.get("before_each").and_then(|entry| hook(entry, true, scope, d)),
        after_each: fields.get("after_each").and_then(|entry| hook(entry, true, scope, d)),
        after_all: fields.get("after_all").and_then(|entry| hook(entry, false, scope, d)),
    };
    for entry in fields.rest() {
        let help = suggest::did_you_mean_or_known(&entry.key, fields.known());
        d.report(Code::InvalidHook, entry.key_span, format!("unknown hook `{}`", entry.key), help);
    }
    set
}

fn invalid(node: &Node, message: String, help: &str, d: &mut Diagnostics) {
    d.report(Code::InvalidHook, node.span, message, help);
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
            invalid(node, message, "write `{command: …}`", d);
            None
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
        if !PLACEHOLDERS.contains(&name) {
            let message = format!("`{{{{ {name} }}}}` is not a placeholder of hooks, and is left as it is");
            let help = suggest::did_you_mean_or_known(name, PLACEHOLDERS);
            d.report(Code::UnknownTemplateVariable, node.span, message, help);
        }
    }
    Some(command)
}

fn object(node: &Node, what: &str, may_reset: bool, scope: Scope<'_>, d: &mut Diagnostics) -> Option<WrittenHook> {
    let mut fields = Fields::new(node, "a hook", d)?;
    let cwd_entry = fields.get("cwd");
    let cwd = cwd_entry.and_then(|entry| scope.find(&entry.value, "`cwd`", Kind::Directory, d));
    let command_entry = fields.get_renamed("command", &["script"], d);
    let reset_entry = fields.get("reset");
    let timeout_ms = fields
        .get_renamed("timeout_ms", &["timeoutMs"], d)
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
        invalid(node, format!("{what} has no `command`"), "add `command`", d);
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
        WrittenHooks {
            enabled: self.enabled.or(suite.enabled),
            before_all: over(self.before_all, &suite.before_all),
            before_each: over(self.before_each, &suite.before_each),
            after_each: over(self.after_each, &suite.after_each),
            after_all: over(self.after_all, &suite.after_all),
        }
    }

    /// The hooks with their defaults; none at all where they are turned off.
    pub(crate) fn into_hooks(self) -> Hooks {
        if self.enabled == Some(false) {
            return Hooks::default();
        }
        Hooks {
            before_all: self.before_all.map(|hook| hook.into_hook(BEFORE_MS)),
            before_each: self.before_each.map(|hook| hook.into_hook(BEFORE_MS)),
            after_each: self.after_each.map(|hook| hook.into_hook(AFTER_MS)),
            after_all: self.after_all.map(|hook| hook.into_hook(AFTER_MS)),
        }
    }

    /// Lets hooks without `cwd` run in `directory`.
    pub(crate) fn default_cwd(&mut self, directory: &PathRef) {
        let all = [&mut self.before_all, &mut self.before_each, &mut self.after_each, &mut self.after_all];
        for hook in all.into_iter().flatten() {
            hook.cwd.get_or_insert_with(|| directory.clone());
        }
    }
}

fn over(case: Option<WrittenHook>, suite: &Option<WrittenHook>) -> Option<WrittenHook> {
    match (case, suite.clone()) {
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
