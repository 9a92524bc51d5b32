//! Reading of data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::diagnostics::{Diagnostic, Location};
use serde::de::{Deserialize as _, Error as _};
use serde_json::{Error, Result};

use super::FromJson;
use super::fields::{Fields, of_other_type};
use crate::json::{Object, Value, from_str};

macro_rules! read_integers {
    ($($type:ty)*) => {$(
        impl FromJson for $type {
            fn from_json(value: Value) -> Result<Self> {
                integer(&value, stringify!($type)).and_then(|number| match number.try_into() {
                    Ok(number) => Ok(number),
                    Err(_) => Err(out_of_range(number, stringify!($type))),
                })
            }

            fn from_key(key: String) -> Result<Self> {
                Self::from_json(key_as_number(key))
            }
        }
    )*};
}

read_integers! { u8 u16 u32 u64 usize i32 i64 }

fn integer(value: &Value, expected: &'static str) -> Result<i128> {
    let number = value.as_u64().map(i128::from).or_else(|| value.as_i64().map(i128::from));
    number.ok_or_else(|| of_other_type(value, expected))
}

#[cold]
fn out_of_range(number: i128, expected: &'static str) -> Error {
    Error::custom(format_args!("invalid value: integer `{number}`, expected {expected}"))
}

fn key_as_number(key: String) -> Value {
    match from_str(&key) {
        Ok(number @ Value::Number(_)) if !key.contains(char::is_whitespace) => number,
        _ => Value::String(key),
    }
}

impl FromJson for f64 {
    fn from_json(value: Value) -> Result<Self> {
        value.as_f64().ok_or_else(|| of_other_type(&value, "f64"))
    }
}

impl FromJson for () {
    fn from_json(value: Value) -> Result<Self> {
        if value.is_null() { Ok(()) } else { Err(of_other_type(&value, "unit")) }
    }
}

impl FromJson for bool {
    fn from_json(value: Value) -> Result<Self> {
        value.as_bool().ok_or_else(|| of_other_type(&value, "a boolean"))
    }
}

impl FromJson for String {
    fn from_json(value: Value) -> Result<Self> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(of_other_type(&other, "a string")),
        }
    }
}

impl FromJson for Value {
    fn from_json(value: Value) -> Result<Self> {
        Ok(value)
    }
}

impl FromJson for Object {
    fn from_json(value: Value) -> Result<Self> {
        match value {
            Value::Object(object) => Ok(object),
            Value::Null => Ok(Self::new()),
            other => Err(of_other_type(&other, "a map")),
        }
    }
}

impl FromJson for PathBuf {
    fn from_json(value: Value) -> Result<Self> {
        String::from_json(value).map(Self::from)
    }
}

impl FromJson for Location {
    fn from_json(value: Value) -> Result<Self> {
        let mut fields = Fields::of(value, "struct Location")?;
        Ok(Self::new(fields.required::<String>("file")?, fields.required("line")?, fields.required("column")?))
    }
}

impl FromJson for Diagnostic {
    fn from_json(value: Value) -> Result<Self> {
        Self::deserialize(value)
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(value: Value) -> Result<Self> {
        T::from_json(value).map(Self::new)
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(value: Value) -> Result<Self> {
        match value {
            Value::Null => Ok(None),
            value => match T::from_json(value) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(error),
            },
        }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

fn each_item(value: Value, expected: &str, read: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
    match value {
        Value::Array(items) => items.into_iter().try_for_each(read),
        other => Err(of_other_type(&other, expected)),
    }
}

/// A number of items.
fn exactly<const N: usize>(value: Value, expected: &str) -> Result<[Value; N]> {
    let mut items = Vec::new();
    each_item(value, expected, &mut |item| {
        items.push(item);
        Ok(())
    })?;
    let length = items.len();
    items.try_into().map_err(|_| Error::invalid_length(length, &expected))
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: Value) -> Result<Self> {
        let mut read = Self::new();
        each_item(value, "a sequence", &mut |item| {
            read.push(T::from_json(item)?);
            Ok(())
        })?;
        Ok(read)
    }
}

impl<T: FromJson + Ord> FromJson for BTreeSet<T> {
    fn from_json(value: Value) -> Result<Self> {
        Ok(Vec::from_json(value)?.into_iter().collect())
    }
}

impl<T: FromJson + Default + Copy, const N: usize> FromJson for [T; N] {
    fn from_json(value: Value) -> Result<Self> {
        let mut read = [T::default(); N];
        for (read, item) in read.iter_mut().zip(exactly::<N>(value, &format!("an array of length {N}"))?) {
            *read = T::from_json(item)?;
        }
        Ok(read)
    }
}

impl<A: FromJson, B: FromJson> FromJson for (A, B) {
    fn from_json(value: Value) -> Result<Self> {
        let [first, second] = exactly(value, "a tuple of size 2")?;
        Ok((A::from_json(first)?, B::from_json(second)?))
    }
}

impl<K: FromJson + Ord, V: FromJson> FromJson for BTreeMap<K, V> {
    fn from_json(value: Value) -> Result<Self> {
        let Value::Object(object) = value else { return Err(of_other_type(&value, "a map")) };
        let mut map = Self::new();
        for (key, value) in object {
            map.insert(K::from_key(key)?, V::from_json(value)?);
        }
        Ok(map)
    }
}
