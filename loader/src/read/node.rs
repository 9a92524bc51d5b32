//! The tree of values that a file is read into, with their spans, and repeated keys of a mapping.

use std::collections::HashMap;

use evalsuite_schema::json::{Number, Value};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::Span;

/// Bytes of a text that is repeated in a message, at most.
const MOST_SHOWN: usize = 40;

/// A value of a file, with its place: what the YAML, JSON and JSONL readers agree on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
    /// Only in a tree that was read as js-yaml reads it.
    #[cfg_attr(not(feature = "documents"), expect(dead_code, reason = "only documents are read as js-yaml reads them"))]
    Foreign(Foreign),
}

/// A value that js-yaml reads from a scalar without quotes, and that JSON does not have.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    not(feature = "documents"),
    expect(dead_code, unreachable_pub, reason = "only documents are read as js-yaml reads them")
)]
pub enum Foreign {
    /// `.inf`, `-.inf` or `.nan`.
    NotFinite(f64),
    /// A date or a time, as written.
    Date(String),
}

/// A key of a mapping and its value. Keys that are not strings are spelled as they would be in JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Entry {
    /// The text of a key next to this one, in quotes if this one has them, as in JSON.
    pub(crate) fn quoted_alike(&self, key: &str) -> String {
        let (start, end) = (self.key_span.start(), self.key_span.end());
        let is_quoted = end.line != start.line || (end.column - start.column) as usize != self.key.chars().count();
        if is_quoted { format!("\"{key}\"") } else { key.to_owned() }
    }
}

impl Node {
    /// What kind of value this is, for messages: "a list", "a number".
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::String(_) => "text",
            Data::Sequence(_) => "a list",
            Data::Mapping(_) => "a mapping",
            Data::Foreign(Foreign::NotFinite(_)) => "a number",
            Data::Foreign(Foreign::Date(_)) => "a date",
        }
    }

    /// The number, that a list is empty, or else the kind of the value, for messages.
    pub(crate) fn number_or_kind(&self) -> String {
        match &self.data {
            Data::Number(number) => number.to_string(),
            Data::Sequence(items) if items.is_empty() => "an empty list".to_owned(),
            _ => self.kind().to_owned(),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Data::String(text) = &self.data { Some(text) } else { None }
    }

    /// Its value, if it is a number.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        if let Data::Number(number) = &self.data { number.as_f64() } else { None }
    }

    pub(crate) fn as_mapping(&self) -> Option<&[Entry]> {
        if let Data::Mapping(entries) = &self.data { Some(entries) } else { None }
    }

    pub(crate) fn as_sequence(&self) -> Option<&[Node]> {
        if let Data::Sequence(items) = &self.data { Some(items) } else { None }
    }

    /// Whether it is written with brackets or braces. Without them, a mapping starts with its first key, and a list ends with its last
    /// element.
    pub(crate) fn is_flow(&self) -> bool {
        match &self.data {
            Data::Mapping(entries) => entries.first().is_none_or(|first| first.key_span.start() != self.span.start()),
            Data::Sequence(items) => items.last().is_none_or(|last| last.span.end() != self.span.end()),
            _ => false,
        }
    }

    /// What separates the entries of this mapping, which start at `column`.
    pub(crate) fn separator(&self, column: u32) -> Option<String> {
        let indent = || Some(" ".repeat(usize::try_from(column).ok()?.checked_sub(1)?));
        if self.is_flow() { Some(", ".to_owned()) } else { Some(format!("\n{}", indent()?)) }
    }

    /// Whether it is written the same with braces around it: not a text with characters that have a meaning there.
    pub(crate) fn is_plain(&self) -> bool {
        match &self.data {
            Data::String(text) => {
                !text.is_empty() && !text.contains(|c: char| c.is_control() || ",[]{}#:&*!|>'\"%@`\\?".contains(c))
            }
            Data::Null => false,
            _ => true,
        }
    }

    /// The value in a message, if it is short: a list, mapping or long text is `…`.
    pub(crate) fn shown(&self) -> String {
        match &self.data {
            Data::Bool(value) => value.to_string(),
            Data::Number(value) => value.to_string(),
            Data::String(text) if self.is_plain() && text.len() <= MOST_SHOWN => text.clone(),
            Data::String(text) if text.len() <= MOST_SHOWN => self.to_json().to_string(),
            _ => "…".to_owned(),
        }
    }

    /// The value of `key`, also when it is null.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_mapping()?.iter().find(|entry| entry.key == key)
    }

    /// Takes the entry whose key is at `key` out of a mapping.
    pub(crate) fn take_entry(&mut self, key: Span) -> Option<Entry> {
        let Data::Mapping(entries) = &mut self.data else { return None };
        let index = entries.iter().position(|entry| entry.key_span == key)?;
        Some(entries.swap_remove(index))
    }

    /// About how many bytes the value takes.
    pub(crate) fn size(&self) -> usize {
        let own = size_of::<Self>();
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Foreign(_) => own,
            Data::String(text) => own + text.len(),
            Data::Sequence(items) => own + items.iter().map(Node::size).sum::<usize>(),
            Data::Mapping(entries) => {
                own + entries.iter().map(|entry| entry.key.len() + entry.value.size()).sum::<usize>()
            }
        }
    }

    /// The value without places.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Null | Data::Foreign(_) => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(value) => Value::Number(value.clone()),
            Data::String(value) => Value::String(value.clone()),
            Data::Sequence(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Data::Mapping(entries) => {
                Value::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect())
            }
        }
    }
}

