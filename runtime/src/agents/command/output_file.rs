//! Whether the output file of a command is a reply as a JSON object, or the answer as text.
//!
//! What is meant as an object is never taken for a text: its tokens and its cost would be lost without a word. `output` of the target
//! decides where the text itself cannot.

use std::path::Path;

use evalsuite_schema::diagnostics::suggest::{listed, quoted};
use evalsuite_schema::json::Reader;
use evalsuite_schema::{Object, OutputForm, Value};

use crate::agents::Writer;
use crate::agents::command::output_reply::{self, KEYS, KEYS_OF_SPENDING, Reply, misspelled};
use crate::model::outcome::Outcome;
use crate::platform::excerpt::escaped;
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
    Some(format!("{}\n{help}", shown_place(&String::from_utf8_lossy(bytes), at, &fact)))
}

/// What a text is.
pub(crate) enum Written {
    Text,
    Reply(Object),
    /// A reply that cannot be read, and the members that can.
    Broken {
        problem: String,
        members: Object,
    },
}

/// Decides what a text is. `form` is what the target says.
pub(crate) fn written(text: &str, form: Option<OutputForm>, writer: Writer) -> Written {
    if form == Some(OutputForm::Text) {
        return Written::Text;
    }
    let start = text.len() - text.trim_start().len();
    let found = match text[start..].chars().next() {
        Some('{') => object_at_start(text, start, writer),
        Some('[') if writer == Writer::Agent => list_at_start(text, start),
        _ if writer == Writer::Agent => later_object(text),
        _ => Written::Text,
    };
    match found {
        Written::Text if form != Some(OutputForm::Json) || writer == Writer::Judge => Written::Text,
        Written::Text if start == text.len() => broken("it is empty", ""),
        Written::Text => broken(&shown_place(text, start, "this is not a JSON object"), ""),
        found => found,
    }
}

fn broken(fact: &str, help: &str) -> Written {
    broken_after(fact, help, Object::new())
}

/// A reply that is broken after these members.
fn broken_after(fact: &str, help: &str, members: Object) -> Written {
    let help = if help.is_empty() { String::new() } else { format!("\nhelp: {help}") };
    let problem = format!("{fact}\nexpected a JSON object with at least one of {}{help}", quoted(&KEYS, "or"));
    Written::Broken { problem, members }
}

fn is_known(object: &Object) -> bool {
    KEYS.iter().any(|key| object.contains_key(key))
}

fn names_spending(object: &Object) -> bool {
    KEYS_OF_SPENDING.iter().any(|key| object.contains_key(key))
}

/// The text begins like an object.
fn object_at_start(text: &str, start: usize, writer: Writer) -> Written {
    let mut reader = Reader::new(&text[start..]);
    let object = match reader.value::<Value>() {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Written::Text,
        Err(error) => return unreadable(text, start, &error, writer),
    };
    let rest = start + reader.offset();
    let next = rest + (text[rest..].len() - text[rest..].trim_start().len());
    let is_reply = is_known(&object);
    if !is_reply && (writer == Writer::Judge || (object.is_empty() && next < text.len())) {
        return Written::Text;
    }
    if next < text.len() {
        let help = match text[next..].starts_with('{') {
            true => {
                "write one object; what the agent did step by step is the list `output`, or an ATIF file in EVALSUITE_TRAJECTORY_PATH"
            }
            false => "write only the object to the file, and messages for people to standard error",
        };
        return broken_after(&shown_place(text, next, "more text follows the JSON object"), help, object);
    }
    if !is_reply {
        return no_known_key(&object);
    }
    match evalsuite_schema::json::from_str_with_unique_keys::<Value>(&text[start..]) {
        Ok(_) => Written::Reply(object),
        Err(error) => {
            broken(&JsonFault::of(&error, text, start).shown_in(text), "the value would be ambiguous: keep one of them")
        }
    }
}

fn no_known_key(object: &Object) -> Written {
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    let fact = match keys.is_empty() {
        true => "the JSON object is empty".to_owned(),
        false => format!("the JSON object has no key of a reply, only {}", listed(&keys)),
    };
    if object.contains_key("steps") {
        let help = "write a trajectory to the path in EVALSUITE_TRAJECTORY_PATH, and the answer to the output file";
        return broken(&fact, help);
    }
    let meant = misspelled(object).next().map(|(key, meant)| format!("did you mean `{meant}` in place of `{key}`?"));
    broken(&fact, &meant.unwrap_or_default())
}

/// The text is not JSON. It may be meant as an object: it begins with a key in quotes, with a known key, or ends there.
fn unreadable(text: &str, start: usize, error: &serde_json::Error, writer: Writer) -> Written {
    let is_meant = match first_key(&text[start..]) {
        FirstKey::Missing => false,
        FirstKey::Cut => writer == Writer::Agent,
        FirstKey::Quoted(key) => writer == Writer::Agent || KEYS.contains(&key),
        FirstKey::Bare(key) => KEYS.contains(&key),
    };
    if is_meant { fault(text, start, error) } else { Written::Text }
}

