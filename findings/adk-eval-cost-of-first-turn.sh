#!/usr/bin/env bash
# In adk-eval, asking for the cost of a case runs the agent once more, and counts that run of the first turn only.
#
# Versions: adk-eval and adk-core 2.3.0 (crates.io).
# Behaviour: with a tracker of costs or an analyser of traces, the evaluator does not keep the events of the turns that it has scored. It runs the agent again with the
# first message, and gives both the events of this run. So a conversation of three turns has the tokens and tool calls of one, and
# what the agent does in the first turn is done twice: here, two seats are booked. The time includes both runs. The documentation says that tokens are
# summed over all events of an execution.
# Seen (an agent that uses 100, 200 and 300 tokens in three turns, and calls a tool in each):
#   without: 3 runs, booked 1; with tracker and analyser: 4 runs, booked 2, tokens 100, tool calls 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "cost"
version = "0.1.0"
edition = "2024"

[dependencies]
adk-core = "=2.3.0"
adk-eval = "=2.3.0"
async-trait = "0.1"
futures = "0.3"
serde_json = "1"
TOML
cat >src/main.rs <<'RUST'
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

use adk_core::{Agent, Content, Event, EventStream, InvocationContext, Part, Result, UsageMetadata};
use adk_eval::{CostTracker, EvaluationConfig, EvaluationCriteria, Evaluator, TestFile, TraceAnalyzer};
use serde_json::{from_value, json};

#[derive(Default)]
struct Clerk {
    runs: AtomicUsize,
    booked: AtomicUsize,
}

#[async_trait::async_trait]
impl Agent for Clerk {
    fn name(&self) -> &str {
        "clerk"
    }

    fn description(&self) -> &str {
        "books seats"
    }

    fn sub_agents(&self) -> &[Arc<dyn Agent>] {
        &[]
    }

    async fn run(&self, context: Arc<dyn InvocationContext>) -> Result<EventStream> {
        self.runs.fetch_add(1, SeqCst);
        let message = context.user_content().parts.iter().filter_map(|part| part.text()).collect::<String>();
        let (tool, tokens) = match &*message {
            "Book a seat." => ("book", 100),
            "Which one is it?" => ("look", 200),
            _ => ("send", 300),
        };
        if tool == "book" {
            self.booked.fetch_add(1, SeqCst);
        }
        let mut content = Content::new("model").with_text("done");
        content.parts.push(Part::FunctionCall { name: tool.into(), args: json!({}), id: None, thought_signature: None });
        let mut event = Event::new(context.invocation_id());
        event.llm_response.content = Some(content);
        event.llm_response.usage_metadata = Some(UsageMetadata { total_token_count: tokens, ..Default::default() });
        Ok(Box::pin(futures::stream::iter([Ok(event)])))
    }
}

fn main() {
    let conversation = ["Book a seat.", "Which one is it?", "Send me the ticket."].map(|message| {
        json!({"invocation_id": message, "user_content": {"parts": [{"text": message}]},
               "final_response": {"role": "model", "parts": [{"text": "done"}]}})
    });
    let case = json!({"eval_id": "seat", "conversation": conversation});
    let file: TestFile = from_value(json!({"eval_set_id": "set", "name": "set", "eval_cases": [case]})).unwrap();
    for measured in [false, true] {
        let mut evaluator = Evaluator::new(EvaluationConfig::with_criteria(EvaluationCriteria::response_similarity(1.0)));
        if measured {
            evaluator.set_cost_tracker(CostTracker::new());
            evaluator.set_trace_analyzer(TraceAnalyzer::new());
        }
        let agent = Arc::new(Clerk::default());
        let report = futures::executor::block_on(evaluator.evaluate_test_file(agent.clone(), &file)).unwrap();
        let result = &report.results[0];
        print!("passed {}, {} runs, booked {}", result.passed, agent.runs.load(SeqCst), agent.booked.load(SeqCst));
        if let (Some(cost), Some(trace)) = (&result.cost_metrics, &result.trace_analysis) {
            print!(", tokens {}, tool calls {}", cost.total_tokens, trace.total_tool_calls);
        }
        println!();
    }
}
RUST
seen=$(cargo run --quiet)
expected='passed true, 3 runs, booked 1
passed true, 4 runs, booked 2, tokens 100, tool calls 1'
echo "$seen"
[ "$seen" = "$expected" ]
