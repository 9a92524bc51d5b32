//! Patterns as trees: how they are written, and what they match, by following every way at once.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A pattern.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    Letter(char),
    Any,
    /// Letters of a class, and whether it is negated.
    Class(Vec<char>, bool),
    Digit(bool),
    Word(bool),
    Space(bool),
    Start,
    End,
    /// `\b`, or `\B`.
    Edge(bool),
    All(Vec<Pattern>),
    Either(Vec<Pattern>),
    /// Least and largest number of repetitions, and whether few are preferred.
    Repeat(Box<Pattern>, usize, Option<usize>, bool),
    /// Whether something follows, or does not.
    Ahead(Box<Pattern>, bool),
    /// Whether letters come before, or do not.
    Behind(Vec<char>, bool),
}

/// Flags of a pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags {
    pub(crate) ignore_case: bool,
    pub(crate) multi_line: bool,
    pub(crate) dot_all: bool,
}

impl Flags {
    pub(crate) fn text(self) -> String {
        let flags = [(self.ignore_case, 'i'), (self.multi_line, 'm'), (self.dot_all, 's')];
        flags.into_iter().filter_map(|(is_set, letter)| is_set.then_some(letter)).collect()
    }
}

pub(crate) fn flags() -> impl Strategy<Value = Flags> {
    any::<[bool; 3]>().prop_map(|[ignore_case, multi_line, dot_all]| Flags { ignore_case, multi_line, dot_all })
}

fn letter() -> impl Strategy<Value = char> {
    select(vec!['a', 'b', 'A', '1', '_', ' ', '\n', 'é', 'É', '.', '(', '\\'])
}

/// Patterns, with look-around if `looks`.
pub(crate) fn patterns(looks: bool) -> impl Strategy<Value = Pattern> {
    let leaf = prop_oneof![
        6 => letter().prop_map(Pattern::Letter),
        1 => Just(Pattern::Any),
        2 => (vec(letter(), 1..3), any::<bool>()).prop_map(|(letters, negated)| Pattern::Class(letters, negated)),
        2 => (0..3_u8, any::<bool>()).prop_map(|(kind, is)| match kind {
            0 => Pattern::Digit(is),
            1 => Pattern::Word(is),
            _ => Pattern::Space(is),
        }),
        1 => select(vec![Pattern::Start, Pattern::End, Pattern::Edge(true), Pattern::Edge(false)]),
    ];
    let leaf = if looks {
        let behind = (vec(select(vec!['a', 'b', '1', '\n']), 1..3), any::<bool>());
        prop_oneof![8 => leaf, 1 => behind.prop_map(|(letters, is)| Pattern::Behind(letters, is))].boxed()
    } else {
        leaf.boxed()
    };
    leaf.prop_recursive(3, 10, 3, move |inner| {
        let repeat = (inner.clone(), 0..3_usize, prop::option::of(0..3_usize), any::<bool>());
        let ahead = (inner.clone(), any::<bool>()).prop_map(|(inner, is)| Pattern::Ahead(Box::new(inner), is));
        let all = vec(inner.clone(), 1..4).prop_map(Pattern::All);
        let either = vec(inner, 1..4).prop_map(Pattern::Either);
        let repeat = repeat.prop_map(|(inner, least, more, lazy)| {
            Pattern::Repeat(Box::new(inner), least, more.map(|more| least + more), lazy)
        });
        if looks {
            prop_oneof![4 => all, 2 => either, 2 => repeat, 1 => ahead].boxed()
        } else {
            prop_oneof![2 => all, 1 => either, 1 => repeat].boxed()
        }
    })
}

