//! The call of a built-in grader, what its function takes of it, and what it may return.

use std::fmt::Display;

use evalsuite_records::record::GraderRecord;
use evalsuite_schema::Grader;

use crate::grade::grader_record::{GraderResult, grader_record};
use crate::grade::grading_context::GradingContext;
use crate::model::evidence::Evidence;
use crate::model::score::Score;

/// The call of a built-in grader. Its function takes the settings, and of the call the answer, the evidence or all of it.
pub(crate) struct GraderCall<'c> {
    /// The name of the grader below the names of the composites around it.
    pub(crate) path: &'c str,
    pub(crate) grader: &'c Grader,
    pub(crate) context: &'c GradingContext<'c>,
    /// Runs a member of a composite, given its path.
    pub(crate) run: fn(&str, &Grader, &GradingContext<'_>) -> GraderRecord,
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
