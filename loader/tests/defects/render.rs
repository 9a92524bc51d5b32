//! Writes values as YAML, JSON or JSON lines, and returns where each of them is.

use std::collections::BTreeMap;

use crate::tree::{Before, Body, Entry, Node, Path, Quote};

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Yaml,
    Json,
    /// The root is a list, each item one line.
    Lines,
}

/// A value, or the key before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Key,
    Value,
}

/// Line and column, from 1, in characters.
pub(crate) type Pos = (u32, u32);

/// A file as it is written.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) places: BTreeMap<(Path, Part), Pos>,
}

pub(crate) fn render(root: &Node, syntax: Syntax) -> Text {
    let mut writer = Writer { text: String::new(), line: 1, column: 1, places: BTreeMap::new(), path: Vec::new() };
    match syntax {
        Syntax::Yaml => writer.yaml_root(root),
        Syntax::Json => {
            writer.json(root, 0, false);
            writer.put("\n");
        }
        Syntax::Lines => writer.lines(root),
    }
    Text { text: writer.text, places: writer.places }
}

struct Writer {
    text: String,
    line: u32,
    column: u32,
    places: BTreeMap<(Path, Part), Pos>,
    /// Where the value that is being written is.
    path: Path,
}

impl Writer {
    fn put(&mut self, text: &str) {
        for character in text.chars() {
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.text.push_str(text);
    }

    fn mark(&mut self, part: Part) {
        self.places.insert((self.path.clone(), part), (self.line, self.column));
    }

    fn newline(&mut self, indent: usize) {
        self.put("\n");
        self.put(&" ".repeat(indent));
    }

    fn child(&mut self, index: usize, write: impl FnOnce(&mut Self)) {
        self.path.push(index);
        write(self);
        self.path.pop();
    }

    fn yaml_root(&mut self, root: &Node) {
        match is_block(root) {
            true => self.block(root, 0, true),
            false => self.inline(root, 0),
        }
        self.put("\n");
    }

    /// A collection without brackets; its first line continues at the writer's position.
    fn block(&mut self, node: &Node, indent: usize, mut at_line_start: bool) {
        match &node.body {
            Body::Map(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    self.start_line(index, indent, entry.value.style.before, at_line_start);
                    at_line_start = true;
                    if index == 0 {
                        self.mark(Part::Value);
                    }
                    self.child(index, |writer| writer.block_entry(entry, indent));
                }
            }
            Body::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.start_line(index, indent, item.style.before, at_line_start);
                    at_line_start = true;
                    if index == 0 {
                        self.mark(Part::Value);
                    }
                    self.put("- ");
                    self.child(index, |writer| match is_block(item) {
                        true => writer.block(item, indent + 2, false),
                        false => writer.inline(item, indent),
                    });
                }
            }
            _ => self.inline(node, indent),
        }
    }

    /// Goes to where an entry or item begins; the first one begins where the writer is.
    fn start_line(&mut self, index: usize, indent: usize, before: Before, at_line_start: bool) {
        if index > 0 {
            self.newline(indent);
        }
        if !at_line_start {
            return;
        }
        match before {
            Before::Nothing => {}
            Before::Comment => {
                self.put("# a note: [not a value");
                self.newline(indent);
            }
            Before::BlankLine => {
                self.put("\n");
                self.put(&" ".repeat(indent));
            }
        }
    }

    fn block_entry(&mut self, entry: &Entry, indent: usize) {
        self.mark(Part::Key);
        self.yaml_key(&entry.key);
        self.put(":");
        let value = &entry.value;
        if !is_block(value) {
            if !matches!(&value.body, Body::Raw(raw) if raw.is_empty()) {
                self.put(" ");
            }
            return self.inline(value, indent);
        }
        let is_indentless = value.style.indentless && matches!(value.body, Body::List(_));
        let indent = if is_indentless { indent } else { indent + 2 };
        self.newline(indent);
        self.block(value, indent, true);
    }

    fn yaml_key(&mut self, key: &str) {
        if key == "<<" || is_plain(key) {
            self.put(key);
        } else {
            self.put(&json_text(key));
        }
    }

    /// A scalar, or a collection in brackets. `indent` is that of the collection around it.
    fn inline(&mut self, node: &Node, indent: usize) {
        self.mark(Part::Value);
        match &node.body {
            Body::Null => self.put("null"),
            Body::Bool(value) => self.put(if *value { "true" } else { "false" }),
            Body::Number(number) => self.put(number),
            Body::Raw(raw) => self.put(raw),
            Body::Text(text) => match node.style.quote {
                Quote::Block if is_paragraph(text) => {
                    self.put("|-");
                    for (index, line) in text.split('\n').enumerate() {
                        self.newline(indent + 2);
                        if index == 0 {
                            // The text starts below its mark.
                            self.mark(Part::Value);
                        }
                        self.put(line);
                    }
                }
                style => self.yaml_text(text, style),
            },
            Body::List(items) => {
                self.put("[");
                for (index, item) in items.iter().enumerate() {
                    self.put(if index > 0 { ", " } else { "" });
                    self.child(index, |writer| writer.flow(item));
                }
                self.put("]");
            }
            Body::Map(entries) => {
                self.put("{");
                for (index, entry) in entries.iter().enumerate() {
                    self.put(if index > 0 { ", " } else { " " });
                    self.child(index, |writer| {
                        writer.mark(Part::Key);
                        writer.yaml_key(&entry.key);
                        writer.put(": ");
                        writer.flow(&entry.value);
                    });
                }
                self.put(" }");
            }
        }
    }

    /// A value in brackets, where there are no block scalars.
    fn flow(&mut self, node: &Node) {
        match &node.body {
            Body::Text(text) if node.style.quote == Quote::Block => {
                self.mark(Part::Value);
                self.yaml_text(text, Quote::Double);
            }
            _ => self.inline(node, 0),
        }
    }

    fn yaml_text(&mut self, text: &str, style: Quote) {
        match style {
            Quote::Plain if is_plain(text) => self.put(text),
            Quote::Single if text.chars().all(|character| !character.is_control()) => {
                self.put(&format!("'{}'", text.replace('\'', "''")));
            }
            _ => self.put(&json_text(text)),
        }
    }

    fn json(&mut self, node: &Node, indent: usize, one_line: bool) {
        let one_line = one_line || node.style.flow;
        let separate = |writer: &mut Self, index: usize| {
            writer.put(if index > 0 { "," } else { "" });
            match one_line {
                true if index > 0 => writer.put(" "),
                true => {}
                false => writer.newline(indent + 2),
            }
        };
        self.mark(Part::Value);
        match &node.body {
            Body::Null => self.put("null"),
            Body::Bool(value) => self.put(if *value { "true" } else { "false" }),
            Body::Number(number) => self.put(number),
            Body::Raw(raw) => self.put(raw),
            Body::Text(text) => self.put(&json_text(text)),
            Body::List(items) => {
                self.put("[");
                for (index, item) in items.iter().enumerate() {
                    separate(self, index);
                    self.child(index, |writer| writer.json(item, indent + 2, one_line));
                }
                self.close("]", items.is_empty() || one_line, indent);
            }
            Body::Map(entries) => {
                self.put("{");
                for (index, entry) in entries.iter().enumerate() {
                    separate(self, index);
                    self.child(index, |writer| {
                        writer.mark(Part::Key);
                        writer.put(&json_text(&entry.key));
                        writer.put(": ");
                        writer.json(&entry.value, indent + 2, one_line);
                    });
                }
                self.close("}", entries.is_empty() || one_line, indent);
            }
        }
    }

    fn close(&mut self, bracket: &str, here: bool, indent: usize) {
        if !here {
            self.newline(indent);
        }
        self.put(bracket);
    }

    fn lines(&mut self, root: &Node) {
        self.mark(Part::Value);
        for (index, item) in root.items().iter().enumerate() {
            if item.style.before == Before::BlankLine {
                self.put(" \n");
            }
            self.child(index, |writer| writer.json(item, 0, true));
            self.put("\n");
        }
    }
}

/// Whether a value is written without brackets, over several lines.
fn is_block(node: &Node) -> bool {
    match &node.body {
        Body::Map(entries) => !entries.is_empty() && !node.style.flow,
        Body::List(items) => !items.is_empty() && !node.style.flow,
        _ => false,
    }
}

/// Whether a block scalar holds the text as it is.
fn is_paragraph(text: &str) -> bool {
    !text.is_empty()
        && text.split('\n').all(|line| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(' '))
        && text.chars().all(|character| character == '\n' || !character.is_control())
}

/// Whether text stands for itself without quotes, in brackets too.
fn is_plain(text: &str) -> bool {
    let mut bytes = text.bytes();
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b" _-./".contains(&byte);
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(is_safe)
        && !text.ends_with(' ')
        && !["true", "false", "null"].contains(&text.to_ascii_lowercase().as_str())
}

/// Text in double quotes, as JSON and YAML both read it.
fn json_text(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            _ if character.is_control() || character == '\u{2028}' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
