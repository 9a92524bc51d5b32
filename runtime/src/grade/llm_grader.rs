//! The graders `llm-grader` and `rubrics`: a judge gives a score, or checks the answer criterion by criterion.

use evalsuite_records::record::GraderRecord;
use evalsuite_schema::grader::{LlmGrader, Rubrics};
use evalsuite_schema::{Grader, GraderConfig, Location};

use crate::grade::grader_call::GraderCall;
use crate::grade::judge_panel;

/// The grader of a case that lists none.
pub(crate) fn implicit(location: Location) -> Grader {
    Grader::new("llm-grader", location, GraderConfig::LlmGrader(LlmGrader::default()))
}

pub(crate) fn grade(config: &LlmGrader, call: &GraderCall<'_>) -> Result<GraderRecord, String> {
    judge_panel::grade_answer(config.prompt.as_ref(), &config.rubrics, &config.judge, call)
}

pub(crate) fn grade_rubrics(config: &Rubrics, call: &GraderCall<'_>) -> Result<GraderRecord, String> {
    judge_panel::grade_answer(None, &config.criteria, &config.judge, call)
}
