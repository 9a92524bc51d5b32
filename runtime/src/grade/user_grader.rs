//! How graders are called: built-in ones with what their function takes, and those written in Rust with a time limit and the judges that
//! they ask.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::{GraderKind, GraderRecord};
use evalsuite_schema::{Grader, Object};

use crate::grade::grader_record::{GraderResult, grader_record};
use crate::grade::grading_context::GradingContext;
use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_call::JudgeFailure;
use crate::model::evidence::Evidence;
use crate::model::score::{Score, ScoreState};
use crate::platform::time_limit::Ended;

/// Limit of one call.
const LIMIT: Duration = Duration::from_secs(300);

/// Calls the grader that is registered as `name`.
pub(crate) fn grade(name: &str, config: &Object, call: &GraderCall<'_>) -> Result<GraderResult, String> {
    let GraderCall { path, context, .. } = *call;
    let grader = context.registry.grader(name).ok_or_else(|| format!("no grader named `{name}` is registered"))?;
    let inquiry = Arc::new(context.inquiry(path));
    let (evidence, config) = (context.evidence.detached(inquiry.clone()), config.clone());
    let score = match grader.callable.call_within(LIMIT, move |grade, cancel| grade(&config, &evidence, cancel)) {
        Ok(Ended::Returned(score)) => score,
        Ok(Ended::Panicked(message)) => Score::error(format!("the grader panicked: {message}")),
        Ok(Ended::TimedOut) => Score::error(format!("the grader did not end within {} s", LIMIT.as_secs())),
        Err(error) => Score::error(format!("the grader's thread cannot be started: {error}")),
    };
    let result = GraderResult { kind: Some(grader.kind), pass_mark: grader.pass_mark, ..score.into() };
    Ok(with_judges(result, &inquiry, context))
}

/// Adds the calls of judges. A grader whose judge did not answer is an error, regardless of its return value.
fn with_judges(mut result: GraderResult, inquiry: &GraderInquiry, context: &GradingContext<'_>) -> GraderResult {
    let (record, failure, notes) = inquiry.end();
    context.notes.borrow_mut().extend(notes);
    let Some(record) = record else { return result };
    result.judge = Some(record);
    if result.kind == Some(GraderKind::Code) {
        result.kind = Some(GraderKind::Model);
    }
    if let Some(JudgeFailure { message, code }) = failure {
        result.code = Some(code);
        if !matches!(&result.score.state, ScoreState::Error(said) if said.contains(&message)) {
            result.score = Score::error(message);
        }
    }
    result
}

/// The call of a built-in grader. Its function takes the settings, and of the call the answer, the evidence or all of it.
pub(crate) struct GraderCall<'c> {
    /// The name of the grader below the names of the composites around it.
    pub(crate) path: &'c str,
    pub(crate) grader: &'c Grader,
    pub(crate) context: &'c GradingContext<'c>,
}

impl<'c> From<&'c GraderCall<'c>> for &'c Evidence<'c> {
    fn from(call: &'c GraderCall<'c>) -> Self {
        call.context.evidence
    }
}

impl<'c> From<&'c GraderCall<'c>> for &'c str {
    fn from(call: &'c GraderCall<'c>) -> Self {
        call.context.evidence.answer()
    }
}

/// What the function of a grader returns.
pub(crate) trait Graded {
    /// The record of the call.
    fn into_record(self, call: &GraderCall<'_>) -> GraderRecord;
}

impl Graded for GraderRecord {
    fn into_record(self, _: &GraderCall<'_>) -> GraderRecord {
        self
    }
}

impl<R: Graded, E: Display> Graded for Result<R, E> {
    fn into_record(self, call: &GraderCall<'_>) -> GraderRecord {
        match self {
            Ok(graded) => graded.into_record(call),
            Err(error) => Score::error(error.to_string()).into_record(call),
        }
    }
}

impl<R: Into<GraderResult>> Graded for R {
    fn into_record(self, call: &GraderCall<'_>) -> GraderRecord {
        grader_record(call.grader, self.into(), call.context.threshold)
    }
}