fn fault(text: &str, start: usize, error: &serde_json::Error) -> Written {
    let fault = JsonFault::of(error, text, start);
    broken_after(&fault.shown_in(text), advice(&fault, text), Reader::new(&text[start..]).members())
}

/// How a mistake of this kind is usually corrected.
fn advice(fault: &JsonFault, text: &str) -> &'static str {
    let here = text[fault.at..].trim_start_matches('-');
    let begins = |words: &[&str]| words.iter().any(|word| here.starts_with(word));
    if fault.fact.starts_with("EOF") {
        "the object has no end: write the whole file before the command ends"
    } else if begins(&["NaN", "nan", "Inf", "inf"]) {
        "JSON has no such number: write `null`, or leave out the key"
    } else if begins(&["'", "True", "False", "None"]) {
        "this is not how JSON writes it; in Python, `json.dumps(…)` writes JSON"
    } else if fault.fact.starts_with("control character") {
        "in a string, a line break is written as `\\n`"
    } else if fault.fact.contains("comma") {
        "delete the comma"
    } else if fault.fact.contains("surrogate") || fault.fact.contains("hex escape") {
        "half of a character is no text: write both halves of the escape, or the character itself in UTF-8"
    } else if fault.fact.contains("out of range") {
        "write a number that 64 bits can hold, or leave out the key"
    } else {
        ""
    }
}

enum FirstKey<'t> {
    Missing,
    /// The text ends before the key does.
    Cut,
    Quoted(&'t str),
    Bare(&'t str),
}

/// The first key of something that begins with `{`.
fn first_key(text: &str) -> FirstKey<'_> {
    let inside = text[1..].trim_start();
    let Some(first) = inside.chars().next() else { return FirstKey::Cut };
    if first == '"' || first == '\'' {
        return match inside[1..].split_once(first) {
            None if first == '\'' || inside[1..].contains('\n') => FirstKey::Missing,
            None => FirstKey::Cut,
            Some((key, rest)) => match rest.trim_start().chars().next() {
                None => FirstKey::Cut,
                Some(':') => FirstKey::Quoted(key),
                Some(_) => FirstKey::Missing,
            },
        };
    }
    let end =
        inside.find(|character: char| !character.is_ascii_alphanumeric() && character != '_').unwrap_or(inside.len());
    match inside[end..].trim_start().starts_with(':') {
        true => FirstKey::Bare(&inside[..end]),
        false => FirstKey::Missing,
    }
}

/// The text begins like a list: of messages, or of replies.
fn list_at_start(text: &str, start: usize) -> Written {
    let inside = text[start + 1..].trim_start();
    if !inside.starts_with('{') {
        return Written::Text;
    }
    let FirstKey::Quoted(first) = first_key(inside) else { return Written::Text };
    let is_message = |object: &Object| object.contains_key("role");
    let is_meant = match evalsuite_schema::json::from_str::<Value>(&text[start..]) {
        Ok(Value::Array(items)) => {
            items.iter().filter_map(Value::as_object).any(|item| is_known(item) || is_message(item))
        }
        _ => first == "role" || KEYS.contains(&first),
    };
    match is_meant {
        true => broken(&shown_place(text, start, "this is a list"), "write a list of messages as `{\"output\": […]}`"),
        false => Written::Text,
    }
}

/// A reply after other text, such as a log.
fn later_object(text: &str) -> Written {
    let (mut offset, mut is_fenced, mut has_text, mut read_to) = (0, false, false, 0);
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let fence = ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
        if fence {
            // The code of an answer in Markdown; a file that is nothing else is a reply with marks around it.
            is_fenced = !is_fenced && has_text;
            continue;
        }
        if start >= read_to
            && let Some(opening) =
                line.match_indices('{').map(|(at, _)| start + at).find(|at| begins_with_key(&text[*at..]))
        {
            let is_line_start = text[start..opening].trim().is_empty();
            let mut reader = Reader::new(&text[opening..]);
            let read = reader.value::<Value>();
            if read.is_ok() {
                read_to = opening + reader.offset();
            }
            if is_reply(text, opening, read_to, &read, is_line_start, is_fenced) {
                let help = "write only the object to the file, and logs to standard error";
                let members = match read {
                    Ok(Value::Object(object)) => object,
                    _ => Reader::new(&text[opening..]).members(),
                };
                return broken_after(
                    &shown_place(text, opening, "a JSON object begins after other text"),
                    help,
                    members,
                );
            }
        }
        has_text |= !line.trim().is_empty();
    }
    Written::Text
}

fn begins_with_key(text: &str) -> bool {
    matches!(first_key(text), FirstKey::Quoted(_)) && text[1..].trim_start().starts_with('"')
}

