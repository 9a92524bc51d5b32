//! Dates in several languages and notations.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use regex::{Captures, Regex};

use super::DateOrder;

/// A date in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundDate {
    pub(super) range: Range<usize>,
    pub(super) day: DateMeaning,
}

/// The meaning of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateMeaning {
    Is(Date),
    /// Two numbers that may be day and month or month and day.
    Either(Date, Date),
    /// The day does not exist.
    Impossible,
}

/// How a date without a year or week is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    /// For plans: the next such day.
    Future,
    /// For expenses: the last such day.
    Past,
}

const MONTH: &str = "january|jan|januar|february|feb|februar|march|mar|märz|april|apr|may|mai|june|jun|juni|july|jul|juli|\
     august|aug|september|sept|sep|october|oct|oktober|november|nov|december|dec|dezember";

/// Beginnings of month names, in the order of the year.
const MONTH_STARTS: [&[&str]; 12] = [
    &["jan"],
    &["feb"],
    &["mar", "mär"],
    &["apr"],
    &["may", "mai"],
    &["jun"],
    &["jul"],
    &["aug"],
    &["sep"],
    &["oct", "okt"],
    &["nov"],
    &["dec", "dez"],
];

/// Days of the week, Monday first: English, German, and the character in Chinese and Japanese.
const WEEKDAYS: [(&str, &str, char); 7] = [
    ("monday", "montag", '一'),
    ("tuesday", "dienstag", '二'),
    ("wednesday", "mittwoch", '三'),
    ("thursday", "donnerstag", '四'),
    ("friday", "freitag", '五'),
    ("saturday", "samstag", '六'),
    ("sunday", "sonntag", '日'),
];

/// Words for days, with their offset from today; a longer word comes before one that it contains.
const RELATIVE: &[(&str, i64)] = &[
    ("day after tomorrow", 2),
    ("tomorrow", 1),
    ("today", 0),
    ("tonight", 0),
    ("yesterday", -1),
    ("übermorgen", 2),
    ("morgen", 1),
    ("heute", 0),
    ("gestern", -1),
    ("mañana", 1),
    ("demain", 1),
    ("明後日", 2),
    ("后天", 2),
    ("後天", 2),
    ("明天", 1),
    ("明日", 1),
    ("今天", 0),
    ("今日", 0),
    ("昨天", -1),
    ("昨日", -1),
    ("내일", 1),
    ("오늘", 0),
    ("غدًا", 1),
    ("غدا", 1),
    ("اليوم", 0),
    ("أمس", -1),
    ("מחר", 1),
    ("היום", 0),
    ("אתמול", -1),
];

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are valid")
}

static ISO: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b"));
static EAST_ASIAN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号號]"));
static DOTTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2}\b)?"));
static SLASHED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?\b"));
static MONTH_DAY: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)\b({MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?")));
static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"(?i)\b(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?({MONTH})\b\.?(?:,?\s+(\d{{4}})\b)?"))
});
static RELATIVE_WORD: LazyLock<Regex> = LazyLock::new(|| {
    let words: Vec<String> = RELATIVE
        .iter()
        .map(|(word, _)| match word.chars().any(super::mentions::is_written_without_spaces) {
            true => (*word).to_owned(),
            false => format!(r"\b{word}\b"),
        })
        .collect();
    pattern(&format!("(?i){}", words.join("|")))
});
static IN_DAYS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bin\s+(\d{1,3}|an?|one|two|three|four|five|six)\s+(day|week)s?\b"));
static WEEKDAY: LazyLock<Regex> = LazyLock::new(|| {
    let names: Vec<String> = WEEKDAYS.iter().map(|(english, german, _)| format!("{english}|{german}")).collect();
    pattern(&format!(r"(?i)\b(?:(next|last|nächsten)\s+)?({})\b", names.join("|")))
});
static CJK_WEEKDAY: LazyLock<Regex> = LazyLock::new(|| pattern("(下个?)?(?:周|星期|週|礼拜)([一二三四五六日天])"));

