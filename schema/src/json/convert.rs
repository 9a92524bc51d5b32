//! Conversions to values, and comparisons of values.

use std::borrow::Cow;

use serde_json::Map;

use crate::json::{Number, Object, Value};

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
            Json::Number(number) => Self::Number(number),
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
            Value::Number(number) => Self::Number(number),
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
    f64: |own, other| own.as_f64() == Some(*other);
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
