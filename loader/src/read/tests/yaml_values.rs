//! YAML values and their spans.

use evalsuite_schema::json::{Value, json};

use super::{good, place, value, yaml};

#[track_caller]
fn reads_as(text: &str, expected: Value) {
    assert_eq!(good(text, yaml(text)).to_json(), expected, "{text:?}");
}

#[test]
fn pairs_of_surrogates_are_one_character_as_in_json() {
    let root = good("a pair", yaml("a: \"\\ud83d\\ude00\"\n"));
    assert_eq!(value(&root, "a").as_str(), Some("😀"));
}

#[test]
fn tabs_may_separate_what_spaces_may() {
    reads_as("a:\tb\nc: \td\n'e':\t\tf\n", json!({ "a": "b", "c": "d", "e": "f" }));
    reads_as("a: {b:\tc,\td: [e,\tf]}\n", json!({ "a": { "b": "c", "d": ["e", "f"] } }));
    reads_as("a:\tb c\t# comment\n", json!({ "a": "b c" }));
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    let large = |digits: &str| evalsuite_schema::json::from_str::<evalsuite_schema::Value>(digits).unwrap();
    for (text, expected) in [
        ("yes", json!("yes")),
        ("no", json!("no")),
        ("on", json!("on")),
        ("off", json!("off")),
        ("y", json!("y")),
        ("2024-05-01", json!("2024-05-01")),
        ("12:30:00", json!("12:30:00")),
        ("1_000", json!("1_000")),
        ("true", json!(true)),
        ("True", json!(true)),
        ("FALSE", json!(false)),
        ("tRUE", json!("tRUE")),
        ("null", Value::Null),
        ("~", Value::Null),
        ("NULL", Value::Null),
        ("nULL", json!("nULL")),
        ("0", json!(0)),
        ("-0", json!(-0.0)),
        ("+12", json!(12)),
        ("-12", json!(-12)),
        ("007", json!(7)),
        ("0x1F", json!(31)),
        ("0X1F", json!("0X1F")),
        ("-0x1F", json!("-0x1F")),
        ("0o17", json!(15)),
        ("0o8", json!("0o8")),
        ("0b1", json!("0b1")),
        ("0x", json!("0x")),
        ("9223372036854775807", json!(9_223_372_036_854_775_807_u64)),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ("18446744073709551616", large("18446744073709551616")),
        ("-9223372036854775809", large("-9223372036854775809")),
        ("0xFFFFFFFFFFFFFFFFF", large("295147905179352825855")),
        ("0x00010000000000000000", large("18446744073709551616")),
        ("0o2000000000000000000001", large("18446744073709551617")),
        ("0x0000000000000000000000", json!(0)),
        ("2.0", json!(2.0)),
        ("2.", json!(2.0)),
        (".5", json!(0.5)),
        ("-.5", json!(-0.5)),
        ("1e3", json!(1000.0)),
        ("1.5E-2", json!(0.015)),
        ("1e", json!("1e")),
        ("1e+", json!("1e+")),
        (".", json!(".")),
        ("..", json!("..")),
        ("...x", json!("...x")),
        ("1.2.3", json!("1.2.3")),
        ("-", json!([null])),
        ("--", json!("--")),
        ("+", json!("+")),
        ("1e400x", json!("1e400x")),
        ("1 2", json!("1 2")),
        ("'12'", json!("12")),
        ("\"true\"", json!("true")),
        ("''", json!("")),
        ("|\n  12\n", json!("12\n")),
    ] {
        reads_as(&format!("a: {}", if text == "-" { "\n  -" } else { text }), json!({ "a": expected }));
    }
}

#[test]
fn tags_of_the_core_schema_are_followed_and_others_leave_text() {
    for (text, expected) in [
        ("!!str 12", json!("12")),
        ("!!str", json!("")),
        ("! 12", json!("12")),
        ("!!int 12", json!(12)),
        ("!!int \"12\"", json!(12)),
        ("!!float 12", json!(12.0)),
        ("!!bool \"true\"", json!(true)),
        ("!!null ''", Value::Null),
        ("!<tag:yaml.org,2002:str> 12", json!("12")),
        ("!env HOME", json!("HOME")),
        ("!env 12", json!("12")),
        ("!set [1]", json!([1])),
        ("!!seq [1]", json!([1])),
        ("!!map {b: 1}", json!({ "b": 1 })),
    ] {
        reads_as(&format!("a: {text}"), json!({ "a": expected }));
    }
}

#[test]
fn keys_are_spelled_as_javascript_would() {
    reads_as(
        "1: a\n1.0e1: b\n1.5: c\ntrue: d\n~: e\n\"\": f\n0x10: g\n? h\n: i\n",
        json!({ "1": "a", "10": "b", "1.5": "c", "true": "d", "null": "e", "": "f", "16": "g", "h": "i" }),
    );
}

