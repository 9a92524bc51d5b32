//! Graders of calls and usage that are not known: they are errors, because missing data is not evidence.

use evalsuite_schema::GraderConfig;
use evalsuite_schema::grader::ExecutionMetrics;

use crate::model::evidence::UnknownWork;
use crate::model::score::Score;

/// The error of a grader that needs what is not known.
pub(crate) fn error(config: &GraderConfig, unknown: &UnknownWork) -> Option<Score> {
    let (calls, spending) = needs(config);
    let why = unknown.calls.as_ref().filter(|_| calls).or(unknown.spending.as_ref().filter(|_| spending))?;
    Some(Score::error(why.as_str()))
}

/// Whether a grader needs the agent's calls, and whether it needs tokens or cost.
fn needs(config: &GraderConfig) -> (bool, bool) {
    match config {
        GraderConfig::ToolTrajectory(_) | GraderConfig::SkillTrigger(_) => (true, false),
        GraderConfig::TokenUsage(_) | GraderConfig::Cost(_) => (false, true),
        GraderConfig::ExecutionMetrics(ExecutionMetrics {
            min_tool_calls,
            max_tool_calls,
            min_llm_calls,
            max_llm_calls,
            target_exploration_ratio,
            max_tokens,
            max_cost_usd,
            ..
        }) => {
            let calls = [min_tool_calls, max_tool_calls, min_llm_calls, max_llm_calls, target_exploration_ratio];
            (calls.iter().any(|limit| limit.is_some()), max_tokens.is_some() || max_cost_usd.is_some())
        }
        _ => (false, false),
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Cost, SkillTrigger};

    use super::*;
    use crate::model::score::ScoreState;

    #[test]
    fn only_graders_that_need_what_is_missing_are_errors() {
        let skill = GraderConfig::SkillTrigger(SkillTrigger { skill: "s".into(), should_trigger: false });
        let cost = GraderConfig::Cost(Cost { budget: 1.0 });
        let metrics = |config| GraderConfig::ExecutionMetrics(config);
        let duration = metrics(ExecutionMetrics { max_duration_ms: Some(1.0), ..Default::default() });
        let calls = metrics(ExecutionMetrics { max_llm_calls: Some(1.0), ..Default::default() });
        let tokens = metrics(ExecutionMetrics { max_tokens: Some(1.0), ..Default::default() });
        let unknown = UnknownWork { calls: Some("no spans".into()), spending: None };
        let is_error = |config| error(config, &unknown).map(|score| score.state);
        assert_eq!(is_error(&skill), Some(ScoreState::Error("no spans".into())));
        assert!(is_error(&calls).is_some());
        assert_eq!([&cost, &duration, &tokens].map(is_error), [const { None }; 3]);
        let hidden = UnknownWork { spending: Some("hidden".into()), ..unknown };
        assert!(error(&cost, &hidden).is_some() && error(&tokens, &hidden).is_some());
        assert!(error(&duration, &hidden).is_none());
    }
}
