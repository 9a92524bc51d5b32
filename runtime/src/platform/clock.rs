//! The current time as text.

use std::time::SystemTime;

/// Now as RFC 3339 in UTC with milliseconds.
pub(crate) fn timestamp() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// A time as `YYYYMMDDTHHMMSSZ`, for names.
pub(crate) fn compact_timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().replace(['-', ':'], "")
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::rfc3339;

    use super::*;

    #[test]
    fn timestamps_are_rfc3339() {
        assert!(rfc3339::parse(&timestamp()).is_some(), "{}", timestamp());
        assert_eq!(timestamp().len(), "2026-01-04T09:15:00.123Z".len());
        assert_eq!(compact_timestamp(SystemTime::now()).len(), "20260104T091500Z".len());
    }
}
