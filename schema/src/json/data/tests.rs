//! Tests of the derives, against those of `serde`.

use std::collections::BTreeMap;

use proptest::prelude::{Strategy, any, proptest};
use proptest::{collection, option, prop_oneof};
use serde::{Deserialize, Serialize};

use crate::json::writer::{Spacing, written};
use crate::json::{FromJson, FromJsonOverDefault, Object, ToJson, Value, from_str, json, to_string, to_value};

/// The same types twice, with the derives of `serde` and with ours.
macro_rules! twins {
    ($($(#[$type_serde:meta] = #[$type_json:meta])? $kind:ident $name:ident { $($part:tt)* })*) => {
        mod by_serde {
            use super::*;
            $(twins!(@one $kind [Serialize, Deserialize] [$($type_serde)?] $name serde { $($part)* });)*
        }
        mod ours {
            use super::*;
            $(twins!(@one $kind [ToJson, FromJson] [$($type_json)?] $name json { $($part)* });)*
        }
    };
    (@one $kind:ident [$($derive:ident),*] [$($meta:meta)?] $name:ident $which:ident { $($part:tt)* }) => {
        twins!(@parts $kind [$($derive),*] [$($meta)?] $name $which {} $($part)*);
    };
    // `[serde options | json options]` before a field or variant becomes the attribute of one of them.
    (@parts $kind:ident $derives:tt $meta:tt $name:ident serde { $($done:tt)* } [$($serde:tt)*] [$($json:tt)*] $($rest:tt)*) => {
        twins!(@parts $kind $derives $meta $name serde { $($done)* #[serde($($serde)*)] } $($rest)*);
    };
    (@parts $kind:ident $derives:tt $meta:tt $name:ident json { $($done:tt)* } [$($serde:tt)*] [$($json:tt)*] $($rest:tt)*) => {
        twins!(@parts $kind $derives $meta $name json { $($done)* #[json($($json)*)] } $($rest)*);
    };
    (@parts $kind:ident $derives:tt $meta:tt $name:ident $which:ident { $($done:tt)* } $next:tt $($rest:tt)*) => {
        twins!(@parts $kind $derives $meta $name $which { $($done)* $next } $($rest)*);
    };
    (@parts $kind:ident [$($derive:ident),*] [$($meta:meta)?] $name:ident $which:ident { $($done:tt)* }) => {
        #[derive(Debug, Clone, PartialEq, $($derive),*)]
        $(#[$meta])?
        pub(super) $kind $name { $($done)* }
    };
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn seven() -> u32 {
    7
}

twins! {
    #[serde(rename_all = "snake_case")] = #[json(rename_all = "snake_case")]
    enum Word { FirstOne, Other }

    #[serde(rename_all = "snake_case")] = #[json(rename_all = "snake_case")]
    enum Shape {
        Point,
        Circle(f64),
        [rename = "the box"] [rename = "the box"]
        Box { width: u32, label: Option<String> },
    }

    struct Everything {
        text: String,
        flag: bool,
        integer: i64,
        float: f64,
        maybe: Option<u32>,
        list: Vec<Shape>,
        words: BTreeMap<String, Word>,
        numbers: BTreeMap<u32, Option<f64>>,
        pair: (String, u8),
        two: [f64; 2],
        nested: Option<Box<Everything>>,
        free: Object,
        any: Value,
        [default, skip_serializing_if = "is_zero"] [default, skip_if = "is_zero"]
        count: u32,
        [default = "seven"] [default = "seven"]
        seven: u32,
        [rename = "type"] [rename = "type"]
        kind: Word,
        r#as: u32,
        [skip] [skip]
        skipped: u32,
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct DefaultBySerde {
    a: Option<u32>,
    b: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(default)]
struct DefaultOfOurs {
    a: Option<u32>,
    b: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
struct Newtype(Vec<u32>);

/// Documents that are nearly right: every field there or not, of its type or another.
fn documents() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        any::<Option<bool>>().prop_map(Value::from),
        prop_oneof![Just0, any::<u32>().prop_map(u64::from), any::<u64>()].prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\"\\\\]{0,4}".prop_map(Value::from),
        prop_oneof!["first_one", "other", "point", "circle", "the box", "Point"].prop_map(Value::from),
    ];
    let shape = prop_oneof![
        scalar.clone(),
        scalar.clone().prop_map(|value| json!({"circle": value})),
        (scalar.clone(), scalar.clone())
            .prop_map(|(width, label)| json!({"the box": {"width": width, "label": label}})),
        scalar.clone().prop_map(|width| json!({"the box": {"width": width}})),
        scalar.clone().prop_map(|value| json!({"point": value})),
        scalar.clone().prop_map(|value| json!({"circle": value, "point": null})),
    ];
    let names =
        ["text", "flag", "integer", "float", "maybe", "count", "seven", "type", "as", "skipped", "unknown", "any"];
    (
        collection::vec(option::weighted(0.9, scalar.clone()), names.len()),
        collection::vec(shape, 0..3),
        collection::vec(("[a-z]{1,2}", scalar.clone()), 0..3),
        collection::vec((prop_oneof!["[0-9]{1,3}", "-?[0-9]", "[a-z]"], scalar.clone()), 0..3),
        collection::vec(scalar, 0..4),
    )
        .prop_map(move |(values, list, words, numbers, few)| {
            let valid = [
                json!("t"),
                json!(true),
                json!(-3),
                json!(0.5),
                json!(null),
                json!(2),
                json!(8),
                json!("other"),
                json!(1),
                json!(0),
                json!(0),
                json!([]),
            ];
            let mut document = Object::new();
            for ((name, value), valid) in names.iter().zip(values).zip(valid) {
                // Mostly valid: else the first field would nearly always be the error.
                let value = match value {
                    Some(Value::Bool(true)) => continue,
                    Some(value @ (Value::Null | Value::Bool(_))) => value,
                    _ => valid,
                };
                document.insert((*name).to_owned(), value);
            }
            document.insert("list".to_owned(), list.into());
            document.insert("words".to_owned(), words.iter().map(|(key, _)| (key.clone(), json!("other"))).collect());
            document.insert("numbers".to_owned(), numbers.into_iter().collect());
            document.insert("pair".to_owned(), json!(["x", few.len() % 3]));
            document.insert("two".to_owned(), few.iter().take(2).map(|_| json!(0.5)).collect());
            document.insert("free".to_owned(), json!({"b": 1, "a": few}));
            document.into()
        })
}

#[expect(non_upper_case_globals, reason = "a strategy")]
const Just0: proptest::strategy::Just<u64> = proptest::strategy::Just(0);

fn by_serde(text: &str) -> serde_json::Result<by_serde::Everything> {
    from_str::<Value>(text).and_then(by_serde::Everything::deserialize)
}

/// What is wrong, without the place in the text and the path of the field.
fn problem(error: &serde_json::Error) -> String {
    let error = error.to_string();
    let error = error.rsplit_once(" at line ").map_or(error.as_str(), |(problem, _)| problem);
    error.rsplit_once("`: ").filter(|(path, _)| path.starts_with('`')).map_or(error, |(_, problem)| problem).to_owned()
}

proptest! {
    #[test]
    fn both_read_the_same_and_write_it_the_same(document in documents()) {
        let text = to_string(&document).unwrap();
        match (by_serde(&text), from_str::<ours::Everything>(&text)) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(to_string(&ours).unwrap(), serde_json::to_string(&theirs).unwrap());
                assert_eq!(serde_json::to_string(&ours).unwrap(), to_string(&ours).unwrap(), "through `Serialize`");
                assert_eq!(ours::Everything::deserialize(from_str::<Value>(&text).unwrap()).unwrap(), ours, "through `Deserialize`");
                assert_eq!(ours::Everything::from_json(to_value(&ours).unwrap()).unwrap(), ours);
            }
            // They may meet different errors first.
            (Err(_), Err(_)) => {}
            (theirs, ours) => panic!("{text}\n{theirs:?}\n{ours:?}"),
        }
    }
}

#[test]
fn one_error_is_the_one_of_serde() {
    let valid = json!({
        "text": "t", "flag": true, "integer": -3, "float": 1, "list": [], "words": {}, "numbers": {}, "pair": ["x", 1],
        "two": [1, 2], "free": {}, "any": null, "type": "other", "as": 1,
    });
    let wrong = [
        json!(null),
        json!(true),
        json!(-1),
        json!(300),
        json!(u64::MAX),
        json!(1.5),
        json!("other"),
        json!([]),
        json!([1]),
        json!([1, 2, 3]),
        json!({}),
        json!({"a": 1, "b": 2}),
        json!({"circle": "x"}),
        json!({"the box": {}}),
        json!(["circle"]),
        json!([{"point": 1}]),
        json!([{"the box": {"width": -1}}]),
        json!([{"nothing": 1}]),
    ];
    let mut errors = 0;
    for (name, _) in valid.as_object().unwrap() {
        for value in wrong.iter().map(Some).chain([None]) {
            let mut document = valid.as_object().unwrap().clone();
            match value {
                Some(value) => drop(document.insert(name.clone(), value.clone())),
                None => drop(document.remove(name)),
            }
            let text = to_string(&document).unwrap();
            let theirs = by_serde(&text).map(drop);
            let ours = from_str::<ours::Everything>(&text).map(drop);
            match (theirs, ours) {
                (Ok(()), Ok(())) => {}
                (Err(theirs), Err(ours)) => {
                    errors += 1;
                    // What is in a list or object of another length is read first.
                    if !problem(&ours).starts_with("invalid length") && !problem(&ours).ends_with("single key") {
                        assert_eq!(problem(&ours), problem(&theirs), "{name}: {value:?}");
                    }
                    assert!(value.is_none() || ours.to_string().starts_with(&format!("`{name}")), "{ours}");
                }
                (theirs, ours) => panic!("{name}: {value:?}\n{theirs:?}\n{ours:?}"),
            }
        }
    }
    assert!(errors > 100, "{errors}");
}

#[test]
fn an_error_names_the_path_of_its_field() {
    let read = |text: &str| from_str::<BTreeMap<String, ours::Shape>>(text).unwrap_err().to_string();
    let inner = read(r#"{"a": {"the box": {"width": "wide"}}}"#);
    assert_eq!(inner, "`width`: invalid type: string \"wide\", expected u32 at line 1 column 37");
    let text = r#"{"a": 1, "b": ["x"], "a": 2}"#;
    assert_eq!(from_str::<DefaultOfOurs>(text).unwrap_err().to_string(), "duplicate field `a` at line 1 column 28");
}

#[test]
fn absent_fields_have_the_defaults_of_the_type() {
    for text in [r#"{}"#, r#"{"a": 1}"#, r#"{"b": ["x"], "c": 1}"#, r#"{"a": null, "b": []}"#] {
        let theirs: DefaultBySerde = serde_json::from_str(text).unwrap();
        let ours: DefaultOfOurs = from_str(text).unwrap();
        assert_eq!((ours.a, &ours.b), (theirs.a, &theirs.b));
        assert_eq!(to_string(&ours).unwrap(), serde_json::to_string(&theirs).unwrap());
    }
}

#[test]
fn a_struct_with_one_value_is_this_value() {
    let newtype: Newtype = from_str("[1, 2]").unwrap();
    assert_eq!(newtype, Newtype(vec![1, 2]));
    assert_eq!(to_string(&newtype).unwrap(), "[1,2]");
}

/// The same fields, read in three ways.
macro_rules! with_fields {
    ($($(#[$attribute:meta])* $name:ident by $derive:ident,)*) => {$(
        #[derive(Debug, Clone, Default, PartialEq, ToJson, $derive)]
        $(#[$attribute])*
        struct $name {
            number: u32,
            maybe: Option<String>,
            #[json(default)]
            list: Vec<u32>,
            #[json(default = "seven")]
            seven: u32,
            #[json(read_with = "even")]
            even: u32,
            #[json(skip)]
            skipped: u32,
        }
    )*};
}

with_fields! {
    Filled by FromJsonOverDefault,
    NotFilled by FromJson,
    #[json(part)] Part by FromJson,
}

#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
struct Whole {
    #[json(flatten)]
    part: Part,
}

fn even(value: Value) -> crate::json::Result<u32> {
    let number = u32::from_json(value)?;
    if number % 2 == 0 { Ok(number) } else { Err(serde::de::Error::custom(format!("{number} is odd"))) }
}

#[test]
fn filling_a_default_and_a_part_reads_the_same() {
    let valid = json!({"number": 1, "maybe": "x", "list": [1], "seven": 8, "even": 2, "skipped": 9});
    let mut read = 0;
    for name in ["number", "maybe", "list", "seven", "even", "skipped", "none"] {
        for value in [None, Some(json!(3)), Some(json!(null)), Some(json!("x")), Some(json!([1]))] {
            let mut document = valid.as_object().unwrap().clone();
            match value {
                Some(value) => drop(document.insert(name.to_owned(), value)),
                None => drop(document.remove(name)),
            }
            let text = to_string(&document).unwrap();
            let written = |read: &dyn ToJson| written(read, Spacing::Compact, None).unwrap();
            let filled = from_str::<Filled>(&text).map_err(|error| error.to_string());
            let other = from_str::<NotFilled>(&text).map_err(|error| error.to_string());
            let whole = from_str::<Whole>(&text).map_err(|error| error.to_string());
            read += u32::from(filled.is_ok());
            let filled = filled.map(|filled| written(&filled));
            assert_eq!(filled, other.map(|other| written(&other)));
            assert_eq!(filled, whole.map(|whole| written(&whole)));
        }
    }
    assert!((10..30).contains(&read), "{read}");
    let twice = from_str::<Filled>(r#"{"number": "a", "even": 3}"#).unwrap_err().to_string();
    assert!(twice.starts_with("`number`: invalid type"), "the first error: {twice}");
}
