//! The command of a target with the values of its variables.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{CliTarget, HealthProbe, PathRef};

use crate::agents::command::cli_agent::CliAgent;
use crate::agents::command::command_line::CommandLine;
use crate::model::interpolation::{self, Unresolved};
use crate::model::suite_location::SuiteLocation;

/// A command with the values of its variables.
#[derive(Debug)]
pub(crate) struct ResolvedCommand<'a> {
    pub(crate) agent: &'a CliAgent,
    pub(crate) command: CommandLine,
    /// The target of the agent, with the values of the variables except in its command.
    pub(crate) target: CliTarget,
}

impl CliAgent {
    /// Names of the variables that its entry uses.
    pub(crate) fn variables(&self) -> BTreeSet<String> {
        let names: RefCell<BTreeSet<String>> = RefCell::default();
        let lookup = |name: &str| {
            names.borrow_mut().insert(name.to_owned());
            Some(String::new())
        };
        // There are no errors: every variable has a value.
        let _ = self.resolve(&lookup);
        names.into_inner()
    }

    /// Limit of a call where neither the run nor the case sets one.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.target.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// Replaces the variables by their values.
    pub(crate) fn resolve(&self, lookup: &impl Fn(&str) -> Option<String>) -> Result<ResolvedCommand<'_>, Unresolved> {
        let filled = |text: &str, key: &str| interpolation::fill(text, key, &self.location, lookup);
        let fill = |text: &mut String, key: &str| filled(text, key).map(|filled| *text = filled);
        let around = self.file.parent().unwrap_or(&self.file);
        let fill_directory = |cwd: &mut Option<PathRef>, key: &str| match cwd {
            Some(cwd) if Syntax::Variable.is_in(&cwd.path) => {
                cwd.path = around.join(filled(&cwd.path, key)?).to_string_lossy().into_owned();
                Ok(())
            }
            _ => Ok(()),
        };
        let mut target = self.target.clone();
        let command = CommandLine::read(&target.command, |name| {
            lookup(name).ok_or_else(|| interpolation::unset(name, "command", &self.location))
        })?;
        match target.healthcheck.as_mut().map(|check| &mut check.probe) {
            Some(HealthProbe::Url(url)) => fill(url, "healthcheck.url")?,
            Some(HealthProbe::Command { command, cwd }) => {
                fill(command, "healthcheck.command")?;
                fill_directory(cwd, "healthcheck.cwd")?;
            }
            None => {}
        }
        fill(&mut target.files_format, "files_format")?;
        for server in target.mcp.iter_mut().flat_map(|mcp| &mut mcp.servers) {
            let key = |key: &str| format!("mcp.servers.{}.{key}", server.name);
            let (of_command, of_args, of_env) = (key("command"), key("args"), key("env"));
            fill(&mut server.command, &of_command)?;
            server.args.iter_mut().try_for_each(|argument| fill(argument, &of_args))?;
            server.env.iter_mut().try_for_each(|(_, value)| fill(value, &of_env))?;
        }
        target.env.iter_mut().try_for_each(|(name, value)| fill(value, &format!("env.{name}")))?;
        fill_directory(&mut target.cwd, "cwd")?;
        for (key, paths) in [("read", &mut target.sealing.read), ("write", &mut target.sealing.write)] {
            for path in paths.iter_mut().filter(|path| Syntax::Variable.is_in(&path.path)) {
                path.path = around.join(filled(&path.path, key)?).to_string_lossy().into_owned();
            }
        }
        Ok(ResolvedCommand { agent: self, command, target })
    }
}

impl ResolvedCommand<'_> {
    /// The directory in which it runs where a case has no workspace; `None`: an empty workspace.
    pub(crate) fn own_directory(&self, places: &SuiteLocation) -> Option<PathBuf> {
        match &self.target.cwd {
            Some(cwd) => Some(places.resolve(cwd)),
            None => self.target.in_suite_directory.then(|| places.suite_dir.clone()),
        }
    }
}
