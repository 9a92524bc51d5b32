//! YAML errors.

use super::{good, list, place, yaml};

/// Every text with its only problem.
#[test]
fn yaml_errors_are_explained_at_their_position() {
    for (text, expected) in [
        ("a: 1\nfoo\nb: 2\n", "2:1-2:4 E003 expected `key: value`, found text without a colon"),
        ("a: 1\n- foo", "2:1-2:2 E003 expected a key, found a list entry"),
        (
            "l:\n  - a: 1\n    foo bar # c\n\n# d\nb: 2",
            "3:5-3:16 E003 expected `key: value`, found text without a colon",
        ),
        ("a: b: c\n", "1:4-1:8 E003 text without quotes cannot contain `: `"),
        ("ä: 'ö' : c: d\n", "1:8-1:9 E003 unexpected `:`"),
        ("a: 1\n b: 2\n", "2:3-2:4 E003 unexpected `:`"),
        ("a:\n  b: 1\n c: 2\n", "3:2-3:3 E003 expected a key at the indentation of those above, found `c`"),
        ("a: |\n  foo\n bar\n", "3:2-3:3 E003 expected a key at the indentation of those above, found `b`"),
        ("a:\n  \tb: 1\n", "2:3-2:4 E003 tab in the indentation"),
        ("a:\n\t- b\n", "2:1-2:2 E003 tab in the indentation"),
        ("\ta: 1\n", "1:1-1:2 E003 tab in the indentation"),
        ("a:\tb: c\n", "1:5-1:6 E003 unexpected `:`"),
        ("a:\t- b\n", "1:4-1:5 E003 a list cannot start here"),
        ("a: [x, |\n  y]\n", "1:8-1:9 E003 a block of text is not allowed inside brackets"),
        ("é: -\t- b\n", "1:4-1:5 E003 a list cannot start here"),
        ("-\t- b\n", "1:2-1:3 E003 tab where a space is needed"),
        ("a: é\n\n\tx\n", "3:1-3:2 E003 tab in the indentation"),
        ("-\ta: 1\n", "1:2-1:3 E003 tab in the indentation"),
        ("a: 'x\nb: 2\n", "1:4-1:5 E003 the quotes that open here are not closed"),
        ("a: 'x\nb: 'y'\n", "1:4-1:5 E003 the quotes that open here are not closed"),
        ("a: 'x'\nb: # it's\n  - \"x\n    y\nc: \"z\"\n", "3:5-3:6 E003 the quotes that open here are not closed"),
        ("a: 'x\ny'\n", "1:4-1:5 E003 the quotes that open here are not closed"),
        ("a: 'x\n\ty'\n", "2:1-2:2 E003 tab in the indentation"),
        ("l:\n  t: [\n    a\n ]\n", "4:2-4:3 E003 the line is indented less than what it belongs to"),
        ("t: [\na\n]\n", "2:1-2:2 E003 the line is indented less than what it belongs to"),
        ("a: 1\nb: \"x", "2:4-2:5 E003 the quotes that open here are not closed"),
        ("a: [1, 2\nb: 3\n", "2:2-2:3 E003 unexpected `:` inside brackets"),
        ("a: {x: 1\nb: 3\n", "2:2-2:3 E003 expected `,` or `}`, found `:`"),
        ("a: {x: 1,\n  b: 3\n\n", "2:7-2:7 E003 expected `,` or `}`, found the end of the file"),
        ("a: [b}\n", "1:4-1:5 E003 `[` is closed by `}`"),
        ("a: ]\n", "1:4-1:5 E003 unexpected bracket, found `]`"),
        ("a: @foo\n", "1:4-1:8 E003 text cannot start with `@`"),
        ("a: `foo`\n", "1:4-1:9 E003 text cannot start with a backtick"),
        ("a: [@foo]\n", "1:5-1:6 E003 text cannot start with `@`"),
        ("// c\na: 1\n", "1:1-1:3 E003 `//` does not start a comment"),
        ("a: 1\n<!-- c -->\nb: 2\n", "2:1-2:5 E003 `<!--` does not start a comment"),
        ("a:\n  – b: 1\n    c: 2\n", "2:3-2:4 E003 `–` does not start the entry of a list"),
        ("a:\n  * b: 1\n", "2:3-2:4 E003 `*` does not start the entry of a list"),
        ("a: \"b”\nc: 1\n", "1:6-1:7 E003 `”` does not close the quotes that `\"` opens"),
        ("input:hi\n", "1:1-1:7 E003 no space after the `:` of `input`"),
        ("- a\nb: 1\n", "2:1-2:2 E003 expected the `-` of a list entry, found `b`"),
        ("a: - b\n", "1:4-1:5 E003 a list cannot start here"),
        ("a: *x\n", "1:4-1:6 E003 unknown alias `*x`"),
        ("a: [*äö, 1]\n", "1:5-1:8 E003 unknown alias `*äö`"),
        ("a: &x [*x]\n", "1:8-1:10 E003 the alias is inside the value it refers to"),
        ("a: &x\n  b: *x\n", "2:6-2:8 E003 the alias is inside the value it refers to"),
        ("a: \"é\\q\"\n", "1:6-1:8 E003 invalid escape `\\q`"),
        ("a: \"\\x41\\x4g\"\n", "1:9-1:12 E003 invalid escape `\\x4`"),
        ("a: \"\\ud83d\\ude00 \\q\"\n", "1:18-1:20 E003 invalid escape `\\q`"),
        ("a: \"\\ud83d\\u0041\"\n", "1:5-1:11 E003 invalid escape `\\ud83d`"),
        ("a: \"\\ud83d\"\n", "1:5-1:11 E003 invalid escape `\\ud83d`"),
        ("a: &b \"c\n  \\\\ \\! \"\n", "2:6-2:8 E003 invalid escape `\\!`"),
        ("a: 'it's'\n", "1:8-1:10 E003 unexpected text after the quotes"),
        ("a: |x\n  foo\n", "1:4-1:5 E003 unexpected text after the `|` or `>` of a block of text"),
        ("? [a]\n: b\n", "1:3-1:4 E003 a list or a mapping cannot be a key"),
        ("a: {{ x }}\n", "1:5-1:6 E003 a list or a mapping cannot be a key"),
        ("[a, b]: c\n", "1:1-1:2 E003 a list or a mapping cannot be a key"),
        ("a: &x [1]\nb: {*x : 1}\n", "2:5-2:7 E003 a list or a mapping cannot be a key"),
        ("a: !!int x\n", "1:4-1:11 E003 the tag says an integer, the value is something else"),
        ("a: !!int 1.5\n", "1:4-1:13 E003 the tag says an integer, the value is something else"),
        ("a: !!bool yes\n", "1:4-1:14 E003 the tag says a boolean, the value is something else"),
        ("a: !!binary abc\n", "1:4-1:16 E003 the tag `!!binary` does not fit here"),
        ("a: !!map [1]\n", "1:10-1:11 E003 the tag `!!map` does not fit here"),
        ("%FOO\na: 1\n", "2:1-2:2 E003 expected `---` after the directives"),
        ("{\"a\": 1}\n{\"b\": 2}\n", "2:1-2:2 E003 unexpected text after the value"),
        ("[a] b\n", "1:5-1:6 E003 unexpected text after the value"),
        ("a: 1 # c\n b\n", "1:6-1:7 E003 a comment inside text of several lines"),
        ("a: x\u{1b}y\n", "1:5-1:6 E003 character U+001B is not allowed in YAML"),
        ("a: 日\0\n", "1:5-1:6 E003 character U+0000 is not allowed in YAML"),
        ("a: \u{85}\u{9f}\n", "1:5-1:6 E003 character U+009F is not allowed in YAML"),
        ("a: \u{feff}x\n", "1:4-1:5 E003 a byte order mark inside the text"),
        ("a: 1\n---\nb: 2\n", "2:1-2:4 E006 second YAML document"),
        ("a: .inf\n", "1:4-1:8 E020 the number is not finite"),
        ("a: -1e999\n", "1:4-1:10 E020 the number is not finite"),
        ("a: .NaN\n", "1:4-1:8 E020 the number is not finite"),
        ("a: {<<: x}\n", "1:9-1:10 E009 `<<` needs a mapping, found text"),
        ("<<:\n", "1:3-1:3 E009 `<<` needs a mapping, found nothing"),
        ("<<: [{b: 1}, [2]]\n", "1:14-1:17 E009 `<<` needs a mapping, found a list"),
    ] {
        let (_, problems) = yaml(text);
        assert_eq!(list(&problems), [expected], "{text:?}");
        assert!(problems[0].help.is_some(), "{text:?}: there is something to do about it");
    }
}

