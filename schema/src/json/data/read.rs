//! Reading of data: the fields of an object, and the variants of an enum.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::PathBuf;

use serde::de::{Error as _, Unexpected};
use serde_json::{Error, Result};

use super::FromJson;
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

pub(in crate::json) fn key_as_number(key: String) -> Value {
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

/// The fields of an object. Others than those that are asked for are ignored.
#[doc(hidden)]
#[derive(Debug)]
pub struct Fields {
    entries: Vec<(String, Value)>,
    /// The place after the field that was found last, where the next one usually is.
    next: usize,
    /// The first error of the fields that were set.
    error: Option<Error>,
}

impl Fields {
    /// The fields of a value that has to be an object.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn of(value: Value, expected: &'static str) -> Result<Self> {
        match value {
            Value::Object(object) => match object.into_parts() {
                (entries, None) => Ok(Self { entries, next: 0, error: None }),
                (_, Some(key)) => Err(Error::custom(format_args!("duplicate field `{key}`"))),
            },
            other => Err(of_other_type(&other, expected)),
        }
    }

    /// Takes the value of a field.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        let (before, after) = self.entries.split_at(self.next.min(self.entries.len()));
        let place = match after.iter().position(|(key, _)| key == name) {
            Some(place) => before.len() + place,
            None => before.iter().position(|(key, _)| key == name)?,
        };
        self.next = place + 1;
        Some(mem::take(&mut self.entries[place].1))
    }

    /// A field.
    ///
    /// # Errors
    ///
    /// If it is not of its type, or is absent and has to be there.
    pub fn required<T: FromJson>(&mut self, name: &'static str) -> Result<T> {
        match self.take(name) {
            Some(value) => match T::from_json(value) {
                Ok(value) => Ok(value),
                Err(error) => Err(error_in_field(name, &error)),
            },
            None => match T::absent() {
                Some(value) => Ok(value),
                None => Err(Error::missing_field(name)),
            },
        }
    }

    /// A field with the default of its type.
    ///
    /// # Errors
    ///
    /// If it is not of its type.
    pub fn optional<T: FromJson + Default>(&mut self, name: &'static str) -> Result<T> {
        self.or(name, T::default)
    }

    /// A field with a default.
    ///
    /// # Errors
    ///
    /// If it is not of its type.
    pub fn or<T: FromJson>(&mut self, name: &'static str, default: fn() -> T) -> Result<T> {
        match self.take(name) {
            Some(value) => match T::from_json(value) {
                Ok(value) => Ok(value),
                Err(error) => Err(error_in_field(name, &error)),
            },
            None => Ok(default()),
        }
    }

    /// Sets a field. [`Self::end`] returns the first error.
    pub fn set<T: FromJson>(&mut self, name: &'static str, field: &mut T) {
        match self.take(name) {
            Some(value) => self.keep(name, field, T::from_json(value)),
            None => match T::absent() {
                Some(value) => *field = value,
                None => self.fail(Error::missing_field(name)),
            },
        }
    }

    /// Sets a field, to the default of its type if it is absent.
    pub fn set_optional<T: FromJson + Default>(&mut self, name: &'static str, field: &mut T) {
        self.set_or(name, field, T::default);
    }

    /// Sets a field, to a default if it is absent.
    pub fn set_or<T: FromJson>(&mut self, name: &'static str, field: &mut T, default: fn() -> T) {
        match self.take(name) {
            Some(value) => self.keep(name, field, T::from_json(value)),
            None => *field = default(),
        }
    }

    /// Sets a field that a function reads.
    pub fn set_read<T>(&mut self, name: &'static str, field: &mut T, read: fn(Value) -> Result<T>) {
        match self.take(name) {
            Some(value) => self.keep(name, field, read(value)),
            None => self.fail(Error::missing_field(name)),
        }
    }

    /// Sets a field unless it is absent.
    pub fn replace<T: FromJson>(&mut self, name: &'static str, field: &mut T) {
        if let Some(value) = self.take(name) {
            self.keep(name, field, T::from_json(value));
        }
    }

    fn keep<T>(&mut self, name: &'static str, field: &mut T, read: Result<T>) {
        match read {
            Ok(value) => *field = value,
            Err(error) => self.fail(error_in_field(name, &error)),
        }
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Ends the reading of fields that were set.
    ///
    /// # Errors
    ///
    /// If a field was not of its type, or absent.
    pub fn end(self) -> Result<()> {
        match self.error {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// A field that a function reads.
    ///
    /// # Errors
    ///
    /// If it is absent, or the function cannot read it.
    pub fn read<T>(&mut self, name: &'static str, read: fn(Value) -> Result<T>) -> Result<T> {
        match self.take(name) {
            Some(value) => read(value).map_err(|error| error_in_field(name, &error)),
            None => Err(Error::missing_field(name)),
        }
    }
}

/// The name of a variant, and its data.
#[doc(hidden)]
#[derive(Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    data: Option<Value>,
}

impl Variant {
    /// The variant that a value names: a text, or an object with one key.
    ///
    /// # Errors
    ///
    /// If the value is neither.
    pub fn of(value: Value) -> Result<Self> {
        match value {
            Value::String(name) => Ok(Self { name, data: None }),
            Value::Object(object) if object.len() == 1 => {
                let (name, data) = object.into_iter().next().unwrap_or_default();
                Ok(Self { name, data: Some(data) })
            }
            Value::Object(_) => Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
            other => Err(of_other_type(&other, "string or map")),
        }
    }

    /// Checks that it has no data.
    ///
    /// # Errors
    ///
    /// If it has some.
    pub fn unit(&self) -> Result<()> {
        match &self.data {
            None | Some(Value::Null) => Ok(()),
            Some(other) => Err(of_other_type(other, "unit")),
        }
    }

    /// Its value.
    ///
    /// # Errors
    ///
    /// If it has none, or one of another type.
    pub fn value<T: FromJson>(self) -> Result<T> {
        match self.data {
            Some(value) => T::from_json(value),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"newtype variant")),
        }
    }

    /// Its fields.
    ///
    /// # Errors
    ///
    /// If it has none.
    pub fn fields(self, expected: &'static str) -> Result<Fields> {
        match self.data {
            Some(value) => Fields::of(value, expected),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"struct variant")),
        }
    }

    /// The error of a name that no variant has.
    #[cold]
    pub fn unknown(&self, names: &'static [&'static str]) -> Error {
        Error::unknown_variant(&self.name, names)
    }
}

/// Names the field in an error.
#[cold]
fn error_in_field(name: &'static str, error: &Error) -> Error {
    let error = error.to_string();
    // `a.b: problem`
    match error.strip_prefix('`') {
        Some(path) if path.contains("`: ") => Error::custom(format_args!("`{name}.{path}")),
        _ => Error::custom(format_args!("`{name}`: {error}")),
    }
}

#[cold]
fn of_other_type(value: &Value, expected: &str) -> Error {
    Error::invalid_type(value.unexpected(), &expected)
}
