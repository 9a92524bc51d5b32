//! What the keys of files are: their tables, made by the derive `Keys` from the types that hold their values.

mod parts;
pub mod range;

use crate::diagnostics::Code;

pub(crate) use parts::made;
pub use parts::{FromWritten, Parts, Written};
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
