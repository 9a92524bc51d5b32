//! Placeholders in texts: variables `${{ NAME }}`, template variables `{{ name }}` and command placeholders `{NAME}`.
//!
//! A name starts with a letter or `_` and continues with letters, digits and `_`, all ASCII. Between double braces, white
//! space around the name is optional; between single braces, there is none. Text in braces that is not a name is text.

use std::borrow::Cow;
use std::ops::Range;

/// The names, in quotes of either kind, of the reference that stands for the braces `{{`, as in Jinja: `{{ '{{' }}`.
pub const OPEN_BRACES: [&str; 2] = ["'{{'", "\"{{\""];

/// How a placeholder is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `${{ NAME }}`: a variable of the environment.
    Variable,
    /// `{{ name }}`: a template variable; of `${{ name }}`, the part after the `$` is one, too.
    Template,
    /// `{{ name }}` in a text in which `${{ NAME }}` is a variable of the environment.
    TemplateBesideVariables,
    /// `{{ name }}` or `{{ a.b }}`: a variable of a case, in a text in which `${{ NAME }}` is a variable of the environment. Its name may be
    /// any text without braces and line breaks, or [`OPEN_BRACES`].
    Reference,
    /// `{NAME}`: a placeholder of a command.
    Command,
}

/// A placeholder in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder<'t> {
    /// The name between the braces.
    pub name: &'t str,
    /// Its byte range in the text, with its braces.
    pub range: Range<usize>,
}

/// A part of a text with placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text between placeholders.
    Text(&'t str),
    /// The name of a placeholder.
    Placeholder(&'t str),
}

impl Syntax {
    /// The placeholders of `text`, in order.
    pub fn placeholders(self, text: &str) -> impl Iterator<Item = Placeholder<'_>> {
        let (open, close) = match self {
            Self::Variable => ("${{", "}}"),
            Self::Template | Self::TemplateBesideVariables | Self::Reference => ("{{", "}}"),
            Self::Command => ("{", "}"),
        };
        let mut next = 0;
        let all = std::iter::from_fn(move || {
            while let Some(offset) = text.get(next..)?.find(open) {
                let start = next + offset;
                if let Some((name, length)) = self.name(&text[start + open.len()..], close) {
                    next = start + open.len() + length;
                    return Some(Placeholder { name, range: start..next });
                }
                // `{{{ name }}}` has a placeholder after its first brace.
                next = start + 1;
            }
            None
        });
        let is_beside = matches!(self, Self::TemplateBesideVariables | Self::Reference);
        all.filter(move |found| !is_beside || !text[..found.range.start].ends_with('$'))
    }

    /// The name at the start of `text`, and the length up to the end of `close`.
    fn name<'t>(self, text: &'t str, close: &str) -> Option<(&'t str, usize)> {
        if self == Self::Reference {
            return reference_name(text, close);
        }
        let trimmed = |text: &'t str| if self == Self::Command { text } else { text.trim_start() };
        let body = trimmed(text);
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = body.bytes().take_while(is_part).count();
        let (name, rest) = body.split_at(length);
        let rest = trimmed(rest).strip_prefix(close)?;
        let is_name = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
        is_name.then(|| (name, text.len() - rest.len()))
    }

    /// Whether `text` has a placeholder.
    pub fn is_in(self, text: &str) -> bool {
        self.placeholders(text).next().is_some()
    }

    /// The names of the placeholders of `text`, in order.
    pub fn names(self, text: &str) -> impl Iterator<Item = &str> {
        self.placeholders(text).map(|found| found.name)
    }

    /// `text` in parts, in order; texts may be empty.
    pub fn pieces(self, text: &str) -> impl Iterator<Item = Piece<'_>> {
        let mut end = 0;
        let mut placeholders = self.placeholders(text);
        let mut waiting = None;
        std::iter::from_fn(move || {
            if let Some(name) = waiting.take() {
                return Some(Piece::Placeholder(name));
            }
            let (before, next_end) = match placeholders.next() {
                Some(Placeholder { name, range }) => {
                    waiting = Some(name);
                    (text.get(end..range.start), range.end)
                }
                None => (text.get(end..), text.len() + 1),
            };
            end = next_end;
            before.map(Piece::Text)
        })
    }

    /// `text` with the values of its placeholders in their place. A placeholder without a value stays; values are not
    /// searched for placeholders.
    pub fn fill<'v>(self, text: &str, mut value: impl FnMut(&str) -> Option<Cow<'v, str>>) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut end = 0;
        for Placeholder { name, range } in self.placeholders(text) {
            if let Some(value) = value(name) {
                filled.push_str(&text[end..range.start]);
                filled.push_str(&value);
                end = range.end;
            }
        }
        filled.push_str(&text[end..]);
        filled
    }
}

