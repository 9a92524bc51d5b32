//! SHA-256 digests, and file names derived from them.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use evalsuite_schema::Value;
use evalsuite_schema::digest::hexadecimal;
use evalsuite_schema::line_breaks::FileDigest;
use hmac_sha256::{HMAC, Hash};

pub use evalsuite_schema::digest::sha256_of_data;

/// Most characters of a text in the file name made of it.
const SHOWN: usize = 80;

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(Hash::hash(bytes.as_ref()))
}

/// HMAC-SHA-256 in hexadecimal.
pub fn sha256_with_key(key: &str, text: &str) -> String {
    hexadecimal(HMAC::mac(text, key))
}

/// SHA-256 of everything that can be read, in hexadecimal.
///
/// # Errors
///
/// If it cannot be read.
pub fn sha256_of(reader: impl Read) -> io::Result<String> {
    let mut digest = Hash::new();
    for_each_chunk(reader, |chunk| digest.update(chunk))?;
    Ok(hexadecimal(digest.finalize()))
}

/// SHA-256 of a file under version control, in hexadecimal. A text has the same digest with `\n` and with `\r\n`.
///
/// # Errors
///
/// If it cannot be read.
pub fn sha256_of_source(reader: impl Read) -> io::Result<String> {
    let mut digest = FileDigest::default();
    for_each_chunk(reader, |chunk| digest.update(chunk))?;
    Ok(hexadecimal(digest.finish()))
}

/// Reads to the end, in parts.
fn for_each_chunk(mut reader: impl Read, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the entries of all objects for which `counts` is false.
pub fn retain_entries(value: &mut Value, counts: &impl Fn(&str, &Value) -> bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| retain_entries(item, counts)),
        Value::Object(object) => {
            object.retain(|key, value| counts(key, value));
            object.values_mut().for_each(|value| retain_entries(value, counts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Directory name of a case: its id with characters replaced where necessary, and a digest of suite, target and id.
pub fn case_key(suite: &str, target: &str, id: &str) -> String {
    name_with_digest(id, format!("{suite}\0{target}\0{id}"))
}

/// A file name for any text: the text with characters replaced where necessary, and its digest.
pub fn file_key(text: &str) -> String {
    /// Every path below a suite's records has the suite's key.
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = known.get(text) {
        return key.clone();
    }
    let key = name_with_digest(text, text);
    known.insert(text.to_owned(), key.clone());
    key
}

/// A file name: the text with characters replaced where necessary, and the digest of what identifies it.
pub fn name_with_digest(text: &str, digested: impl AsRef<[u8]>) -> String {
    let shown: String = safe(text).chars().take(SHOWN).collect();
    usable(format!("{shown}-{}", &sha256(digested)[..8]))
}

/// A file name that means the same on every system: `_` before a name of a device of Windows, and in place of dots at the end, which
/// Windows removes.
pub fn usable(name: String) -> String {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    let is_device = matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || numbered("com")
        || numbered("lpt");
    let kept = name.trim_end_matches('.').len();
    let dots = "_".repeat(name.len() - kept);
    format!("{}{}{dots}", if is_device { "_" } else { "" }, &name[..kept])
}

/// The text with `_` for every character outside `[A-Za-z0-9._-]`.
pub fn safe(text: &str) -> String {
    let is_safe = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    text.chars().map(|character| if is_safe(character) { character } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_safe_and_short_and_differ_by_target() {
        let key = case_key("shop", "default", "päd/../x");
        assert!(key.starts_with("p_d_.._x-"), "{key}");
        assert_eq!(key.len(), "p_d_.._x-".len() + 8);
        assert_ne!(key, case_key("shop", "codex", "päd/../x"));
        assert_eq!(case_key("s", "t", &"x".repeat(300)).len(), 89);
        assert!(case_key("s", "t", "con.x").starts_with("_con.x-"));
    }

    #[test]
    fn names_are_those_of_files_on_every_system() {
        for (name, usable_name) in [
            ("con", "_con"),
            ("NUL.txt", "_NUL.txt"),
            ("com1", "_com1"),
            ("run.", "run_"),
            ("..", "__"),
            ("com", "com"),
            ("console", "console"),
            ("run-1.2", "run-1.2"),
        ] {
            assert_eq!(usable(name.to_owned()), usable_name, "{name}");
        }
    }
}
