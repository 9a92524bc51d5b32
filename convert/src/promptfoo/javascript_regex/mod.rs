//! Patterns of JavaScript in the syntax of the grader `regex`, with the same matches.

#[cfg(test)]
mod tests;

use std::iter::Peekable;
use std::str::Chars;

/// A pattern of `new RegExp(pattern, flags)`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Translated {
    Pattern {
        text: String,
        /// Whether it may count characters outside of the Basic Multilingual Plane, of which JavaScript sees two.
        counts: bool,
    },
    /// JavaScript refuses it.
    Invalid(String),
    /// Only JavaScript has it.
    Other,
}

/// White space of JavaScript, where Rust's `\s` has U+0085 and not U+FEFF.
const SPACE: &str = r"[\s\x{FEFF}--\x{85}]";
const NO_SPACE: &str = r"[\S\x{85}--\x{FEFF}]";

/// A character that `\b` takes for one of a word, before and after the place.
const AFTER_WORD: &str = "(?<=[A-Za-z0-9_])";
const NOT_AFTER_WORD: &str = "(?<![A-Za-z0-9_])";
const BEFORE_WORD: &str = "(?=[A-Za-z0-9_])";
const NOT_BEFORE_WORD: &str = "(?![A-Za-z0-9_])";

/// Any character but the ends of lines.
const DOT: &str = r"[^\n\r\x{2028}\x{2029}]";

/// The start and the end of a line, for the flag `m`.
const LINE_START: &str = r"(?<![^\n\r\x{2028}\x{2029}])";
const LINE_END: &str = r"(?![^\n\r\x{2028}\x{2029}])";

/// Translates a pattern with the flags `m` and `s`; others do not change its text.
pub(super) fn translate(pattern: &str, flags: &str) -> Translated {
    let groups = Groups::count(pattern);
    let mut translator = Translator {
        rest: pattern.chars().peekable(),
        text: String::new(),
        groups,
        has_lines: flags.contains('m'),
        dot: if flags.contains('s') { "(?s:.)" } else { DOT },
        counts: false,
        is_after_word: false,
    };
    match translator.alternatives(0) {
        Ok(()) => {
            let Translator { text, counts, .. } = translator;
            // What is left are patterns that are too large, or look behind at something that grows.
            match fancy_regex::Regex::new(&text) {
                Ok(_) => Translated::Pattern { text, counts },
                Err(_) => Translated::Other,
            }
        }
        Err(Refused::Invalid(reason)) => Translated::Invalid(reason.to_owned()),
        Err(Refused::Other) => Translated::Other,
    }
}

/// The number of groups of a pattern.
pub(super) fn groups(pattern: &str) -> u32 {
    Groups::count(pattern).count
}

/// Whether a translated pattern may match nothing. Looks at what is around a match are taken for that, except those of words and lines.
pub(super) fn is_sometimes_empty(translated: &str) -> bool {
    let known = [AFTER_WORD, NOT_AFTER_WORD, BEFORE_WORD, NOT_BEFORE_WORD, LINE_START, LINE_END];
    let bare = known.iter().fold(translated.to_owned(), |text, assertion| text.replace(assertion, ""));
    ["(?=", "(?!", "(?<"].iter().any(|look| bare.contains(look))
        || fancy_regex::Regex::new(&bare).and_then(|pattern| pattern.is_match("")).unwrap_or(true)
}

enum Refused {
    Invalid(&'static str),
    Other,
}

type Result<T = ()> = std::result::Result<T, Refused>;

/// The groups of a pattern, which decide what `\1` and `\k` are.
struct Groups {
    count: u32,
    has_names: bool,
}

impl Groups {
    fn count(pattern: &str) -> Self {
        let (mut count, mut has_names, mut is_class) = (0, false, false);
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            rest = &rest[first.len_utf8()..];
            match first {
                '\\' => rest = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default(),
                '[' => is_class = true,
                ']' => is_class = false,
                '(' if !is_class => {
                    let is_named = rest.starts_with("?<") && !rest.starts_with("?<=") && !rest.starts_with("?<!");
                    count += u32::from(is_named || !rest.starts_with('?'));
                    has_names |= is_named;
                }
                _ => {}
            }
        }
        Self { count, has_names }
    }
}

