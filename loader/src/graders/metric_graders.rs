//! Rules of `latency`, `token-usage` and `execution-metrics`.

use evalsuite_schema::grader::{ExecutionMetrics, GraderConfig};

use super::{Constant, Family, Rules};
use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields;

pub(super) const FAMILY: Family = Family {
    rules: &[
        ("latency", latency),
        ("token-usage", |rules, d| needs_limit(rules, "`max_total`, `max_input` or `max_output`", d)),
        ("execution-metrics", |mut rules, d| {
            check_bounds(&mut rules, d);
            needs_limit(rules, "a limit such as `max_tool_calls`, or `target_exploration_ratio`", d);
        }),
    ],
    constant,
};

/// Shortest limit of a duration that is not taken for seconds, in milliseconds: no model answers faster.
const SHORTEST_LATENCY: f64 = 100.0;

/// A limit that is not meant in milliseconds.
fn latency(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let Some(entry) = rules.fields.written(rules.fields.key("threshold")) else { return };
    let Some(limit) = entry.value.as_f64().filter(|limit| (0.0..SHORTEST_LATENCY).contains(limit)) else { return };
    let message = format!("`threshold` is in milliseconds: no model answers in {limit} ms");
    let help = match limit {
        0.0 => "write the longest duration that passes, such as `threshold: 5000`".to_owned(),
        _ => {
            let milliseconds = limit * 1000.0;
            format!("if seconds are meant, write `threshold: {milliseconds}`; an agent without a model may be so fast")
        }
    };
    d.report(Code::UnlikelyLimit, entry.value.span, message, help);
}

/// There is at least one limit; a tolerance alone checks nothing.
fn needs_limit(rules: Rules<'_, '_, '_>, limits: &str, d: &mut Diagnostics) {
    let Rules { fields, parts, .. } = rules;
    let mut keys = fields.object.keys.iter().filter(|key| key.name != "exploration_tolerance");
    if !keys.any(|key| fields.written(key).is_some()) {
        let message = "the grader has nothing to check";
        d.report(Code::MissingGraderSetting, fields.node.span, message, format!("add {limits}"));
        parts.mark_broken();
    }
}

/// A smallest number is at most the largest one, unless one of them is no number of calls.
fn check_bounds(rules: &mut Rules<'_, '_, '_>, d: &mut Diagnostics) {
    for (low, high) in [("min_tool_calls", "max_tool_calls"), ("min_llm_calls", "max_llm_calls")] {
        let [low, high] = [low, high].map(|key| rules.fields.written(rules.fields.key(key)));
        let (Some(low), Some(high)) = (low, high) else { continue };
        let [least, most] = [low, high].map(|entry| entry.value.as_f64().filter(|number| *number >= 0.0));
        if let (Some(least), Some(most)) = (least, most)
            && least > most
        {
            let message = format!("{} is {least}, and {} is {most}", fields::label(low), fields::label(high));
            let help = "write a maximum of at least the minimum";
            report_both(Code::SettingConflict, (high.value.span, message), (low.value.span, "the minimum"), help, d);
            rules.parts.mark_broken();
        }
    }
}

fn constant(config: &GraderConfig) -> Option<Constant> {
    let GraderConfig::ExecutionMetrics(metrics) = config else { return None };
    let least = [metrics.min_tool_calls, metrics.min_llm_calls];
    let all_else =
        ExecutionMetrics { min_tool_calls: None, min_llm_calls: None, exploration_tolerance: None, ..metrics.clone() };
    let needs_nothing = least.iter().any(Option::is_some) && least.iter().flatten().all(|least| *least == 0.0);
    (needs_nothing && all_else == ExecutionMetrics::default()).then(|| Constant {
        passes: true,
        key: "",
        reason: "every number of calls is at least 0".to_owned(),
        help: "write a minimum of at least 1, or a maximum".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{ExecutionMetrics, GraderConfig, TokenUsage};

    use crate::graders::tests::{check, config};
    use crate::tests::Package;

    #[test]
    fn limits_are_numbers_of_at_least_zero() {
        assert_eq!(
            config("{type: token_usage, max_total: 150, max_output: 0}"),
            GraderConfig::TokenUsage(TokenUsage { max_total: Some(150.0), max_output: Some(0.0), max_input: None })
        );
        assert_eq!(
            config("{type: execution-metrics, max_tool_calls: 2.5, min_llm_calls: 1, exploration_tolerance: 3}"),
            GraderConfig::ExecutionMetrics(ExecutionMetrics {
                max_tool_calls: Some(2.5),
                min_llm_calls: Some(1.0),
                exploration_tolerance: Some(3.0),
                ..ExecutionMetrics::default()
            })
        );
        check(&[
            ("{type: latency, threshold: -1}", &["1:30 E024 `threshold` is -1, which is not a number of at least 0"]),
            ("{type: latency, max_duration_ms: 5}", &["1:19 E019 unknown key `max_duration_ms` in `latency`"]),
            ("{type: cost, budget: '1'}", &["1:24 E020 `budget` must be a number, found text"]),
            ("{type: cost}", &["1:3 E052 missing key `budget` in `cost`"]),
            ("{type: token-usage}", &["1:3 E052 the grader has nothing to check"]),
            ("{type: token-usage, max_total: '150'}", &["1:34 E020 `max_total` must be a number, found text"]),
            ("{type: execution-metrics, exploration_tolerance: 0.5}", &["1:3 E052 the grader has nothing to check"]),
            (
                "{type: execution-metrics, target_exploration_ratio: 1.5}",
                &["1:55 E024 `target_exploration_ratio` is 1.5, which is not a number within 0..1"],
            ),
            (
                "{type: execution-metrics, max_tokens: 1, maxTokens: 2}",
                &["1:44 E025 `max_tokens` and `maxTokens` are one setting"],
            ),
        ]);
    }

    #[test]
    fn camel_case_is_an_old_spelling() {
        let package = Package::new(&[]);
        let (parsed, d) = package.read("[{type: execution-metrics, maxLlmCalls: 3}]");
        assert_eq!(package.lines(&d), ["1:28 W001 `maxLlmCalls` is now `max_llm_calls`"]);
        let GraderConfig::ExecutionMetrics(metrics) = &parsed[0].grader.config else { panic!("another type") };
        assert_eq!(metrics.max_llm_calls, Some(3.0));
    }
}
