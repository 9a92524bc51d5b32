//! The forms in which programs write a secret, and where a text has one of them.
//!
//! Hand-written: an automaton is slow in an unoptimised program, and the search of the standard library is not.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};

use crate::platform::redaction::SHORTEST;
use crate::platform::shell_quoting::quoted_for_cmd;

/// Bytes of line breaks and indentation in a form of base64.
const LINE_BREAKS: usize = 64;

/// Characters that encoders of URLs leave as they are, besides letters and digits.
const KEPT_IN_URLS: [&str; 4] = ["-_.~", "-_.~/", "-_.!~*'()", "-_.*"];

/// A secret or a line of it as some program writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SecretForm {
    text: String,
    /// Whether these are the characters that the secret always has in base64, which may be in lines.
    is_base64: bool,
}

/// The forms of a secret. Of a secret of several lines, each line has forms, too.
pub(super) fn forms(secret: &str) -> impl Iterator<Item = SecretForm> {
    let lines = secret.lines().filter(|_| secret.trim().contains('\n'));
    let texts = lines.chain([secret]).flat_map(|text| [text, text.trim_end_matches('\r'), text.trim()]);
    // Of a short line, no form is hidden, however long it is.
    texts.filter(|text| text.chars().count() >= SHORTEST).flat_map(|text| {
        let json = json_forms(text);
        let encoded = [text, &json[0], &json[1]].into_iter().flat_map(base64_forms).collect::<Vec<_>>();
        let literal = json.into_iter().chain(url_forms(text)).chain(shell_forms(text)).chain([text.to_owned()]);
        let literal = literal.map(|text| SecretForm { text, is_base64: false });
        literal.chain(encoded.into_iter().map(|text| SecretForm { text, is_base64: true })).collect::<Vec<_>>()
    })
}

/// As JSON of serde_json, JavaScript, Python, Go and PHP, and as Rust's `{:?}` writes it. The first two are with and without other characters
/// than ASCII.
fn json_forms(text: &str) -> Vec<String> {
    let json = evalsuite_schema::Value::from(text).to_string();
    let json = &json[1..json.len() - 1];
    let debug = format!("{text:?}");
    let mut forms = vec![json.to_owned(), in_ascii(json, false), in_ascii(json, true)];
    let of_go = ['<', '>', '&', '\u{2028}', '\u{2029}'];
    let for_html = forms.iter().map(|form| {
        of_go.iter().fold(form.clone(), |form, character| {
            form.replace(*character, &format!("\\u{:04x}", u32::from(*character)))
        })
    });
    let of_php = forms.iter().map(|form| form.replace('/', "\\/"));
    let more: Vec<String> = for_html.chain(of_php).chain([debug[1..debug.len() - 1].to_owned()]).collect();
    forms.extend(more);
    forms
}

/// A text of JSON with all but printable ASCII escaped.
fn in_ascii(json: &str, is_upper: bool) -> String {
    let shown = |unit| match u8::try_from(unit) {
        Ok(byte @ b' '..=b'~') => char::from(byte).to_string(),
        _ if is_upper => format!("\\u{unit:04X}"),
        _ => format!("\\u{unit:04x}"),
    };
    json.encode_utf16().map(shown).collect()
}

/// Percent-encoded, with digits in upper or lower case, and `+` or `%20` for a space.
fn url_forms(text: &str) -> impl Iterator<Item = String> {
    let encoded = |kept: &str, is_upper: bool| -> String {
        let shown = |character: char| match character.is_ascii_alphanumeric() || kept.contains(character) {
            true => character.to_string(),
            false => {
                let bytes = character.encode_utf8(&mut [0; 4]).bytes().collect::<Vec<_>>();
                let digits = |byte: &u8| if is_upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
                bytes.iter().map(digits).collect()
            }
        };
        text.chars().map(shown).collect()
    };
    let forms = KEPT_IN_URLS.into_iter().flat_map(|kept| [encoded(kept, true), encoded(kept, false)]);
    forms.flat_map(|form| [form.replace("%20", "+"), form]).collect::<Vec<_>>().into_iter()
}

