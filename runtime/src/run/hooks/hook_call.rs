//! One call of a hook: its command with all values, its log and its record; and hooks that a run still has to run, as its files have them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command as StdCommand;
use std::time::{Duration, Instant};
use std::{fmt, io};

use evalsuite_records::record::{HookRecord, Reason, ReasonCode, SealRecord, Stage};
use evalsuite_schema::discovery::with_slashes;
use evalsuite_schema::json::{FromJson, ToJson, Value, from_value};
use evalsuite_schema::sorting::sort_by;
use evalsuite_schema::{Command, Hook, Location, SealMode, Workspace};

use crate::model::command::{CommandSeal, SealDefaults};
use crate::model::interpolation;
use crate::platform::excerpt::last_chars;
use crate::platform::files::replace_file;
use crate::platform::process::{self, Detached, Echo, Finished};
use crate::platform::redaction::{Redactor, without_secrets};
use crate::platform::seal_terms::SealedFiles;
use crate::platform::sealed::named_files;
use crate::platform::untrusted::UntrustedDirectory;
use crate::run::case_report::LOG;
use crate::run::hooks::hook_facts::{HookFacts, filled_command};

/// Characters of a hook's output that its error shows.
const OUTPUT_SHOWN: usize = 2_000;

/// What defines a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ToJson, FromJson)]
pub(crate) enum Scope {
    Target,
    Case,
    Suite,
}

impl Scope {
    fn as_str(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Case => "case",
            Self::Suite => "suite",
        }
    }
}

/// A hook with everything that is needed to run it, also in another process.
#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct HookCall {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) hook: Hook,
    pub(crate) facts: HookFacts,
    /// File for its output.
    pub(crate) log: PathBuf,
    /// Where it is defined, for errors about variables that are not set.
    pub(crate) location: Location,
}

impl HookCall {
    /// Fills in the variables of the command and runs it. Their values are removed from everything that is written. The error is the
    /// reason why a trial or a case ends.
    pub(crate) fn resolve_and_run(&self, redactor: &Redactor, echo: Echo) -> (Option<HookRecord>, Result<(), Reason>) {
        let mut workspace = Workspace::default();
        workspace.hooks.before_all = Some(self.hook.clone());
        let names = interpolation::workspace_variables(&workspace, &self.location);
        let redactor = redactor.and(names.iter().map(String::as_str));
        match interpolation::resolve_workspace(workspace, &self.location) {
            Ok(mut resolved) => {
                let hook = resolved.hooks.before_all.take().unwrap_or_else(|| self.hook.clone());
                Self { hook, ..self.clone() }.run(&redactor, echo)
            }
            Err(unresolved) => {
                let message = format!("hook {}: {}", self.shown(), unresolved.message);
                let reason = Reason::new(Stage::BeforeHooks, ReasonCode::VariableUnset, message);
                (None, Err(reason.with_location(unresolved.location)))
            }
        }
    }

    /// Runs the command. There is no record if there is no command, or it could not be started.
    fn run(&self, redactor: &Redactor, echo: Echo) -> (Option<HookRecord>, Result<(), Reason>) {
        let Some(command) = &self.hook.command else { return (None, Ok(())) };
        let clock = Instant::now();
        let (finished, shown, sealed) = match self.start(command, echo) {
            Ok(finished) => finished,
            Err(failure) => return (None, Err(failure)),
        };
        let took = clock.elapsed();
        let mut record = HookRecord::default();
        record.name = self.name.clone();
        record.scope = self.scope.as_str().to_owned();
        record.exit_code = finished.status.code();
        record.signal = finished.signal();
        record.timed_out = finished.timed_out;
        record.duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        record.log = with_slashes(self.log_of_trial().map_or(&*self.log, |(_, log)| log));
        record.sealed = sealed;
        let logged = self.write_log(&shown, &finished, redactor);
        let failure = self.failure(&finished, redactor);
        (Some(record), failure.map_or(logged, Err))
    }

    fn shown(&self) -> String {
        match (&self.scope, &self.facts.target) {
            (Scope::Target, Some(target)) => format!("`{}` of target `{target}`", self.name),
            (scope, _) => format!("`{}` of the {}", self.name, scope.as_str()),
        }
    }

    fn failed(&self, how: impl fmt::Display) -> Reason {
        Reason::new(Stage::BeforeHooks, ReasonCode::HookFailed, format!("hook {} {how}", self.shown()))
    }

