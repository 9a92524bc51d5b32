//! The records of a run: one per trial, one per case, one per run.
//!
//! Records are JSON objects. Times are RFC 3339 UTC with milliseconds, durations are milliseconds, costs are US dollars.
//! A field that does not apply is `null`. Readers ignore unknown fields.

macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident => $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* #[json(rename = $text)] $variant,)+
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

mod baseline_file;
mod calibration;
mod case;
mod decision;
mod grader;
mod identity;
mod pair;
mod probe;
mod run;
mod seal;
mod summary;
mod trial;

use evalsuite_schema::json::{self, FromJson, ToJson};
use evalsuite_schema::{Location, Value};
use serde::de::Error as _;
use serde_json::Error;

#[doc(hidden)]
pub use evalsuite_schema::duration;
pub use evalsuite_schema::{GraderKind, Usage, milliseconds};

pub use baseline_file::{
    AcceptedAnswer, AcceptedAnswers, AcceptedAnswersHeader, AddedTrials, Baseline, BaselineCase, BaselineError,
    BaselineHeader, PassState,
};
pub use calibration::{CalibrationRecord, CalibrationStatistics, SampleCounts, SampleRecord, Shortfall};
pub use case::{
    BaselineResult, CaseRecord, Conditions, DEFAULT_CONFIRMING, Expectation, Rule, Stability, TrialSummary,
};
pub use decision::{DecisionCase, DecisionRecord, DecisionSuite};
pub use grader::{Assertion, CommandRecord, GraderRecord, GraderState, JudgeRecord, Verdict};
pub use identity::{CaseIdentity, SuiteId};
pub use pair::{AnswerPair, PairRecord, PairReply, Side};
pub use probe::{
    Floor, GraderNotRun, ProbeRates, ProbeRecord, ProbeResult, ProbedCase, ProbedGrader, ResultKind, Share,
};
pub use run::{ChosenTests, CiRun, GitState, HookState, RunRecord, SuiteDiagnostic, SuiteRecord, SuiteRun, SuiteTest};
pub use seal::{SealRecord, SealState};
pub use summary::{
    Durations, Estimate, GraderMean, OutcomeCounts, PassRate, RunSummary, SuiteSummary, TargetSummary, UnknownCosts,
    UserCounts,
};
pub use trial::{
    HookRecord, Mode, ModelCalls, Note, Started, Timings, TrialRecord, TurnRecord, UnknownParts, UserEnd, UserRecord,
    Versions, WorkspaceRecord,
};

macro_rules! schemas {
    ($($record:ident => $schema:literal $($read_schema:ident)?,)+) => {
        $(impl $record {
            /// Value of `schema` in records of this version.
            pub const SCHEMA: &'static str = $schema;

            /// A record without data.
            pub fn new() -> Self {
                Self { schema: Self::SCHEMA.to_owned(), ..Self::default() }
            }

            $(fn $read_schema(value: Value) -> json::Result<String> {
                read_schema(value, Self::SCHEMA)
            })?
        })+
    };
}

/// The value of `schema` in a record, which has to be the one of this version: fields of another one may have other meanings.
fn read_schema(value: Value, known: &str) -> json::Result<String> {
    let schema = String::from_json(value)?;
    let problem = || Error::custom(format!("`schema` is `{schema}`, and this version of evalsuite reads `{known}`"));
    if schema == known { Ok(schema) } else { Err(problem()) }
}

schemas! {
    CalibrationRecord => "evalsuite.calibration/1" read_schema,
    CaseRecord => "evalsuite.case/1" read_schema,
    ChosenTests => "evalsuite.chosen/1" read_schema,
    DecisionRecord => "evalsuite.decision/1" read_schema,
    ProbeRecord => "evalsuite.probe/1",
    RunRecord => "evalsuite.run/1" read_schema,
    SuiteRecord => "evalsuite.suite/1" read_schema,
    RunSummary => "evalsuite.summary/1",
    SuiteSummary => "evalsuite.suite_summary/1",
    TrialRecord => "evalsuite.trial/1" read_schema,
    Started => "evalsuite.started/1" read_schema,
}

/// The outcome of a trial or a case: `outcome` in records. (`Outcome` is the return value of an agent.)
///
/// ```
/// use evalsuite_records::record::Status;
///
/// assert_eq!(Status::Failed.as_str(), "failed");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Status {
    /// Graded, and passed.
    Passed,
    /// Graded, and not passed.
    Failed,
    /// Not decided: the agent, a grader or the environment failed. Also the outcome of a record that is not finished.
    #[default]
    Error,
    /// Not run, for a reason that is not a defect.
    Skipped,
}

