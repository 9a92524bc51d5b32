//! `input`, `input_files`, messages, and `expected_output`: the reference answer.

use std::collections::BTreeMap;

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::keys::Keys;
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::sorting::map;
use evalsuite_schema::{Content, ContentPart, Message, Part, PathRef, Role, ToolCall, media_type};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Fix, in_place_of};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields, label, settings};
use crate::read::node::{Data, Entry, Node};

/// Start of the media types of images.
const IMAGE: &str = "image/";

/// The messages of `input`: text becomes one of the user, with `files` before it. `None`: a problem was reported.
pub(crate) fn read(entry: &Entry, files: &[PathRef], scope: Scope<'_>, d: &mut Diagnostics) -> Option<Vec<Message>> {
    let node = &entry.value;
    match &node.data {
        Data::String(text) if text.is_empty() => {
            fields::reject(Code::MissingInput, node.span, "`input` is empty", "write what the agent gets", d)
        }
        Data::String(text) => {
            check_text(text, node, scope, d)?;
            let parts = || files.iter().cloned().map(Part::File).chain([Part::Text(text.clone())]).collect();
            let content = if files.is_empty() { Content::Text(text.clone()) } else { Content::Parts(parts()) };
            Some(vec![Message::new(Role::User, content)])
        }
        Data::Sequence(items) if items.is_empty() => {
            let help = "add a message with `role` and `content`";
            fields::reject(Code::MissingInput, node.span, "`input` is an empty list", help, d)
        }
        Data::Sequence(items) => fields::all(items, |item| message(item, scope, d)),
        _ => {
            let message = format!("`input` must be text or a list of messages, found {}", node.kind());
            let (help, fix) = match &node.data {
                Data::Number(_) | Data::Bool(_) => ("quote it", Some(Fix::Quote)),
                _ => ("put data under `content` of a message: `- {role: user, content: {…}}`", None),
            };
            d.push(Diagnostic::new(Code::InvalidInput, message).at(node.span).help(help).fix_if(fix));
            None
        }
    }
}

