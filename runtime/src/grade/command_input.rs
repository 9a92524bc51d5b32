//! What commands of graders read: the evidence as JSON.

use std::io;
use std::path::PathBuf;

use evalsuite_records::record::Note;
use evalsuite_schema::json::json;
use evalsuite_schema::{Content, Input, Message, Object, Part, PathRef, ToolCall, Value};

use crate::grade::grading_context::GradingContext;
use crate::model::messages::{file_parts, messages_of};
use crate::platform::files::RedactedFiles;
use crate::platform::untrusted::UntrustedDirectory;

/// Characters of a transcript up to which it is part of the input; a longer one is passed as a file.
const INLINE_LIMIT: usize = 50_000;
/// Name of the file with a longer transcript.
const OUTPUT: &str = "output.json";

/// Runs a command of the grader at `path` with its input. The secrets in the file with the transcript are hidden once the command has
/// read it; a failure is noted.
pub(crate) fn with_input<T>(
    config: &Object,
    path: &str,
    context: &GradingContext<'_>,
    run: impl FnOnce(&Value) -> T,
) -> io::Result<T> {
    let directory = context.grader_files().directory(&context.grader_directory(path));
    let returned = build(config, context, &directory).map(|input| run(&input));
    if let Err(error) = directory.redact(OUTPUT, u64::MAX, context.redactor, false) {
        let message = format!("{}: {error}", directory.path().join(OUTPUT).display());
        context.notes.borrow_mut().push(Note::new("output_not_kept", message));
    }
    returned
}

fn build(config: &Object, context: &GradingContext<'_>, directory: &UntrustedDirectory) -> io::Result<Value> {
    let facts = context.evidence.facts();
    let places = context.places;
    let input_messages = facts.input.as_ref().map_or_else(Default::default, messages_of);
    let of_suite = |file: &PathRef| places.resolve(file);
    let input = match &facts.input {
        Some(Input::Data(object)) => json!([{"role": "user", "content": object}]),
        _ => messages(input_messages, &of_suite),
    };
    let files: Vec<String> =
        file_parts(input_messages).into_iter().map(|file| places.resolve(file).display().to_string()).collect();
    let transcript = match &facts.transcript {
        Some(transcript) => messages(transcript, &|file| facts.files.path(file)),
        None => json!([{"role": "assistant", "content": context.evidence.answer()}]),
    };
    let (output, output_path) = place_output(transcript, directory)?;
    Ok(json!({
        "id": facts.case_id,
        "suite": context.suite,
        "target": facts.target,
        "trial": facts.trial,
        "criteria": facts.criteria,
        "input": input,
        "input_files": files,
        "expected_output": messages(&facts.reference(), &of_suite),
        "answer": context.evidence.answer(),
        "output": output,
        "output_path": output_path,
        "trace": context.evidence.tool_calls().map(|calls| trace(&calls, context.evidence.llm_calls())),
        "token_usage": context.evidence.usage(),
        "cost_usd": context.evidence.cost_usd(),
        "duration_ms": facts.duration_ms,
        "start_time": facts.started_at,
        "end_time": facts.ended_at,
        "file_changes": facts.diff,
        "workspace_path": facts.files.workspace.display().to_string(),
        "metadata": facts.metadata,
        "state": facts.state,
        "model": facts.model,
        "agent_metadata": facts.agent_metadata,
        "config": config,
    }))
}

fn place_output(transcript: Value, directory: &UntrustedDirectory) -> io::Result<(Value, Option<String>)> {
    let text = transcript.to_string();
    if text.chars().count() <= INLINE_LIMIT {
        return Ok((transcript, None));
    }
    let path = directory.path().join(OUTPUT);
    directory.write(OUTPUT, text.as_bytes())?;
    Ok((Value::Null, Some(path.display().to_string())))
}

fn trace(calls: &[&ToolCall], llm_calls: Option<u64>) -> Value {
    let mut counts = Object::new();
    let mut durations = Object::new();
    for call in calls {
        let count = counts.get(&call.tool).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(call.tool.clone(), Value::from(count + 1));
        if let (Some(duration), Value::Array(list)) =
            (call.took_ms(), durations.get_or_insert(call.tool.clone(), Value::Array(Vec::new())))
        {
            list.push(Value::from(duration));
        }
    }
    durations.retain(|_, list| list.as_array().is_some_and(|list| !list.is_empty()));
    json!({
        "event_count": calls.len(),
        "tool_calls": counts,
        "error_count": calls.iter().filter(|call| call.is_error).count(),
        "llm_call_count": llm_calls,
        "tool_durations": durations,
    })
}

/// Absolute path of a file or an image in a message.
type PathOf<'p> = &'p dyn Fn(&PathRef) -> PathBuf;

fn messages(messages: &[Message], path_of: PathOf<'_>) -> Value {
    messages.iter().map(|message| self::message(message, path_of)).collect()
}

/// A message as records have it, except for the paths in its content.
fn message(message: &Message, path_of: PathOf<'_>) -> Value {
    let mut value = json!(message);
    if let Some(content) = &message.content {
        value["content"] = self::content(content, path_of);
    }
    value
}

fn content(content: &Content, path_of: PathOf<'_>) -> Value {
    match content {
        Content::Text(text) => text.clone().into(),
        Content::Data(value) => value.clone(),
        Content::Parts(parts) => parts.iter().map(|part| self::part(part, path_of)).collect(),
    }
}

fn part(part: &Part, path_of: PathOf<'_>) -> Value {
    let named = |kind: &str, file: &PathRef| json!({"type": kind, "value": file.written, "path": path_of(file).display().to_string()});
    let mut value = match part {
        // Graders written for other tools read the text here.
        Part::Text(text) => json!({"type": "text", "value": text, "text": text}),
        Part::Image { file, .. } => named("image", file),
        Part::Audio { file, .. } => named("audio", file),
        Part::Document { file, .. } => named("document", file),
        other => other.file().map(|file| named("file", file)).unwrap_or_default(),
    };
    if let Some(media_type) = part.media_type() {
        value["media_type"] = media_type.into();
    }
    value
}