/// Whether a part of a pattern can be repeated, and how often it matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atom {
    /// A character that is in the Basic Multilingual Plane, or a group.
    Plain,
    /// A set of characters that has others, too.
    Wide,
    /// A character outside of the plane, of which a quantifier repeats the second half.
    Astral,
    /// A look at what follows, which may be repeated, and nothing else that matches nothing.
    LookAhead,
    Assertion,
}

/// A member of a class.
enum Member {
    Character(char),
    Set(&'static str),
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    text: String,
    groups: Groups,
    /// Whether `^` and `$` are those of lines.
    has_lines: bool,
    /// What `.` is.
    dot: &'static str,
    counts: bool,
    /// Whether the last part is a single character of a word.
    is_after_word: bool,
}

impl Translator<'_> {
    /// Takes the next character if it is this one.
    fn takes(&mut self, character: char) -> bool {
        self.rest.next_if_eq(&character).is_some()
    }

    fn skip(&mut self, characters: usize) {
        for _ in 0..characters {
            self.rest.next();
        }
    }

    /// Takes a text if it comes next.
    fn takes_text(&mut self, text: &str) -> bool {
        let mut ahead = self.rest.clone();
        let is_next = text.chars().all(|character| ahead.next() == Some(character));
        if is_next {
            self.rest = ahead;
        }
        is_next
    }

    /// Everything up to the end of the pattern, or of the group at this depth.
    fn alternatives(&mut self, depth: usize) -> Result {
        while let Some(character) = self.rest.next() {
            let atom = match character {
                '|' => {
                    self.text.push('|');
                    self.is_after_word = false;
                    continue;
                }
                ')' if depth > 0 => {
                    self.text.push(')');
                    return Ok(());
                }
                ')' => return Err(Refused::Invalid("a parenthesis is not opened")),
                '*' | '+' | '?' => return Err(Refused::Invalid("there is nothing to repeat")),
                '^' | '$' => {
                    self.text.push_str(match (self.has_lines, character) {
                        (false, '^') => "^",
                        (false, _) => "$",
                        (true, '^') => LINE_START,
                        (true, _) => LINE_END,
                    });
                    Atom::Assertion
                }
                '.' => {
                    self.text.push_str(self.dot);
                    Atom::Wide
                }
                '(' => self.group(depth)?,
                '[' => self.class()?,
                '\\' => self.escape()?,
                '{' if bounds(self.rest.clone()).is_some() => {
                    return Err(Refused::Invalid("there is nothing to repeat"));
                }
                other => self.literal(other),
            };
            let end = self.text.len();
            self.quantifier(atom)?;
            self.is_after_word = is_word(character) && self.text.len() == end;
        }
        if depth > 0 { Err(Refused::Invalid("a parenthesis is not closed")) } else { Ok(()) }
    }

    fn literal(&mut self, character: char) -> Atom {
        push_escaped(&mut self.text, character);
        if character as u32 > 0xFFFF { Atom::Astral } else { Atom::Plain }
    }

    fn group(&mut self, depth: usize) -> Result<Atom> {
        // Enough for any pattern, and little enough for the stack.
        if depth > 200 {
            return Err(Refused::Other);
        }
        let (start, atom) = match () {
            () if self.takes_text("?:") => ("(?:", Atom::Plain),
            () if self.takes_text("?=") => ("(?=", Atom::LookAhead),
            () if self.takes_text("?!") => ("(?!", Atom::LookAhead),
            () if self.takes_text("?<=") => ("(?<=", Atom::Assertion),
            () if self.takes_text("?<!") => ("(?<!", Atom::Assertion),
            () if self.takes_text("?<") => {
                let name: String = std::iter::from_fn(|| self.rest.next_if(|next| *next != '>')).collect();
                let is_name = |name: &str| {
                    let mut characters = name.chars();
                    characters.next().is_some_and(|first| first.is_alphabetic() || matches!(first, '$' | '_'))
                        && characters.all(|next| next.is_alphanumeric() || matches!(next, '$' | '_'))
                };
                if !is_name(&name) || !self.takes('>') {
                    return Err(Refused::Invalid("the name of a group is not valid"));
                }
                ("(", Atom::Plain)
            }
            () if self.takes('?') => {
                // Newer versions have `(?i:…)`.
                while self.rest.next_if(|next| matches!(next, 'i' | 'm' | 's' | '-')).is_some() {}
                return Err(match self.takes(':') {
                    true => Refused::Other,
                    false => Refused::Invalid("there is no such group"),
                });
            }
            () => ("(", Atom::Plain),
        };
        self.text.push_str(start);
        self.is_after_word = false;
        self.alternatives(depth + 1)?;
        Ok(atom)
    }

