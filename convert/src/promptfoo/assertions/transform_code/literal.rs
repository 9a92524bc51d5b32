//! Texts, numbers and patterns that are written in JavaScript.

use super::Parser;

/// A pattern between slashes, and its flags.
pub(super) struct Pattern {
    pub(super) source: String,
    pub(super) flags: String,
}

impl Parser<'_> {
    /// A text between quotes, if one comes next that has neither placeholders nor rare escapes.
    pub(super) fn string(&mut self) -> Option<String> {
        let mut characters = self.rest.chars();
        let quote = characters.next().filter(|first| matches!(first, '\'' | '"' | '`'))?;
        let mut text = String::new();
        loop {
            match characters.next()? {
                end if end == quote => break,
                '\\' => text.push(match characters.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other if other.is_alphanumeric() || other == '\n' => return None,
                    other => other,
                }),
                '$' if quote == '`' && characters.as_str().starts_with('{') => return None,
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Some(text)
    }

    /// A pattern between slashes, if one comes next.
    pub(super) fn pattern(&mut self) -> Option<Pattern> {
        let inside = self.rest.strip_prefix('/')?;
        let (mut is_class, mut is_escaped) = (false, false);
        let end = inside.find(|character| {
            let is_end = character == '/' && !is_class && !is_escaped;
            if !is_escaped {
                is_class = character == '[' || is_class && character != ']';
            }
            is_escaped = character == '\\' && !is_escaped;
            is_end
        })?;
        let after = &inside[end + 1..];
        let flags = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        self.rest = &after[flags..];
        Some(Pattern { source: inside[..end].to_owned(), flags: after[..flags].to_owned() })
    }

    /// A whole number, if one comes next.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let is_part = |(index, c): (usize, char)| c.is_ascii_digit() || index == 0 && c == '-';
        let end = self.rest.char_indices().find(|next| !is_part(*next)).map_or(self.rest.len(), |(end, _)| end);
        let number = self.rest[..end].parse().ok()?;
        self.rest = &self.rest[end..];
        Some(number)
    }
}
