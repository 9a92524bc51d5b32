//! The command of a target with the values of its variables.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{HealthCheck, PathRef, Probe};

use crate::agents::command::cli_agent::CliAgent;
use crate::agents::command::command_line::CommandLine;
use crate::model::interpolation::{self, Unresolved};
use crate::model::suite_location::SuiteLocation;

/// A command with the values of its variables.
#[derive(Debug)]
pub(crate) struct ResolvedCommand<'a> {
    pub(crate) agent: &'a CliAgent,
    pub(crate) command: CommandLine,
    pub(crate) files_format: String,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) healthcheck: Option<HealthCheck>,
    /// Directory of the target, where a case has no workspace.
    cwd: Option<PathRef>,
}

impl CliAgent {
    /// Names of the variables that its entry uses.
    pub(crate) fn variables(&self) -> BTreeSet<String> {
        let target = &self.target;
        let (probe, probe_cwd) = match target.healthcheck.as_ref().map(|check| &check.probe) {
            Some(Probe::Url(url)) => (Some(url), None),
            Some(Probe::Command { command, cwd }) => (Some(command), cwd.as_ref()),
            None => (None, None),
        };
        let directories = target.cwd.iter().chain(probe_cwd).map(|cwd| &cwd.path);
        let texts =
            [&target.command, &target.files_format].into_iter().chain(target.env.iter().map(|(_, value)| value));
        texts.chain(probe).chain(directories).flat_map(|text| Syntax::Variable.names(text)).map(str::to_owned).collect()
    }

    /// Limit of a call where neither the run nor the case sets one.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.target.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// Replaces the variables by their values.
    pub(crate) fn resolve(&self, lookup: &impl Fn(&str) -> Option<String>) -> Result<ResolvedCommand<'_>, Unresolved> {
        let fill = |text: &str, key: &str| interpolation::fill(text, key, &self.location, lookup);
        let directory = |cwd: &Option<PathRef>, key: &str| match cwd {
            Some(cwd) if Syntax::Variable.is_in(&cwd.path) => {
                let around = self.file.parent().unwrap_or(&self.file);
                let path = around.join(fill(&cwd.path, key)?).to_string_lossy().into_owned();
                Ok(Some(PathRef::found(cwd.written.clone(), path)))
            }
            _ => Ok(cwd.clone()),
        };
        let target = &self.target;
        let command = CommandLine::read(&target.command, |name| {
            lookup(name).ok_or_else(|| interpolation::unset(name, "command", &self.location))
        })?;
        let env = target.env.iter().map(|(name, value)| Ok((name.clone(), fill(value, &format!("env.{name}"))?)));
        let healthcheck = target.healthcheck.as_ref().map(|check| {
            let probe = match &check.probe {
                Probe::Url(url) => Probe::Url(fill(url, "healthcheck.url")?),
                Probe::Command { command, cwd } => Probe::Command {
                    command: fill(command, "healthcheck.command")?,
                    cwd: directory(cwd, "healthcheck.cwd")?,
                },
            };
            Ok(HealthCheck { probe, timeout_seconds: check.timeout_seconds })
        });
        let healthcheck = healthcheck.transpose()?;
        Ok(ResolvedCommand {
            agent: self,
            command,
            files_format: fill(&target.files_format, "files_format")?,
            env: env.collect::<Result<_, _>>()?,
            healthcheck,
            cwd: directory(&target.cwd, "cwd")?,
        })
    }
}

impl ResolvedCommand<'_> {
    /// The directory in which it runs where a case has no workspace; `None`: an empty workspace.
    pub(crate) fn own_directory(&self, places: &SuiteLocation) -> Option<PathBuf> {
        match &self.cwd {
            Some(cwd) => Some(places.resolve(cwd)),
            None => self.agent.target.in_suite_directory.then(|| places.suite_dir.clone()),
        }
    }
}
