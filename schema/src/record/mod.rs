//! What a run writes: one record per trial, one per case, one per run.
//!
//! Records are JSON objects. Times are RFC 3339 UTC with milliseconds, durations whole milliseconds, money US dollars.
//! A field that does not apply is `null`; readers ignore fields they do not know.

mod calibration;
mod case;
mod grader;
mod identity;
mod run;
mod summary;
mod trial;

use serde::{Deserialize, Serialize};

pub use calibration::{CalibrationRecord, CalibrationStatistics, SampleCounts, SampleRecord, Shortfall};
pub use case::{CaseRecord, Rule, Stability, TrialSummary};
pub use grader::{Assertion, CommandRecord, GraderKind, GraderRecord, GraderState, JudgeRecord, Verdict};
pub use identity::CaseIdentity;
pub use run::{CiRun, GitState, HookState, RunRecord, SuiteDiagnostic, SuiteRecord, SuiteRun, SuiteTest};
pub use summary::{Durations, Estimate, GraderMean, OutcomeCounts, PassRate, RunSummary, SuiteSummary, TargetSummary};
pub use trial::{HookRecord, Mode, Note, Started, Timings, TrialRecord, TurnRecord, Usage, Versions, WorkspaceRecord};

use std::time::Duration;

use crate::Location;

/// A duration in milliseconds, as records hold it: whole microseconds and nanoseconds are its fraction.
#[allow(clippy::cast_precision_loss, reason = "2^53 nanoseconds are 104 days")]
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

/// How a trial or a case ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseOutcome {
    /// Graded, and good enough.
    Passed,
    /// Graded, and not good enough.
    Failed,
    /// Not decided: the agent, a grader or the environment failed. Also the outcome of a record that is not finished.
    #[default]
    Error,
    /// Not run, for a reason that is not a defect.
    Skipped,
}

impl CaseOutcome {
    /// The name used in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// Why a trial or a case did not pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reason {
    /// Where in the life of a trial it happened.
    pub stage: Stage,
    /// What happened, as a stable name.
    pub code: ReasonCode,
    /// What happened, for people.
    pub message: String,
    /// The place in the suite's files that is concerned.
    #[serde(default)]
    pub location: Option<Location>,
}

impl Reason {
    /// A reason without a place.
    pub fn new(stage: Stage, code: ReasonCode, message: impl Into<String>) -> Self {
        Self { stage, code, message: message.into(), location: None }
    }

    /// Adds the place in the suite's files.
    pub fn with_location(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }
}

macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident => $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// The name used in records and messages.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

names! {
    /// Where in the life of a trial something happened.
    Stage {
        /// Choice of the cases to run.
        Select => "select",
        /// Variables, programs and judges a case needs.
        Requirements => "requirements",
        /// Cases a case depends on.
        Dependencies => "dependencies",
        /// Limits of cost.
        Budget => "budget",
        /// Directories and values of a trial.
        Setup => "setup",
        /// The trial's working directory.
        Workspace => "workspace",
        /// Hooks before the agent.
        BeforeHooks => "before_hooks",
        /// The agent's call.
        Agent => "agent",
        /// Changes of the workspace and the transcript.
        Capture => "capture",
        /// Graders.
        Grading => "grading",
        /// Hooks after the agent.
        Teardown => "teardown",
    }
}

names! {
    /// What kept a trial or a case from passing.
    ReasonCode {
        /// A variable, program or judge is missing.
        RequirementMissing => "requirement_missing",
        /// The agent asked to be skipped.
        SkipRequested => "skip_requested",
        /// The case was not selected.
        Filtered => "filtered",
        /// The suite wants docker.
        DockerUnsupported => "docker_unsupported",
        /// A case this one depends on did not pass.
        DependencyFailed => "dependency_failed",
        /// A skip, where skips are errors.
        Required => "required",
        /// An environment variable used by the case is not set.
        VariableUnset => "variable_unset",
        /// A file of the suite is missing.
        FileMissing => "file_missing",
        /// The working directory could not be made or read.
        WorkspaceError => "workspace_error",
        /// A repository could not be cloned.
        RepoError => "repo_error",
        /// A hook failed.
        HookFailed => "hook_failed",
        /// The target is not healthy.
        HealthcheckFailed => "healthcheck_failed",
        /// The target cannot be run.
        TargetUnusable => "target_unusable",
        /// The agent returned an error.
        AgentError => "agent_error",
        /// The agent panicked.
        AgentPanic => "agent_panic",
        /// A time limit passed.
        Timeout => "timeout",
        /// A grader broke.
        GraderError => "grader_error",
        /// The judge broke.
        JudgeError => "judge_error",
        /// There is no recording to replay.
        RecordingMissing => "recording_missing",
        /// The recording was made for another input.
        RecordingStale => "recording_stale",
        /// What the agent did cannot be recorded.
        RecordingFailed => "recording_failed",
        /// The run has cost too much.
        BudgetExceeded => "budget_exceeded",
        /// The suite stops after its first error.
        ErrorThresholdExceeded => "error_threshold_exceeded",
        /// The process died during the trial.
        ProcessDied => "process_died",
        /// The score is too low.
        ThresholdNotMet => "threshold_not_met",
        /// A required grader did not pass.
        RequiredGraderFailed => "required_grader_failed",
        /// No grader came to a decision.
        NothingDecided => "nothing_decided",
        /// All graders ask judges that are below what the suite demands of them.
        JudgeBelowBar => "judge_below_bar",
        /// An environment variable or option of the run has a value that makes no sense.
        InvalidSetting => "invalid_setting",
        /// The case uses something this version cannot do.
        Unsupported => "unsupported",
    }
}