#[test]
fn one_pair_of_quotes_around_a_text_is_a_warning() {
    for (text, expected) in [
        ("a: “Hello”\n", vec!["1:4-1:11 W026 the quotes `“` and `”` are part of the text"]),
        ("- ‘it’s’\n", vec!["1:3-1:9 W026 the quotes `‘` and `’` are part of the text"]),
        (
            "[„x“, ”y”]\n",
            vec![
                "1:2-1:5 W026 the quotes `„` and `“` are part of the text",
                "1:7-1:10 W026 the quotes `”` and `”` are part of the text",
            ],
        ),
        ("a: “Yes,” she said, “of course”\n", vec![]),
        ("a: “Hello” she said\n", vec![]),
        ("a: '“Hello”'\n", vec![]),
        ("a: |\n  “Hello”\n", vec![]),
        ("a: “”\n", vec![]),
        ("“a”: 1\n", vec![]),
    ] {
        assert_eq!(list(&yaml(text).1), expected, "{text:?}");
    }
}

#[test]
fn a_key_without_a_space_after_its_colon_is_reported_in_its_line() {
    for (text, expected, help) in [
        ("input:hi\na: 1\n", "1:1-1:7 E003 no space after the `:` of `input`", "write `input: hi`"),
        ("a: 1\ninput:hi\n", "2:1-2:7 E003 no space after the `:` of `input`", "write `input: hi`"),
        ("a: 1\ninput:hi\n\n# c\nb: 2\n", "2:1-2:7 E003 no space after the `:` of `input`", "write `input: hi`"),
        ("l:\n  - id:x\n    a: 1\n", "2:5-2:8 E003 no space after the `:` of `id`", "write `id: x`"),
        ("input:hi\nbb:2\nc: 3\n", "1:1-1:7 E003 no space after the `:` of `input`", "write `input: hi`"),
    ] {
        let (_, problems) = yaml(text);
        assert_eq!(list(&problems), [expected], "{text:?}");
        assert_eq!(problems[0].help.as_deref(), Some(help), "{text:?}");
        assert!(problems[0].fix.is_some(), "{text:?}");
    }
    for text in ["http://x\na: 1\n", "a: 1\nC:\\x\n", "12:30\na: 1\n"] {
        assert!(!list(&yaml(text).1)[0].contains("no space"), "{text:?}");
    }
}

