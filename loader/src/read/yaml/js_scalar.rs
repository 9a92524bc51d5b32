//! Scalars as js-yaml reads them, versions 3 to 5 with the default schema.

use std::borrow::Cow;

use evalsuite_schema::calendar_date::Date;
use granit_parser::{ScalarStyle, Tag};

use super::scalar::{self, Problem};
use crate::read::node::{Data, Foreign};

/// As [`scalar::resolve`], with dates, infinities and `.nan`. A number that is too large is text, and a custom tag is refused.
pub(super) fn resolve(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Result<Data, Problem> {
    if let Some(tag) = tag.filter(|tag| is_custom(tag)) {
        return Err(Problem::UnsupportedTag(tag.original()));
    }
    if style != ScalarStyle::Plain || tag.is_some() {
        return scalar::resolve(text, style, tag);
    }
    if is_date(&text) {
        return Ok(Data::Foreign(Foreign::Date(text.into_owned())));
    }
    match scalar::resolve(Cow::Borrowed(&text), style, tag) {
        Err(Problem::NotFinite) => Ok(match &*text.to_ascii_lowercase() {
            ".inf" | "+.inf" => Data::Foreign(Foreign::NotFinite(f64::INFINITY)),
            "-.inf" => Data::Foreign(Foreign::NotFinite(f64::NEG_INFINITY)),
            ".nan" => Data::Foreign(Foreign::NotFinite(f64::NAN)),
            _ => Data::String(text.into_owned()),
        }),
        other => other,
    }
}

/// Whether js-yaml does not know a tag: it is none of YAML's own, and not a `!` alone, which asks for text.
fn is_custom(tag: &Tag) -> bool {
    scalar::core_name(tag).is_none() && tag.original() != "!"
}

/// Whether a text is `YYYY-MM-DD`, or that with a time, and a date of the calendar.
fn is_date(text: &str) -> bool {
    let end = text.find(|next: char| !next.is_ascii_digit() && next != '-').unwrap_or(text.len());
    let (date, time) = text.split_at(end);
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let has_time = !time.is_empty();
    let fits = |part: &str| part.len() == 2 || part.len() == 1 && has_time;
    if year.len() != 4 || !fits(month) || !fits(day) {
        return false;
    }
    let number = |part: &str| part.parse::<u32>().unwrap_or_default();
    let exists = Date::new(number(year), number(month), number(day)).is_some();
    exists && (!has_time || is_time(time))
}

/// Whether what follows a date is `T` or blanks, `hh:mm:ss`, and perhaps a fraction and an offset.
fn is_time(text: &str) -> bool {
    let after_blanks = text.trim_start_matches([' ', '\t']);
    let Some(rest) = text.strip_prefix(['T', 't']).or((after_blanks.len() < text.len()).then_some(after_blanks)) else {
        return false;
    };
    let mut parts = rest.splitn(3, ':');
    let (Some(hour), Some(minute), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (second, rest) = rest.split_at_checked(2).unwrap_or_default();
    let is_time = is_number(hour, 1, 23) && is_number(minute, 2, 59) && is_number(second, 2, 59);
    let fraction = rest.strip_prefix('.').map(|rest| rest.trim_start_matches(|next: char| next.is_ascii_digit()));
    is_time && is_offset(fraction.unwrap_or(rest))
}

/// Whether a text is empty, `Z`, or an offset such as `+2` or `-03:30`, perhaps after blanks.
fn is_offset(text: &str) -> bool {
    let offset = text.trim_start_matches([' ', '\t']);
    if text.is_empty() || offset == "Z" {
        return true;
    }
    let Some(offset) = offset.strip_prefix(['+', '-']) else { return false };
    let (hour, minute) = offset.split_once(':').map_or((offset, None), |(hour, minute)| (hour, Some(minute)));
    is_number(hour, 1, 23) && minute.is_none_or(|minute| is_number(minute, 2, 59))
}

/// Whether a text is a number of up to two digits, at least `digits`, and at most `most`.
fn is_number(text: &str, digits: usize, most: u32) -> bool {
    (digits..=2).contains(&text.len())
        && text.bytes().all(|digit| digit.is_ascii_digit())
        && text.parse::<u32>().is_ok_and(|number| number <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Data {
        resolve(Cow::Borrowed(text), ScalarStyle::Plain, None).unwrap_or(Data::Null)
    }

    #[test]
    fn dates_are_those_of_js_yaml() {
        for date in [
            "2024-01-01",
            "2024-02-29",
            "2000-02-29",
            "2024-1-2 3:04:05",
            "2024-01-02T03:04:05Z",
            "2024-01-02t03:04:05.123456 +1",
            "2024-01-02 03:04:05. -03:30",
        ] {
            assert_eq!(plain(date), Data::Foreign(Foreign::Date(date.to_owned())), "{date}");
        }
        for text in [
            "2024-1-2",
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "2024-01",
            "24-01-01",
            "2024-01-01x",
            "2024-01-01 10:00",
            "2024-01-01T24:00:00",
            "2024-01-01T10:60:00",
            "2024-01-01T10:00:00 z",
            "2024-01-01T10:00:00+1:3",
            "2024-01-01T10:00:00 ",
            "2024-01-01-01",
        ] {
            assert_eq!(plain(text), Data::String(text.to_owned()), "{text}");
        }
        let quoted = resolve(Cow::Borrowed("2024-01-01"), ScalarStyle::SingleQuoted, None);
        assert!(matches!(quoted, Ok(Data::String(_))));
    }

    #[test]
    fn numbers_that_are_not_finite_are_values_and_numbers_that_are_too_large_are_text() {
        for (text, value) in [(".inf", f64::INFINITY), ("+.INF", f64::INFINITY), ("-.Inf", f64::NEG_INFINITY)] {
            assert_eq!(plain(text), Data::Foreign(Foreign::NotFinite(value)), "{text}");
        }
        assert!(matches!(plain(".NaN"), Data::Foreign(Foreign::NotFinite(value)) if value.is_nan()));
        let digits = "9".repeat(400);
        for text in ["1e400", "-1.5E999", &*digits, "inf", "-.nan", ".iNf"] {
            assert_eq!(plain(text), Data::String(text.to_owned()), "{text}");
        }
        for (text, value) in [("0o17", 15), ("0x1F", 31), ("+12", 12)] {
            assert_eq!(plain(text), Data::Number(value.into()), "{text}");
        }
    }
}
