//! The content blocks of a prompt.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evalsuite_schema::Value;
use evalsuite_schema::json::json;
use evalsuite_schema::media_type::of_extension;

use crate::platform::untrusted::{read_to_limit, regular_file};

/// Bytes of the largest image or sound that is part of a prompt. A larger one is linked.
const EMBEDDED: u64 = 8 << 20;

/// What an agent is asked in a turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct AcpPrompt {
    pub(crate) text: String,
    /// Files, in order.
    pub(crate) files: Vec<PathBuf>,
    /// Images, sounds and documents with their media types.
    pub(crate) media: Vec<(PathBuf, String)>,
}

impl AcpPrompt {
    /// Every file that the prompt names.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(self.media.iter().map(|(path, _)| path))
    }

    /// The blocks for an agent with these capabilities of prompts. Every agent reads texts and links.
    pub(crate) fn blocks(&self, capabilities: &Value) -> Value {
        let mut blocks = vec![json!({"type": "text", "text": self.text})];
        blocks.extend(self.files.iter().map(|file| link(file, None)));
        for (path, media_type) in &self.media {
            let kind = media_type.split('/').next().unwrap_or_default();
            let is_understood = matches!(kind, "image" | "audio") && capabilities[kind].as_bool() == Some(true);
            let data = is_understood.then(|| read(path)).flatten();
            blocks.push(match data {
                Some(data) => json!({"type": kind, "mimeType": media_type, "data": data}),
                None => link(path, Some(media_type)),
            });
        }
        Value::Array(blocks)
    }
}

fn read(path: &Path) -> Option<String> {
    let bytes = read_to_limit(regular_file(path).ok()?, EMBEDDED).ok()?;
    Some(STANDARD.encode(bytes))
}

fn link(path: &Path, media_type: Option<&str>) -> Value {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let mut link = json!({"type": "resource_link", "name": name.into_owned(), "uri": file_uri(path)});
    if let Some(media_type) = media_type.or_else(|| of_extension(&extension)) {
        link["mimeType"] = media_type.into();
    }
    link
}

/// The path as a URI.
fn file_uri(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b':' => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_data_for_agents_that_read_it_and_a_link_for_others() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a b.png");
        std::fs::write(&path, "png").unwrap();
        let prompt = AcpPrompt { text: "look".into(), files: Vec::new(), media: vec![(path, "image/png".into())] };
        let image = &prompt.blocks(&json!({"image": true}))[1];
        assert_eq!(image, &json!({"type": "image", "mimeType": "image/png", "data": "cG5n"}));
        let link = &prompt.blocks(&json!({"image": false}))[1];
        assert_eq!((&link["type"], &link["name"]), (&json!("resource_link"), &json!("a b.png")));
        assert!(link["uri"].as_str().unwrap().ends_with("/a%20b.png"), "{link}");
        assert_eq!(prompt.blocks(&Value::Null)[0], json!({"type": "text", "text": "look"}));
    }
}
