//! The `regex` grader: the answer matches a pattern.

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::Regex;

use crate::grade::assertion_text::{in_text, shorten};
use crate::grade::patterns;
use crate::model::score::Score;

pub(crate) fn grade(config: &Regex, answer: &str) -> Result<Score, String> {
    let found = patterns::is_match(&config.value, &config.flags, answer)?;
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

/// What the grader is to probes: the texts that its pattern matches or forbids.
///
/// No crate makes them for these patterns: `rand_regex` and `proptest` know neither look-around nor back-references, and the texts have to be
/// the same every time.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{EmptyProbe, Grader, GraderConfig};
    use fancy_regex::{Expr, LookAround};

    use super::*;
    use crate::grade::probed::{Passing, Probed, shown};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        if let GraderConfig::Regex(config) = config { Some(config) } else { None }
    }

    impl Probed for Regex {
        fn texts(&self) -> Vec<String> {
            matching_text(self).into_iter().chain(forbidden_texts(self)).collect()
        }

        fn advice(&self, _: &Grader, passing: &Passing<'_>) -> Option<String> {
            let pattern = shown(&self.value);
            if passing.has(EmptyProbe::Silent) {
                return Some(format!(
                    "the pattern {pattern} matches the empty text: ask for a character of the answer"
                ));
            }
            if passing.has(EmptyProbe::Refusal) {
                return Some(format!("the pattern {pattern} matches a refusal: look for what only a right answer has"));
            }
            if passing.has(EmptyProbe::Echo) {
                return Some(format!(
                    "the prompt itself matches {pattern}: a `tool-trajectory` or `equals` would distinguish"
                ));
            }
            passing.by_listing()
        }
    }

    /// Characters that are tried for a class, the most usual first.
    const CANDIDATES: &str = "a1A .,-_/:;@#%€$(){}[]\"'+*=<>!?|&~^\\\tß中\n";

    /// Longest text, in bytes.
    const LONGEST: usize = 1024;

    /// A text that the pattern matches; `None` if none is found.
    pub(super) fn matching_text(config: &Regex) -> Option<String> {
        let tree = Expr::parse_tree(&config.value).ok()?;
        let mut text = String::new();
        append(&tree.expr, &mut text)?;
        let matches = patterns::is_match(&config.value, &config.flags, &text).ok()?;
        (matches && !text.trim().is_empty()).then(|| text.trim().to_owned())
    }

    /// The texts that a pattern forbids with a negative look-around, as `^(?!.*error)` does.
    pub(super) fn forbidden_texts(config: &Regex) -> Vec<String> {
        let Ok(tree) = Expr::parse_tree(&config.value) else { return Vec::new() };
        let mut texts = Vec::new();
        let mut waiting = vec![&tree.expr];
        while let Some(expression) = waiting.pop() {
            if let Expr::LookAround(inner, LookAround::LookAheadNeg | LookAround::LookBehindNeg) = expression {
                let branches = match inner.as_ref() {
                    Expr::Alt(branches) => branches.as_slice(),
                    other => std::slice::from_ref(other),
                };
                for branch in branches {
                    let mut text = String::new();
                    if append(branch, &mut text).is_some() && !text.trim().is_empty() {
                        texts.push(text.trim().to_owned());
                    }
                }
            }
            waiting.extend(expression.children_iter());
        }
        texts
    }

    /// Appends a text for an expression; `None` if there is none.
    fn append(expression: &Expr, text: &mut String) -> Option<()> {
        if text.len() > LONGEST {
            return None;
        }
        match expression {
            Expr::Literal { val, .. } => text.push_str(val),
            Expr::Any { .. } => text.push('a'),
            Expr::Concat(parts) => parts.iter().try_for_each(|part| append(part, text))?,
            Expr::Alt(branches) => {
                // The first branch that has a text.
                let start = text.len();
                branches.iter().find_map(|branch| {
                    text.truncate(start);
                    append(branch, text)
                })?;
            }
            Expr::Group(inner) => append(inner, text)?,
            Expr::AtomicGroup(inner) => append(inner, text)?,
            Expr::LookAround(inner, LookAround::LookBehind) => append(inner, text)?,
            Expr::Repeat { child, lo, .. } => {
                for _ in 0..*lo {
                    append(child, text)?;
                }
            }
            Expr::Delegate { inner, .. } => text.push(character_of(inner)?),
            Expr::GeneralNewline { .. } => text.push('\n'),
            // Look-ahead, anchors and the like have no text of their own; whether the text matches is checked at the end.
            _ => {}
        }
        Some(())
    }

    /// A character of a class, such as `[.,]` or `\d`.
    fn character_of(class: &str) -> Option<char> {
        let pattern = fancy_regex::Regex::new(&format!("^{class}$")).ok()?;
        let matches = |character: &char| pattern.is_match(character.encode_utf8(&mut [0; 4])).unwrap_or(false);
        // What the class names itself, before any other character.
        class.chars().filter(|character| !"[]^\\-".contains(*character)).chain(CANDIDATES.chars()).find(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::to_probes::{forbidden_texts, matching_text};
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
    fn endless_backtracking_is_an_error() {
        let answer = "a".repeat(5_000);
        assert!(matches!(state(r"^(a|aa|aaa)+(?=b)\1$", "", &answer), ScoreState::Error(_)));
    }

    #[test]
    fn a_pattern_that_does_not_compile_is_an_error() {
        assert!(matches!(state("(", "", ""), ScoreState::Error(_)));
    }

    fn sample(value: &str, flags: &str) -> Option<String> {
        matching_text(&Regex { value: value.to_owned(), flags: flags.to_owned() })
    }

    #[test]
    fn a_text_matches_its_pattern() {
        for (pattern, flags, text) in [
            (r"\b19[.,]90\b", "", "19.90"),
            ("^(approved|granted)$", "", "approved"),
            (r"order \d{4}", "i", "order dddd"),
            (r"(?i)refund(ed)?", "", "refund"),
            (r"(?<=€)\d+", "", "€1"),
        ] {
            let found = sample(pattern, flags);
            let pattern = fancy_regex::Regex::new(pattern).unwrap();
            assert!(found.as_deref().is_some_and(|found| pattern.is_match(found).unwrap()), "{pattern}: {found:?}");
            if !text.contains("dddd") {
                assert_eq!(found.as_deref(), Some(text));
            }
        }
    }

    #[test]
    fn a_text_that_a_pattern_forbids_is_found() {
        let of = |value: &str| forbidden_texts(&Regex { value: value.to_owned(), flags: String::new() });
        assert_eq!(of(r"^(?!.*\b(error|failed)\b)"), ["error"]);
        assert_eq!(of(r"^(?!sorry|no ).+$"), ["sorry", "no"]);
        assert_eq!(of("paid").len(), 0);
    }

    #[test]
    fn a_pattern_without_a_text_has_none() {
        assert_eq!(sample("", ""), None);
        assert_eq!(sample("a(?!.)b", ""), None);
        assert_eq!(sample("x{4000}", ""), None);
    }
}
