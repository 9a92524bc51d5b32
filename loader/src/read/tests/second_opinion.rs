//! Other readers see the same data: `yaml_serde` in YAML, `serde_json` in JSON.

use evalsuite_schema::json::{Number, Object, Value};
use proptest::prelude::*;

use super::{json, list, yaml};
use crate::read::yaml::scalar;

/// What `yaml_serde` reads, as JSON; `None` where it reads nothing, or what JSON cannot hold.
fn other(text: &str) -> Option<Value> {
    let mut value: serde_yaml::Value = serde_yaml::from_str(text).ok()?;
    value.apply_merge().ok()?;
    as_json(&value)
}

fn as_json(value: &serde_yaml::Value) -> Option<Value> {
    Some(match value {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(value) => Value::Bool(*value),
        serde_yaml::Value::Number(value) => Value::Number(as_number(value)?),
        serde_yaml::Value::String(value) => Value::String(value.clone()),
        serde_yaml::Value::Sequence(items) => Value::Array(items.iter().map(as_json).collect::<Option<_>>()?),
        serde_yaml::Value::Mapping(entries) => {
            let mut map = Object::new();
            for (key, value) in entries {
                let key = match as_json(key)? {
                    Value::String(key) => key,
                    Value::Number(key) => scalar::as_key(&key),
                    key @ (Value::Null | Value::Bool(_)) => key.to_string(),
                    Value::Array(_) | Value::Object(_) => return None,
                };
                map.insert(key, as_json(value)?);
            }
            Value::Object(map)
        }
        // A scalar with a tag of its own is text for us, and whatever it looks like for `yaml_serde`.
        serde_yaml::Value::Tagged(_) => return None,
    })
}

fn as_number(value: &serde_yaml::Number) -> Option<Number> {
    match (value.as_u64(), value.as_i64()) {
        (Some(value), _) => Some(value.into()),
        (_, Some(value)) => Some(value.into()),
        _ => Number::from_f64(value.as_f64()?),
    }
}

/// Fails if we read the text and `yaml_serde` reads something else.
#[track_caller]
fn agree(text: &str) {
    let (node, problems) = yaml(text);
    let ours = node.filter(|_| problems.is_empty()).map(|node| node.to_json());
    if ours.is_some() {
        assert_eq!(ours, other(text), "{text}");
    }
}

#[test]
fn yaml_of_every_kind_is_the_same_data() {
    for text in [
        "",
        "# nothing\n",
        "a: 1\nb: [x, 'y', \"z\"]\nc: {d: ~, e: true}\n",
        "a: &x {k: [1, 2]}\nb: *x\nc:\n  <<: *x\n  l: 3\nd:\n  <<: [*x, {k: 9, m: 1}]\n",
        "- &a a\n- *a\n- &b\n  - *a\n- *b\n",
        "a: |\n  one\n   two\n\n  three\n\n\nb: |-\n  x\nc: |+\n  y\n\nd: >\n  f\n  g\n\n  h\n    i\n  j\ne: >-\n  k\n",
        "a: |2\n    x\n   y\nb: >1-\n  z\n",
        "a: \"one\n  two\\\n  three\n\n  four\"\nb: 'five\n\n\n  six'\nc: seven\n  eight\n\n  nine\n",
        "größe: \"\\u00e9 \\x41 \\U0001F600 \\t\\n\\\\\"\n日本: 語\n😀: '😀'\n",
        "a: 1\r\nb:\r\n- x\r\n-   y\r\nc: |\r\n  l1\r\n  l2\r\nd: \"m\r\n  n\"\r\n",
        "---\na: 1\n...\n",
        "%YAML 1.2\n---\na: 1\n",
        "? a\n: b\n? c\n",
        "a:\n- b\n- - c\n  - d\n-\n  e: f\n- g: h\n  i:\n  - j\n",
        "{a: [b, {c: d}, e: f], \"g\":1, h: , 'i':[]}\n",
        "{\"a\": [1, 2.5, -3e2, null, true, \"x\\/y\"]}\n",
        "a: 1 # c\n#d\nb: 'x # y' # z\nc: x#y\n",
        "1: a\n2.5: b\ntrue: c\nnull: d\n",
        "a: yes\nb: no\nc: on\nd: 2024-01-02\ne: 1:30\nf: 1_000\ng: 0x1f\nh: 0o17\ni: +5\nj: -5\nk: 1e3\nl: .5\nm: 5.\n",
        "a: !!str 12\nb: !!int \"12\"\nc: !!float 3\nd: !!null ~\ne: !!bool \"true\"\n",
        "a: http://x.y/z?q=1&r=2\nb: x:y\nc: -x\nd: a, b\ne: '[x]'\nf: x]y\ng: ?x\nh: :x\n",
        "a:   \n  \n  b:   c   \n\n\n",
        "a: \"\"\nb: ''\nc:\nd: ~\n",
        "-1: a\n\"- 1\": c\n",
        "a: 9223372036854775807\nb: 18446744073709551615\nc: -9223372036854775808\n",
    ] {
        agree(text);
        let (node, problems) = yaml(text);
        assert_eq!(list(&problems), [""; 0], "{text}");
        assert!(node.is_some(), "{text}");
    }
}

