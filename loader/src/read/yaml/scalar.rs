//! YAML scalars.

use std::borrow::Cow;

use evalsuite_schema::json::{Number, number_of_digits};
use granit_parser::{ScalarStyle, Tag};

use crate::read::node::Data;

/// The value of a scalar, by the core schema of YAML 1.2.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar {
    Data(Data),
    /// A number that is infinite, too large for a float, or none at all.
    NotFinite,
    /// The text is not of the type of its tag; the type with its article.
    Mismatch(&'static str),
    /// A tag that only collections or other schemas have.
    UnsupportedTag(String),
}

/// The value of a scalar. A scalar with a custom tag (`!env HOME`) is text: custom tags are not interpreted.
pub(super) fn resolve(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Scalar {
    match tag {
        None if style == ScalarStyle::Plain => plain(text),
        None => Scalar::Data(string(text)),
        Some(tag) => tagged(text, tag),
    }
}

/// The name of a tag of the core schema: `str` of `!!str`.
pub(super) fn core_name(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

fn string(text: Cow<'_, str>) -> Data {
    let mut text = text.into_owned();
    // The scanner reserves room for a long text.
    text.shrink_to_fit();
    Data::String(text)
}

fn plain(text: Cow<'_, str>) -> Scalar {
    let data = match text.as_bytes() {
        [] => Data::Null,
        [b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F', ..] => word(&text).unwrap_or_else(|| string(text)),
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => match numeric(&text) {
            Numeric::Number(number) => Data::Number(number),
            Numeric::NotFinite => return Scalar::NotFinite,
            Numeric::No => string(text),
        },
        _ => string(text),
    };
    Scalar::Data(data)
}

fn word(text: &str) -> Option<Data> {
    match text {
        "~" | "null" | "Null" | "NULL" => Some(Data::Null),
        "true" | "True" | "TRUE" => Some(Data::Bool(true)),
        "false" | "False" | "FALSE" => Some(Data::Bool(false)),
        _ => None,
    }
}

fn tagged(text: Cow<'_, str>, tag: &Tag) -> Scalar {
    let Some(name) = core_name(tag) else {
        return Scalar::Data(string(text));
    };
    let data = match &*name {
        "str" => string(text),
        "null" => match word(&text) {
            Some(Data::Null) => Data::Null,
            _ if text.is_empty() => Data::Null,
            _ => return Scalar::Mismatch("null"),
        },
        "bool" => match word(&text) {
            Some(data @ Data::Bool(_)) => data,
            _ => return Scalar::Mismatch("a boolean"),
        },
        "int" => match numeric(&text) {
            Numeric::Number(number) if !text.contains(['.', 'e', 'E']) || text.starts_with("0x") => {
                Data::Number(number)
            }
            _ => return Scalar::Mismatch("an integer"),
        },
        "float" => match numeric(&text) {
            Numeric::Number(number) => match number.as_f64().and_then(Number::from_f64) {
                Some(number) => Data::Number(number),
                None => return Scalar::NotFinite,
            },
            Numeric::NotFinite => return Scalar::NotFinite,
            Numeric::No => return Scalar::Mismatch("a number"),
        },
        _ => return Scalar::UnsupportedTag(format!("!!{name}")),
    };
    Scalar::Data(data)
}

#[derive(Debug, PartialEq)]
enum Numeric {
    Number(Number),
    NotFinite,
    No,
}

fn numeric(text: &str) -> Numeric {
    let bytes = text.as_bytes();
    let based = match bytes {
        [b'0', b'x', digits @ ..] if all(digits, u8::is_ascii_hexdigit) => based(&text[2..], 16),
        [b'0', b'o', digits @ ..] if all(digits, |digit| matches!(digit, b'0'..=b'7')) => based(&text[2..], 8),
        _ => return decimal(text),
    };
    based.map_or(Numeric::NotFinite, Numeric::Number)
}

fn all(digits: &[u8], is_digit: impl Fn(&u8) -> bool) -> bool {
    !digits.is_empty() && digits.iter().all(is_digit)
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, or an infinity or `.nan`.
fn decimal(text: &str) -> Numeric {
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
        return Numeric::No;
    }
    if matches!(byte(end), b'e' | b'E') {
        let exponent = end + 1 + usize::from(matches!(byte(end + 1), b'-' | b'+'));
        end = digits(exponent);
        if end == exponent {
            return Numeric::No;
        }
        is_float = true;
    }
    if end != bytes.len() {
        return Numeric::No;
    }
    number_of_digits(text, !is_float).map_or(Numeric::NotFinite, Numeric::Number)
}

fn not_finite(text: &str, sign: usize) -> Numeric {
    match &text[sign..] {
        ".inf" | ".Inf" | ".INF" => Numeric::NotFinite,
        ".nan" | ".NaN" | ".NAN" if sign == 0 => Numeric::NotFinite,
        _ => Numeric::No,
    }
}

/// The value of digits to another base than ten.
fn based(digits: &str, base: u32) -> Option<Number> {
    if let Ok(value) = u64::from_str_radix(digits, base) {
        return Some(Number::from(value));
    }
    let value = digits
        .chars()
        .fold(0.0, |value, digit| value * f64::from(base) + f64::from(digit.to_digit(base).unwrap_or_default()));
    Number::from_f64(value)
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
