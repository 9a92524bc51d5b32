//! SHA-256 and names made of it.

use std::io::{self, Read};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Characters of a name that are kept in front of its digest.
const KEPT: usize = 80;

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of everything a reader gives, in hexadecimal.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn sha256_of(mut reader: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(&digest.finalize())),
            Ok(count) => digest.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// JSON with the keys of all objects sorted, so that the same data gives the same text.
pub(crate) fn canonical(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(canonical).collect(),
        Value::Object(object) => {
            let mut entries: Vec<(String, Value)> = object.into_iter().collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key, canonical(value))).collect())
        }
        other => other,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Directory name of a case: its id as far as it can be one, and a digest of suite, target and id.
pub(crate) fn case_key(suite: &str, target: &str, id: &str) -> String {
    keyed(id, format!("{suite}\0{target}\0{id}"))
}

/// A file name for any text: the text as far as it can be one, and a digest of it.
pub(crate) fn file_key(text: &str) -> String {
    keyed(text, text)
}

fn keyed(shown: &str, digested: impl AsRef<[u8]>) -> String {
    let kept: String = safe(shown).chars().take(KEPT).collect();
    format!("{kept}-{}", &sha256(digested)[..8])
}

/// The text with every character outside `[A-Za-z0-9._-]` as `_`.
pub(crate) fn safe(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | '-' => character,
            _ => '_',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_safe_short_and_different_per_target() {
        let key = case_key("shop", "default", "päd/../x");
        assert!(key.starts_with("p_d_.._x-"), "{key}");
        assert_eq!(key.len(), "p_d_.._x-".len() + 8);
        assert_ne!(key, case_key("shop", "codex", "päd/../x"));
        assert_eq!(case_key("s", "t", &"x".repeat(300)).len(), 89);
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
