//! JSON values and errors.

use evalsuite_schema::json::json;

use super::{good, json, list, place, value};
use crate::diagnostic::Diagnostics;

#[test]
fn values_start_at_their_first_character() {
    let text = "{\n  \"größe\": [1, \"日本\", {\"a\": null}],\r\n\t\"b\" : -1.5e3\n}\n";
    let root = good(text, json(text));
    assert_eq!(root.to_json(), json!({ "größe": [1, "日本", { "a": null }], "b": -1500.0 }));
    for (path, expected) in [
        ("", "1:1-4:2"),
        ("größe", "2:12-2:34"),
        ("größe.0", "2:13-2:14"),
        ("größe.1", "2:16-2:20"),
        ("größe.2", "2:22-2:33"),
        ("größe.2.a", "2:28-2:32"),
        ("b", "3:8-3:14"),
    ] {
        assert_eq!(place(&value(&root, path).span), expected, "{path}");
    }
    let keys: Vec<_> = root.as_mapping().expect("an object").iter().map(|entry| place(&entry.key_span)).collect();
    assert_eq!(keys, ["2:3-2:10", "3:2-3:5"]);
}

#[test]
fn numbers_and_escapes_are_read_as_javascript_does_but_for_all_digits_of_integers() {
    let large = |digits: &str| evalsuite_schema::json::from_str::<evalsuite_schema::Value>(digits).unwrap();
    let text = r#"[0, -0, 2.0, 18446744073709551615, 18446744073709551616, -9223372036854775809, 1E+2, 0.1e-1,
        "\"\\\/\b\f\n\r\t", "\u00e9\ud83d\ude00x\u0000", true, false, ""]"#;
    assert_eq!(
        good(text, json(text)).to_json(),
        json!([
            0,
            -0.0,
            2.0,
            18_446_744_073_709_551_615_u64,
            large("18446744073709551616"),
            large("-9223372036854775809"),
            100.0,
            0.01,
            "\"\\/\u{8}\u{c}\n\r\t",
            "é😀x\0",
            true,
            false,
            ""
        ])
    );
}

