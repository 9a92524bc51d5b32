//! The input of the YAML parser.

use std::cell::Cell;

use saphyr_parser::Input;
use saphyr_parser::input::{SkipTabs, is_alpha, is_blank, is_blank_or_breakz, is_break, is_breakz, is_digit, is_flow};

/// Brackets, braces and commas of flow collections in one file, at most: 100 000 values need no more.
const MAX_FLOW_TOKENS: usize = 300_000;

/// Maximum lookahead of the scanner; it sizes buffers by this.
const BUFFER: usize = 16;

/// The characters of a YAML text, for the scanner of `saphyr-parser`.
///
/// It replaces the parser's own input for strings and takes a third of its time when nothing is optimised, as is the
/// rule in procedural macros: bytes are indexed, only characters outside ASCII are decoded. And it bounds what the
/// scanner keeps in memory: all tokens of a flow collection at once, as what follows may make the collection a key.
pub(super) struct Characters<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// Where the next character starts.
    at: usize,
    /// Where the text ends for the scanner.
    end: usize,
    lookahead: usize,
    flow_tokens: usize,
    overflow: &'t Cell<Option<usize>>,
}

impl<'t> Characters<'t> {
    /// All of `text`. If it has too many flow tokens, the input ends early and `overflow` is set to where.
    pub(super) fn new(text: &'t str, overflow: &'t Cell<Option<usize>>) -> Self {
        let bytes = text.as_bytes();
        Self { text, bytes, at: 0, end: bytes.len(), lookahead: 0, flow_tokens: 0, overflow }
    }

    fn byte(&self, at: usize) -> u8 {
        if at < self.end { self.bytes[at] } else { 0 }
    }

    /// The character at `at`, NUL at the end.
    fn char(&self, at: usize) -> char {
        let byte = self.byte(at);
        if byte < 0x80 { byte as char } else { self.text[at..].chars().next().unwrap_or('\0') }
    }

    /// Start of the character after the one at `at`.
    fn after(&self, at: usize) -> usize {
        if at >= self.end {
            return at;
        }
        match self.bytes[at] {
            0..=0x7F => at + 1,
            0x80..=0xDF => at + 2,
            0xE0..=0xEF => at + 3,
            _ => at + 4,
        }
    }

    /// Whether three times `byte` and a blank, a line break or the end come next.
    fn is_indicator(&self, byte: u8) -> bool {
        let at = self.at;
        self.byte(at) == byte
            && self.byte(at + 1) == byte
            && self.byte(at + 2) == byte
            && is_blank_or_breakz(self.byte(at + 3) as char)
    }

    /// Whether the byte order mark is at `at`, where a character outside ASCII starts.
    fn is_byte_order_mark(&self, at: usize) -> bool {
        self.bytes[at] == 0xEF && self.byte(at + 1) == 0xBB && self.byte(at + 2) == 0xBF
    }

    /// The first character from `at` on that cannot be in a comment, and how many characters come before it.
    fn line_end(&self, mut at: usize) -> (usize, usize) {
        let mut count = 0;
        while at < self.end {
            match self.bytes[at] {
                b'\n' | b'\r' | 0 => break,
                0..0x80 => at += 1,
                _ if self.is_byte_order_mark(at) => break,
                _ => at = self.after(at),
            }
            count += 1;
        }
        (at, count)
    }

    fn push_up_to(&mut self, end: usize, out: &mut String) -> usize {
        let text = &self.text[self.at..end];
        out.push_str(text);
        self.at = end;
        text.chars().count()
    }
}

