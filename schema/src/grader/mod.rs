//! Graders and their settings, one file per family.

mod code;
mod composite;
mod field_accuracy;
mod json_schema;
mod judge;
mod metrics;
mod text;
mod trajectory;

use serde::{Deserialize, Serialize};

pub use code::{CodeGrader, PreparedCommand};
pub use composite::{Aggregator, Composite};
pub use field_accuracy::{DateFormat, Field, FieldAccuracy, FieldAggregation, FieldMatch, expected_document};
pub use json_schema::JsonSchema;
pub use judge::{Criterion, JudgeSettings, LlmGrader, Preprocessor, Prompt, Rubrics, ScoreRange};
pub use metrics::{Cost, ExecutionMetrics, Latency, TokenUsage};
pub use text::{Regex, Similar, TextList, TextValue};
pub use trajectory::{Args, ArgsMatch, ExpectedCall, SkillTrigger, ToolTrajectory, TrajectoryMode};

use crate::{Location, Object, is_default};

/// A grader of a case: what every grader has, and the settings of its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grader {
    /// Key of the score, unique in the case.
    pub name: String,
    /// Where the entry stands.
    pub location: Location,
    /// Share in the weighted mean, at least 0; 0 is shown and not counted.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
    /// Whether the trial can pass without it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub required: bool,
    /// Pass mark of the verdict, in (0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// Whether the result is inverted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub negate: bool,
    /// The type and its settings.
    pub config: GraderConfig,
}

impl Grader {
    /// A grader with weight 1 that is neither required nor negated.
    pub fn new(name: impl Into<String>, location: Location, config: GraderConfig) -> Self {
        Self { name: name.into(), location, weight: 1.0, required: false, min_score: None, negate: false, config }
    }
}

fn one() -> f64 {
    1.0
}

#[allow(clippy::float_cmp, reason = "exactly the default is left out")]
fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

/// The type of a grader and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GraderConfig {
    /// The answer contains a text.
    Contains(TextValue),
    /// The answer contains one of several texts.
    ContainsAny(TextList),
    /// The answer contains several texts.
    ContainsAll(TextList),
    /// As `contains`, upper and lower case alike.
    Icontains(TextValue),
    /// As `contains-any`, upper and lower case alike.
    IcontainsAny(TextList),
    /// As `contains-all`, upper and lower case alike.
    IcontainsAll(TextList),
    /// The answer starts with a text.
    StartsWith(TextValue),
    /// The answer ends with a text.
    EndsWith(TextValue),
    /// The answer is a text.
    Equals(TextValue),
    /// A pattern matches somewhere in the answer.
    Regex(Regex),
    /// The answer is close to a text.
    Similar(Similar),
    /// The answer is JSON.
    IsJson,
    /// The answer is JSON of a given shape.
    JsonSchema(JsonSchema),
    /// The agent was fast enough.
    Latency(Latency),
    /// The agent was cheap enough.
    Cost(Cost),
    /// The agent used few enough tokens.
    TokenUsage(TokenUsage),
    /// The agent needed few enough calls, tokens, dollars and milliseconds.
    ExecutionMetrics(ExecutionMetrics),
    /// The agent called the right tools.
    ToolTrajectory(ToolTrajectory),
    /// The agent used a skill, or left it alone.
    SkillTrigger(SkillTrigger),
    /// Fields of the answer agree with the reference.
    FieldAccuracy(FieldAccuracy),
    /// A command decides.
    CodeGrader(CodeGrader),
    /// Several graders in one.
    Composite(Composite),
    /// A model decides.
    LlmGrader(LlmGrader),
    /// A model decides criterion by criterion.
    Rubrics(Rubrics),
    /// A grader registered in Rust decides.
    User {
        /// The registered name, as the file writes it.
        grader: String,
        /// Its settings.
        #[serde(default, skip_serializing_if = "Object::is_empty")]
        config: Object,
    },
}

/// Names of all built-in grader types, in the order in which they are documented.
pub const BUILT_IN: &[&str] = &[
    "contains",
    "contains-any",
    "contains-all",
    "icontains",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "ends-with",
    "equals",
    "regex",
    "similar",
    "is-json",
    "json-schema",
    "latency",
    "cost",
    "token-usage",
    "execution-metrics",
    "tool-trajectory",
    "skill-trigger",
    "field-accuracy",
    "code-grader",
    "composite",
    "llm-grader",
    "rubrics",
];

impl GraderConfig {
    /// The type as files and records name it: a built-in type, or the name of a registered grader.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Contains(_) => "contains",
            Self::ContainsAny(_) => "contains-any",
            Self::ContainsAll(_) => "contains-all",
            Self::Icontains(_) => "icontains",
            Self::IcontainsAny(_) => "icontains-any",
            Self::IcontainsAll(_) => "icontains-all",
            Self::StartsWith(_) => "starts-with",
            Self::EndsWith(_) => "ends-with",
            Self::Equals(_) => "equals",
            Self::Regex(_) => "regex",
            Self::Similar(_) => "similar",
            Self::IsJson => "is-json",
            Self::JsonSchema(_) => "json-schema",
            Self::Latency(_) => "latency",
            Self::Cost(_) => "cost",
            Self::TokenUsage(_) => "token-usage",
            Self::ExecutionMetrics(_) => "execution-metrics",
            Self::ToolTrajectory(_) => "tool-trajectory",
            Self::SkillTrigger(_) => "skill-trigger",
            Self::FieldAccuracy(_) => "field-accuracy",
            Self::CodeGrader(_) => "code-grader",
            Self::Composite(_) => "composite",
            Self::LlmGrader(_) => "llm-grader",
            Self::Rubrics(_) => "rubrics",
            Self::User { grader, .. } => grader,
        }
    }
}
