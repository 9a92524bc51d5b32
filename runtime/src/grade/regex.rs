//! The `regex` grader: the answer matches a pattern.

use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::Regex;

use crate::grade::assertion_text::{in_text, shorten};
use crate::model::score::Score;

pub(crate) fn grade(config: &Regex, answer: &str) -> Result<Score, String> {
    let pattern =
        compiled(config, answer.len() <= SHORT).map_err(|error| format!("pattern does not compile: {error}"))?;
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

/// Patterns that are kept: what trials share. A suite may have one of its own for every case, and each takes some kilobytes.
const MAX_KEPT: usize = 64;

/// Most bytes of a text that is matched without an automaton: making its states takes longer than matching so little.
const SHORT: usize = 512;

/// A pattern for short texts or for others, as it was asked for and compiled.
type Kept = (Regex, bool, Arc<fancy_regex::Regex>);

/// The pattern, compiled once for all trials of this process, as long as not too many others come between.
pub(super) fn compiled(config: &Regex, is_short: bool) -> Result<Arc<fancy_regex::Regex>, Box<fancy_regex::Error>> {
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |known: &&Kept| known.0 == *config && known.1 == is_short;
    let known = kept().iter().find(is_same).map(|(.., pattern)| Arc::clone(pattern));
    if let Some(pattern) = known {
        return Ok(pattern);
    }
    let pattern = Arc::new(compile(config, is_short)?);
    let mut kept = kept();
    if kept.len() == MAX_KEPT {
        kept.remove(0);
    }
    kept.push((config.clone(), is_short, Arc::clone(&pattern)));
    Ok(pattern)
}

/// Compiles a pattern the way it was checked when the suite was loaded.
fn compile(config: &Regex, is_short: bool) -> Result<fancy_regex::Regex, Box<fancy_regex::Error>> {
    let has = |flag: char| config.flags.contains(flag);
    let mut builder = fancy_regex::RegexBuilder::new(&config.value);
    if is_short {
        builder.delegate_dfa_size_limit(0);
    }
    // Unicode is always on.
    builder
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
    fn short_and_long_texts_match_alike() {
        for (pattern, flags) in [(r"\b19[.,]90\b", ""), ("^PAID$", "im"), (r"(?<=€)\d+(?!\d*,)", ""), (r"^\W*\w+ß", "")]
        {
            for start in ["19,90\n", "x\npaid\n", "€14 ", "größe ", "19,901 "] {
                let of = |length: usize| state(pattern, flags, &format!("{start}{}", ".".repeat(length)));
                assert_eq!(of(SHORT - 10), of(SHORT + 10), "{pattern} in {start}");
            }
        }
    }

    #[test]
    fn a_pattern_is_compiled_once_as_long_as_few_others_come_between() {
        let pattern =
            |value: &str, flags: &str| compiled(&Regex { value: value.into(), flags: flags.into() }, true).unwrap();
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