impl Input for Characters<'_> {
    fn lookahead(&mut self, count: usize) {
        if count > self.lookahead {
            self.lookahead = count;
        }
        // The scanner asks for four characters at the start of a token, and at few other places.
        if count == 4 && matches!(self.byte(self.at), b'[' | b']' | b'{' | b'}' | b',') {
            self.flow_tokens += 1;
            if self.flow_tokens > MAX_FLOW_TOKENS && self.overflow.get().is_none() {
                self.overflow.set(Some(self.at));
                self.end = self.at;
            }
        }
    }

    fn buflen(&self) -> usize {
        self.lookahead
    }

    fn bufmaxlen(&self) -> usize {
        BUFFER
    }

    fn raw_read_ch(&mut self) -> char {
        let c = self.char(self.at);
        self.at = self.after(self.at);
        c
    }

    fn raw_read_non_breakz_ch(&mut self) -> Option<char> {
        let c = self.char(self.at);
        if is_breakz(c) || c == '\u{FEFF}' {
            return None;
        }
        self.at = self.after(self.at);
        Some(c)
    }

    fn skip(&mut self) {
        // These four are called for every character. Unoptimised, a call costs more than what they do: no `byte` here.
        if self.at < self.end && self.bytes[self.at] < 0x80 {
            self.at += 1;
        } else {
            self.at = self.after(self.at);
        }
    }

    fn skip_n(&mut self, count: usize) {
        let mut left = count;
        while left > 0 {
            self.at = self.after(self.at);
            left -= 1;
        }
    }

    fn peek(&self) -> char {
        if self.at < self.end && self.bytes[self.at] < 0x80 { self.bytes[self.at] as char } else { self.char(self.at) }
    }

    fn look_ch(&mut self) -> char {
        self.peek()
    }

    fn peek_nth(&self, n: usize) -> char {
        let mut at = self.at;
        let mut left = n;
        while left > 0 {
            at = self.after(at);
            left -= 1;
        }
        self.char(at)
    }

    fn peek_opt(&self) -> Option<char> {
        if self.at < self.end { Some(self.peek()) } else { None }
    }

    fn next_2_are(&self, c1: char, c2: char) -> bool {
        self.peek() == c1 && self.peek_nth(1) == c2
    }

    fn next_3_are(&self, c1: char, c2: char, c3: char) -> bool {
        self.peek() == c1 && self.peek_nth(1) == c2 && self.peek_nth(2) == c3
    }

    fn next_is_document_indicator(&self) -> bool {
        self.is_indicator(b'-') || self.is_indicator(b'.')
    }

    fn next_is_document_start(&self) -> bool {
        self.is_indicator(b'-')
    }

    fn next_is_document_end(&self) -> bool {
        self.is_indicator(b'.')
    }

    fn skip_ws_to_eol(&mut self, skip_tabs: SkipTabs) -> (usize, Result<SkipTabs, &'static str>) {
        let start = self.at;
        let tabs_too = skip_tabs == SkipTabs::Yes;
        let (mut blank, mut tab) = (false, false);
        loop {
            match self.byte(self.at) {
                b' ' => blank = true,
                b'\t' if tabs_too => tab = true,
                _ => break,
            }
            self.at += 1;
        }
        let mut count = self.at - start;
        if self.byte(self.at) == b'#' {
            if !tab && !blank {
                return (count, Err("comments must be separated from other tokens by whitespace"));
            }
            let (end, comment) = self.line_end(self.at);
            self.at = end;
            count += comment;
        }
        // The scanner refuses words after a colon and a tab, as they could be a mapping of their own. That is refused
        // anyway, and a value is allowed there.
        let after_colon = tab && start > 0 && self.bytes[start - 1] == b':';
        (count, Ok(SkipTabs::Result(tab, blank || after_colon)))
    }

    fn next_can_be_plain_scalar(&self, in_flow: bool) -> bool {
        if self.at >= self.end {
            return true;
        }
        match self.bytes[self.at] {
            b':' => {
                let next = self.byte(self.at + 1) as char;
                !(is_blank_or_breakz(next) || in_flow && is_flow(next))
            }
            b',' | b'[' | b']' | b'{' | b'}' => !in_flow,
            0xEF => !self.is_byte_order_mark(self.at),
            _ => true,
        }
    }

    fn next_is_blank_or_break(&self) -> bool {
        matches!(self.byte(self.at), b' ' | b'\t' | b'\n' | b'\r')
    }

    fn next_is_blank_or_breakz(&self) -> bool {
        self.at >= self.end || matches!(self.bytes[self.at], b' ' | b'\t' | b'\n' | b'\r' | 0)
    }

    fn next_is_blank(&self) -> bool {
        is_blank(self.byte(self.at) as char)
    }

    fn next_is_break(&self) -> bool {
        is_break(self.byte(self.at) as char)
    }

    fn next_is_breakz(&self) -> bool {
        is_breakz(self.byte(self.at) as char)
    }

    fn next_is_z(&self) -> bool {
        self.byte(self.at) == 0
    }

    fn next_is_flow(&self) -> bool {
        is_flow(self.byte(self.at) as char)
    }

    fn next_is_digit(&self) -> bool {
        is_digit(self.byte(self.at) as char)
    }

    fn next_is_alpha(&self) -> bool {
        is_alpha(self.byte(self.at) as char)
    }

    fn skip_while_non_breakz(&mut self) -> usize {
        let (end, count) = self.line_end(self.at);
        self.at = end;
        count
    }

    fn skip_while_blank(&mut self) -> usize {
        let start = self.at;
        while self.next_is_blank() {
            self.at += 1;
        }
        self.at - start
    }

    fn fetch_while_is_alpha(&mut self, out: &mut String) -> usize {
        let mut end = self.at;
        while is_alpha(self.byte(end) as char) {
            end += 1;
        }
        self.push_up_to(end, out)
    }

    fn fetch_while_is_yaml_non_space(&mut self, out: &mut String) -> usize {
        let mut end = self.at;
        while !is_blank_or_breakz(self.byte(end) as char) && self.char(end) != '\u{FEFF}' {
            end = self.after(end);
        }
        self.push_up_to(end, out)
    }
}
