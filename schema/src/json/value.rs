//! A JSON value.
//!
//! Conversions to values, and comparisons of values.

use std::borrow::Cow;
use std::{fmt, ops};

use serde_json::Map;

use crate::json::{Number, Object, key_of_step, to_string, to_string_pretty};

/// A JSON value. Objects keep the order of their keys; for equality, the order does not matter.
///
/// It has the methods of `serde_json::Value`, which converts into it and back.
///
/// ```
/// use evalsuite_schema::Value;
///
/// let input = Value::from(serde_json::json!({"city": "Bern", "days": 3}));
/// assert_eq!(input["city"], "Bern");
/// assert_eq!(input["days"].as_u64(), Some(3));
/// assert_eq!(input.to_string(), r#"{"city":"Bern","days":3}"#);
/// let back: serde_json::Value = input.into();
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of any size, or a finite float.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// Keys with values.
    Object(Object),
}

impl Value {
    /// Whether two values are equal: order of keys does not matter, order of lists does, numbers are compared by value.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(own), Self::Number(other)) => own.is_same(other),
            (Self::Array(own), Self::Array(other)) => {
                own.len() == other.len() && own.iter().zip(other).all(|(own, other)| own.is_same(other))
            }
            (Self::Object(own), Self::Object(other)) => {
                own.len() == other.len()
                    && own.iter().all(|(key, own)| other.get(key).is_some_and(|other| own.is_same(other)))
            }
            _ => self == other,
        }
    }

    /// The item at an index of a list, or the value of a key of an object.
    pub fn get(&self, index: impl Index) -> Option<&Self> {
        index.in_value(self)
    }

    /// The item at an index of a list, or the value of a key of an object.
    pub fn get_mut(&mut self, index: impl Index) -> Option<&mut Self> {
        index.in_value_mut(self)
    }

    /// The value at a JSON Pointer (RFC 6901), such as `/items/0/name`.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, part| match value {
            Self::Object(object) => object.get(&key_of_step(part)),
            Self::Array(items) if part == "0" || !part.starts_with(['0', '+']) => {
                items.get(part.parse::<usize>().ok()?)
            }
            _ => None,
        })
    }

    /// Leaves null.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Sorts the keys of all objects in it.
    pub fn sort_all_objects(&mut self) {
        match self {
            Self::Object(object) => {
                object.sort_keys();
                object.values_mut().for_each(Self::sort_all_objects);
            }
            Self::Array(items) => items.iter_mut().for_each(Self::sort_all_objects),
            _ => {}
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is true or false.
    pub fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether it is a number with a fraction or exponent.
    pub fn is_f64(&self) -> bool {
        matches!(self, Self::Number(number) if number.is_f64())
    }

    /// Whether it is an integer from 0 up.
    pub fn is_u64(&self) -> bool {
        matches!(self, Self::Number(number) if number.is_u64())
    }

    /// Whether it is an integer.
    pub fn is_i64(&self) -> bool {
        matches!(self, Self::Number(number) if number.is_i64())
    }

    /// Whether it is a text.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether it is a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// True or false.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The number as the nearest float.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The number, if it is an integer from 0 up.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number, if it is an integer.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The text.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The list.
    pub fn as_array(&self) -> Option<&Vec<Self>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The list.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }
}

/// JSON in one line; with `{:#}` with line breaks.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = if f.alternate() { to_string_pretty(self) } else { to_string(self) };
        f.write_str(&json.map_err(|_| fmt::Error)?)
    }
}

/// A key or an index of a [`Value`].
pub trait Index {
    /// The part.
    fn in_value(self, value: &Value) -> Option<&Value>;

    /// The part.
    fn in_value_mut(self, value: &mut Value) -> Option<&mut Value>;

    /// The part, which is added to an object or to null, or the reason why there is none.
    #[doc(hidden)]
    fn in_value_or_new(self, value: &mut Value) -> Option<&mut Value>;
}

impl Index for usize {
    fn in_value(self, value: &Value) -> Option<&Value> {
        value.as_array()?.get(self)
    }

    fn in_value_mut(self, value: &mut Value) -> Option<&mut Value> {
        value.as_array_mut()?.get_mut(self)
    }

    fn in_value_or_new(self, value: &mut Value) -> Option<&mut Value> {
        self.in_value_mut(value)
    }
}

impl Index for &str {
    fn in_value(self, value: &Value) -> Option<&Value> {
        value.as_object()?.get(self)
    }

    fn in_value_mut(self, value: &mut Value) -> Option<&mut Value> {
        value.as_object_mut()?.get_mut(self)
    }

