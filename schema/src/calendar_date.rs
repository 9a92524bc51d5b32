//! Dates in the formats of people and programs.
//!
//! Hand-written: chrono and jiff parse one given format, so the rules for the order of day and month, month names and
//! offsets would stay here; only the calendar (20 lines) would go, for 2 s (chrono) or 4 s (jiff) of compile time.

use evalsuite_derive::Words;

use crate::json::{FromJson, ToJson};

/// A date format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum DateFormat {
    /// `2025-01-31T10:00:00Z`
    #[json(rename = "YYYY-MM-DDTHH:mm:ssZ")]
    DateTimeOffset,
    /// `2025-01-31T10:00:00`
    #[json(rename = "YYYY-MM-DDTHH:mm:ss")]
    DateTime,
    /// `2025-01-31`
    #[json(rename = "YYYY-MM-DD")]
    Date,
    /// `31-JAN-2025`
    #[json(rename = "DD-MMM-YYYY")]
    DayMonthName,
    /// `01/31/2025`
    #[json(rename = "MM/DD/YYYY")]
    MonthDaySlash,
    /// `31/01/2025`
    #[json(rename = "DD/MM/YYYY")]
    DayMonthSlash,
    /// `01-31-2025`
    #[json(rename = "MM-DD-YYYY")]
    MonthDayDash,
    /// `31-01-2025`
    #[json(rename = "DD-MM-YYYY")]
    DayMonthDash,
}

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// 0 to 9999.
    pub year: u32,
    /// From 1.
    pub month: u32,
    /// From 1.
    pub day: u32,
}

impl Date {
    /// `None` if the day does not exist.
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let exists = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    fn next(self) -> Option<Self> {
        Self::new(self.year, self.month, self.day + 1)
            .or_else(|| Self::new(self.year, self.month + 1, 1))
            .or_else(|| Self::new(self.year + 1, 1, 1))
    }

    fn previous(self) -> Option<Self> {
        if self.day > 1 {
            return Self::new(self.year, self.month, self.day - 1);
        }
        match self.month {
            1 => Self::new(self.year.checked_sub(1)?, 12, 31),
            month => Self::new(self.year, month - 1, days_in(self.year, month - 1)),
        }
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Reads a date; `None` if the text is not a date, or the day does not exist.
pub fn parse(text: &str, formats: &[DateFormat]) -> Option<Date> {
    let text = text.trim();
    iso(text).or_else(|| slashed_year_first(text)).or_else(|| two_numbers(text, formats)).or_else(|| named_month(text))
}

/// `2025`, `2025-01`, `2025-01-31`, the last one also with a time.
fn iso(text: &str) -> Option<Date> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |month| digits(month, 2))?;
    let day = parts.next().map_or(Some(1), |day| digits(day, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let date = Date::new(year, month, day)?;
    match time {
        None => Some(date),
        Some(_) if text.len() < 11 => None,
        Some(time) => to_utc(date, time),
    }
}

/// The day in UTC; a time without an offset is ignored.
fn to_utc(date: Date, time: &str) -> Option<Date> {
    let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => (&time[..at], &time[at..]),
        None => (time, ""),
    };
    let minutes = minutes_of_day(clock.trim_end())?;
    let shift = match offset.as_bytes() {
        [] | [b'Z' | b'z'] => 0,
        [b'+', ..] => minutes_of_offset(&offset[1..])?,
        [b'-', ..] => -minutes_of_offset(&offset[1..])?,
        _ => return None,
    };
    match minutes - shift {
        minutes if minutes < 0 => date.previous(),
        minutes if minutes >= 24 * 60 => date.next(),
        _ => Some(date),
    }
}

/// `10:00`, `10:00:00` or `10:00:00.5`.
fn minutes_of_day(clock: &str) -> Option<i32> {
    let mut parts = clock.split(':');
    // 24:00 is the end of the day.
    let hour = digits(parts.next()?, 2).filter(|hour| *hour <= 24)?;
    let minute = digits(parts.next()?, 2).filter(|minute| *minute < 60 && (hour < 24 || *minute == 0))?;
    if let Some(seconds) = parts.next() {
        let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
        digits(whole, 2).filter(|second| *second < 60)?;
        if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    if parts.next().is_some() {
        return None;
    }
    i32::try_from(hour * 60 + minute).ok()
}

/// `05:00`, `0500` or `05`.
fn minutes_of_offset(offset: &str) -> Option<i32> {
    let compact = offset.replacen(':', "", 1);
    let (hours, minutes) = compact.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2).filter(|minutes| *minutes < 60)? };
    i32::try_from(digits(hours, 2).filter(|hours| *hours < 24)? * 60 + minutes).ok()
}

/// `2025/1/31`
fn slashed_year_first(text: &str) -> Option<Date> {
    let [year, month, day] = three_parts(text, '/')?;
    Date::new(digits(year, 4)?, short(month)?, short(day)?)
}

