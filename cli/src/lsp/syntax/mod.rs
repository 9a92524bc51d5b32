//! A reader of YAML and JSON that makes something of every text: a file is seldom valid while somebody types.
//!
//! `granit-parser` and `serde_json` stop at the first mistake. What this reader says about a file is used for completion and for what is
//! under the cursor, never for diagnostics.

#[cfg(test)]
mod tests;

use std::ops::Range;

/// A value and the bytes where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) data: Data,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Data {
    Mapping(Vec<MappingEntry>),
    Sequence(Vec<Node>),
    /// The text without quotes, not unescaped; empty where there is no value.
    Scalar(String),
}

/// A key of a mapping and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MappingEntry {
    pub(super) key: String,
    pub(super) key_range: Range<usize>,
    pub(super) value: Node,
    /// Whether a colon follows the key.
    pub(super) is_complete: bool,
}

impl Node {
    /// Nothing, at a place.
    fn empty(at: usize) -> Self {
        Self { range: at..at, data: Data::Scalar(String::new()) }
    }

    pub(super) fn entries(&self) -> &[MappingEntry] {
        match &self.data {
            Data::Mapping(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Node] {
        match &self.data {
            Data::Sequence(items) => items,
            _ => &[],
        }
    }

    pub(super) fn scalar(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        value_of(self.entries(), key)
    }
}

/// The value of a key of a mapping.
pub(super) fn value_of<'n>(entries: &'n [MappingEntry], key: &str) -> Option<&'n Node> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}

/// Values in values, at most: what is deeper is left out.
const MAX_DEPTH: usize = 64;

/// Reads a text, whatever is in it.
pub(super) fn read(text: &str) -> Node {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let mut root = reader.node(0);
    // What follows a first value that ended too early is read for its keys.
    loop {
        reader.skip_blank();
        if reader.at >= text.len() {
            return root;
        }
        let before = reader.at;
        let more = reader.node(0);
        match (&mut root.data, more.data) {
            (Data::Mapping(entries), Data::Mapping(more)) => entries.extend(more),
            (Data::Sequence(items), Data::Sequence(more)) => items.extend(more),
            (Data::Scalar(_), data) => root.data = data,
            _ => {}
        }
        root.range.end = reader.at;
        if reader.at == before {
            reader.skip_line();
        }
    }
}

/// Reads a text with a value in each line.
pub(super) fn read_lines(text: &str) -> Node {
    let mut items = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        // The text up to the end of the line: ranges are those of the whole text.
        let mut reader = Reader { text: text[..at + line.len()].trim_end(), at, depth: 0 };
        if !line.trim().is_empty() {
            items.push(reader.node(0));
        }
        at += line.len();
    }
    Node { range: 0..text.len(), data: Data::Sequence(items) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn column(&self) -> usize {
        self.at - self.text[..self.at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
    }

    /// The end of the line without its trailing comment and blanks.
    fn end_of_content(&self) -> usize {
        let line = self.rest().split(['\n', '\r']).next().unwrap_or_default();
        let comment = line.find(" #").unwrap_or(line.len());
        let comment = if line.starts_with('#') { 0 } else { comment };
        self.at + line[..comment].trim_end().len()
    }

    fn skip_line(&mut self) {
        let line = self.rest().split_inclusive(['\n', '\r']).next().unwrap_or_default();
        self.at += line.len();
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    /// Skips white space, comments and marks of documents.
    fn skip_blank(&mut self) {
        loop {
            self.skip_spaces();
            let rest = self.rest();
            let is_mark = (rest.starts_with("---") || rest.starts_with('%')) && self.column() == 0;
            if rest.starts_with(['\n', '\r']) || rest.starts_with('#') || is_mark {
                self.skip_line();
            } else {
                return;
            }
        }
    }

    /// Runs `read`, unless values are nested too deep.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Node {
        if self.depth >= MAX_DEPTH {
            let at = self.at;
            self.skip_line();
            return Node::empty(at);
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// The value at or after the cursor whose column is at least `least`.
    fn node(&mut self, least: usize) -> Node {
        let before = self.at;
        self.skip_blank();
        if self.at >= self.text.len() || self.column() < least {
            return Node::empty(before);
        }
        self.nested(|reader| {
            let column = reader.column();
            if reader.is_dash() {
                reader.sequence(column)
            } else if reader.key().is_some() || reader.has_key_below(column) {
                reader.mapping(column)
            } else {
                reader.inline_value(least.checked_sub(1))
            }
        })
    }

    fn is_dash(&self) -> bool {
        self.rest().strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
    }

    /// The key at the cursor, its bytes, and where its colon ends.
    fn key(&self) -> Option<(String, Range<usize>, usize)> {
        let line = &self.text[self.at..self.end_of_content()];
        let quote = line.chars().next().filter(|first| ['"', '\''].contains(first));
        let (key, length) = match quote {
            Some(quote) => {
                let length = line[1..].find(quote)? + 2;
                (&line[1..length - 1], length)
            }
            None if line.starts_with(['{', '[', ']', '}', '|', '>', ',', '#', '&', '*', '!', '%', '@']) => return None,
            None => {
                let is_colon = |(index, _): &(usize, &str)| {
                    let after = &line[index + 1..];
                    after.is_empty() || after.starts_with([' ', '\t'])
                };
                let (length, _) = line.match_indices(':').find(is_colon)?;
                (line[..length].trim_end(), length)
            }
        };
        let rest = line[length..].trim_start();
        let after = rest.strip_prefix(':')?;
        let colon = self.at + line.len() - after.len();
        let end = self.at + if quote.is_some() { length } else { key.len() };
        Some((key.to_owned(), self.at..end, colon))
    }

    /// Whether a line below, at the same column, starts with a key: then the words at the cursor are a key that is being typed.
    fn has_key_below(&self, column: usize) -> bool {
        if self.rest().starts_with(['{', '[', '"', '\'', '|', '>']) {
            return false;
        }
        let mut below = Reader { text: self.text, at: self.at, depth: 0 };
        below.skip_line();
        below.skip_blank();
        below.at < below.text.len() && below.column() == column && below.key().is_some()
    }

    fn sequence(&mut self, column: usize) -> Node {
        let start = self.at;
        let mut items = Vec::new();
        let mut end = start;
        while self.at < self.text.len() && self.column() == column && self.is_dash() {
            self.at += 1;
            items.push(self.node(column + 1));
            end = self.at;
            self.skip_blank();
        }
        Node { range: start..end, data: Data::Sequence(items) }
    }

    fn mapping(&mut self, column: usize) -> Node {
        let start = self.at;
        let mut entries = Vec::new();
        let mut end = start;
        while self.at < self.text.len() && self.column() >= column {
            if self.column() > column {
                // A line with a wrong indentation belongs to nothing.
                let before = self.at;
                let _ = self.node(column + 1);
                if self.at == before {
                    self.skip_line();
                }
            } else if let Some((key, key_range, colon)) = self.key() {
                self.at = colon;
                let value = self.value_of_key(column);
                entries.push(MappingEntry { key, key_range, value, is_complete: true });
            } else if self.is_dash() {
                break;
            } else {
                let content = self.end_of_content();
                let key_range = self.at..content;
                let key = self.text[key_range.clone()].trim_matches(['"', '\'']).to_owned();
                entries.push(MappingEntry { key, key_range, value: Node::empty(content), is_complete: false });
                self.skip_line();
            }
            end = self.at;
            self.skip_blank();
        }
        Node { range: start..end, data: Data::Mapping(entries) }
    }

    fn value_of_key(&mut self, column: usize) -> Node {
        self.skip_spaces();
        let after_colon = self.at;
        while self.rest().starts_with(['&', '!']) {
            let word = self.rest().split([' ', '\t', '\n', '\r']).next().unwrap_or_default();
            self.at += word.len();
            self.skip_spaces();
        }
        if !self.rest().is_empty() && !self.rest().starts_with(['\n', '\r', '#']) {
            return self.nested(|reader| reader.inline_value(Some(column)));
        }
        let mut ahead = Reader { text: self.text, at: self.at, depth: self.depth };
        ahead.skip_blank();
        // A list may be as deep as its key.
        let least = if ahead.column() == column && ahead.is_dash() { column } else { column + 1 };
        if ahead.at >= ahead.text.len() || ahead.column() < least {
            return Node::empty(after_colon);
        }
        self.node(least)
    }

    /// The value at the cursor, below a key or dash at column `around`.
    fn inline_value(&mut self, around: Option<usize>) -> Node {
        let first = self.rest().chars().next().unwrap_or_default();
        match first {
            '{' | '[' => self.flow(around),
            '"' | '\'' => self.quoted(first),
            '|' | '>' => self.block_scalar(around),
            _ => self.plain(around),
        }
    }

    fn block_scalar(&mut self, around: Option<usize>) -> Node {
        self.skip_line();
        let start = self.at;
        let mut end = start;
        while self.at < self.text.len() {
            let mut line = Reader { text: self.text, at: self.at, depth: 0 };
            line.skip_spaces();
            let is_blank = line.rest().is_empty() || line.rest().starts_with(['\n', '\r']);
            if !is_blank && around.is_some_and(|around| line.column() <= around) {
                break;
            }
            self.skip_line();
            if !is_blank {
                end = self.at;
            }
        }
        self.at = end;
        Node { range: start..end, data: Data::Scalar(self.text[start..end].to_owned()) }
    }

    fn plain(&mut self, around: Option<usize>) -> Node {
        let start = self.at;
        let mut end = self.end_of_content();
        self.at = end;
        // Lines that go on are deeper, and no keys.
        loop {
            let mut next = Reader { text: self.text, at: self.at, depth: 0 };
            next.skip_line();
            next.skip_blank();
            let is_deeper = around.is_none_or(|around| next.column() > around);
            if next.at >= next.text.len() || !is_deeper || next.is_dash() || next.key().is_some() {
                break;
            }
            end = next.end_of_content();
            self.at = end;
        }
        Node { range: start..end, data: Data::Scalar(self.text[start..end].to_owned()) }
    }
}

impl Reader<'_> {
    /// The mapping or list at the cursor, below a key or dash at column `around`: a line that is not deeper ends it, for a bracket may be
    /// missing.
    fn flow(&mut self, around: Option<usize>) -> Node {
        let start = self.at;
        let is_mapping = self.rest().starts_with('{');
        self.at += 1;
        let (mut entries, mut items) = (Vec::new(), Vec::new());
        while self.skip_in_flow(around) {
            let before = self.at;
            match self.rest().chars().next() {
                None => break,
                Some('}' | ']') => {
                    self.at += 1;
                    break;
                }
                Some(',') => self.at += 1,
                Some(_) if is_mapping => entries.push(self.flow_entry(around)),
                Some(_) => items.push(self.flow_item(around)),
            }
            if self.at == before {
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            }
        }
        let data = if is_mapping { Data::Mapping(entries) } else { Data::Sequence(items) };
        Node { range: start..self.at, data }
    }

    /// Skips white space; `false` at a line that belongs to what is around the flow.
    fn skip_in_flow(&mut self, around: Option<usize>) -> bool {
        let before = self.at;
        self.skip_blank();
        let is_next_line = self.text[before..self.at].contains(['\n', '\r']);
        let is_outer = is_next_line
            && around.is_some_and(|around| self.column() <= around)
            && (self.is_dash() || self.key().is_some());
        if is_outer {
            self.at = before;
        }
        !is_outer && self.at < self.text.len()
    }

    fn flow_entry(&mut self, around: Option<usize>) -> MappingEntry {
        let key = self.flow_scalar(true);
        let after_key = self.at;
        self.skip_spaces();
        let is_complete = self.rest().starts_with(':');
        let value = if is_complete {
            self.at += 1;
            let after_colon = self.at;
            let is_there = self.skip_in_flow(around) && !self.rest().starts_with([',', '}', ']']);
            if is_there { self.flow_value(around) } else { Node::empty(after_colon) }
        } else {
            self.at = after_key;
            Node::empty(after_key)
        };
        MappingEntry { key: key.scalar().unwrap_or_default().to_owned(), key_range: key.range, value, is_complete }
    }

    /// An item of a list, which may be a mapping with one key and without braces.
    fn flow_item(&mut self, around: Option<usize>) -> Node {
        let item = self.flow_value(around);
        self.skip_spaces();
        if item.scalar().is_none() || !self.rest().starts_with(':') {
            return item;
        }
        self.at = item.range.start;
        let start = self.at;
        let entry = self.flow_entry(around);
        Node { range: start..self.at, data: Data::Mapping(vec![entry]) }
    }

    fn flow_value(&mut self, around: Option<usize>) -> Node {
        match self.rest().chars().next() {
            Some('{' | '[') => self.nested(|reader| reader.flow(around)),
            _ => self.flow_scalar(false),
        }
    }

    fn flow_scalar(&mut self, is_key: bool) -> Node {
        if let Some(quote) = self.rest().chars().next().filter(|first| ['"', '\''].contains(first)) {
            return self.quoted(quote);
        }
        let start = self.at;
        let rest = self.rest();
        let is_blank = |character: Option<char>| character.is_none_or(char::is_whitespace);
        let ends = |(index, character): &(usize, char)| match character {
            ',' | '{' | '}' | '[' | ']' | '\n' | '\r' => true,
            ':' => is_key || is_blank(rest[index + 1..].chars().next()),
            '#' => is_blank(rest[..*index].chars().next_back()),
            _ => false,
        };
        let length = rest.char_indices().find(ends).map_or(rest.len(), |(index, _)| index);
        let text = rest[..length].trim_end();
        self.at = start + text.len();
        Node { range: start..self.at, data: Data::Scalar(text.to_owned()) }
    }

    /// A text in quotes; one without an end ends with its line.
    fn quoted(&mut self, quote: char) -> Node {
        let start = self.at;
        let inner = &self.text[start + 1..];
        let mut end = None;
        let mut characters = inner.char_indices().peekable();
        while let Some((index, character)) = characters.next() {
            let is_doubled = quote == '\'' && characters.peek().is_some_and(|(_, next)| *next == quote);
            if character == '\\' && quote == '"' || character == quote && is_doubled {
                characters.next();
            } else if character == quote {
                end = Some(index);
                break;
            } else if matches!(character, '\n' | '\r') {
                break;
            }
        }
        let closed = end.is_some();
        let end = end.unwrap_or_else(|| inner.find(['\n', '\r']).unwrap_or(inner.len()));
        self.at = start + 1 + end + usize::from(closed);
        Node { range: start..self.at, data: Data::Scalar(inner[..end].to_owned()) }
    }
}
