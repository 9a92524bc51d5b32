//! Built-in graders, a file for each or for a family of them, and scoring. The table of graders in the schema names the function of each type.

pub(crate) mod assertion_text;
pub(crate) mod code_grader;
pub(crate) mod compare;
pub(crate) mod composite;
pub(crate) mod field_accuracy;
pub(crate) mod grader_command;
pub(crate) mod grader_record;
pub(crate) mod grading_context;
pub(crate) mod json_graders;
pub(crate) mod llm_grader;
pub(crate) mod metric_graders;
#[cfg_attr(not(feature = "patterns"), path = "without_patterns.rs")]
mod patterns;
#[cfg(feature = "probe")]
pub(crate) mod probed;
pub(crate) mod regex;
pub(crate) mod reported_work;
pub(crate) mod scoring;
pub(crate) mod similar;
pub(crate) mod skill_trigger;
pub(crate) mod standalone;
pub(crate) mod text_graders;
#[cfg(feature = "probe")]
pub(crate) mod to_probes;
pub(crate) mod tool_trajectory;
pub(crate) mod user_grader;

use std::time::Instant;

use evalsuite_records::record::{Assertion, GraderRecord};
use evalsuite_schema::grader::GUARDS;
use evalsuite_schema::{Grader, GraderConfig, settings_of};

use crate::grade::assertion_text::shorten;
use crate::grade::grader_record::GraderResult;
use crate::grade::grading_context::{GradingContext, NoText};
use crate::grade::user_grader::{Graded, GraderCall};
use crate::model::score::Score;

/// Runs one grader. `folder` keeps its files apart from those of graders with the same name.
pub(crate) fn grade(grader: &Grader, folder: Option<&str>, context: &GradingContext<'_>) -> GraderRecord {
    match folder {
        None => grade_at(&grader.name, grader, context),
        Some(folder) => grade_at(&format!("{folder}/{}", grader.name), grader, context),
    }
}

/// Runs a grader. `path` is its name below the names of the composites around it.
pub(crate) fn grade_at(path: &str, grader: &Grader, context: &GradingContext<'_>) -> GraderRecord {
    let started = Instant::now();
    let call = GraderCall { path, grader, context };
    let mut record = match lost_workspace(&grader.config, context) {
        Some(why) => Score::error(why).into_record(&call),
        // What checks a limit or which tools are called does not look at the answer.
        None if grader.transform.is_empty() || GUARDS.contains(&grader.config.type_name()) => grade_by_type(&call),
        None => grade_transformed(&call),
    };
    record.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    record
}

/// Runs a grader on what its `transform` makes of the answer. Without such a text the answer fails, also if the result is inverted.
fn grade_transformed(call: &GraderCall<'_>) -> GraderRecord {
    match grading_context::apply(&call.grader.transform, call.context.evidence.answer()) {
        Ok(answer) => {
            let evidence = call.context.evidence.with_answer(&answer);
            grade_by_type(&GraderCall { context: &GradingContext { evidence: &evidence, ..*call.context }, ..*call })
        }
        Err(NoText::BrokenStep(problem)) => Score::error(format!("`transform`: {problem}")).into_record(call),
        Err(NoText::Unfit(problem)) => {
            let answer = shorten(call.context.evidence.answer());
            let assertion = Assertion::new(format!("`transform`: {problem}"), false).with_actual(answer);
            GraderResult::without_evidence([assertion]).into_record(call)
        }
    }
}

/// Why the files that code grades are not known: missing data is not evidence, so that the grader is an error.
fn lost_workspace(config: &GraderConfig, context: &GradingContext<'_>) -> Option<String> {
    let is_code = config.settings().command().is_some() || matches!(config, GraderConfig::User { .. });
    is_code.then(|| context.cassette.lost_workspace()).flatten()
}

/// The result of a grader whose members have these results.
#[cfg(feature = "grader-tests")]
pub(crate) fn aggregate(members: &[GraderRecord], call: &GraderCall<'_>) -> GraderRecord {
    match &call.grader.config {
        GraderConfig::Composite(config) => composite::aggregate(config, members, call),
        other => Score::error(format!("`{}` has no members", other.type_name())).into_record(call),
    }
}

/// Generates the calls of the functions in the table of graders.
macro_rules! calls_of_functions {
    ($($(#[doc = $doc:literal])* $variant:ident $(($settings:ty))? = $name:literal, $kind:ident, $grade:path, $example:literal;)*) => {
        fn grade_by_type(call: &GraderCall<'_>) -> GraderRecord {
            match &call.grader.config {
                $(GraderConfig::$variant $((settings_of!($settings, settings)))? => {
                    $grade($(settings_of!($settings, settings),)? call.into()).into_record(call)
                })*
                GraderConfig::User { grader, config } => user_grader::grade(grader, config, call).into_record(call),
                other => unreachable!("`{}` is not in the table of graders", other.type_name()),
            }
        }
    };
}

evalsuite_schema::built_in_graders!(calls_of_functions);
