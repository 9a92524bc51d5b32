//! Finds a secret in a text, in all escaped forms, and as a part of base64.
//!
//! Hand-written: an automaton is slow in an unoptimised program, and the search of the standard library is not. It looks for a
//! part of the secret that no encoder changes; only around that part are escapes decoded.

use std::ops::Range;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use evalsuite_schema::sorting::{sort, sort_by};

use crate::platform::redaction::SHORTEST;
use crate::platform::redaction::escapes::{self, LONGEST};

/// Longest part of base64 that is looked for in lines. Two next to each other are shorter than a line, so one of them is whole.
const BASE64_PART: usize = 24;

/// Shortest line of base64 that goes on in the next one.
const LINE: usize = 16;

/// Length from which the first word of a secret is looked for, and not a longer one.
const WORD: usize = 4;

/// Bytes of a line break, with the indentation of the next line.
const LINE_BREAK: usize = 64;

/// A secret, a line of it, or the characters that it always has in base64.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SecretPattern {
    characters: Vec<char>,
    is_base64: bool,
    anchors: Vec<Anchor>,
    /// Of base64 in lines: two that do not overlap, of which a line break can cut only one.
    anchors_in_lines: Vec<Anchor>,
}

/// Where a text may have the secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Anchor {
    /// Number of characters of the secret before this one.
    before: usize,
    first: char,
    text: String,
}

impl Anchor {
    fn new(characters: &[char], part: Range<usize>) -> Self {
        let (before, first) = (part.start, characters[part.start]);
        Self { before, first, text: characters[part].iter().collect() }
    }

    /// Whether the secret may be here. Where a secret has no word, every escape of a text is looked at.
    fn may_match(&self, text: &str, at: usize, secret: &[char]) -> bool {
        let is_wanted = |found: char| found == secret[0];
        self.first == secret[self.before]
            || self.first == '+'
            || escapes::can_be_escaped(text.as_bytes(), at, is_wanted)
    }

    /// A single character is found many times faster than a text.
    fn find(&self, text: &str) -> Option<usize> {
        if self.text.len() == self.first.len_utf8() { text.find(self.first) } else { text.find(self.text.as_str()) }
    }
}

/// The patterns of a secret. Of a secret of several lines, each line has patterns, too.
pub(super) fn patterns(secret: &str) -> Vec<SecretPattern> {
    let lines = secret.lines().filter(|_| secret.trim().contains('\n'));
    let mut patterns = Vec::new();
    for text in lines.chain([secret, secret.trim()]).map(|line| line.trim_end_matches('\r')) {
        for text in [text, text.trim()] {
            patterns.push((text.to_owned(), false));
            let json = evalsuite_schema::Value::from(text).to_string();
            let json = &json[1..json.len() - 1];
            for bytes in [text, json, &escapes::json_in_ascii(json)] {
                patterns.extend((0..3).map(|before| (base64_part(bytes, before), true)));
            }
        }
    }
    patterns.retain(|(text, _)| text.chars().count() >= SHORTEST);
    sort(&mut patterns);
    patterns.dedup();
    patterns.into_iter().map(|(text, is_base64)| SecretPattern::new(&text, is_base64)).collect()
}

/// The characters of base64 that do not depend on the texts around this one, after so many bytes of a group of three.
fn base64_part(text: &str, before: usize) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
    // Six bits are one character.
    let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    BASE64_STANDARD.encode(&bytes)[start.min(end)..end].to_owned()
}