impl Status {
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
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[non_exhaustive]
pub struct Reason {
    /// The stage of the trial in which it happened.
    pub stage: Stage,
    /// Code of the reason; its name in records is stable.
    pub code: ReasonCode,
    /// Description for people.
    pub message: String,
    /// Location in the suite's files.
    pub location: Option<Location>,
    /// What to do about it, for people.
    #[json(default, skip_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Reason {
    /// A reason without a location and help.
    pub fn new(stage: Stage, code: ReasonCode, message: impl Into<String>) -> Self {
        Self { stage, code, message: message.into(), location: None, help: None }
    }

    /// Sets what to do about it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the location in the suite's files.
    pub fn with_location(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }
}

names! {
    /// Stage of a trial.
    Stage {
        /// Selection of the cases to run.
        Select => "select",
        /// Environment variables, programs and judges that a case requires.
        Requirements => "requirements",
        /// Cases that a case depends on.
        Dependencies => "dependencies",
        /// Budgets.
        Budget => "budget",
        /// Directories and values of a trial.
        Setup => "setup",
        /// The trial's working directory.
        Workspace => "workspace",
        /// Hooks before the agent.
        BeforeHooks => "before_hooks",
        /// The agent's call.
        Agent => "agent",
        /// The simulated user of a conversation.
        User => "user",
        /// Capture of workspace changes and transcript.
        Capture => "capture",
        /// Graders.
        Grading => "grading",
        /// Hooks after the agent.
        Teardown => "teardown",
    }
}

names! {
    /// Code of the reason why a trial or a case did not pass.
    ReasonCode {
        /// A variable, program or judge is missing.
        RequirementMissing => "requirement_missing",
        /// The agent asked to be skipped.
        SkipRequested => "skip_requested",
        /// The case was not selected.
        Filtered => "filtered",
        /// The suite requires Docker, which is not supported.
        DockerUnsupported => "docker_unsupported",
        /// A dependency of the case did not pass.
        DependencyFailed => "dependency_failed",
        /// The case was skipped, and `EVALSUITE_REQUIRE=1` turns skipped cases into errors.
        Required => "required",
        /// An environment variable used by the case is not set.
        VariableUnset => "variable_unset",
        /// A file of the suite is missing.
        FileMissing => "file_missing",
        /// The workspace could not be created or read.
        WorkspaceError => "workspace_error",
        /// A repository could not be cloned.
        RepoError => "repo_error",
        /// A hook failed.
        HookFailed => "hook_failed",
        /// The target is not healthy.
        HealthcheckFailed => "healthcheck_failed",
        /// The command has to be sealed, and the kernel cannot do so.
        NotSealed => "not_sealed",
        /// The target cannot be run.
        TargetUnusable => "target_unusable",
        /// The agent returned an error.
        AgentError => "agent_error",
        /// The agent panicked.
        AgentPanic => "agent_panic",
        /// A time limit was exceeded.
        Timeout => "timeout",
        /// The simulated user could not say anything.
        UserError => "user_error",
        /// The simulated user left its role: nothing is known of the agent.
        UserLeftRole => "user_left_role",
        /// A grader failed.
        GraderError => "grader_error",
        /// The judge failed.
        JudgeError => "judge_error",
        /// There is no cassette to replay, or no recording of the calls of models.
        RecordingMissing => "recording_missing",
        /// The cassette was recorded for another input, or the agent made another call than the recorded ones.
        RecordingStale => "recording_stale",
        /// The agent's call cannot be recorded.
        RecordingFailed => "recording_failed",
        /// The budget is spent.
        BudgetExceeded => "budget_exceeded",
        /// The suite stopped after its first error (`fail_on_error`).
        ErrorThresholdExceeded => "error_threshold_exceeded",
        /// The process died during the trial.
        ProcessDied => "process_died",
        /// The score is below the threshold.
        ThresholdNotMet => "threshold_not_met",
        /// A required grader failed.
        RequiredGraderFailed => "required_grader_failed",
        /// A required grader did not decide.
        RequiredGraderUndecided => "required_grader_undecided",
        /// No grader decided.
        NothingDecided => "nothing_decided",
        /// The canary of the suite is in what the agent said, did or wrote: it saw the answers.
        SawAnswers => "saw_answers",
        /// All graders ask judges that do not meet the suite's requirements for judges.
        JudgeBelowBar => "judge_below_bar",
        /// An environment variable or option of the run is invalid.
        InvalidSetting => "invalid_setting",
        /// The case uses a feature that this version does not support.
        Unsupported => "unsupported",
    }
}
