//! Tests of reading, writing and comparing JSON.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Object, Reader, Value, from_slice, from_str, from_value, json, to_string, to_value, written_by_serde};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, i8),
    Box { width: u32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    Float { of: f64 },
    Free(Object),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Newtype(String);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    shapes: Vec<Shape>,
    tagged: Vec<Tagged>,
    by_number: BTreeMap<i32, Option<bool>>,
    by_name: BTreeMap<String, Newtype>,
    letter: char,
    unit: (),
    tuple: (u8, f32),
    #[serde(default)]
    missing: Option<Value>,
}

written_by_serde!(Everything);

#[test]
fn decodes_what_the_writer_writes() {
    let everything = Everything {
        shapes: vec![Shape::Point, Shape::Circle(0.1 + 0.2), Shape::Line(-1, 127), Shape::Box { width: 3 }],
        tagged: vec![Tagged::Float { of: 1e300 }, Tagged::Free(Object::from([("z", 1), ("a", 2)]))],
        by_number: BTreeMap::from([(-3, None), (4, Some(true))]),
        by_name: BTreeMap::from([("a \"b\"\n".to_owned(), Newtype("ü\u{1F600}\u{1}".to_owned()))]),
        letter: 'ß',
        unit: (),
        tuple: (7, 0.1),
        missing: None,
    };
    let json = to_string(&everything).unwrap();
    assert_eq!(from_value::<Everything>(from_str::<Value>(&json).unwrap()).unwrap(), everything, "{json}");
    assert_eq!(serde_json::from_str::<Everything>(&json).unwrap().by_name, everything.by_name, "{json}");
    assert_eq!(to_string(&to_value(&everything).unwrap()).unwrap(), json);
}

#[test]
fn reading_keeps_the_order_of_keys_at_every_depth() {
    let text = r#"{"z":1,"a":{"y":[{"c":1,"b":2}],"x":null},"m":"ü"}"#;
    assert_eq!(from_str::<Value>(text).unwrap().to_string(), text);
    let number = 3;
    let built = json!({
        "z": 1,
        "a": {"y": [{"c": 1, "b": number - 1}], "x": null},
        "m": format!("{}", 'ü'),
    });
    assert_eq!(built.to_string(), text);
}

#[test]
fn equality_ignores_the_order_of_keys() {
    assert_eq!(json!({"a": 1, "b": {"c": 2, "d": 3}}), json!({"b": {"d": 3, "c": 2}, "a": 1}));
    assert_ne!(json!({"a": 1}), json!({"a": 2}));
    assert_eq!(json!({"a": [1, 0.5, "x", true, null]}), serde_json::json!({"a": [1, 0.5, "x", true, null]}));
}

