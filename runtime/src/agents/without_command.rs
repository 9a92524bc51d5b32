//! Takes the place of `command` in a build without the feature `cli-agents`: no agent and no judge is a command of a targets file.

use crate::model::agent::LoadTargets;

pub(crate) fn loader() -> Option<LoadTargets> {
    None
}

pub(crate) mod cli_agent {
    use std::collections::BTreeSet;
    use std::convert::Infallible;
    use std::path::PathBuf;
    use std::time::Duration;

    use evalsuite_schema::{AcpTarget, CliTarget};

    use super::resolved_command::ResolvedCommand;
    use crate::model::agent::{Targets, UnusableTarget};
    use crate::model::interpolation::Unresolved;

    /// There is none.
    #[derive(Debug, Clone)]
    pub(crate) struct CliAgent {
        pub(crate) name: String,
        pub(crate) file: PathBuf,
        pub(crate) target: CliTarget,
        pub(crate) acp: Option<Box<AcpTarget>>,
        never: Infallible,
    }

    impl CliAgent {
        pub(crate) fn select(
            _: Targets,
            name: &str,
            _: impl Fn(&str) -> Option<String>,
        ) -> Result<Self, UnusableTarget> {
            Err(UnusableTarget(format!("target `{name}` needs the feature `cli-agents` of evalsuite")))
        }

        pub(crate) fn variables(&self) -> BTreeSet<String> {
            match self.never {}
        }

        pub(crate) fn limit(&self) -> Option<Duration> {
            match self.never {}
        }

        pub(crate) fn resolve(&self, _: &impl Fn(&str) -> Option<String>) -> Result<ResolvedCommand<'_>, Unresolved> {
            match self.never {}
        }
    }
}

pub(crate) mod resolved_command {
    use std::convert::Infallible;
    use std::path::{Path, PathBuf};

    use evalsuite_schema::CliTarget;

    use super::cli_agent::CliAgent;
    use super::command_call::{CommandAnswer, CommandCall};
    use crate::model::command::CommandEnvironment;
    use crate::model::suite_location::SuiteLocation;
    use crate::platform::redaction::Redactor;

    /// There is none.
    #[derive(Debug)]
    pub(crate) struct ResolvedCommand<'a> {
        pub(crate) agent: &'a CliAgent,
        pub(crate) target: CliTarget,
        never: Infallible,
    }

    impl ResolvedCommand<'_> {
        pub(crate) fn own_directory(&self, _: &SuiteLocation) -> Option<PathBuf> {
            match self.never {}
        }

        pub(crate) fn check_health(
            &self,
            _: &Path,
            _: &SuiteLocation,
            _: &CommandEnvironment,
            _: &Redactor,
        ) -> Result<(), String> {
            match self.never {}
        }

        pub(crate) fn call(&self, _: &CommandCall<'_>) -> CommandAnswer {
            match self.never {}
        }
    }
}

pub(crate) mod command_call {
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use evalsuite_records::record::Note;

    use super::output_form::Writer;
    use crate::agents::mcp::McpSession;
    use crate::model::command::CommandEnvironment;
    use crate::model::outcome::Outcome;
    use crate::platform::redaction::Redactor;
    use crate::platform::sealed::SealedStart;
    use crate::platform::untrusted::UntrustedDirectory;

    #[allow(dead_code, reason = "nothing is called")]
    pub(crate) struct CommandCall<'a> {
        pub(crate) prompt: &'a str,
        pub(crate) files: &'a [PathBuf],
        pub(crate) case_id: &'a str,
        pub(crate) trial: u32,
        pub(crate) directory: &'a UntrustedDirectory,
        pub(crate) cwd: &'a Path,
        pub(crate) environment: &'a CommandEnvironment,
        pub(crate) limit: Duration,
        pub(crate) writer: Writer,
        pub(crate) keep: bool,
        pub(crate) redactor: &'a Redactor,
        pub(crate) mcp: Option<&'a McpSession>,
        pub(crate) seal: Option<&'a SealedStart>,
    }

    pub(crate) struct CommandAnswer {
        pub(crate) result: Result<(), CommandFailure>,
        pub(crate) reported: Outcome,
        pub(crate) notes: Vec<Note>,
        pub(crate) log: Option<String>,
    }

    #[allow(dead_code, reason = "nothing is called")]
    pub(crate) enum CommandFailure {
        TimedOut(String),
        Failed(String),
    }
}

pub(crate) mod output_form {
    pub(crate) enum Writer {
        Agent,
        Judge,
    }
}
