//! How long a service asks to be left alone: the header `Retry-After` (RFC 9110, section 10.2.3).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ureq::http::{HeaderMap, header};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SECONDS_OF_DAY: i64 = 86_400;

/// The wait a reply asks for, as a number of seconds or as a date; none of either where the date has passed. `None`: it asks
/// for none, or in a form that nobody knows.
pub(crate) fn wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let asked = text(header::RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let until = seconds_of(asked, now)?;
    // The service's own clock, where it tells it: this machine's may be wrong.
    let now = text(header::DATE).and_then(|date| seconds_of(date, now)).unwrap_or_else(|| since_epoch(now));
    Some(Duration::from_secs(u64::try_from(until - now).unwrap_or_default()))
}

fn since_epoch(now: SystemTime) -> i64 {
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// Seconds from 1970 to a date in any of the three forms that HTTP knows; `now` tells the century of the one with two digits.
fn seconds_of(date: &str, now: SystemTime) -> Option<i64> {
    let parts: Vec<&str> = date.split_ascii_whitespace().collect();
    match *parts.as_slice() {
        // Sun, 06 Nov 1994 08:49:37 GMT
        [_, day, month, year, time, "GMT"] => seconds(number(year, 4)?, month, number(day, 2)?, time),
        // Sunday, 06-Nov-94 08:49:37 GMT
        [_, date, time, "GMT"] => {
            let [day, month, year] = *date.split('-').collect::<Vec<_>>().as_slice() else { return None };
            let year = number(year, 2)?;
            let this = 1970 + since_epoch(now) / (365 * SECONDS_OF_DAY + SECONDS_OF_DAY / 4);
            let year = this - this % 100 + year;
            // More than 50 years ahead is meant as the past.
            seconds(if year > this + 50 { year - 100 } else { year }, month, number(day, 2)?, time)
        }
        // Sun Nov  6 08:49:37 1994
        [_, month, day, time, year] => seconds(number(year, 4)?, month, number(day, day.len())?, time),
        _ => None,
    }
}

fn seconds(year: i64, month: &str, day: i64, time: &str) -> Option<i64> {
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()? + 1;
    let [hours, minutes, seconds] = *time.split(':').collect::<Vec<_>>().as_slice() else { return None };
    let (hours, minutes, seconds) = (number(hours, 2)?, number(minutes, 2)?, number(seconds, 2)?);
    // 60 is a leap second.
    let exists = (1..=31).contains(&day) && hours < 24 && minutes < 60 && seconds <= 60;
    exists.then(|| days(year, month, day) * SECONDS_OF_DAY + hours * 3600 + minutes * 60 + seconds)
}

/// Days from 1970-01-01, in eras of 400 years that begin on a first of March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use ureq::http::HeaderValue;

    use super::*;

    /// 1994-11-06 08:49:37 UTC.
    const THEN: u64 = 784_111_777;

    fn wait_at(seconds: u64, retry_after: &str, date: Option<&'static str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_str(retry_after).unwrap());
        headers.extend(date.map(|date| (header::DATE, HeaderValue::from_static(date))));
        wait(&headers, UNIX_EPOCH + Duration::from_secs(seconds))
    }

    #[test]
    fn seconds_are_waited_for() {
        let seconds = |text| wait_at(THEN, text, None);
        assert_eq!(seconds("7"), Some(Duration::from_secs(7)));
        assert_eq!(seconds(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(seconds("0"), Some(Duration::ZERO));
        assert_eq!(seconds("1e300"), Some(Duration::MAX));
    }

    #[test]
    fn every_form_of_date_is_waited_for_and_one_that_has_passed_is_not() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(wait_at(THEN - 90, date, None), Some(Duration::from_secs(90)), "{date}");
            assert_eq!(wait_at(THEN, date, None), Some(Duration::ZERO), "{date}");
            assert_eq!(wait_at(THEN + 90, date, None), Some(Duration::ZERO), "{date}");
        }
        let leap = wait_at(1_709_164_800, "Thu, 29 Feb 2024 00:00:60 GMT", None);
        assert_eq!(leap, Some(Duration::from_secs(60)));
        assert_eq!(wait_at(4_102_444_800, "Friday, 01-Jan-49 00:00:00 GMT", None), Some(Duration::ZERO));
    }

    #[test]
    fn the_clock_of_the_service_goes_before_that_of_this_machine() {
        let wait = wait_at(0, "Sun, 06 Nov 1994 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:30 GMT"));
        assert_eq!(wait, Some(Duration::from_secs(7)));
        assert_eq!(wait_at(THEN - 7, "Sun, 06 Nov 1994 08:49:37 GMT", Some("today")), Some(Duration::from_secs(7)));
    }

    #[test]
    fn what_is_neither_asks_for_nothing() {
        for text in [
            "",
            "soon",
            "-1",
            "NaN",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nev 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(wait_at(THEN, text, None), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_is_a_panic(text in "[ -~]*") {
            wait_at(THEN, &text, None);
        }
    }
}
