//! Records of graders.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ReasonCode, Usage};
use crate::{Location, Object};

/// One thing a grader checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Assertion {
    /// What was checked.
    pub text: String,
    /// Whether it held.
    pub passed: bool,
    /// What was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// What shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Assertion {
    /// An assertion that says what was checked and whether it held.
    pub fn new(text: impl Into<String>, passed: bool) -> Self {
        Self { text: text.into(), passed, expected: None, actual: None, evidence: None }
    }

    /// Adds what was wanted.
    pub fn with_expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Adds what was found.
    pub fn with_actual(mut self, actual: impl Into<String>) -> Self {
        self.actual = Some(actual.into());
        self
    }

    /// Adds what shows it: a quotation, a line of a log.
    pub fn with_evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence = Some(evidence.into());
        self
    }
}

/// What a grader says about an answer, beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Good enough.
    Pass,
    /// Not good enough.
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

/// Who decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GraderKind {
    /// Code in this process.
    #[default]
    Code,
    /// A language model.
    Model,
    /// A person.
    Human,
    /// A program.
    Command,
}

/// How a grader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraderState {
    /// With a value and a verdict.
    Decided,
    /// Without either; it does not count.
    Undecided,
    /// It broke; the trial is an error.
    Error,
}

/// What one grader said about one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraderRecord {
    /// Key of the score.
    pub name: String,
    /// Built-in type or name of the registered grader.
    #[serde(rename = "type")]
    pub grader_type: String,
    /// Who decided.
    pub kind: GraderKind,
    /// How it ended.
    pub state: GraderState,
    /// 0 to 1, after negation; `None` unless decided.
    pub value: Option<f64>,
    /// `None` unless decided.
    pub verdict: Option<Verdict>,
    /// Lowest value of a passing verdict, 0 to 1.
    pub pass_mark: Option<f64>,
    /// Whether the verdict is `fail` whatever the value.
    pub forced_fail: bool,
    /// Share in the weighted mean.
    pub weight: f64,
    /// Whether the trial can pass without it.
    pub required: bool,
    /// Pass mark written in the case.
    pub min_score: Option<f64>,
    /// Whether the result was inverted.
    pub negated: bool,
    /// Why it decides nothing: its judge is below what the suite demands. `None`: it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advisory: Option<String>,
    /// What was checked.
    pub assertions: Vec<Assertion>,
    /// Why the value is what it is; the reason of an undecided grader.
    pub rationale: Option<String>,
    /// Free-form data of the grader.
    pub details: Option<Object>,
    /// Why it broke.
    pub error: Option<String>,
    /// What happened where it broke over a judge, or over the recording of one.
    #[serde(default)]
    pub code: Option<ReasonCode>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Where the entry is.
    pub location: Location,
    /// Members of a composite.
    pub members: Vec<GraderRecord>,
    /// Calls of a judge.
    pub judge: Option<JudgeRecord>,
    /// The program that decided.
    pub command: Option<CommandRecord>,
}

/// What a judge was asked and said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// SHA-256 of the prompt, hexadecimal.
    pub prompt_sha256: String,
    /// Files with the raw replies, relative to the trial directory.
    pub replies: Vec<String>,
}

/// A program that was run by a grader.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecord {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working directory.
    pub cwd: String,
    /// Exit code; `None` when it did not exit by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Whether its time limit passed.
    pub timed_out: bool,
    /// File with its standard output, relative to the trial directory.
    pub stdout: Option<String>,
    /// File with its standard error, relative to the trial directory.
    pub stderr: Option<String>,
}

impl GraderRecord {
    /// The first assertion that did not hold.
    pub fn first_failed(&self) -> Option<&Assertion> {
        self.assertions.iter().find(|assertion| !assertion.passed)
    }

    /// A detail by its key.
    pub fn detail(&self, key: &str) -> Option<&Value> {
        self.details.as_ref().and_then(|details| details.get(key))
    }
}
