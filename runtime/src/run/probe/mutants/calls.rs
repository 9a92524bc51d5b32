//! Calls of tools that are missing, doubled, or have another argument.

use evalsuite_schema::json::Number;
use evalsuite_schema::{Message, ToolCall, Value};

use crate::run::made_up::MadeUpReply;
use crate::run::probe::mutants::{Broken, shown};

/// The reply without its first call, without its last one, with the first one twice, and with another argument.
pub(super) fn broken(reply: &MadeUpReply) -> Vec<Broken> {
    let calls_of = |(index, said): (usize, &Message)| (0..said.tool_calls.len()).map(move |call| (index, call));
    let places: Vec<(usize, usize)> = reply.messages.iter().enumerate().flat_map(calls_of).collect();
    let call = |(message, call): (usize, usize)| &reply.messages[message].tool_calls[call];
    let change = |(message, call): (usize, usize), change: &dyn Fn(&mut Vec<ToolCall>, usize), detail: String| {
        let mut reply = reply.clone();
        change(&mut reply.messages[message].tool_calls, call);
        Broken { detail, reply }
    };
    let mut found = Vec::new();
    let first = places.first().copied();
    let last = places.last().copied().filter(|last| Some(*last) != first);
    for place in first.into_iter().chain(last) {
        let detail = format!("the call of {} is missing", shown(&call(place).tool));
        found.push(change(place, &|calls, index| drop(calls.remove(index)), detail));
    }
    if let Some(place) = first {
        let detail = format!("the call of {} was made twice", shown(&call(place).tool));
        found.push(change(place, &|calls, index| calls.insert(index, calls[index].clone()), detail));
    }
    let with_argument = places.iter().find_map(|place| Some((*place, first_argument(call(*place))?)));
    if let Some((place, name)) = with_argument {
        let detail = format!("the argument {} of {} was changed", shown(&name), shown(&call(place).tool));
        found.push(change(place, &|calls, index| change_argument(&mut calls[index], &name), detail));
    }
    found
}

fn first_argument(call: &ToolCall) -> Option<String> {
    call.input.as_ref()?.as_object()?.keys().next().cloned()
}

fn change_argument(call: &mut ToolCall, name: &str) {
    let Some(value) = call.input.as_mut().and_then(|input| input.get_mut(name)) else { return };
    *value = match value {
        Value::Number(number) => {
            Value::Number(Number::from(number.as_i64().map_or(0, |number| number.wrapping_add(1))))
        }
        Value::Bool(value) => Value::Bool(!*value),
        Value::String(text) => Value::String(format!("not {text}")),
        Value::Null | Value::Array(_) | Value::Object(_) => Value::String("something else".to_owned()),
    };
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn one_call_differs() {
        let calls = vec![ToolCall::new("a").with_input(json!({ "path": "x" })), ToolCall::new("b")];
        let shown: Vec<String> = broken(&MadeUpReply::new("", calls))
            .into_iter()
            .map(|broken| {
                let calls = broken.reply.messages.iter().flat_map(|message| &message.tool_calls);
                calls
                    .map(|call| call.tool.clone() + &call.input.as_ref().map(Value::to_string).unwrap_or_default())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        assert_eq!(shown, ["b", r#"a{"path":"x"}"#, r#"a{"path":"x"} a{"path":"x"} b"#, r#"a{"path":"not x"} b"#]);
    }
}
