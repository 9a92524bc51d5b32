//! Tests of the serializer, most of them against `serde_json`.

use std::collections::BTreeMap;

use proptest::prelude::{Strategy, any, proptest};
use proptest::{collection, prop_oneof};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::*;
use crate::Location;

#[derive(Serialize)]
enum Variant {
    Unit,
    Newtype(u8),
    Tuple(u8, Option<char>),
    Struct { name: &'static str, list: Vec<u8> },
}

#[derive(Serialize)]
struct Everything {
    variants: Vec<Variant>,
    unit: (),
    tuple: (i8, u16, f32, bool),
    large: (i128, u64, f64, f64),
    keys: BTreeMap<i32, BTreeMap<char, Vec<()>>>,
    empty: BTreeMap<String, String>,
}

/// Data that `serde` writes.
struct BySerde<'d, T>(&'d T);

impl<T: Serialize> ToJson for BySerde<'_, T> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        self.0.serialize(writer)
    }
}

fn same_as_serde_json(data: &impl Serialize) {
    assert_eq!(written(&BySerde(data), Spacing::Compact, None).unwrap(), serde_json::to_string(data).unwrap());
    assert_eq!(written(&BySerde(data), Spacing::Pretty(0), None).unwrap(), serde_json::to_string_pretty(data).unwrap());
}

fn values() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![".*", "[\\x00-\\x7f\"\\\\\n]*"];
    let scalar = prop_oneof![
        text().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<Option<bool>>().prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 32, 4, move |value| {
        prop_oneof![
            collection::vec(value.clone(), 0..4).prop_map(Value::from),
            collection::vec((text(), value), 0..4)
                .prop_map(|entries| Value::from(entries.into_iter().collect::<Map<String, Value>>())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_is_written_as_serde_json_does(value in values()) {
        same_as_serde_json(&value);
        let mut sorted = value.clone();
        sorted.sort_all_objects();
        assert_eq!(written(&value, Spacing::Canonical, None).unwrap(), sorted.to_string());
    }
}

#[test]
fn every_shape_is_written_as_serde_json_does() {
    let list = vec![1, 2];
    let variants =
        vec![Variant::Unit, Variant::Newtype(1), Variant::Tuple(2, Some('"')), Variant::Struct { name: "n", list }];
    same_as_serde_json(&Everything {
        variants,
        unit: (),
        tuple: (-1, 2, 0.1, true),
        large: (i128::MIN, u64::MAX, 1e300, f64::NAN),
        keys: BTreeMap::from([(-1, BTreeMap::from([('ä', vec![()])])), (2, BTreeMap::new())]),
        empty: BTreeMap::new(),
    });
    let list_as_key = BTreeMap::from([(vec![1], 2)]);
    assert!(written(&list_as_key, Spacing::Compact, None).is_err());
}

#[test]
fn a_number_of_any_length_is_written_as_it_is() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Number")]
    struct Digits {
        #[serde(rename = "$serde_json::private::Number")]
        digits: &'static str,
    }
    fn hidden(_: &str) -> Cow<'_, str> {
        Cow::Borrowed("hidden")
    }
    let number = Digits { digits: "1e999" };
    let written = written(&BySerde(&(number, "text")), Spacing::Compact, Some(&hidden)).unwrap();
    assert_eq!(written, r#"[1e999,"hidden"]"#);
}

#[test]
fn places_in_files_are_not_canonical() {
    #[derive(Serialize)]
    struct Located {
        location: Location,
        data: Value,
    }
    let data = json!({"location": {"file": "f", "line": 1, "column": 1}, "a": 1});
    let located = Located { location: Location::new("f", 1, 1), data };
    let canonical = written(&BySerde(&located), Spacing::Canonical, None).unwrap();
    assert_eq!(canonical, r#"{"data":{"a":1,"location":{"column":1,"file":"f","line":1}}}"#);
}

#[test]
fn a_struct_with_the_name_of_a_place_is_written() {
    #[derive(Serialize)]
    #[serde(rename = "Location")]
    struct Address {
        city: &'static str,
    }
    let canonical = written(&BySerde(&Address { city: "Graz" }), Spacing::Canonical, None).unwrap();
    assert_eq!(canonical, r#"{"city":"Graz"}"#);
}

#[test]
fn a_plain_text_has_nothing_that_is_escaped_or_cannot_be_seen() {
    for character in '\0'..=char::MAX {
        let text = format!("a{character}b");
        let is_visible = !crate::diagnostics::terminal::is_unprintable(character);
        let is_same_in_json = serde_json::to_string(&text).unwrap().len() == text.len() + 2;
        assert!(!is_plain(&text) || is_visible && is_same_in_json, "{character:?}");
    }
    assert!(is_plain("größer als 1 € 'so' 文") && is_plain(""));
    assert!(!is_plain("\"") && !is_plain("\\") && !is_plain("\n"));
}
