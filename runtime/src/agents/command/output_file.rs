//! The output file of a command: a structured reply, or the plain answer.

use std::path::Path;

use evalsuite_records::record::{Note, Usage};
use evalsuite_schema::{Object, Value};

use crate::agents::command::invalid_output::{text, value, wrong_type};
use crate::agents::command::output_message;
use crate::model::outcome::{Outcome, is_amount};

/// Keys that make a JSON object a structured reply.
const KEYS: [&str; 7] = ["text", "output", "output_messages", "token_usage", "cost_usd", "duration_ms", "state"];

/// The content of an output file.
#[derive(Debug)]
pub(crate) struct OutputFile {
    pub(crate) outcome: Outcome,
    pub(crate) notes: Vec<Note>,
}

/// Reads an output file: a structured reply, or the plain answer. Paths in it are relative to `directory`.
pub(crate) fn read(text: &str, directory: &Path) -> Result<OutputFile, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match evalsuite_schema::json::from_str(text) {
        Ok(Value::Object(object)) if KEYS.iter().any(|key| object.contains_key(key)) => {
            let unique = evalsuite_schema::json::from_str_with_unique_keys::<Value>(text);
            unique.map_err(|error| error.to_string())?;
            structured(&object, directory)
        }
        _ => Ok(OutputFile { outcome: Outcome::from(text), notes: Vec::new() }),
    }
}

fn structured(object: &Object, directory: &Path) -> Result<OutputFile, String> {
    let mut outcome = Outcome::new();
    let mut notes = Vec::new();
    let is_set = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    if is_set("output") && is_set("output_messages") {
        return Err("`output` and `output_messages` are two names of one key; keep one".to_owned());
    }
    for key in ["output", "output_messages"] {
        let Some(list) = value(object, key, "a list of messages", Value::as_array)? else { continue };
        let messages = list.iter().enumerate().map(|(index, value)| {
            output_message::read(value, directory)
                .map_err(|problem| format!("message {} of `{key}`: {problem}", index + 1))
        });
        outcome.messages = Some(messages.collect::<Result<_, _>>()?);
    }
    // The messages say what the answer is, if there are any.
    let is_answer = outcome.messages.as_ref().is_none_or(Vec::is_empty);
    outcome.text = text(object, "text")?.filter(|_| is_answer).map(str::to_owned);
    outcome.usage = value(object, "token_usage", "an object", Value::as_object)?.map(usage).transpose()?;
    outcome.cost_usd = amount(object, "cost_usd", &mut notes)?;
    outcome.duration_ms = amount(object, "duration_ms", &mut notes)?;
    outcome.state = value(object, "state", "an object", Value::as_object)?.cloned().unwrap_or_default();
    Ok(OutputFile { outcome, notes })
}

fn usage(object: &Object) -> Result<Usage, String> {
    let tokens = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(count) => count
            .as_u64()
            .map(Some)
            .ok_or_else(|| wrong_type(&format!("token_usage.{key}"), "an integer of at least 0", count)),
    };
    let required = |key: &str| tokens(key)?.ok_or_else(|| format!("`token_usage` has no `{key}`"));
    let usage = Usage::new(required("input")?, required("output")?);
    let (cached, reasoning) = (tokens("cached")?, tokens("reasoning")?);
    Ok(usage.with_cached(cached.unwrap_or_default()).with_reasoning(reasoning.unwrap_or_default()))
}

