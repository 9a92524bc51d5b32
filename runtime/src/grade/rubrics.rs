//! The `rubrics` grader: a judge checks the answer criterion by criterion.

use evalsuite_records::record::GraderRecord;
use evalsuite_schema::Grader;
use evalsuite_schema::grader::Rubrics;

use crate::grade::grading_context::GradingContext;
use crate::grade::judge_panel;

pub(crate) fn grade(path: &str, grader: &Grader, config: &Rubrics, context: &GradingContext<'_>) -> GraderRecord {
    judge_panel::grade_answer(path, grader, None, &config.criteria, &config.judge, context)
}
