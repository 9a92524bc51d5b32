//! The command of a target: its entry in the targets file.

use std::path::PathBuf;

use evalsuite_schema::diagnostic::{Code, Diagnostic};
use evalsuite_schema::{CliTarget, Location, Provider};

use crate::model::agent::{Targets, UnusableTarget};

/// A command that is the agent of a target.
#[derive(Debug, Clone)]
pub(crate) struct CliAgent {
    /// Name of the entry, with aliases resolved.
    pub(crate) name: String,
    /// The targets file.
    pub(crate) file: PathBuf,
    /// Where the entry stands in it.
    pub(crate) location: Location,
    pub(crate) target: CliTarget,
}

impl CliAgent {
    /// The command of the entry with a name, or of the one it is an alias of.
    ///
    /// # Errors
    ///
    /// If there is no such entry, or it is not a command.
    pub(crate) fn select(targets: Targets, name: &str) -> Result<Self, UnusableTarget> {
        let Targets { path, file } = targets;
        let mut wanted = name;
        // The loader rejects circles of aliases.
        for _ in 0..=file.targets.len() {
            let Some(entry) = file.targets.iter().find(|entry| entry.name == wanted) else {
                let known: Vec<String> = file.targets.iter().map(|entry| format!("`{}`", entry.name)).collect();
                let message = format!("target `{wanted}` is not defined in {}", path.display());
                let known = format!("known: {}", known.join(", "));
                return Err(Diagnostic::new(Code::TargetNotRunnable, message).help(known).into());
            };
            match &entry.provider {
                Provider::Alias(next) => wanted = next,
                Provider::Cli(target) => {
                    return Ok(Self {
                        name: entry.name.clone(),
                        location: entry.location.clone(),
                        target: (**target).clone(),
                        file: path,
                    });
                }
                Provider::Other(provider) => {
                    let message = format!("target `{wanted}` has provider `{provider}`, which is not a command");
                    let help = format!("pass a Rust agent for it: `agents = {{ \"{name}\" => my_agent }}`");
                    let diagnostic = Diagnostic::new(Code::TargetNotRunnable, message).at(entry.location.clone());
                    return Err(diagnostic.help(help).into());
                }
            }
        }
        let message = format!("`use_target` of `{name}` leads in a circle in {}", path.display());
        Err(Diagnostic::new(Code::TargetsFile, message).into())
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{TargetEntry, TargetsFile};

    use super::*;

    fn select(name: &str) -> Result<String, String> {
        let cli = CliTarget {
            command: "run".into(),
            cwd: None,
            timeout_seconds: None,
            files_format: "{path}".into(),
            healthcheck: None,
            env: Vec::new(),
            keep_temp_files: false,
            verbose: false,
        };
        let entry = |name: &str, line, provider| TargetEntry {
            name: name.into(),
            location: Location::new("targets.yaml", line, 5),
            provider,
        };
        let targets = vec![
            entry("default", 2, Provider::Alias("nightly".into())),
            entry("nightly", 3, Provider::Alias("mini".into())),
            entry("mini", 4, Provider::Cli(Box::new(cli))),
            entry("codex", 5, Provider::Other("codex-cli".into())),
            entry("round", 6, Provider::Alias("round".into())),
        ];
        let targets = Targets { path: "/p/targets.yaml".into(), file: TargetsFile { targets } };
        CliAgent::select(targets, name).map(|agent| agent.name).map_err(|error| error.to_string())
    }

    #[test]
    fn aliases_lead_to_a_command() {
        assert_eq!(select("default").as_deref(), Ok("mini"));
        assert_eq!(select("mini").as_deref(), Ok("mini"));
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
    }
}