/// Finds all dates in `text`, in order, without overlaps.
pub(super) fn find(text: &str, today: Date, order: Option<DateOrder>, tense: Tense) -> Vec<FoundDate> {
    let mut found: Vec<FoundDate> = Vec::new();
    let mut add = |pattern: &Regex, day: &dyn Fn(&Captures<'_>) -> Option<DateMeaning>| {
        for captures in pattern.captures_iter(text) {
            let Some(whole) = captures.get(0) else { continue };
            let free = !found.iter().any(|other| whole.start() < other.range.end && other.range.start < whole.end());
            if free && let Some(day) = day(&captures) {
                found.push(FoundDate { range: whole.range(), day });
            }
        }
    };
    let in_year = |year: Option<i16>, month, day| in_year(today, tense, year, month, day);
    add(&ISO, &|c| Some(in_year(number(c, 1), number(c, 2)?, number(c, 3)?)));
    add(&EAST_ASIAN, &|c| Some(in_year(number(c, 1), number(c, 2)?, number(c, 3)?)));
    add(&MONTH_DAY, &|c| Some(in_year(number(c, 3), month(c.get(1)?.as_str())?, number(c, 2)?)));
    add(&DAY_MONTH, &|c| Some(in_year(number(c, 3), month(c.get(2)?.as_str())?, number(c, 1)?)));
    add(&DOTTED, &|c| Some(in_year(year(c, 3), number(c, 2)?, number(c, 1)?)));
    add(&SLASHED, &|c| {
        let (first, second): (i8, i8) = (number(c, 1)?, number(c, 2)?);
        let dmy = in_year(year(c, 3), second, first);
        let mdy = in_year(year(c, 3), first, second);
        Some(match (order, dmy, mdy) {
            (Some(DateOrder::Dmy), day, _) | (Some(DateOrder::Mdy), _, day) => day,
            (None, DateMeaning::Is(a), DateMeaning::Is(b)) if a != b => DateMeaning::Either(a, b),
            (None, DateMeaning::Is(day), _) | (None, _, DateMeaning::Is(day)) => DateMeaning::Is(day),
            _ => DateMeaning::Impossible,
        })
    });
    add(&RELATIVE_WORD, &|c| {
        let word = c.get(0)?.as_str().to_lowercase();
        let (_, days) = RELATIVE.iter().find(|(known, _)| *known == word)?;
        after(today, *days)
    });
    add(&IN_DAYS, &|c| {
        let count = match c.get(1)?.as_str().to_lowercase().as_str() {
            "a" | "an" | "one" => 1,
            "two" => 2,
            "three" => 3,
            "four" => 4,
            "five" => 5,
            "six" => 6,
            digits => digits.parse().ok()?,
        };
        after(today, if c.get(2)?.as_str().eq_ignore_ascii_case("week") { count * 7 } else { count })
    });
    add(&WEEKDAY, &|c| {
        let name = c.get(2)?.as_str().to_lowercase();
        let index = WEEKDAYS.iter().position(|(english, german, _)| *english == name || *german == name)?;
        let word = c.get(1).map(|word| word.as_str().to_lowercase());
        weekday(today, index, word.as_deref(), tense)
    });
    add(&CJK_WEEKDAY, &|c| {
        let sign = c.get(2)?.as_str().replace('天', "日");
        let index = WEEKDAYS.iter().position(|(_, _, known)| sign.starts_with(*known))?;
        weekday(today, index, c.get(1).map(|_| "next"), tense)
    });
    found.sort_by_key(|date| date.range.start);
    found
}

fn number<T: std::str::FromStr>(captures: &Captures<'_>, group: usize) -> Option<T> {
    captures.get(group)?.as_str().parse().ok()
}

/// A year with four digits, or with two in this century.
fn year(captures: &Captures<'_>, group: usize) -> Option<i16> {
    number(captures, group).map(|year: i16| if year < 100 { 2000 + year } else { year })
}

fn month(name: &str) -> Option<i8> {
    let name = name.to_lowercase();
    let index = MONTH_STARTS.iter().position(|starts| starts.iter().any(|start| name.starts_with(start)))?;
    i8::try_from(index + 1).ok()
}

fn after(today: Date, days: i64) -> Option<DateMeaning> {
    today.checked_add(days.days()).ok().map(DateMeaning::Is)
}

