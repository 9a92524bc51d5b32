//! The loop between a model and the tool, as a stream of events.

use std::io::BufReader;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::completion::{Completion, Usage, read_completion};
use crate::orders;

/// What the agent does, in the order in which it happens.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A piece of the answer.
    Text(String),
    /// A tool call that has ended.
    #[non_exhaustive]
    ToolCall {
        /// Name of the tool.
        name: String,
        /// Arguments of the call.
        input: Value,
        /// Result of the call.
        output: Value,
        /// Time that the call took.
        duration: Duration,
    },
    /// Tokens of one completion.
    Usage(Usage),
}

/// Answers questions about orders.
#[derive(Debug, Clone)]
pub struct SupportAgent {
    http: ureq::Agent,
    url: String,
    model: String,
}

/// Maximum number of completions for one question. A model that needs more is in a loop.
const MAX_COMPLETIONS: usize = 4;

const INSTRUCTIONS: &str =
    "You answer questions about the orders of a shop. Look an order up before you say anything about it.";

impl SupportAgent {
    /// An agent that asks `model` at an endpoint such as `http://localhost:11434/v1`.
    pub fn new(base_url: &str, model: impl Into<String>) -> Self {
        let url = format!("{}/chat/completions", base_url.trim_end_matches('/'));
        Self { http: ureq::Agent::new_with_defaults(), url, model: model.into() }
    }

    /// Starts to answer a question. The last event is an error if the agent could not answer.
    ///
    /// Dropping the receiver stops the agent at its next event.
    pub fn answer(&self, question: &str) -> Receiver<Result<Event>> {
        let (events, receiver) = channel(16);
        let (agent, question) = (self.clone(), question.to_owned());
        // The HTTP client blocks, so it has a thread of its own.
        thread::spawn(move || {
            if let Err(error) = agent.run(&question, &events) {
                // Without a receiver, nobody wants to know.
                let _ = events.blocking_send(Err(error));
            }
        });
        receiver
    }

    fn run(&self, question: &str, events: &Sender<Result<Event>>) -> Result<()> {
        let mut messages =
            vec![json!({ "role": "system", "content": INSTRUCTIONS }), json!({ "role": "user", "content": question })];
        for _ in 0..MAX_COMPLETIONS {
            let completion = self.complete(&messages, events)?;
            if completion.tool_calls.is_empty() {
                return Ok(());
            }
            messages.push(completion.message());
            for call in completion.tool_calls {
                let started = Instant::now();
                let input = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
                let output = orders::find_order(&input);
                messages.push(json!({ "role": "tool", "tool_call_id": call.id, "content": output.to_string() }));
                send(events, Event::ToolCall { name: call.name, input, output, duration: started.elapsed() })?;
            }
        }
        bail!("the model did not answer within {MAX_COMPLETIONS} completions")
    }

    /// Asks the model and passes its text on while it arrives.
    fn complete(&self, messages: &[Value], events: &Sender<Result<Event>>) -> Result<Completion> {
        let request = json!({
            "model": self.model,
            "messages": messages,
            "tools": [orders::specification()],
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        let response =
            self.http.post(&self.url).send_json(request).with_context(|| format!("cannot ask {}", self.url))?;
        let body = BufReader::new(response.into_body().into_reader());
        let completion = read_completion(body, |text| send(events, Event::Text(text)))?;
        send(events, Event::Usage(completion.usage))?;
        Ok(completion)
    }
}

fn send(events: &Sender<Result<Event>>, event: Event) -> Result<()> {
    events.blocking_send(Ok(event)).context("the caller has stopped listening")
}
