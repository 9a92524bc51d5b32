//! JSON as RFC 8259 has it, and JSON lines: a reader of our own. `jsonc-parser` has byte ranges, but reads numbers as text, keeps repeated
//! keys, and is slower before any of that is checked (467 bytes unoptimised: 11 us, 7 us here). Tests compare with `serde_json`.

mod syntax_error;

use evalsuite_schema::json::{Number, number_of_digits};

use self::syntax_error::Inside;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::node::{self, Data, Entry, Node};
use crate::read::{self, MAX_DEPTH, MAX_NODES};
use crate::source::{FileId, Position, Span};

/// The tree of a JSON document.
///
/// `None` if there is no tree to check: the text is not JSON, or it exceeds a limit. Repeated keys are reported as well, but
/// the first of each stays and can be checked.
pub(crate) fn parse_json(file: FileId, text: &str, d: &mut Diagnostics) -> Option<Node> {
    let root = Reader::new(file, text, 1, &mut 0, d).document();
    root.map_err(|problem| d.push(*problem)).ok()
}

/// Lines that are not JSON, after which no others are read.
const MAX_INVALID: usize = 1000;

/// The values of JSON lines, without those that are not JSON: these are reported.
///
/// Blank lines are skipped. That a value is an object is for the caller to check.
pub(crate) fn parse_jsonl(file: FileId, text: &str, d: &mut Diagnostics) -> Vec<Node> {
    let (mut values, mut nodes, mut invalid) = (Vec::new(), 0, 0);
    for (line, number) in text.split('\n').zip(1..) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            continue;
        }
        match Reader::new(file, line, number, &mut nodes, d).document() {
            Ok(value) => values.push(value),
            Err(problem) => {
                let limit_is_of_file = problem.code == Code::LimitExceeded && nodes > super::MAX_NODES;
                let place = problem.place;
                d.push(*problem);
                invalid += 1;
                if limit_is_of_file {
                    break;
                }
                if let Some(place) = place.filter(|_| invalid == MAX_INVALID) {
                    let message = format!("{MAX_INVALID} lines are not JSON: those that follow are not read");
                    let help = "write one JSON object per line";
                    d.report(Code::LimitExceeded, Span::whole(place.file), message, help);
                    break;
                }
            }
        }
    }
    values
}

/// A problem is large, and rare.
type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Reads one JSON value. The loops go over bytes by index: they run unoptimised, where iterators cost a call for each.
struct Reader<'a, 't> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    file: FileId,
    line: u32,
    /// Start of the line, plus the number of bytes that continue a character: what is between here and
    /// `at` counts characters.
    line_start: usize,
    depth: usize,
    nodes: &'a mut usize,
    d: &'a mut Diagnostics,
}

impl<'a, 't> Reader<'a, 't> {
    /// A reader of `text`, which starts at `line`. It adds to `nodes` what it reads.
    fn new(file: FileId, text: &'t str, line: u32, nodes: &'a mut usize, d: &'a mut Diagnostics) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, file, line, line_start: 0, depth: 0, nodes, d }
    }

    /// The byte at `at`, 0 at the end.
    fn byte(&self, at: usize) -> u8 {
        if at < self.bytes.len() { self.bytes[at] } else { 0 }
    }

    /// The position of the byte at `at`, which is on the current line.
    #[allow(clippy::cast_possible_truncation)] // Files are far smaller than 4 GiB.
    fn pos(&self) -> Position {
        Position { line: self.line, column: (self.at - self.line_start) as u32 + 1 }
    }

    fn span(&self, start: Position) -> Span {
        Span::new(self.file, start, self.pos())
    }

    /// Moves past a byte that continues a character.
    fn skip_continuation(&mut self) {
        self.at += 1;
        self.line_start += 1;
    }