/// Reads `input_files`.
pub(crate) fn files(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<PathRef> {
    let Some(items) = fields::list(&entry.value, &label(entry), d) else { return Vec::new() };
    items.iter().filter_map(|item| text_file(item, "an element of `input_files`", scope, d)).collect()
}

/// A file that is read when a trial runs; an empty one is probably a mistake.
fn text_file(node: &Node, what: &str, scope: Scope<'_>, d: &mut Diagnostics) -> Option<PathRef> {
    let found = scope.find_in_message(node, what, d)?;
    if std::fs::metadata(&found.path).is_ok_and(|metadata| metadata.len() == 0) {
        let shown = scope.files.shown(&found.path);
        d.push(Diagnostic::new(Code::EmptyFile, format!("`{shown}` is empty")).at(node.span));
    }
    Some(found.reference)
}

/// A message that is written as `user: Hello`.
fn role_as_key(node: &Node) -> Option<Diagnostic> {
    let [entry] = node.as_mapping()? else { return None };
    let role = Role::WORDS.iter().find(|role| **role == entry.key)?;
    let message = format!("`{role}` is a role of messages, not a key");
    let help = format!("write `{{role: {role}, content: {}}}`", entry.value.shown());
    let separator = node.separator(entry.key_span.start().column)?;
    let (role_key, content) = (entry.quoted_alike("role"), entry.quoted_alike("content"));
    let text = format!("{role_key}: {}{separator}{content}", entry.quoted_alike(role));
    let fix = in_place_of(entry.key_span, text);
    Some(Diagnostic::new(Code::InvalidMessage, message).at(entry.key_span).help(help).fix_if(fix))
}

/// Reads one message.
pub(crate) fn message(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Message> {
    if node.as_mapping().is_none() {
        let message = format!("a message must be a mapping, found {}", node.kind());
        return invalid_message(node, message, "write `{role: user, content: …}`", d);
    }
    if let Some(problem) = role_as_key(node) {
        d.push(problem);
        return None;
    }
    let mut fields = Fields::new(node, Message::TABLE, d)?;
    let role = match fields.get("role") {
        Some(entry) => role(&entry.value, d),
        None => invalid_message(node, "a message has no `role`", "add `role: user`", d),
    };
    let calls_entry = fields.get("tool_calls");
    // Also with calls that are wrong: those were reported.
    let only_calls = calls_entry.is_some_and(|entry| entry.value.as_sequence().is_none_or(|calls| !calls.is_empty()));
    let tool_calls = calls_entry.map(|entry| tool_calls(entry, scope, d));
    let content = match fields.get("content") {
        Some(entry) => content(&entry.value, scope, d).map(Some),
        None if only_calls => Some(None),
        None if fields.misspells(&["content"]) || fields.is_null(Code::InvalidMessage, "content", d) => None,
        None => invalid_message(node, "a message has no `content`", "add `content`", d),
    };
    let name = fields.read("name", fields::string, d);
    fields.finish(d);
    let mut message = Message::empty(role?);
    message.name = name;
    message.content = content?;
    message.tool_calls = tool_calls.unwrap_or_default();
    Some(message)
}

fn invalid_message<T>(node: &Node, message: impl Into<String>, help: &str, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::InvalidMessage, node.span, message, help, d)
}

fn role(node: &Node, d: &mut Diagnostics) -> Option<Role> {
    let Some(text) = node.as_str() else {
        return invalid_message(node, format!("`role` must be text, found {}", node.kind()), "write `role: user`", d);
    };
    if !fields::literal(text, node, "`role`", d) {
        return None;
    }
    Role::of_word(text).or_else(|| {
        let help = match text {
            "human" | "customer" => Some("did you mean `user`?".to_owned()),
            "ai" | "model" | "bot" | "agent" => Some("did you mean `assistant`?".to_owned()),
            "developer" => Some("did you mean `system`?".to_owned()),
            "function" => Some("did you mean `tool`?".to_owned()),
            _ => suggest::did_you_mean(text, Role::WORDS.iter().copied()),
        };
        let known = "write `system`, `user`, `assistant` or `tool`".to_owned();
        invalid_message(node, format!("`role` is `{text}`"), &help.unwrap_or(known), d)
    })
}

/// Content of a message, or the input of a turn. `None`: a problem was reported.
pub(crate) fn content(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Content> {
    match &node.data {
        Data::String(text) => {
            check_text(text, node, scope, d)?;
            Some(Content::Text(text.clone()))
        }
        Data::Mapping(_) => Some(Content::Data(node.to_json())),
        Data::Sequence(items) => fields::all(items, |item| part(item, scope, d)).map(Content::Parts),
        _ => {
            let message = format!("`content` must be text, an object or a list of parts, found {}", node.kind());
            invalid_message(node, message, "quote it to make it text", d)
        }
    }
}

fn part(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Part> {
    if let Some(text) = node.as_str() {
        check_text(text, node, scope, d)?;
        return Some(Part::Text(text.to_owned()));
    }
    let invalid = |place: &Node, message: String, d: &mut Diagnostics| {
        let help = "write `{type: text, value: …}`, `type: file` or `type: image`";
        fields::reject(Code::InvalidContentPart, place.span, message, help, d)
    };
    if node.as_mapping().is_none() {
        return invalid(node, format!("a content part must be text or a mapping, found {}", node.kind()), d);
    }
    let mut fields = Fields::new(node, ContentPart::TABLE, d)?;
    let (kind, value) = (fields.get("type"), fields.get("value"));
    fields.finish(d);
    let Some(Entry { value: kind, .. }) = kind else {
        return invalid(node, "a content part has no `type`".to_owned(), d);
    };
    let Some(Entry { value, .. }) = value else {
        return invalid(node, "a content part has no `value`".to_owned(), d);
    };
    let Some(text) = value.as_str() else {
        return invalid(value, format!("`value` of a content part must be text, found {}", value.kind()), d);
    };
    match kind.as_str() {
        Some("text") => {
            check_text(text, value, scope, d)?;
            Some(Part::Text(text.to_owned()))
        }
        Some("file") => text_file(value, "a `file` part", scope, d).map(Part::File),
        Some("image") => image(value, scope, d),
        Some(other) if !fields::literal(other, kind, "`type`", d) => None,
        Some(other) => invalid(kind, format!("a content part cannot be of type `{other}`"), d),
        None => invalid(kind, format!("`type` of a content part must be text, found {}", kind.kind()), d),
    }
}

fn image(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Part> {
    let found = scope.find_in_message(node, "an `image` part", d)?;
    let extension = found.path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let Some(media_type) = media_type::of_extension(extension).filter(|found| found.starts_with(IMAGE)) else {
        let known: Vec<&str> = media_type::extensions(IMAGE).collect();
        let message = format!("`{}` is not an image that can be passed on", found.reference.written);
        let help = format!("use a file of type {}", suggest::quoted(&known, "or"));
        return fields::reject(Code::InvalidContentPart, node.span, message, help, d);
    };
    Some(Part::Image { file: found.reference, media_type: media_type.to_owned() })
}

fn tool_calls(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<ToolCall> {
    let Some(items) = fields::list(&entry.value, "`tool_calls`", d) else { return Vec::new() };
    items.iter().filter_map(|item| settings::object(item, scope, d)).collect()
}

/// Checks a text that the agent gets as it is. `None`: it is certainly not meant.
fn check_text(text: &str, node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<()> {
    warn_of_role_markers(text, node, d);
    // Of a case with variables, what is still there is meant.
    for name in Syntax::TemplateBesideVariables.names(text).filter(|_| scope.vars.is_none()) {
        let message = format!("`{{{{ {name} }}}}` is not filled in: the agent gets the text as it is written");
        let help = "write the value where it is used, or in `vars` of the case; `${{ NAME }}` is filled in from the environment";
        d.report(Code::UnknownTemplateVariable, node.span, message, help);
    }
    for (written, name) in shell_variables(text) {
        let message = format!("`{written}` is not filled in: the agent gets the text as it is written");
        let help = format!("write `${{{{ {name} }}}}` for the environment variable `{name}`, or write the value");
        d.report(Code::UnknownTemplateVariable, node.span, message, help);
    }
    let Some(path) = text.trim().strip_prefix("file://") else { return Some(()) };
    if path.contains(char::is_whitespace) {
        return Some(());
    }
    let message = format!("`file://{path}` is the name of a file, which is not read here");
    let help = format!(
        "write `input_files: [{path}]` beside `input`, or `{{type: file, value: {path}}}` in the `content` of a message"
    );
    fields::reject(Code::InvalidInput, node.span, message, help, d)
}

/// References to environment variables as a shell writes them, `${API_KEY}` and `$API_KEY`, with their names, each once. Code between
/// backticks is meant as it is, and so is a `$` before a word without `_`, such as a price.
fn shell_variables(text: &str) -> BTreeMap<&str, &str> {
    let is_part = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let (mut backticks, mut counted) = (0, 0);
    let found = text.match_indices('$').filter_map(|(start, _)| {
        backticks += text[counted..start].matches('`').count();
        counted = start;
        let is_code = backticks % 2 == 1;
        let after = &text[start + 1..];
        let body = after.strip_prefix('{').unwrap_or(after);
        let body = body.strip_prefix("env:").or_else(|| body.strip_prefix("env.")).unwrap_or(body);
        let name = &body[..body.bytes().take_while(is_part).count()];
        let (rest, in_braces) = (&body[name.len()..], after.starts_with('{'));
        let is_name = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
        let is_whole = match in_braces {
            true => rest.starts_with('}'),
            false => name.contains('_') && !rest.starts_with(|next: char| next.is_alphanumeric()) && body == after,
        };
        let length = text.len() - rest.len() - start + usize::from(in_braces);
        (!is_code && is_name && is_whole).then(|| (&text[start..start + length], name))
    });
    map(found)
}

fn warn_of_role_markers(text: &str, node: &Node, d: &mut Diagnostics) {
    if !text.contains("@[") {
        return;
    }
    let lower = text.to_lowercase();
    if ["@[system]:", "@[user]:", "@[assistant]:", "@[tool]:"].iter().any(|marker| lower.contains(marker)) {
        let message = "the text contains a role marker such as `@[User]:`";
        d.report(Code::RoleMarker, node.span, message, "write separate messages with `role` and `content`");
    }
}

/// Reads `expected_output` into messages; empty after a reported problem.
pub(crate) fn read_expected_output(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Message> {
    let node = &entry.value;
    match &node.data {
        Data::String(text) if text.is_empty() => {
            invalid_expected_output(node, "`expected_output` is empty".to_owned(), d)
        }
        Data::String(text) => vec![Message::text(Role::Assistant, text.clone())],
        Data::Mapping(_) if node.entry("role").is_some() => message(node, scope, d).into_iter().collect(),
        Data::Mapping(_) => vec![Message::new(Role::Assistant, Content::Data(node.to_json()))],
        Data::Sequence(items) => match items.first() {
            None => invalid_expected_output(node, "`expected_output` is an empty list".to_owned(), d),
            Some(first) if first.entry("role").is_some() => expected_messages(items, scope, d),
            Some(_) => vec![Message::new(Role::Assistant, Content::Data(node.to_json()))],
        },
        Data::Number(_) | Data::Bool(_) | Data::Null | Data::Foreign(_) => {
            invalid_expected_output(node, format!("`expected_output` is {}", node.kind()), d)
        }
    }
}

fn expected_messages(items: &[Node], scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Message> {
    let message = |item: &Node| match item.entry("role") {
        Some(_) => message(item, scope, d).into_iter().collect(),
        None => invalid_expected_output(item, "an element of `expected_output` is not a message".to_owned(), d),
    };
    items.iter().flat_map(message).collect()
}

fn invalid_expected_output(node: &Node, message: String, d: &mut Diagnostics) -> Vec<Message> {
    let help = "write text (quote a number), an object, or a list of messages";
    d.report(Code::InvalidExpectedOutput, node.span, message, help);
    Vec::new()
}
