//! Flow style: braces, brackets and quotes, as in JSON.

use super::reader::Reader;
use super::{Data, MappingEntry, Node};

impl Reader<'_> {
    /// The mapping or list at the cursor, below a key or dash at column `around`: a line that is not deeper ends it, for a bracket may be
    /// missing.
    pub(super) fn flow(&mut self, around: Option<usize>) -> Node {
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
    pub(super) fn quoted(&mut self, quote: char) -> Node {
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
