//! How an agent ended a turn, and what that means for the trial.

use evalsuite_records::record::Usage;
use evalsuite_schema::Value;

/// The result of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The answer is graded.
    Answered,
    /// The agent refused. The answer is graded: a case may want that.
    Refused,
    /// There is no complete answer; the text says why.
    Incomplete(String),
}

impl Ending {
    /// Of the result of `session/prompt`.
    pub(crate) fn of(result: &Value) -> Self {
        let reason = match result.get("stopReason") {
            Some(Value::String(reason)) => reason.as_str(),
            other => {
                let found = other.map_or_else(|| "nothing".to_owned(), Value::to_string);
                return Self::Incomplete(format!("the agent ended its turn with the stop reason {found}, not a text"));
            }
        };
        match reason {
            "end_turn" => Self::Answered,
            "refusal" => Self::Refused,
            "max_tokens" => Self::cut_off(reason, "the model reached its limit of tokens"),
            "max_turn_requests" => Self::cut_off(reason, "the agent reached its limit of model requests in a turn"),
            "cancelled" => Self::cut_off(reason, "the agent cancelled its turn, which nothing asked for"),
            other => Self::Incomplete(format!("the agent ended its turn with the unknown stop reason `{other}`")),
        }
    }

    fn cut_off(reason: &str, why: &str) -> Self {
        Self::Incomplete(format!("the agent was cut off: {why} (stop reason `{reason}`)"))
    }
}

/// The tokens of a turn, if the result of `session/prompt` has them.
pub(crate) fn usage(result: &Value) -> Option<Usage> {
    let usage = result.get("usage")?;
    let number = |key: &str| usage.get(key).and_then(Value::as_u64);
    let (input, output) = (number("inputTokens")?, number("outputTokens")?);
    let (cached, written) = (number("cachedReadTokens").unwrap_or(0), number("cachedWriteTokens").unwrap_or(0));
    // Agents differ in whether input includes what was read from a cache; the total tells.
    let separate = input.saturating_add(output).saturating_add(cached).saturating_add(written);
    let is_included = number("totalTokens").is_some_and(|total| total < separate);
    let input = if is_included { input.saturating_sub(cached) } else { input.saturating_add(written) };
    Some(Usage::new(input, output).with_cached(cached).with_reasoning(number("thoughtTokens").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn only_an_agent_that_ended_its_turn_has_an_answer() {
        let of = |reason: Value| Ending::of(&json!({"stopReason": reason}));
        assert_eq!(of(json!("end_turn")), Ending::Answered);
        assert_eq!(of(json!("refusal")), Ending::Refused);
        for reason in
            [json!("max_tokens"), json!("max_turn_requests"), json!("cancelled"), json!("new"), json!(1), json!(null)]
        {
            assert!(matches!(of(reason.clone()), Ending::Incomplete(_)), "{reason}");
        }
        assert!(matches!(Ending::of(&json!({})), Ending::Incomplete(_)));
        assert!(matches!(Ending::of(&Value::Null), Ending::Incomplete(_)));
    }

    #[test]
    fn cached_tokens_are_counted_once() {
        let of = |total: u64| {
            usage(
                &json!({"usage": {"inputTokens": 100, "outputTokens": 10, "cachedReadTokens": 60, "totalTokens": total}}),
            )
        };
        assert_eq!(of(170), Some(Usage::new(100, 10).with_cached(60)));
        assert_eq!(of(110), Some(Usage::new(40, 10).with_cached(60)));
        assert_eq!(usage(&json!({"usage": null})), None);
        assert_eq!(usage(&json!({})), None);
    }
}