#[test]
fn the_last_value_of_a_repeated_key_counts_at_the_place_of_the_first_one() {
    assert_eq!(from_str::<Value>(r#"{"b":1,"a":2,"b":3}"#).unwrap().to_string(), r#"{"b":3,"a":2}"#);
    let many: Vec<String> = (0..40).map(|index| format!("\"{}\":{index}", index % 20)).collect();
    let object: Object = from_str(&format!("{{{}}}", many.join(","))).unwrap();
    assert_eq!(object.keys().cloned().collect::<Vec<_>>(), (0..20).map(|key| key.to_string()).collect::<Vec<_>>());
    assert!(object.values().map(|value| value.as_u64().unwrap()).eq(20..40));
}

#[test]
fn a_document_with_many_keys_is_read_in_reasonable_time() {
    let keys: Vec<String> = (0..200_000).map(|key| format!("\"{key}\":0")).collect();
    let json = format!("{{{}}}", keys.join(","));
    let object: Object = from_str(&json).unwrap();
    assert_eq!(object.len(), 200_000);
    assert_eq!(object, object.clone().into_iter().rev().collect());
}

#[test]
fn numbers_of_arbitrary_precision_are_numbers() {
    let object = json!([{"$serde_json::private::Number": "0.30000000000000004"}]);
    assert_eq!(from_value::<Value>(object).unwrap(), json!([0.1 + 0.2]));
}

#[test]
fn what_is_not_json_is_reported_like_serde_json_does() {
    for text in [
        "",
        " ",
        "{",
        "[1",
        "[1,",
        "[1,]",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{1:2}",
        "nul",
        "truE",
        "01",
        "-",
        "1.",
        "1e",
        "-01",
        "00",
        "1.e3",
        "\"a",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":1 \"b\"}",
        "1 2",
        "{} x",
        "[}",
        "\u{FEFF}1",
        "'a'",
        "NaN",
        "+1",
        ".5",
        "1.5.2",
        "/* */ 1",
        "\"\\u00g0\"",
        "[\n  1,\n  ?]",
    ] {
        let theirs = serde_json::from_str::<serde_json::Value>(text).unwrap_err().to_string();
        let ours = from_str::<Value>(text).unwrap_err().to_string();
        assert_eq!(ours, theirs, "{text:?}");
    }
    assert!(from_str::<Value>("1e400").unwrap_err().to_string().starts_with("number out of range"));
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert!(from_str::<Value>(&deep).unwrap_err().to_string().starts_with("recursion limit exceeded"));
    let accepted = from_str::<Value>(&deep[1..255]).unwrap();
    assert_eq!(to_value(&[[&accepted]]).unwrap()[0][0], accepted, "a value may be put into another one");
    assert!(from_slice::<Value>(b"\"\xFF\"").is_err());
}

#[test]
fn what_is_of_another_type_is_reported_like_serde_json_does() {
    let value = |text: &str| from_str::<Value>(text).unwrap();
    let without_place = |error: &serde_json::Error| {
        let text = error.to_string();
        text.split_once(" at line ").map_or(text.clone(), |(text, _)| text.to_owned())
    };
    for text in [
        "{}",
        "{\n  \"width\": \"3\"\n}",
        "{\"width\":-1}",
        "{\"width\":1.5}",
        "{\"width\":null}",
        "[1]",
        "\"x\"",
        "{\"width\":1,\"width\":2}",
    ] {
        #[derive(Debug, Deserialize)]
        struct Wide {
            #[serde(rename = "width")]
            _width: u32,
        }
        let theirs = serde_json::from_str::<Wide>(text).map(drop).map_err(|error| without_place(&error));
        let ours = from_value::<Wide>(value(text)).map(drop).map_err(|error| error.to_string());
        assert_eq!(ours, theirs, "{text:?}");
    }
    for text in ["\"Square\"", "{\"Circle\":\"x\"}", "{\"Line\":[1]}", "{\"Box\":{}}"] {
        let theirs = without_place(&serde_json::from_str::<Shape>(text).unwrap_err());
        assert_eq!(from_value::<Shape>(value(text)).unwrap_err().to_string(), theirs, "{text:?}");
    }
}

#[test]
fn values_that_follow_each_other_are_read_one_by_one() {
    let mut reader = Reader::new("{\"a\":1} [2] x");
    assert_eq!(reader.value::<Value>().unwrap(), json!({"a": 1}));
    assert_eq!(reader.value::<Value>().unwrap(), json!([2]));
    assert_eq!(reader.offset(), 11);
    assert!(reader.value::<Value>().is_err());
}

#[test]
fn parts_are_found_and_set() {
    let mut value = json!({"a": {"b/c": [1, {"d~": 2}]}});
    assert_eq!(value.pointer("/a/b~1c/1/d~0"), Some(&json!(2)));
    assert_eq!(value.pointer("/a/b~1c/01"), None);
    assert_eq!(value["a"]["b/c"][0], 1);
    assert!(value["x"]["y"][3].is_null());
    value["a"]["e"]["f"] = json!(true);
    assert_eq!(value["a"]["e"], json!({"f": true}));
    assert_eq!(value.as_object_mut().unwrap().remove("a").unwrap()["b/c"][1]["d~"], 2);
    assert_eq!(format!("{:#}", json!({"a": []})), serde_json::to_string_pretty(&serde_json::json!({"a": []})).unwrap());
}

proptest! {
    #[test]
    fn floats_survive_to_the_last_bit(bits: u64) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let json = to_string(&(number, json!({"number": number}))).unwrap();
        let (typed, free): (f64, Value) = from_str(&json).unwrap();
        prop_assert_eq!(typed.to_bits(), bits, "{}", json);
        prop_assert_eq!(free["number"].as_f64().unwrap().to_bits(), bits, "{}", json);
        let key = serde_json::Value::from(json!(number)).as_f64().unwrap();
        prop_assert_eq!(key.to_bits(), bits);
    }

    #[test]
    fn a_text_is_json_for_both_or_for_none(text in r#"([\[\]{}:, ]|"[a\\u"é]{0,9}"|-?[0-9]{1,3}(\.[0-9]{1,2})?|null|true|false|\\){0,12}"#) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text).map_err(|error| error.to_string());
        let ours = from_str::<Value>(&text).map_err(|error| error.to_string());
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs, "{}", text),
            (Err(ours), Err(theirs)) => prop_assert_eq!(ours, theirs, "{}", text),
            (ours, theirs) => prop_assert!(false, "{text}: {ours:?} {theirs:?}"),
        }
    }

    #[test]
    fn texts_survive(text: String) {
        let json = to_string(&text).unwrap();
        prop_assert_eq!(from_str::<String>(&json).unwrap(), text.clone());
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        prop_assert_eq!(from_str::<String>(&format!("\"{escaped}\"")).unwrap(), text);
    }
}

