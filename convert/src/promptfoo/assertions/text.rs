//! Assertions that look for text.

use evalsuite_loader::document::{Data, Foreign};
use evalsuite_schema::json::json;

use super::{CaseContext, Check, Grader, scripts};
use crate::promptfoo::javascript_regex::{Refused, Translated, escaped, translate};
use crate::promptfoo::values::comma_list;

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if check.kind.ends_with("-any") || check.kind.ends_with("-all") {
        let reason = match check.value.as_ref().map(|value| &value.data) {
            Some(Data::Text(text)) => comma_list(text).1,
            Some(Data::List(_)) | None => None,
            Some(_) => Some("its value is neither text nor a list"),
        };
        if let Some(reason) = reason {
            context.different(check, format!("promptfoo reports an error, because {reason}"));
        }
        return Ok(Grader::new(json!({"type": check.kind, "value": check.texts()?})).negated(check.is_negated));
    }
    let value = check.value.as_ref().ok_or("it has no value")?;
    if check.kind == "equals" && matches!(value.data, Data::List(_) | Data::Mapping(_) | Data::Null) {
        return super::json::equals(check, context);
    }
    let text = check.text().unwrap_or_default();
    if check.kind == "equals" {
        return Ok(pattern(&format!(r"\A{}\z", escaped(&text)), check));
    }
    if text.is_empty() {
        return Err("its value is empty".to_owned());
    }
    let is_number_or_text = match value.data {
        Data::Text(_) => true,
        Data::Number(_) => matches!(check.kind, "contains" | "icontains"),
        Data::Foreign(Foreign::NotFinite(number)) => matches!(check.kind, "contains" | "icontains") && !number.is_nan(),
        _ => false,
    };
    context.different_if(!is_number_or_text, check, "promptfoo reports an error, because its value is not text");
    match check.kind {
        "regex" => regex(check, &text, context),
        "levenshtein" => levenshtein(check, &text, context),
        // The graders do not look for blanks.
        "contains" | "icontains" if text.trim().is_empty() => Ok(pattern(&escaped(&text), check)),
        "starts-with" => Ok(pattern(&format!(r"\A{}", escaped(&text)), check)),
        kind => Ok(Grader::new(json!({"type": kind, "value": text})).negated(check.is_negated)),
    }
}

fn pattern(pattern: &str, check: &Check<'_>) -> Grader {
    Grader::new(json!({"type": "regex", "value": pattern})).negated(check.is_negated)
}

fn regex(check: &Check<'_>, written: &str, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    match translate(written, "") {
        Ok(Translated { text, counts }) => {
            let reason = "characters such as emoji count as one in the pattern, and as two in promptfoo";
            context.different_if(counts, check, reason);
            Ok(pattern(&text, check))
        }
        Err(Refused::Invalid(reason)) if fancy_regex::Regex::new(written).is_ok() => {
            context.different(
                check,
                format!("promptfoo fails every answer, because JavaScript refuses the pattern: {reason}"),
            );
            Ok(pattern(written, check))
        }
        Err(Refused::Invalid(reason)) => Err(format!("the pattern is not valid: {reason}")),
        Err(Refused::Other) => scripts::comparison(check, context),
    }
}

fn levenshtein(check: &Check<'_>, text: &str, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let threshold = check.largest_distance(context)?;
    let reason =
        "blanks around the answer and the text are not counted, and characters such as emoji count as one, not as two";
    context.different(check, reason);
    Ok(Grader::new(json!({"type": "similar", "value": text, "max_distance": threshold.floor() as u64}))
        .negated(check.is_negated))
}
