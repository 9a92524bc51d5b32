//! Conversion of messages to text.

use std::cell::RefCell;
use std::path::PathBuf;

use evalsuite_schema::{Case, Content, Input, Message, Part, PathRef, Role, Value};

use crate::platform::excerpt::trim;

/// Text of a content.
pub(crate) fn content_text(content: &Content) -> String {
    content.plain_text().into_owned()
}

/// The text of the answer in a transcript.
pub(crate) fn answer(transcript: &[Message]) -> String {
    answer_content(transcript).map(content_text).unwrap_or_default()
}

/// The answer in a transcript: its last assistant message with content. A message that only calls tools has no content.
pub(crate) fn answer_content(transcript: &[Message]) -> Option<&Content> {
    let mut spoken = transcript.iter().rev().filter(|message| message.role == Role::Assistant);
    spoken.find_map(|message| message.content.as_ref())
}

/// The text of a reference: the content of the last message, or its tool calls as JSON if it has none.
pub(crate) fn reference_text(expected_output: &[Message]) -> Option<String> {
    let message = expected_output.last()?;
    Some(match &message.content {
        Some(content) => content_text(content),
        None => {
            evalsuite_schema::json::to_value(&message.tool_calls).map_or_else(|_| String::new(), |calls| pretty(&calls))
        }
    })
}

/// JSON with an indent of two spaces.
pub(crate) fn pretty(value: &Value) -> String {
    evalsuite_schema::json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// The part of a text that should be JSON: without code fences, from the first `{` to the last `}`; the whole text if it has no
/// braces.
pub(crate) fn outer_object(text: &str) -> &str {
    match (text.find('{'), text.rfind('}')) {
        (Some(first), Some(last)) if first < last => &text[first..=last],
        _ => trim(text),
    }
}

/// Messages as `role: text`, separated by empty lines.
pub(crate) fn role_blocks(messages: &[Message]) -> String {
    let said = |message: &Message| {
        let text = content_text(message.content.as_ref()?);
        (!text.trim().is_empty()).then(|| format!("{}: {text}", message.role.as_str()))
    };
    messages.iter().filter_map(said).collect::<Vec<_>>().join("\n\n")
}

/// Every file that the messages name, images, sounds and documents among them, in order.
pub(crate) fn named_files<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<&'m PathRef> {
    messages.into_iter().flat_map(parts).filter_map(Part::file).collect()
}

fn parts(message: &Message) -> &[Part] {
    match &message.content {
        Some(Content::Parts(parts)) => parts,
        _ => &[],
    }
}

/// The messages of an input; data has none.
pub(crate) fn messages_of(input: &Input) -> &[Message] {
    match input {
        Input::Messages(messages) => messages,
        Input::Data(_) => &[],
    }
}

/// The messages that an agent gets in a case: those of the input, then those of the turns of a conversation.
pub(crate) fn given_messages(case: &Case) -> impl Iterator<Item = &Message> {
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    messages_of(&case.input).iter().chain(turns.map(|turn| &turn.input))
}

/// Every file part of the messages, in order.
pub(crate) fn file_parts<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<&'m PathRef> {
    let file = |part: &'m Part| if let Part::File(file) = part { Some(file) } else { None };
    messages.into_iter().flat_map(parts).filter_map(file).collect()
}

/// Every image, sound and document of the messages with its media type, in order.
pub(crate) fn media_parts<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<(&'m PathRef, &'m str)> {
    messages.into_iter().flat_map(parts).filter_map(|part| Some((part.file()?, part.media_type()?))).collect()
}

/// The input as an agent gets it. A file is shown as its absolute path.
pub(crate) fn prompt(input: &Input, resolve: impl Fn(&PathRef) -> PathBuf) -> String {
    match input {
        Input::Data(object) => ["prompt", "content"]
            .iter()
            .find_map(|key| object.get(key).and_then(Value::as_str))
            .map_or_else(|| pretty(&Value::Object(object.clone())), str::to_owned),
        // An agent gets images by other means.
        Input::Messages(messages) => blocks(messages, &|part| match part {
            Part::Image { .. } => None,
            part => part.file().map(|file| format!("<file: path=\"{}\">", resolve(file).display())),
        }),
    }
}

/// The messages as a judge gets them. A file is shown with its text, if `read` returns it. Any other file is named, and added to `unshown`: a
/// judge that does not know of it would judge an answer about something else.
pub(crate) fn judge_prompt(
    messages: &[Message],
    read: impl Fn(&PathRef) -> Option<String>,
    unshown: &RefCell<Vec<String>>,
) -> String {
    blocks(messages, &|part| {
        let file = part.file()?;
        let text = if matches!(part, Part::Image { .. }) { None } else { read(file) };
        let text = text.unwrap_or_else(|| {
            unshown.borrow_mut().push(file.written.clone());
            format!("({}, not shown)", part.media_type().unwrap_or("not text"))
        });
        Some(format!("<file path=\"{}\">\n{}\n</file>", file.written, text.trim_end_matches('\n')))
    })
}

