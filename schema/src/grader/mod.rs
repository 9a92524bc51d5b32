//! Graders and their settings: one file per family, and the table of built-in types.

mod answer_step;
mod code;
mod composite;
mod config;
mod field_accuracy;
mod json_schema;
mod judge;
#[doc(hidden)]
pub mod keys;
mod metrics;
mod text;
mod trajectory;

use evalsuite_derive::skip_empty;

use crate::json::{FromJson, ToJson};
use crate::{Examples, Location, Object, is_default};
use config::grader_config;

pub use crate::calendar_date::DateFormat;
pub use answer_step::{AnswerStep, ObjectStep, StepWord};
pub use code::{CodeGrader, PreparedCommand, ResultSource};
pub use composite::{Aggregator, AggregatorKeys, Composite};
pub use config::{AskedJudge, GUARDS, GraderKind};
pub use field_accuracy::{Field, FieldAccuracy, FieldAggregation, FieldMatch, date, decimal_text, expected_document};
pub use json_schema::{ContainsJson, JsonSchema};
pub(crate) use judge::CRITERIA;
pub use judge::{
    Compare, ComparedWith, Criterion, JudgeSettings, LlmGrader, OldRubric, Operator, Preprocessor, Prompt,
    PromptCommand, ReferenceAnswer, Rubrics, ScoreRange,
};
pub use metrics::{Cost, ExecutionMetrics, Latency, TokenUsage};
pub use text::{Regex, Similar, TextList, TextValue};
pub use trajectory::{Args, ArgsMatch, ExpectedCall, SkillTrigger, ToolTrajectory, TrajectoryMode};

