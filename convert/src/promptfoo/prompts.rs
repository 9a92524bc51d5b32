//! Prompts of a configuration.

use std::path::Path;

use evalsuite_loader::document::Value;
use evalsuite_schema::json::{Value as Json, from_str, json};

use super::source_files::{FILE_SCHEME, extension_of, script_of, unreadable};
use super::values::elements;
use crate::report::{Place, Report};
use crate::source::SourceFiles;

/// A prompt, whose variables are not filled in.
#[derive(Debug, Clone, Default)]
pub(super) struct Prompt {
    /// `None` for one that a program or a service writes: the input of its cases is their variables.
    pub(super) text: Option<String>,
    /// What tests choose it by.
    pub(super) names: Vec<String>,
    pub(super) place: Place,
    /// Comments above it.
    pub(super) above: Vec<String>,
}

impl Prompt {
    fn new(text: String, names: &[&str], place: &Place) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Self { text: Some(text), names, place: place.clone(), above: Vec::new() }
    }
}

/// The line between two prompts of a text file.
const DELIMITER: &str = "---";

/// Files that hold one prompt as it is.
const TEXT_FILES: &[&str] = &["md", "j2", "json"];

/// Reads `prompts`: a text, a file, a list of these, or mappings with `raw` or `id`.
pub(super) fn read(value: &Value, place: &Place, files: &SourceFiles, report: &mut Report) -> Vec<Prompt> {
    let (mut prompts, mut written_elsewhere) = (Vec::new(), Vec::new());
    for (item, place) in elements(value, place) {
        let raw = item.get("raw").or_else(|| item.get("id")).and_then(Value::as_text);
        let label = item.get("label").or_else(|| item.get("display")).and_then(Value::as_text);
        let read = match item.as_text().or(raw) {
            Some(text) => match writer(text, files) {
                Some(writer) => {
                    written_elsewhere.push((place.clone(), writer, [Some(text), label]));
                    Ok(Vec::new())
                }
                None => read_text(text, &place, files, report),
            },
            // A chat in the configuration itself.
            None if item.items().is_some() => Ok(vec![Prompt::new(item.to_json().to_string(), &[], &place)]),
            None => Err("it is neither a text nor a file".to_owned()),
        };
        for mut prompt in report.kept(&place, read).unwrap_or_default() {
            prompt.names.extend(label.map(str::to_owned));
            prompt.above.splice(0..0, item.above.iter().cloned());
            report.mapped(&place);
            prompts.push(prompt);
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
            prompts.push(Prompt { place, ..Prompt::default() });
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

/// The prompts that a text is or names; the error says why there are none.
fn read_text(text: &str, place: &Place, files: &SourceFiles, report: &mut Report) -> Result<Vec<Prompt>, String> {
    let itself = || Ok(vec![Prompt::new(text.to_owned(), &[text], place)]);
    let Some(pattern) = path_of(text) else { return itself() };
    let found = files.matching(pattern, files.root(), text, place)?;
    if found.is_empty() {
        return if text.starts_with(FILE_SCHEME) { Err(format!("there is no file `{pattern}`")) } else { itself() };
    }
    let mut prompts = Vec::new();
    for path in found {
        let shown = files.shown(&path);
        let read = files.text(&path, text, place).map_err(|error| unreadable(&shown, &error));
        let Some(contents) = report.kept(place, read) else { continue };
        let mut push = |prompt: String| prompts.push(Prompt::new(prompt, &[&shown, text], place));
        let lines = contents.lines().filter(|line| !line.trim().is_empty());
        match extension_of(&path).as_str() {
            "txt" => split(&contents).into_iter().for_each(push),
            "jsonl" => lines.for_each(|line| push(line.to_owned())),
            "yaml" | "yml" => {
                let document = files.js_yaml(&path, text, place);
                push(document.map_or(contents, |document| document.root.to_json().to_string()));
            }
            // Without a comma, each line is a prompt.
            "csv" if !contents.contains(',') => {
                let is_header = |line: &&str| line.trim().to_lowercase() == "prompt";
                lines
                    .enumerate()
                    .filter(|(index, line)| *index > 0 || !is_header(line))
                    .for_each(|(_, line)| push(line.to_owned()));
            }
            "csv" => match csv_prompts(&contents) {
                Ok(rows) => prompts.extend(rows.into_iter().map(|(prompt, label)| {
                    let mut names = vec![&*shown, text];
                    names.extend(label.as_deref());
                    Prompt::new(prompt, &names, place)
                })),
                Err(problem) => report.dropped(place, format!("`{shown}` cannot be read: {problem}")),
            },
            "json" => push(from_str(&contents).map_or(contents, |json: Json| json.to_string())),
            known if TEXT_FILES.contains(&known) => push(contents),
            _ => report.dropped(place, format!("prompts cannot be read from `{shown}`")),
        }
    }
    Ok(prompts)
}

/// The prompts of a table, each with its label.
fn csv_prompts(text: &str) -> csv::Result<Vec<(String, Option<String>)>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers()?.clone();
    let column = |name: &str| headers.iter().position(|header| header == name);
    let (prompt, label) = (column("prompt"), column("label"));
    let mut prompts = Vec::new();
    for row in reader.into_records() {
        let row = row?;
        let cell = |column: Option<usize>| row.get(column?).filter(|cell| !cell.is_empty()).map(str::to_owned);
        prompts.extend(cell(prompt).map(|prompt| (prompt, cell(label))));
    }
    Ok(prompts)
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
    let lines: Vec<&str> = text.lines().collect();
    let prompts = lines.split(|line| line.trim() == DELIMITER).map(|lines| lines.join("\n").trim().to_owned());
    prompts.filter(|prompt| !prompt.is_empty()).collect()
}

/// The input of a case: the messages of a chat, or the text.
pub(super) fn input(text: &str, place: &Place, report: &mut Report) -> Value {
    let Some(messages) = chat(text) else { return Value::text(text) };
    let mut parts_are_known = true;
    let messages = messages.into_iter().map(|message| {
        let content = match &message["content"] {
            Json::Array(parts) => {
                let part = |part: &Json| match part["type"].as_str() {
                    Some("text") => json!({"type": "text", "value": part["text"]}),
                    _ => {
                        parts_are_known = false;
                        json!({"type": "text", "value": part.to_string()})
                    }
                };
                parts.iter().map(part).collect()
            }
            Json::Null => json!(""),
            other => other.clone(),
        };
        json!({"role": message["role"], "content": content})
    });
    let messages: Json = messages.collect();
    if !parts_are_known {
        report.different(place, "parts of messages that are not text are kept as JSON");
    }
    Value::from(messages)
}

/// The messages of a prompt that is a chat in JSON.
fn chat(text: &str) -> Option<Vec<Json>> {
    let mut messages: Vec<Json> = from_str(text.trim()).ok()?;
    let roles = ["system", "developer", "user", "assistant", "tool"];
    let is_message = |message: &Json| {
        message["role"].as_str().is_some_and(|role| roles.contains(&role)) && !message["content"].is_null()
    };
    if messages.is_empty() || !messages.iter().all(is_message) {
        return None;
    }
    for message in messages.iter_mut().filter(|message| message["role"] == "developer") {
        message["role"] = json!("system");
    }
    Some(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_file_holds_several_prompts() {
        assert_eq!(split("a\nb\n---\n\n  ---\nc -- d\n"), ["a\nb", "c -- d"]);
    }

    #[test]
    fn a_table_has_prompts_and_labels() {
        let table = "label,prompt\none,\"Say, {{a}}\"\n,x\ntwo, \n";
        let expected = [("Say, {{a}}".to_owned(), Some("one".to_owned())), ("x".to_owned(), None)];
        assert_eq!(csv_prompts(table).unwrap(), expected);
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
