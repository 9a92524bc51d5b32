//! Results of graders, in the records of trials.

use std::collections::BTreeMap;

use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson, skip_empty};
use evalsuite_schema::{GraderKind, Location, Object, Value};

use super::{ReasonCode, SealRecord, Usage};

/// One checked statement within the result of a grader. The entries of `assertions` in a suite's files are graders, each of which may
/// check several statements.
///
/// ```
/// use evalsuite_records::record::Assertion;
///
/// let time = "15:00";
/// let assertion = Assertion::new("the card has the right time", time == "14:30")
///     .with_expected("14:30")
///     .with_actual(time)
///     .with_evidence("card.toml: time = \"15:00\"");
/// assert!(!assertion.passed);
/// ```
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
#[non_exhaustive]
pub struct Assertion {
    /// The statement.
    pub text: String,
    /// Whether it is true.
    pub passed: bool,
    /// The expected value.
    pub expected: Option<String>,
    /// The actual value.
    pub actual: Option<String>,
    /// Evidence: a quotation, a line of a log.
    pub evidence: Option<String>,
}

impl Assertion {
    /// A statement, and whether it is true.
    pub fn new(text: impl Into<String>, passed: bool) -> Self {
        Self { text: text.into(), passed, expected: None, actual: None, evidence: None }
    }

    /// Sets the expected value.
    pub fn with_expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Sets the actual value.
    pub fn with_actual(mut self, actual: impl Into<String>) -> Self {
        self.actual = Some(actual.into());
        self
    }

    /// Sets the evidence: a quotation, a line of a log.
    pub fn with_evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence = Some(evidence.into());
        self
    }
}

/// Verdict of a grader.
///
/// ```
/// use evalsuite_records::record::Verdict;
///
/// assert_eq!(Verdict::from_passed(false), Verdict::Fail);
/// assert!((!Verdict::Fail).is_pass());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Verdict {
    /// The answer passes.
    Pass,
    /// The answer fails.
    Fail,
}

impl Verdict {
    /// `Pass` if `passed`.
    pub fn from_passed(passed: bool) -> Self {
        if passed { Self::Pass } else { Self::Fail }
    }

    /// Whether this is `Pass`.
    pub fn is_pass(self) -> bool {
        self == Self::Pass
    }
}

impl std::ops::Not for Verdict {
    type Output = Self;

    fn not(self) -> Self {
        Self::from_passed(!self.is_pass())
    }
}

/// State of a grader's result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum GraderState {
    /// With a value and a verdict.
    Decided,
    /// Without a value and a verdict; it does not count.
    #[default]
    Undecided,
    /// It failed; the trial is an error.
    Error,
}

/// Result of one grader in one trial.
#[skip_empty(lacks_evidence, guard, advisory, metrics)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct GraderRecord {
    /// Name of the grader.
    pub name: String,
    /// Built-in type or name of the registered grader.
    #[json(rename = "type")]
    pub grader_type: String,
    /// Kind of the grader.
    pub kind: GraderKind,
    /// State of the result.
    pub state: GraderState,
    /// 0 to 1, after negation; `None` unless decided.
    pub value: Option<f64>,
    /// `None` unless decided.
    pub verdict: Option<Verdict>,
    /// Lowest value of a passing verdict, 0 to 1.
    pub pass_mark: Option<f64>,
    /// Whether the verdict is `fail` regardless of the value.
    pub forced_fail: bool,
    /// Whether the answer is not in the form that the grader, or a member of it, reads. The verdict is `fail` then, also if the result is
    /// inverted.
    pub lacks_evidence: bool,
    /// Weight in the mean of the trial.
    pub weight: f64,
    /// Whether the trial fails if this grader does not pass.
    pub required: bool,
    /// Whether the trial fails if this grader's verdict is `fail`, without `required`: it checks a limit or the calls of tools and has no
    /// `min_score`, or it is a composite in which such a member, or a required one, did not pass.
    pub guard: bool,
    /// Pass mark in the suite's files.
    pub min_score: Option<f64>,
    /// Whether the result was inverted.
    pub negated: bool,
    /// Why it does not count: its judge does not meet the suite's requirements. `None` if it counts.
    pub advisory: Option<String>,
    /// The assertions, in order.
    pub assertions: Vec<Assertion>,
    /// Named measurements in addition to the value, which do not count: finite numbers.
    pub metrics: BTreeMap<String, f64>,
    /// Explanation of the value, or the reason why the grader did not decide.
    pub rationale: Option<String>,
    /// Free-form data of the grader.
    pub details: Option<Object>,
    /// Message of an error.
    pub error: Option<String>,
    /// Reason code of an error of a judge or its cassette.
    pub code: Option<ReasonCode>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Location of the grader in the suite's files.
    pub location: Location,
    /// Members of a composite.
    pub members: Vec<GraderRecord>,
    /// Calls of a judge.
    pub judge: Option<JudgeRecord>,
    /// The command that was run.
    pub command: Option<CommandRecord>,
}

/// Calls of a judge by a grader.
#[skip_empty(unknown_tokens, unknown_costs, sealed)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct JudgeRecord {
    /// Name of the judge.
    pub name: String,
    /// Model, as reported.
    pub model: Option<String>,
    /// Number of calls.
    pub attempts: u32,
    /// Tokens of all calls.
    pub usage: Option<Usage>,
    /// Cost of all calls in US dollars.
    pub cost_usd: Option<f64>,
    /// Number of calls whose tokens are not known, so that `usage` is a lower bound, or missing.
    pub unknown_tokens: u32,
    /// The same for their cost.
    pub unknown_costs: u32,
    /// SHA-256 of the prompt with `***` for secrets, hexadecimal.
    pub prompt_sha256: String,
    /// Files with the raw replies, relative to the trial directory.
    pub replies: Vec<String>,
    /// Whether the kernel confined the command that judges; `None` if it is not a command.
    pub sealed: Option<SealRecord>,
}

impl JudgeRecord {
    /// Whether the tokens of all calls are known.
    pub fn is_usage_known(&self) -> bool {
        self.usage.is_some() && self.unknown_tokens == 0
    }

    /// Whether the cost of all calls is known.
    pub fn is_cost_known(&self) -> bool {
        self.cost_usd.is_some() && self.unknown_costs == 0
    }
}

/// A command that a grader ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct CommandRecord {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working directory.
    pub cwd: String,
    /// Exit code; `None` when it did not exit by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Whether it exceeded its time limit.
    pub timed_out: bool,
    /// Whether it failed without a result on standard output: its exit code is not 0, and it wrote only to standard
    /// error.
    #[json(default)]
    pub crashed: bool,
    /// File with its standard output, relative to the trial directory.
    pub stdout: Option<String>,
    /// File with its standard error, relative to the trial directory.
    pub stderr: Option<String>,
    /// Whether the kernel confined it; `None` if it was not started.
    #[json(default, skip_if = "Option::is_none")]
    pub sealed: Option<SealRecord>,
}

impl GraderRecord {
    /// The first failed assertion.
    pub fn first_failed(&self) -> Option<&Assertion> {
        self.assertions.iter().find(|assertion| !assertion.passed)
    }

    /// A detail by its key.
    pub fn detail(&self, key: &str) -> Option<&Value> {
        self.details.as_ref().and_then(|details| details.get(key))
    }
}
