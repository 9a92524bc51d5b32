//! Graders and their settings, one file per family.

mod code;
mod composite;
mod config;
mod field_accuracy;
mod json_schema;
mod judge;
mod metrics;
mod text;
mod trajectory;

use serde::{Deserialize, Serialize};

pub use code::{CodeGrader, PreparedCommand};
pub use composite::{Aggregator, Composite};
pub use config::{AskedJudge, BUILT_IN, GraderConfig, built_in_kind};
pub use field_accuracy::{DateFormat, Field, FieldAccuracy, FieldAggregation, FieldMatch, expected_document};
pub use json_schema::JsonSchema;
pub use judge::{Criterion, JudgeSettings, LlmGrader, Preprocessor, Prompt, Rubrics, ScoreRange};
pub use metrics::{Cost, ExecutionMetrics, Latency, TokenUsage};
pub use text::{Regex, Similar, TextList, TextValue};
pub use trajectory::{Args, ArgsMatch, ExpectedCall, SkillTrigger, ToolTrajectory, TrajectoryMode};

use crate::{Location, is_default};

/// A grader of a case: what every grader has, and the settings of its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