/// The table of graders, given to the macro `$generate`. A row is what the reference says, then the variant of [`GraderConfig`] with its
/// settings, the name in files, the kind, the function of the runtime (in its module `grade`), and an example.
#[doc(hidden)]
#[macro_export]
macro_rules! built_in_graders {
    ($generate:ident) => {
        $generate! {
            /// The answer contains the text. White space around the text counts, except in an answer that is nothing but the text.
            Contains(TextValue) = "contains", Code, text_graders::contains::<{ text_graders::MATCH_CASE }>, r#"{ type: contains, value: "19.90", required: true }"#;
            /// The answer contains at least one of the texts.
            ContainsAny(TextList) = "contains-any", Code, text_graders::contains_any::<{ text_graders::MATCH_CASE }>, r#"{ type: contains-any, value: [refund, reimburse], weight: 2 }"#;
            /// The answer contains all of the texts.
            ContainsAll(TextList) = "contains-all", Code, text_graders::contains_all::<{ text_graders::MATCH_CASE }>, r#"{ type: contains-all, value: ["1182", "19.90"] }"#;
            /// Like `contains`, ignoring case. Letters are the same if they have the same upper or lower case letter, wherever they are: `Σ`,
            /// `σ` and `ς`. `ß` is not `ss`.
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
            /// The pattern matches anywhere in the answer.
            Regex(Regex) = "regex", Code, regex::grade, r#"{ type: regex, value: '\b19[.,]90\b', flags: i }"#;
            /// The edit similarity of answer and text, 1 − edit distance / length of the longer text, reaches the pass mark. Insertions,
            /// deletions and replacements of characters (Unicode scalar values) are counted after trimming both texts, and the count is exact.
            /// If the product of the lengths of the differing parts exceeds 10^10 (two texts of 100 000 characters), the grader returns an
            /// error rather than a guess. A runaway answer compared with a short `value` is well below that limit and scores close to 0. With
            /// `max_distance` the score is 1 if the edit distance is at most that, else 0.
            Similar(Similar) = "similar", Code, similar::grade, r#"{ type: similar, value: Refund approved., threshold: 0.9, ignore_case: true }"#;
            /// The answer is one JSON value. JSON is what RFC 8259 defines, at most 127 lists and objects deep. Repeated keys, numbers of any
            /// size and unpaired surrogates (`"\ud800"`) are JSON; `NaN`, comments, trailing commas and a byte order mark are not. Python's
            /// `json` decides alike, except that it accepts `NaN` and `Infinity`.
            IsJson = "is-json", Code, json_graders::is_json, r#"{ type: is-json }"#;
            /// The answer contains a JSON object, between any other text. A brace that is followed by a key and a colon, or by a closing brace,
            /// begins an object; other braces are text. If the object is not finished or not JSON, the objects in it do not count. With
            /// `schema`, one of its objects conforms to it, as with `json-schema`, which also describes how schemas are checked and which
            /// feature they need. An object inside an object is not checked separately.
            ContainsJson(ContainsJson) = "contains-json", Code, json_graders::contains_json, r#"{ type: contains-json, schema: ./refund.schema.json }"#;
            /// The answer, without code fences, is JSON that conforms to a JSON Schema. The schema is checked at compile time: misspelled
            /// keywords, invalid patterns, references out of the file and reference cycles are reported with their location. `format` is
            /// enforced in all drafts, and nothing is ever fetched. The validator takes a while to compile and is therefore a feature: `cargo
            /// add --dev evalsuite --features json-schema`. Without the feature, the grader is a compile error.
            JsonSchema(JsonSchema) = "json-schema", Code, json_schema::grade, r#"{ type: json-schema, schema: ./refund.schema.json }"#;
            /// The duration is at most `threshold`.
            Latency(Latency) = "latency", Code, metric_graders::latency, r#"{ type: latency, threshold: 5000 }"#;
            /// The cost is at most `budget`.
            Cost(Cost) = "cost", Code, metric_graders::cost, r#"{ type: cost, budget: 0.05 }"#;
            /// Token counts are within their limits, of which there is at least one.
            TokenUsage(TokenUsage) = "token-usage", Code, metric_graders::token_usage, r#"{ type: token-usage, max_total: 20000 }"#;
            /// Several limits at once, of which there is at least one, and each of which has to hold; the score is the share that holds.
            ExecutionMetrics(ExecutionMetrics) = "execution-metrics", Code, metric_graders::execution_metrics, r#"{ type: execution-metrics, max_tool_calls: 10, max_duration_ms: 30000 }"#;
            /// The agent called the expected tools: everything that is expected holds. The score is the share that holds. In names of tools
            /// `*` matches any characters and `?` one. A transcript without tool calls is judged only if the agent reports that it is
            /// complete. A call without input has the arguments `{}`; an input that is an object as JSON text is that object.
            ToolTrajectory(ToolTrajectory) = "tool-trajectory", Code, tool_trajectory::grade, r#"{ type: tool-trajectory, mode: in_order, expected: [{ tool: find_order, args: { id: 1182 } }, { tool: refund }] }"#;
            /// The agent used a skill, or did not use it.
            SkillTrigger(SkillTrigger) = "skill-trigger", Code, skill_trigger::grade, r#"{ type: skill-trigger, skill: refunds, should_trigger: false }"#;
            /// Fields of a JSON answer match the reference answer. Of repeated keys, the last one counts.
            FieldAccuracy(FieldAccuracy) = "field-accuracy", Code, field_accuracy::grade, r#"{ type: field-accuracy, fields: [{ path: total, match: numeric_tolerance, tolerance: 0.01 }] }"#;
            /// A command decides, with a score, `pass`, `fail` or a JSON object on standard output (see the protocols), or without output by
            /// its exit status. Keys that are not in this table are added to `config`.
            CodeGrader(CodeGrader) = "code-grader", Command, code_grader::grade, r#"{ type: code-grader, command: [python3, ./graders/totals.py] }"#;
            /// Several graders in one, at most 4 levels deep.
            Composite(Composite) = "composite", Code, composite::grade, r#"{ type: composite, aggregator: { type: threshold, threshold: 0.5 }, assertions: [{ type: is-json }, { type: contains, value: paid }] }"#;
            /// A judge passes the answer. Without `prompt` and `rubrics`, it grades by the case's `criteria` and reference answer.
            LlmGrader(LlmGrader) = "llm-grader", Model, llm_grader::grade, r#"{ type: llm-grader, prompt: Is the tone of the answer friendly? }"#;
            /// A judge checks the answer criterion by criterion. Plain texts among assertions are one such grader.
            Rubrics(Rubrics) = "rubrics", Model, llm_grader::grade_rubrics, r#"{ type: rubrics, criteria: [Names the order number, { id: tone, outcome: Polite, weight: 2 }] }"#;
            /// A judge says whether the answer is better than another one. It is asked twice, with each of the two answers first. The score is
            /// 1 if the answer is better both times, 0 if the other one is, else 0.5: a tie. If the judge replies differently to the two
            /// orders, `consistent` in the details of the result is false. An answer passes if it is no worse, or with a `min_score` above 0.5
            /// only if it is better.
            Compare(Compare) = "compare", Model, compare::grade, r#"{ type: compare, reference: 19.90 is on its way., criteria: Is friendly }"#;
        }
    };
}

built_in_graders!(grader_config);

/// A grader of a case: what every grader has, and the settings of its type.
#[skip_empty]
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
    #[json(default, skip_if = "is_default")]
    pub required: bool,
    /// Pass mark of the verdict, in (0, 1].
    pub min_score: Option<f64>,
    /// Whether the result is inverted.
    #[json(default, skip_if = "is_default")]
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
