//! A negation that is put in or taken out.

use crate::platform::excerpt::trim;
use crate::run::made_up::MadeUpReply;
use crate::run::probe::mutants::{Broken, shown, with_answer};

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
pub(super) fn broken(reply: &MadeUpReply) -> Vec<Broken> {
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

    fn text(answer: &str) -> Option<String> {
        broken(&MadeUpReply::new(answer, Vec::new())).pop().map(|broken| broken.reply.answer)
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
