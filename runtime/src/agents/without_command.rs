//! Takes the place of `command` in a build without the feature `cli-agents`: no agent and no judge is a command of a targets file.

use crate::model::agent::LoadTargets;

pub(crate) fn loader() -> Option<LoadTargets> {
    None
}

pub(crate) mod cli_agent {
    use std::collections::BTreeSet;
    use std::convert::Infallible;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use evalsuite_schema::{AcpTarget, CliTarget};

    use crate::agents::{CommandAnswer, CommandCall};
    use crate::model::agent::{Targets, UnusableTarget};
    use crate::model::command::CommandEnvironment;
    use crate::model::interpolation::Unresolved;
    use crate::model::suite_location::SuiteLocation;
    use crate::platform::redaction::Redactor;

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
