//! The `regex` grader (grading.md, section 4).

use evalsuite_schema::grader::Regex;
use evalsuite_schema::record::Assertion;

use crate::grade::assertion_text::{in_text, shorten};
use crate::model::score::Score;

pub(crate) fn grade(config: &Regex, answer: &str) -> Score {
    let pattern = match compile(config) {
        Ok(pattern) => pattern,
        Err(error) => return Score::error(format!("pattern does not compile: {error}")),
    };
    let found = match pattern.is_match(answer) {
        Ok(found) => found,
        Err(error) => return Score::error(format!("pattern cannot be matched: {error}")),
    };
    let verb = if found { "matches" } else { "does not match" };
    let flags = match config.flags.as_str() {
        "" => String::new(),
        flags => format!("{flags} (flags: {flags})"),
    };
    let assertion = Assertion::new(format!("Output {verb} pattern /{}/{flags}", in_text(&config.value)), found)
        .with_expected(shorten(&config.value))
        .with_actual(shorten(answer));
    Score::from(found).with_assertion(assertion)
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
    use crate::model::score::State;

    fn state(value: &str, flags: &str, answer: &str) -> State {
        grade(&Regex { value: value.into(), flags: flags.into() }, answer).state
    }

    #[test]
    fn a_pattern_matches_anywhere_and_flags_apply() {
        assert_eq!(state(r"\b19[.,]90\b", "", "total 19,90 EUR"), State::Decided(1.0));
        assert_eq!(state("^paid$", "imu", "x\nPAID\ny"), State::Decided(1.0));
        assert_eq!(state("^paid$", "", "x\npaid"), State::Decided(0.0));
        assert_eq!(state("a b # not this", "x", "ab"), State::Decided(1.0));
        assert_eq!(state("{1}", "i", "{1}"), state("{1}", "", "{1}"));
        assert_eq!(state(r"(?<=€)\d+(?!\d*,)", "", "€14"), State::Decided(1.0));
        assert_eq!(state(r"^\w+$", "", "größe"), State::Decided(1.0));
    }

    #[test]
    fn endless_backtracking_is_an_error() {
        let answer = "a".repeat(5_000);
        assert!(matches!(state(r"^(a|aa|aaa)+(?=b)\1$", "", &answer), State::Error(_)));
    }

    #[test]
    fn a_pattern_that_does_not_compile_is_an_error() {
        assert!(matches!(state("(", "", ""), State::Error(_)));
    }
}
