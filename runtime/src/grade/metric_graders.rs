//! The graders `latency`, `cost`, `token-usage` and `execution-metrics`.

use evalsuite_records::record::Assertion;
use evalsuite_schema::decimal::{at_most, shown_beside};
use evalsuite_schema::grader::{Cost, ExecutionMetrics, Latency, TokenUsage};

use crate::grade::assertion_text::{both_fixed, fixed, show};
use crate::grade::reported_work::{NotReported, cost_usd, duration_ms, llm_calls, tool_calls, usage};
use crate::model::evidence::Evidence;
use crate::model::score::Score;
use crate::record::trial_statistics::ratio;

/// Tools whose calls only read.
const EXPLORING: [&str; 10] =
    ["read", "grep", "glob", "search", "list", "Read", "Grep", "Glob", "WebSearch", "WebFetch"];

/// Default tolerance of the share of exploring calls.
const EXPLORATION_TOLERANCE: f64 = 0.2;

pub(crate) fn latency(config: &Latency, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    Ok(Score::from_assertions([took(duration_ms(evidence)?, config.threshold, "threshold")]))
}

pub(crate) fn cost(config: &Cost, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    Ok(Score::from_assertions([spending(cost_usd(evidence)?, config.budget, "budget")]))
}

pub(crate) fn token_usage(config: &TokenUsage, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    let usage = usage(evidence)?;
    let (input, output) = (tokens(usage.input), tokens(usage.output));
    let total = input + output + tokens(usage.cached);
    let checks = [
        ("Input tokens", input, config.max_input),
        ("Output tokens", output, config.max_output),
        ("Total tokens", total, config.max_total),
    ];
    let assertions: Vec<Assertion> = checks
        .into_iter()
        .filter_map(|(what, actual, limit)| limit.map(|limit| limited(what, actual, limit, ("at most", ""))))
        .collect();
    let held = assertions.iter().all(|assertion| assertion.passed);
    Ok(Score { assertions, ..Score::from(held) })
}

pub(crate) fn execution_metrics(config: &ExecutionMetrics, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    let mut assertions = Vec::new();
    let mut bounds = |what: &str, [least, most]: [Option<f64>; 2], count: &dyn Fn() -> Result<u64, NotReported>| {
        for (limit, words) in [(least, ("at least", " min")), (most, ("at most", " max"))] {
            if let Some(limit) = limit {
                assertions.push(limited(what, tokens(count()?), limit, words));
            }
        }
        Ok(())
    };
    let calls = || tool_calls(evidence);
    bounds("Tool calls", [config.min_tool_calls, config.max_tool_calls], &|| Ok(calls()?.len() as u64))?;
    bounds("LLM calls", [config.min_llm_calls, config.max_llm_calls], &|| llm_calls(evidence))?;
    let spent = || usage(evidence).map(|usage| usage.input.saturating_add(usage.output));
    bounds("Total tokens", [None, config.max_tokens], &spent)?;
    if let Some(limit) = config.max_cost_usd {
        assertions.push(spending(cost_usd(evidence)?, limit, "max"));
    }
    if let Some(limit) = config.max_duration_ms {
        assertions.push(took(duration_ms(evidence)?, limit, "max"));
    }
    if let Some(target) = config.target_exploration_ratio {
        let tolerance = config.exploration_tolerance.unwrap_or(EXPLORATION_TOLERANCE);
        let names: Vec<&str> = calls()?.iter().map(|call| call.tool.as_str()).collect();
        assertions.push(exploration(&names, target, tolerance));
    }
    Ok(Score::from_assertions(assertions))
}

/// Checks how long the agent worked; `kind` is the word for the limit.
fn took(duration: f64, limit: f64, kind: &str) -> Assertion {
    let held = at_most(duration, limit);
    let (exact, shown) = (show(duration), shown_beside(duration, limit));
    let limit = show(limit);
    Assertion::new(format!("Duration {exact}ms {} {limit}ms {kind}", sign(held)), held)
        .with_expected(format!("at most {limit} ms"))
        .with_actual(format!("{shown} ms"))
}

/// Checks what the agent cost; `kind` is the word for the limit.
fn spending(cost: f64, limit: f64, kind: &str) -> Assertion {
    let held = at_most(cost, limit);
    let (shown, mark) = both_fixed(cost, limit, 4);
    Assertion::new(format!("Cost ${shown} {} ${mark} {kind}", sign(held)), held)
        .with_expected(format!("at most ${limit}"))
        .with_actual(format!("${}", shown_beside(cost, limit)))
}

