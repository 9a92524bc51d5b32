//! Values: objects, arrays and words. Strings and numbers have files of their own.

use super::reader::{Reader, Result};
use super::syntax_error;
use super::syntax_error::Inside;
use crate::diagnostic::{Code, Diagnostic};
use crate::read::node::{Data, Entry, Node};
use crate::read::{MAX_DEPTH, MAX_NODES, keys};
use crate::source::Position;

impl Reader<'_, '_> {
    /// The value that the whole text is.
    pub(super) fn document(mut self) -> Result<Node> {
        self.skip_white_space();
        let root = self.value(Inside::Nothing)?;
        self.skip_white_space();
        if self.at < self.bytes.len() {
            return syntax_error::text_after_value(&mut self);
        }
        Ok(root)
    }

    fn count_node(&mut self, start: Position) -> Result<()> {
        *self.nodes += 1;
        if *self.nodes <= MAX_NODES {
            return Ok(());
        }
        let message = format!("more than {MAX_NODES} values");
        Err(Box::new(Diagnostic::new(Code::LimitExceeded, message).at(self.span(start)).help("split the file")))
    }

    fn value(&mut self, inside: Inside) -> Result<Node> {
        let start = self.pos();
        self.count_node(start)?;
        let data = match self.byte(self.at) {
            b'"' => Data::String(self.string()?),
            b'{' => self.object(start)?,
            b'[' => self.array(start)?,
            b'-' | b'0'..=b'9' => Data::Number(self.number()?),
            b't' => self.word("true", Data::Bool(true))?,
            b'f' => self.word("false", Data::Bool(false))?,
            b'n' => self.word("null", Data::Null)?,
            _ => return syntax_error::missing_value(self, inside),
        };
        Ok(Node { span: self.span(start), data })
    }

    fn word(&mut self, word: &str, data: Data) -> Result<Data> {
        let end = self.at + word.len();
        let is_longer = self.byte(end).is_ascii_alphanumeric() || self.byte(end) == b'_' || self.byte(end) >= 0x80;
        if end > self.bytes.len() || self.bytes[self.at..end] != *word.as_bytes() || is_longer {
            return syntax_error::missing_value(self, Inside::Nothing);
        }
        self.at = end;
        Ok(data)
    }

    fn descend(&mut self, start: Position) -> Result<()> {
        self.at += 1;
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("nesting deeper than {MAX_DEPTH}");
        Err(Box::new(Diagnostic::new(Code::LimitExceeded, message).at(self.span(start)).help("split the file")))
    }

    fn array(&mut self, start: Position) -> Result<Data> {
        self.descend(start)?;
        let mut items = Vec::new();
        self.skip_white_space();
        if self.byte(self.at) != b']' {
            loop {
                items.push(self.value(Inside::Array(start))?);
                self.skip_white_space();
                match self.byte(self.at) {
                    b',' => self.at += 1,
                    b']' => break,
                    _ => return syntax_error::missing_separator(self, Inside::Array(start)),
                }
                self.skip_white_space();
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(Data::Sequence(items))
    }

    fn object(&mut self, start: Position) -> Result<Data> {
        self.descend(start)?;
        let mut entries = Vec::new();
        self.skip_white_space();
        if self.byte(self.at) != b'}' {
            loop {
                entries.push(self.entry(start)?);
                self.skip_white_space();
                match self.byte(self.at) {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return syntax_error::missing_separator(self, Inside::Object(start)),
                }
                self.skip_white_space();
            }
        }
        self.at += 1;
        self.depth -= 1;
        keys::drop_repeated(&mut entries, self.diagnostics);
        Ok(Data::Mapping(entries))
    }

    fn entry(&mut self, object: Position) -> Result<Entry> {
        let start = self.pos();
        if self.byte(self.at) != b'"' {
            return syntax_error::missing_key(self, object);
        }
        self.count_node(start)?;
        let key = self.string()?;
        let key_span = self.span(start);
        self.skip_white_space();
        if self.byte(self.at) != b':' {
            return syntax_error::missing_colon(self, &key, object);
        }
        self.at += 1;
        self.skip_white_space();
        let value = self.value(Inside::Object(object))?;
        Ok(Entry { key, key_span, value })
    }
}
