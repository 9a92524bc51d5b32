//! Patterns of graders, and of steps that replace.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use fancy_regex::{Error, Regex, RegexBuilder};

/// Whether the pattern matches anywhere in the text.
pub(super) fn is_match(pattern: &str, flags: &str, text: &str) -> Result<bool, String> {
    let pattern = compiled(pattern, flags).map_err(|error| format!("pattern does not compile: {error}"))?;
    pattern.is_match(text).map_err(|error| format!("pattern cannot be matched: {error}"))
}

/// The text with every match of the pattern replaced.
pub(super) fn replaced(pattern: &str, with: &str, text: &str) -> Result<String, String> {
    let pattern =
        compiled(pattern, "").map_err(|error| format!("the pattern of `replace` does not compile: {error}"))?;
    let replaced = pattern.try_replacen(text, 0, with).map(Cow::into_owned);
    replaced.map_err(|error| format!("the pattern of `replace` cannot be matched: {error}"))
}

/// Patterns that are kept: what trials share. A suite may have one of its own for every case, and each takes some kilobytes.
const MAX_KEPT: usize = 64;

/// The pattern, compiled once for all trials of this process, as long as not too many others come between.
fn compiled(pattern: &str, flags: &str) -> Result<Arc<Regex>, Box<Error>> {
    static KEPT: Mutex<Vec<([String; 2], Arc<Regex>)>> = Mutex::new(Vec::new());
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = kept().iter().find(|(known, _)| *known == [pattern, flags]).map(|(_, compiled)| Arc::clone(compiled));
    if let Some(compiled) = known {
        return Ok(compiled);
    }
    let compiled = Arc::new(compile(pattern, flags)?);
    let mut kept = kept();
    if kept.len() == MAX_KEPT {
        kept.remove(0);
    }
    kept.push(([pattern, flags].map(str::to_owned), Arc::clone(&compiled)));
    Ok(compiled)
}

/// Compiles a pattern the way it was checked when the suite was loaded.
fn compile(pattern: &str, flags: &str) -> Result<Regex, Box<Error>> {
    let has = |flag: char| flags.contains(flag);
    // Unicode is always on.
    RegexBuilder::new(pattern)
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

    #[test]
    fn a_pattern_is_compiled_once_as_long_as_few_others_come_between() {
        let pattern = |value: &str, flags: &str| compiled(value, flags).unwrap();
        let first = pattern("kept", "");
        assert!(Arc::ptr_eq(&first, &pattern("kept", "")));
        assert!(!Arc::ptr_eq(&first, &pattern("kept", "i")));
        (0..MAX_KEPT).for_each(|number| drop(pattern(&format!("other {number}"), "")));
        assert!(!Arc::ptr_eq(&first, &pattern("kept", "")));
    }
}
