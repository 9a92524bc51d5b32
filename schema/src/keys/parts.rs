//! Checked values on their way from a file to the types that hold them.

use std::any::Any;

use crate::{Object, Value};

/// A value that was checked against the [`Type`](super::Type) of its key.
#[derive(Debug)]
pub enum Written {
    /// Text.
    Text(String),
    /// One of the words of a choice.
    Word(&'static str),
    /// A number.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// `true` or `false`.
    Boolean(bool),
    /// Free-form data.
    Data(Value),
    /// The elements of a list.
    List(Vec<Written>),
    /// An object with a table of its own.
    Parts(Parts),
    /// What the loader makes itself.
    Made(Box<dyn Any>),
}

impl Written {
    /// A value that the loader made.
    pub fn made<T: Any>(value: T) -> Self {
        Self::Made(Box::new(value))
    }

    /// The word of a choice.
    pub fn word(&self) -> Option<&'static str> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }

    /// Whether a problem was reported in a part of it.
    pub fn is_broken(&self) -> bool {
        match self {
            Self::Parts(parts) => parts.is_broken,
            Self::List(items) => items.iter().any(Self::is_broken),
            _ => false,
        }
    }
}

/// The checked values of an object's keys.
#[derive(Debug, Default)]
pub struct Parts {
    values: Vec<(&'static str, Written)>,
    is_broken: bool,
}

impl Parts {
    /// Sets the value of a key.
    pub fn set(&mut self, key: &'static str, value: Written) {
        self.is_broken |= value.is_broken();
        self.remove(key);
        self.values.push((key, value));
    }

    /// Sets the whole object, which the loader made; `None`: a problem was reported.
    pub fn make_object<T: Any>(&mut self, value: Option<T>) {
        self.make("", value);
    }

    /// Sets the value that the loader made of a key; `None`: a problem was reported.
    pub fn make<T: Any>(&mut self, key: &'static str, value: Option<T>) {
        match value {
            Some(value) => self.set(key, Written::made(value)),
            None => self.mark_broken(),
        }
    }

    /// Notes that a problem was reported, because of which there is no value of the object.
    pub fn mark_broken(&mut self) {
        self.is_broken = true;
    }

    /// Whether a problem was reported.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<&Written> {
        self.values.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn remove(&mut self, key: &str) -> Option<Written> {
        let index = self.values.iter().position(|(name, _)| *name == key)?;
        Some(self.values.swap_remove(index).1)
    }

    /// The value of a key, or what its type has without one. `None`: there is neither.
    pub fn take<T: FromWritten>(&mut self, key: &str) -> Option<T> {
        self.remove(key).map_or_else(T::absent, T::from_written)
    }

    /// The value of a key; `None` without one.
    pub fn take_written<T: FromWritten>(&mut self, key: &str) -> Option<T> {
        self.remove(key).and_then(T::from_written)
    }

    /// The value of a key, or `without` without one.
    pub fn take_or<T: FromWritten>(&mut self, key: &str, without: T) -> Option<T> {
        self.remove(key).map_or(Some(without), T::from_written)
    }

    /// The value of the object; `None` if a problem was reported, or a value is missing.
    pub fn into_value<T: super::FromParts>(mut self) -> Option<T> {
        if self.is_broken { None } else { T::from_parts(&mut self) }
    }

    /// The value of the object without what is broken; `None` if a required value is missing.
    pub fn into_value_of_rest<T: super::FromParts>(mut self) -> Option<T> {
        T::from_parts(&mut self)
    }
}

/// A type that checked values become.
pub trait FromWritten: Sized {
    /// The value; `None` if it has another type, or is an object without a required value.
    fn from_written(written: Written) -> Option<Self>;

    /// What it is where the key is absent; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

impl FromWritten for () {
    fn from_written(_: Written) -> Option<Self> {
        Some(())
    }

    fn absent() -> Option<Self> {
        Some(())
    }
}

/// The variant of [`Written`] that becomes a type, and what the type is where the key is absent.
macro_rules! from_variants {
    ($($type:ty: $variant:ident, absent: $absent:expr;)*) => {
        $(impl FromWritten for $type {
            fn from_written(written: Written) -> Option<Self> {
                if let Written::$variant(value) = written { Some(value) } else { None }
            }

            fn absent() -> Option<Self> {
                $absent
            }
        })*
    };
}

from_variants! {
    Value: Data, absent: None;
    Parts: Parts, absent: None;
    bool: Boolean, absent: Some(false);
    f64: Number, absent: None;
}

impl FromWritten for Object {
    fn from_written(written: Written) -> Option<Self> {
        if let Written::Data(Value::Object(object)) = written { Some(object) } else { None }
    }

    fn absent() -> Option<Self> {
        Some(Object::new())
    }
}

impl<T: FromWritten> FromWritten for Option<T> {
    fn from_written(written: Written) -> Option<Self> {
        T::from_written(written).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: FromWritten + 'static> FromWritten for Vec<T> {
    fn from_written(written: Written) -> Option<Self> {
        match written {
            Written::List(items) => items.into_iter().map(T::from_written).collect(),
            Written::Made(value) => value.downcast().ok().map(|list| *list),
            _ => None,
        }
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

impl FromWritten for String {
    fn from_written(written: Written) -> Option<Self> {
        match written {
            Written::Text(text) => Some(text),
            Written::Word(word) => Some(word.to_owned()),
            Written::Made(value) => value.downcast().ok().map(|text| *text),
            _ => None,
        }
    }
}

impl FromWritten for u64 {
    fn from_written(written: Written) -> Option<Self> {
        match written {
            Written::Integer(value) => Some(value),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers of a range")]
            Written::Number(value) => Some(value as u64),
            _ => None,
        }
    }
}

impl FromWritten for u32 {
    fn from_written(written: Written) -> Option<Self> {
        u64::from_written(written).and_then(|value| value.try_into().ok())
    }
}

/// Types that the loader makes itself.
macro_rules! made {
    ($($name:ty),* $(,)?) => {
        $(impl $crate::keys::FromWritten for $name {
            fn from_written(written: $crate::keys::Written) -> Option<Self> {
                let $crate::keys::Written::Made(value) = written else { return None };
                value.downcast().ok().map(|value| *value)
            }
        })*
    };
}

pub(crate) use made;
