//! The `rubrics` grader: a judge checks the answer criterion by criterion.

use evalsuite_records::record::GraderRecord;
use evalsuite_schema::grader::Rubrics;

use crate::grade::grader_call::GraderCall;
use crate::grade::judge_panel;

pub(crate) fn grade(config: &Rubrics, call: &GraderCall<'_>) -> GraderRecord {
    judge_panel::grade_answer(None, &config.criteria, &config.judge, call)
}