    /// Runs a command to its end; returns its text, too.
    fn start(&self, command: &Command, echo: Echo) -> Result<(Finished, String, Option<SealRecord>), Reason> {
        let written = command;
        let (mut command, shown) = filled_command(command, &self.facts).map_err(|how| self.failed(how))?;
        let places = self.facts.places();
        let cwd = self.hook.cwd.as_ref().map_or_else(|| self.facts.suite_dir.clone(), |cwd| places.resolve(cwd));
        if !cwd.is_dir() {
            return Err(self.failed(format_args!("cannot run: its working directory {} does not exist", cwd.display())));
        }
        let program = command.get_program().to_string_lossy().into_owned();
        command.current_dir(&cwd);
        self.facts.environment(echo).apply(&mut command);
        let seal = self.seal(written, &command, cwd)?;
        let mut input = self.facts.payload().to_string().into_bytes();
        input.push(b'\n');
        // A hook may start a server for all cases.
        let limit = Duration::from_millis(self.hook.timeout_ms);
        process::run_watched(command, input, limit, echo, Some(Detached::Keep), seal.start.as_ref())
            .map(|finished| (finished, shown, seal.record))
            .map_err(|error| self.failed(format_args!("cannot run `{program}`: {error}")))
    }

    /// Whether the command is sealed, and what it may use then: its workspace, and the files that it names.
    fn seal(&self, written: &Command, command: &StdCommand, cwd: PathBuf) -> Result<CommandSeal, Reason> {
        let seals = SealDefaults { hidden: self.facts.hidden.clone(), ..SealDefaults::default() };
        if seals.mode(&self.hook.sealing) == SealMode::Off {
            return Ok(CommandSeal::off());
        }
        let named = match written {
            Command::Shell(line) => named_files::of_line(line, &cwd, command),
            Command::Argv(_) => {
                let words = [command.get_program()].into_iter().chain(command.get_args()).filter_map(OsStr::to_str);
                named_files::of_arguments(words, &cwd)
            }
        };
        let own = Some(self.facts.workspace.clone()).filter(|workspace| workspace.is_dir());
        let files = SealedFiles { named, own: own.into_iter().collect(), working: Some(cwd), ..SealedFiles::default() };
        seals.seal(&self.hook.sealing, &self.facts.places(), files).map_err(|refusal| {
            let message = format!("hook {} cannot run: {}", self.shown(), refusal.message);
            Reason::new(Stage::BeforeHooks, ReasonCode::NotSealed, message)
        })
    }

    fn failure(&self, finished: &Finished, redactor: &Redactor) -> Option<Reason> {
        let how = match finished.status.code() {
            _ if finished.timed_out => format!("did not end within {} ms", self.hook.timeout_ms),
            Some(0) => return None,
            Some(code) => format!("ended with exit code {code}"),
            None => match finished.signal() {
                Some(signal) => format!("was ended by signal {signal}"),
                None => "was ended".to_owned(),
            },
        };
        // Programs write their errors to either stream.
        let output = [finished.stderr.text(), finished.stdout.text()].into_iter().find(|text| !text.trim().is_empty());
        let output = output
            .map(|text| format!(": {}", last_chars(without_secrets(&redactor.apply(&text)).trim(), OUTPUT_SHOWN)))
            .unwrap_or_default();
        Some(self.failed(format_args!("{how}{output}{LOG}{})", self.log.display())))
    }

    /// The directory of the trial, and the path of the log relative to it.
    fn log_of_trial(&self) -> Option<(&Path, &Path)> {
        let (_, directory) = self.facts.trial.as_ref()?;
        Some((directory, self.log.strip_prefix(directory).ok()?))
    }

    fn write_log(&self, command: &str, finished: &Finished, redactor: &Redactor) -> Result<(), Reason> {
        let mut text = format!("$ {command}\n");
        for (name, output) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
            if !output.bytes.is_empty() {
                let cut = if output.truncated { ", its beginning" } else { "" };
                text.push_str(&format!("--- {name}{cut}\n{}", output.text()));
                if !text.ends_with('\n') {
                    text.push('\n');
                }
            }
        }
        self.replace_log(without_secrets(&redactor.apply(&text)).as_bytes()).map_err(|error| {
            self.failed(format_args!("ran, but its log {} cannot be written: {error}", self.log.display()))
        })
    }

    fn replace_log(&self, text: &[u8]) -> io::Result<()> {
        let Some((trial, log)) = self.log_of_trial() else { return replace_file(&self.log, text) };
        let name = log.file_name().unwrap_or_default().to_string_lossy();
        UntrustedDirectory::new(trial).join(log.parent().unwrap_or(log)).write(&name, text)
    }
}

