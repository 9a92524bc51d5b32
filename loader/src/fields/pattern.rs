//! Whether a pattern compiles.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fancy_regex::{Assertion, Expr, LookAround, RegexBuilder};

use crate::diagnostic::Code;
use crate::fields::pattern_error::{explain, fault};
use crate::fields::pattern_problem::PatternProblem;
use crate::fields::unicode_tables;

/// Greatest weight of a pattern that is not compiled: a hundredth of what the regex engine accepts.
const MAX_COST: usize = 4_000;

/// Greatest weight of a pattern. The engine refuses far smaller ones, but counts them in a way that has an end.
const MAX_WEIGHT: usize = 1_000_000;

/// Greatest weight of all different patterns of a load that are compiled, about half a second's work.
const MAX_TOTAL: usize = 300_000;

/// Longest pattern, in bytes.
const MAX_LENGTH: usize = 1 << 16;

/// Bytes of all patterns of a load that are parsed.
const MAX_PARSED: usize = 4 << 20;

/// Patterns from this length on, in bytes, are parsed once. A shorter one is parsed faster than it is found.
const LONG: usize = 256;

/// Weight of a class of characters; a character weighs 1. `\w`, the largest one, can be repeated ten thousand times in the engine.
const CLASS: usize = 40;

/// Weight of a repetition, besides that of what is repeated.
const REPEAT: usize = 8;

/// Invalid patterns whose fault is pointed at: to find it, the file is read up to its place.
const MAX_FAULTS: usize = 100;

/// Weight of compiling the empty pattern.
const PATTERN: usize = 40;

/// The patterns of a load that compile, and the work that it took to know it.
#[derive(Debug, Default)]
pub(crate) struct CompiledPatterns {
    valid: Mutex<BTreeSet<(String, String)>>,
    weight: AtomicUsize,
    parsed: AtomicUsize,
    faults: AtomicUsize,
}

impl PatternProblem {
    fn invalid(problem: &str, offset: Option<usize>) -> Self {
        Self { code: Code::InvalidRegex, message: format!("the pattern does not compile: {problem}"), offset }
    }

    fn too_long() -> Self {
        let message = format!("the pattern is longer than {} KiB", MAX_LENGTH >> 10);
        Self { code: Code::LimitExceeded, message, offset: None }
    }

    fn too_many() -> Self {
        let message = "the patterns of this suite are too large to be checked".to_owned();
        Self { code: Code::LimitExceeded, message, offset: None }
    }
}

impl CompiledPatterns {
    /// The problem of a pattern, as the parser explains it. Flags out of `imsxu`.
    pub(crate) fn check(&self, pattern: &str, flags: &str) -> Result<(), PatternProblem> {
        // Parsing takes a hundred bytes of memory for each byte of a pattern.
        if pattern.len() > MAX_LENGTH {
            return Err(PatternProblem::too_long());
        }
        let key = (pattern.to_owned(), flags.to_owned());
        if pattern.len() >= LONG && self.valid().contains(&key) {
            return Ok(());
        }
        self.parse(pattern)?;
        if certainly_compiles(pattern, flags) {
            if pattern.len() >= LONG {
                self.valid().insert(key);
            }
            return Ok(());
        }
        if !cfg!(feature = "unicode-patterns") && unicode_tables::needs_tables(pattern, flags) {
            return Ok(());
        }
        self.parse(pattern)?;
        let Some(weight) = weight(pattern) else {
            return Err(PatternProblem::invalid(&format!("it expands to more than {MAX_WEIGHT} characters"), None));
        };
        // Held while it is compiled: threads that check the same pattern count it once.
        let mut valid = self.valid();
        if valid.contains(&key) {
            return Ok(());
        }
        if self.weight.fetch_add(weight, Ordering::Relaxed).saturating_add(weight) > MAX_TOTAL {
            return Err(PatternProblem::too_many());
        }
        let mut builder = RegexBuilder::new(pattern);
        builder
            .case_insensitive(flags.contains('i'))
            .multi_line(flags.contains('m'))
            .dot_matches_new_line(flags.contains('s'))
            .verbose_mode(flags.contains('x'));
        builder.build().map_err(|error| {
            let is_shown = self.faults.fetch_add(1, Ordering::Relaxed) < MAX_FAULTS;
            let offset = if is_shown { fault(pattern, &error) } else { None };
            PatternProblem::invalid(&explain(pattern, &error), offset)
        })?;
        valid.insert(key);
        Ok(())
    }

