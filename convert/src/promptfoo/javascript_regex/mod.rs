//! Patterns of JavaScript in the syntax of the grader `regex`, with the same matches.

#[cfg(test)]
mod tests;

use fancy_regex::Regex;

/// A pattern of `new RegExp(pattern, flags)`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) text: String,
    /// Whether it may count characters outside of the Basic Multilingual Plane, of which JavaScript sees two.
    pub(super) counts: bool,
}

/// Why a pattern is not translated.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// JavaScript refuses it.
    Invalid(&'static str),
    /// Only JavaScript has it.
    Other,
}

type Result<T = ()> = std::result::Result<T, Refused>;

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
pub(super) fn translate(pattern: &str, flags: &str) -> Result<Translated> {
    let (groups, has_names) = groups(pattern);
    let mut translator = Translator {
        rest: pattern,
        text: String::new(),
        groups,
        has_names,
        has_lines: flags.contains('m'),
        dot: if flags.contains('s') { "(?s:.)" } else { DOT },
        counts: false,
        is_after_word: false,
    };
    translator.alternatives(0)?;
    let Translator { text, counts, .. } = translator;
    // What is left are patterns that are too large, or look behind at something that grows.
    Regex::new(&text).map(|_| Translated { text, counts }).map_err(|_| Refused::Other)
}

/// The number of groups of a pattern, and whether some have names.
pub(super) fn groups(pattern: &str) -> (usize, bool) {
    // What is escaped or in a class opens nothing.
    let parts = Regex::new(r"(?s)\\.?|\[(?:\\.|[^\]\\])*|\(\?<[=!]|\(\?<|\(\?|\(").expect("the pattern is valid");
    let parts: Vec<&str> = parts.find_iter(pattern).flatten().map(|part| part.as_str()).collect();
    (parts.iter().filter(|part| ["(", "(?<"].contains(part)).count(), parts.contains(&"(?<"))
}

/// Whether a translated pattern may match nothing. Looks at what is around a match are taken for that, except those of words and lines.
pub(super) fn is_sometimes_empty(translated: &str) -> bool {
    let known = [AFTER_WORD, NOT_AFTER_WORD, BEFORE_WORD, NOT_BEFORE_WORD, LINE_START, LINE_END];
    let bare = known.iter().fold(translated.to_owned(), |text, assertion| text.replace(assertion, ""));
    ["(?=", "(?!", "(?<"].iter().any(|look| bare.contains(look))
        || Regex::new(&bare).and_then(|pattern| pattern.is_match("")).unwrap_or(true)
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
    rest: &'a str,
    text: String,
    /// The number of groups, and whether some have names, which decide what `\1` and `\k` are.
    groups: usize,
    has_names: bool,
    /// Whether `^` and `$` are those of lines.
    has_lines: bool,
    /// What `.` is.
    dot: &'static str,
    counts: bool,
    /// Whether the last part is a single character of a word.
    is_after_word: bool,
}