fn exploration(calls: &[&str], target: f64, tolerance: f64) -> Assertion {
    if calls.is_empty() {
        return Assertion::new("Exploration ratio not available (no tool calls)", false)
            .with_expected(format!("{target} ± {tolerance}"));
    }
    let exploring = calls.iter().filter(|name| EXPLORING.contains(name)).count();
    let share = ratio(exploring, calls.len());
    let distance = (share - target).abs();
    let held = at_most(distance, tolerance);
    let shown = fixed(share, 2);
    let text = if held {
        format!("Exploration ratio {shown} within tolerance of target {}", show(target))
    } else {
        let ((distance, _), tolerance, target) = (both_fixed(distance, tolerance, 2), show(tolerance), show(target));
        format!(
            "Exploration ratio {shown} outside tolerance of target {target} (diff: {distance}, tolerance: {tolerance})"
        )
    };
    Assertion::new(text, held)
        .with_expected(format!("{target} ± {tolerance}"))
        .with_actual(shown_beside(share, if share > target { target + tolerance } else { target - tolerance }))
}

/// Checks a number; `sense` is "at least" or "at most", and `suffix` ends the text.
fn limited(what: &str, actual: f64, limit: f64, (sense, suffix): (&str, &str)) -> Assertion {
    let (held, sign) = match sense {
        "at least" => (actual >= limit, if actual >= limit { ">=" } else { "<" }),
        _ => (actual <= limit, sign(actual <= limit)),
    };
    let (actual, limit) = (show(actual), show(limit));
    Assertion::new(format!("{what} {actual} {sign} {limit}{suffix}"), held)
        .with_expected(format!("{sense} {limit}"))
        .with_actual(actual)
}

fn sign(held: bool) -> &'static str {
    if held { "<=" } else { ">" }
}

