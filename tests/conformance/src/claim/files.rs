//! Files that cannot be read: E001 to E009.

use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::Code;
use serde::Deserialize as _;

use super::{Claim, ensure};
use crate::source_excerpt;

pub(super) fn check(claim: &Claim<'_>) -> Result<(), String> {
    let text = claim.place.file_text.as_deref();
    match claim.code {
        Code::UnreadableFile => {
            ensure(std::fs::read(&claim.place.path).is_err() || claim.place.path.is_dir() || text.is_none(), || {
                "the file can be read".to_owned()
            })
        }
        Code::InvalidUtf8 => {
            let bytes = std::fs::read(&claim.place.path).unwrap_or_default();
            ensure(std::str::from_utf8(&bytes).is_err(), || "the file is UTF-8".to_owned())
        }
        Code::YamlSyntax => {
            let refused = text.is_none_or(|text| source_excerpt::from_yaml(text).is_none());
            let reference = claim.record.expected()["error_kind"] == "yaml";
            // Readers differ in how they treat tags, and keys that are lists or mappings; ours rejects them.
            let there = text.unwrap_or_default();
            let tagged = claim.message.contains("tag") && there.contains("!!");
            let bracket = claim.place.text.as_deref().is_some_and(|text| text.starts_with(['[', '{']));
            let collection = claim.message.contains("cannot be a key") && (there.contains("? ") || bracket);
            // Inside the text the mark is not a YAML character, but other readers treat it as a space or a letter.
            let mark = claim.message.contains("byte order mark") && there.chars().skip(1).any(|c| c == '\u{feff}');
            ensure(refused || reference || tagged || collection || mark, || {
                "another YAML reader accepts the file, and so does the reference".to_owned()
            })
        }
        Code::JsonSyntax => ensure(!is_json(claim), || "the text is JSON".to_owned()),
        Code::DuplicateKey => {
            let key = claim.quoted.first().copied().unwrap_or_default();
            let times = text.map_or(0, |text| text.matches(key).count());
            // A number can be spelled in several ways.
            let is_number = key.parse::<f64>().is_ok() && claim.record.expected()["error_kind"] == "yaml";
            ensure(
                times >= 2 && claim.place.text.as_deref().is_some_and(|text| text.contains(key)) || is_number,
                || format!("`{key}` occurs {times} times"),
            )
        }
        Code::MultipleDocuments => {
            let documents = text.map_or(0, |text| serde_yaml::Deserializer::from_str(text).take(2).count());
            ensure(documents > 1, || "there is one document".to_owned())
        }
        Code::RootNotMapping => {
            // Each line of a JSONL file has its own root.
            let root =
                claim.value().cloned().or_else(|| text.and_then(source_excerpt::from_yaml)).unwrap_or(Value::Null);
            ensure(!root.is_object(), || "it is a mapping".to_owned())
        }
        Code::LimitExceeded => {
            let text = text.unwrap_or_default();
            let opened = text.chars().filter(|c| matches!(c, '[' | '{')).count() + text.lines().count();
            ensure(text.contains('*') || opened > 64 || text.len() > 1 << 20, || {
                "nothing there is too large or too deep".to_owned()
            })
        }
        _ => ensure(claim.value().is_none_or(|value| !value.is_object()) || claim.needs_rest_of_file(), || {
            "`<<` is a mapping".to_owned()
        }),
    }
}

/// Whether the line (JSONL) or file (JSON) is JSON. Duplicate keys are not considered.
fn is_json(claim: &Claim<'_>) -> bool {
    let Some(text) = &claim.place.file_text else { return false };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_lines = claim.place.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"));
    let part = if is_lines { text.lines().nth(claim.place.start.line as usize - 1).unwrap_or_default() } else { text };
    let mut reader = serde_json::Deserializer::from_str(part);
    Value::deserialize(&mut reader).is_ok() && reader.end().is_ok()
}
