//! Block style: keys and dashes by their indentation.

use std::ops::Range;

use super::{Data, MappingEntry, Node};

/// Values in values, at most: what is deeper is left out.
const MAX_DEPTH: usize = 64;

/// Reads a text, whatever is in it.
pub(in crate::lsp) fn read(text: &str) -> Node {
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
pub(in crate::lsp) fn read_lines(text: &str) -> Node {
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

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn column(&self) -> usize {
        self.at - self.text[..self.at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
    }

    /// The end of the line without its trailing comment and blanks.
    pub(super) fn end_of_content(&self) -> usize {
        let line = self.rest().split(['\n', '\r']).next().unwrap_or_default();
        let comment = line.find(" #").unwrap_or(line.len());
        let comment = if line.starts_with('#') { 0 } else { comment };
        self.at + line[..comment].trim_end().len()
    }

    pub(super) fn skip_line(&mut self) {
        let line = self.rest().split_inclusive(['\n', '\r']).next().unwrap_or_default();
        self.at += line.len();
    }

    pub(super) fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    /// Skips white space, comments and marks of documents.
    pub(super) fn skip_blank(&mut self) {
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
    pub(super) fn nested(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Node {
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

    pub(super) fn is_dash(&self) -> bool {
        self.rest().strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
    }

    /// The key at the cursor, its bytes, and where its colon ends.
    pub(super) fn key(&self) -> Option<(String, Range<usize>, usize)> {
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
