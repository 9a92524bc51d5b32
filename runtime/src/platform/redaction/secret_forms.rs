//! The forms in which programs write a text: quoted, escaped, encoded, or line by line.

use std::collections::BTreeSet;
use std::fmt::Write;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};

use crate::platform::excerpt::escaped;
use crate::platform::redaction::SHORTEST;
use crate::platform::shell_quoting::quoted;

/// Characters of a line of base64, as `base64` and PEM files have it.
const LINE_WIDTHS: [usize; 2] = [76, 64];

/// Levels of JSON in a text of JSON. A tool call whose arguments are JSON in a text, shown to a judge as JSON, has three.
const JSON_LEVELS: usize = 4;

/// A secret in all its forms. Of a secret of several lines, each line is a form, too.
pub(crate) fn forms(secret: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    let lines = secret.lines().filter(|_| secret.trim().contains('\n'));
    for text in lines.chain([secret]).flat_map(|text| [text, text.trim()]) {
        forms.insert(text.to_owned());
        forms.extend(quoted_forms(text));
        forms.extend(url_forms(text));
        forms.extend(base64_forms(text));
    }
    forms.retain(|form| form.chars().count() >= SHORTEST);
    forms
}

/// As JSON, as a literal of Rust and as a word for a shell, without the quotes around it.
fn quoted_forms(text: &str) -> Vec<String> {
    let json = |text: &String| Some(inner(&evalsuite_schema::Value::from(text.as_str()).to_string()));
    let mut forms: Vec<String> =
        std::iter::successors(Some(text.to_owned()), json).take(JSON_LEVELS + 1).skip(1).collect();
    let ascii = forms[0].chars().fold(String::new(), |mut ascii, character| {
        match character.is_ascii() {
            true => ascii.push(character),
            false => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                // Writing to a text cannot fail.
                let _ = write!(ascii, "\\u{unit:04x}");
            }),
        }
        ascii
    });
    let html = ["&#39;", "&#x27;", "&apos;"].map(|apostrophe| {
        let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        html.replace('"', "&quot;").replace('\'', apostrophe)
    });
    forms.extend([ascii, inner(&format!("{text:?}")), inner(&quoted(text))]);
    forms.extend([escaped(text, &[]), escaped(text, &['\n', '\t'])]);
    forms.extend(html);
    forms
}

/// The text without its first and last character.
fn inner(quoted: &str) -> String {
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// As a part of a URL or of a form. Programs differ in what they encode.
fn url_forms(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for kept in ["-_.~", "-_.~/", "-_.~!'()*", "-_.*"] {
        for space in ["%20", "+"] {
            for is_upper in [true, false] {
                let mut form = String::new();
                for byte in text.bytes() {
                    let character = char::from(byte);
                    // Writing to a text cannot fail.
                    let _ = match byte {
                        b' ' => form.write_str(space),
                        _ if byte.is_ascii_alphanumeric() || kept.contains(character) => form.write_char(character),
                        _ if is_upper => write!(form, "%{byte:02X}"),
                        _ => write!(form, "%{byte:02x}"),
                    };
                }
                forms.push(form);
            }
        }
    }
    forms
}

/// As a part of base64: the characters that do not depend on the texts around it, for each position in a group of three bytes;
/// where base64 starts with it, also line by line.
fn base64_forms(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
        // Six bits are one character.
        let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for encoded in [BASE64_STANDARD.encode(&bytes), BASE64_URL_SAFE.encode(&bytes)] {
            let part = &encoded[start.min(end)..end];
            forms.push(part.to_owned());
            if before == 0 {
                for width in LINE_WIDTHS {
                    let lines = || (0..part.len()).step_by(width).map(|at| &part[at..part.len().min(at + width)]);
                    forms.extend(lines().map(str::to_owned));
                    forms.extend(["\n", "\r\n"].map(|end| lines().collect::<Vec<_>>().join(end)));
                }
            }
        }
    }
    forms
}