/// The text of a file; `None` if it is not text, or cannot be read.
pub(crate) fn file_text(path: &std::path::Path) -> Option<String> {
    let text = String::from_utf8(std::fs::read(path).ok()?).ok()?;
    (!text.contains('\0')).then_some(text)
}

fn blocks(messages: &[Message], show: &dyn Fn(&Part) -> Option<String>) -> String {
    let mut visible: Vec<(Role, Vec<String>)> = Vec::new();
    for message in messages {
        let parts = part_texts(message, show);
        if parts.iter().any(|part| !part.trim().is_empty()) {
            visible.push((message.role, parts));
        }
    }
    if let [(Role::System | Role::User, parts)] = visible.as_slice() {
        let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        return parts.join("\n\n");
    }
    let blocks: Vec<String> =
        visible.iter().map(|(role, parts)| format!("@[{}]:\n{}", role_title(*role), parts.join("\n"))).collect();
    blocks.join("\n\n")
}

/// `show`: the text of a part that is a file.
fn part_texts(message: &Message, show: &dyn Fn(&Part) -> Option<String>) -> Vec<String> {
    match &message.content {
        None => Vec::new(),
        Some(Content::Parts(parts)) => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                file => show(file),
            })
            .collect(),
        Some(content) => vec![content_text(content)],
    }
}

fn role_title(role: Role) -> &'static str {
    match role {
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt_of(messages: Vec<Message>) -> String {
        prompt(&Input::Messages(messages), |file| PathBuf::from(&file.path))
    }

    #[test]
    fn one_visible_message_is_its_parts_trimmed() {
        let parts = vec![Part::Text(" first \n".into()), Part::Text("  ".into()), Part::Text("second".into())];
        let blank = Message::text(Role::System, "  ");
        assert_eq!(prompt_of(vec![blank, Message::new(Role::User, Content::Parts(parts))]), "first\n\nsecond");
    }

    #[test]
    fn several_messages_are_blocks_with_their_role() {
        let messages = vec![Message::text(Role::System, "be brief"), Message::text(Role::User, "hello")];
        assert_eq!(prompt_of(messages), "@[System]:\nbe brief\n\n@[User]:\nhello");
        assert_eq!(prompt_of(vec![Message::text(Role::Assistant, "so far")]), "@[Assistant]:\nso far");
    }

    #[test]
    fn a_file_is_shown_by_its_path() {
        let file = PathRef::found("note.txt", "/suite/note.txt");
        let parts = vec![Part::File(file), Part::Text("Summarise it.".into())];
        let prompt = prompt_of(vec![Message::new(Role::User, Content::Parts(parts))]);
        assert_eq!(prompt, "<file: path=\"/suite/note.txt\">\n\nSummarise it.");
    }

    #[test]
    fn a_judge_reads_the_files_themselves() {
        let file = |name: &str| Part::File(PathRef::new(name));
        let image = Part::Image { file: PathRef::new("photo.png"), media_type: "image/png".into() };
        let parts = vec![file("note.txt"), file("image.bin"), image, Part::Text("Summarise it.".into())];
        let read = |file: &PathRef| (file.path == "note.txt").then(|| "the note\n".to_owned());
        let unshown = RefCell::default();
        let prompt = judge_prompt(&[Message::new(Role::User, Content::Parts(parts))], read, &unshown);
        let files =
            [("note.txt", "the note"), ("image.bin", "(not text, not shown)"), ("photo.png", "(image/png, not shown)")];
        let files = files.map(|(name, text)| format!("<file path=\"{name}\">\n{text}\n</file>")).join("\n\n");
        assert_eq!(prompt, format!("{files}\n\nSummarise it."));
        assert_eq!(unshown.into_inner(), ["image.bin", "photo.png"]);
    }

    #[test]
    fn a_task_is_its_prompt_or_content_or_json() {
        let data =
            |json: &str| prompt(&Input::Data(evalsuite_schema::json::from_str(json).unwrap()), |_| PathBuf::new());
        assert_eq!(data(r#"{"content": "b", "prompt": "a"}"#), "a");
        assert_eq!(data(r#"{"prompt": 1, "content": "b"}"#), "b");
        assert_eq!(data(r#"{"x": 1}"#), "{\n  \"x\": 1\n}");
    }
}
