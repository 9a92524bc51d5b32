//! Conversions to values, and comparisons of values.

use std::borrow::Cow;

use crate::json::{Number, Object, Value};

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

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Self {
        value.clone().into()
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for Object {
    fn from(object: serde_json::Map<String, serde_json::Value>) -> Self {
        object.into_iter().collect()
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for Value {
    fn from(object: serde_json::Map<String, serde_json::Value>) -> Self {
        Self::Object(object.into())
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

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        value.clone().into()
    }
}

impl From<Object> for serde_json::Map<String, serde_json::Value> {
    fn from(object: Object) -> Self {
        object.into_iter().map(|(key, value)| (key, value.into())).collect()
    }
}

impl From<Object> for serde_json::Value {
    fn from(object: Object) -> Self {
        Self::Object(object.into())
    }
}

macro_rules! from_contents {
    ($($variant:ident($type:ty))*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}

from_contents! { Bool(bool) Number(Number) String(String) Object(Object) }

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into_owned())
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Null
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

/// A number, or null if it is not finite.
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

/// A number, or null if it is not finite.
impl From<f32> for Value {
    fn from(number: f32) -> Self {
        serde_json::Value::from(number).into()
    }
}
