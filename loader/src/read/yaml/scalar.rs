//! YAML scalars, and escapes of double-quoted text: the parser resolves them, but does not report which of them is invalid.

use std::borrow::Cow;

use evalsuite_schema::json::{Number, number_of_digits};
use granit_parser::{ScalarStyle, Tag};

use crate::read::node::Data;

/// Why a scalar has no value.
pub(super) enum Problem {
    /// A number that JSON does not have.
    NotFinite,
    /// The tag says what the text is not.
    Mismatch(&'static str),
    /// A tag of the core schema for something else.
    UnsupportedTag(String),
}

type Result<T> = std::result::Result<T, Problem>;

/// What gives a scalar its value.
pub(super) type Resolve = fn(Cow<'_, str>, ScalarStyle, Option<&Tag>) -> Result<Data>;

/// The value of a scalar. A scalar with a custom tag (`!env HOME`) is text: custom tags are not interpreted.
pub(super) fn resolve(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Result<Data> {
    match tag {
        None if style == ScalarStyle::Plain => plain(text),
        None => Ok(string(text)),
        Some(tag) => tagged(text, tag),
    }
}

/// The name of a tag of the core schema: `str` of `!!str`.
pub(super) fn core_name(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

pub(super) fn string(text: Cow<'_, str>) -> Data {
    let mut text = text.into_owned();
    // The scanner reserves room for a long text.
    text.shrink_to_fit();
    Data::String(text)
}

fn plain(text: Cow<'_, str>) -> Result<Data> {
    Ok(match text.as_bytes() {
        [] => Data::Null,
        [b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F', ..] => word(&text).unwrap_or_else(|| string(text)),
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => numeric(&text)?.map_or_else(|| string(text), Data::Number),
        _ => string(text),
    })
}

fn word(text: &str) -> Option<Data> {
    match text {
        "~" | "null" | "Null" | "NULL" => Some(Data::Null),
        "true" | "True" | "TRUE" => Some(Data::Bool(true)),
        "false" | "False" | "FALSE" => Some(Data::Bool(false)),
        _ => None,
    }
}

fn tagged(text: Cow<'_, str>, tag: &Tag) -> Result<Data> {
    let Some(name) = core_name(tag) else { return Ok(string(text)) };
    let (data, expected) = match &*name {
        "str" => return Ok(string(text)),
        "null" if text.is_empty() => return Ok(Data::Null),
        "null" => (word(&text).filter(|data| *data == Data::Null), "null"),
        "bool" => (word(&text).filter(|data| *data != Data::Null), "a boolean"),
        "int" => {
            let is_integer = |_: &Number| !text.contains(['.', 'e', 'E']) || text.starts_with("0x");
            (numeric(&text).ok().flatten().filter(is_integer).map(Data::Number), "an integer")
        }
        "float" => {
            let float = |number: Number| number.as_f64().and_then(Number::from_f64).ok_or(Problem::NotFinite);
            (numeric(&text)?.map(float).transpose()?.map(Data::Number), "a number")
        }
        _ => return Err(Problem::UnsupportedTag(format!("!!{name}"))),
    };
    data.ok_or(Problem::Mismatch(expected))
}

/// The number that a text is, if it is one.
fn numeric(text: &str) -> Result<Option<Number>> {
    let based = match text.as_bytes() {
        [b'0', b'x', digits @ ..] if all(digits, u8::is_ascii_hexdigit) => based(&text[2..], 16),
        [b'0', b'o', digits @ ..] if all(digits, |digit| matches!(digit, b'0'..=b'7')) => based(&text[2..], 8),
        _ => return decimal(text),
    };
    based.map(Some).ok_or(Problem::NotFinite)
}

fn all(digits: &[u8], is_digit: impl Fn(&u8) -> bool) -> bool {
    !digits.is_empty() && digits.iter().all(is_digit)
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, or an infinity or `.nan`.
fn decimal(text: &str) -> Result<Option<Number>> {
    let bytes = text.as_bytes();
    let byte = |at: usize| if at < bytes.len() { bytes[at] } else { 0 };
    let digits = |mut at: usize| {
        while byte(at).is_ascii_digit() {
            at += 1;
        }
        at
    };
    let start = usize::from(matches!(byte(0), b'-' | b'+'));
    let mut end = digits(start);
    let mut is_float = false;
    if byte(end) == b'.' {
        let fraction = digits(end + 1);
        if fraction == start + 1 {
            return not_finite(text, start);
        }
        is_float = true;
        end = fraction;
    } else if end == start {
        return Ok(None);
    }
    if matches!(byte(end), b'e' | b'E') {
        let exponent = end + 1 + usize::from(matches!(byte(end + 1), b'-' | b'+'));
        end = digits(exponent);
        if end == exponent {
            return Ok(None);
        }
        is_float = true;
    }
    if end != bytes.len() {
        return Ok(None);
    }
    number_of_digits(text, !is_float).map(Some).ok_or(Problem::NotFinite)
}

fn not_finite(text: &str, sign: usize) -> Result<Option<Number>> {
    match &text[sign..] {
        ".inf" | ".Inf" | ".INF" => Err(Problem::NotFinite),
        ".nan" | ".NaN" | ".NAN" if sign == 0 => Err(Problem::NotFinite),
        _ => Ok(None),
    }
}

/// How JavaScript spells a number that is not finite.
pub(in crate::read) fn name_of_not_finite(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// The value of digits to another base than ten.
#[allow(clippy::cast_possible_truncation, reason = "less than the base")]
fn based(digits: &str, base: u32) -> Option<Number> {
    const BILLION: u64 = 1_000_000_000;
    if let Ok(value) = u64::from_str_radix(digits, base) {
        return Some(Number::from(value));
    }
    let digits = || digits.chars().map(|digit| digit.to_digit(base).unwrap_or_default());
    if !digits().fold(0.0, |value, digit| value * f64::from(base) + f64::from(digit)).is_finite() {
        return None;
    }
    // The value to base 10^9, its last digit first.
    let mut value: Vec<u32> = Vec::new();
    for digit in digits() {
        let mut carry = u64::from(digit);
        for part in &mut value {
            let sum = u64::from(*part) * u64::from(base) + carry;
            (*part, carry) = ((sum % BILLION) as u32, sum / BILLION);
        }
        if carry > 0 {
            value.push(carry as u32);
        }
    }
    let decimal: String = value.iter().rev().map(|part| format!("{part:09}")).collect();
    number_of_digits(&decimal, true)
}

/// How JavaScript spells a number as a key: `1` also for `1.0`.
pub(in crate::read) fn as_key(number: &Number) -> String {
    /// Integers up to here are exact in a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() <= EXACT => format!("{value:.0}"),
        _ => number.to_string(),
    }
}

/// Offset and length of the first escape, in text that starts with double quotes (maybe after an anchor or a tag), that
/// YAML does not know.
pub(super) fn first_invalid(text: &str) -> Option<(usize, usize)> {
    let mut at = text.find('"')? + 1;
    loop {
        let next = text[at..].find(['\\', '"'])? + at;
        if text[next..].starts_with('"') {
            return None;
        }
        let mut rest = text[next + 1..].chars();
        let digits = match rest.next()? {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            known @ ('0' | 'a' | 'b' | 't' | '\t' | 'n' | 'v' | 'f' | 'r' | 'e' | ' ' | '"' | '/' | '\\' | 'N'
            | '_' | 'L' | 'P' | '\n' | '\r') => {
                at = next + 1 + known.len_utf8();
                continue;
            }
            unknown => return Some((next, 1 + unknown.len_utf8())),
        };
        let first = next + 2;
        let given = text[first..].bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
        let code = code(text, first, digits);
        let is_pair = digits == 4
            && code.is_some_and(|code| matches!(code, 0xD800..0xDC00))
            && text[first + digits..].starts_with("\\u")
            && self::code(text, first + 6, 4).is_some_and(|code| matches!(code, 0xDC00..0xE000));
        if !is_pair && code.and_then(char::from_u32).is_none() {
            return Some((next, 2 + given));
        }
        at = first + if is_pair { 10 } else { digits };
    }
}

/// The value of as many hexadecimal digits.
fn code(text: &str, first: usize, digits: usize) -> Option<u32> {
    let digits = text.get(first..first + digits)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}