/// Mappings up to this size are compared key by key, larger ones through an index.
const SMALL: usize = 16;

/// A key that each item of a list of graders has: a mapping with two of them is two graders in one item.
const ITEM_KEY: &str = "type";

/// Reports keys that were written before and keeps the first of each.
pub(super) fn drop_repeated(entries: &mut Vec<Entry>, d: &mut Diagnostics) {
    let repeats = if entries.len() <= SMALL { repeats_of_few(entries) } else { repeats_of_many(entries) };
    // What follows a second type belongs to a second item.
    let second_item = repeats.iter().map(|&(_, again)| again).find(|again| entries[*again].key == ITEM_KEY);
    for &(first, again) in &repeats {
        if second_item.is_some_and(|second| again > second) && entries[again].key != ITEM_KEY {
            continue;
        }
        let (first, again) = (&entries[first], &entries[again]);
        let message = format!("key `{}` given twice", again.key);
        let problem = Diagnostic::new(Code::DuplicateKey, message).at(again.key_span);
        let is_in_one_line = first.key_span.start().line == again.key_span.start().line;
        let help = match again.key.as_str() {
            ITEM_KEY if is_in_one_line => "keep one; for two items, write each in its own braces: `{ … }, { … }`",
            ITEM_KEY => "keep one; for two items of a list, start the second with `-`",
            _ => "keep one",
        };
        d.push(problem.related(first.key_span, "first given here").help(help));
    }
    if !repeats.is_empty() {
        let mut repeats = repeats.iter().map(|&(_, again)| again).peekable();
        let mut index = 0..;
        entries.retain(|_| repeats.next_if_eq(&index.next().unwrap_or_default()).is_none());
    }
}

/// Pairs of the first index of a key and a later one, ordered by the later one.
fn repeats_of_few(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut repeats = Vec::new();
    let mut again = 1;
    while again < entries.len() {
        let key = &entries[again].key;
        let mut first = 0;
        while first < again {
            // The lengths are compared first: this is the common case, in code that runs unoptimised.
            if entries[first].key.len() == key.len() && entries[first].key == *key {
                repeats.push((first, again));
                break;
            }
            first += 1;
        }
        again += 1;
    }
    repeats
}

fn repeats_of_many(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut firsts = HashMap::with_capacity(entries.len());
    let keys = entries.iter().map(|entry| entry.key.as_str()).enumerate();
    let pairs = keys.map(|(index, key)| (*firsts.entry(key).or_insert(index), index));
    pairs.filter(|(first, again)| first != again).collect()
}