impl SecretPattern {
    fn new(text: &str, is_base64: bool) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let anchors = anchors(&characters, if is_base64 { usize::MAX } else { WORD });
        let anchors_in_lines = if is_base64 { anchors_in_lines(&characters) } else { Vec::new() };
        Self { characters, is_base64, anchors, anchors_in_lines }
    }

    /// Number of bytes that hold the secret in any form but extreme ones.
    pub(super) fn extent(&self) -> usize {
        16 * self.characters.len()
    }

    /// Adds where the secret is.
    pub(super) fn find(&self, text: &str, is_in_lines: bool, found: &mut Vec<Range<usize>>) {
        if text.len() < self.characters.len() {
            return;
        }
        let is_in_lines = is_in_lines && !self.anchors_in_lines.is_empty();
        for anchor in if is_in_lines { &self.anchors_in_lines } else { &self.anchors } {
            let mut from = 0;
            while let Some(at) = anchor.find(&text[from..]).map(|at| from + at) {
                from = at + anchor.first.len_utf8();
                if !anchor.may_match(text, at, &self.characters) {
                    continue;
                }
                let Some(end) = self.matched(text, at, anchor.before..self.characters.len()).into_iter().max() else {
                    continue;
                };
                if let Some(start) = self.start(text, at, anchor.before) {
                    match found.last_mut() {
                        Some(last) if last.start <= start && start < last.end => last.end = last.end.max(end),
                        _ => found.push(start..end),
                    }
                }
            }
        }
    }

    /// Where the characters before an anchor start.
    fn start(&self, text: &str, anchor: usize, before: usize) -> Option<usize> {
        if before == 0 {
            return Some(anchor);
        }
        let starts = anchor.saturating_sub(before * LONGEST)..=anchor.checked_sub(before)?;
        let is_start =
            |start: &usize| text.is_char_boundary(*start) && self.matched(text, *start, 0..before).contains(&anchor);
        starts.into_iter().find(is_start)
    }

    /// Ends of these characters of the secret at a position of the text.
    fn matched(&self, text: &str, at: usize, characters: Range<usize>) -> Vec<usize> {
        let mut ends = vec![at];
        for (index, wanted) in self.characters[characters].iter().enumerate() {
            ends = self.step(text, &ends, *wanted, index > 0);
            if ends.is_empty() {
                break;
            }
        }
        ends
    }

    /// The positions after one more character.
    fn step(&self, text: &str, positions: &[usize], wanted: char, can_break: bool) -> Vec<usize> {
        let mut ends = Vec::new();
        let is_wanted = |found: char| {
            found == wanted
                || (found == '+' && wanted == ' ' && !self.is_base64)
                || (self.is_base64 && matches!((wanted, found), ('+', '-') | ('/', '_')))
        };
        let mut add = |at: usize| match text.as_bytes().get(at) {
            Some(byte) if *byte == wanted as u8 && escapes::is_never_escaped(wanted) => ends.push(at + 1),
            Some(_) if escapes::is_never_escaped(wanted) => {}
            Some(_) => escapes::ends(text, at, is_wanted, &mut ends),
            None => {}
        };
        for position in positions {
            add(*position);
            if self.is_base64 && can_break {
                line_breaks(text, *position).into_iter().for_each(&mut add);
            }
        }
        sort(&mut ends);
        ends.dedup();
        ends
    }

    /// Start of a beginning of the secret with which the text ends.
    pub(super) fn broken_end(&self, text: &str) -> Option<usize> {
        let reached = escapes::start_of_broken_escape(text);
        let from = text.len().saturating_sub(self.characters.len() * LONGEST);
        (from..text.len()).filter(|start| text.is_char_boundary(*start)).find(|start| {
            let mut positions = vec![*start];
            for (index, wanted) in self.characters.iter().enumerate() {
                positions = self.step(text, &positions, *wanted, index > 0);
                if positions.is_empty() {
                    return false;
                }
                let is_at_end =
                    |position: &usize| *position >= reached || (self.is_base64 && text[*position..].trim().is_empty());
                if positions.iter().any(is_at_end) {
                    return index + 1 < self.characters.len();
                }
            }
            false
        })
    }
}

/// Where base64 goes on in the next line if one ends at `end`.
fn line_breaks(text: &str, end: usize) -> Vec<usize> {
    let mut all = Vec::new();
    let mut new = vec![end];
    while let Some(at) = new.pop().filter(|at| *at < end + LINE_BREAK) {
        if text.as_bytes().get(at).is_some_and(|byte| escapes::is_start(*byte) || byte.is_ascii_whitespace()) {
            let is_blank = |found: char| matches!(found, '\n' | '\r') || (at > end && matches!(found, ' ' | '\t'));
            let mut next = Vec::new();
            escapes::ends(text, at, is_blank, &mut next);
            next.retain(|at| !all.contains(at));
            all.extend_from_slice(&next);
            new.extend(next);
        }
    }
    all
}

/// Whether a text may have base64 in several lines.
pub(super) fn may_have_lines_of_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Most lines differ in one of these.
    let looks_like_it =
        |at: usize| is_digit(bytes[at - 1]) && is_digit(bytes[at - LINE / 2]) && is_digit(bytes[at - LINE]);
    let is_line = |at: usize| at >= LINE && looks_like_it(at) && bytes[at - LINE..at].iter().copied().all(is_digit);
    let ends_line = |at: usize| is_line(if bytes[..at].ends_with(b"\r") { at - 1 } else { at });
    ['\n', '\\'].into_iter().any(|start| text.match_indices(start).any(|(at, _)| ends_line(at)))
}

/// Whether a byte belongs to base64, also escaped.
fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'\\' | b'&' | b'%' | b'#' | b';')
}

/// The first word of at least this length, else the longest; where there is none, all that the first character can begin with.
fn anchors(characters: &[char], length: usize) -> Vec<Anchor> {
    let words = words(characters);
    let longest = || words.iter().rev().max_by_key(|word| word.len());
    if let Some(word) = words.iter().find(|word| word.len() >= length).or_else(longest) {
        return vec![Anchor::new(characters, word.clone())];
    }
    let first = characters.first().copied().unwrap_or_default();
    let mut starts = vec![first, '\\', '&', '%'];
    starts.extend((first == ' ').then_some('+'));
    sort(&mut starts);
    starts.dedup();
    starts.into_iter().map(|start| Anchor::new(&[start], 0..1)).collect()
}

fn anchors_in_lines(characters: &[char]) -> Vec<Anchor> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for word in words(&characters[..characters.len().min(2 * BASE64_PART)]) {
        let length = BASE64_PART.min(word.len().div_ceil(2));
        parts.extend(word.clone().step_by(length).map(|start| start..word.end.min(start + length)));
    }
    sort_by(&mut parts, |one, other| other.len().cmp(&one.len()));
    parts.truncate(2);
    parts.into_iter().map(|part| Anchor::new(characters, part)).collect()
}

/// Where letters and digits are.
fn words(characters: &[char]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, _) in characters.iter().enumerate().filter(|(_, character)| escapes::is_never_escaped(**character)) {
        match words.last_mut() {
            Some(word) if word.end == at => word.end += 1,
            _ => words.push(at..at + 1),
        }
    }
    words
}
