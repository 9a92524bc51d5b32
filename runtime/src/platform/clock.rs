//! Points in time as text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now as RFC 3339 UTC with milliseconds.
pub(crate) fn timestamp() -> String {
    let (date, time) = parts(since_epoch());
    let (hours, minutes, seconds, millis) = time;
    let (year, month, day) = date;
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}

/// Now as it stands in names: `YYYYMMDDTHHMMSSZ`.
pub(crate) fn compact_timestamp() -> String {
    let (date, time) = parts(since_epoch());
    let (year, month, day) = date;
    let (hours, minutes, seconds, _) = time;
    format!("{year:04}{month:02}{day:02}T{hours:02}{minutes:02}{seconds:02}Z")
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

type Date = (u64, u64, u64);
type Time = (u64, u64, u64, u32);

fn parts(since_epoch: Duration) -> (Date, Time) {
    let seconds = since_epoch.as_secs();
    let of_day = seconds % 86_400;
    (date(seconds / 86_400), (of_day / 3600, of_day / 60 % 60, of_day % 60, since_epoch.subsec_millis()))
}

/// Date of a number of days after 1970-01-01, in eras of 400 years that begin on a first of March.
fn date(days: u64) -> Date {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(20_089), (2025, 1, 1));
        assert_eq!(parts(Duration::from_millis(1_735_689_599_042)), ((2024, 12, 31), (23, 59, 59, 42)));
    }
}
