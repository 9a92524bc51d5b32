/// Whether a text is a date and time of RFC 3339, the form of ISO 8601 that every reader of timestamps knows.
pub(crate) fn is_rfc3339(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let (clock, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, None),
        None => match time.rfind(['+', '-']) {
            Some(at) => (&time[..at], Some(&time[at + 1..])),
            None => return false,
        },
    };
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (clock, None),
    };
    is_date(date)
        && is_clock(clock)
        && fraction.is_none_or(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        && offset.is_none_or(is_offset)
}

fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = numbers(text, '-', [4, 2, 2]) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 31,
    };
    year > 0 && (1..=12).contains(&month) && (1..=days).contains(&day)
}

fn is_clock(text: &str) -> bool {
    numbers(text, ':', [2, 2, 2]).is_some_and(|[hour, minute, second]| hour < 24 && minute < 60 && second < 60)
}

fn is_offset(text: &str) -> bool {
    numbers(text, ':', [2, 2]).is_some_and(|[hour, minute]| hour < 24 && minute < 60)
}

/// Numbers of a fixed number of digits each.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for (number, length) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != length || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_a_date_that_exists_a_time_and_an_offset() {
        for good in ["2026-01-04T09:15:00Z", "2024-02-29T23:59:59.123+05:30", "2026-01-04t09:15:00z"] {
            assert!(is_rfc3339(good), "{good}");
        }
        for bad in [
            "2026-01-04",
            "2026-01-04T09:15:00",
            "2025-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-04T24:00:00Z",
            "2026-01-04T09:15:00.Z",
            "2026-1-4T9:15:00Z",
            "yesterday",
            "",
        ] {
            assert!(!is_rfc3339(bad), "{bad}");
        }
    }
}
