//! Email addresses and phone numbers.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}").expect("a valid pattern")
});
static PHONE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:\+|\b0|\(0)[\d\s()./-]*\d").expect("a valid pattern"));
static NUMERIC_DATE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}").expect("a valid pattern"));

/// Email address and phone number of a person, with their ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Channels {
    pub(super) email: Option<(Range<usize>, String)>,
    pub(super) phone: Option<(Range<usize>, String)>,
}

impl Channels {
    pub(super) fn ranges(&self) -> Vec<Range<usize>> {
        self.email.iter().chain(&self.phone).map(|(range, _)| range.clone()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.email.is_none() && self.phone.is_none()
    }
}

/// Finds the first email address and the first phone number in `text`.
pub(super) fn find(text: &str) -> Channels {
    let email = EMAIL.find(text).map(|found| (found.range(), found.as_str().to_owned()));
    let phone = PHONE
        .find_iter(text)
        .filter(|found| found.as_str().chars().filter(char::is_ascii_digit).count() >= 7)
        .find(|found| !NUMERIC_DATE.is_match(found.as_str()))
        .map(|found| (found.range(), found.as_str().split_whitespace().collect::<Vec<_>>().join(" ")));
    Channels { email, phone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phone_numbers_and_addresses_are_found_but_dates_are_not() {
        let found = find("Zoë: +49 30 1234567, zoe@example.com");
        assert_eq!(found.phone.map(|(_, text)| text).as_deref(), Some("+49 30 1234567"));
        assert_eq!(found.email.map(|(_, text)| text).as_deref(), Some("zoe@example.com"));
        for text in ["2026-01-14 15:30", "05/06/2026", "05.06.2026 10:00", "room 0123"] {
            assert!(find(text).is_empty(), "{text}");
        }
    }
}