/// As a part of a word of `sh`, by two programs, and of `cmd`.
fn shell_forms(text: &str) -> [String; 3] {
    let for_cmd = quoted_for_cmd(text);
    [text.replace('\'', r"'\''"), text.replace('\'', r#"'"'"'"#), for_cmd[1..for_cmd.len() - 1].to_owned()]
}

/// The characters of base64 that do not depend on the texts around this one, in both alphabets, wherever in a group of three it starts.
fn base64_forms(text: &str) -> impl Iterator<Item = String> {
    let part = |before: usize| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
        // Six bits are one character.
        let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        let encoded = [BASE64_STANDARD.encode(&bytes), BASE64_URL_SAFE.encode(&bytes)];
        encoded.map(|encoded| encoded[start.min(end)..end].to_owned())
    };
    (0..3).flat_map(part).collect::<Vec<_>>().into_iter()
}

impl SecretForm {
    /// Number of bytes that the form takes in a text, at most.
    pub(super) fn extent(&self) -> usize {
        self.text.len() + if self.is_base64 { self.text.len() + LINE_BREAKS } else { 0 }
    }

    /// Adds where the form is; places that overlap are one.
    pub(super) fn find(&self, text: &SearchedText<'_>, found: &mut Vec<Range<usize>>) {
        let (searched, first) = (text.searched(self.is_base64), self.text.chars().next().map_or(1, char::len_utf8));
        let mut from = 0;
        while let Some(start) = searched[from..].find(&self.text).map(|at| from + at) {
            let place = if self.is_base64 {
                text.place(start..start + self.text.len())
            } else {
                start..start + self.text.len()
            };
            match found.last_mut() {
                Some(last) if last.start <= place.start && place.start < last.end => last.end = last.end.max(place.end),
                _ => found.push(place),
            }
            from = start + first;
        }
    }

    /// Start of a beginning of the form with which the text ends.
    pub(super) fn broken_end(&self, text: &SearchedText<'_>) -> Option<usize> {
        let searched = text.searched(self.is_base64);
        let mut beginnings = self.text.char_indices().rev().map(|(end, _)| end).filter(|end| *end > 0);
        let length = beginnings.find(|length| searched.ends_with(&self.text[..*length]))?;
        let place = searched.len() - length..searched.len();
        Some(if self.is_base64 { text.place(place).start } else { place.start })
    }
}

/// A text, and the same without line breaks and the indentation after them: base64 is often written in lines.
pub(super) struct SearchedText<'t> {
    text: &'t str,
    joined: Cow<'t, str>,
    /// Where each line starts, in the joined text and in the text.
    lines: Vec<(usize, usize)>,
}

impl<'t> SearchedText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        if !text.contains('\n') {
            return Self { text, joined: Cow::Borrowed(text), lines: vec![(0, 0)] };
        }
        let (mut joined, mut lines, mut at) = (String::with_capacity(text.len()), Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            let content = if at > 0 { line.trim_start_matches([' ', '\t']) } else { line };
            lines.push((joined.len(), at + line.len() - content.len()));
            joined.push_str(content.trim_end_matches(['\n', '\r']));
            at += line.len();
        }
        Self { text, joined: Cow::Owned(joined), lines }
    }

    fn searched(&self, is_joined: bool) -> &str {
        if is_joined { &self.joined } else { self.text }
    }

    /// Where a part of the joined text, which is not empty, is in the text.
    fn place(&self, joined: Range<usize>) -> Range<usize> {
        let position = |at: usize| {
            // Of lines that start at the same place, all but the last one are empty.
            let line = self.lines.partition_point(|(start, _)| *start <= at).saturating_sub(1);
            let (start, position) = self.lines[line];
            position + at - start
        };
        position(joined.start)..position(joined.end - 1) + 1
    }
}