    fn in_value_or_new(self, value: &mut Value) -> Option<&mut Value> {
        if value.is_null() {
            *value = Value::Object(Object::new());
        }
        Some(value.as_object_mut()?.get_or_insert(self.to_owned(), Value::Null))
    }
}

macro_rules! keys {
    ($($type:ty)*) => {$(
        impl Index for $type {
            fn in_value(self, value: &Value) -> Option<&Value> {
                AsRef::<str>::as_ref(&self).in_value(value)
            }

            fn in_value_mut(self, value: &mut Value) -> Option<&mut Value> {
                AsRef::<str>::as_ref(&self).in_value_mut(value)
            }

            fn in_value_or_new(self, value: &mut Value) -> Option<&mut Value> {
                AsRef::<str>::as_ref(&self).in_value_or_new(value)
            }
        }
    )*};
}

keys!(String & String && str);

impl<I: Index> ops::Index<I> for Value {
    type Output = Self;

    /// The part, or null if there is none.
    fn index(&self, index: I) -> &Self {
        index.in_value(self).unwrap_or(&Self::Null)
    }
}

impl<I: Index> ops::IndexMut<I> for Value {
    /// The part. A key that is missing in an object is added; null becomes an object.
    ///
    /// # Panics
    ///
    /// If the value is not an object, or the list is shorter.
    fn index_mut(&mut self, index: I) -> &mut Self {
        index.in_value_or_new(self).expect("the value has this part")
    }
}

macro_rules! conversions {
    ($($(#[$doc:meta])* $from:ty => $to:ty: |$value:ident| $made:expr;)*) => {$(
        $(#[$doc])*
        impl From<$from> for $to {
            fn from($value: $from) -> Self {
                $made
            }
        }
    )*};
}

conversions! {
    () => Value: |_unit| Self::Null;
    bool => Value: |value| Self::Bool(value);
    Number => Value: |number| Self::Number(number);
    /// A number, or null if it is not finite.
    f32 => Value: |number| serde_json::Value::from(number).into();
    /// A number, or null if it is not finite.
    f64 => Value: |number| Number::from_f64(number).map_or(Self::Null, Self::Number);
    String => Value: |text| Self::String(text);
    &str => Value: |text| Self::String(text.to_owned());
    Cow<'_, str> => Value: |text| Self::String(text.into_owned());
    Object => Value: |object| Self::Object(object);
    Map<String, serde_json::Value> => Value: |object| Self::Object(object.into());
    Map<String, serde_json::Value> => Object: |object| object.into_iter().collect();
    Object => Map<String, serde_json::Value>: |object| {
        object.into_iter().map(|(key, value)| (key, value.into())).collect()
    };
    Object => serde_json::Value: |object| Self::Object(object.into());
    &serde_json::Value => Value: |value| value.clone().into();
    &Value => serde_json::Value: |value| value.clone().into();
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match value {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::Number(number.into()),
            Json::String(text) => Self::String(text),
            Json::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Json::Object(object) => Self::Object(object.into()),
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number.into()),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(object) => Self::Object(object.into()),
        }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value> + Clone> From<&[T]> for Value {
    fn from(items: &[T]) -> Self {
        items.iter().cloned().collect()
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::Object(entries.into_iter().collect())
    }
}

macro_rules! equal {
    ($($type:ty: |$own:ident, $other:ident| $is_equal:expr;)*) => {$(
        impl PartialEq<$type> for Value {
            fn eq(&self, $other: &$type) -> bool {
                let $own = self;
                $is_equal
            }
        }

        impl PartialEq<Value> for $type {
            fn eq(&self, other: &Value) -> bool {
                other == self
            }
        }
    )*};
}

equal! {
    str: |own, other| own.as_str() == Some(other);
    &str: |own, other| own.as_str() == Some(*other);
    String: |own, other| own.as_str() == Some(other.as_str());
    bool: |own, other| own.as_bool() == Some(*other);
    f64: |own, other| own.as_number().zip(Number::from_f64(*other)).is_some_and(|(own, other)| own.is_same(&other));
    serde_json::Value: |own, other| {
        let other = Value::from(other);
        *own == other
    };
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Value {
            fn from(number: $type) -> Self {
                Self::Number(number.into())
            }
        }

        impl PartialEq<$type> for Value {
            fn eq(&self, other: &$type) -> bool {
                matches!(self, Self::Number(number) if *number == Number::from(*other))
            }
        }

        impl PartialEq<$type> for &Value {
            fn eq(&self, other: &$type) -> bool {
                **self == *other
            }
        }

        impl PartialEq<Value> for $type {
            fn eq(&self, other: &Value) -> bool {
                other == self
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
