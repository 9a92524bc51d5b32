//! Times and durations as records say them: RFC 3339, and milliseconds.

use std::time::{Duration, SystemTime};

/// A time as text in UTC with milliseconds; `None` for times before 1970 and after the year 9999.
pub fn format(time: SystemTime) -> Option<String> {
    const END_OF_9999: Duration = Duration::from_secs(253_402_300_800);
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    (since_1970 < END_OF_9999).then(|| humantime::format_rfc3339_millis(time).to_string())
}

/// The time of a text; `None` if it is not a date and time with an offset, and for a leap second, which few readers accept.
pub fn parse(text: &str) -> Option<SystemTime> {
    // `humantime` knows no offsets.
    let (local, offset) = match text.strip_suffix(['Z', 'z']) {
        Some(local) => (local, None),
        None => {
            let sign = text.rfind(['+', '-'])?;
            (&text[..sign], Some((text.as_bytes()[sign], time_of_day(&text[sign + 1..])?)))
        }
    };
    if local.get(17..19) == Some("60") || local.ends_with('.') {
        return None;
    }
    let time = humantime::parse_rfc3339(&format!("{}Z", local.to_ascii_uppercase())).ok()?;
    match offset {
        None => Some(time),
        Some((b'+', offset)) => time.checked_sub(offset),
        Some((_, offset)) => time.checked_add(offset),
    }
}

/// The duration since midnight of `HH:MM`.
fn time_of_day(text: &str) -> Option<Duration> {
    let time = humantime::parse_rfc3339(&format!("1970-01-01T{text}:00Z")).ok()?;
    time.duration_since(SystemTime::UNIX_EPOCH).ok()
}

/// A duration in milliseconds, as records hold it: whole microseconds and nanoseconds are its fraction.
#[allow(clippy::cast_precision_loss, reason = "2^53 nanoseconds are 104 days")]
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

/// The duration of a number of milliseconds in a record, to the nanosecond; `None` for a number that is not one.
#[doc(hidden)]
pub fn duration(milliseconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(milliseconds / 1e3).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_valid_date_a_time_and_an_offset() {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_528_000);
        for good in [
            "2026-01-04T12:00:00Z",
            "2026-01-04t12:00:00.000z",
            "2026-01-04T17:30:00+05:30",
            "2026-01-04T04:00:00-08:00",
        ] {
            assert_eq!(parse(good), Some(noon), "{good}");
        }
        assert_eq!(format(noon).as_deref(), Some("2026-01-04T12:00:00.000Z"));
        for bad in [
            "2026-01-04",
            "2026-01-04T09:15:00",
            "2025-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-04T24:00:00Z",
            "2026-01-04T09:15:60Z",
            "2026-01-04T09:15:00.Z",
            "2026-01-04T09:15:00+24:00",
            "2026-1-4T9:15:00Z",
            "yesterday",
            "",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_time_that_has_no_text_has_none() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        let after = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800);
        assert_eq!((format(before), format(after)), (None, None));
        assert_eq!(format(after - Duration::from_millis(1)).as_deref(), Some("9999-12-31T23:59:59.999Z"));
    }
}
