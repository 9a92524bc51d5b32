//! Graders and their settings: one file per family, and the table of built-in types.

mod code_grader;
#[doc(hidden)]
pub mod common_keys;
mod compare;
mod composite;
mod config;
mod field_accuracy;
mod json_schema;
mod llm_grader;
mod metric_graders;
mod regex;
mod similar;
mod text_graders;
mod tool_trajectory;

use evalsuite_derive::skip_empty;

use crate::json::{FromJson, ToJson};
use crate::{Examples, Location, Object};
use config::grader_config;

pub use crate::calendar_date::DateFormat;
pub use crate::command::PreparedCommand;
pub use code_grader::{CodeGrader, ResultSource};
pub use common_keys::{AnswerStep, ObjectStep, StepWord};
pub use compare::{Compare, ComparedWith, ReferenceAnswer};
pub use composite::{Aggregator, AggregatorKeys, Composite};
pub use config::{AskedJudge, GUARDS, GraderKind, GraderSettings};
pub use field_accuracy::{Field, FieldAccuracy, FieldAggregation, FieldMatch, date, decimal_text, expected_document};
pub use json_schema::{ContainsJson, JsonSchema};
pub(crate) use llm_grader::CRITERIA;
pub use llm_grader::{
    Criterion, JudgeSettings, LlmGrader, OldRubric, Operator, Preprocessor, Prompt, PromptCommand, Rubrics, ScoreRange,
};
pub use metric_graders::{Cost, ExecutionMetrics, Latency, TokenUsage};
pub use regex::Regex;
pub use similar::Similar;
#[doc(hidden)]
pub use text_graders::trim;
pub use text_graders::{TextList, TextValue};
pub use tool_trajectory::{Args, ArgsMatch, ExpectedCall, SkillTrigger, ToolTrajectory, TrajectoryMode};

