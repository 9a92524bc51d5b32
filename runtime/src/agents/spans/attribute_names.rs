//! Names of attributes: those of the current conventions, and the older and other ones for the same data.

use std::collections::BTreeMap;

use evalsuite_schema::{Object, Value};

/// Attributes that make a span one of interest, apart from those of OpenTelemetry's conventions for generative AI: of OpenInference, OpenLLMetry
/// and OpenTelemetry's conventions for MCP.
pub(crate) const SIGNS: [&str; 3] = ["openinference.span.kind", "traceloop.span.kind", "mcp.method.name"];

/// The current name of an attribute, and its other names in the order of their precedence. A name that ends with `.*` is that of a list whose
/// values are spread over attributes with numbers in their names. `docs/spans.md` says who uses which name.
const NAMES: [(&str, &[&str]); 13] = [
    ("gen_ai.request.model", &["llm.model_name"]),
    ("gen_ai.response.finish_reasons", &["llm.finish_reason"]),
    (
        "gen_ai.input.messages",
        &["gen_ai.prompt", "gen_ai.prompt.*", "llm.input_messages.*", "gcp.vertex.agent.llm_request"],
    ),
    (
        "gen_ai.output.messages",
        &["gen_ai.completion", "gen_ai.completion.*", "llm.output_messages.*", "gcp.vertex.agent.llm_response"],
    ),
    ("gen_ai.tool.definitions", &["llm.request.functions.*", "llm.tools.*"]),
    ("gen_ai.tool.name", &["tool.name"]),
    ("gen_ai.tool.call.id", &["gen_ai.tool.call_id", "tool.id"]),
    ("gen_ai.tool.call.arguments", &["tool_arguments", "input.value", "traceloop.entity.input"]),
    ("gen_ai.tool.call.result", &["tool_response", "output.value", "traceloop.entity.output"]),
    ("gen_ai.usage.input_tokens", &["gen_ai.usage.prompt_tokens", "llm.token_count.prompt"]),
    ("gen_ai.usage.output_tokens", &["gen_ai.usage.completion_tokens", "llm.token_count.completion"]),
    (
        "gen_ai.usage.cache_read.input_tokens",
        &[
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.cache_read_tokens",
            "gen_ai.usage.cached_input_tokens",
            "gen_ai.usage.cached_tokens",
            "gen_ai.usage.details.cache_read_tokens",
            "llm.token_count.prompt_details.cache_read",
        ],
    ),
    (
        "gen_ai.usage.reasoning.output_tokens",
        &[
            "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.thinking_tokens",
            "gen_ai.usage.details.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
        ],
    ),
];

/// Adds data under its current name where only another name has it.
pub(crate) fn add_current_names(fields: &mut Object) {
    for (current, others) in NAMES {
        if !fields.contains_key(current)
            && let Some(value) = others.iter().find_map(|name| value_of(fields, name))
        {
            fields.insert(current.to_owned(), value);
        }
    }
}

fn value_of(fields: &Object, name: &str) -> Option<Value> {
    match name.strip_suffix('*') {
        Some(prefix) => spread_list(fields, prefix),
        // Google's agents write an empty object for a request that they do not record.
        None => fields.get(name).filter(|value| !(name.starts_with("gcp.") && **value == "{}")).cloned(),
    }
}

/// A list that is spread over attributes: `PREFIX0.role`, `PREFIX0.tool_calls.0.name`.
fn spread_list(fields: &Object, prefix: &str) -> Option<Value> {
    let mut list = Branch::default();
    for (name, value) in fields {
        if let Some(path) = name.strip_prefix(prefix)
            && path.starts_with(|first: char| first.is_ascii_digit())
        {
            list.add(path, value);
        }
    }
    Some(list.into_value()).filter(Value::is_array)
}

/// Values by the first part of their names.
#[derive(Default)]
struct Branch<'a> {
    value: Option<&'a Value>,
    branches: BTreeMap<&'a str, Branch<'a>>,
}

impl<'a> Branch<'a> {
    fn add(&mut self, path: &'a str, value: &'a Value) {
        let mut branch = self;
        for part in path.split('.') {
            branch = branch.branches.entry(part).or_default();
        }
        branch.value = Some(value);
    }

    /// An array if all names are numbers.
    fn into_value(self) -> Value {
        if self.branches.is_empty() {
            return self.value.cloned().unwrap_or_default();
        }
        let numbers: Option<Vec<u64>> = self.branches.keys().map(|name| name.parse().ok()).collect();
        let Some(numbers) = numbers else {
            let fields = self.branches.into_iter().map(|(name, branch)| (name.to_owned(), branch.into_value()));
            return Value::Object(fields.collect());
        };
        let mut items: Vec<(u64, Value)> =
            numbers.into_iter().zip(self.branches.into_values().map(Branch::into_value)).collect();
        items.sort_by_key(|(number, _)| *number);
        Value::Array(items.into_iter().map(|(_, item)| item).collect())
    }
}
