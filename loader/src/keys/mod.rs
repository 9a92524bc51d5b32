//! Every key that a file of a suite can have: one static table per object.
//!
//! The reader takes from these tables which keys exist, their old spellings and the words they accept. The reference in
//! `docs/reference` and the JSON Schemas for editors are made from the same tables. A key that is read and has no line here
//! is unknown to the reader, and a line that nothing reads fails a test.

pub(crate) mod calibration;
pub(crate) mod case;
pub(crate) mod execution;
pub(crate) mod grader;
mod json_schema;
pub(crate) mod judged;
pub(crate) mod message;
pub mod placeholder;
pub(crate) mod range;
pub(crate) mod suite;
pub(crate) mod targets;
pub(crate) mod task;
pub(crate) mod workspace;

#[cfg(test)]
mod tests;

use crate::diagnostic::Code;

pub use grader::{COMMON as GRADER_KEYS, GRADERS, RUST_GRADER, TASK_COMMON as TASK_GRADER_KEYS};
pub use json_schema::json_schema;
pub use range::Range;

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
}

impl Table {
    const fn new(id: &'static str, what: &'static str, doc: &'static str, keys: &'static [Key]) -> Self {
        Self { id, what, doc, common: &[], keys, is_open: false, example: "" }
    }

    const fn with(mut self, common: &'static [Key]) -> Self {
        self.common = common;
        self
    }

    const fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

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
}

/// Whether a [`Key`] has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It is a setting.
    Current,
    /// It was replaced by something that is written elsewhere: deprecated-key.
    Replaced(&'static str),
    /// It is accepted and ignored, with the warning no-effect; the text says what to do instead.
    NoEffect(&'static str),
    /// It is an error.
    Refused,
}

/// What the value of a [`Key`] can be.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
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
    /// A line for the shell, or a list of program and arguments.
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
    const fn new(name: &'static str, value: Type, doc: &'static str, example: &'static str) -> Self {
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
        }
    }

    const fn old(mut self, spellings: &'static [&'static str]) -> Self {
        self.old = spellings;
        self
    }

    const fn or(mut self, spelling: &'static str) -> Self {
        self.or = Some(spelling);
        self
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = Some(unit);
        self
    }

    const fn codes(mut self, codes: &'static [Code]) -> Self {
        self.codes = codes;
        self
    }

    const fn replaced(mut self, by: &'static str) -> Self {
        self.status = Status::Replaced(by);
        self
    }

    const fn no_effect(mut self, instead: &'static str) -> Self {
        self.status = Status::NoEffect(instead);
        self
    }

    const fn refused(mut self) -> Self {
        self.status = Status::Refused;
        self
    }
}

/// The words of a table of choices.
const fn words<T, const N: usize>(choices: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut index = 0;
    while index < N {
        words[index] = choices[index].0;
        index += 1;
    }
    words
}

/// The place of a JSON Schema for editors: any file may name one.
pub(crate) static SCHEMA: &[Key] =
    &[Key::new("$schema", Type::Any, "JSON Schema for editors. It is not read.", "./case.schema.json")];

/// The kinds of files, by the name that `cargo evalsuite schema` has for them, with what their root is.
pub const FILES: &[(&str, Type)] = &[
    ("eval", Type::Object(&suite::EVAL_FILE)),
    ("case", Type::Object(&case::CASE_FILE)),
    ("cases", Type::List(&Type::Object(&case::CASE))),
    ("suite", Type::Object(&suite::SUITE_JSON)),
    ("task", Type::Object(&task::TASK)),
    ("calibration", Type::Object(&calibration::CALIBRATION)),
    ("samples", Type::List(&Type::Object(&calibration::SAMPLE))),
    ("targets", Type::Object(&targets::TARGETS_FILE)),
    ("template", Type::Object(&grader::TEMPLATE)),
    ("workspace", Type::Object(&workspace::WORKSPACE)),
];

/// Every table: those of the roots of [`FILES`] and what is below them, then those of graders.
pub fn tables() -> Vec<&'static Table> {
    let mut found = Vec::new();
    for (_, root) in FILES {
        collect(root, &mut found);
    }
    found.extend(GRADERS.iter().copied().chain([&RUST_GRADER, &grader::RUBRIC]));
    let mut next = 0;
    while let Some(table) = found.get(next) {
        for key in table.all_keys() {
            collect(&key.value, &mut found);
        }
        next += 1;
    }
    found
}

fn collect(value: &Type, found: &mut Vec<&'static Table>) {
    match value {
        Type::Object(table) if found.iter().all(|known| known.id != table.id) => found.push(table),
        Type::List(of) | Type::Some(of) | Type::Map(of) => collect(of, found),
        Type::OneOf(types) => types.iter().for_each(|of| collect(of, found)),
        _ => {}
    }
}

/// Notes in tests that a key was read, which has to be in one of the tables.
#[cfg(test)]
pub(crate) fn note_read(common: &'static [Key], keys: &'static [Key], name: &str) {
    let key = common.iter().chain(keys).find(|key| key.name == name);
    tests::READ.with_borrow_mut(|read| read.insert(std::ptr::from_ref(key.expect("a key of the table"))));
}
