//! The canary of a suite: a GUID by which a leak of its files is noticed.

use std::hash::{BuildHasher as _, RandomState};
use std::process;
use std::time::SystemTime;

/// A random GUID (version 4).
pub(super) fn fresh() -> String {
    // The standard library has no other source of random numbers.
    let keys = RandomState::new();
    let part = |number: u8| u128::from(keys.hash_one((number, process::id(), SystemTime::now())));
    let bits = part(0) << 64 | part(1);
    let bits = bits & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
    let digits = format!("{bits:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    parts.join("-")
}

/// The canary that a file of a suite names.
pub(super) fn written_in(text: &str) -> Option<&str> {
    let lines = text.lines().filter(|line| line.trim_start_matches(['"', ' ']).starts_with("canary"));
    let is_guid = |word: &&str| word.len() == 36 && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    lines.flat_map(|line| line.split(['"', '\'', ' ', ','])).find(is_guid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_from_yaml_and_json() {
        let guid = "3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46";
        for text in
            [format!("name: a\ncanary: {guid}\n"), format!("{{\n  \"canary\": \"{guid}\",\n  \"name\": \"a\"\n}}")]
        {
            assert_eq!(written_in(&text), Some(guid), "{text}");
        }
        assert_eq!(written_in("name: canary\n"), None);
    }

    #[test]
    fn each_is_another_guid() {
        let (one, other) = (fresh(), fresh());
        assert_ne!(one, other);
        assert_eq!(one.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert!(one[14..].starts_with('4') && one[19..].starts_with(['8', '9', 'a', 'b']), "{one}");
    }
}
