//! Whether a pattern compiles: the engine of the graders decides, once for each different pattern of a load. And what its errors say.

mod constant_pattern;
mod unicode_tables;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fancy_regex::{Assertion, CompileError, Error, Expr, LookAround, ParseError, RegexBuilder};

use crate::diagnostic::Code;
use crate::fields::PatternProblem;

pub(crate) use self::constant_pattern::constant_match;
pub(crate) use self::unicode_tables::has_pattern_with_tables;

/// Longest pattern, in bytes: parsing takes a hundred bytes of memory for each.
const MAX_LENGTH: usize = 1 << 16;

/// Bytes of all different patterns of a load.
const MAX_PARSED: usize = 4 << 20;

/// Largest pattern, in characters and classes with repeats written out. The engine accepts far smaller ones only, but multiplies the
/// repeats of larger ones until they overflow.
const MAX_SIZE: usize = 1_000_000;

/// Size of all different patterns of a load that are compiled, about half a second's work.
const MAX_TOTAL: usize = 300_000;

/// Size up to which an everyday pattern is not compiled: a hundredth of what the engine accepts.
const MAX_EVERYDAY: usize = 4_000;

/// Size of a class of characters; a character has 1. `\w`, the largest one, can be repeated ten thousand times in the engine.
const CLASS: usize = 40;

/// Invalid patterns whose fault is pointed at: to find it, the file is read up to its place.
const MAX_FAULTS: usize = 100;

/// The patterns of a load, with their problems, and the work that it took to know them.
#[derive(Debug, Default)]
pub(crate) struct CompiledPatterns(Mutex<Checked>);

#[derive(Debug, Default)]
struct Checked {
    /// By flags and pattern.
    results: BTreeMap<(String, String), Result<(), PatternProblem>>,
    parsed: usize,
    compiled: usize,
    faults: usize,
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
        if pattern.len() > MAX_LENGTH {
            return Err(PatternProblem::too_long());
        }
        // Held while it is compiled: threads that check the same pattern do it once.
        let mut checked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (flags.to_owned(), pattern.to_owned());
        let known = checked.results.get(&key).cloned();
        let mut result = known.unwrap_or_else(|| {
            let result = checked.check(pattern, flags);
            checked.results.insert(key, result.clone());
            result
        });
        if let Err(PatternProblem { offset: offset @ Some(_), .. }) = &mut result {
            checked.faults += 1;
            offset.take_if(|_| checked.faults > MAX_FAULTS);
        }
        result
    }
}

impl Checked {
    fn check(&mut self, pattern: &str, flags: &str) -> Result<(), PatternProblem> {
        self.parsed += pattern.len();
        if self.parsed > MAX_PARSED {
            return Err(PatternProblem::too_many());
        }
        let with_flags = if flags.is_empty() { pattern } else { &format!("(?{flags}){pattern}") };
        let mut size = pattern.len();
        // The engine explains what does not parse.
        if let Ok(tree) = Expr::parse_tree(with_flags) {
            let (mut calls, mut repeats) = (false, 1);
            size = expanded(&tree.expr, &mut calls, &mut repeats);
            if size <= MAX_EVERYDAY && is_everyday(&tree.expr) {
                return Ok(());
            }
            // A group that is called may repeat a group that is called, and so on: then all repeats may multiply.
            if size > MAX_SIZE || calls && repeats > MAX_SIZE {
                let problem = format!("it expands to more than {MAX_SIZE} characters");
                return Err(PatternProblem::invalid(&problem, None));
            }
        }
        if !cfg!(feature = "unicode-patterns") && unicode_tables::needs_tables(pattern, flags) {
            return Ok(());
        }
        self.compiled = self.compiled.saturating_add(size.saturating_add(CLASS));
        if self.compiled > MAX_TOTAL {
            return Err(PatternProblem::too_many());
        }
        let mut builder = RegexBuilder::new(pattern);
        builder
            .case_insensitive(flags.contains('i'))
            .multi_line(flags.contains('m'))
            .dot_matches_new_line(flags.contains('s'))
            .verbose_mode(flags.contains('x'));
        match builder.build() {
            Ok(_) => Ok(()),
            Err(error) => Err(PatternProblem::invalid(&explain(pattern, &error), fault(pattern, &error))),
        }
    }
}

/// Size of an expression with its repeats written out, whether it calls groups, and the product of its repeats.
fn expanded(expr: &Expr, calls: &mut bool, repeats: &mut usize) -> usize {
    *calls |= matches!(expr, Expr::SubroutineCall(_));
    let own = match expr {
        Expr::Literal { val, .. } => val.len(),
        Expr::Delegate { .. } | Expr::Any { .. } => CLASS,
        _ => 1,
    };
    let size = expr.children_iter().fold(own, |sum, child| sum.saturating_add(expanded(child, calls, repeats)));
    let Expr::Repeat { lo, hi, .. } = expr else { return size };
    let times = if *hi == usize::MAX { *lo } else { *hi }.max(1);
    *repeats = repeats.saturating_mul(times);
    size.saturating_mul(times)
}

/// Whether an expression compiles if it is not too large: a macro is not optimised, and takes 1 to 10 ms to compile a pattern, and a
/// hundredth of that to parse it.
fn is_everyday(expr: &Expr) -> bool {
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
        Expr::Repeat { child, lo, hi, .. } => {
            lo <= hi
                && !matches!(**child, Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) | Expr::Repeat { .. })
        }
        Expr::LookAround(_, look) => matches!(look, LookAround::LookAhead | LookAround::LookAheadNeg),
        Expr::Delegate { inner, .. } => is_plain_class(inner),
        _ => false,
    };
    is_known && expr.children_iter().all(is_everyday)
}