    fn quantifier(&mut self, atom: Atom) -> Result {
        let quantifier = match self.rest.peek() {
            Some(sign @ ('*' | '+' | '?')) => sign.to_string(),
            Some('{') => {
                let bounds = bounds(self.rest.clone().skip(1));
                bounds.map(|bounds| format!("{{{bounds}}}")).unwrap_or_default()
            }
            _ => String::new(),
        };
        self.skip(quantifier.len());
        self.counts |= match atom {
            Atom::Wide => !matches!(&*quantifier, "*" | "+"),
            Atom::Astral => !quantifier.is_empty(),
            _ => false,
        };
        if quantifier.is_empty() {
            return Ok(());
        }
        let bounds = quantifier.trim_matches(['{', '}']).split_once(',');
        let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
        if bounds.is_some_and(|(least, most)| !most.is_empty() && number(least) > number(most)) {
            return Err(Refused::Invalid("the numbers of a quantifier are out of order"));
        }
        match atom {
            Atom::Assertion => return Err(Refused::Invalid("there is nothing to repeat")),
            Atom::LookAhead => return Err(Refused::Other),
            _ => self.text.push_str(&quantifier),
        }
        if self.takes('?') {
            self.text.push('?');
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<Atom> {
        let Some(character) = self.rest.next() else {
            return Err(Refused::Invalid("it ends with a backslash"));
        };
        Ok(match character {
            'b' if self.is_word_next() => self.assertion(NOT_AFTER_WORD),
            'b' if self.is_after_word => self.assertion(NOT_BEFORE_WORD),
            'b' => self.assertion(&format!("(?:{AFTER_WORD}{NOT_BEFORE_WORD}|{NOT_AFTER_WORD}{BEFORE_WORD})")),
            'B' => self.assertion(&format!("(?:{AFTER_WORD}{BEFORE_WORD}|{NOT_AFTER_WORD}{NOT_BEFORE_WORD})")),
            'k' if self.groups.has_names => return Err(Refused::Other),
            '1'..='9' if self.is_reference(character) => return Err(Refused::Other),
            _ => match self.member(character)? {
                Member::Character(character) => self.literal(character),
                Member::Set(set) => {
                    self.text.push_str(set);
                    if matches!(character, 'D' | 'W' | 'S') { Atom::Wide } else { Atom::Plain }
                }
            },
        })
    }

    /// Whether a character of a word comes next, whatever the answer is.
    fn is_word_next(&self) -> bool {
        let mut ahead = self.rest.clone();
        let is_word = match ahead.next() {
            Some('\\') => matches!(ahead.next(), Some('d' | 'w')),
            Some(character) => is_word(character),
            None => false,
        };
        is_word && !matches!(ahead.next(), Some('*' | '?' | '{'))
    }

    fn assertion(&mut self, text: &str) -> Atom {
        self.text.push_str(text);
        Atom::Assertion
    }

    /// Whether a number after a backslash is that of a group: a group that did not match is empty there.
    fn is_reference(&self, first: char) -> bool {
        let mut ahead = self.rest.clone();
        let more = std::iter::from_fn(|| ahead.next_if(char::is_ascii_digit));
        let digits: String = std::iter::once(first).chain(more).collect();
        digits.parse::<u32>().is_ok_and(|number| number <= self.groups.count)
    }

    /// What an escape stands for, in a class or outside.
    fn member(&mut self, character: char) -> Result<Member> {
        Ok(Member::Character(match character {
            'd' => return Ok(Member::Set("[0-9]")),
            'D' => return Ok(Member::Set("[^0-9]")),
            'w' => return Ok(Member::Set("[A-Za-z0-9_]")),
            'W' => return Ok(Member::Set("[^A-Za-z0-9_]")),
            's' => return Ok(Member::Set(SPACE)),
            'S' => return Ok(Member::Set(NO_SPACE)),
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'x' => self.hexadecimal(2).unwrap_or('x'),
            'u' => match self.hexadecimal(4) {
                Some(character) => character,
                // A half of a character outside of the plane.
                None if self.is_surrogate() => return Err(Refused::Other),
                None => 'u',
            },
            'c' => return Err(Refused::Other),
            '0'..='7' => self.octal(character),
            other => other,
        }))
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<char> {
        let text: String = self.rest.clone().take(digits).collect();
        let is_number = text.len() == digits && text.chars().all(|digit| digit.is_ascii_hexdigit());
        let character = is_number.then(|| u32::from_str_radix(&text, 16).ok().and_then(char::from_u32))??;
        self.skip(digits);
        Some(character)
    }

    fn is_surrogate(&self) -> bool {
        let text: String = self.rest.clone().take(4).collect();
        u32::from_str_radix(&text, 16).is_ok_and(|number| (0xD800..0xE000).contains(&number))
    }

    /// The character of up to three octal digits, at most 255.
    fn octal(&mut self, first: char) -> char {
        let mut number = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            let next = self.rest.peek().and_then(|next| next.to_digit(8));
            match next.map(|digit| number * 8 + digit).filter(|number| *number < 256) {
                Some(more) => {
                    number = more;
                    self.rest.next();
                }
                None => break,
            }
        }
        char::from_u32(number).unwrap_or_default()
    }

    /// A class, after its `[`.
    fn class(&mut self) -> Result<Atom> {
        let is_negated = self.takes('^');
        let (mut text, mut is_wide) = (String::new(), is_negated);
        while let Some(member) = self.class_member(&mut is_wide)? {
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && !matches!(ahead.peek(), None | Some(']'));
            if !is_range {
                push_member(&mut text, &member);
                continue;
            }
            self.rest.next();
            let Some(end) = self.class_member(&mut is_wide)? else { break };
            match (&member, &end) {
                (Member::Character(from), Member::Character(to)) if from > to => {
                    return Err(Refused::Invalid("a range is out of order"));
                }
                (Member::Character(from), Member::Character(to)) => {
                    push_escaped(&mut text, *from);
                    text.push('-');
                    push_escaped(&mut text, *to);
                }
                // With a set on one side, the hyphen is itself.
                _ => {
                    push_member(&mut text, &member);
                    text.push_str("\\-");
                    push_member(&mut text, &end);
                }
            }
        }
        match (text.is_empty(), is_negated) {
            (true, true) => self.text.push_str("[\\s\\S]"),
            (true, false) => self.text.push_str("(?!)"),
            (false, _) => {
                self.text.push_str(if is_negated { "[^" } else { "[" });
                self.text.push_str(&text);
                self.text.push(']');
            }
        }
        Ok(if is_wide { Atom::Wide } else { Atom::Plain })
    }

    /// The next member of a class; `None` at its end.
    fn class_member(&mut self, is_wide: &mut bool) -> Result<Option<Member>> {
        let member = match self.rest.next() {
            None => return Err(Refused::Invalid("a class is not closed")),
            Some(']') => return Ok(None),
            Some('\\') => match self.rest.next() {
                None => return Err(Refused::Invalid("it ends with a backslash")),
                Some('b') => Member::Character('\u{8}'),
                Some(character) => {
                    *is_wide |= matches!(character, 'D' | 'W' | 'S');
                    self.member(character)?
                }
            },
            // Two halves, each a member.
            Some(character) if character as u32 > 0xFFFF => return Err(Refused::Other),
            Some(character) => Member::Character(character),
        };
        Ok(Some(member))
    }
}

/// What is between the braces of `{2}`, `{2,}` or `{2,3}`, if that comes next after the `{`; anything else is text.
fn bounds(rest: impl Iterator<Item = char>) -> Option<String> {
    let text: String = rest.take(64).collect();
    let (bounds, _) = text.split_once('}')?;
    let (least, most) = bounds.split_once(',').unwrap_or((bounds, ""));
    let is_number = |text: &str| text.chars().all(|digit| digit.is_ascii_digit());
    (!least.is_empty() && is_number(least) && is_number(most)).then(|| bounds.to_owned())
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

fn push_member(text: &mut String, member: &Member) {
    match member {
        Member::Character(character) => push_escaped(text, *character),
        Member::Set(set) => text.push_str(set),
    }
}

/// The text as a pattern that matches it.
pub(super) fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    text.chars().for_each(|character| push_escaped(&mut pattern, character));
    pattern
}

/// Adds a character as itself, in a class or outside.
fn push_escaped(text: &mut String, character: char) {
    match character {
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '#' | '&' | '-' | '~' => {
            text.push('\\');
            text.push(character);
        }
        control if control.is_control() && control != '\n' => text.push_str(&format!("\\x{{{:X}}}", control as u32)),
        other => text.push(other),
    }
}
