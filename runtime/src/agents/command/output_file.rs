//! The output file of a command: a reply as a JSON object, or the answer as text.

use std::path::Path;

use evalsuite_schema::OutputForm;

use crate::agents::command::json_place::shown;
use crate::agents::command::output_form::{Written, written};
use crate::agents::command::output_reply::{self, Reply};
use crate::agents::command_exchange::Writer;
use crate::model::outcome::Outcome;
use crate::platform::redaction::all_secrets;

/// How an output file is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// Paths in the file are relative to it.
    pub(crate) directory: &'a Path,
    /// What the target says.
    pub(crate) form: Option<OutputForm>,
    pub(crate) writer: Writer,
    /// Whether the command may have ended while it wrote.
    pub(crate) is_cut: bool,
}

/// Reads an output file. What can be read of one with a problem is in the outcome, its text too.
pub(crate) fn read(bytes: &[u8], reading: Reading<'_>) -> Reply {
    let bytes = match reading.is_cut {
        // The beginning of a secret could not be recognized later.
        true => &bytes[..all_secrets().length_without_broken_end(bytes)],
        false => bytes,
    };
    let decoded = String::from_utf8_lossy(bytes);
    let text = decoded.strip_prefix('\u{feff}').unwrap_or(&decoded);
    if let Some(problem) = not_utf8(bytes, reading.is_cut) {
        return Reply { outcome: Outcome::from(text), problem: Some(problem), ..Reply::default() };
    }
    let mut reply = match written(text, reading.form, reading.writer) {
        Written::Text => return Reply { outcome: Outcome::from(text), ..Reply::default() },
        Written::Reply(object) => output_reply::read(&object, reading.directory),
        Written::Broken { problem, members } => {
            Reply { problem: Some(problem), ..output_reply::read(&members, reading.directory) }
        }
    };
    if let Some(problem) = &mut reply.problem {
        problem.push_str(match reading.form {
            None if reading.writer == Writer::Agent => {
                "\nhelp: if the file is the answer itself, write `output: text` in the entry of the target"
            }
            Some(OutputForm::Json) => "\nhelp: the target says `output: json`",
            _ => "",
        });
        if reply.outcome.messages.as_ref().is_none_or(Vec::is_empty) && reply.outcome.text.is_none() {
            reply.outcome.text = Some(text.to_owned());
        }
    }
    reply
}