    /// Counts the bytes of a pattern that is going to be parsed.
    fn parse(&self, pattern: &str) -> Result<(), PatternProblem> {
        let parsed = self.parsed.fetch_add(pattern.len(), Ordering::Relaxed).saturating_add(pattern.len());
        if parsed > MAX_PARSED { Err(PatternProblem::too_many()) } else { Ok(()) }
    }

    fn valid(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.valid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much work a pattern is for the engine; `None` if it is so large that it is not even tried.
fn weight(pattern: &str) -> Option<usize> {
    // The engine explains what does not parse.
    let Ok(tree) = Expr::parse_tree(pattern) else { return Some(PATTERN + pattern.len()) };
    let mut calls = false;
    let mut repeats = 1;
    let weight = expanded(&tree.expr, &mut calls, &mut repeats);
    // A group that is called may repeat a group that is called, and so on: then all repeats may multiply.
    (weight <= MAX_WEIGHT && !(calls && repeats > MAX_WEIGHT)).then(|| PATTERN + weight)
}

/// Weight of an expression with its repeats expanded, whether it calls groups, and the product of its repeats.
fn expanded(expr: &Expr, calls: &mut bool, repeats: &mut usize) -> usize {
    *calls |= matches!(expr, Expr::SubroutineCall(_));
    let own = match expr {
        Expr::Literal { val, .. } => val.len(),
        Expr::Delegate { .. } | Expr::Any { .. } => CLASS,
        _ => 1,
    };
    let inner = expr.children_iter().fold(own, |sum, child| sum.saturating_add(expanded(child, calls, repeats)));
    match expr {
        Expr::Repeat { lo, hi, .. } => {
            let times = if *hi == usize::MAX { *lo } else { *hi }.max(1);
            *repeats = repeats.saturating_mul(times);
            inner.saturating_mul(times).saturating_add(REPEAT)
        }
        _ => inner,
    }
}

/// Whether it is known without compiling that the pattern compiles.
///
/// Compiling takes milliseconds in a macro, which is not optimised; parsing takes a hundredth of that.
fn certainly_compiles(pattern: &str, flags: &str) -> bool {
    let tree =
        if flags.is_empty() { Expr::parse_tree(pattern) } else { Expr::parse_tree(&format!("(?{flags}){pattern}")) };
    tree.is_ok_and(|tree| is_certain(&tree.expr) && expanded(&tree.expr, &mut false, &mut 1) <= MAX_COST)
}

/// Whether an expression compiles if it is not too large.
fn is_certain(expr: &Expr) -> bool {
    let is_known = match expr {
        Expr::Empty | Expr::Any { .. } | Expr::Literal { .. } | Expr::Concat(_) | Expr::Alt(_) | Expr::Group(_) => true,
        Expr::Assertion(assertion) => matches!(
            assertion,
            Assertion::StartText
                | Assertion::EndText
                | Assertion::StartLine { .. }
                | Assertion::EndLine { .. }
                | Assertion::WordBoundary
                | Assertion::NotWordBoundary
        ),
        Expr::Repeat { child, lo, hi, .. } => lo <= hi && is_repeatable(child),
        Expr::LookAround(_, look) => matches!(look, LookAround::LookAhead | LookAround::LookAheadNeg),
        Expr::Delegate { inner, .. } => is_plain_class(inner),
        _ => false,
    };
    is_known && expr.children_iter().all(is_certain)
}

fn is_repeatable(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Any { .. }
            | Expr::Literal { .. }
            | Expr::Group(_)
            | Expr::Delegate { .. }
            | Expr::Concat(_)
            | Expr::Alt(_)
    )
}

/// Classes that any regex engine knows: `\d` and the like, and lists in brackets without ranges or set operations other
/// than those among letters and digits.
fn is_plain_class(class: &str) -> bool {
    if let [b'\\', letter] = class.as_bytes() {
        return is_class_letter(*letter);
    }
    let Some(inner) = class.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) else { return false };
    let mut bytes = inner.strip_prefix('^').unwrap_or(inner).bytes().peekable();
    if bytes.peek().is_none() {
        return false;
    }
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(letter) if is_class_letter(letter) || b".,-/\\[]()$^*+?|{}".contains(&letter) => {}
                _ => return false,
            },
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                if bytes.peek() == Some(&b'-') {
                    bytes.next();
                    match bytes.next() {
                        Some(end) if end.is_ascii_alphanumeric() && byte <= end => {}
                        _ => return false,
                    }
                }
            }
            b' ' | b'.' | b',' | b':' | b';' | b'_' | b'/' | b'\'' | b'"' | b'!' | b'?' | b'%' | b'+' | b'*' | b'@'
            | b'$' | b'(' | b')' => {
                if bytes.peek() == Some(&b'-') {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

fn is_class_letter(letter: u8) -> bool {
    b"dDwWsS".contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::{CLASS, CompiledPatterns, MAX_TOTAL, PATTERN, PatternProblem, certainly_compiles};
    use crate::diagnostic::Code;

    fn check(pattern: &str, flags: &str) -> Result<(), String> {
        CompiledPatterns::default().check(pattern, flags).map_err(|problem| problem.message_with_offset())
    }

    /// Pieces from which patterns are put together, good and bad ones.
    const PIECES: &[&str] = &[
        "a",
        "refund",
        ".",
        "\\d",
        "\\w+",
        "\\b",
        "^",
        "$",
        "(",
        ")",
        "|",
        "*",
        "+?",
        "{2,5}",
        "{200}",
        "{3,1}",
        "[a-z]",
        "[z-a]",
        "[^\\d.,]",
        "[a&&b]",
        "[]",
        "(?i)",
        "(?=x)",
        "(?!y)",
        "(?<=z)",
        "(?<n>b)",
        "\\k<n>",
        "\\1",
        "\\p{L}",
        "\\p{Foo}",
        "(?:",
        "\\",
        "é",
        "[é]",
        "(?x) # c\n",
        "\\x41",
        "\\u{1F600}",
        "(?>a)",
        "[[:alpha:]]",
        "\\R",
        "[\\]-a]",
    ];

    #[test]
    fn a_pattern_that_is_not_compiled_would_compile() {
        let mut checked = 0;
        for first in PIECES {
            for second in PIECES {
                for third in ["", ")", "*"] {
                    for flags in ["", "imsxu"] {
                        let pattern = format!("{first}{second}{third}");
                        if certainly_compiles(&pattern, flags) {
                            checked += 1;
                            let built = fancy_regex::RegexBuilder::new(&pattern)
                                .case_insensitive(flags.contains('i'))
                                .multi_line(flags.contains('m'))
                                .dot_matches_new_line(flags.contains('s'))
                                .verbose_mode(flags.contains('x'))
                                .build();
                            assert!(built.is_ok(), "{pattern:?} with {flags:?}: {built:?}");
                        }
                    }
                }
            }
        }
        assert!(checked > 1000, "only {checked} patterns took the short way");
    }

    #[test]
    fn everyday_patterns_take_the_short_way() {
        for pattern in
            [r"\b19[.,]90\b", r"(?i)refund\s+(of|for)\s+\d+", r"^\w+@\w+\.\w+$", r"\d{4}-\d{2}-\d{2}", "hello"]
        {
            assert!(certainly_compiles(pattern, ""), "{pattern}");
        }
    }

    #[test]
    fn problems_are_explained() {
        let table = [
            ("(", "opening parenthesis without closing parenthesis at offset 0"),
            ("a)", "closing parenthesis without opening parenthesis at offset 1"),
            ("[a", "invalid character class at offset 0"),
            (r"(a)\2", "invalid back reference to group 2"),
            (r"\p{Foo}", "Unicode property not found at offset 0"),
            (r"é(a[z-a])", "invalid character class range, the start must be <= the end at offset 5"),
            ("a(b)(c[)]", "opening parenthesis without closing parenthesis at offset 4"),
            (r"a\(b(c", "opening parenthesis without closing parenthesis at offset 4"),
        ];
        for (pattern, expected) in table {
            let problem = check(pattern, "").expect_err(pattern);
            assert!(problem.to_lowercase().contains(&expected.to_lowercase()), "{pattern}: {problem}");
        }
        assert!(check(r"(?<=a+)b\1?", "").is_err());
        assert!(check(r"(?<=a+)b", "ix").is_ok());
    }

    #[test]
    fn what_is_compiled_has_a_limit() {
        let patterns = CompiledPatterns::default();
        let count = MAX_TOTAL / (PATTERN + CLASS) + 1;
        let results: Vec<Result<(), PatternProblem>> =
            (0..count).map(|index| patterns.check(&format!(r"\p{{L}}{index}"), "")).collect();
        let refused: Vec<&PatternProblem> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert!(!refused.is_empty() && refused.len() < count / 2, "{} of {count}", refused.len());
        assert!(refused.iter().all(|problem| problem.code == Code::LimitExceeded));
        // Known ones, and those that are not compiled, cost nothing.
        assert_eq!(patterns.check(r"\p{L}0", ""), Ok(()));
        assert_eq!(patterns.check(r"refund|\d+ euros", ""), Ok(()));
    }
}
