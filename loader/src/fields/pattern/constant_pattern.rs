//! Patterns that match every text, or none. What is not known for certain is neither.

use fancy_regex::{Assertion, Expr, LookAround};

/// Whether a valid pattern matches every text (`Some(true)`) or no text (`Some(false)`). Flags out of `imsxu`.
pub(crate) fn constant_match(pattern: &str, flags: &str) -> Option<bool> {
    let tree =
        if flags.is_empty() { Expr::parse_tree(pattern) } else { Expr::parse_tree(&format!("(?{flags}){pattern}")) };
    let tree = tree.ok()?;
    if has_unknown_effects(&tree.expr) {
        return None;
    }
    let empty = empty_matches(&tree.expr);
    if empty.start || empty.end {
        return Some(true);
    }
    is_impossible(&tree.expr).then_some(false)
}

/// The places of every text at which an expression matches nothing, or from which on it does.
#[derive(Debug, Clone, Copy)]
struct EmptyMatches {
    start: bool,
    end: bool,
    /// Every place.
    everywhere: bool,
}

impl EmptyMatches {
    const NOWHERE: Self = Self { start: false, end: false, everywhere: false };
    const EVERYWHERE: Self = Self { start: true, end: true, everywhere: true };
}

/// Groups that are called, and what the pattern keeps of earlier matches: the rules for single expressions do not hold.
fn has_unknown_effects(expr: &Expr) -> bool {
    matches!(expr, Expr::SubroutineCall(_) | Expr::ContinueFromPreviousMatchEnd | Expr::KeepOut)
        || expr.children_iter().any(has_unknown_effects)
}

fn empty_matches(expr: &Expr) -> EmptyMatches {
    match expr {
        Expr::Empty | Expr::Repeat { lo: 0, .. } => EmptyMatches::EVERYWHERE,
        Expr::Assertion(Assertion::StartText | Assertion::StartLine { .. }) => {
            EmptyMatches { start: true, ..EmptyMatches::NOWHERE }
        }
        Expr::Assertion(
            Assertion::EndText | Assertion::EndLine { .. } | Assertion::EndTextIgnoreTrailingNewlines { .. },
        ) => EmptyMatches { end: true, ..EmptyMatches::NOWHERE },
        Expr::Group(inner) => empty_matches(inner),
        Expr::Repeat { child, .. } => empty_matches(child),
        Expr::LookAround(inner, LookAround::LookAhead) => empty_matches(inner),
        Expr::Alt(branches) => {
            branches.iter().map(empty_matches).fold(EmptyMatches::NOWHERE, |all, branch| EmptyMatches {
                start: all.start || branch.start,
                end: all.end || branch.end,
                everywhere: all.everywhere || branch.everywhere,
            })
        }
        Expr::Concat(parts) => {
            // From the start on, any number of any characters leads to the end.
            let (mut all, mut is_at_end) = (EmptyMatches::EVERYWHERE, false);
            for part in parts {
                let empty = empty_matches(part);
                is_at_end = is_at_end && empty.end || all.start && is_any_text(part);
                all.start &= empty.start;
                all.end &= empty.end;
                all.everywhere &= empty.everywhere;
            }
            EmptyMatches { start: all.start || is_at_end, ..all }
        }
        _ => EmptyMatches::NOWHERE,
    }
}

/// Whether an expression matches any text from its start to its end.
fn is_any_text(expr: &Expr) -> bool {
    match expr {
        Expr::Group(inner) => is_any_text(inner),
        Expr::Repeat { child, lo: 0, hi: usize::MAX, .. } => is_any_character(child),
        _ => false,
    }
}

fn is_any_character(expr: &Expr) -> bool {
    match expr {
        Expr::Any { newline, .. } => *newline,
        Expr::Delegate { inner, .. } => {
            matches!(inner.as_str(), r"[\s\S]" | r"[\S\s]" | r"[\w\W]" | r"[\W\w]" | r"[\d\D]" | r"[\D\d]")
        }
        Expr::Group(inner) => is_any_character(inner),
        _ => false,
    }
}

/// Whether an expression matches nowhere in any text.
fn is_impossible(expr: &Expr) -> bool {
    match expr {
        Expr::Group(inner) => is_impossible(inner),
        Expr::Repeat { child, lo, .. } => *lo > 0 && is_impossible(child),
        Expr::Alt(branches) => branches.iter().all(is_impossible),
        Expr::LookAround(inner, LookAround::LookAheadNeg | LookAround::LookBehindNeg) => {
            empty_matches(inner).everywhere
        }
        Expr::LookAround(inner, _) => is_impossible(inner),
        Expr::Concat(parts) => {
            let (mut is_after_text, mut is_after_end) = (false, false);
            parts.iter().any(|part| {
                let is_text = is_some_text(part);
                let is_late_start = is_after_text && matches!(part, Expr::Assertion(Assertion::StartText));
                let is_text_after_end = is_text && is_after_end;
                is_after_text |= is_text;
                is_after_end |= matches!(part, Expr::Assertion(Assertion::EndText));
                is_late_start || is_text_after_end || is_impossible(part)
            })
        }
        _ => false,
    }
}

