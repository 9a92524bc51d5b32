//! The `regex` grader: the answer matches a pattern.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::Regex;

use crate::grade::assertion_text::{in_text, shorten};
use crate::model::score::Score;

pub(crate) fn grade(config: &Regex, answer: &str) -> Result<Score, String> {
    let pattern = compiled(config).map_err(|error| format!("pattern does not compile: {error}"))?;
    let found = pattern.is_match(answer).map_err(|error| format!("pattern cannot be matched: {error}"))?;
    let verb = if found { "matches" } else { "does not match" };
    let flags = match config.flags.as_str() {
        "" => String::new(),
        flags => format!("{flags} (flags: {flags})"),
    };
    let assertion = Assertion::new(format!("Output {verb} pattern /{}/{flags}", in_text(&config.value)), found)
        .with_expected(shorten(&config.value))
        .with_actual(shorten(answer));
    Ok(Score::from_assertions([assertion]))
}

/// The text with every match of the pattern replaced.
pub(super) fn replaced(pattern: &str, with: &str, text: &str) -> Result<String, String> {
    let pattern = compiled(&Regex { value: pattern.to_owned(), flags: String::new() })
        .map_err(|error| format!("the pattern of `replace` does not compile: {error}"))?;
    let replaced = pattern.try_replacen(text, 0, with).map(Cow::into_owned);
    replaced.map_err(|error| format!("the pattern of `replace` cannot be matched: {error}"))
}

/// Patterns that are kept: what trials share. A suite may have one of its own for every case, and each takes some kilobytes.
const MAX_KEPT: usize = 64;

/// The pattern, compiled once for all trials of this process, as long as not too many others come between.
fn compiled(config: &Regex) -> Result<Arc<fancy_regex::Regex>, Box<fancy_regex::Error>> {
    static KEPT: Mutex<Vec<(Regex, Arc<fancy_regex::Regex>)>> = Mutex::new(Vec::new());
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = kept().iter().find(|(known, _)| known == config).map(|(_, pattern)| Arc::clone(pattern));
    if let Some(pattern) = known {
        return Ok(pattern);
    }
    let pattern = Arc::new(compile(config)?);
    let mut kept = kept();
    if kept.len() == MAX_KEPT {
        kept.remove(0);
    }
    kept.push((config.clone(), Arc::clone(&pattern)));
    Ok(pattern)
}

/// Compiles a pattern the way it was checked when the suite was loaded.
fn compile(config: &Regex) -> Result<fancy_regex::Regex, Box<fancy_regex::Error>> {
    let has = |flag: char| config.flags.contains(flag);
    // Unicode is always on.
    fancy_regex::RegexBuilder::new(&config.value)
        .case_insensitive(has('i'))
        .multi_line(has('m'))
        .dot_matches_new_line(has('s'))
        .verbose_mode(has('x'))
        .build()
        .map_err(Box::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::score::ScoreState;

    fn state(value: &str, flags: &str, answer: &str) -> ScoreState {
        Score::from(grade(&Regex { value: value.into(), flags: flags.into() }, answer)).state
    }

    #[test]
    fn what_repeats_around_a_repeated_group_has_to_be_there() {
        for (answer, score) in [("b", 0.0), ("a b.", 0.0), ("bb", 1.0), ("babb", 1.0), ("babab", 0.0)] {
            assert_eq!(state("b+(?:ab)*b+", "", answer), ScoreState::Decided(score), "{answer}");
        }
    }

    #[test]
    fn a_pattern_matches_anywhere_and_flags_apply() {
        assert_eq!(state(r"\b19[.,]90\b", "", "total 19,90 EUR"), ScoreState::Decided(1.0));
        assert_eq!(state("^paid$", "imu", "x\nPAID\ny"), ScoreState::Decided(1.0));
        assert_eq!(state("^paid$", "", "x\npaid"), ScoreState::Decided(0.0));
        assert_eq!(state("a b # not this", "x", "ab"), ScoreState::Decided(1.0));
        assert_eq!(state("{1}", "i", "{1}"), state("{1}", "", "{1}"));
        assert_eq!(state(r"(?<=€)\d+(?!\d*,)", "", "€14"), ScoreState::Decided(1.0));
        assert_eq!(state(r"^\w+$", "", "größe"), ScoreState::Decided(1.0));
    }

    #[test]
    fn a_pattern_is_compiled_once_as_long_as_few_others_come_between() {
        let pattern = |value: &str, flags: &str| compiled(&Regex { value: value.into(), flags: flags.into() }).unwrap();
        let first = pattern("kept", "");
        assert!(Arc::ptr_eq(&first, &pattern("kept", "")));
        assert!(!Arc::ptr_eq(&first, &pattern("kept", "i")));
        (0..MAX_KEPT).for_each(|number| drop(pattern(&format!("other {number}"), "")));
        assert!(!Arc::ptr_eq(&first, &pattern("kept", "")));
    }

    #[test]
    fn endless_backtracking_is_an_error() {
        let answer = "a".repeat(5_000);
        assert!(matches!(state(r"^(a|aa|aaa)+(?=b)\1$", "", &answer), ScoreState::Error(_)));
    }

    #[test]
    fn a_pattern_that_does_not_compile_is_an_error() {
        assert!(matches!(state("(", "", ""), ScoreState::Error(_)));
    }
}
