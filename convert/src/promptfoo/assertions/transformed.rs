//! Assertions about what a `transform` makes of the answer.

use evalsuite_schema::grader::AnswerStep;

use super::transforms::{is_trim, note_object, of};
use super::{CaseContext, Check, Family, Grader, first_line, json, judged, scripts, text, transform_code};
use crate::promptfoo::source_files::FILE_SCHEME;
use crate::promptfoo::values::is_space;

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let transforms: Vec<String> = of(check, context).into_iter().map(str::to_owned).collect();
    if let Some(file) = transforms.iter().find(|code| code.starts_with(FILE_SCHEME)) {
        return Err(format!("the program `{file}` makes the text that it checks"));
    }
    if transforms.iter().all(|code| is_trim(code))
        && let Some(grader) = trimmed(check, context)
    {
        return grader;
    }
    let is_judged = Family::of(check.kind) == Some(Family::Judged);
    let is_text = check.value.as_ref().is_none_or(|value| value.items().is_none() && value.entries().is_empty());
    let is_object = check.kind == "equals" && !is_text;
    let is_json = check.kind == "contains-json" || check.kind == "is-json" && check.value.is_some();
    if (is_judged || is_object || is_json)
        && let Some(made) = transform_code::steps(&transforms)
    {
        let grader = match () {
            () if is_judged => judged::map(check, context),
            () if is_object => json::equals(check, context),
            () => json::map(check, context),
        }?;
        note_object(check, context);
        let is_missing_a_pass = made.can_be_missing && check.is_negated;
        context.different_if(is_missing_a_pass, check, "where the transform has no value, the check passes");
        made.differences.iter().for_each(|reason| context.different(check, *reason));
        return Ok(grader.transformed(&made.steps));
    }
    if check.kind == "is-json" || Family::of(check.kind) == Some(Family::Text) {
        return scripts::comparison(check, context);
    }
    Err(format!("it checks what `{}` makes of the answer", first_line(&transforms.join(", "))))
}

/// An assertion about the answer without white space around it, if a grader sees the same.
fn trimmed(check: &Check<'_>, context: &mut CaseContext<'_>) -> Option<Result<Grader, String>> {
    let is_stable = |text: &str| text.trim_matches(is_space) == text && !text.is_empty();
    let text = check.text().unwrap_or_default();
    let is_text = check.value.as_ref().is_some_and(|value| value.as_text().is_some());
    match check.kind {
        "contains-any" | "contains-all" | "icontains-any" | "icontains-all" => {
            check.texts().ok()?.iter().all(|text| is_stable(text)).then(|| text::map(check, context))
        }
        "contains" | "icontains" | "levenshtein" => is_stable(&text).then(|| text::map(check, context)),
        // These graders ignore white space around both texts.
        "equals" | "starts-with" => (is_text && is_stable(&text)).then(|| {
            let settings = evalsuite_schema::json::json!({"type": check.kind, "value": text});
            Ok(Grader::new(settings).negated(check.is_negated))
        }),
        "is-json" => Some(json::map(check, context).map(|grader| grader.transformed(&[AnswerStep::Trim]))),
        "contains-json" => Some(json::map(check, context)),
        kind => (Family::of(kind) == Some(Family::Judged)).then(|| judged::map(check, context)),
    }
}
