//! Prompts of a configuration.

use std::path::Path;

use evalsuite_loader::document::{Data, Document, Value};
use evalsuite_schema::json::json;

use super::source_files::{FILE_SCHEME, script_of, unreadable};
use crate::report::{Place, Report};
use crate::source::SourceFiles;

/// A prompt, whose variables are not filled in.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    /// `None` for one that a program or a service writes: the input of its cases is their variables.
    pub(super) text: Option<String>,
    /// What tests choose it by.
    pub(super) names: Vec<String>,
    pub(super) place: Place,
    /// Comments above it.
    pub(super) above: Vec<String>,
}

/// The line between two prompts of a text file.
const DELIMITER: &str = "---";

/// Files that hold one prompt as it is.
const TEXT_FILES: &[&str] = &["md", "j2", "json"];

/// Reads `prompts`: a text, a file, a list of these, or mappings with `raw` or `id`.
pub(super) fn read(value: &Value, place: &Place, files: &SourceFiles, report: &mut Report) -> Vec<Prompt> {
    let items = match &value.data {
        Data::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let (mut prompts, mut written_elsewhere) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        let place = if value.items().is_some() {
            place.below(item.position.line, &format!("[{index}]"))
        } else {
            place.clone()
        };
        let raw = item.get("raw").or_else(|| item.get("id")).and_then(Value::as_text);
        let label = item.get("label").or_else(|| item.get("display")).and_then(Value::as_text);
        let before = prompts.len();
        match item.as_text().or(raw) {
            Some(text) => match writer(text, files) {
                Some(writer) => written_elsewhere.push((place.clone(), writer, [Some(text), label])),
                None => read_text(text, &place, files, report, &mut prompts),
            },
            None if item.items().is_some() => {
                // A chat in the configuration itself.
                prompts.push(Prompt {
                    text: Some(item.to_json().to_string()),
                    names: Vec::new(),
                    place: place.clone(),
                    above: Vec::new(),
                });
            }
            None => report.dropped(&place, "it is neither a text nor a file"),
        }
        for prompt in &mut prompts[before..] {
            prompt.names.extend(label.map(str::to_owned));
            prompt.above.splice(0..0, item.above.iter().cloned());
            report.mapped(&place);
        }
        for key in ["function", "config"].iter().filter(|key| item.get(key).is_some()) {
            report.dropped(&place.below(item.position.line, key), "the suite has the prompt only");
        }
    }
    if !prompts.is_empty() {
        written_elsewhere.iter().for_each(|(place, writer, _)| report.dropped(place, writer));
        return prompts;
    }
    // One prompt for all of them: its cases would be the same.
    for (place, writer, names) in written_elsewhere {
        report.different(&place, format!("{writer}: the input of a case is the variables of its test"));
        if prompts.is_empty() {
            prompts.push(Prompt { text: None, names: Vec::new(), place, above: Vec::new() });
        }
        prompts[0].names.extend(names.into_iter().flatten().map(str::to_owned));
    }
    prompts
}

/// What is said of a prompt that is not in the source, because a program or a service writes it.
fn writer(text: &str, files: &SourceFiles) -> Option<String> {
    let remote = ["exec:", "portkey://", "langfuse://", "helicone://", "http://", "https://"];
    if let Some(scheme) = remote.iter().find(|scheme| text.starts_with(**scheme)) {
        return Some(format!("`{scheme}` is not a prompt but says where to get one"));
    }
    let (path, _) = script_of(path_of(text)?, files.root())?;
    Some(format!("`{}` is a program that writes prompts", files.shown(&path)))
}

/// The path of a prompt that is in a file.
fn path_of(text: &str) -> Option<&str> {
    text.strip_prefix(FILE_SCHEME).or_else(|| looks_like_path(text).then_some(text))
}