#[test]
fn documents_may_be_empty_marked_and_have_any_line_ends() {
    reads_as("", Value::Null);
    reads_as("# only a comment\n", Value::Null);
    reads_as("---\n", Value::Null);
    reads_as("%YAML 1.2\n---\na: 1\n...\n", json!({ "a": 1 }));
    reads_as("a: |\r\n  x\r\n  y\r\nb: 1\r\n", json!({ "a": "x\ny\n", "b": 1 }));
    reads_as("a: \"x\r\n  y\"\r\nb:\r\n- 1\r\n", json!({ "a": "x y", "b": [1] }));
}

#[test]
fn block_text_keeps_and_folds_lines() {
    reads_as(
        "a: |\n  x\n   y\n\n  z\nb: >-\n  x\n  y\n\n  z\nc: |+\n  x\n\nd: |2\n   x\n",
        json!({ "a": "x\n y\n\nz\n", "b": "x y\nz", "c": "x\n\n", "d": " x\n" }),
    );
}

#[test]
fn aliases_repeat_values_and_have_their_own_span() {
    let text = "base: &b {x: [1]}\nagain: *b\nlist: [*b]\n";
    let root = good(text, yaml(text));
    assert_eq!(root.to_json(), json!({ "base": { "x": [1] }, "again": { "x": [1] }, "list": [{ "x": [1] }] }));
    assert_eq!(place(&value(&root, "again").span), "2:8-2:10");
    assert_eq!(place(&value(&root, "again.x").span), "1:14-1:17", "what is inside is at the anchor");
    reads_as("a: &x 1\nb: &x 2\nc: *x\n", json!({ "a": 1, "b": 2, "c": 2 }));
    reads_as("&k a: 1\nb: {*k : 2}\n", json!({ "a": 1, "b": { "a": 2 } }));
}

#[test]
fn merge_keys_take_over_what_is_not_written() {
    reads_as(
        "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  y: 0\n  <<: [*a, *b]\nd: {<<: *a, x: 9}\n",
        json!({
            "a": { "x": 1, "y": 2 }, "b": { "y": 3, "z": 4 },
            "c": { "y": 0, "x": 1, "z": 4 }, "d": { "y": 2, "x": 9 },
        }),
    );
    reads_as(
        "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n",
        json!({
            "a": { "x": 1 }, "b": { "x": 1, "y": 2 }, "c": { "x": 1, "y": 2 },
        }),
    );
    reads_as("a: {'<<': 1}\nb: {\"<<\": {x: 1}}\n", json!({ "a": { "<<": 1 }, "b": { "<<": { "x": 1 } } }));
    reads_as("a: [<<, b]\n", json!({ "a": ["<<", "b"] }));
}

const PLACES: &str = r#"# comment
id: refund    # comment
"quoted key": 'it''s' # "comment"
flow: [a, "b\"" , {c: d}]  # comment
block: |
  first
  second

folded: !!str >-
    x
tagged: !!str 12
anchored: &x "y"
list:
- one
-   two
- - three
- k: v
  l:
  - m
nested:
    - a: 1
      b:
    -
empty:
größe: "日本" # wide
multi: one
  two
last: &y
  deep: *x
"#;

#[test]
fn values_start_at_their_first_character() {
    let root = good(PLACES, yaml(PLACES));
    for (path, expected) in [
        ("", "2:1-29:11"),
        ("id", "2:5-2:11"),
        ("quoted key", "3:15-3:22"),
        ("flow", "4:7-4:26"),
        ("flow.0", "4:8-4:9"),
        ("flow.1", "4:11-4:16"),
        ("flow.2", "4:19-4:25"),
        ("flow.2.c", "4:23-4:24"),
        ("block", "6:3-7:9"),
        ("folded", "9:9-10:6"),
        ("tagged", "11:9-11:17"),
        ("anchored", "12:14-12:17"),
        ("list", "14:1-19:6"),
        ("list.0", "14:3-14:6"),
        ("list.1", "15:5-15:8"),
        ("list.2", "16:3-16:10"),
        ("list.2.0", "16:5-16:10"),
        ("list.3", "17:3-19:6"),
        ("list.3.l", "19:3-19:6"),
        ("nested", "21:5-23:6"),
        ("nested.0", "21:7-22:8"),
        ("nested.0.a", "21:10-21:11"),
        ("nested.0.b", "22:8-22:8"),
        ("nested.1", "23:6-23:6"),
        ("empty", "24:6-24:6"),
        ("größe", "25:8-25:12"),
        ("multi", "26:8-27:6"),
        ("last", "29:3-29:11"),
        ("last.deep", "29:9-29:11"),
    ] {
        assert_eq!(place(&value(&root, path).span), expected, "{path}");
    }
    let keys: Vec<_> = root.as_mapping().expect("a mapping").iter().map(|entry| place(&entry.key_span)).collect();
    assert_eq!(keys[..3], ["2:1-2:3", "3:1-3:13", "4:1-4:5"]);
}
