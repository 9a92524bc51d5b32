//! Data of an agent's call that was captured from its spans.

use evalsuite_records::record::Usage;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::diagnostics::suggest::listed;
use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::{Message, Value};

/// Data of an agent's call from its spans.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(default)]
pub(crate) struct Captured {
    /// `None` if no span is a call of a model, tool or agent.
    pub(crate) messages: Option<Vec<Message>>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    /// The model of the last call.
    pub(crate) model: Option<String>,
    /// Definitions of the tools that were offered to models.
    pub(crate) tools: Vec<Value>,
    /// Why spans of the call are missing, or may be.
    pub(crate) missing: Option<MissingSpans>,
    /// The calls that MCP servers got are among the messages, or beside those that the agent reports.
    #[json(skip_if = "Option::is_none")]
    pub(crate) servers: Option<ServerCalls>,
    /// For a call without spans of models and tools: what was seen, and why the spans may be missing.
    #[json(skip)]
    pub(crate) seen: Option<String>,
}

/// What is known of an agent's calls of tools by its MCP servers.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(default)]
pub(crate) struct ServerCalls {
    /// Names of the tools that the servers offered.
    pub(crate) tools: Vec<String>,
    /// Whether the agent has no other tools.
    pub(crate) are_all: bool,
    /// Why calls are missing.
    pub(crate) missing: Option<String>,
}

/// Spans of a call that are missing, or may be.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(crate) struct MissingSpans {
    /// What was seen of them, and what helps.
    pub(crate) message: String,
    /// Whether the calls in the spans that were seen are incomplete, as far as is known.
    pub(crate) lacks_calls: bool,
    /// The same of tokens and cost.
    pub(crate) lacks_spending: bool,
}

#[cfg_attr(not(feature = "capture"), expect(dead_code, reason = "no spans are looked for"))]
impl MissingSpans {
    /// A subscriber of the program hid the spans.
    pub(crate) fn hidden() -> Self {
        let message = "the program has set a tracing subscriber without `evalsuite::capture_layer()`, so the spans of its calls \
                       were not seen; add the layer: \
                       `tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(evalsuite::capture_layer()).init()`";
        Self { message: message.to_owned(), lacks_calls: true, lacks_spending: true }
    }

    /// A model asked for tools, and neither its message nor a span of a tool shows which.
    pub(crate) fn calls_not_shown() -> Self {
        let message = "a model ended its message with calls of tools (`gen_ai.response.finish_reasons`), but no span shows which; \
                       have the library record the content of messages, make a span `execute_tool` around each tool, or record its \
                       calls with `trial.recorder().call_tool`";
        Self { message: message.to_owned(), lacks_calls: true, lacks_spending: false }
    }

    /// These spans may belong to this call or to another one.
    pub(crate) fn unassigned(names: &[&str]) -> Self {
        let message = format!(
            "during this call, {} made without a parent while agents of other trials were running, so it is unknown which \
             trial made them; pass the current span on, `tokio::spawn(task.in_current_span())` with `tracing::Instrument`, or run \
             one trial at a time, `-- --test-threads=1`",
            spans(names)
        );
        Self { message, lacks_calls: true, lacks_spending: true }
    }

    /// These spans were made by something from before the call.
    pub(crate) fn outside(names: &[&str]) -> Self {
        let message = format!(
            "during this call, {} made by tasks from before it, such as a server that an earlier trial has started; pass the \
             span of the trial on to them, `tracing::Instrument::instrument`",
            spans(names)
        );
        Self { message, lacks_calls: false, lacks_spending: false }
    }
}

/// What was seen of a call without spans of models and tools. `others` are the names of its other spans; `is_replaced`: a subscriber was
/// made during the call.
#[cfg_attr(not(feature = "capture"), expect(dead_code, reason = "no spans are looked for"))]
pub(crate) fn seen(others: &[&str], is_replaced: bool) -> String {
    let seen = match others {
        [] => "no other span was seen either".to_owned(),
        names => format!("its spans have no such fields ({})", listed(names)),
    };
    let why = if is_replaced {
        "a `tracing` subscriber was made during the call, which may have received the spans: add `evalsuite::capture_layer()` to it"
    } else {
        "spans are missing if the work is done by a task or a runtime from before the call (pass the span on, \
         `task.in_current_span()` with `tracing::Instrument`), if a library makes them only when it is told to, or if they do not go \
         through `tracing`"
    };
    format!("{seen}; {why}")
}

fn spans(names: &[&str]) -> String {
    let were = if names.len() == 1 { "was" } else { "were" };
    format!("{} of models or tools ({}) {were}", counted(names.len(), "span"), listed(names))
}
