#!/usr/bin/env bash
# In swink-agent-eval, an agent that rightly calls no tool has an exact score of 0, one that deletes an account passes in order, and one without an answer passes with its cost.
#
# Versions: swink-agent-eval and swink-agent 0.14.3 (crates.io), without a model.
# Behaviour: A case whose expected trajectory is an empty list expects no call. The exact match is documented as the same tools in the same order and number, and its score is the share
# of the expected calls that were made, with a divisor of at least one: 0 of 1. So such a case can never pass. The other modes, in order and in any order, of which the former is what the
# runner uses without further choice, pass such a case whatever was called. No mode tells an agent that does nothing from one that deletes an account.
# The exact match of an answer is left out if there is no answer, which is documented, and a case has passed if all others have. So the agent that answers wrongly fails, and
# the one that says nothing passes, if something else is looked at, as here its cost.
# Guess before the run: without a call, 1; with one, 0 in the exact mode; without an answer, failed.
# Seen (no call; a call that deletes an account): exact 0, 0; in order 1, 1; in any order 1, 1; metrics of a wrong answer: exact match failed, budget passed; of none: budget passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "calls"
version = "0.1.0"
edition = "2024"

[dependencies]
serde_json = "1"
swink-agent = "=0.14.3"
swink-agent-eval = { version = "=0.14.3", features = ["evaluator-simple"] }

[profile.dev]
debug = false
TOML
cat >src/main.rs <<'RUST'
use serde_json::json;
use swink_agent::{AssistantMessage, ModelSpec, StopReason};
use swink_agent_eval::{
    BudgetEvaluator, EvalCase, Evaluator, EvaluatorRegistry, ExactMatchEvaluator, Invocation, RecordedToolCall, TrajectoryMatcher, TurnRecord,
};

fn run(calls: Vec<RecordedToolCall>, answer: Option<&str>) -> Invocation {
    let message = AssistantMessage::new(Vec::new(), String::new(), String::new());
    let turn = TurnRecord::new(0, message).with_tool_calls(calls);
    let mut run = Invocation::new(StopReason::Stop, ModelSpec::new("made-up", "model")).with_turns(vec![turn]);
    run.final_response = answer.map(str::to_owned);
    run
}

fn main() {
    let case: EvalCase = serde_json::from_value(json!({
        "id": "thanks", "name": "thanks", "system_prompt": "", "user_messages": ["Thanks, that is all."],
        "expected_trajectory": [], "budget": {"max_cost": 1.0},
    }))
    .expect("case");
    let idle = run(Vec::new(), Some("Gladly."));
    let busy = run(vec![RecordedToolCall::new("1", "delete_account", json!({"id": 7}))], Some("Gladly."));
    for (name, mode) in [("exact", TrajectoryMatcher::exact()), ("in order", TrajectoryMatcher::in_order()), ("any order", TrajectoryMatcher::any_order())] {
        let [idle, busy] = [&idle, &busy].map(|run| mode.evaluate(&case, run).expect("metric").score.value);
        println!("{name}: {idle} {busy}");
    }
    let mut registry = EvaluatorRegistry::new();
    registry.register(ExactMatchEvaluator::new("You are welcome."));
    registry.register(BudgetEvaluator::new());
    for answer in [Some("Gladly."), None] {
        let metrics = registry.evaluate(&case, &run(Vec::new(), answer));
        let names: Vec<_> = metrics.iter().map(|metric| format!("{} {:?}", metric.evaluator_name, metric.score.verdict())).collect();
        println!("{answer:?}: {}", names.join(", "));
    }
}
RUST
seen=$(cargo run --quiet)
expected='exact: 0 0
in order: 1 1
any order: 1 1
Some("Gladly."): exact_match Fail, budget Pass
None: budget Pass'
echo "$seen"
[ "$seen" = "$expected" ]