/// Whether an expression matches at least one character.
fn is_some_text(expr: &Expr) -> bool {
    match expr {
        Expr::Any { .. } | Expr::Delegate { .. } | Expr::GeneralNewline { .. } => true,
        Expr::Literal { val, .. } => !val.is_empty(),
        Expr::Group(inner) => is_some_text(inner),
        Expr::Repeat { child, lo, .. } => *lo > 0 && is_some_text(child),
        Expr::Alt(branches) => branches.iter().all(is_some_text),
        Expr::Concat(parts) => parts.iter().any(is_some_text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use fancy_regex::RegexBuilder;
    use proptest::prelude::*;

    use super::constant_match;

    #[test]
    fn patterns_that_match_every_text() {
        for pattern in [
            "",
            ".*",
            "a*",
            "^",
            "$",
            "(?:)",
            "x?",
            "()",
            "(a|)",
            "a|",
            "^.*",
            ".*$",
            r"\s*$",
            r"^\s*",
            "(?m)^",
            "(?s)^.*$",
            r"^[\s\S]*$",
            r"\A(?:[\s\S])*?\z",
            "(?i)(refund)?",
            "(?=)",
            "(?=a?)",
            r"a{0,3}",
            "(?s).*",
            "(a*)*",
            r"\Z",
            "(?!)|b*",
        ] {
            assert_eq!(constant_match(pattern, ""), Some(true), "{pattern}");
        }
        assert_eq!(constant_match("^.*$", "s"), Some(true));
        assert_eq!(constant_match("a ?", "x"), Some(true));
    }

    #[test]
    fn patterns_that_match_no_text() {
        for pattern in [
            "$19.90",
            "refund^",
            "a$b",
            "(?!)",
            "$^a",
            r"\za",
            r"(total)\A",
            "x(?!)",
            "$1|(?!)",
            "(?:$a)+",
            r"$\d+",
            "(?<!)",
        ] {
            assert_eq!(constant_match(pattern, ""), Some(false), "{pattern}");
        }
        assert_eq!(constant_match("$1", "i"), Some(false));
    }

    #[test]
    fn what_can_match_and_fail_is_neither() {
        for pattern in [
            "a",
            "^$",
            r"\b",
            "^.*$",
            r"^\s*$",
            "a+",
            "(?!a)",
            "^(?!.*sorry)",
            "(?s)^.{0,1000}$",
            "^[^@]*$",
            r"\$19\.90",
            "b|a$b|c",
            "a$\n*",
            "(?m)a$\nb",
            "(?m)$\n",
            "(?m)a\n^b",
            r"\d{2,}",
            "(?<!a)",
            "[^a]*a",
            r"a\Z\n",
            r"(?>a*)b",
            r"(a)?\1",
            "$19?|x",
            r"\B",
            "(?i)a",
        ] {
            assert_eq!(constant_match(pattern, ""), None, "{pattern}");
        }
        assert_eq!(constant_match("^.*$", "m"), None);
        assert_eq!(constant_match("$\n", "m"), None);
    }

    const PIECES: &[&str] = &[
        "a", "b*", ".", ".*", "^", "$", "(?:", "(", ")", "|", "*", "?", "+", "{0}", "{2}", r"\b", r"\A", r"\z", r"\Z",
        "(?=", "(?!", "(?<=", "(?<!", r"[\s\S]*", r"\n", "(?s)", "(?m)", "(?>", r"\1", "[^a]", r"\R", "x{0,2}",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_engine_agrees(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 1..7),
            flags in "[ims]?",
            texts in prop::collection::vec("[ab\n\r x]{0,6}", 12),
        ) {
            let pattern = pieces.concat();
            let built = RegexBuilder::new(&pattern)
                .case_insensitive(flags.contains('i'))
                .multi_line(flags.contains('m'))
                .dot_matches_new_line(flags.contains('s'))
                .build();
            if let (Ok(regex), Some(constant)) = (built, constant_match(&pattern, &flags)) {
                for text in texts {
                    let matched = regex.is_match(&text).unwrap();
                    prop_assert_eq!(matched, constant, "{} ({}) and {:?}", pattern, flags, text);
                }
            }
        }
    }
}
