//! Commands that run around trials.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::keys::{Keys as _, Type};
use crate::{Command, PathRef, Sealing};

/// Commands that run around trials. A hook is a command, or a mapping with more settings.
#[derive(Debug, Clone, Default, Keys)]
#[keys(id = "hooks")]
#[also(on_reuse: Any, "{command: [./reset]}", "Runs where another tool uses a workspace again.",
    no_effect = "delete it: every trial gets a workspace of its own")]
#[also(on_finish: Any, "{command: [./reset]}", "Runs where another tool is done with a workspace.",
    no_effect = "delete it: every trial gets a workspace of its own")]
pub struct WrittenHooks {
    /// Whether the hooks run.
    #[key(Boolean, "false", default = "`true`")]
    pub enabled: Option<bool>,
    /// Runs once per run and suite, before the first trial.
    #[key(HOOK, "{command: [./start_database]}", by_hand)]
    pub before_all: Option<WrittenHook>,
    /// Runs before every trial.
    #[key(HOOK, "\"psql -f {{case_dir}}/seed.sql\"", by_hand)]
    pub before_each: Option<WrittenHook>,
    /// Runs after every trial, also after an error.
    #[key(HOOK, "{command: [./collect_logs], timeout_ms: 10000}", by_hand)]
    pub after_each: Option<WrittenHook>,
    /// Runs once, after the last trial of the suite.
    #[key(HOOK, "[./stop_database]", by_hand)]
    pub after_all: Option<WrittenHook>,
}

const HOOK: Type = Type::OneOf(&[Type::Command, Type::Object(WrittenHook::TABLE)]);

/// A hook with settings. It gets a JSON object on standard input (see the protocols).
#[derive(Debug, Clone, Default, Keys)]
#[keys(id = "hook", what = "a hook")]
pub struct WrittenHook {
    /// Working directory.
    #[key(Directory, "./scripts", default = "the suite's directory; in a workspace file, its directory", by_hand)]
    pub cwd: Option<PathRef>,
    /// What runs. Optional with `reset`.
    #[key(Command, "[./scripts/seed.sh, \"{{test_id}}\"]", old("script"), by_hand)]
    #[key(codes(InvalidHook, InvalidCommand, MissingPath, ArgumentNotFound, UnknownTemplateVariable))]
    pub command: Option<Command>,
    /// Returns the workspace to its state before the trials: `fast` leaves files that git ignores alone, `strict` removes
    /// them, too. Only in `before_each` and `after_each`.
    #[key(Choice(Reset::WORDS), "fast", default = "`none`", codes(SettingConflict))]
    pub reset: Option<Reset>,
    /// Time limit.
    #[key(Integer(1, u64::MAX), "10000")]
    #[key(old("timeoutMs"), default = "60000 before, 30000 after trials", unit = "milliseconds")]
    pub timeout_ms: Option<u64>,
    /// What the command may use.
    #[key(flatten)]
    pub sealing: Sealing,
}

impl WrittenHooks {
    /// These hooks of a case over those of its suite: hook by hook, key by key.
    #[must_use]
    pub fn over(self, suite: &Self) -> Self {
        let over = |case: Option<WrittenHook>, suite: &Option<WrittenHook>| match (case, suite.clone()) {
            (Some(case), Some(suite)) => Some(WrittenHook {
                command: case.command.or(suite.command),
                timeout_ms: case.timeout_ms.or(suite.timeout_ms),
                cwd: case.cwd.or(suite.cwd),
                reset: case.reset.or(suite.reset),
                sealing: case.sealing.or(&suite.sealing),
            }),
            (case, suite) => case.or(suite),
        };
        Self {
            enabled: self.enabled.or(suite.enabled),
            before_all: over(self.before_all, &suite.before_all),
            before_each: over(self.before_each, &suite.before_each),
            after_each: over(self.after_each, &suite.after_each),
            after_all: over(self.after_all, &suite.after_all),
        }
    }

    /// The hooks with their defaults; none at all where they are turned off.
    pub fn into_hooks(self) -> Hooks {
        if self.enabled == Some(false) {
            return Hooks::default();
        }
        let hook = |written: Option<WrittenHook>, timeout_ms| {
            written.map(|hook| Hook {
                command: hook.command,
                timeout_ms: hook.timeout_ms.unwrap_or(timeout_ms),
                cwd: hook.cwd,
                reset: hook.reset.unwrap_or_default(),
                sealing: hook.sealing,
            })
        };
        Hooks {
            before_all: hook(self.before_all, 60_000),
            before_each: hook(self.before_each, 60_000),
            after_each: hook(self.after_each, 30_000),
            after_all: hook(self.after_all, 30_000),
        }
    }

    /// Lets hooks without `cwd` run in `directory`.
    pub fn default_cwd(&mut self, directory: &PathRef) {
        let Self { before_all, before_each, after_each, after_all, .. } = self;
        for hook in [before_all, before_each, after_each, after_all].into_iter().flatten() {
            hook.cwd.get_or_insert_with(|| directory.clone());
        }
    }
}

/// Commands run around trials.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub struct Hooks {
    /// Once, before the first trial.
    pub before_all: Option<Hook>,
    /// Before every trial.
    pub before_each: Option<Hook>,
    /// After every trial.
    pub after_each: Option<Hook>,
    /// Once, after the last trial.
    pub after_all: Option<Hook>,
}

/// One hook.
#[skip_empty(.., reset, sealing)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub struct Hook {
    /// What runs. `None` for a hook that only resets the workspace.
    pub command: Option<Command>,
    /// Time limit in milliseconds.
    pub timeout_ms: u64,
    /// Working directory.
    pub cwd: Option<PathRef>,
    /// How the workspace is returned to its base before the command.
    pub reset: Reset,
    /// What the command may use.
    pub sealing: Sealing,
}

/// How a workspace is returned to its base.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum Reset {
    /// Not at all.
    #[default]
    None,
    /// Tracked files, and untracked ones that git does not ignore.
    Fast,
    /// Ignored files too.
    Strict,
}
