//! Answers with other numbers, and with the opposite meaning.

use std::ops::Range;

use crate::platform::excerpt::trim;
use crate::run::made_up::MadeUpReply;
use crate::run::probe::mutants::{Broken, shown, with_answer};

/// The reply with its first number changed, and with its last one.
pub(super) fn with_other_numbers(reply: &MadeUpReply) -> Vec<Broken> {
    let answer = &reply.answer;
    let numbers = numbers(answer);
    let first = numbers.first();
    let last = numbers.last().filter(|last| Some(*last) != first);
    let change = |range: &Range<usize>| {
        let (old, new) = (&answer[range.clone()], changed(&answer[range.clone()]));
        let text = format!("{}{new}{}", &answer[..range.start], &answer[range.end..]);
        with_answer(reply, text, format!("{} became {}", shown(old), shown(&new)))
    };
    first.into_iter().chain(last).map(change).collect()
}

/// Where numbers are: digits, with a dot or comma between them.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
        while digit(at) || matches!(bytes.get(at), Some(b'.' | b',')) && digit(at + 1) {
            at += 1;
        }
        numbers.push(start..at);
    }
    numbers
}

/// Another number of the same form, so far away that no tolerance covers it: half as much again.
fn changed(number: &str) -> String {
    let end = number.find(['.', ',']).unwrap_or(number.len());
    let (whole, rest) = number.split_at(end);
    let width = whole.len();
    match whole.parse::<u64>() {
        Ok(value) if width < 16 => format!("{:0width$}{rest}", value + (value / 2).max(1)),
        _ => {
            // An identifier: its last digit.
            let (start, last) = whole.split_at(width - 1);
            format!("{start}{}{rest}", if last == "9" { "1" } else { "9" })
        }
    }
}

/// Negations, and what is in their place without them.
const NEGATIONS: &[(&str, &str)] = &[
    (" cannot ", " can "),
    (" can't ", " can "),
    (" won't ", " will "),
    ("n't ", " "),
    (" not ", " "),
    (" never ", " always "),
    (" no ", " a "),
    (" without ", " with "),
];

/// Words after which a negation fits.
const VERBS: &[&str] = &["is", "are", "was", "were", "will", "can", "has", "have", "does", "do", "should", "must"];

/// The text with the opposite meaning. JSON has fields instead.
pub(super) fn negated(reply: &MadeUpReply) -> Vec<Broken> {
    let answer = &reply.answer;
    let start = trim(answer);
    if start.starts_with(['{', '[']) || !start.contains(|character: char| character.is_alphabetic()) {
        return Vec::new();
    }
    for (negation, without) in NEGATIONS {
        if answer.contains(negation) {
            let text = answer.replacen(negation, without, 1);
            return vec![with_answer(reply, text, format!("{} was taken out", shown(negation.trim())))];
        }
    }
    let after_verb = VERBS.iter().filter_map(|verb| {
        let verb = format!(" {verb} ");
        answer.find(&verb).map(|at| at + verb.len())
    });
    let text = match after_verb.min() {
        Some(at) => format!("{}not {}", &answer[..at], &answer[at..]),
        None => format!("not {answer}"),
    };
    vec![with_answer(reply, text, format!("{} was added", shown("not")))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_form() {
        for (old, new) in [
            ("0", "1"),
            ("07", "10"),
            ("19.90", "28.90"),
            ("1,000", "2,000"),
            ("2026", "3039"),
            ("123456789012345678", "123456789012345679"),
        ] {
            assert_eq!(changed(old), new);
        }
        let text = "a1b 19,90. 3";
        let found: Vec<&str> = numbers(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["1", "19,90", "3"]);
    }

    fn text(answer: &str) -> Option<String> {
        negated(&MadeUpReply::new(answer, Vec::new())).pop().map(|broken| broken.reply.answer)
    }

    #[test]
    fn the_meaning_is_turned() {
        assert_eq!(text("The order is late.").as_deref(), Some("The order is not late."));
        assert_eq!(text("It has not arrived.").as_deref(), Some("It has arrived."));
        assert_eq!(text("We don't ship there.").as_deref(), Some("We do ship there."));
        assert_eq!(text("approved").as_deref(), Some("not approved"));
        assert_eq!(text("42"), None);
        assert_eq!(text("{\"a\": \"is b\"}"), None);
    }
}