impl Translator<'_> {
    /// Takes the next character.
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// Takes a text if it comes next.
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Everything up to the end of the pattern, or of the group at this depth.
    fn alternatives(&mut self, depth: usize) -> Result {
        while let Some(character) = self.next() {
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
                '{' if bounds(self.rest).is_some() => {
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
        let starts = [
            ("?:", Atom::Plain),
            ("?=", Atom::LookAhead),
            ("?!", Atom::LookAhead),
            ("?<=", Atom::Assertion),
            ("?<!", Atom::Assertion),
        ];
        let (start, atom) = match starts.into_iter().find(|(start, _)| self.takes(start)) {
            Some(start) => start,
            None if self.takes("?<") => {
                let (name, rest) = self.rest.split_once('>').unwrap_or_default();
                let is_name = name.starts_with(|first: char| first.is_alphabetic() || matches!(first, '$' | '_'))
                    && name.chars().all(|next| next.is_alphanumeric() || matches!(next, '$' | '_'));
                if !is_name {
                    return Err(Refused::Invalid("the name of a group is not valid"));
                }
                self.rest = rest;
                ("", Atom::Plain)
            }
            None if self.takes("?") => {
                // Newer versions have `(?i:…)`.
                self.rest = self.rest.trim_start_matches(['i', 'm', 's', '-']);
                let is_known = self.takes(":");
                return Err(if is_known { Refused::Other } else { Refused::Invalid("there is no such group") });
            }
            None => ("", Atom::Plain),
        };
        self.text.push('(');
        self.text.push_str(start);
        self.is_after_word = false;
        self.alternatives(depth + 1)?;
        Ok(atom)
    }

    fn quantifier(&mut self, atom: Atom) -> Result {
        let length = match self.rest.chars().next() {
            Some('*' | '+' | '?') => 1,
            Some('{') => bounds(&self.rest[1..]).map_or(0, |bounds| bounds.len() + 2),
            _ => 0,
        };
        let (quantifier, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.counts |= match atom {
            Atom::Wide => !matches!(quantifier, "*" | "+"),
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
            _ => self.text.push_str(quantifier),
        }
        if self.takes("?") {
            self.text.push('?');
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<Atom> {
        let character = self.next().ok_or(Refused::Invalid("it ends with a backslash"))?;
        Ok(match character {
            'b' if self.is_word_next() => self.assertion(NOT_AFTER_WORD),
            'b' if self.is_after_word => self.assertion(NOT_BEFORE_WORD),
            'b' => self.assertion(&format!("(?:{AFTER_WORD}{NOT_BEFORE_WORD}|{NOT_AFTER_WORD}{BEFORE_WORD})")),
            'B' => self.assertion(&format!("(?:{AFTER_WORD}{BEFORE_WORD}|{NOT_AFTER_WORD}{NOT_BEFORE_WORD})")),
            'k' if self.has_names => return Err(Refused::Other),
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
        let after = match self.rest.strip_prefix('\\') {
            Some(escaped) => escaped.strip_prefix(['d', 'w']),
            None => self.rest.strip_prefix(is_word),
        };
        after.is_some_and(|after| !after.starts_with(['*', '?', '{']))
    }

    fn assertion(&mut self, text: &str) -> Atom {
        self.text.push_str(text);
        Atom::Assertion
    }

    /// Whether a number after a backslash is that of a group: a group that did not match is empty there.
    fn is_reference(&self, first: char) -> bool {
        let more = self.rest.split(|next: char| !next.is_ascii_digit()).next().unwrap_or_default();
        format!("{first}{more}").parse::<usize>().is_ok_and(|number| number <= self.groups)
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
            'x' => self.hexadecimal(2, 'x')?,
            'u' => self.hexadecimal(4, 'u')?,
            'c' => return Err(Refused::Other),
            '0'..='7' => self.octal(character),
            other => other,
        }))
    }

    /// The character with a number of so many digits, or `otherwise` if they do not come next.
    fn hexadecimal(&mut self, digits: usize, otherwise: char) -> Result<char> {
        let number = self.rest.get(..digits).filter(|text| text.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let Some(number) = number else { return Ok(otherwise) };
        self.rest = &self.rest[digits..];
        // A half of a character outside of the plane is none.
        u32::from_str_radix(number, 16).ok().and_then(char::from_u32).ok_or(Refused::Other)
    }

    /// The character of up to three octal digits, at most 255.
    fn octal(&mut self, first: char) -> char {
        let number = |more: usize| u8::from_str_radix(&format!("{first}{}", self.rest.get(..more)?), 8).ok();
        let longest = [2, 1, 0].into_iter().find_map(|more| Some((more, number(more)?)));
        let (more, number) = longest.unwrap_or_default();
        self.rest = &self.rest[more..];
        char::from(number)
    }

    /// A class, after its `[`.
    fn class(&mut self) -> Result<Atom> {
        let is_negated = self.takes("^");
        let (mut text, mut is_wide) = (String::new(), is_negated);
        while let Some(member) = self.class_member(&mut is_wide)? {
            let range = self.rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']'));
            let Some(after) = range else {
                push_member(&mut text, &member);
                continue;
            };
            self.rest = after;
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
        let member = match self.next() {
            None => return Err(Refused::Invalid("a class is not closed")),
            Some(']') => return Ok(None),
            Some('\\') => match self.next() {
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
fn bounds(rest: &str) -> Option<&str> {
    let end = rest.find(|next: char| !next.is_ascii_digit() && next != ',')?;
    let (bounds, after) = rest.split_at(end);
    let (least, most) = bounds.split_once(',').unwrap_or((bounds, ""));
    (after.starts_with('}') && !least.is_empty() && !most.contains(',')).then_some(bounds)
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
