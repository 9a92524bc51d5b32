//! Patterns and texts, matched by `node` and here.

use std::io::Write as _;
use std::process::{Command, Stdio};

use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, json};

use super::*;

const PATTERNS: &[&str] = &[
    r"answer.*\d+$",
    r"^\w+$",
    r"\bok\b",
    r"\Bk",
    r"^\s*$",
    r"\S",
    r"[\s,]+",
    r"[^\s]",
    r"^.$",
    r"a.b",
    r"^.*$",
    r"^[^x]+$",
    r"(?i)FOO",
    r"(?P<a>x)",
    r"(?>a)",
    r"a++",
    r"a**",
    r"*a",
    r"(a",
    r"a)",
    r"[a",
    r"[b-a]",
    r"a{2,1}",
    r"\",
    r"^*",
    r"\b+",
    r"(?=a)*b",
    r"(?<=a)*b",
    r"a{,2}",
    r"a{",
    r"{",
    r"}",
    r"]",
    r"a{2}",
    r"a{1,}b",
    r"a{x}",
    r"{2}",
    r"x|",
    r"|",
    r"[]",
    r"[^]",
    r"[]a]",
    r"[a&&b]",
    r"[a--b]",
    r"[[a]",
    r"[\w-z]",
    r"[a-\d]",
    r"[\b]",
    r"[\B]",
    r"[-a]",
    r"[a-]",
    r"[a^]",
    r"\p{L}",
    r"\u0041",
    r"\u{41}",
    r"\x41",
    r"\x4",
    r"\u004",
    r"\0",
    r"\101",
    r"\8",
    r"\a\e\z\A\Z",
    r"\-\/\#\&",
    r"(a)\1",
    r"\1(a)",
    r"(a)|b\1",
    r"(?<n>a)\k<n>",
    r"\k<n>",
    r"(?<1>a)",
    r"(?<n>a)",
    r"(?i:FOO)",
    r"(?<=\$)\d+",
    r"(?<!\d)\.",
    r"(?<=a+)b",
    "😀+",
    "[😀]",
    r"a😀b",
    r"^a?$",
    r"^(?:yes|no)[.!]?$",
    r"^\[\d{4}-\d{2}\]",
    "a b # c",
    "é",
    r"\cA",
    r"[\d.]+",
];

const TEXTS: &[&str] = &[
    "",
    "answer 42",
    "answer ٤٢",
    "ok",
    "öok",
    "größe",
    "\u{85}",
    "\u{feff}",
    "\u{a0}",
    "a\nb",
    "a\rb",
    "a\u{2028}b",
    "FOO",
    "foo",
    "(?i)FOO",
    "a",
    "aa",
    "aab",
    "b",
    "ab",
    "a{,2}",
    "a{",
    "{",
    "}",
    "]",
    "[",
    "&",
    "-",
    "^",
    "\u{8}",
    "B",
    "p{L}",
    "é",
    "A",
    "uuuu",
    "x4",
    "u004",
    "\0",
    "8",
    "aezAZ",
    "-/#&",
    "$5",
    "3.5",
    ".",
    "yes!",
    "no",
    "yes sir",
    "[2026-11]",
    "a b # c",
    "\u{1}",
    "k<n>",
    "a😀b",
    "z",
    "x",
    "a-",
    "1.5",
    ",",
    " ",
    "aeZ",
];

#[needs(node)]
#[test]
fn a_pattern_matches_what_it_matches_in_javascript() {
    let script = "const { patterns, texts } = JSON.parse(require('fs').readFileSync(0, 'utf8'));\
                  const of = (p) => { try { const r = new RegExp(p); return texts.map((t) => r.test(t)); } catch { return null; } };\
                  console.log(JSON.stringify(patterns.map(of)));";
    let mut node =
        Command::new("node").args(["-e", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let given = json!({"patterns": PATTERNS, "texts": TEXTS}).to_string();
    node.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    let expected: Value = evalsuite_schema::json::from_str(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
    let mut only_javascript = Vec::new();
    for (pattern, expected) in PATTERNS.iter().zip(expected.as_array().unwrap()) {
        match translate(pattern, "") {
            Err(Refused::Invalid(_)) => assert!(expected.is_null(), "JavaScript accepts {pattern}"),
            Err(Refused::Other) => only_javascript.push(*pattern),
            Ok(Translated { text, counts }) => {
                let regex = fancy_regex::Regex::new(&text).unwrap();
                assert!(!expected.is_null(), "JavaScript refuses {pattern}, which is {text}");
                for (answer, expected) in TEXTS.iter().zip(expected.as_array().unwrap()) {
                    if counts && answer.chars().any(|character| character as u32 > 0xFFFF) {
                        continue;
                    }
                    let found = regex.is_match(answer).unwrap();
                    assert_eq!(json!(found), *expected, "{pattern}, as {text}, in {answer:?}");
                }
            }
        }
    }
    assert_eq!(
        only_javascript,
        [r"(?=a)*b", r"(a)\1", r"\1(a)", r"(a)|b\1", r"(?<n>a)\k<n>", r"(?i:FOO)", "[😀]", r"\cA"]
    );
}

#[test]
fn patterns_stay_readable() {
    for (pattern, expected) in [
        (r"^Total: \d+$", r"^Total: [0-9]+$"),
        (r"\bok\b", r"(?<![A-Za-z0-9_])ok(?![A-Za-z0-9_])"),
        ("a/b-c", r"a/b\-c"),
        (r"(?<year>\d{4})", r"([0-9]{4})"),
        ("a{b}", r"a\{b\}"),
    ] {
        assert_eq!(translate(pattern, ""), Ok(Translated { text: expected.to_owned(), counts: false }));
    }
}

#[test]
fn patterns_that_may_see_halves_of_characters_are_known() {
    for (pattern, counted) in [
        ("^.{1,5}$", true),
        ("a.b", true),
        ("^.*$", false),
        ("[^a]+", false),
        (r"\W", true),
        ("😀+", true),
        ("a?", false),
    ] {
        assert!(
            matches!(translate(pattern, ""), Ok(Translated { counts, .. }) if counts == counted),
            "{pattern}: {:?}",
            translate(pattern, "")
        );
    }
}
