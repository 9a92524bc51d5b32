//! Transcripts as chat messages, tokens and cost in Inspect's terms.

use std::collections::BTreeMap;

use evalsuite_records::record::{TrialRecord, UnknownParts, Usage};
use evalsuite_schema::Role;
use evalsuite_schema::json::{Object, Value, json};

use crate::formats::steps::{Call, Step};

/// The messages of a sample: those of the transcript, after the input if the transcript does not have it.
pub(super) fn messages(input: &[(Role, String)], steps: &[Step<'_>], answer: Option<&str>) -> Vec<Value> {
    let has_input = steps.iter().any(|step| step.source == "user");
    let mut messages: Vec<Value> = Vec::new();
    if !has_input {
        messages.extend(input_messages(input));
    }
    steps.iter().for_each(|step| add_step(step, &mut messages));
    if steps.is_empty() {
        messages.extend(answer.map(assistant));
    }
    messages
}

pub(super) fn input_messages(input: &[(Role, String)]) -> impl Iterator<Item = Value> {
    input.iter().map(|(role, text)| match role {
        Role::Assistant => assistant(text),
        role => json!({ "role": role.as_str(), "content": text, "source": "input" }),
    })
}

/// A message of the agent.
pub(super) fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text, "source": "generate" })
}

fn add_step(step: &Step<'_>, messages: &mut Vec<Value>) {
    if step.source != "agent" {
        messages.push(json!({ "role": step.source, "content": step.message, "source": "input" }));
    } else {
        let mut message = assistant(&step.message);
        if let Some(reasoning) = step.reasoning {
            let reasoning = json!({ "type": "reasoning", "reasoning": reasoning, "redacted": false });
            message["content"] = json!([reasoning, { "type": "text", "text": step.message }]);
        }
        if !step.calls.is_empty() {
            message["tool_calls"] = step.calls.iter().map(tool_call).collect();
        }
        if let Some(model) = step.model {
            message["model"] = model.into();
        }
        messages.push(message);
    }
    for call in &step.calls {
        if let Some(result) = &call.result {
            let (id, tool, error) = (call.id, call.tool, error(call));
            messages.push(json!({
                "role": "tool", "content": result, "tool_call_id": id, "function": tool, "error": error,
            }));
        }
    }
    messages.extend(step.loose_results.iter().map(|result| json!({ "role": "tool", "content": result })));
}

fn tool_call(call: &Call<'_>) -> Value {
    json!({ "id": call.id, "function": call.tool, "arguments": arguments(call), "type": "function" })
}

/// The arguments of a call as an object.
pub(super) fn arguments(call: &Call<'_>) -> Value {
    match call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::Null => json!({}),
        other => json!({ "value": other }),
    }
}

/// The error of a call that failed.
pub(super) fn error(call: &Call<'_>) -> Option<Value> {
    let message = call.result.as_deref().unwrap_or_default();
    call.is_error.then(|| json!({ "type": "unknown", "message": message }))
}

/// The role of judges.
pub(super) const JUDGE: &str = "grader";

/// The role of simulated users.
const USER: &str = "user";

/// Tokens and cost, summed over trials; agents, judges and simulated users apart.
#[derive(Debug, Default)]
pub(super) struct TotalUsage {
    models: BTreeMap<String, (Usage, Option<f64>)>,
    judges: (Usage, Option<f64>),
    users: (Usage, Option<f64>),
}

impl TotalUsage {
    /// Adds a trial; `model` is that of trials which report none.
    pub(super) fn add(&mut self, record: &TrialRecord, model: &str) {
        if record.usage.is_some() || record.cost_usd.is_some() {
            let model = record.model.as_deref().unwrap_or(model);
            let (usage, cost) = self.models.entry(model.to_owned()).or_default();
            *usage += record.usage.unwrap_or_default();
            *cost = sum(*cost, record.cost_usd);
        }
        let (usage, cost) = &mut self.judges;
        *usage += record.judge_usage.unwrap_or_default();
        *cost = sum(*cost, record.judge_cost_usd);
        let (usage, cost) = &mut self.users;
        *usage += record.user_usage.unwrap_or_default();
        *cost = sum(*cost, record.user_cost_usd);
    }

    pub(super) fn of_models(&self) -> Value {
        let models = self.models.iter().map(|(model, (usage, cost))| (model.clone(), usage_json(*usage, *cost)));
        Value::Object(models.collect())
    }

    /// Judges and simulated users are not among the models: what they cost is not the agent's.
    pub(super) fn of_roles(&self) -> Value {
        let mut roles = Object::new();
        for (role, (usage, cost)) in [(JUDGE, self.judges), (USER, self.users)] {
            if usage != Usage::default() || cost.is_some() {
                roles.insert(role.to_owned(), usage_json(usage, cost));
            }
        }
        Value::Object(roles)
    }
}

/// Of how many of these trials the cost and the tokens of the agent, of judges, and of the simulated user are not known, where those of others
/// or a part of them are: Inspect's sums are lower bounds then, which it cannot show.
pub(super) fn lower_bounds(trials: &[&TrialRecord]) -> Object {
    let unknown = |of: fn(&TrialRecord) -> UnknownParts, known: [fn(&TrialRecord) -> bool; 3]| {
        let unknown: Vec<UnknownParts> = trials.iter().map(|trial| of(trial)).collect();
        let parts = ["agent", "judges", "user"].into_iter().zip(UnknownParts::counts(&unknown)).zip(known);
        let shown = parts.filter(|((_, count), is_known)| *count > 0 && trials.iter().any(|trial| is_known(trial)));
        shown.map(|((who, count), _)| (who.to_owned(), Value::from(count))).collect::<Object>()
    };
    let costs: [fn(&TrialRecord) -> bool; 3] = [
        |trial| trial.cost_usd.is_some(),
        |trial| trial.judge_cost_usd.is_some(),
        |trial| trial.user_cost_usd.is_some(),
    ];
    let tokens: [fn(&TrialRecord) -> bool; 3] =
        [|trial| trial.usage.is_some(), |trial| trial.judge_usage.is_some(), |trial| trial.user_usage.is_some()];
    let of_both = [
        ("trials_of_unknown_cost", unknown(TrialRecord::unknown_costs, costs)),
        ("trials_of_unknown_tokens", unknown(TrialRecord::unknown_tokens, tokens)),
    ];
    let of_both = of_both.into_iter().filter(|(_, counts)| !counts.is_empty());
    of_both.map(|(name, counts)| (name.to_owned(), Value::Object(counts))).collect()
}

fn sum(left: Option<f64>, right: Option<f64>) -> Option<f64> {
    if left.is_none() && right.is_none() { None } else { Some(left.unwrap_or_default() + right.unwrap_or_default()) }
}

pub(super) fn usage_json(usage: Usage, cost_usd: Option<f64>) -> Value {
    let total = usage.input.saturating_add(usage.cached).saturating_add(usage.output);
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": total,
        "input_tokens_cache_read": usage.cached,
        "reasoning_tokens": usage.reasoning,
        "total_cost": cost_usd,
    })
}
