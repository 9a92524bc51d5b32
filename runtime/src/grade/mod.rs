//! Built-in graders, one file each, scoring, and the dispatch from a grader's type to its file.

pub(crate) mod assertion_text;
pub(crate) mod code_grader;
pub(crate) mod compare;
pub(crate) mod composite;
pub(crate) mod contains_json;
pub(crate) mod edit_distance;
pub(crate) mod field_accuracy;
pub(crate) mod grader_command;
pub(crate) mod grader_record;
pub(crate) mod grader_result;
pub(crate) mod grading_context;
pub(crate) mod is_json;
pub(crate) mod json_equality;
#[cfg(feature = "json-schema")]
pub(crate) mod json_schema;
pub(crate) mod judge_panel;
pub(crate) mod judgement_score;
pub(crate) mod llm_aggregator;
pub(crate) mod llm_grader;
pub(crate) mod metric_graders;
pub(crate) mod number_format;
pub(crate) mod regex;
pub(crate) mod rubrics;
pub(crate) mod scoring;
pub(crate) mod similar;
pub(crate) mod skill_trigger;
pub(crate) mod standalone;
pub(crate) mod text_graders;
pub(crate) mod tool_trajectory;
pub(crate) mod unknown_work;
pub(crate) mod user_grader;

use std::time::Instant;

use evalsuite_records::record::GraderRecord;
use evalsuite_schema::{Grader, GraderConfig};

use crate::grade::grader_record::{grader_record, pass_mark};
use crate::grade::grader_result::GraderResult;
use crate::grade::grading_context::GradingContext;
use crate::grade::text_graders::LetterCase;
use crate::model::score::Score;

/// Runs one grader. `folder` keeps its files apart from those of graders with the same name.
pub(crate) fn grade(grader: &Grader, folder: Option<&str>, context: &GradingContext<'_>) -> GraderRecord {
    match folder {
        None => grade_at(&grader.name, grader, context),
        Some(folder) => grade_at(&format!("{folder}/{}", grader.name), grader, context),
    }
}

/// Runs a grader. `path` is its name below the names of the composites around it.
fn grade_at(path: &str, grader: &Grader, context: &GradingContext<'_>) -> GraderRecord {
    let started = Instant::now();
    let mut record = match &grader.config {
        GraderConfig::Composite(config) => composite::grade(path, grader, config, context, &grade_at),
        GraderConfig::LlmGrader(config) => llm_grader::grade(path, grader, config, context),
        GraderConfig::Rubrics(config) => rubrics::grade(path, grader, config, context),
        GraderConfig::Compare(config) => compare::grade(path, grader, config, context),
        _ => grader_record(grader, result(path, grader, context), context.layout),
    };
    record.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    record
}

/// The result of a grader that asks no judge itself: one line for each type.
fn result(path: &str, grader: &Grader, context: &GradingContext<'_>) -> GraderResult {
    let (evidence, answer) = (context.evidence, context.evidence.answer());
    if matches!(grader.config, GraderConfig::CodeGrader(_) | GraderConfig::User { .. })
        && let Some(reason) = context.cassette.lost_workspace()
    {
        return Score::error(reason).into();
    }
    if let Some(error) = unknown_work::error(&grader.config, &evidence.facts().unknown) {
        return error.into();
    }
    match &grader.config {
        GraderConfig::Contains(config) => text_graders::contains(config, answer, LetterCase::Matters).into(),
        GraderConfig::ContainsAny(config) => text_graders::contains_any(config, answer, LetterCase::Matters).into(),
        GraderConfig::ContainsAll(config) => text_graders::contains_all(config, answer, LetterCase::Matters).into(),
        GraderConfig::Icontains(config) => text_graders::contains(config, answer, LetterCase::Ignored).into(),
        GraderConfig::IcontainsAny(config) => text_graders::contains_any(config, answer, LetterCase::Ignored).into(),
        GraderConfig::IcontainsAll(config) => text_graders::contains_all(config, answer, LetterCase::Ignored).into(),
        GraderConfig::StartsWith(config) => text_graders::starts_with(config, answer).into(),
        GraderConfig::EndsWith(config) => text_graders::ends_with(config, answer).into(),
        GraderConfig::Equals(config) => text_graders::equals(config, answer).into(),
        GraderConfig::Regex(config) => regex::grade(config, answer).into(),
        GraderConfig::Similar(config) => {
            similar::grade(config, evidence, pass_mark(grader, None, context.layout)).into()
        }
        GraderConfig::IsJson => is_json::grade(answer).into(),
        #[cfg(not(feature = "json-schema"))]
        config if config.needs_json_schema() => {
            Score::error("evalsuite was built without its feature `json-schema`").into()
        }
        GraderConfig::ContainsJson(config) => contains_json::grade(config, answer).into(),
        #[cfg(feature = "json-schema")]
        GraderConfig::JsonSchema(config) => json_schema::grade(config, answer).into(),
        GraderConfig::Latency(config) => metric_graders::latency(config, evidence).into(),
        GraderConfig::Cost(config) => metric_graders::cost(config, evidence).into(),
        GraderConfig::TokenUsage(config) => metric_graders::token_usage(config, evidence).into(),
        GraderConfig::ExecutionMetrics(config) => metric_graders::execution_metrics(config, evidence).into(),
        GraderConfig::ToolTrajectory(config) => tool_trajectory::grade(config, evidence),
        GraderConfig::SkillTrigger(config) => skill_trigger::grade(config, evidence).into(),
        GraderConfig::FieldAccuracy(config) => field_accuracy::grade(config, evidence).into(),
        GraderConfig::CodeGrader(config) => code_grader::grade(path, config, context),
        GraderConfig::User { grader, config } => user_grader::grade(path, grader, config, context),
        other => Score::error(format!("graders of type `{}` are not supported yet", other.type_name())).into(),
    }
}