/// As [`Syntax::name`] for references. Braces end the search, so that a text with many of them is read once.
fn reference_name<'t>(text: &'t str, close: &str) -> Option<(&'t str, usize)> {
    let body = text.trim_start();
    let braces = OPEN_BRACES.iter().find(|braces| body.starts_with(*braces));
    let end = braces.map_or_else(|| body.find(['{', '}']), |braces| Some(braces.len()))?;
    let (name, rest) = body.split_at(end);
    let rest = rest.trim_start().strip_prefix(close)?;
    let name = name.trim_end();
    (!name.is_empty() && !name.contains(['\n', '\r'])).then(|| (name, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(syntax: Syntax, text: &str) -> Vec<&str> {
        syntax.names(text).collect()
    }

    #[test]
    fn only_plain_names_are_placeholders() {
        assert_eq!(names(Syntax::Variable, "a ${{ A }} b ${{_b1}}${{\nC\t}}"), ["A", "_b1", "C"]);
        assert_eq!(names(Syntax::Variable, "${{ a.b }} ${X} {{x}} ${{ 1a }} ${{}} ${{ a"), [""; 0]);
        assert_eq!(names(Syntax::Variable, "${{ ${{ A }}"), ["A"]);
        assert_eq!(
            names(Syntax::Template, "{{ a }} {{b_1}}{{\n c }} {{{{ d }}}} {{{e}}}"),
            ["a", "b_1", "c", "d", "e"]
        );
        assert_eq!(names(Syntax::Template, "{{ a.b }} {{}} {{1a}} {{ a b }} {{ a } } {{ a"), [""; 0]);
        assert_eq!(names(Syntax::Command, "{A} {B_1}{{C}} { D } {} {E"), ["A", "B_1", "C"]);
    }

    #[test]
    fn a_variable_is_a_template_variable_only_where_there_are_no_variables() {
        assert_eq!(names(Syntax::TemplateBesideVariables, "${{ HOME }} {{ a }}"), ["a"]);
        assert_eq!(names(Syntax::Template, "${{ output }}"), ["output"]);
    }

    #[test]
    fn a_reference_has_any_name_without_braces() {
        assert_eq!(
            names(Syntax::Reference, "${{ HOME }} {{ a.b-c }} {{\nd\n}} {{Order ID}}"),
            ["a.b-c", "d", "Order ID"]
        );
        assert_eq!(names(Syntax::Reference, "{{ a } {{}} {{ }} {{ b\nc }} {{ d"), [""; 0]);
        assert_eq!(names(Syntax::Reference, "{{ '{{' }} a }} {{\"{{\"}} {{{ b }}} {{ '{{ }}"), ["'{{'", "\"{{\"", "b"]);
    }

    #[test]
    fn a_placeholder_has_a_range() {
        let text = "é {{ a }}!";
        let found = Syntax::Template.placeholders(text).next().unwrap();
        assert_eq!(&text[found.range], "{{ a }}");
    }

    #[test]
    fn pieces_are_the_whole_text() {
        let pieces = |text| Syntax::Command.pieces(text).collect::<Vec<_>>();
        assert_eq!(pieces("a {B}c"), [Piece::Text("a "), Piece::Placeholder("B"), Piece::Text("c")]);
        assert_eq!(pieces("{B}"), [Piece::Text(""), Piece::Placeholder("B"), Piece::Text("")]);
        assert_eq!(pieces(""), [Piece::Text("")]);
    }

    #[test]
    fn values_are_not_searched_and_unknown_names_stay() {
        let value = |name: &str| (name == "a").then_some(Cow::Borrowed("{{ a }}"));
        assert_eq!(Syntax::Template.fill("{{a}} {{ b }} {{{ a }}}", value), "{{ a }} {{ b }} {{{ a }}}");
    }
}