fn read_text(text: &str, place: &Place, files: &SourceFiles, report: &mut Report, prompts: &mut Vec<Prompt>) {
    let mut push = |text: String, names: Vec<String>| {
        prompts.push(Prompt { text: Some(text), names, place: place.clone(), above: Vec::new() });
    };
    let Some(pattern) = path_of(text) else {
        push(text.to_owned(), vec![text.to_owned()]);
        return;
    };
    let found = match files.matching(pattern, files.root(), text, place) {
        Ok(found) => found,
        Err(problem) => return report.dropped(place, problem),
    };
    if found.is_empty() {
        match text.starts_with(FILE_SCHEME) {
            true => report.dropped(place, format!("there is no file `{pattern}`")),
            false => push(text.to_owned(), vec![text.to_owned()]),
        }
        return;
    }
    for path in found {
        let shown = files.shown(&path);
        let contents = match files.text(&path, text, place) {
            Ok(contents) => contents,
            Err(error) => {
                report.dropped(place, unreadable(&shown, &error));
                continue;
            }
        };
        let names = vec![shown.clone(), text.to_owned()];
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "txt" => split(&contents).into_iter().for_each(|text| push(text, names.clone())),
            "jsonl" => {
                for line in contents.lines().filter(|line| !line.trim().is_empty()) {
                    push(line.to_owned(), names.clone());
                }
            }
            "yaml" | "yml" => match files.document(&path, text, place) {
                Ok(Document { root, .. }) => push(root.to_json().to_string(), names),
                Err(_) => push(contents, names),
            },
            "csv" => {
                let lines = contents.lines().filter(|line| !line.trim().is_empty() && line.trim() != "prompt");
                lines.for_each(|line| push(line.trim_matches('"').to_owned(), names.clone()));
                report.approximated(place, format!("each line of `{shown}` is a prompt"));
            }
            known if TEXT_FILES.contains(&known) => push(contents.trim().to_owned(), names),
            _ => report.dropped(place, format!("prompts cannot be read from `{shown}`")),
        }
    }
}

/// Whether a prompt without a scheme is a path: promptfoo takes it for one if it has the extension of one.
fn looks_like_path(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    !text.contains(['\n', '{'])
        && (["txt", "yaml", "yml", "jsonl", "csv", "js", "mjs", "cjs", "ts", "py"].contains(&extension)
            || TEXT_FILES.contains(&extension))
}

/// The prompts of a text file.
fn split(text: &str) -> Vec<String> {
    let mut prompts = vec![String::new()];
    for line in text.lines() {
        if line.trim() == DELIMITER {
            prompts.push(String::new());
        } else if let Some(prompt) = prompts.last_mut() {
            prompt.push_str(line);
            prompt.push('\n');
        }
    }
    prompts.into_iter().map(|prompt| prompt.trim().to_owned()).filter(|prompt| !prompt.is_empty()).collect()
}

/// The input of a case: the messages of a chat, or the text.
pub(super) fn input(text: &str, place: &Place, report: &mut Report) -> Value {
    let Some(messages) = chat(text) else { return Value::text(text) };
    let mut parts_are_known = true;
    let messages = messages.into_iter().map(|message| {
        let content = match &message["content"] {
            evalsuite_schema::Value::Array(parts) => {
                let part = |part: &evalsuite_schema::Value| match part["type"].as_str() {
                    Some("text") => json!({"type": "text", "value": part["text"]}),
                    _ => {
                        parts_are_known = false;
                        json!({"type": "text", "value": part.to_string()})
                    }
                };
                parts.iter().map(part).collect()
            }
            evalsuite_schema::Value::Null => json!(""),
            other => other.clone(),
        };
        json!({"role": message["role"], "content": content})
    });
    let messages: evalsuite_schema::Value = messages.collect();
    if !parts_are_known {
        report.different(place, "parts of messages that are not text are kept as JSON");
    }
    Value::from(messages)
}

/// The messages of a prompt that is a chat in JSON.
fn chat(text: &str) -> Option<Vec<evalsuite_schema::Value>> {
    let messages: Vec<evalsuite_schema::Value> = evalsuite_schema::json::from_str(text.trim()).ok()?;
    let roles = ["system", "developer", "user", "assistant", "tool"];
    let is_message = |message: &evalsuite_schema::Value| {
        message["role"].as_str().is_some_and(|role| roles.contains(&role)) && !message["content"].is_null()
    };
    if messages.is_empty() || !messages.iter().all(is_message) {
        return None;
    }
    let with_known_role = messages.into_iter().map(|mut message| {
        if message["role"] == "developer" {
            message["role"] = json!("system");
        }
        message
    });
    Some(with_known_role.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_file_holds_several_prompts() {
        assert_eq!(split("a\nb\n---\n\n  ---\nc -- d\n"), ["a\nb", "c -- d"]);
    }

    #[test]
    fn a_chat_becomes_messages() {
        let mut report = Report::default();
        let place = Place::new("a.yaml", 1, "prompts[0]");
        let chat =
            r#"[{"role": "developer", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "y"}]}]"#;
        let messages = input(chat, &place, &mut report).to_json();
        assert_eq!(
            messages,
            json!([{"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "value": "y"}]}])
        );
        for text in ["hello", "[1, 2]", "[{\"role\": \"robot\", \"content\": \"x\"}]", "[]"] {
            assert_eq!(input(text, &place, &mut report).as_text(), Some(text));
        }
        assert_eq!(report.entries().len(), 0);
    }
}
