//! Whether a pattern needs tables of Unicode, which cost a feature of evalsuite.

use evalsuite_schema::Grader;
use evalsuite_schema::grader::AnswerStep;
use fancy_regex::{Assertion, Expr};

/// Whether a grader has a pattern that needs tables of Unicode.
pub(crate) fn has_pattern_with_tables(grader: &Grader) -> bool {
    let of_config = grader.config.settings().pattern().is_some_and(|(pattern, flags)| needs_tables(pattern, flags));
    let in_step = |step: &AnswerStep| matches!(step, AnswerStep::Replace { replace, .. } if needs_tables(replace, ""));
    of_config || grader.transform.iter().any(in_step)
}

/// Whether the regex engine needs tables of Unicode for a pattern: for classes such as `\d` and `\p{L}`, the ends of words, and to ignore case.
/// A pattern that does not parse, such as one with variables, is judged by its text.
pub(crate) fn needs_tables(pattern: &str, flags: &str) -> bool {
    let with_flags = if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
    Expr::parse_tree(&with_flags).map_or_else(
        |_| flags.contains('i') || is_class_of_tables(pattern),
        |tree| uses_tables(&tree.expr) || tree.expr.has_descendant(uses_tables),
    )
}

/// Whether an expression itself, without those in it, uses tables.
fn uses_tables(expr: &Expr) -> bool {
    match expr {
        Expr::Literal { casei, .. } | Expr::Backref { casei, .. } => *casei,
        Expr::BackrefWithRelativeRecursionLevel { casei, .. } => *casei,
        Expr::Delegate { inner, casei } => *casei || is_class_of_tables(inner),
        Expr::Assertion(assertion) => !matches!(
            assertion,
            Assertion::StartText
                | Assertion::EndText
                | Assertion::EndTextIgnoreTrailingNewlines { .. }
                | Assertion::StartLine { .. }
                | Assertion::EndLine { .. }
        ),
        _ => false,
    }
}

/// Whether a class of characters names one that has a table: `\w`, `\p{L}`, or `[\d.]`.
fn is_class_of_tables(class: &str) -> bool {
    let mut characters = class.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && characters.next().is_some_and(|letter| "dDwWsSpPbB".contains(letter)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::needs_tables;

    #[test]
    fn classes_ends_of_words_and_case_need_tables() {
        for (pattern, flags) in [
            (r"\d", ""),
            (r"[\w.]+", ""),
            (r"[^\s]", ""),
            (r"a\b", ""),
            (r"\p{Greek}", ""),
            (r"(?<=\$)\PL", ""),
            ("(?i)yes", ""),
            ("yes|(?i:no)", ""),
            ("yes", "i"),
            ("[a-z]", "is"),
            (r"(a)(?i)\1", ""),
            (r"${{ X }}\d", ""),
        ] {
            assert!(needs_tables(pattern, flags), "{pattern}");
        }
    }

    #[test]
    fn texts_lists_of_characters_and_lines_need_none() {
        let patterns = [
            "",
            "größe",
            "^a.c$",
            "[0-9]+",
            "[^a-z]",
            r"\\d",
            r"\$[0-9]",
            "(?m)^a$",
            "(?s)a.b",
            "(?<=€)1(?!,)",
            r"\Aa\z",
            r"\x{e4}",
        ];
        for pattern in patterns {
            assert!(!needs_tables(pattern, ""), "{pattern}");
        }
        assert!(!needs_tables("^a b$", "mxsu"));
    }
}
