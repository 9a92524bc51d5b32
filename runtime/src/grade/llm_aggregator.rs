//! The aggregator `llm-grader` of a `composite`: a judge combines the members' results into one score.

use evalsuite_records::record::GraderRecord;
use evalsuite_schema::grader::{JudgeSettings, Prompt};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Grader, Value};

use crate::grade::grader_result::GraderResult;
use crate::grade::grading_context::GradingContext;
use crate::grade::judge_panel;
use crate::judge::prompt_texts::AGGREGATE;
use crate::judge::question::Question;
use crate::judge::reply_shape::ReplyShape;
use crate::model::judge::fenced;
use crate::model::messages::pretty;
use crate::model::score::Score;

/// Template variable of the members' results.
const RESULTS: &str = "EVALUATOR_RESULTS_JSON";

/// Asks a judge for one score. `complete` adds what the record says about the members.
pub(crate) fn grade(
    path: &str,
    grader: &Grader,
    (prompt, model): (Option<&Prompt>, Option<&str>),
    results: &Value,
    context: &GradingContext<'_>,
    complete: impl Fn(GraderResult) -> GraderResult,
) -> GraderRecord {
    let mut text = match prompt {
        None => AGGREGATE.to_owned(),
        Some(Prompt::Text(text) | Prompt::File { text, .. }) => text.clone(),
        Some(Prompt::Command { .. }) => {
            let error = Score::error("a command cannot write the prompt of an aggregator");
            return judge_panel::record(grader, error, context);
        }
    };
    if !Syntax::Template.names(&text).any(|name| name == RESULTS) {
        text.push_str("\n\n{{EVALUATOR_RESULTS_JSON}}");
    }
    let results = fenced(&pretty(results));
    let user = Syntax::Template.fill(&text, |name| (name == RESULTS).then(|| results.as_str().into()));
    let settings = JudgeSettings { model: model.map(str::to_owned), ..JudgeSettings::default() };
    let (system, response_schema) = (ReplyShape::FreeForm.system(), ReplyShape::FreeForm.schema(&[]));
    let question = Question { system, response_schema, user, images: Vec::new(), settings: &settings };
    judge_panel::ask(path, grader, &question, &[], context, complete)
}
