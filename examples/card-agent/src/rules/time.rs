//! Times of day in several languages and notations.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::civil::{Time, time};
use regex::{Captures, Regex};

use super::mentions::mentions;
use super::vocabulary;

/// A time of day in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundTime {
    pub(super) range: Range<usize>,
    pub(super) clock: TimeMeaning,
    /// The end of a span such as `15:00-16:30`.
    pub(super) end: Option<Time>,
}

/// The meaning of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeMeaning {
    Is(Time),
    /// An hour that may be before or after noon.
    MorningOrEvening(i8),
    Impossible,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are valid")
}

static SPAN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(\d{1,2}):(\d{2})\s*(?:-|–|~|〜|to|until|bis)\s*(\d{1,2}):(\d{2})"));
static CLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)(\d{1,2})[:h](\d{2})(?:\s*([ap])\.?m\b\.?)?"));
static HALF_DAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(\d{1,2})\s*([ap])\.?m\b\.?"));
static EAST_ASIAN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(上午|早上|午前|오전|下午|晚上|午後|夜|오후)?\s*(\d{1,2})[点點時时시](?:(\d{1,2})[分분]|(半))?")
});
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(?:(noon|mittag)|(midnight|mitternacht))\b"));
static GERMAN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(\d{1,2})\s*uhr(?:\s*(\d{2}))?\b"));
static BARE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)(?:\bat|الساعة|\bבשעה)\s+(\d{1,2})(?:\s*o['’]clock)?\b"));

/// Finds the first time of day in `text`. Words such as "dinner" decide between morning and evening.
pub(super) fn find(text: &str) -> Option<FoundTime> {
    let lower = text.to_lowercase();
    if let Some(c) = SPAN.captures(text) {
        let end = exact(number(&c, 3)?, number(&c, 4)?);
        let TimeMeaning::Is(end) = end else { return found(&c, TimeMeaning::Impossible, None) };
        return found(&c, exact(number(&c, 1)?, number(&c, 2)?), Some(end));
    }
    if let Some(c) = CLOCK.captures(text) {
        return found(&c, half(number(&c, 1)?, number(&c, 2)?, letter(&c, 3)), None);
    }
    if let Some(c) = HALF_DAY.captures(text) {
        return found(&c, half(number(&c, 1)?, 0, letter(&c, 2)), None);
    }
    if let Some(c) = GERMAN.captures(text) {
        return found(&c, exact(number(&c, 1)?, number(&c, 2).unwrap_or(0)), None);
    }
    if let Some(c) = EAST_ASIAN.captures(text) {
        let minute = number(&c, 3).unwrap_or(if c.get(4).is_some() { 30 } else { 0 });
        let half_day = c.get(1).map(|word| match word.as_str() {
            "上午" | "早上" | "午前" | "오전" => 'a',
            _ => 'p',
        });
        let hour = number(&c, 2)?;
        let clock = if half_day.is_none() && minute == 0 { bare(hour, &lower) } else { half(hour, minute, half_day) };
        return found(&c, clock, None);
    }
    if let Some(c) = WORD.captures(text) {
        return found(&c, exact(if c.get(1).is_some() { 12 } else { 0 }, 0), None);
    }
    let c = BARE.captures(text)?;
    found(&c, bare(number(&c, 1)?, &lower), None)
}

fn found(captures: &Captures<'_>, clock: TimeMeaning, end: Option<Time>) -> Option<FoundTime> {
    Some(FoundTime { range: captures.get(0)?.range(), clock, end })
}

fn number(captures: &Captures<'_>, group: usize) -> Option<i8> {
    captures.get(group)?.as_str().parse().ok()
}

fn letter(captures: &Captures<'_>, group: usize) -> Option<char> {
    captures.get(group)?.as_str().chars().next().map(|c| c.to_ascii_lowercase())
}

fn exact(hour: i8, minute: i8) -> TimeMeaning {
    Time::new(hour, minute, 0, 0).map_or(TimeMeaning::Impossible, TimeMeaning::Is)
}

fn half(hour: i8, minute: i8, half: Option<char>) -> TimeMeaning {
    match (half, hour) {
        (None, _) => exact(hour, minute),
        (Some(_), 13..) => TimeMeaning::Impossible,
        (Some('a'), 12) => exact(0, minute),
        (Some('p'), 1..=11) => exact(hour + 12, minute),
        (Some(_), _) => exact(hour, minute),
    }
}

/// "At 3" means the afternoon, "at 10" the morning; "at 7" may be either.
fn bare(hour: i8, lower: &str) -> TimeMeaning {
    let hour_after_noon = if hour < 12 { hour + 12 } else { hour };
    match hour {
        0 | 12..=23 => exact(hour, 0),
        _ if hour > 23 => TimeMeaning::Impossible,
        _ if mentions(lower, vocabulary::AFTER_NOON) => TimeMeaning::Is(time(hour_after_noon, 0, 0, 0)),
        _ if mentions(lower, vocabulary::BEFORE_NOON) => exact(hour, 0),
        1..=5 => exact(hour + 12, 0),
        6..=8 => TimeMeaning::MorningOrEvening(hour),
        _ => exact(hour, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> String {
        match find(text) {
            Some(FoundTime { clock: TimeMeaning::Is(time), end: None, .. }) => time.strftime("%H:%M").to_string(),
            Some(FoundTime { clock: TimeMeaning::Is(time), end: Some(end), .. }) => {
                format!("{} {}", time.strftime("%H:%M"), end.strftime("%H:%M"))
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn many_notations_are_supported() {
        for (text, expected) in [
            ("at 15:30", "15:30"),
            ("3:05 pm", "15:05"),
            ("at 12am", "00:00"),
            ("12 p.m.", "12:00"),
            ("10:00-11:30", "10:00 11:30"),
            ("at noon", "12:00"),
            ("um 19 Uhr", "19:00"),
            ("下午3点", "15:00"),
            ("午後2時半", "14:30"),
            ("15時", "15:00"),
            ("at 3", "15:00"),
            ("at 10", "10:00"),
            ("dinner at 7", "19:00"),
            ("breakfast at 7", "07:00"),
            ("الساعة 15:00", "15:00"),
        ] {
            assert_eq!(only(text), expected, "{text}");
        }
    }

    #[test]
    fn seven_is_ambiguous() {
        assert_eq!(find("call at 7").map(|found| found.clock), Some(TimeMeaning::MorningOrEvening(7)));
        assert_eq!(find("at 25:00").map(|found| found.clock), Some(TimeMeaning::Impossible));
        assert_eq!(find("at 14 pm").map(|found| found.clock), Some(TimeMeaning::Impossible));
    }
}
