//! Tests of what is hidden, and of what stays. A secret is found in every form that `docs/security.md` names, and a beginning of one at the end
//! of a text that is cut.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use evalsuite_schema::json::json;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn redactor<const N: usize>(values: [&str; N]) -> Redactor {
    Redactor::default().with_values(values.map(str::to_owned))
}

#[test]
fn values_are_hidden_wherever_they_stand() {
    let redactor = redactor(["secret", "secret-long", "short"]);
    assert_eq!(redactor.apply("a secret-long, a secret, a short"), "a ***, a ***, a short");
    let value = json!({"secret": ["my secret", 1]});
    assert_eq!(redactor.redacted(value.clone()).unwrap(), json!({"***": ["my ***", 1]}));
}

#[test]
fn values_that_overlap_are_hidden_as_one() {
    assert_eq!(redactor(["abcdef", "defghi"]).apply("<abcdefghi>"), "<***>");
    assert_eq!(redactor(["ababab"]).apply("<ababababa>"), "<***a>");
}

#[test]
fn an_error_says_which_variable_has_a_value() {
    let secrets = [
        ("/opt/python/3.12", Some("PYTHON")),
        ("token-token", Some("TOKEN")),
        ("12/token-t", None),
        ("plain-value", None),
    ];
    let secrets = secrets.map(|(value, name)| (value.to_owned(), name.map(str::to_owned)));
    let redactor = redactor(["/opt/python/3.12"]).with_secrets(secrets.into_iter());
    let error = |text: &str| redactor.name_in(text);
    assert_eq!(error("cannot run `/opt/python/3.12`: gone"), "cannot run `${{ PYTHON }}`: gone");
    assert_eq!(error("/opt/python/3.12/lib, token-token and plain-value"), "${{ PYTHON }}/lib, ${{ TOKEN }} and ***");
    assert_eq!(error("/opt/python/3.12/token-token"), "***", "values that overlap are hidden as one");
    assert_eq!(error("%2Fopt%2Fpython%2F3.12"), "***", "only the value as it is");
    assert_eq!(redactor.apply("/opt/python/3.12"), "***");
}

#[test]
fn names_of_fields_and_variants_stay() {
    #[derive(Debug, PartialEq, ToJson, FromJson)]
    struct Record {
        outcome: Outcome,
        details: BTreeMap<String, String>,
    }
    #[derive(Debug, PartialEq, ToJson, FromJson)]
    enum Outcome {
        Passed { answer: String },
    }
    let data = |text: &str| Record {
        outcome: Outcome::Passed { answer: text.to_owned() },
        details: [(text.to_owned(), text.to_owned())].into(),
    };
    let redactor = redactor(["outcome", "Passed", "details", "answer"]);
    assert_eq!(redactor.redacted(data("the answer")).unwrap(), data("the ***"));
}

#[test]
fn keys_that_become_the_same_are_all_kept() {
    let value = json!({"a secret": 1, "b": {"a secret": 2}, "a hidden": 3, "a ***": 4});
    let shown = redactor(["secret", "hidden"]).redacted(value.clone()).unwrap();
    assert_eq!(shown, json!({"a ***": 1, "b": {"a ***": 2}, "a *** (2)": 3, "a *** (3)": 4}));
}

#[test]
fn every_form_in_which_programs_write_a_secret_is_hidden() {
    let secret = "first \"line\" & ümlaut\n\tsecond 'line' /+=? it\nlast line";
    let redactor = redactor([secret]);
    let hidden = |text: &str| {
        let shown = redactor.apply(text).into_owned();
        let parts = ["first", "line", "mlaut", "second", "last", "bGFzdCB", "Zmlyc3"];
        assert!(!parts.iter().any(|part| shown.contains(part)), "{text} is shown as {shown}");
        shown
    };
    let json = serde_json::to_string(secret).unwrap();
    assert_eq!(hidden(&json), "\"***\"");
    assert_eq!(hidden(&format!("{secret:?}")), "\"***\"");
    #[cfg(unix)]
    assert_eq!(hidden(&crate::platform::shell_quoting::quoted(secret)), "'***'");
    assert_eq!(
        hidden("first%20%22line%22%20%26%20%C3%BCmlaut%0A%09second%20%27line%27%20%2F%2B%3D%3F%20it%0Alast%20line"),
        "***"
    );
    assert_eq!(hidden("first+%22line%22+%26+%c3%bcmlaut%0a%09second+%27line%27+%2f%2b%3d%3f+it%0alast+line"), "***");
    let diff: String = secret.lines().map(|line| format!("+{line}\n")).collect();
    assert_eq!(hidden(&diff), "+***\n+***\n+***\n");
    for around in ["", "u", "u:", "us:", "use:"] {
        hidden(&BASE64_STANDARD.encode(format!("{around}{secret}")));
        hidden(&BASE64_STANDARD.encode(format!("{around}{secret}\n{around}")));
    }
}