#[test]
fn repeated_keys_name_the_first_and_leave_the_rest_to_be_checked() {
    let (root, problems) = yaml("a: 1\nb: {c: 1, 'c': 2}\na: 3\n\"a\": 4\n");
    assert_eq!(
        list(&problems),
        ["2:11-2:14 E005 key `c` given twice", "3:1-3:2 E005 key `a` given twice", "4:1-4:4 E005 key `a` given twice",]
    );
    let first: Vec<_> = problems.iter().map(|problem| place(&problem.related[0].place)).collect();
    assert_eq!(first, ["2:5-2:6", "1:1-1:2", "1:1-1:2"]);
    assert_eq!(root.expect("the rest").to_json(), evalsuite_schema::json::json!({ "a": 1, "b": { "c": 1 } }));
}

#[test]
fn repeated_keys_of_large_mappings_are_found_too() {
    let mut text: String = (0..100).map(|index| format!("k{index}: {index}\n")).collect();
    text.push_str("k7: x\nz: 1\nk3: y\nk7: z\n");
    let (root, problems) = yaml(&text);
    assert_eq!(
        list(&problems),
        [
            "101:1-101:3 E005 key `k7` given twice",
            "103:1-103:3 E005 key `k3` given twice",
            "104:1-104:3 E005 key `k7` given twice",
        ]
    );
    assert!(problems.iter().all(|problem| matches!(place(&problem.related[0].place).as_str(), "8:1-8:3" | "4:1-4:3")));
    let root = root.expect("the rest").to_json();
    assert_eq!((&root["k7"], &root["k3"], &root["z"]), (&7.into(), &3.into(), &1.into()));
}

#[test]
fn one_mistake_hides_no_other() {
    let (root, problems) = yaml("a: {x: 1, x: 2}\nb: {<<: 3, y: 1}\nc: 1\nc: 2\n");
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert_eq!(
        root.expect("the rest").to_json(),
        evalsuite_schema::json::json!({ "a": { "x": 1 }, "b": { "y": 1 }, "c": 1 })
    );
    let (root, problems) = yaml("a: .inf\nb: {x: 1, x: 2}\n");
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(root, None, "no tree holds an infinity");
    let (root, problems) = yaml("a: 1\n---\nb: 2\n");
    assert_eq!(
        (root.expect("the first document").to_json(), problems.len()),
        (evalsuite_schema::json::json!({ "a": 1 }), 1)
    );
}

#[test]
fn open_brackets_are_named() {
    let (_, problems) = yaml("a: 1\nb:\n  c: [1, {d: 2\n");
    assert_eq!(place(&problems[0].related[0].place), "3:10-3:11");
}

#[test]
fn a_text_with_problems_in_comments_and_quotes_is_fine() {
    good("", yaml("a: '\u{e000}' # \"[{\n"));
}