/// Where the two differ, and why.
#[test]
fn known_differences_from_yaml_serde() {
    for (text, ours, theirs) in [
        // The core schema knows decimal integers with leading zeros; for `yaml_serde` they are text.
        ("007", Some("7"), Some("\"007\"")),
        // It knows no signs before other bases, and no base two.
        ("-0x1F", Some("\"-0x1F\""), Some("-31")),
        ("0b11", Some("\"0b11\""), Some("3")),
        // Beyond 64 bits, `yaml_serde` has integers of 128 bits or fails.
        ("18446744073709551616", Some("18446744073709551616"), None),
        // A block of text at the end of the file ends its last line as well, as in JavaScript.
        ("a: |\n  x", Some("{\"a\":\"x\\n\"}"), Some("{\"a\":\"x\"}")),
        // In quotes it is not the merge key.
        ("{\"<<\": {a: 1}}", Some("{\"<<\":{\"a\":1}}"), Some("{\"a\":1}")),
        // A tag of its own makes a scalar text.
        ("!env 12", Some("\"12\""), None),
        // Nothing is null, also in quotes, if the tag says so.
        ("!!null ''", Some("null"), None),
        // Numbers are finite.
        (".inf", None, None),
    ] {
        let (node, _) = yaml(text);
        let read = |value: Option<Value>| value.map(|value| value.to_string());
        assert_eq!(read(node.map(|node| node.to_json())).as_deref(), ours, "{text}");
        assert_eq!(read(other(text)).as_deref(), theirs, "{text}");
    }
}

fn data() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z]{0,8}",
        "[ -~]{0,20}",
        "[a-zA-Z0-9:#,&*!|>'\"%@`{}\\[\\]. \n\t-]{0,30}",
        "\\PC{0,12}",
        "([ -~]{0,10}\n){0,4}",
        Just("true".to_owned()),
        Just("12".to_owned()),
        Just("~".to_owned()),
    ];
    // YAML 1.1, which `yaml_serde` writes, breaks lines at these; in 1.2 they are characters like others.
    // And it writes the merge key without quotes where it is meant as text.
    let text = text.prop_map(|text| text.replace(['\u{85}', '\u{2028}', '\u{2029}'], "").replace("<<", ""));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |value| Number::from_f64(value).map(Value::Number)),
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((text.clone(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Texts that look like YAML, most of them wrong.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        "[a-c]: ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "[a-c]",
        "[0-9.e+x-]{1,4}",
        "'",
        "\"",
        "\\[",
        "\\]",
        "\\{",
        "\\}",
        ", ",
        "# c",
        "&[ab] ",
        "\\*[ab] ",
        "\\|\n",
        ">-\n",
        "<<: ",
        "\\? ",
        "!!str ",
        "~",
        "true",
        "\t",
        " ",
        "---\n",
        "é",
        "\\\\n",
        ":",
    ];
    prop::collection::vec(scrap, 0..24).prop_map(|scraps| scraps.concat())
}

/// Texts that look like JSON, most of them wrong.
fn json_scraps() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        "\"[a-c]\": ",
        "\"[a-c]\"",
        "\\[",
        "\\]",
        "\\{",
        "\\}",
        ", ",
        "[-+]?[0-9]{1,2}(\\.[0-9]?)?([eE][-+]?[0-9]?)?",
        "true",
        "null",
        "\"\\\\u[d0][89ce][0-9a-f]{2}(\\\\u[d0][89ce][0-9a-f]{2})?\"",
        "\"\\\\[a-z/\"]\"",
        "\n",
        "\t",
        "\u{1}",
        "é",
        "'",
        "\"é\"",
        "//",
    ];
    prop::collection::vec(scrap, 0..10).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_yaml_is_read_as_it_was(value in data()) {
        let text = serde_yaml::to_string(&value).expect("every JSON value is written");
        let (node, problems) = yaml(&text);
        prop_assert_eq!(list(&problems), [""; 0], "{}", text);
        let read = node.expect("a tree").to_json();
        prop_assert_eq!(read, value, "{}", text);
    }

    #[test]
    fn written_json_is_read_as_it_was(value in data()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).expect("every value is written")] {
            let (node, problems) = json(&text);
            prop_assert_eq!(list(&problems), [""; 0], "{}", text);
            let read = node.expect("a tree").to_json();
            prop_assert_eq!(&read, &value, "{}", text);
        }
    }

    #[test]
    fn json_is_what_serde_json_takes_for_it(text in json_scraps()) {
        let (node, problems) = json(&text);
        let strict = evalsuite_schema::json::from_str::<Value>(&text);
        // Repeated keys are for `serde_json` to overwrite.
        if problems.iter().all(|problem| problem.code.as_str() != "E005") {
            prop_assert_eq!(node.map(|node| node.to_json()), strict.ok(), "{} {:?}", text, problems);
        } else {
            prop_assert!(problems.len() > 1 || strict.is_ok(), "{}", text);
        }
    }

    #[test]
    fn scraps_of_yaml_end_in_data_or_in_a_problem(text in scraps()) {
        let (node, problems) = yaml(&text);
        prop_assert!(node.is_some() || !problems.is_empty(), "{}", text);
        for problem in &problems {
            let (start, end) = problem.place.and_then(|span| span.range).expect("problems in a text have a range");
            prop_assert!(start <= end && start.line as usize <= text.lines().count() + 1, "{} {:?}", text, problem);
        }
    }
}
