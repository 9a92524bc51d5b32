//! SHA-256 of data, for the compiler and for the program that it compiles; and a hash for names.

use std::fmt;

use hmac_sha256::Hash;

use crate::json::ToJson;
use crate::json::writer::{Spacing, written};
use crate::{Case, Conversation, Examples, Grader};

/// SHA-256 of a case, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseDigests {
    /// The whole case.
    pub case: String,
    /// Its graders.
    pub graders: String,
}

impl CaseDigests {
    /// The digests of a case. Examples, which test the graders, are left out: no result depends on them.
    pub fn of(case: &Case) -> Self {
        if case.has_examples() {
            return Self::of(&without_examples(case));
        }
        Self { case: sha256_of_data(case), graders: sha256_of_data(&case.graders) }
    }

    /// The JSON and the digests of a line that [`Display`](fmt::Display) ended; the whole text and `None` for mere JSON.
    pub fn split(line: &str) -> (&str, Option<Self>) {
        // JSON in one line has no tabs.
        let Some((json, digests)) = line.rsplit_once('\t') else { return (line, None) };
        let digests = digests.split_once(' ');
        (json, digests.map(|(case, graders)| Self { case: case.to_owned(), graders: graders.to_owned() }))
    }
}

fn without_examples(case: &Case) -> Case {
    let mut case = Case { examples: Examples::default(), ..case.clone() };
    let of_conversation = case.conversation.iter_mut().flat_map(Conversation::graders_mut);
    of_conversation.chain(&mut case.graders).for_each(remove_examples);
    case
}

fn remove_examples(grader: &mut Grader) {
    grader.examples = Examples::default();
    grader
        .config
        .settings_mut()
        .into_iter()
        .for_each(|settings| settings.members_mut().iter_mut().for_each(remove_examples));
}

/// As the end of the line that has the JSON of the case.
impl fmt::Display for CaseDigests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\t{} {}", self.case, self.graders)
    }
}

/// SHA-256 of data as JSON, which depends neither on the order of keys nor on places in files: a case that only moved
/// has the same digest.
///
/// # Panics
///
/// If the data is not JSON.
pub fn sha256_of_data(data: &dyn ToJson) -> String {
    hexadecimal(Hash::hash(written(data, Spacing::Canonical, None).expect("data of cases is JSON").as_bytes()))
}

/// A digest in hexadecimal.
pub fn hexadecimal(digest: [u8; 32]) -> String {
    let (halves, _) = digest.as_chunks::<16>();
    halves.iter().map(|half| format!("{:032x}", u128::from_be_bytes(*half))).collect()
}

/// A digest from its hexadecimal digits.
pub fn parse_hexadecimal(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    (digits.len() == 64).then_some(bytes)
}

/// FNV-1a of `bytes`: short, and the same in every process, unlike hashes of the standard library. Not for data of strangers: collisions can
/// be made.
pub fn short_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Example, GraderConfig, Location};

    #[test]
    fn a_case_that_only_moved_has_the_same_digests() {
        let case = |line, grader: &str| {
            let mut case = Case::new("c", Location::new("f", line, 1));
            case.graders.push(Grader::new(grader, Location::new("f", line + 1, 1), GraderConfig::IsJson));
            CaseDigests::of(&case)
        };
        assert_eq!(case(1, "g"), case(9, "g"));
        assert_ne!(case(1, "g").graders, case(1, "other").graders);
        assert_ne!(case(1, "g").case, case(1, "other").case);
        assert_eq!(hexadecimal(Hash::hash(b"abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn examples_do_not_change_the_digests_of_a_case() {
        let place = || Location::new("f", 1, 1);
        let mut case = Case::new("c", place());
        case.graders.push(Grader::new("g", place(), GraderConfig::IsJson));
        let digests = CaseDigests::of(&case);
        case.examples.pass.push(Example::new(place(), "{}"));
        case.graders[0].examples.fail.push(Example::new(place(), "no"));
        assert!(case.has_examples());
        assert_eq!(CaseDigests::of(&case), digests);
    }

    #[test]
    fn a_line_has_the_json_and_the_digests() {
        let case = Case::new("a\tb", Location::new("f", 1, 1));
        let digests = CaseDigests::of(&case);
        let json = serde_json::to_string(&case).unwrap();
        assert_eq!(CaseDigests::split(&format!("{json}{digests}")), (json.as_str(), Some(digests)));
        assert_eq!(CaseDigests::split(&json), (json.as_str(), None));
    }

    #[test]
    fn a_digest_is_read_from_its_own_digits_only() {
        let digest: [u8; 32] = std::array::from_fn(|index| (index * 8) as u8);
        let digits = hexadecimal(digest);
        assert_eq!(parse_hexadecimal(&digits), Some(digest));
        for wrong in [&digits[1..], &format!("{digits}0"), &digits.replace('8', "x"), ""] {
            assert_eq!(parse_hexadecimal(wrong), None, "{wrong}");
        }
    }
}