impl Pattern {
    /// The pattern in the usual syntax.
    pub(crate) fn text(&self) -> String {
        let literal = |letter: &char| match letter {
            '\n' => "\\n".to_owned(),
            '.' | '(' | '\\' => format!("\\{letter}"),
            other => other.to_string(),
        };
        let class = |is: bool, letter: char| format!("\\{}", if is { letter } else { letter.to_ascii_uppercase() });
        match self {
            Self::Letter(letter) => literal(letter),
            Self::Any => ".".to_owned(),
            Self::Class(letters, negated) => {
                let letters: String = letters.iter().map(literal).collect();
                format!("[{}{letters}]", if *negated { "^" } else { "" })
            }
            Self::Digit(is) => class(*is, 'd'),
            Self::Word(is) => class(*is, 'w'),
            Self::Space(is) => class(*is, 's'),
            Self::Start => "^".to_owned(),
            Self::End => "$".to_owned(),
            Self::Edge(is) => class(*is, 'b'),
            Self::All(parts) => parts.iter().map(|part| format!("(?:{})", part.text())).collect(),
            Self::Either(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::text).collect();
                format!("(?:{})", parts.join("|"))
            }
            Self::Repeat(inner, least, most, lazy) => {
                let count = match (least, most) {
                    (0, None) => "*".to_owned(),
                    (1, None) => "+".to_owned(),
                    (least, None) => format!("{{{least},}}"),
                    (0, Some(1)) => "?".to_owned(),
                    (least, Some(most)) => format!("{{{least},{most}}}"),
                };
                format!("(?:{}){count}{}", inner.text(), if *lazy { "?" } else { "" })
            }
            Self::Ahead(inner, is) => format!("(?{}{})", if *is { "=" } else { "!" }, inner.text()),
            Self::Behind(letters, is) => {
                let letters: String = letters.iter().map(literal).collect();
                format!("(?<{}{letters})", if *is { "=" } else { "!" })
            }
        }
    }

    /// Whether the pattern matches anywhere.
    pub(crate) fn is_in(&self, text: &str, flags: Flags) -> bool {
        let text: Vec<char> = text.chars().collect();
        (0..=text.len()).any(|start| !self.ends(&text, start, flags).is_empty())
    }

    /// Every place where a match that starts at `start` can end.
    fn ends(&self, text: &[char], start: usize, flags: Flags) -> BTreeSet<usize> {
        let one = |holds: bool| if holds { BTreeSet::from([start + 1]) } else { BTreeSet::new() };
        let here = |holds: bool| if holds { BTreeSet::from([start]) } else { BTreeSet::new() };
        let next = text.get(start).copied();
        let is_same = |left: char, right: char| {
            left == right || flags.ignore_case && left.to_lowercase().eq(right.to_lowercase())
        };
        let is_word = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphanumeric() || *letter == '_');
        match self {
            Self::Letter(letter) => one(next.is_some_and(|next| is_same(next, *letter))),
            Self::Any => one(next.is_some_and(|next| flags.dot_all || next != '\n')),
            Self::Class(letters, negated) => {
                one(next.is_some_and(|next| letters.iter().any(|letter| is_same(next, *letter)) != *negated))
            }
            Self::Digit(is) => one(next.is_some_and(|next| next.is_numeric() == *is)),
            Self::Word(is) => one(next.is_some_and(|next| is_word(Some(&next)) == *is)),
            Self::Space(is) => one(next.is_some_and(|next| next.is_whitespace() == *is)),
            Self::Start => here(start == 0 || flags.multi_line && text[start - 1] == '\n'),
            Self::End => here(start == text.len() || flags.multi_line && text[start] == '\n'),
            Self::Edge(is) => {
                let before = start.checked_sub(1).and_then(|before| text.get(before));
                here((is_word(before) != is_word(text.get(start))) == *is)
            }
            Self::All(parts) => parts.iter().fold(BTreeSet::from([start]), |starts, part| {
                starts.into_iter().flat_map(|start| part.ends(text, start, flags)).collect()
            }),
            Self::Either(parts) => parts.iter().flat_map(|part| part.ends(text, start, flags)).collect(),
            Self::Repeat(inner, least, most, _) => {
                let mut reached = BTreeSet::from([start]);
                let mut ends = if *least == 0 { reached.clone() } else { BTreeSet::new() };
                // More repetitions than there are places reach no other ones.
                for count in 1..=most.unwrap_or(least + text.len() + 1) {
                    reached = reached.into_iter().flat_map(|start| inner.ends(text, start, flags)).collect();
                    if count >= *least {
                        ends.extend(&reached);
                    }
                }
                ends
            }
            Self::Ahead(inner, is) => here(inner.ends(text, start, flags).is_empty() != *is),
            Self::Behind(letters, is) => {
                let before = start.checked_sub(letters.len());
                let found = before.is_some_and(|before| {
                    letters.iter().zip(&text[before..]).all(|(letter, found)| is_same(*letter, *found))
                });
                here(found == *is)
            }
        }
    }
}
