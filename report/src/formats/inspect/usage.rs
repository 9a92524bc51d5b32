//! Tokens and cost in Inspect's terms.

use std::collections::BTreeMap;

use evalsuite_records::record::{TrialRecord, Usage};
use evalsuite_schema::json::{Object, Value, json};

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