fn in_year(today: Date, tense: Tense, year: Option<i16>, month: i8, day: i8) -> DateMeaning {
    if let Some(year) = year {
        return Date::new(year, month, day).map_or(DateMeaning::Impossible, DateMeaning::Is);
    }
    // Eight years contain a 29 February even around a century without one.
    let years: Vec<i16> = match tense {
        Tense::Future => (0..=8).map(|years| today.year() + years).collect(),
        Tense::Past => (0..=8).map(|years| today.year() - years).collect(),
    };
    years
        .into_iter()
        .filter_map(|year| Date::new(year, month, day).ok())
        .find(|date| if tense == Tense::Future { *date >= today } else { *date <= today })
        .map_or(DateMeaning::Impossible, DateMeaning::Is)
}

/// A plain name is the next such day, or the last one in the past tense; with "next" it is the one of next week.
fn weekday(today: Date, index: usize, word: Option<&str>, tense: Tense) -> Option<DateMeaning> {
    let weekday = Weekday::from_monday_zero_offset(i8::try_from(index).ok()?).ok()?;
    let date = match word {
        Some("next" | "nächsten") => {
            let monday = today.nth_weekday(1, Weekday::Monday).ok()?;
            monday.checked_add(i64::try_from(index).ok()?.days()).ok()?
        }
        Some("last") => today.nth_weekday(-1, weekday).ok()?,
        _ if tense == Tense::Past => today.nth_weekday(-1, weekday).ok()?,
        _ => today.nth_weekday(1, weekday).ok()?,
    };
    Some(DateMeaning::Is(date))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Monday.
    const TODAY: Date = jiff::civil::date(2026, 1, 12);

    fn only(text: &str) -> String {
        match find(text, TODAY, None, Tense::Future).as_slice() {
            [FoundDate { day: DateMeaning::Is(date), .. }] => date.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn many_notations_are_supported() {
        for (text, date) in [
            ("on 2026-01-14", "2026-01-14"),
            ("on January 20th", "2026-01-20"),
            ("20 January 2027", "2027-01-20"),
            ("am 3. März", "2026-03-03"),
            ("on Jan 5", "2027-01-05"),
            ("am 14.02.", "2026-02-14"),
            ("14.02.26", "2026-02-14"),
            ("31/01", "2026-01-31"),
            ("on Wednesday", "2026-01-14"),
            ("Monday", "2026-01-19"),
            ("next Friday", "2026-01-23"),
            ("last Friday", "2026-01-09"),
            ("the day after tomorrow", "2026-01-14"),
            ("in two weeks", "2026-01-26"),
            ("1月20日", "2026-01-20"),
            ("下周五", "2026-01-23"),
            ("明天开会", "2026-01-13"),
            ("غدا", "2026-01-13"),
            ("מחר", "2026-01-13"),
        ] {
            assert_eq!(only(text), date, "{text}");
        }
    }

    #[test]
    fn month_and_day_names_match_whole_words_only() {
        assert_eq!(find("market 12, sun cream", TODAY, None, Tense::Future), []);
    }

    #[test]
    fn the_profile_resolves_day_and_month() {
        let either = |order| find("lunch 03/04", TODAY, order, Tense::Future)[0].day;
        let (april, march) = (jiff::civil::date(2026, 4, 3), jiff::civil::date(2026, 3, 4));
        assert_eq!(either(None), DateMeaning::Either(april, march));
        assert_eq!(either(Some(DateOrder::Dmy)), DateMeaning::Is(april));
        assert_eq!(either(Some(DateOrder::Mdy)), DateMeaning::Is(march));
    }

    #[test]
    fn a_nonexistent_day_is_impossible() {
        assert_eq!(find("February 30", TODAY, None, Tense::Future)[0].day, DateMeaning::Impossible);
        assert_eq!(
            find("February 29", TODAY, None, Tense::Future)[0].day,
            DateMeaning::Is(jiff::civil::date(2028, 2, 29))
        );
    }

    #[test]
    fn expenses_are_in_the_past() {
        assert_eq!(find("on Friday", TODAY, None, Tense::Past)[0].day, DateMeaning::Is(jiff::civil::date(2026, 1, 9)));
        assert_eq!(find("Dec 30", TODAY, None, Tense::Past)[0].day, DateMeaning::Is(jiff::civil::date(2025, 12, 30)));
    }
}
