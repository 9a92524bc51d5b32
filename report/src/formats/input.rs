//! What the agent was asked, as messages.

use evalsuite_schema::{Content, Input, Message, Part, Role, Value};

use crate::run_data::TrialFiles;

/// The messages of the input. Data are one message of the user, as JSON.
pub(crate) fn input_messages(files: &TrialFiles) -> Vec<(Role, String)> {
    match files.input.clone().map(evalsuite_schema::json::from_value) {
        Some(Ok(Input::Messages(messages))) => messages.iter().map(|message| (message.role, text(message))).collect(),
        Some(Ok(Input::Data(data))) => vec![(Role::User, format!("{:#}", Value::Object(data)))],
        Some(Err(_)) | None => Vec::new(),
    }
}

fn text(message: &Message) -> String {
    match &message.content {
        None => String::new(),
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Data(data)) => format!("{data:#}"),
        Some(Content::Parts(parts)) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        media => media.file().map(|file| format!("[file: {}]", file.path)).unwrap_or_default(),
    }
}