#[test]
fn a_key_that_an_object_has_twice_is_an_error_where_it_decides() {
    let read = |json| crate::json::from_str_with_unique_keys::<Value>(json).map_err(|error| error.to_string());
    for json in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#, r#"{"a":{},"b":[],"a":null}"#] {
        let error = read(json).unwrap_err();
        assert!(error.contains("an object has the key `a` twice"), "{json}: {error}");
        assert!(from_str::<Value>(json).is_ok());
    }
    let json = r#"{"a":{"a":[1,-1,1.5,true,null,"a",{"a":1}]},"b":{"a":2}}"#;
    assert_eq!(read(json).unwrap().to_string(), json);
}

/// Two integers beyond 64 bits were read as one float.
#[test]
fn integers_of_any_size_keep_their_digits() {
    let large = format!("-{}", "9".repeat(300));
    for digits in ["18446744073709551616", "-9223372036854775809", "340282366920938463463374607431768211456", &large] {
        let text = format!("{{\"a\":[{digits}]}}");
        let value: Value = from_str(&text).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(to_value(&value).unwrap(), value, "through the writer");
        assert_eq!(super::from_value::<Value>(value.clone()).unwrap(), value);
        assert_eq!(Value::deserialize(value.clone()).unwrap(), value, "as a deserializer");
        let float: f64 = digits.parse().unwrap();
        assert_eq!(
            from_str::<Vec<f64>>(&format!("[{digits}]")).unwrap(),
            [float],
            "another type has the nearest float"
        );
        let other = serde_json::Value::from(value.clone());
        assert_eq!(other["a"][0].as_f64(), Some(float));
        assert_eq!(value["a"][0].as_number().map(|number| number.is_large()), Some(true));
        let hash = |value: &Value| {
            std::hash::BuildHasher::hash_one(
                &std::hash::BuildHasherDefault::<std::collections::hash_map::DefaultHasher>::default(),
                value,
            )
        };
        assert_eq!(hash(&value), hash(&value.clone()));
    }
    assert!(from_str::<Value>(&"9".repeat(400)).is_err(), "no float is near");
    assert_eq!(serde_json::from_str::<Value>("[1, 2.5]").unwrap(), json!([1, 2.5]), "another deserializer");
    assert_eq!(Value::from(serde_json::json!(u64::MAX)), json!(u64::MAX));
}

#[test]
fn integers_are_equal_by_all_their_digits() {
    let read = |text: &str| crate::json::from_str::<Value>(text).unwrap();
    let is_equal = |left: &str, right: &str| read(left).is_same(&read(right)) && read(right).is_same(&read(left));
    let large = "1".repeat(300);
    for (left, right) in [
        ("18446744073709551617", "18446744073709551618"),
        ("-9223372036854775809", "-9223372036854775810"),
        ("9007199254740993", "9007199254740992.0"),
        ("18446744073709551615", "18446744073709551616"),
        (&large, &format!("{}2", &large[1..])),
        ("1", "-1"),
    ] {
        assert!(!is_equal(left, right), "{left} {right}");
        assert!(is_equal(left, left) && is_equal(right, right), "{left} {right}");
    }
    for (left, right) in [("1", "1.0"), ("0", "-0.0"), ("100000000000000000000000", "1e23")] {
        assert!(is_equal(left, right), "{left} {right}");
    }
    assert!(is_equal("[{\"a\": 18446744073709551617}]", "[{\"a\": 18446744073709551617}]"));
}

#[test]
fn numbers_are_compared_by_value_and_keys_in_any_order() {
    assert!(json!({"a": 1, "b": [1.0, 2]}).is_same(&json!({"b": [1, 2.0], "a": 1.0})));
    assert!(!json!([1, 2]).is_same(&json!([2, 1])));
    assert!(!json!({"a": null}).is_same(&json!({})));
    assert!(!json!(1).is_same(&json!("1")));
    assert!(!json!(9_007_199_254_740_993_u64).is_same(&json!(9_007_199_254_740_992_u64)));
}