/// The table of graders, given to the macro `$generate`. A row is what the reference says, if that is not the doc comment of the settings,
/// then the variant of [`GraderConfig`] with its settings, the name in files, the kind, the function of the runtime (in its module `grade`),
/// and an example.
#[doc(hidden)]
#[macro_export]
macro_rules! built_in_graders {
    ($generate:ident) => {
        $generate! {
            /// The answer contains the text. White space around the text counts, unless the answer is nothing but the text.
            Contains(TextValue) = "contains", Code, text_graders::contains::<{ text_graders::MATCH_CASE }>, r#"{ type: contains, value: "19.90", required: true }"#;
            /// The answer contains at least one of the texts.
            ContainsAny(TextList) = "contains-any", Code, text_graders::contains_any::<{ text_graders::MATCH_CASE }>, r#"{ type: contains-any, value: [refund, reimburse], weight: 2 }"#;
            /// The answer contains all of the texts.
            ContainsAll(TextList) = "contains-all", Code, text_graders::contains_all::<{ text_graders::MATCH_CASE }>, r#"{ type: contains-all, value: ["1182", "19.90"] }"#;
            /// Like `contains`, ignoring case. `Σ`, `σ` and `ς` are the same letter, `ß` is not `ss`.
            Icontains(TextValue) = "icontains", Code, text_graders::contains::<{ text_graders::IGNORE_CASE }>, r#"{ type: icontains, value: refund }"#;
            /// Like `contains-any`, ignoring case.
            IcontainsAny(TextList) = "icontains-any", Code, text_graders::contains_any::<{ text_graders::IGNORE_CASE }>, r#"{ type: icontains-any, value: [sorry, apologies] }"#;
            /// Like `contains-all`, ignoring case.
            IcontainsAll(TextList) = "icontains-all", Code, text_graders::contains_all::<{ text_graders::IGNORE_CASE }>, r#"{ type: icontains-all, value: [order, refund] }"#;
            /// The trimmed answer starts with the trimmed text.
            StartsWith(TextValue) = "starts-with", Code, text_graders::starts_with, r#"{ type: starts-with, value: Dear }"#;
            /// The trimmed answer ends with the trimmed text.
            EndsWith(TextValue) = "ends-with", Code, text_graders::ends_with, r#"{ type: ends-with, value: Your shop }"#;
            /// The trimmed answer is the trimmed text.
            Equals(TextValue) = "equals", Code, text_graders::equals, r#"{ type: equals, value: approved }"#;
            Regex(Regex) = "regex", Code, regex::grade, r#"{ type: regex, value: '\b19[.,]90\b', flags: i }"#;
            Similar(Similar) = "similar", Code, similar::grade, r#"{ type: similar, value: Refund approved., threshold: 0.9, ignore_case: true }"#;
            /// The answer is one JSON value (RFC 8259), at most 127 lists and objects deep. Repeated keys, numbers of any size and unpaired
            /// surrogates (`"\ud800"`) are JSON; `NaN`, comments, trailing commas and a byte order mark are not.
            IsJson = "is-json", Code, json_graders::is_json, r#"{ type: is-json }"#;
            ContainsJson(ContainsJson) = "contains-json", Code, json_graders::contains_json, r#"{ type: contains-json, schema: ./refund.schema.json }"#;
            JsonSchema(JsonSchema) = "json-schema", Code, json_graders::json_schema::grade, r#"{ type: json-schema, schema: ./refund.schema.json }"#;
            Latency(Latency) = "latency", Code, metric_graders::latency, r#"{ type: latency, threshold: 5000 }"#;
            Cost(Cost) = "cost", Code, metric_graders::cost, r#"{ type: cost, budget: 0.05 }"#;
            TokenUsage(TokenUsage) = "token-usage", Code, metric_graders::token_usage, r#"{ type: token-usage, max_total: 20000 }"#;
            ExecutionMetrics(ExecutionMetrics) = "execution-metrics", Code, metric_graders::execution_metrics, r#"{ type: execution-metrics, max_tool_calls: 10, max_duration_ms: 30000 }"#;
            ToolTrajectory(ToolTrajectory) = "tool-trajectory", Code, tool_trajectory::grade, r#"{ type: tool-trajectory, mode: in_order, expected: [{ tool: find_order, args: { id: 1182 } }, { tool: refund }] }"#;
            SkillTrigger(SkillTrigger) = "skill-trigger", Code, skill_trigger::grade, r#"{ type: skill-trigger, skill: refunds, should_trigger: false }"#;
            FieldAccuracy(FieldAccuracy) = "field-accuracy", Code, field_accuracy::grade, r#"{ type: field-accuracy, fields: [{ path: total, match: numeric_tolerance, tolerance: 0.01 }] }"#;
            CodeGrader(CodeGrader) = "code-grader", Command, code_grader::grade, r#"{ type: code-grader, command: [python3, ./graders/totals.py] }"#;
            Composite(Composite) = "composite", Code, composite::grade, r#"{ type: composite, aggregator: { type: threshold, threshold: 0.5 }, assertions: [{ type: is-json }, { type: contains, value: paid }] }"#;
            LlmGrader(LlmGrader) = "llm-grader", Model, llm_grader::grade, r#"{ type: llm-grader, prompt: Is the tone of the answer friendly? }"#;
            Rubrics(Rubrics) = "rubrics", Model, llm_grader::grade_rubrics, r#"{ type: rubrics, criteria: [Names the order number, { id: tone, outcome: Polite, weight: 2 }] }"#;
            Compare(Compare) = "compare", Model, compare::grade, r#"{ type: compare, reference: 19.90 is on its way., criteria: Is friendly }"#;
        }
    };
}

built_in_graders!(grader_config);

/// A grader of a case: what every grader has, and the settings of its type.
#[skip_empty(.., required, negate)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[non_exhaustive]
pub struct Grader {
    /// Key of the score, unique in the case.
    pub name: String,
    /// Where the entry is.
    pub location: Location,
    /// Share in the weighted mean, at least 0; with 0, the result is shown but not counted.
    #[json(default = "one", skip_if = "is_one")]
    pub weight: f64,
    /// Whether the trial fails if this grader does not pass.
    pub required: bool,
    /// Pass mark of the verdict, in (0, 1].
    pub min_score: Option<f64>,
    /// Whether the result is inverted.
    pub negate: bool,
    /// What is done with the answer before the grader sees it, in order.
    pub transform: Vec<AnswerStep>,
    /// Results that the grader has to pass or to fail.
    #[json(default, skip_if = "Examples::is_empty")]
    pub examples: Examples,
    /// The type and its settings.
    pub config: GraderConfig,
}

impl Grader {
    /// A grader with weight 1 that is neither required nor negated.
    pub fn new(name: impl Into<String>, location: Location, config: GraderConfig) -> Self {
        let (weight, required, min_score, negate, transform) = (1.0, false, None, false, Vec::new());
        let examples = Examples::default();
        Self { name: name.into(), location, weight, required, min_score, negate, transform, examples, config }
    }
}

fn one() -> f64 {
    1.0
}

#[allow(clippy::float_cmp, reason = "exactly the default is left out")]
fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}
