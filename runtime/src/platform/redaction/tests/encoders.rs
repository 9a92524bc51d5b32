//! The rules by which common programs write a text. Each escapes character by character, so that a part of a text is a part of
//! the written text.

/// A name, and how one character is written.
pub(super) type Encoder = (&'static str, fn(char) -> String);

pub(super) const ENCODERS: [Encoder; 11] = [
    ("as it is", |character| character.to_string()),
    ("serde_json, JavaScript's JSON.stringify", json),
    ("Python's json.dumps", |character| {
        if character.is_ascii() && character != '\u{7f}' { json(character) } else { utf16(character) }
    }),
    ("Python's json.dumps with ensure_ascii=False", json),
    ("Go's encoding/json", |character| match character {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => utf16(character),
        _ => json(character),
    }),
    ("PHP's json_encode", |character| match character {
        '/' => "\\/".to_owned(),
        _ if character.is_ascii() => json(character),
        _ => utf16(character),
    }),
    ("Rust's Debug", |character| match character {
        '\'' => "'".to_owned(),
        _ => character.escape_debug().to_string(),
    }),
    ("a shell's single quotes", |character| if character == '\'' { "'\\''".to_owned() } else { character.to_string() }),
    ("Python's shlex.quote", |character| if character == '\'' { "'\"'\"'".to_owned() } else { character.to_string() }),
    ("percent-encoding", |character| percent(character, "-_.~", |byte| format!("%{byte:02X}"))),
    ("a form, with digits in lower case", |character| match character {
        ' ' => "+".to_owned(),
        _ => percent(character, "-_.*", |byte| format!("%{byte:02x}")),
    }),
];

fn json(character: char) -> String {
    match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\0'..' ' => utf16(character),
        _ => character.to_string(),
    }
}

fn utf16(character: char) -> String {
    character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn bytes(character: char, written: impl Fn(u8) -> String) -> String {
    character.encode_utf8(&mut [0; 4]).bytes().map(written).collect()
}

fn percent(character: char, kept: &str, written: impl Fn(u8) -> String) -> String {
    match character.is_ascii_alphanumeric() || kept.contains(character) {
        true => character.to_string(),
        false => bytes(character, written),
    }
}

/// A text by an encoder.
pub(super) fn encoded(text: &str, (_, encoder): &Encoder) -> String {
    text.chars().map(encoder).collect()
}

/// Base64 of bytes.
pub(super) fn base64(bytes: &[u8], is_url_safe: bool, is_padded: bool) -> String {
    let last = if is_url_safe { "-_" } else { "+/" };
    let digits = format!("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789{last}");
    let mut written = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        written.extend((0..=group.len()).map(|digit| char::from(digits.as_bytes()[(bits >> (18 - 6 * digit)) & 63])));
        written.extend(std::iter::repeat_n('=', if is_padded { 3 - group.len() } else { 0 }));
    }
    written
}
