//! XML 1.0 whose texts and attributes are any text. Own code, because the writers on crates.io pass on characters that XML forbids, or drop
//! them together with characters that it allows.

use std::io::{self, Write};

/// Indent of an element within another one.
const INDENT: &str = "    ";

/// Writes elements. Every text goes through [`escaped`], so what it writes is well-formed whatever the texts are.
pub(super) struct XmlWriter<'w> {
    out: &'w mut dyn Write,
    open: Vec<&'static str>,
}

/// Names and values of attributes.
pub(super) type Attributes = [(&'static str, String)];

impl<'w> XmlWriter<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        write!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        Ok(Self { out, open: Vec::new() })
    }

    /// Begins an element that contains others.
    pub(super) fn start(&mut self, name: &'static str, attributes: &Attributes) -> io::Result<()> {
        self.tag(name, attributes, ">")?;
        self.open.push(name);
        Ok(())
    }

    /// Ends the element that was begun last.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let Some(name) = self.open.pop() else { return Ok(()) };
        write!(self.out, "\n{}</{name}>", INDENT.repeat(self.open.len()))
    }

    /// An element with a text, which may be empty.
    pub(super) fn element(&mut self, name: &'static str, attributes: &Attributes, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return self.tag(name, attributes, "/>");
        }
        self.tag(name, attributes, ">")?;
        write!(self.out, "{}</{name}>", escaped(text, false))
    }

    /// Ends the document.
    pub(super) fn finish(mut self) -> io::Result<()> {
        while !self.open.is_empty() {
            self.end()?;
        }
        writeln!(self.out)
    }

    fn tag(&mut self, name: &str, attributes: &Attributes, end: &str) -> io::Result<()> {
        write!(self.out, "\n{}<{name}", INDENT.repeat(self.open.len()))?;
        for (name, value) in attributes {
            write!(self.out, " {name}=\"{}\"", escaped(value, true))?;
        }
        write!(self.out, "{end}")
    }
}

/// A text that a reader of XML gets back. A character that XML cannot express is shown as in Rust: `\u{ffff}`.
fn escaped(text: &str, is_attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if is_attribute => escaped.push_str("&quot;"),
            // Readers change these to other white space if they are not written as references.
            '\r' => escaped.push_str("&#13;"),
            '\n' if is_attribute => escaped.push_str("&#10;"),
            '\t' if is_attribute => escaped.push_str("&#9;"),
            _ if is_allowed(character) => escaped.push(character),
            _ => escaped.extend(character.escape_unicode()),
        }
    }
    escaped
}

/// `Char` of XML 1.0. The others cannot be written as references either.
fn is_allowed(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_nested_and_their_texts_escaped() {
        let mut out = Vec::new();
        let mut xml = XmlWriter::new(&mut out).unwrap();
        xml.start("a", &[("b", "\"x\"\t<\n\r\u{0}".to_owned())]).unwrap();
        xml.element("c", &[], "1 ]]> 2\r\n\u{ffff}\u{fffd}\u{1b}").unwrap();
        xml.element("d", &[("e", String::new())], "").unwrap();
        xml.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <a b=\"&quot;x&quot;&#9;&lt;&#10;&#13;\\u{0}\">\n    \
             <c>1 ]]&gt; 2&#13;\n\\u{ffff}\u{fffd}\\u{1b}</c>\n    \
             <d e=\"\"/>\n\
             </a>\n"
        );
    }
}
