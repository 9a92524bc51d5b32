//! What the keys of files are: their tables, made by the derive `Keys` from the types that hold their values.
//!
//! Checked values on their way from a file to the types that hold them.

pub mod range;

use std::any::Any;

use crate::diagnostics::Code;
use crate::{Object, Value};

pub use range::Range;

/// A type whose fields are the keys of an object in a file.
pub trait Keys {
    /// The keys.
    const TABLE: &'static Table;
}

/// A type that is made from checked values of its keys.
pub trait FromParts: Keys + Sized {
    /// The value, from checked values of its keys; `None` if a required one is missing.
    fn from_parts(parts: &mut Parts) -> Option<Self>;
}

/// A mapping with a fixed set of keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct Table {
    /// Identifier, unique among the tables.
    pub id: &'static str,
    /// As messages name it: "a case", "`execution`".
    pub what: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Keys that it shares with other objects.
    pub common: &'static [Key],
    /// Its own keys.
    pub keys: &'static [Key],
    /// Whether keys that are not in the table are settings, too.
    pub is_open: bool,
    /// For a grader: the whole of one.
    pub example: &'static str,
    /// The diagnostic of a required key that is missing.
    pub missing: Code,
}

impl Table {
    /// A table of `keys`.
    pub const fn new(id: &'static str, what: &'static str, doc: &'static str, keys: &'static [Key]) -> Self {
        Self { id, what, doc, common: &[], keys, is_open: false, example: "", missing: Code::MissingKey }
    }

    /// No keys.
    pub const NONE: &Self = &Self::new("", "", "", &[]);

    /// Its keys, those it shares first.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.common.iter().chain(self.keys)
    }
}

/// One key of an [`Table`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Key {
    /// The key as it is written.
    pub name: &'static str,
    /// Whether it has an effect.
    pub status: Status,
    /// Old spellings, which are accepted with the warning `deprecated-key`.
    pub old: &'static [&'static str],
    /// An equally good spelling.
    pub or: Option<&'static str>,
    /// What its value can be.
    pub value: Type,
    /// Whether the object needs it.
    pub required: bool,
    /// What holds without it.
    pub default: Option<&'static str>,
    /// Unit of its number.
    pub unit: Option<&'static str>,
    /// First version that reads it.
    pub since: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// A value, in YAML.
    pub example: &'static str,
    /// Diagnostics of its own, beside those that follow from its type.
    pub codes: &'static [Code],
    /// The diagnostic of a list or mapping without elements: its code, what the value is, and the help.
    pub empty: Option<(Code, &'static str, &'static str)>,
    /// Whether the loader has code of its own that reads it.
    pub by_hand: bool,
}

/// Whether a [`Key`] has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is a setting.
    Current,
    /// It was replaced by something that is written elsewhere: deprecated-key.
    Replaced(&'static str),
    /// It is accepted and ignored, with the warning no-effect; the text says what to do instead.
    NoEffect(&'static str),
    /// It is an error: its code, the message and the help.
    Refused(Code, &'static str, &'static str),
}

/// What the value of a [`Key`] can be.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// Any value.
    Any,
    /// Text, which may be empty.
    AnyText,
    /// Text that is not empty; it may be blank.
    NotEmpty,
    /// Text that is not blank.
    Text,
    /// Text that is not blank and contains no `${{ }}`.
    Literal,
    /// A literal text that matches a regular expression; the words describe it.
    Pattern(&'static str, &'static str),
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number(&'static Range),
    /// A whole number from the first to the second number.
    Integer(u64, u64),
    /// One of some words.
    Choice(&'static [&'static str]),
    /// Path of a file.
    File,
    /// Path of a directory.
    Directory,
    /// A command line for the shell, or a list of program and arguments.
    Command,
    /// A list of program and arguments.
    Arguments,
    /// A mapping of any keys to any values.
    Data,
    /// A list.
    List(&'static Type),
    /// A list with at least one element.
    Some(&'static Type),
    /// A mapping of any keys to values of a type.
    Map(&'static Type),
    /// A mapping with the keys of a table.
    Object(&'static Table),
    /// One of several types.
    OneOf(&'static [Type]),
    /// A grader: a mapping with `type` and the settings of this type.
    Grader,
    /// Settings of the grader that `name` selects.
    GraderSettings,
}

impl Key {
    /// A key that may be absent.
    pub const fn new(name: &'static str, value: Type, doc: &'static str, example: &'static str) -> Self {
        Self {
            name,
            status: Status::Current,
            old: &[],
            or: None,
            value,
            required: false,
            default: None,
            unit: None,
            since: "0.1",
            doc,
            example,
            codes: &[],
            empty: None,
            by_hand: false,
        }
    }

    /// The key with its example, as YAML. An example that starts with a line break is in the lines below the key.
    pub fn written_example(&self) -> String {
        let blank = if self.example.starts_with('\n') { "" } else { " " };
        format!("{}:{blank}{}", self.name, self.example)
    }
}

/// The place of a JSON Schema for editors: any file may name one.
pub const SCHEMA_KEY: &[Key] =
    &[Key::new("$schema", Type::Any, "JSON Schema for editors. It is not read.", "./case.schema.json")];

/// An id: text that is not blank, without control characters and `${{ }}`.
pub const ID: Type =
    Type::Pattern(r"^(?=[\s\S]*\S)(?![\s\S]*\$\{\{)[^\u0000-\u001f\u007f-\u009f]+$", "text without control characters");

/// A random text by which a leak of a suite's files is noticed.
pub(crate) const CANARY: Type =
    Type::Pattern("^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$", "a GUID, as `uuidgen` prints one");

/// The number of keys in several lists.
pub const fn number_of(lists: &[&[Key]]) -> usize {
    let (mut number, mut index) = (0, 0);
    while index < lists.len() {
        number += lists[index].len();
        index += 1;
    }
    number
}

/// Several lists of keys, of which there are `N`, in one.
pub const fn joined<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    let mut keys = [Key::new("", Type::Any, "", ""); N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            keys[at] = lists[list][index];
            at += 1;
            index += 1;
        }
        list += 1;
    }
    keys
}

/// A value that was checked against the [`Type`](Type) of its key.
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
    pub fn into_value<T: FromParts>(mut self) -> Option<T> {
        if self.is_broken { None } else { T::from_parts(&mut self) }
    }

    /// The value of the object without what is broken; `None` if a required value is missing.
    pub fn into_value_of_rest<T: FromParts>(mut self) -> Option<T> {
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
