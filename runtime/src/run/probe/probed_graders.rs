//! The graders of a case for a probe: their paths, what can be found out about them, and their verdicts.

use std::collections::BTreeMap;

use evalsuite_records::record::{GraderRecord, GraderState, TurnRecord};
use evalsuite_schema::grader::{Aggregator, ExecutionMetrics, ToolTrajectory, TrajectoryMode};
use evalsuite_schema::{Case, Grader, GraderConfig};

use crate::run::made_up::graders_with_paths::graders_with_paths;
use crate::run::selection::case_graders::turn_folder;

/// The graders of a case by their paths.
pub(super) fn graders_by_path(case: &Case) -> BTreeMap<String, &Grader> {
    graders_with_paths(case).into_iter().map(|(path, grader, _)| (path, grader)).collect()
}

/// A verdict of a grader.
pub(super) struct PathVerdict<'r> {
    pub(super) path: String,
    pub(super) record: &'r GraderRecord,
    pub(super) passes: bool,
}

/// The verdicts in the records of a trial, members of composites after them; graders without one are left out.
pub(super) fn verdicts<'r>(graders: &'r [GraderRecord], turns: Option<&'r [TurnRecord]>) -> Vec<PathVerdict<'r>> {
    let mut found = Vec::new();
    graders.iter().for_each(|record| add_verdicts(record.name.clone(), record, &mut found));
    let turns = turns.unwrap_or_default();
    // All turns of a simulated user have the same graders.
    let first_simulated = turns.iter().position(|turn| turn.simulated).unwrap_or(turns.len());
    for (index, turn) in turns.iter().enumerate() {
        let index = u32::try_from(index.min(first_simulated)).unwrap_or(u32::MAX);
        for record in &turn.graders {
            add_verdicts(format!("{}/{}", turn_folder(index), record.name), record, &mut found);
        }
    }
    found
}

fn add_verdicts<'r>(path: String, record: &'r GraderRecord, found: &mut Vec<PathVerdict<'r>>) {
    if let (GraderState::Decided, Some(verdict)) = (record.state, record.verdict) {
        found.push(PathVerdict { path: path.clone(), record, passes: verdict.is_pass() });
    }
    record.members.iter().for_each(|member| add_verdicts(format!("{path}/{}", member.name), member, found));
}

/// What a probe can find out about a grader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraderClass {
    /// It looks at the answer and the calls of tools, which a made-up result has.
    Plain,
    /// It is code, which may look at anything else, such as files that a reference does not have.
    Opaque,
    /// It is a limit on time, tokens, cost or calls, which a made-up result never exceeds.
    Limit,
}

pub(super) fn class(grader: &Grader) -> GraderClass {
    match &grader.config {
        GraderConfig::Latency(_) | GraderConfig::Cost(_) | GraderConfig::TokenUsage(_) => GraderClass::Limit,
        GraderConfig::ExecutionMetrics(config) if !has_minimum(config) => GraderClass::Limit,
        GraderConfig::ToolTrajectory(config) if only_limits_calls(config) => GraderClass::Limit,
        // A reference says nothing about how many calls there were.
        GraderConfig::ExecutionMetrics(_) | GraderConfig::User { .. } | GraderConfig::CodeGrader(_) => {
            GraderClass::Opaque
        }
        GraderConfig::Composite(config) => {
            let classes: Vec<GraderClass> = config.members.iter().map(class).collect();
            let is_code = matches!(config.aggregator, Aggregator::CodeGrader { .. });
            if classes.iter().all(|class| *class == GraderClass::Limit) {
                GraderClass::Limit
            } else if is_code || classes.contains(&GraderClass::Opaque) {
                GraderClass::Opaque
            } else {
                GraderClass::Plain
            }
        }
        _ => GraderClass::Plain,
    }
}

/// Whether a grader may take the answer for data.
pub(super) fn may_read_data(grader: &Grader) -> bool {
    matches!(
        grader.config,
        GraderConfig::User { .. }
            | GraderConfig::CodeGrader(_)
            | GraderConfig::IsJson
            | GraderConfig::ContainsJson(_)
            | GraderConfig::JsonSchema(_)
    )
}

fn has_minimum(config: &ExecutionMetrics) -> bool {
    let is_above_0 = |least: Option<f64>| least.is_some_and(|least| least > 0.0);
    is_above_0(config.min_tool_calls) || is_above_0(config.min_llm_calls) || is_above_0(config.target_exploration_ratio)
}

/// Whether a trajectory only says how many calls are too many. A maximum of 0 forbids a tool.
fn only_limits_calls(config: &ToolTrajectory) -> bool {
    config.mode == TrajectoryMode::AnyOrder
        && config.minimums.is_empty()
        && config.maximums.iter().all(|(_, most)| *most > 0)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Composite, Latency, TextValue};
    use evalsuite_schema::{Location, Object};

    use super::*;

    fn grader(config: GraderConfig) -> Grader {
        Grader::new("g", Location::new("f", 1, 1), config)
    }

    fn composite(members: Vec<GraderConfig>) -> Grader {
        let aggregator = Aggregator::Threshold { threshold: 0.5 };
        let members = members.into_iter().map(grader).collect();
        grader(GraderConfig::Composite(Composite { members, aggregator }))
    }

    #[test]
    fn a_composite_is_what_its_members_are() {
        let limit = || GraderConfig::Latency(Latency { threshold: 1.0 });
        let text = || GraderConfig::Contains(TextValue { value: "a".into() });
        let user = || GraderConfig::User { grader: "g".into(), config: Object::new() };
        assert_eq!(class(&composite(vec![limit(), limit()])), GraderClass::Limit);
        assert_eq!(class(&composite(vec![limit(), text()])), GraderClass::Plain);
        assert_eq!(class(&composite(vec![text(), user()])), GraderClass::Opaque);
    }

    #[test]
    fn a_minimum_is_no_limit() {
        let metrics = |least| {
            class(&grader(GraderConfig::ExecutionMetrics(ExecutionMetrics {
                min_tool_calls: least,
                max_tool_calls: Some(9.0),
                ..ExecutionMetrics::default()
            })))
        };
        assert_eq!([metrics(None), metrics(Some(0.0))], [GraderClass::Limit; 2]);
        assert_eq!(metrics(Some(1.0)), GraderClass::Opaque);
    }
}