/// `\d` and the like, and lists in brackets of characters, of these, and of the ranges that every engine knows.
fn is_plain_class(class: &str) -> bool {
    const KNOWN: [&str; 10] = ["a-z", "A-Z", "0-9", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\."];
    let Some(inner) = class.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) else {
        return class != r"\." && KNOWN[3..].contains(&class);
    };
    let inner = inner.strip_prefix('^').unwrap_or(inner);
    let rest = KNOWN.iter().fold(inner.to_owned(), |rest, known| rest.replace(known, "a"));
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".,:;_/'\"!?%+*@$()".contains(&byte))
}

/// The problem in words.
pub(super) fn explain(pattern: &str, error: &Error) -> String {
    match error {
        // The parser stops at a surplus parenthesis without naming it.
        Error::ParseError(position, _) if pattern.get(*position..).is_some_and(|rest| rest.starts_with(')')) => {
            "closing parenthesis without opening parenthesis".to_owned()
        }
        Error::ParseError(_, ParseError::GeneralParseError(problem)) => lower_first(problem),
        Error::ParseError(_, problem) => lower_first(&problem.to_string()),
        Error::CompileError(problem) => match problem.as_ref() {
            CompileError::InnerError(problem) => innermost(problem),
            other => lower_first(&other.to_string()),
        },
        other => other.to_string(),
    }
}

/// The byte of a pattern that an error is about. Where the parser stops at the end, that is what was not closed.
pub(super) fn fault(pattern: &str, error: &Error) -> Option<usize> {
    let offset = match error {
        Error::ParseError(position, _) => *position,
        Error::CompileError(problem) => match problem.as_ref() {
            CompileError::InnerError(problem) => return drawn_fault(pattern, problem),
            _ => return None,
        },
        _ => return None,
    };
    if offset < pattern.len() {
        return Some(offset);
    }
    opened(pattern).or_else(|| pattern.char_indices().next_back().map(|(last, _)| last))
}

/// The last bracket or parenthesis that a pattern does not close.
fn opened(pattern: &str) -> Option<usize> {
    let (mut open, mut class) = (Vec::new(), None);
    let mut characters = pattern.char_indices();
    while let Some((index, character)) = characters.next() {
        match (character, class) {
            ('\\', _) => drop(characters.next()),
            (']', Some(start)) if index > start + 1 => class = None,
            ('[', None) => class = Some(index),
            ('(', None) => open.push(index),
            (')', None) => drop(open.pop()),
            _ => {}
        }
    }
    class.or(open.pop())
}

/// What the regex engine draws a caret below, in a line of its explanation after the part of the pattern that it was given.
fn drawn_fault(pattern: &str, mut error: &dyn std::error::Error) -> Option<usize> {
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    let mut lines = text.lines();
    let (mut part, mut carets) = ("", "");
    while carets.is_empty() {
        let line = lines.next()?;
        match line.trim_start().starts_with('^') {
            true => carets = line,
            false => part = line,
        }
    }
    let indent = part.len() - part.trim_start().len();
    let column = carets.chars().take_while(|character| *character == ' ').count().checked_sub(indent)?;
    let part = part.trim_start();
    // The names of properties are drawn in small letters.
    let (in_small, part_in_small) = (pattern.to_ascii_lowercase(), part.to_ascii_lowercase());
    let mut places = in_small.match_indices(&part_in_small);
    let (start, _) = places.next().filter(|_| places.next().is_none())?;
    Some(start + part.char_indices().nth(column)?.0)
}

/// The explanation at the end of a chain of causes. Explanations of the regex engine draw the pattern before they state
/// the problem in their last line.
fn innermost(mut error: &dyn std::error::Error) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    lower_first(line.trim_start_matches("error: "))
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use evalsuite_needs::slow;
    use fancy_regex::Expr;

    use super::{CLASS, CompiledPatterns, MAX_EVERYDAY, MAX_TOTAL, PatternProblem, expanded, is_everyday};
    use crate::diagnostic::Code;

    fn check(pattern: &str, flags: &str) -> Result<(), String> {
        CompiledPatterns::default().check(pattern, flags).map_err(|problem| problem.message_with_offset())
    }

    fn is_short_way(pattern: &str, flags: &str) -> bool {
        let with_flags = if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
        Expr::parse_tree(&with_flags)
            .is_ok_and(|tree| is_everyday(&tree.expr) && expanded(&tree.expr, &mut false, &mut 1) <= MAX_EVERYDAY)
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
        "[ ]",
        "[0-9a-zA-Z_.-]",
        "[a-z-9]",
        r"[\\d]",
        "[^]",
        "[^^]",
    ];

    #[test]
    fn a_pattern_that_is_not_compiled_would_compile() {
        let mut checked = 0;
        for first in PIECES {
            for second in PIECES {
                for third in ["", ")", "*"] {
                    for flags in ["", "imsxu"] {
                        let pattern = format!("{first}{second}{third}");
                        if is_short_way(&pattern, flags) {
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
            assert!(is_short_way(pattern, ""), "{pattern}");
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

    #[slow(hostile)]
    #[test]
    fn what_is_compiled_has_a_limit() {
        let patterns = CompiledPatterns::default();
        let count = MAX_TOTAL / (2 * CLASS) + 1;
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
