//! The command of a target: its entry in the targets file, and the command with the values of its variables.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use evalsuite_schema::diagnostics::{Code, Diagnostic};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{AcpTarget, CliTarget, HealthProbe, Location, PathRef, Provider, TargetEntry};

use crate::agents::command::command_line::CommandLine;
use crate::model::agent::{Targets, UnusableTarget};
use crate::model::interpolation::{self, Unresolved};
use crate::model::suite_location::SuiteLocation;

/// A command that is the agent of a target.
#[derive(Debug, Clone)]
pub(crate) struct CliAgent {
    /// Name of the entry, with aliases resolved.
    pub(crate) name: String,
    /// The targets file.
    pub(crate) file: PathBuf,
    /// Location of the entry in it.
    pub(crate) location: Location,
    pub(crate) target: CliTarget,
    /// What holds for an agent that speaks the Agent Client Protocol.
    pub(crate) acp: Option<Box<AcpTarget>>,
}

impl CliAgent {
    /// The command of the entry with a name, or of the one it is an alias of. The name may contain variables.
    pub(crate) fn select(
        targets: Targets,
        name: &str,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, UnusableTarget> {
        let Targets { path, file, broken } = targets;
        let known = || {
            let names = file.targets.iter().map(|entry| &entry.name).chain(broken.iter().map(|(name, _)| name));
            format!("known: {}", names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        };
        let mut named_by: Option<&TargetEntry> = None;
        let mut wanted = name.to_owned();
        // The loader rejects circles of aliases without variables.
        for _ in 0..=file.targets.len() {
            let origin =
                named_by.map(|entry| format!(", named by `use_target` of `{}`", entry.name)).unwrap_or_default();
            let unusable = |code: Code, message: String, place: Option<&TargetEntry>, help: String| {
                let diagnostic = Diagnostic::new(code, message).help(help);
                Err(match place {
                    Some(entry) => diagnostic.at(entry.location.clone()).into(),
                    None => diagnostic.into(),
                })
            };
            if let Some(variable) = Syntax::Variable.names(&wanted).find(|name| lookup(name).is_none()) {
                let message =
                    format!("environment variable `{variable}` is not set, used in target `{wanted}`{origin}");
                return unusable(Code::UnsetVariable, message, named_by, known());
            }
            wanted = Syntax::Variable.fill(&wanted, |name| lookup(name).map(Into::into));
            if let Some((_, problems)) = broken.iter().find(|(name, _)| *name == wanted) {
                return Err(problems.clone());
            }
            let Some(entry) = file.targets.iter().find(|entry| entry.name == wanted) else {
                let message = format!("target `{wanted}`{origin} is not defined in {}", path.display());
                return unusable(Code::TargetNotRunnable, message, named_by, known());
            };
            let (message, help) = match &entry.provider {
                Provider::Alias(next) => {
                    wanted.clone_from(next);
                    named_by = Some(entry);
                    continue;
                }
                Provider::Cli(target) if target.provider_batching => (
                    format!("target `{wanted}` has `provider_batching: true`, which is not supported"),
                    "delete it: one process runs per case".to_owned(),
                ),
                Provider::Acp(_) if cfg!(not(feature = "acp")) => (
                    format!(
                        "target `{wanted}` speaks the Agent Client Protocol, which needs the feature `acp` of evalsuite"
                    ),
                    "`cargo add evalsuite --features acp`, with `--dev` if it is a dev-dependency".to_owned(),
                ),
                Provider::Cli(_) | Provider::Acp(_) => {
                    let (target, acp) = match &entry.provider {
                        Provider::Acp(target) => (target.as_command(), Some(target.clone())),
                        Provider::Cli(target) => ((**target).clone(), None),
                        Provider::Alias(_) | Provider::Other(_) => continue,
                    };
                    let (name, location) = (entry.name.clone(), entry.location.clone());
                    return Ok(Self { name, location, target, acp, file: path });
                }
                Provider::Other(provider) => (
                    format!("target `{wanted}` has provider `{provider}`, which is neither `cli` nor `acp`"),
                    format!("pass a Rust agent for it: `agents = {{ \"{name}\" => my_agent }}`"),
                ),
            };
            return unusable(Code::TargetNotRunnable, message, Some(entry), help);
        }
        let message = format!("`use_target` of `{name}` leads in a circle in {}", path.display());
        Err(Diagnostic::new(Code::TargetsFile, message).into())
    }
}

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

#[cfg(test)]
mod tests {
    use evalsuite_schema::{Sealing, TargetsFile};

    use super::*;

    fn select(name: &str) -> Result<String, String> {
        select_with(name, &[])
    }

    fn select_with(name: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let cli = CliTarget {
            command: "run".into(),
            cwd: None,
            in_suite_directory: false,
            timeout_seconds: None,
            files_format: "{path}".into(),
            healthcheck: None,
            mcp: None,
            env: Vec::new(),
            output: None,
            keep_temp_files: false,
            verbose: false,
            provider_batching: false,
            sealing: Sealing::default(),
        };
        let entry = |name: &str, line, provider| TargetEntry {
            name: name.into(),
            location: Location::new("targets.yaml", line, 5),
            provider,
        };
        let batch = CliTarget { provider_batching: true, ..cli.clone() };
        let targets = vec![
            entry("default", 2, Provider::Alias("nightly".into())),
            entry("nightly", 3, Provider::Alias("mini".into())),
            entry("mini", 4, Provider::Cli(Box::new(cli))),
            entry("codex", 5, Provider::Other("codex-cli".into())),
            entry("round", 6, Provider::Alias("round".into())),
            entry("chosen", 7, Provider::Alias("${{ AGENT_TARGET }}".into())),
            entry("batch", 8, Provider::Cli(Box::new(batch))),
        ];
        let broken = vec![("broken".to_owned(), UnusableTarget("error[E021 missing-key]".to_owned()))];
        let targets = Targets { path: "/p/targets.yaml".into(), file: TargetsFile { targets }, broken };
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        CliAgent::select(targets, name, lookup).map(|agent| agent.name).map_err(|error| error.to_string())
    }

    #[test]
    fn aliases_lead_to_a_command() {
        assert_eq!(select("default").as_deref(), Ok("mini"));
        assert_eq!(select("mini").as_deref(), Ok("mini"));
    }

    #[test]
    fn an_alias_may_be_a_variable() {
        assert_eq!(select_with("chosen", &[("AGENT_TARGET", "default")]).as_deref(), Ok("mini"));
        assert_eq!(select_with("${{ X }}", &[("X", "nightly")]).as_deref(), Ok("mini"), "of an entry of the matrix");
        let names = "known: `default`, `nightly`, `mini`, `codex`, `round`, `chosen`, `batch`, `broken`";
        let unset = select("chosen").unwrap_err();
        assert!(
            unset.starts_with("error[E073 unset-variable]: environment variable `AGENT_TARGET` is not set"),
            "{unset}"
        );
        assert!(unset.contains("named by `use_target` of `chosen`") && unset.contains("targets.yaml:7:5"), "{unset}");
        assert!(unset.contains(names), "{unset}");
        let unknown = select_with("chosen", &[("AGENT_TARGET", "minni")]).unwrap_err();
        assert!(
            unknown.contains("E071 target-not-runnable]: target `minni`, named by `use_target` of `chosen`"),
            "{unknown}"
        );
        assert!(unknown.contains(names), "{unknown}");
        let round = select_with("chosen", &[("AGENT_TARGET", "chosen")]).unwrap_err();
        assert!(round.starts_with("error[E070 targets-file]"), "{round}");
    }

    #[test]
    fn a_target_that_is_not_a_command_is_an_error_with_help() {
        let unknown = select("minni").unwrap_err();
        assert!(
            unknown.starts_with("error[E071 target-not-runnable]: target `minni` is not defined in /p/targets.yaml"),
            "{unknown}"
        );
        assert!(unknown.contains("known: `default`, `nightly`, `mini`"), "{unknown}");
        let other = select("codex").unwrap_err();
        assert!(other.contains("provider `codex-cli`") && other.contains("targets.yaml:5:5"), "{other}");
        assert!(other.contains("`agents = { \"codex\" => my_agent }`"), "{other}");
        assert!(select("round").unwrap_err().starts_with("error[E070 targets-file]"));
        let batch = select("batch").unwrap_err();
        assert!(
            batch.contains("E071") && batch.contains("provider_batching") && batch.contains("targets.yaml:8:5"),
            "{batch}"
        );
        assert_eq!(select("broken").unwrap_err(), "error[E021 missing-key]");
    }
}
