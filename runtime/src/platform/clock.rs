//! The current time as text, and what counts as a timestamp.

use std::time::SystemTime;

/// Now as RFC 3339 in UTC with milliseconds.
pub(crate) fn timestamp() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// Now as `YYYYMMDDTHHMMSSZ`, for names.
pub(crate) fn compact_timestamp() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(['-', ':'], "")
}

/// Whether a text is a date and time of RFC 3339, other than in a leap second, which few readers accept.
pub(crate) fn is_rfc3339(text: &str) -> bool {
    // `humantime` knows no offsets.
    let local = match text.strip_suffix(['Z', 'z']) {
        Some(local) => local,
        None => match text.rfind(['+', '-']) {
            Some(sign) if is_offset(&text[sign + 1..]) => &text[..sign],
            _ => return false,
        },
    };
    local.get(17..19) != Some("60")
        && !local.ends_with('.')
        && humantime::parse_rfc3339(&format!("{}Z", local.to_ascii_uppercase())).is_ok()
}

/// Whether a text is `HH:MM`.
fn is_offset(text: &str) -> bool {
    humantime::parse_rfc3339(&format!("2000-01-01T{text}:00Z")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_rfc3339() {
        assert!(is_rfc3339(&timestamp()), "{}", timestamp());
        assert_eq!(timestamp().len(), "2026-01-04T09:15:00.123Z".len());
        assert_eq!(compact_timestamp().len(), "20260104T091500Z".len());
    }

    #[test]
    fn a_timestamp_has_a_valid_date_a_time_and_an_offset() {
        for good in ["2026-01-04T09:15:00Z", "2024-02-29T23:59:59.123+05:30", "2026-01-04t09:15:00z"] {
            assert!(is_rfc3339(good), "{good}");
        }
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
            assert!(!is_rfc3339(bad), "{bad}");
        }
    }
}