/// `31/01/2025` and `01-31-2025`: the order of the formats with this separator, without them that of the formats with the other one. If
/// they list none or both, day first if the first number cannot be a month, or else month first.
fn two_numbers(text: &str, formats: &[DateFormat]) -> Option<Date> {
    let has_slashes = text.contains('/');
    let [first, second, year] = three_parts(text, if has_slashes { '/' } else { '-' })?;
    let (first, second, year) = (short(first)?, short(second)?, digits(year, 4)?);
    let slashes = [DateFormat::DayMonthSlash, DateFormat::MonthDaySlash];
    let dashes = [DateFormat::DayMonthDash, DateFormat::MonthDayDash];
    let (own, other) = if has_slashes { (slashes, dashes) } else { (dashes, slashes) };
    let listed = |orders: [DateFormat; 2]| orders.map(|order| formats.contains(&order));
    let order = match listed(own) {
        [false, false] => listed(other),
        of_own => of_own,
    };
    let day_first = match order {
        [true, false] => true,
        [false, true] => false,
        _ => first > 12,
    };
    if day_first { Date::new(year, second, first) } else { Date::new(year, first, second) }
}

fn three_parts(text: &str, separator: char) -> Option<[&str; 3]> {
    text.split(separator).collect::<Vec<_>>().try_into().ok()
}

/// `31-Jan-2025`, `31 January 2025`, `January 31, 2025`.
fn named_month(text: &str) -> Option<Date> {
    let parts: Vec<&str> = if text.contains('-') {
        text.split('-').collect()
    } else {
        text.split([' ', ',']).filter(|part| !part.is_empty()).collect()
    };
    let &[first, second, year] = parts.as_slice() else { return None };
    let year = digits(year, 4)?;
    match month(second) {
        Some(month) => Date::new(year, month, short(first)?),
        None if !text.contains('-') => Date::new(year, month(first)?, short(second)?),
        None => None,
    }
}

/// The full names of the months, in order.
const MONTHS: &str = "january february march april may june july august september october november december";

fn month(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    let is_named = |full: &str| full == name || name.len() == 3 && full.starts_with(&name);
    u32::try_from(MONTHS.split(' ').position(is_named)? + 1).ok()
}

/// A number of exactly this many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// A number of one or two digits.
fn short(text: &str) -> Option<u32> {
    digits(text, 1).or_else(|| digits(text, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, formats: &[DateFormat], expected: Option<(u32, u32, u32)>) {
        let date = parse(text, formats).map(|Date { year, month, day }| (year, month, day));
        assert_eq!(date, expected, "{text}");
    }

    #[test]
    fn every_accepted_form_is_read() {
        let day = Some((2025, 1, 31));
        for text in [
            "2025-01-31",
            " 2025-01-31T10:00:00 ",
            "2025-01-31T10:00Z",
            "2025-01-31 10:00:00.25+02:00",
            "2025/1/31",
            "31-JAN-2025",
            "31 January 2025",
            "Jan 31, 2025",
            "January 31 2025",
            "31/01/2025",
            "01-31-2025",
        ] {
            check(text, &[], day);
        }
        check("2025", &[], Some((2025, 1, 1)));
        check("2025-03", &[], Some((2025, 3, 1)));
    }

    #[test]
    fn an_offset_can_change_the_day() {
        check("2025-01-15T23:30:00-05:00", &[], Some((2025, 1, 16)));
        check("2025-03-01T00:30:00+01:00", &[], Some((2025, 2, 28)));
        check("2024-12-31T23:00:00-0200", &[], Some((2025, 1, 1)));
        check("2025-01-15T23:30:00", &[], Some((2025, 1, 15)));
        check("2025-01-15T24:00:00Z", &[], Some((2025, 1, 16)));
    }

    #[test]
    fn formats_say_which_number_is_the_day() {
        check("03/04/2025", &[], Some((2025, 3, 4)));
        check("03/04/2025", &[DateFormat::DayMonthSlash], Some((2025, 4, 3)));
        check("13/04/2025", &[DateFormat::MonthDaySlash], None);
        check("03-04-2025", &[DateFormat::DayMonthDash, DateFormat::MonthDayDash], Some((2025, 3, 4)));
    }

    #[test]
    fn formats_of_the_separator_of_a_date_come_first() {
        use DateFormat::{DayMonthDash, DayMonthSlash, MonthDayDash, MonthDaySlash};
        for (text, formats, expected) in [
            ("03/04/2025", [DayMonthSlash, MonthDayDash], (2025, 4, 3)),
            ("03-04-2025", [DayMonthSlash, MonthDayDash], (2025, 3, 4)),
            ("03/04/2025", [MonthDaySlash, DayMonthDash], (2025, 3, 4)),
            ("03-04-2025", [DayMonthDash, MonthDaySlash], (2025, 4, 3)),
        ] {
            check(text, &formats, Some(expected));
        }
        check("13/04/2025", &[MonthDaySlash, DayMonthDash], None);
        check("03-04-2025", &[DayMonthSlash], Some((2025, 4, 3)));
        check("03-04-2025", &[DayMonthSlash, MonthDaySlash], Some((2025, 3, 4)));
    }

    #[test]
    fn a_day_that_does_not_exist_is_no_date() {
        for text in [
            "2025-02-29",
            "2025-13-01",
            "31/31/2025",
            "",
            "n/a",
            "2025-1-5",
            "12:00",
            "2025-01-31T25:00",
            "31 Foo 2025",
        ] {
            check(text, &[], None);
        }
        check("2024-02-29", &[], Some((2024, 2, 29)));
    }
}