/// Why a text cannot be read; a command that was ended may have been writing a character.
fn not_utf8(bytes: &[u8], is_cut: bool) -> Option<String> {
    let help = "help: write the file in UTF-8";
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Some(format!("it is UTF-16\n{help}"));
    }
    let error = std::str::from_utf8(bytes).err().filter(|error| !is_cut || error.error_len().is_some())?;
    let at = error.valid_up_to();
    let fact = format!("the byte 0x{:02X} is not UTF-8", bytes[at]);
    Some(format!("{}\n{help}", shown(&String::from_utf8_lossy(bytes), at, &fact)))
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Usage;
    use evalsuite_schema::json::json;

    use super::*;
    use crate::platform::protocol_schema;

    fn reading(form: Option<OutputForm>, writer: Writer) -> Reading<'static> {
        Reading { directory: Path::new("/w"), form, writer, is_cut: false }
    }

    fn of_agent(text: impl AsRef<[u8]>) -> Reply {
        read(text.as_ref(), reading(None, Writer::Agent))
    }

    #[track_caller]
    fn outcome(text: impl AsRef<[u8]>) -> Outcome {
        let reply = of_agent(text);
        assert_eq!(reply.problem, None);
        reply.outcome
    }

    #[track_caller]
    fn problem(text: impl AsRef<[u8]>) -> String {
        let shown = String::from_utf8_lossy(text.as_ref()).into_owned();
        of_agent(text).problem.unwrap_or_else(|| panic!("taken for a text: {shown}"))
    }

    #[test]
    fn a_text_that_is_not_meant_as_a_reply_is_the_answer() {
        let markdown = "The request is:\n```json\n{\"text\": \"hello\"}\n```\n";
        for text in [
            "Hello.\n",
            "",
            "[1]",
            "[{\"title\": 1}]",
            "\"x\"",
            "12",
            "null",
            "{name}, hello",
            "{{ name }}",
            "{ let x = 1; }",
            "{ color: red }",
            "{} is the empty object",
            "\"\\ud800\"",
            markdown,
            "Set {\"output\": \"dist\"} in the file.",
            "The file has\n{\"output\": \"dist\"}\n",
            "The key is `{\"text\": 1}`",
            "{\n    \"not a key\"\n}",
        ] {
            let outcome = outcome(text);
            assert_eq!((outcome.text.as_deref(), outcome.messages.is_none()), (Some(text), true));
        }
        assert_eq!(outcome("\u{feff}Hello.").text.as_deref(), Some("Hello."));
    }

    #[test]
    fn a_reply_that_cannot_be_read_is_a_problem_with_its_place() {
        let nan = problem(r#"{"text": "done", "cost_usd": NaN}"#);
        let expected = "line 1, column 30: expected value\n  | {\"text\": \"done\", \"cost_usd\": NaN}\n  |                              ^\n\
                        expected a JSON object with at least one of `text`, `output`, `output_messages`, `token_usage`, `cost_usd`, \
                        `duration_ms` or `state`\nhelp: JSON has no such number: write `null`, or leave out the key\n\
                        help: if the file is the answer itself, write `output: text` in the entry of the target";
        assert_eq!(nan, expected);
        for (text, part) in [
            (r#"{"text": "\ud800"}"#, "help: half of a character is no text"),
            (r#"{"text": "done",}"#, "help: delete the comma"),
            (r#"{"text": "do"#, "help: the object has no end"),
            ("{", "help: the object has no end"),
            ("{\n  \"te", "help: the object has no end"),
            (r#"{"text": "done", "cost_usd": 1e999}"#, "help: write a number that 64 bits can hold"),
            (r#"{"text": "done", "cost_usd": -Infinity}"#, "help: JSON has no such number"),
            ("{'text': 'done'}", "`json.dumps(…)`"),
            (r#"{"state": {"saved": True}}"#, "`json.dumps(…)`"),
            ("{text: \"done\"}", "line 1, column 2"),
            ("{\"text\": \"a\nb\"}", "line 1, column 12"),
            (
                "loading\n{\"text\": \"done\", \"cost_usd\": 0.1}\n",
                "line 2, column 1: a JSON object begins after other text",
            ),
            ("loading\n{\"text\": \"done\"}\nbye\n", "line 2, column 1: a JSON object begins after other text"),
            ("INFO result: {\"text\": \"done\"}", "line 1, column 14: a JSON object begins after other text"),
            ("loading\n{\"text\": \"do", "line 2, column 1: a JSON object begins after other text"),
            ("x {\"text\": \"done\", \"cost_usd\": nan}", "a JSON object begins after other text"),
            ("```json\n{\"text\": \"done\"}\n```\n", "line 2, column 1: a JSON object begins after other text"),
            ("done\n```\n{\"text\": \"done\", \"cost_usd\": 1}\n```\n", "line 3, column 1"),
            ("{\"text\": \"done\"}\nbye", "line 2, column 1: more text follows the JSON object"),
            ("{\"text\": \"a\"}\n{\"text\": \"b\"}\n", "help: write one object; what the agent did"),
            ("{\"type\": \"system\"}\n{\"type\": \"result\"}\n", "help: write one object; what the agent did"),
            (r#"[{"role": "assistant", "content": "x"}]"#, "line 1, column 1: this is a list"),
            (r#"[{"role": "assistant", "content": "#, "line 1, column 1: this is a list"),
            (r#"[{"text": "done"}]"#, "line 1, column 1: this is a list"),
            (r#"{"answer": "done"}"#, "no key of a reply, only `answer`"),
            (r#"{"answer": "done"}"#, "help: did you mean `text` in place of `answer`?"),
            (r#"{"txt": "done"}"#, "help: did you mean `text` in place of `txt`?"),
            ("{}", "the JSON object is empty"),
            (
                r#"{"schema_version": "ATIF-v1.4", "steps": []}"#,
                "EVALSUITE_TRAJECTORY_PATH, and the answer to the output file",
            ),
            (r#"{"result": "done", "duration_ms": 5}"#, "no answer; did you mean `text` in place of `result`?"),
            (r#"{"text":"no","text":"yes"}"#, "the key `text` twice"),
            (r#"{"text":"no","state":{"a":1,"a":2}}"#, "the key `a` twice"),
        ] {
            let problem = problem(text);
            assert!(problem.contains(part), "{text}: {problem}");
            assert!(problem.ends_with("write `output: text` in the entry of the target"), "{text}: {problem}");
        }
    }

    #[test]
    fn what_is_not_utf_8_is_a_problem_with_its_place() {
        let latin1 = problem(b"ok\nGr\xfc\xdfe");
        assert!(latin1.starts_with("line 2, column 3: the byte 0xFC is not UTF-8\n"), "{latin1}");
        assert!(problem(b"{\"text\": \"Gr\xfc\xdfe\"}").contains("the byte 0xFC is not UTF-8"));
        assert!(problem(b"\xff\xfeo\0k\0").starts_with("it is UTF-16"));
        let cut = read(b"Gr\xc3", Reading { is_cut: true, ..reading(None, Writer::Agent) });
        assert_eq!((cut.problem, cut.outcome.text.as_deref()), (None, Some("Gr\u{fffd}")));
    }

    #[test]
    fn what_can_be_read_of_a_broken_reply_is_kept() {
        let usage = r#""token_usage": {"input": 5, "output": 2}"#;
        for (text, said) in [
            (format!(r#"{{"text": "done", {usage}, "cost_usd": NaN}}"#), None),
            (format!(r#"{{"text": "done", {usage}, "cost_usd": "0.1"}}"#), None),
            (format!(r#"{{"text": "done", {usage}}} {{}}"#), None),
            (format!("log\n{{\"text\": \"done\", {usage}}}"), None),
            (format!(r#"{{{usage}, "text": "do"#), Some(format!(r#"{{{usage}, "text": "do"#))),
        ] {
            let reply = of_agent(&text);
            assert!(reply.problem.is_some(), "{text}");
            assert_eq!(reply.outcome.usage, Some(Usage::new(5, 2)), "{text}");
            assert_eq!(reply.outcome.text, said.or(Some("done".to_owned())), "{text}");
        }
        let reply = of_agent(r#"{"output": [{"role": "user", "content": "x"}, {"role": "human"}], "cost_usd": 1}"#);
        assert_eq!((reply.outcome.messages.unwrap().len(), reply.outcome.cost_usd), (1, Some(1.0)));
    }

    #[test]
    fn the_target_decides_what_the_text_does_not_say() {
        let text = |text: &str| read(text.as_bytes(), reading(Some(OutputForm::Text), Writer::Agent));
        for json in [r#"{"answer": 1}"#, r#"{"text": "do"#, r#"{"text": "x", "cost_usd": 1}"#] {
            let reply = text(json);
            assert_eq!((reply.problem, reply.outcome), (None, Outcome::from(json)));
        }
        let json = |text: &str| read(text.as_bytes(), reading(Some(OutputForm::Json), Writer::Agent)).problem;
        assert_eq!(json(r#"{"text": "done"}"#), None);
        for (text, part) in
            [("", "it is empty"), ("Hello.", "line 1, column 1: this is not a JSON object"), ("[1]", "not a JSON")]
        {
            let problem = json(text).unwrap();
            assert!(problem.contains(part) && problem.ends_with("help: the target says `output: json`"), "{problem}");
        }
    }

    #[test]
    fn the_object_of_a_judge_has_keys_of_its_own() {
        let judge = |text: &str| read(text.as_bytes(), reading(None, Writer::Judge));
        for text in
            [r#"{"score": 0.9}"#, "thinking\n{\"score\": 1}", r#"{"score": 0."#, "[{\"text\": 1}]", "{'score': 1}"]
        {
            let reply = judge(text);
            assert_eq!((reply.problem, reply.outcome), (None, Outcome::from(text)));
        }
        assert_eq!(judge(r#"{"text": "{\"score\": 1}", "cost_usd": 1}"#).outcome.cost_usd, Some(1.0));
        assert!(judge(r#"{"text": "{\"score\": 1}", "cost_usd": NaN}"#).problem.is_some());
        let json = read(br#"{"score": 0.9}"#, reading(Some(OutputForm::Json), Writer::Judge));
        assert_eq!(json.problem, None, "`output` is about agents");
    }

    #[test]
    fn a_structured_reply_is_read_key_by_key() {
        let reply = json!({
            "text": "done", "cost_usd": 0.5, "duration_ms": 12, "state": {"saved": true}, "session": "other keys are ignored",
            "token_usage": {"input": 5, "output": 2, "cached": 1, "reasoning": null},
        });
        let outcome = outcome(reply.to_string());
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
            let outcome = outcome(example.to_string());
            assert_eq!(outcome.messages.is_some(), example.get("output").is_some(), "{example}");
            assert_eq!(outcome.text.as_deref(), example["text"].as_str());
            assert_eq!(outcome.state.len(), example["state"].as_object().map_or(0, evalsuite_schema::Object::len));
        }
    }

    #[test]
    fn messages_come_before_the_text() {
        for key in ["output", "output_messages"] {
            let outcome = outcome(json!({"text": "a", key: [{"role": "assistant", "content": "b"}]}).to_string());
            assert_eq!((outcome.text, outcome.messages.map(|messages| messages.len())), (None, Some(1)));
        }
        let empty = outcome(json!({"text": "a", "output": []}).to_string());
        assert_eq!((empty.text.as_deref(), empty.messages), (Some("a"), Some(Vec::new())));
    }

    #[test]
    fn what_is_ignored_has_a_note() {
        let reply = of_agent(r#"{"cost_usd": -1, "duration_ms": -0.5}"#);
        assert_eq!((reply.outcome.cost_usd, reply.outcome.duration_ms, reply.notes.len()), (None, None, 2));
        let reply =
            of_agent(r#"{"text": "done", "usage": {"input": 1}, "costs_usd": 1, "session": "x", "cost_usd": null}"#);
        let notes: Vec<&str> = reply.notes.iter().map(|note| &*note.message).collect();
        let ignored =
            |key: &str, meant: &str| format!("`{key}` of the output file is ignored; did you mean `{meant}`?");
        assert_eq!(notes, [ignored("usage", "token_usage"), ignored("costs_usd", "cost_usd")]);
        assert_eq!(reply.problem, None);
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
            (json!({"token_usage": {"input": -1, "output": 1}}), "an integer of at least 0, found the number -1"),
            (json!({"cost_usd": "0.1"}), "`cost_usd` has to be a number, found a string"),
            (json!({"state": "CA"}), "`state` has to be an object, found a string"),
        ] {
            let error = problem(reply.to_string());
            assert!(error.contains(expected), "{error}");
            assert_ne!(protocol_schema::problems("agent-output", &reply), Vec::<String>::new(), "{reply}");
        }
    }
}
