//! Numbers with nouns.

use std::fmt::Display;

/// A number and a noun, which is in the plural unless the number is 1.
pub fn counted<N: Display + From<u8> + PartialEq>(number: N, noun: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_usize, 1, 2].map(|number| counted(number, "file")), ["0 files", "1 file", "2 files"]);
    }
}
