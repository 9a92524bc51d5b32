//! What is recorded in place of a request: the nearest one of the same method and tool.

use evalsuite::tooling::{RecordedExchange, same_json};
use evalsuite_schema::diagnostics::suggest::{did_you_mean_or_known, listed};
use evalsuite_schema::{Object, Value};

use crate::platform::json_difference::each_difference;

/// Length of the part of a value that a message shows, in characters.
const SHOWN: usize = 80;

/// Why a request has no answer.
pub(super) fn nearest(server: &str, recorded: &[RecordedExchange], method: &str, params: Option<&Value>) -> String {
    let made = label(method, params);
    let not_recorded = format!("{made} of the MCP server `{server}` is not in the recording");
    let same_method = || recorded.iter().filter(|exchange| exchange.method == method);
    let tool = tool_of(params).filter(|_| method == "tools/call");
    let same_tool = || same_method().filter(|exchange| tool.is_none() || tool_of(exchange.params.as_ref()) == tool);
    let empty = Value::Object(Object::new());
    let of_call = |params: Option<&Value>| match (tool, params) {
        (Some(_), Some(params)) => params.get("arguments").cloned().unwrap_or_else(|| empty.clone()),
        (_, params) => params.cloned().unwrap_or_else(|| empty.clone()),
    };
    let made = of_call(params);
    let differences = same_tool().map(|exchange| Differences::between(&of_call(exchange.params.as_ref()), &made));
    if let Some(nearest) = differences.min_by_key(|differences| differences.places) {
        return format!("{not_recorded}; the nearest recorded one differs at {}", nearest.first);
    }
    if let Some(tool) = tool {
        let mut tools: Vec<&str> = same_method().filter_map(|exchange| tool_of(exchange.params.as_ref())).collect();
        tools.sort_unstable();
        tools.dedup();
        return match tools.as_slice() {
            [] => format!("{not_recorded}, which has no calls of tools"),
            tools => format!("{not_recorded}, which has no call of this tool; {}", did_you_mean_or_known(tool, tools)),
        };
    }
    let mut methods: Vec<&str> = recorded.iter().map(|exchange| exchange.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    format!(
        "{not_recorded}, which has {}",
        if methods.is_empty() { "no requests".to_owned() } else { listed(&methods) }
    )
}

/// A request for messages: a call of `read_file`, or `resources/read`.
pub(super) fn label(method: &str, params: Option<&Value>) -> String {
    match tool_of(params).filter(|_| method == "tools/call") {
        Some(tool) => format!("call of `{tool}`"),
        None => format!("request `{method}`"),
    }
}

fn tool_of(params: Option<&Value>) -> Option<&str> {
    params?.get("name")?.as_str()
}

/// Where two values differ.
#[derive(Debug, Default)]
struct Differences {
    places: usize,
    first: String,
}

impl Differences {
    fn between(recorded: &Value, made: &Value) -> Self {
        let mut differences = Self::default();
        each_difference(recorded, made, same_json, &mut |pointer, recorded, made| {
            differences.places += 1;
            if differences.first.is_empty() {
                let place = if pointer.is_empty() { "the arguments" } else { pointer };
                differences.first = format!("`{place}`: expected {}, got {}", shown(recorded), shown(made));
            }
        });
        differences
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    let end = if text.chars().count() > SHOWN { "…" } else { "" };
    format!("`{}{end}`", text.chars().take(SHOWN).collect::<String>())
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn call(tool: &str, arguments: Value) -> RecordedExchange {
        let params = Some(json!({"name": tool, "arguments": arguments}));
        RecordedExchange { method: "tools/call".into(), params, ..RecordedExchange::default() }
    }

    fn shown(recorded: &[RecordedExchange], made: &RecordedExchange) -> String {
        nearest("notes", recorded, &made.method, made.params.as_ref())
    }

    #[test]
    fn the_recorded_call_with_the_fewest_differences_is_shown() {
        let recorded =
            [call("read", json!({"path": "x", "lines": [1, 9]})), call("read", json!({"path": "a", "lines": [1, 2]}))];
        assert_eq!(
            shown(&recorded, &call("read", json!({"path": "a", "lines": [1, 3]}))),
            "call of `read` of the MCP server `notes` is not in the recording; the nearest recorded one differs at `/lines/1`: expected `2`, \
             got `3`"
        );
        let other = shown(&recorded, &call("raed", json!({})));
        assert!(other.contains("no call of this tool; did you mean `read`?"), "{other}");
        let request = RecordedExchange { method: "resources/list".into(), ..RecordedExchange::default() };
        assert!(
            shown(&recorded, &request).ends_with("is not in the recording, which has `tools/call`"),
            "{}",
            shown(&recorded, &request)
        );
        assert!(shown(&[], &call("read", json!({}))).ends_with("which has no calls of tools"));
    }
}