    /// Moves past white space.
    fn skip_white_space(&mut self) {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b' ' | b'\t' => self.at += 1,
                b'\r' if self.byte(self.at + 1) == b'\n' => self.at += 1,
                b'\n' | b'\r' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                _ => break,
            }
        }
    }

    /// The value that the whole text is.
    fn document(mut self) -> Result<Node> {
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

    fn array(&mut self, start: Position) -> Result<Data> {
        let mut items = Vec::new();
        self.elements(start, b']', |reader| reader.value(Inside::Array(start)).map(|item| items.push(item)))?;
        Ok(Data::Sequence(items))
    }

    fn object(&mut self, start: Position) -> Result<Data> {
        let mut entries = Vec::new();
        self.elements(start, b'}', |reader| reader.entry(start).map(|entry| entries.push(entry)))?;
        node::drop_repeated(&mut entries, self.d);
        Ok(Data::Mapping(entries))
    }

    /// Reads what is between two brackets, separated by commas.
    fn elements(&mut self, start: Position, close: u8, mut one: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Box::new(read::too_deep(self.span(start))));
        }
        self.skip_white_space();
        if self.byte(self.at) != close {
            loop {
                one(self)?;
                self.skip_white_space();
                match self.byte(self.at) {
                    b',' => self.at += 1,
                    byte if byte == close => break,
                    _ if close == b']' => return syntax_error::missing_separator(self, Inside::Array(start)),
                    _ => return syntax_error::missing_separator(self, Inside::Object(start)),
                }
                self.skip_white_space();
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
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

impl Reader<'_, '_> {
    /// The text of a string, whose opening quote comes next.
    fn string(&mut self) -> Result<String> {
        let start = self.pos();
        self.at += 1;
        let mut text = String::new();
        let mut copied = self.at;
        loop {
            match self.byte(self.at) {
                b'"' => break,
                b'\\' => {
                    text.push_str(&self.text[copied..self.at]);
                    text.push(self.escape(start)?);
                    copied = self.at;
                }
                0..0x20 => return syntax_error::in_string(self, start),
                0x80..0xC0 => self.skip_continuation(),
                _ => self.at += 1,
            }
        }
        text.push_str(&self.text[copied..self.at]);
        self.at += 1;
        Ok(text)
    }

    fn escape(&mut self, string: Position) -> Result<char> {
        let start = self.pos();
        let character = match self.byte(self.at + 1) {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(start, string),
            _ => return syntax_error::unknown_escape(self, start, string),
        };
        self.at += 2;
        Ok(character)
    }

    /// The character of `\uXXXX`, or of two of these that are a surrogate pair.
    fn code_point(&mut self, start: Position, string: Position) -> Result<char> {
        let mut code = self.hexadecimal(start, string)?;
        if matches!(code, 0xD800..0xDC00) && self.byte(self.at) == b'\\' && self.byte(self.at + 1) == b'u' {
            let second = self.pos();
            let low = self.hexadecimal(second, string)?;
            if !matches!(low, 0xDC00..0xE000) {
                return syntax_error::lone_surrogate(self.span(start));
            }
            code = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        char::from_u32(code).map_or_else(|| syntax_error::lone_surrogate(self.span(start)), Ok)
    }

    fn hexadecimal(&mut self, start: Position, string: Position) -> Result<u32> {
        self.at += 2;
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.byte(self.at)).to_digit(16) else {
                return syntax_error::bad_code_point(self, start, string);
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// The number that comes next: `-? ( 0 | [1-9][0-9]* ) ( \. [0-9]+ )? ( [eE] [-+]? [0-9]+ )?`.
    fn number(&mut self) -> Result<Number> {
        let start = self.pos();
        let first = self.at;
        let mut is_float = false;
        if self.byte(self.at) == b'-' {
            self.at += 1;
        }
        if self.byte(self.at) == b'0' {
            self.at += 1;
            if self.byte(self.at).is_ascii_digit() {
                return syntax_error::bad_number(self, start, first, "numbers have no leading zeros");
            }
        } else {
            self.digits(start, first, "a digit is missing after `-`")?;
        }
        if self.byte(self.at) == b'.' {
            is_float = true;
            self.at += 1;
            self.digits(start, first, "a digit is missing after the decimal point")?;
        }
        if matches!(self.byte(self.at), b'e' | b'E') {
            is_float = true;
            self.at += 1;
            if matches!(self.byte(self.at), b'-' | b'+') {
                self.at += 1;
            }
            self.digits(start, first, "a digit is missing in the exponent")?;
        }
        if self.byte(self.at).is_ascii_alphanumeric() || matches!(self.byte(self.at), b'.' | b'_') {
            return syntax_error::bad_number(self, start, first, "not a number as JSON writes it");
        }
        let text = &self.text[first..self.at];
        number_of_digits(text, !is_float)
            .map_or_else(|| syntax_error::bad_number(self, start, first, "the number is too large"), Ok)
    }

    fn digits(&mut self, start: Position, first: usize, otherwise: &'static str) -> Result<()> {
        if !self.byte(self.at).is_ascii_digit() {
            return syntax_error::bad_number(self, start, first, otherwise);
        }
        while self.byte(self.at).is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }
}
