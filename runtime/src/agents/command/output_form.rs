//! Whether the output file of a command is a reply as a JSON object, or the answer as text.
//!
//! What is meant as an object is never taken for a text: its tokens and its cost would be lost without a word. `output` of the target
//! decides where the text itself cannot.

use std::fmt;

use evalsuite_schema::diagnostics::suggest::{listed, quoted};
use evalsuite_schema::json::Reader;
use evalsuite_schema::{Object, OutputForm, Value};
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::agents::command::json_place::{JsonFault, shown};
use crate::agents::command::output_reply::{self, KEYS, KEYS_OF_SPENDING, misspelled};
use crate::agents::command_exchange::Writer;

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
        Written::Text => broken(&shown(text, start, "this is not a JSON object"), ""),
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
        return broken_after(&shown(text, next, "more text follows the JSON object"), help, object);
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
    broken_after(&fault.shown_in(text), advice(&fault, text), members(&text[start..]))
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
        true => broken(&shown(text, start, "this is a list"), "write a list of messages as `{\"output\": […]}`"),
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
                    _ => members(&text[opening..]),
                };
                return broken_after(&shown(text, opening, "a JSON object begins after other text"), help, members);
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

/// The members of an object up to the first that cannot be read.
fn members(text: &str) -> Object {
    struct Members<'m>(&'m mut Object);

    impl<'de> Visitor<'de> for Members<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some((key, value)) = map.next_entry::<String, Value>()? {
                self.0.insert(key, value);
            }
            Ok(())
        }
    }

    let mut members = Object::new();
    // The error is that of the whole text.
    let _ = Reader::new(text).deserialize_any(Members(&mut members));
    members
}
