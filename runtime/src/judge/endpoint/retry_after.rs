//! The wait that a service asks for in the header `Retry-After` (RFC 9110, section 10.2.3).

use std::time::{Duration, SystemTime};

use ureq::http::{HeaderMap, header};

/// The wait a reply asks for, as a number of seconds or as a date; zero if the date has passed. `None`: the header is absent or
/// cannot be read.
pub(crate) fn wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let asked = text(header::RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    // The clock of the service, if it is sent: this machine's may be wrong.
    let now = text(header::DATE).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

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
    fn every_form_of_date_is_read_and_a_date_that_has_passed_means_no_wait() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(wait_at(THEN - 90, date, None), Some(Duration::from_secs(90)), "{date}");
            assert_eq!(wait_at(THEN, date, None), Some(Duration::ZERO), "{date}");
            assert_eq!(wait_at(THEN + 90, date, None), Some(Duration::ZERO), "{date}");
        }
    }

    #[test]
    fn the_clock_of_the_service_takes_precedence() {
        let wait = wait_at(0, "Sun, 06 Nov 1994 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:30 GMT"));
        assert_eq!(wait, Some(Duration::from_secs(7)));
        assert_eq!(wait_at(THEN - 7, "Sun, 06 Nov 1994 08:49:37 GMT", Some("today")), Some(Duration::from_secs(7)));
    }

    #[test]
    fn other_texts_ask_for_no_wait() {
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