fn amount(object: &Object, key: &str, notes: &mut Vec<Note>) -> Result<Option<f64>, String> {
    let number = value(object, key, "a number", Value::as_f64)?;
    let amount = number.filter(|number| is_amount(*number));
    if let (Some(number), None) = (number, amount) {
        notes.push(Note::new("output_ignored", format!("`{key}` of the output file is {number}, which is ignored")));
    }
    Ok(amount)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;
    use crate::platform::protocol_schema;

    fn outcome(text: &str) -> Outcome {
        read(text, Path::new("/w")).unwrap().outcome
    }

    #[test]
    fn a_text_that_is_not_a_structured_reply_is_the_answer() {
        for text in ["Hello.\n", "", "{\"title\": 1}", "[1]", "\"x\"", "{\"text\": \"cut o", "12"] {
            let outcome = outcome(text);
            assert_eq!((outcome.text.as_deref(), outcome.messages.is_none()), (Some(text), true));
        }
        assert_eq!(outcome("\u{feff}Hello.").text.as_deref(), Some("Hello."));
    }

    #[test]
    fn a_structured_reply_is_read_key_by_key() {
        let reply = json!({
            "text": "done", "cost_usd": 0.5, "duration_ms": 12, "state": {"saved": true}, "session": "other keys are ignored",
            "token_usage": {"input": 5, "output": 2, "cached": 1, "reasoning": null},
        });
        let outcome = outcome(&reply.to_string());
        assert_eq!(
            (outcome.text.as_deref(), outcome.cost_usd, outcome.duration_ms),
            (Some("done"), Some(0.5), Some(12.0))
        );
        assert_eq!(outcome.usage, Some(Usage::new(5, 2).with_cached(1)));
        assert_eq!(outcome.state.get("saved"), Some(&json!(true)));
        assert!(outcome.messages.is_none(), "the transcript is not reported");
    }

    #[test]
    fn the_examples_of_the_protocol_are_structured_replies() {
        for example in protocol_schema::examples("agent-output") {
            let outcome = outcome(&example.to_string());
            assert_eq!(outcome.messages.is_some(), example.get("output").is_some(), "{example}");
            assert_eq!(outcome.text.as_deref(), example["text"].as_str());
            assert_eq!(outcome.state.len(), example["state"].as_object().map_or(0, Object::len));
        }
    }

    #[test]
    fn messages_come_before_the_text() {
        for key in ["output", "output_messages"] {
            let reply = json!({"text": "a", key: [{"role": "assistant", "content": "b"}]}).to_string();
            let outcome = outcome(&reply);
            assert_eq!((outcome.text, outcome.messages.map(|messages| messages.len())), (None, Some(1)));
        }
        let empty = outcome(&json!({"text": "a", "output": []}).to_string());
        assert_eq!((empty.text.as_deref(), empty.messages), (Some("a"), Some(Vec::new())));
    }

    #[test]
    fn amounts_below_0_are_ignored_with_a_note() {
        let reply = read(r#"{"cost_usd": -1, "duration_ms": -0.5}"#, Path::new("/w")).unwrap();
        assert_eq!((reply.outcome.cost_usd, reply.outcome.duration_ms, reply.notes.len()), (None, None, 2));
    }

    #[test]
    fn a_value_of_another_type_is_an_error() {
        for (reply, expected) in [
            (json!({"text": 1}), "`text` has to be a string, found the number 1"),
            (json!({"output": "x"}), "`output` has to be a list of messages, found a string"),
            (json!({"output": [], "output_messages": []}), "`output` and `output_messages` are two names"),
            (json!({"output": [{"role": "assistant", "content": "x"}, 5]}), "message 2 of `output`: "),
            (json!({"token_usage": {"input": 1}}), "`token_usage` has no `output`"),
            (
                json!({"token_usage": {"input": 1.5, "output": 1}}),
                "`token_usage.input` has to be an integer of at least 0",
            ),
            (json!({"cost_usd": "0.1"}), "`cost_usd` has to be a number, found a string"),
            (json!({"state": "CA"}), "`state` has to be an object, found a string"),
        ] {
            let error = read(&reply.to_string(), Path::new("/w")).unwrap_err();
            assert!(error.contains(expected), "{error}");
            assert_ne!(protocol_schema::problems("agent-output", &reply), Vec::<String>::new(), "{reply}");
        }
    }

    #[test]
    fn a_reply_with_a_key_twice_is_an_error_and_an_answer_is_what_it_is() {
        let error = read(r#"{"text":"no","text":"yes"}"#, Path::new("/w")).unwrap_err();
        assert!(error.contains("the key `text` twice"), "{error}");
        let answer = r#"{"a":1,"a":2}"#;
        assert_eq!(read(answer, Path::new("/w")).unwrap().outcome.text.as_deref(), Some(answer));
    }
}
