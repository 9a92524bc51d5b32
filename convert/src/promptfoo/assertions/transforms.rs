//! The `transform`s of the answer that an assertion looks at.

use evalsuite_loader::document::Value;

use super::{CaseContext, Check, Family};

/// Code that removes white space around the answer.
const TRIMS: &[&str] = &["output.trim()", "String(output).trim()", "output.toString().trim()", "output?.trim()"];

/// Types that do not look at the answer.
const WITHOUT_ANSWER: &[&str] = &["skill-used", "trajectory:"];

/// The transforms of the answer before an assertion looks at it: that of its test, then its own. One that takes the answer for an object
/// follows a step that reads it as JSON.
pub(super) fn of<'a>(check: &'a Check<'_>, context: &CaseContext<'a>) -> Vec<&'a str> {
    let mut codes: Vec<&str> = written(check, context).collect();
    if takes_an_object(check, context) {
        codes.insert(0, "JSON.parse(output)");
    }
    codes
}

fn written<'a>(check: &'a Check<'_>, context: &CaseContext<'a>) -> impl Iterator<Item = &'a str> {
    let own = check.assertion.value.get("transform").and_then(Value::as_text);
    context.transform.into_iter().chain(own)
}

fn takes_an_object(check: &Check<'_>, context: &CaseContext<'_>) -> bool {
    written(check, context).next().is_some_and(reads_an_object)
}

/// Reports that the answer has to be JSON, where a transform takes it for an object.
pub(super) fn note_object(check: &Check<'_>, context: &mut CaseContext<'_>) {
    let reason = "the answer has to be JSON, where a provider of promptfoo returns an object";
    context.different_if(takes_an_object(check, context), check, reason);
}

/// Whether an assertion is about a transformed answer.
pub(super) fn applies(check: &Check<'_>, context: &CaseContext<'_>) -> bool {
    Family::of(check.kind) != Some(Family::Script)
        && !WITHOUT_ANSWER.iter().any(|kind| check.kind.starts_with(kind))
        && !of(check, context).is_empty()
}

/// Whether an assertion has a transform that may be an error.
pub(super) fn may_fail(check: &Check<'_>, context: &CaseContext<'_>) -> bool {
    !WITHOUT_ANSWER.iter().any(|kind| check.kind.starts_with(kind)) && !of(check, context).into_iter().all(is_trim)
}

/// Whether code only removes white space around the answer. Lines are the body of a function, which needs a `return`.
pub(super) fn is_trim(code: &str) -> bool {
    !code.contains('\n') && TRIMS.contains(&code.trim().trim_end_matches(';'))
}

/// Whether code in JavaScript takes the answer for an object.
pub(super) fn reads_an_object(code: &str) -> bool {
    code.match_indices("output").any(|(start, word)| {
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
        if code[..start].ends_with(|before: char| is_name(before) || before == '.') {
            return false;
        }
        let rest = code[start + word.len()..].trim_start_matches('?');
        let name = rest.strip_prefix('.').and_then(|rest| rest.split(|next: char| !is_name(next)).next());
        match name {
            // What texts have, too.
            Some(
                "" | "at" | "charAt" | "charCodeAt" | "codePointAt" | "concat" | "endsWith" | "includes" | "indexOf"
                | "lastIndexOf" | "length" | "localeCompare" | "match" | "matchAll" | "normalize" | "padEnd"
                | "padStart" | "repeat" | "replace" | "replaceAll" | "search" | "slice" | "split" | "startsWith"
                | "substr" | "substring" | "toLocaleLowerCase" | "toLocaleUpperCase" | "toLowerCase" | "toString"
                | "toUpperCase" | "trim" | "trimEnd" | "trimStart" | "valueOf",
            ) => false,
            Some(_) => true,
            None => ["['", "[\"", "[0].", "[0]["].iter().any(|start| rest.starts_with(start)),
        }
    })
}