#[allow(clippy::cast_precision_loss, reason = "limits are compared as JSON numbers, which are doubles")]
fn tokens(count: u64) -> f64 {
    count as f64
}

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{Grader, GraderConfig};

    use super::*;
    use crate::grade::probed::{GraderClass, Passing, Probed};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        match config {
            GraderConfig::Latency(_) | GraderConfig::Cost(_) | GraderConfig::TokenUsage(_) => Some(&OnlyLimit),
            GraderConfig::ExecutionMetrics(config) => Some(config),
            _ => None,
        }
    }

    struct OnlyLimit;

    impl Probed for OnlyLimit {
        fn class(&self, _: fn(&Grader) -> GraderClass) -> GraderClass {
            GraderClass::Limit
        }
    }

    impl Probed for ExecutionMetrics {
        fn class(&self, _: fn(&Grader) -> GraderClass) -> GraderClass {
            let minimums = [self.min_tool_calls, self.min_llm_calls, self.target_exploration_ratio];
            // A reference says nothing about how many calls there were.
            if minimums.into_iter().flatten().any(|least| least > 0.0) {
                GraderClass::Opaque
            } else {
                GraderClass::Limit
            }
        }

        fn advice(&self, _grader: &Grader, _passing: &Passing<'_>) -> Option<String> {
            Some("numbers of calls say nothing about what is done: add a grader of the answer".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Usage;
    use evalsuite_schema::{Message, Role, ToolCall};

    use super::*;
    use crate::model::evidence::{Facts, UnknownWork};
    use crate::model::score::ScoreState;

    fn evidence(calls: &[&str]) -> Evidence<'static> {
        let mut message = Message::text(Role::Assistant, "done");
        message.tool_calls = calls.iter().map(|name| ToolCall::new(*name)).collect();
        Evidence::new(Facts {
            transcript: Some(vec![message]),
            usage: Some(Usage::new(100, 50).with_cached(25)),
            cost_usd: Some(0.05),
            duration_ms: 12.5,
            ..Facts::default()
        })
    }

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(latency(&Latency { threshold: 12.5 }, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
        assert_eq!(latency(&Latency { threshold: 12.4 }, &evidence(&[])).unwrap().state, ScoreState::Decided(0.0));
        assert_eq!(cost(&Cost { budget: 0.05 }, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
    }

    #[test]
    fn cached_tokens_count_for_the_total_only() {
        let total = TokenUsage { max_total: Some(174.0), ..TokenUsage::default() };
        assert_eq!(token_usage(&total, &evidence(&[])).unwrap().state, ScoreState::Decided(0.0));
        let both = TokenUsage { max_input: Some(100.0), max_output: Some(50.0), ..TokenUsage::default() };
        assert_eq!(token_usage(&both, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
        let spent = ExecutionMetrics { max_tokens: Some(150.0), ..ExecutionMetrics::default() };
        assert_eq!(execution_metrics(&spent, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
    }

    #[test]
    fn what_was_not_reported_is_an_error() {
        let unreported = Evidence::new(Facts::default());
        assert!(cost(&Cost { budget: 9.0 }, &unreported).is_err());
        assert!(token_usage(&TokenUsage { max_total: Some(9.0), ..Default::default() }, &unreported).is_err());
        let metrics = |change: fn(&mut ExecutionMetrics)| {
            // The duration is measured.
            let mut config = ExecutionMetrics { max_duration_ms: Some(1.0), ..Default::default() };
            change(&mut config);
            execution_metrics(&config, &unreported)
        };
        assert_eq!(metrics(|_| ()).unwrap().state, ScoreState::Decided(1.0));
        let calls = metrics(|config| config.max_tool_calls = Some(9.0)).unwrap_err().to_string();
        assert!(calls.contains("`trial.tool_call`") && calls.contains("`trial.transcript_complete`"), "{calls}");
        for change in [
            (|config| config.min_llm_calls = Some(0.0)) as fn(&mut ExecutionMetrics),
            |config| config.max_tokens = Some(9.0),
            |config| config.max_cost_usd = Some(9.0),
            |config| config.target_exploration_ratio = Some(0.5),
        ] {
            assert!(metrics(change).is_err());
        }
        let unknown = Evidence::new(Facts { duration_ms: f64::NAN, ..Facts::default() });
        assert!(latency(&Latency { threshold: 9.0 }, &unknown).is_err());
    }

    #[test]
    fn calls_have_a_smallest_and_a_largest_number() {
        let config = ExecutionMetrics { min_tool_calls: Some(2.0), max_tool_calls: Some(3.0), ..Default::default() };
        let value = |calls: &[&str]| execution_metrics(&config, &evidence(calls)).unwrap().state;
        assert_eq!(value(&["a", "b"]), ScoreState::Decided(1.0));
        assert_eq!(value(&["a"]), ScoreState::Decided(0.5));
        assert_eq!(value(&["a"; 4]), ScoreState::Decided(0.5));
        let config = ExecutionMetrics { min_llm_calls: Some(2.0), ..Default::default() };
        let score = execution_metrics(&config, &evidence(&[])).unwrap();
        assert_eq!(score.assertions[0].text, "LLM calls 1 < 2 min");
    }

    #[test]
    fn the_share_of_exploring_calls_is_compared_with_its_target() {
        let config = ExecutionMetrics { target_exploration_ratio: Some(0.5), ..Default::default() };
        assert_eq!(execution_metrics(&config, &evidence(&["Read", "Edit"])).unwrap().state, ScoreState::Decided(1.0));
        assert_eq!(execution_metrics(&config, &evidence(&["Edit"])).unwrap().state, ScoreState::Decided(0.0));
        assert_eq!(execution_metrics(&config, &evidence(&[])).unwrap().state, ScoreState::Decided(0.0));
    }

    #[test]
    fn a_message_that_does_not_state_its_model_calls_is_one() {
        let counts = |counts: &[Option<u64>]| {
            let message = |count: &Option<u64>| {
                let mut message = Message::text(Role::Assistant, "x");
                message.llm_call_count = *count;
                message
            };
            let transcript = counts.iter().map(message).chain([Message::text(Role::User, "y")]).collect();
            llm_calls(&Evidence::new(Facts { transcript: Some(transcript), ..Facts::default() }))
        };
        assert_eq!(counts(&[None, None]), Ok(2));
        assert_eq!(counts(&[Some(3), None, Some(0), None]), Ok(5));
        assert_eq!(counts(&[Some(u64::MAX), None]), Ok(u64::MAX));
    }

    #[test]
    fn only_what_is_missing_is_an_error() {
        let unknown = UnknownWork { calls: Some("no spans".into()), ..UnknownWork::default() };
        let facts = Facts { transcript: Some(Vec::new()), cost_usd: Some(0.5), unknown, ..Facts::default() };
        let evidence = Evidence::new(facts);
        let why = NotReported("no spans".to_owned());
        assert_eq!(tool_calls(&evidence).map(drop), Err(why.clone()));
        assert_eq!(llm_calls(&evidence), Err(why));
        assert_eq!(
            (evidence.tool_calls(), evidence.llm_calls()),
            (None, None),
            "graders in Rust take a part for all of it"
        );
        assert_eq!((cost_usd(&evidence), duration_ms(&evidence)), (Ok(0.5), Ok(0.0)));
        assert!(usage(&evidence).unwrap_err().to_string().contains("`trial.usage`"));
        let reported = Evidence::new(Facts { transcript: Some(Vec::new()), ..Facts::default() });
        assert_eq!((tool_calls(&reported).map(|calls| calls.len()), llm_calls(&reported)), (Ok(0), Ok(0)));
        assert!(cost_usd(&reported).unwrap_err().to_string().contains("`trial.cost_usd`"));
    }
}
