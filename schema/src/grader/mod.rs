//! Graders and their settings: one file per family, and the table of built-in types.

mod code;
mod composite;
mod config;
mod field_accuracy;
mod json_schema;
mod judge;
mod kind;
mod metrics;
mod text;
mod trajectory;

use serde::{Deserialize, Serialize};

use self::config::built_in_graders;
use crate::{Location, Object, is_default};

pub use code::{CodeGrader, PreparedCommand};
pub use composite::{Aggregator, Composite};
pub use config::AskedJudge;
pub use field_accuracy::{DateFormat, Field, FieldAccuracy, FieldAggregation, FieldMatch, expected_document};
pub use json_schema::{ContainsJson, JsonSchema};
pub use judge::{
    Compare, ComparedWith, Criterion, JudgeSettings, LlmGrader, Preprocessor, Prompt, ReferenceAnswer, Rubrics,
    ScoreRange,
};
pub use kind::GraderKind;
pub use metrics::{Cost, ExecutionMetrics, Latency, TokenUsage};
pub use text::{Regex, Similar, TextList, TextValue};
pub use trajectory::{Args, ArgsMatch, ExpectedCall, SkillTrigger, ToolTrajectory, TrajectoryMode};

// The table of graders: name in files, settings and kind of each built-in type.
built_in_graders! {
    /// The answer contains a text.
    Contains(TextValue) = "contains", Code;
    /// The answer contains one of several texts.
    ContainsAny(TextList) = "contains-any", Code;
    /// The answer contains several texts.
    ContainsAll(TextList) = "contains-all", Code;
    /// As `contains`, ignoring case.
    Icontains(TextValue) = "icontains", Code;
    /// As `contains-any`, ignoring case.
    IcontainsAny(TextList) = "icontains-any", Code;
    /// As `contains-all`, ignoring case.
    IcontainsAll(TextList) = "icontains-all", Code;
    /// The answer starts with a text.
    StartsWith(TextValue) = "starts-with", Code;
    /// The answer ends with a text.
    EndsWith(TextValue) = "ends-with", Code;
    /// The answer is a text.
    Equals(TextValue) = "equals", Code;
    /// A pattern matches somewhere in the answer.
    Regex(Regex) = "regex", Code;
    /// The answer is close to a text.
    Similar(Similar) = "similar", Code;
    /// The answer is JSON.
    IsJson = "is-json", Code;
    /// The answer contains a JSON object, maybe of a given shape.
    ContainsJson(ContainsJson) = "contains-json", Code;
    /// The answer is JSON of a given shape.
    JsonSchema(JsonSchema) = "json-schema", Code;
    /// The agent was fast enough.
    Latency(Latency) = "latency", Code;
    /// The agent was cheap enough.
    Cost(Cost) = "cost", Code;
    /// The agent used few enough tokens.
    TokenUsage(TokenUsage) = "token-usage", Code;
    /// The agent needed few enough calls, tokens, dollars and milliseconds.
    ExecutionMetrics(ExecutionMetrics) = "execution-metrics", Code;
    /// The agent called the right tools.
    ToolTrajectory(ToolTrajectory) = "tool-trajectory", Code;
    /// The agent used a skill, or left it alone.
    SkillTrigger(SkillTrigger) = "skill-trigger", Code;
    /// Fields of the answer agree with the reference.
    FieldAccuracy(FieldAccuracy) = "field-accuracy", Code;
    /// A command decides.
    CodeGrader(CodeGrader) = "code-grader", Command;
    /// Several graders in one.
    Composite(Composite) = "composite", Code;
    /// A model decides.
    LlmGrader(LlmGrader) = "llm-grader", Model;
    /// A model decides criterion by criterion.
    Rubrics(Rubrics) = "rubrics", Model;
    /// A model says whether the answer is better than another one.
    Compare(Compare) = "compare", Model;
}

/// A grader of a case: what every grader has, and the settings of its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grader {
    /// Key of the score, unique in the case.
    pub name: String,
    /// Where the entry is.
    pub location: Location,
    /// Share in the weighted mean, at least 0; 0 is shown and not counted.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
    /// Whether the trial fails if this grader does not pass.
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