/// Whether an object after other text is a reply, and not JSON in the answer: it names tokens or cost, or it is the only text of its
/// lines and can be used.
fn is_reply(
    text: &str,
    start: usize,
    end: usize,
    read: &serde_json::Result<Value>,
    is_line_start: bool,
    is_fenced: bool,
) -> bool {
    match read {
        Ok(Value::Object(object)) => {
            let rest = &text[end..];
            let ends_line = rest.lines().next().unwrap_or_default().trim().is_empty();
            let is_apart = ends_line && (is_line_start || rest.trim().is_empty()) && !is_fenced;
            names_spending(object)
                || (is_known(object) && is_apart && output_reply::read(object, "".as_ref()).problem.is_none())
        }
        Ok(_) => false,
        Err(error) => {
            let line = text[start..].lines().next().unwrap_or_default();
            let names_spending = KEYS_OF_SPENDING.iter().any(|key| line.contains(&format!("\"{key}\"")));
            let is_known = matches!(first_key(&text[start..]), FirstKey::Quoted(key) if KEYS.contains(&key));
            names_spending || (is_known && !is_fenced && (is_line_start || error.is_eof()))
        }
    }
}

/// Bytes of a line that are shown before and after a place.
const SHOWN: usize = 60;

/// What is wrong with a JSON text, and the byte at which it is.
#[derive(Debug)]
pub(crate) struct JsonFault {
    pub(crate) fact: String,
    pub(crate) at: usize,
}

impl JsonFault {
    /// The error of a reader that started at byte `start` of the text. Its message ends with a line and a column, in bytes.
    pub(crate) fn of(error: &serde_json::Error, text: &str, start: usize) -> Self {
        let message = error.to_string();
        let read = || {
            let (fact, place) = message.rsplit_once(" at line ")?;
            let (line, column) = place.split_once(" column ")?;
            let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
            let before: usize = text[start..].split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
            Some(Self { fact: fact.to_owned(), at: boundary(text, (start + before + column).saturating_sub(1)) })
        };
        read().unwrap_or(Self { fact: message.clone(), at: start })
    }

    /// The fault with its line and column, and the line with a mark below the place.
    pub(crate) fn shown_in(&self, text: &str) -> String {
        shown_place(text, self.at, &self.fact)
    }
}

/// A fact about a place in a text: line and column from 1, and the line with a mark below the place.
fn shown_place(text: &str, at: usize, fact: &str) -> String {
    let at = boundary(text, at);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let (line, column) = (1 + text[..start].matches('\n').count(), 1 + text[start..at].chars().count());
    let secrets = all_secrets();
    let first = boundary(text, at.saturating_sub(SHOWN)).max(start);
    let last = boundary(text, at.saturating_add(SHOWN)).min(end);
    // Never a part of a secret.
    let first = if first > start { secrets.position_after(text, first).min(at) } else { first };
    let last = if last < end { secrets.position_before(text, last).max(at) } else { last };
    let before = format!("{}{}", if first > start { "…" } else { "" }, escaped(&text[first..at], &[]));
    let after = format!("{}{}", escaped(text[at..last].trim_end(), &[]), if last < end { "…" } else { "" });
    let mark = " ".repeat(before.chars().count());
    format!("line {line}, column {column}: {fact}\n  | {before}{after}\n  | {mark}^")
}

/// The nearest place before that does not split a character.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Usage;
    use evalsuite_schema::Value;
    use evalsuite_schema::json::{Reader, json};

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
        let calls = json!([{"role": "assistant", "tool_calls": [{"tool": "find"}]}, {"role": "tool", "content": "b"}]);
        let silent = outcome(json!({"text": "a", "output": calls}).to_string());
        assert_eq!(silent.text.as_deref(), Some("a"), "none of the messages is the answer");
        assert_eq!(silent.messages.map(|messages| messages.len()), Some(2));
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

    fn fault(text: &str, start: usize) -> String {
        let error = Reader::new(&text[start..]).value::<Value>().unwrap_err();
        JsonFault::of(&error, text, start).shown_in(text)
    }

    #[test]
    fn a_fault_is_shown_where_it_is() {
        let nan = fault("{\"a\": NaN}", 0);
        assert_eq!(nan, "line 1, column 7: expected value\n  | {\"a\": NaN}\n  |       ^");
        let comma = fault("log\n{\n\"ä\": 1,}", 4);
        assert_eq!(comma, "line 3, column 8: trailing comma\n  | \"ä\": 1,}\n  |        ^");
        let cut = fault("{\"text\": \"do", 0);
        assert!(cut.starts_with("line 1, column 12: EOF while parsing a string\n"), "{cut}");
        let long = fault(&format!("{{\"a\": \"{}\", \"b\": nan, \"c\": \"{}\"}}", "x".repeat(200), "y".repeat(200)), 0);
        assert!(long.contains("  | …xx") && long.ends_with('^') && long.contains("nan, \"c\": \"yyy"), "{long}");
    }
}
