//! A secret is found in every form that `docs/security.md` names, and a beginning of one at the end of a text that is cut.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::encoders::{ENCODERS, base64, encoded};
use crate::platform::redaction::Redactor;

fn character() -> impl Strategy<Value = char> {
    let usual = "abcXYZ0189".chars().collect::<Vec<_>>();
    let special = "\"'\\&<>/+=%$#;{}`- \t\n\r\u{b}\u{1b}\u{a0}éß€\u{2028}語😀\u{e0001}".chars().collect::<Vec<_>>();
    prop_oneof![select(usual), select(special)]
}

fn secret() -> impl Strategy<Value = String> {
    vec(character(), 6..40).prop_map(|characters| format!("k{}k", characters.into_iter().collect::<String>()))
}

/// Text around a secret. It starts and ends with what belongs to no escape.
fn around() -> impl Strategy<Value = String> {
    vec(character(), 0..20).prop_map(|characters| format!("|{}|", characters.into_iter().collect::<String>()))
}

fn hider(secret: &str) -> Redactor {
    Redactor::default().with_values([secret.to_owned()])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn secrets_that_are_encoded_once_are_hidden(
        secret in secret(), before in around(), after in around(), encoder in select(&ENCODERS[..]),
    ) {
        let of = |text: &str| encoded(text, &encoder);
        let text = of(&format!("{before}{secret}{after}"));
        let shown = format!("{}***{}", of(&before), of(&after));
        prop_assert_eq!(hider(&secret).apply(&text), shown, "{} of {:?}", encoder.0, text);
    }

    #[test]
    fn base64_is_hidden(
        secret in secret(), before in vec(any::<u8>(), 0..50), after in vec(any::<u8>(), 0..50),
        is_url_safe in any::<bool>(), is_padded in any::<bool>(), of_json in select(vec![0_usize, 1, 2]),
        width in select(vec![usize::MAX, 16, 60, 64, 70, 72, 76]), line_end in select(vec!["\n", "\r\n", "\n  "]),
    ) {
        let secret = secret.trim().to_owned();
        let inner = encoded(&secret, &ENCODERS[of_json]);
        let all = base64(&[&before, inner.as_bytes(), &after].concat(), is_url_safe, is_padded);
        let (start, end) = ((before.len() * 8).div_ceil(6), (before.len() + inner.len()) * 8 / 6);
        let in_lines = |range: std::ops::Range<usize>| -> String {
            let character = |at: usize| {
                let line_end = if at > 0 && at.is_multiple_of(width) { line_end } else { "" };
                format!("{line_end}{}", &all[at..=at])
            };
            range.map(character).collect()
        };
        let shown = hider(&secret).apply(&in_lines(0..all.len())).into_owned();
        let expected = format!("{}***{}", in_lines(0..start), in_lines(end..all.len()));
        // A line break at the beginning of the secret may be hidden, too.
        let compact = |text: &str| text.replace(line_end, "");
        prop_assert_eq!(compact(&shown), compact(&expected), "{:?} in {:?}", secret, in_lines(0..all.len()));
    }

    #[test]
    fn a_beginning_of_a_secret_at_a_cut_is_left_out(
        secret in secret(), before in around(), encoder in select(&ENCODERS[..]), cut in 0_usize..200, is_base64 in any::<bool>(),
    ) {
        let (before, all) = match is_base64 {
            true => (String::new(), base64(secret.as_bytes(), false, true)),
            false => (encoded(&before, &encoder), encoded(&secret, &encoder)),
        };
        let text = [before.as_bytes(), &all.as_bytes()[..cut % all.len()]].concat();
        let left = hider(&secret).length_without_broken_end(&text);
        // Whole secrets are hidden later, and a few characters before it may look like a beginning.
        let shown = String::from_utf8_lossy(&text[..left]).into_owned();
        let shown = hider(&secret).apply(&shown).replace("***", "");
        // The last digit of base64 also depends on what follows.
        let rest = if is_base64 { "w==".len() } else { 0 };
        prop_assert!(shown.len() <= before.len() + rest, "{:?} of {:?}", shown, String::from_utf8_lossy(&text));
    }
}
