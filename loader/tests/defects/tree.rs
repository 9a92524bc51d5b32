//! Values of a file before it is written, with what the format says about each of them.

use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::keys::{Range, range};

/// Indexes of entries and items that lead from the root of a file to a value.
pub(crate) type Path = Vec<usize>;

/// A value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) body: Body,
    pub(crate) rule: Rule,
    /// What it is, where breaks look for it.
    pub(crate) tag: &'static str,
    /// It is needed while the suite compiles: `${{ }}` is refused.
    pub(crate) literal: bool,
    pub(crate) style: Style,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// These characters, whatever they are.
    Raw(String),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: Node,
    /// What its absence is.
    pub(crate) required: Option<Code>,
    /// Old spellings.
    pub(crate) old: &'static [&'static str],
    /// An equally good spelling, and which of the two is reported where both are there.
    pub(crate) other: Option<(&'static str, &'static str)>,
}

/// How a value is laid out, which changes nothing but its place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Style {
    /// With brackets, in one line.
    pub(crate) flow: bool,
    /// A list at the indentation of its key.
    pub(crate) indentless: bool,
    pub(crate) quote: Quote,
    /// What is before the entry or item.
    pub(crate) before: Before,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Quote {
    #[default]
    Plain,
    Single,
    Double,
    Block,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Before {
    #[default]
    Nothing,
    Comment,
    BlankLine,
}

/// What a value has to be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// Breaks of its own, or none.
    Free,
    /// A mapping of which all keys are known; what it is.
    Keys(&'static str),
    /// A mapping with any keys.
    Open,
    List,
    /// Text that is not blank.
    Text,
    /// Text that is not empty.
    NotEmpty,
    String,
    Bool,
    /// A whole number within bounds.
    Integer(i64, i64),
    /// A number in a range.
    Number(&'static Range),
    Choice(&'static [&'static str]),
    /// A file or directory, and the code for one that is missing.
    Path(Wanted, Code),
    Weight,
    /// A shell line, or a program and its arguments.
    Command,
    /// A program and its arguments.
    Argv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    File,
    Directory,
}

/// Bounds of [`Rule::Integer`] that are not there.
pub(crate) const UNBOUNDED: i64 = i64::MAX;

pub(crate) const FRACTION: Rule = Rule::Number(&range::FRACTION);
pub(crate) const NOT_NEGATIVE: Rule = Rule::Number(&range::NOT_NEGATIVE);
pub(crate) const PASS_MARK: Rule = Rule::Number(&range::PASS_MARK);

impl Node {
    pub(crate) fn new(body: Body) -> Self {
        Self { body, rule: Rule::Free, tag: "", literal: false, style: Style::default() }
    }

    pub(crate) fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    pub(crate) fn tag(mut self, tag: &'static str) -> Self {
        self.tag = tag;
        self
    }

    pub(crate) fn literal(mut self) -> Self {
        self.literal = true;
        self
    }

    /// Adds an entry to a mapping.
    pub(crate) fn put(mut self, key: &str, value: Node) -> Self {
        self.push(entry(key, value));
        self
    }

    /// Adds an entry whose absence is `code`.
    pub(crate) fn need(mut self, code: Code, key: &str, value: Node) -> Self {
        self.push(Entry { required: Some(code), ..entry(key, value) });
        self
    }

    /// Adds an entry with old spellings.
    pub(crate) fn renamed(mut self, key: &str, old: &'static [&'static str], value: Node) -> Self {
        self.push(Entry { old, ..entry(key, value) });
        self
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        match &mut self.body {
            Body::Map(entries) => entries.push(entry),
            other => panic!("{other:?} has no entries"),
        }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.body {
            Body::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Node] {
        match &self.body {
            Body::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Index and value of a key.
    pub(crate) fn find(&self, key: &str) -> Option<(usize, &Node)> {
        self.entries()
            .iter()
            .enumerate()
            .find(|(_, entry)| entry.key == key)
            .map(|(index, entry)| (index, &entry.value))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.find(key).map(|(_, value)| value)
    }

    pub(crate) fn at(&self, path: &[usize]) -> &Node {
        let Some((first, rest)) = path.split_first() else { return self };
        match &self.body {
            Body::List(items) => items[*first].at(rest),
            Body::Map(entries) => entries[*first].value.at(rest),
            other => panic!("{path:?} of {other:?}"),
        }
    }

    pub(crate) fn at_mut(&mut self, path: &[usize]) -> &mut Node {
        let Some((first, rest)) = path.split_first() else { return self };
        match &mut self.body {
            Body::List(items) => items[*first].at_mut(rest),
            Body::Map(entries) => entries[*first].value.at_mut(rest),
            other => panic!("{path:?} of {other:?}"),
        }
    }

    /// The entries of the mapping at `path`.
    pub(crate) fn entries_at(&mut self, path: &[usize]) -> &mut Vec<Entry> {
        match &mut self.at_mut(path).body {
            Body::Map(entries) => entries,
            other => panic!("{other:?} has no entries"),
        }
    }

    /// The items of the list at `path`.
    pub(crate) fn items_at(&mut self, path: &[usize]) -> &mut Vec<Node> {
        match &mut self.at_mut(path).body {
            Body::List(items) => items,
            other => panic!("{other:?} has no items"),
        }
    }

    /// Calls `see` for this value and every value inside.
    pub(crate) fn walk<'n>(&'n self, path: &mut Path, see: &mut impl FnMut(&[usize], &'n Node)) {
        see(path, self);
        let children: Vec<&Node> = match &self.body {
            Body::List(items) => items.iter().collect(),
            Body::Map(entries) => entries.iter().map(|entry| &entry.value).collect(),
            _ => Vec::new(),
        };
        for (index, child) in children.into_iter().enumerate() {
            path.push(index);
            child.walk(path, see);
            path.pop();
        }
    }

    /// Calls `change` for this value and every value inside.
    pub(crate) fn walk_mut(&mut self, change: &mut impl FnMut(&mut Node)) {
        change(self);
        match &mut self.body {
            Body::List(items) => items.iter_mut().for_each(|item| item.walk_mut(change)),
            Body::Map(entries) => entries.iter_mut().for_each(|entry| entry.value.walk_mut(change)),
            _ => {}
        }
    }
}

pub(crate) fn entry(key: &str, value: Node) -> Entry {
    Entry { key: key.to_owned(), value, required: None, old: &[], other: None }
}

/// Text with any characters.
pub(crate) fn any_text(text: impl Into<String>) -> Node {
    Node::new(Body::Text(text.into()))
}

/// Text that is not blank.
pub(crate) fn text(written: impl Into<String>) -> Node {
    any_text(written).rule(Rule::Text)
}

/// Text that is neither blank nor interpolated.
pub(crate) fn name(written: impl Into<String>) -> Node {
    text(written).literal()
}

pub(crate) fn number(written: impl ToString) -> Node {
    Node::new(Body::Number(written.to_string()))
}

pub(crate) fn boolean(value: bool) -> Node {
    Node::new(Body::Bool(value)).rule(Rule::Bool)
}

pub(crate) fn integer(value: i64, low: i64, high: i64) -> Node {
    number(value).rule(Rule::Integer(low, high))
}

pub(crate) fn choice(value: &str, choices: &'static [&'static str]) -> Node {
    any_text(value).rule(Rule::Choice(choices)).literal()
}

pub(crate) fn list(items: impl IntoIterator<Item = Node>) -> Node {
    Node::new(Body::List(items.into_iter().collect())).rule(Rule::List)
}

/// A mapping of which all keys are known.
pub(crate) fn keys(what: &'static str) -> Node {
    Node::new(Body::Map(Vec::new())).rule(Rule::Keys(what))
}

/// A mapping with any keys.
pub(crate) fn open(entries: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, value)| entry(key, value)).collect();
    Node::new(Body::Map(entries)).rule(Rule::Open)
}

pub(crate) fn path(written: impl Into<String>, wanted: Wanted) -> Node {
    any_text(written).rule(Rule::Path(wanted, Code::MissingPath)).literal()
}

pub(crate) fn file(written: impl Into<String>) -> Node {
    path(written, Wanted::File)
}