#[test]
fn a_short_line_of_a_secret_is_not_hidden_in_any_form() {
    let redactor = redactor(["first line\n\u{a0}é\nlast line"]);
    assert_eq!(
        redactor.apply("%C2%A0%C3%A9 \u{a0}é \\u00a0\\u00e9 first line"),
        "%C2%A0%C3%A9 \u{a0}é \\u00a0\\u00e9 ***"
    );
}

#[test]
fn a_secret_in_a_line_for_cmd_is_hidden() {
    let secret = "100% \"sure\" & %PATH%";
    let line = crate::platform::shell_quoting::quoted_for_cmd(secret);
    assert_eq!(redactor([secret]).apply(&line), "\"***\"");
}

#[test]
fn base64_in_lines_is_hidden() {
    let secret: String = (0..100).map(|number| char::from(b'!' + number % 90)).collect();
    let encoded = BASE64_STANDARD.encode(&secret);
    for width in [64, 76] {
        let lines: Vec<&str> =
            (0..encoded.len()).step_by(width).map(|at| &encoded[at..encoded.len().min(at + width)]).collect();
        let shown = Redactor::default().with_values([secret.clone()]).apply(&lines.join("\n")).into_owned();
        assert!(shown.strip_prefix("***").is_some_and(|rest| rest.len() < 5), "{shown}");
    }
}

#[test]
fn without_secrets_nothing_is_copied() {
    let text = "a secret";
    assert!(matches!(Redactor::default().apply(text), Cow::Borrowed(shown) if std::ptr::eq(shown, text)));
    assert!(matches!(redactor(["hidden"]).apply(text), Cow::Borrowed(shown) if std::ptr::eq(shown, text)));
    assert_eq!(Redactor::default().to_pretty_json(&text).unwrap(), "\"a secret\"");
}

#[test]
fn no_cut_goes_through_a_secret() {
    let redactor = redactor(["secret"]);
    assert_eq!((redactor.position_before("a secret", 5), redactor.position_after("a secret b", 5)), (2, 8));
    assert_eq!((redactor.position_before("a secret", 2), redactor.position_after("a secret", 8)), (2, 8));
    assert_eq!(redactor.length_without_broken_end(b"a secre"), 2);
    assert_eq!(redactor.length_without_broken_end(b"a secret"), 8);
    assert_eq!(Redactor::default().length_without_broken_end(b"a secre"), 7);
}

/// A name, and how one character is written.
type Encoder = (&'static str, fn(char) -> String);

/// The rules by which common programs write a text. Each escapes character by character, so that a part of a text is a part of
/// the written text.
const ENCODERS: [Encoder; 11] = [
    ("as it is", |character| character.to_string()),
    ("serde_json, JavaScript's JSON.stringify", json),
    ("Python's json.dumps", |character| {
        if character.is_ascii() && character != '\u{7f}' { json(character) } else { utf16(character) }
    }),
    ("Python's json.dumps with ensure_ascii=False", json),
    ("Go's encoding/json", |character| match character {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => utf16(character),
        _ => json(character),
    }),
    ("PHP's json_encode", |character| match character {
        '/' => "\\/".to_owned(),
        _ if character.is_ascii() => json(character),
        _ => utf16(character),
    }),
    ("Rust's Debug", |character| match character {
        '\'' => "'".to_owned(),
        _ => character.escape_debug().to_string(),
    }),
    ("a shell's single quotes", |character| if character == '\'' { "'\\''".to_owned() } else { character.to_string() }),
    ("Python's shlex.quote", |character| if character == '\'' { "'\"'\"'".to_owned() } else { character.to_string() }),
    ("percent-encoding", |character| percent(character, "-_.~", |byte| format!("%{byte:02X}"))),
    ("a form, with digits in lower case", |character| match character {
        ' ' => "+".to_owned(),
        _ => percent(character, "-_.*", |byte| format!("%{byte:02x}")),
    }),
];

fn json(character: char) -> String {
    match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\0'..' ' => utf16(character),
        _ => character.to_string(),
    }
}

fn utf16(character: char) -> String {
    character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn bytes(character: char, written: impl Fn(u8) -> String) -> String {
    character.encode_utf8(&mut [0; 4]).bytes().map(written).collect()
}

fn percent(character: char, kept: &str, written: impl Fn(u8) -> String) -> String {
    match character.is_ascii_alphanumeric() || kept.contains(character) {
        true => character.to_string(),
        false => bytes(character, written),
    }
}

/// A text by an encoder.
fn encoded(text: &str, (_, encoder): &Encoder) -> String {
    text.chars().map(encoder).collect()
}

/// Base64 of bytes.
fn base64(bytes: &[u8], is_url_safe: bool, is_padded: bool) -> String {
    let last = if is_url_safe { "-_" } else { "+/" };
    let digits = format!("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789{last}");
    let mut written = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        written.extend((0..=group.len()).map(|digit| char::from(digits.as_bytes()[(bits >> (18 - 6 * digit)) & 63])));
        written.extend(std::iter::repeat_n('=', if is_padded { 3 - group.len() } else { 0 }));
    }
    written
}

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
