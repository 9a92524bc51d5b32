//! Whether a command of a trial is sealed, by its own settings, those of its suite, and the environment.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use evalsuite_records::record::SealRecord;
use evalsuite_schema::{PathRef, SealMode, Sealing};

use crate::model::suite_location::SuiteLocation;
use crate::platform::seal_terms::{SealRefusal, SealedFiles};
use crate::platform::sealed::SealedStart;
use crate::platform::sealed::decision::{SealDecision, decide};

/// What holds for commands that do not say so themselves, and what no sealed command may use.
#[derive(Debug, Clone, Default)]
pub(crate) struct SealDefaults {
    pub(crate) suite: Option<SealMode>,
    pub(crate) environment: Option<SealMode>,
    pub(crate) hidden: Vec<PathBuf>,
}

/// Whether a command is sealed, and how it starts then.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandSeal {
    /// `None`: no command is started.
    pub(crate) record: Option<SealRecord>,
    pub(crate) start: Option<SealedStart>,
}

impl CommandSeal {
    /// Of a command that is not to be sealed.
    pub(crate) fn off() -> Self {
        Self { record: Some(SealRecord::off()), start: None }
    }
}

impl SealDefaults {
    /// The mode of a command with these settings.
    pub(crate) fn mode(&self, own: &Sealing) -> SealMode {
        effective_mode(own.sealed, self.suite, self.environment)
    }

    /// Whether a command with these settings is sealed; the error says why it must not run.
    pub(crate) fn decide(&self, own: &Sealing) -> Result<SealDecision, Box<SealRefusal>> {
        decide(self.mode(own), own)
    }

    /// The same, with what the command may use: `files`, and what its settings name.
    pub(crate) fn seal(
        &self,
        own: &Sealing,
        places: &SuiteLocation,
        files: SealedFiles,
    ) -> Result<CommandSeal, Box<SealRefusal>> {
        let decision = self.decide(own)?;
        let record = Some(decision.record());
        let SealDecision::Sealed(_, rules) = decision else { return Ok(CommandSeal { record, start: None }) };
        let resolved = |paths: &[PathRef]| paths.iter().map(|path| resolved(path, places)).collect();
        let files = SealedFiles {
            hidden: self.hidden.clone(),
            read: resolved(&own.read),
            write: resolved(&own.write),
            ..files
        };
        Ok(CommandSeal { record, start: Some(SealedStart::new(rules, files)?) })
    }
}

/// The mode of a command whose settings say `own`. The environment replaces what files say, except `required`, which it cannot loosen.
fn effective_mode(own: Option<SealMode>, suite: Option<SealMode>, environment: Option<SealMode>) -> SealMode {
    match own.or(suite) {
        Some(SealMode::Required) => SealMode::Required,
        written => environment.or(written).unwrap_or_default(),
    }
}

/// The path on this machine.
fn resolved(path: &PathRef, places: &SuiteLocation) -> PathBuf {
    let inner = path.path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (inner, env::home_dir()) {
        (Some(inner), Some(home)) => home.join(inner.trim_start_matches('/')),
        _ => places.resolve(path),
    }
}

/// What no sealed command may use of a suite whose records are in `output`: the suite, records, recordings and baselines, the target
/// directory of cargo, and the history of the repository that the package is in.
pub(crate) fn hidden_directories(places: &SuiteLocation, output: Option<&Path>) -> Vec<PathBuf> {
    let package = &places.package_root;
    let mut hidden = vec![places.suite_dir.clone(), package.join(".evalsuite"), package.join("target")];
    hidden.extend(output.map(Path::to_owned));
    hidden.extend(target_directory());
    hidden.extend(package.ancestors().map(|directory| directory.join(".git")));
    hidden.retain(|path| path.exists());
    hidden
}

/// The target directory that this program was built in.
fn target_directory() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let program = env::current_exe().ok()?;
        program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").is_file()).map(Path::to_owned)
    };
    FOUND.get_or_init(find).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_replaces_what_files_say_and_does_not_loosen_required() {
        use SealMode::{Auto, Off, Required};
        for (own, suite, environment, expected) in [
            (None, None, None, Off),
            (None, Some(Auto), None, Auto),
            (Some(Off), Some(Required), None, Off),
            (Some(Auto), None, Some(Off), Off),
            (Some(Auto), None, Some(Required), Required),
            (None, None, Some(Auto), Auto),
            (Some(Required), None, Some(Off), Required),
            (None, Some(Required), Some(Auto), Required),
        ] {
            assert_eq!(effective_mode(own, suite, environment), expected, "{own:?} {suite:?} {environment:?}");
        }
    }
}