/// Runs hooks after all tests, and adds how each of them ended. The hooks of targets run inside those of the suite. Those that cannot be read
/// stay in the list.
pub(crate) fn run_pending(ended: &mut Vec<Result<(), Reason>>, pending: &mut Vec<Value>, echo: Echo) {
    let mut calls: Vec<HookCall> = Vec::new();
    pending.retain(|hook| match from_value(hook.clone()) {
        Ok(call) => {
            calls.push(call);
            false
        }
        Err(error) => {
            let message = format!("a pending hook cannot be read: {error}");
            ended.push(Err(Reason::new(Stage::BeforeHooks, ReasonCode::HookFailed, message)));
            true
        }
    });
    sort_by(&mut calls, |one, other| (one.scope != Scope::Target).cmp(&(other.scope != Scope::Target)));
    ended.extend(calls.iter().map(|call| call.resolve_and_run(&Redactor::default(), echo).1));
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use evalsuite_schema::{Command as Written, Reset, Sealing};

    use super::*;
    use crate::run::hooks::hook_facts::tests::facts;

    fn call(root: &Path, line: &str, timeout_ms: u64) -> HookCall {
        HookCall {
            name: "before_each".into(),
            scope: Scope::Suite,
            hook: Hook {
                command: Some(Written::Shell(line.into())),
                timeout_ms,
                cwd: None,
                reset: Reset::None,
                sealing: Sealing::default(),
            },
            facts: HookFacts { suite_dir: root.to_owned(), trial: Some((0, root.to_owned())), ..facts() },
            log: root.join("hooks/before_each.log"),
            location: Location::new("suites/x/EVAL.yaml", 3, 5),
        }
    }

    #[test]
    fn a_hook_gets_its_trial_and_leaves_a_log() {
        let root = tempfile::tempdir().unwrap();
        let line = "cat > input.json; echo $EVALSUITE_TRIAL {{target}}; echo problem >&2";
        let (record, result) = call(root.path(), line, 60_000).run(&Redactor::default(), Echo::Off);
        assert!(result.is_ok(), "{result:?}");
        let record = record.unwrap();
        assert_eq!(
            (record.exit_code, record.scope.as_str(), record.log.as_str()),
            (Some(0), "suite", "hooks/before_each.log")
        );
        let log = fs::read_to_string(root.path().join("hooks/before_each.log")).unwrap();
        assert!(log.ends_with("--- stdout\n0 codex\n--- stderr\nproblem\n"), "{log}");
        let input: evalsuite_schema::Value =
            evalsuite_schema::json::from_slice(&fs::read(root.path().join("input.json")).unwrap()).unwrap();
        assert_eq!(input["case_input"], "it's");
    }

    #[test]
    fn every_way_to_fail_has_its_own_message() {
        let root = tempfile::tempdir().unwrap();
        let message = |line: &str, timeout_ms| {
            let (_, result) = call(root.path(), line, timeout_ms).run(&Redactor::default(), Echo::Off);
            result.unwrap_err().message
        };
        assert!(
            message("echo no space >&2; exit 3", 60_000)
                .starts_with("hook `before_each` of the suite ended with exit code 3: no space (log: ")
        );
        assert!(message("echo x; exit 1", 60_000).contains("exit code 1: x"));
        assert!(message("sleep 60", 50).contains("did not end within 50 ms"));
        assert!(message("kill -9 $$", 60_000).contains("was ended by signal 9"));
        let gone = HookCall {
            hook: Hook { cwd: Some(evalsuite_schema::PathRef::found("x", "gone")), ..call(root.path(), "x", 1).hook },
            ..call(root.path(), "x", 1)
        };
        assert!(gone.run(&Redactor::default(), Echo::Off).1.unwrap_err().message.contains("/p/gone does not exist"));
    }

    #[test]
    fn an_unset_variable_is_named_with_its_place() {
        let root = tempfile::tempdir().unwrap();
        let (record, result) = call(root.path(), "echo ${{ TEST_OF_EVALSUITE_NO_SUCH }}", 60_000)
            .resolve_and_run(&Redactor::default(), Echo::Off);
        let trouble = result.unwrap_err();
        assert!(record.is_none() && trouble.message.contains("`TEST_OF_EVALSUITE_NO_SUCH` is not set"), "{trouble:?}");
        assert_eq!(trouble.location.unwrap().line, 3);
    }
}