/// Every text with its only problem.
#[test]
fn json_errors_are_explained_at_their_position() {
    for (text, expected) in [
        ("", "1:1-1:1 E004 there is no JSON value"),
        ("{\"a\": 1,\n}", "2:1-2:2 E004 trailing comma before `}`"),
        ("[1, ]", "1:5-1:6 E004 trailing comma before `]`"),
        ("[1, , 2]", "1:5-1:6 E004 expected a value, found `,`"),
        ("[,]", "1:2-1:3 E004 expected a value, found `,`"),
        ("{\"a\": }", "1:7-1:8 E004 expected a value, found `}`"),
        ("{,}", "1:2-1:3 E004 expected a key, found `,`"),
        ("// c\n{}", "1:1-1:2 E004 comments are not allowed"),
        ("{} # c", "1:4-1:5 E004 comments are not allowed"),
        ("{\"a\": 1 /* c */}", "1:9-1:10 E004 comments are not allowed"),
        ("{/* c */\"a\": 1}", "1:2-1:3 E004 comments are not allowed"),
        ("{\"a\": 'x'}", "1:7-1:8 E004 text needs double quotes"),
        ("{'a': 1}", "1:2-1:3 E004 keys need double quotes"),
        ("{abc: 1}", "1:2-1:5 E004 the key `abc` needs double quotes"),
        ("{\"é\": NaN}", "1:7-1:10 E004 unknown word `NaN`"),
        ("[True]", "1:2-1:6 E004 unknown word `True`"),
        ("[nullx]", "1:2-1:7 E004 unknown word `nullx`"),
        ("[1 2]", "1:4-1:5 E004 expected `,` or `]`, found `2`"),
        ("{\"a\": 1 \"b\": 2}", "1:9-1:10 E004 expected `,` or `}`, found `\"`"),
        ("{\"a\" 1}", "1:6-1:7 E004 expected `:` after the key `a`, found `1`"),
        ("{\"a\": [1}", "1:9-1:10 E004 expected `,` or `]`, found `}`"),
        ("{\"a\": {\n", "2:1-2:1 E004 the text ends inside an object"),
        ("[1,", "1:4-1:4 E004 the text ends inside a list"),
        ("{} {}", "1:4-1:5 E004 unexpected text after the JSON value"),
        ("[01]", "1:2-1:4 E004 `01`: numbers have no leading zeros"),
        ("[-]", "1:2-1:3 E004 `-`: a digit is missing after `-`"),
        ("[1.]", "1:2-1:4 E004 `1.`: a digit is missing after the decimal point"),
        ("[1.x]", "1:2-1:5 E004 `1.x`: a digit is missing after the decimal point"),
        ("[1e+]", "1:2-1:5 E004 `1e+`: a digit is missing in the exponent"),
        ("[0x1F]", "1:2-1:6 E004 `0x1F`: not a number as JSON writes it"),
        ("[+1]", "1:2-1:4 E004 not a number as JSON writes it"),
        ("[.5]", "1:2-1:4 E004 not a number as JSON writes it"),
        ("[1e999]", "1:2-1:7 E004 `1e999`: the number is too large"),
        ("{\"a\": \"x\n\"}", "1:7-1:9 E004 line break inside a string"),
        ("{\"a\": \"x", "1:7-1:9 E004 the text ends inside a string"),
        ("[\"ä\t\"]", "1:4-1:5 E004 control character U+0009 inside a string"),
        ("[\"\0\"]", "1:3-1:4 E004 control character U+0000 inside a string"),
        ("[\"\\x\"]", "1:3-1:5 E004 unknown escape `\\x`"),
        ("[\"\\", "1:2-1:4 E004 the text ends inside a string"),
        ("[\"\\u12g4\"]", "1:3-1:7 E004 `\\u` needs four hexadecimal digits"),
        ("[\"\\ud83d\"]", "1:3-1:9 E004 half of a surrogate pair"),
        ("[\"\\ude00\"]", "1:3-1:9 E004 half of a surrogate pair"),
        ("[\"\\ud83d\\u0041\"]", "1:3-1:15 E004 half of a surrogate pair"),
        ("\u{a0}{}", "1:1-1:2 E004 expected a value, found `\\u{a0}`"),
        ("{\"a\": 1, \"b\": 2, \"\\u0061\": 3}", "1:18-1:26 E005 key `a` given twice"),
    ] {
        let (_, problems) = json(text);
        assert_eq!(list(&problems), [expected], "{text:?}");
        assert!(problems[0].help.is_some(), "{text:?}: there is something to do about it");
    }
}

#[test]
fn every_line_of_json_lines_is_read_by_itself() {
    let text = "{\"a\": 1}\r\n\r\n  \n{\"a\": }\n[1]\n\t{\"b\": \"ä\", \"b\": 2}\n{\"c\":\n{\"d\": 4}";
    let mut diagnostics = Diagnostics::new();
    let values = crate::read::parse_jsonl(super::file(), text, &mut diagnostics);
    let shown: Vec<_> = values.iter().map(|node| (node.to_json(), place(&node.span))).collect();
    assert_eq!(
        shown,
        [
            (json!({ "a": 1 }), "1:1-1:9".to_owned()),
            (json!([1]), "5:1-5:4".to_owned()),
            (json!({ "b": "ä" }), "6:2-6:20".to_owned()),
            (json!({ "d": 4 }), "8:1-8:9".to_owned()),
        ]
    );
    let problems: Vec<_> = diagnostics.into_iter().collect();
    assert_eq!(
        list(&problems),
        [
            "4:7-4:8 E004 expected a value, found `}`",
            "6:13-6:16 E005 key `b` given twice",
            "7:6-7:6 E004 the text ends inside an object",
        ]
    );
}
