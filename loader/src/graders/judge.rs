//! `llm-grader`, `rubrics` and `compare`.

use evalsuite_schema::grader::{Compare, ComparedWith, JudgeSettings, LlmGrader, ReferenceAnswer, Rubrics};

use super::{GraderContext, GraderNotes, criteria, prompt};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::paths::Scope;
use crate::fields::{Fields, label};
use crate::keys::grader::judged::COMPARED_WITH;
use crate::keys::range;
use crate::read::node::Node;

pub(super) fn llm_grader(
    fields: &mut Fields<'_>,
    cx: GraderContext<'_>,
    notes: &mut GraderNotes,
    d: &mut Diagnostics,
) -> Option<LlmGrader> {
    let prompt_entry = fields.get("prompt");
    let rubrics_entry = fields.get("rubrics");
    let judge = settings(fields, cx.scope, d);
    let prompt = prompt_entry.map_or(Some(None), |entry| prompt::grader(&entry.value, cx, d).map(Some));
    let rubrics = rubrics_entry.map_or(Some(Vec::new()), |entry| criteria::list(&entry.value, "`rubrics`", d));
    let (prompt, rubrics) = (prompt?, rubrics?);
    if prompt.is_none() && rubrics.is_empty() {
        notes.bare_judges.push(fields.node.span);
    }
    Some(LlmGrader { prompt, rubrics, judge: judge? })
}

/// Settings of `rubrics`; the criteria are under `key` or its other spelling.
pub(super) fn rubrics(
    fields: &mut Fields<'_>,
    scope: Scope<'_>,
    key: &'static str,
    d: &mut Diagnostics,
) -> Option<Rubrics> {
    let entry = fields.get_either(key, d);
    if entry.is_none() {
        fields.missing(Code::MissingGraderSetting, key, d);
    }
    let judge = settings(fields, scope, d);
    let entry = entry?;
    let criteria = criteria::one_or_list(&entry.value, &label(entry), d)?;
    if criteria.is_empty() {
        let message = format!("{} is empty", label(entry));
        return fields::reject(Code::MissingGraderSetting, entry.value.span, message, "add a criterion", d);
    }
    Some(Rubrics { criteria, judge: judge? })
}

/// Settings of `compare`. In the tasks layout, whose references are not answers, it needs `reference` or `against`.
pub(super) fn compare(
    fields: &mut Fields<'_>,
    cx: GraderContext<'_>,
    notes: &mut GraderNotes,
    d: &mut Diagnostics,
) -> Option<Compare> {
    let reference_entry = fields.get("reference");
    let against_entry = fields.get("against");
    let against = against_entry
        .map_or(Some(ComparedWith::default()), |entry| fields::choice(&entry.value, "`against`", COMPARED_WITH, d));
    if against == Some(ComparedWith::Baseline) {
        if let Some(entry) = reference_entry {
            let message = "`reference` has no effect beside `against: baseline`";
            d.report(Code::SettingConflict, entry.key_span, message, "delete one of them");
        }
    } else if reference_entry.is_none() {
        match cx.interpolates() {
            true => notes.bare_comparisons.push(("compare", "reference", fields.node.span)),
            false => fields.missing(Code::MissingGraderSetting, "reference", d),
        }
    }
    let criteria_entry = fields.get("criteria");
    let judge = settings(fields, cx.scope, d);
    let reference = reference_entry.map_or(Some(None), |entry| reference(&entry.value, cx, d).map(Some));
    let criteria = criteria_entry.map_or(Some(None), |entry| fields::text(&entry.value, "`criteria`", d).map(Some));
    Some(Compare { against: against?, reference: reference?, criteria: criteria?, judge: judge? })
}

/// An answer to compare with: text or a file.
fn reference(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<ReferenceAnswer> {
    let text = fields::text(node, "`reference`", d)?;
    match text.trim().strip_prefix("file://") {
        Some(path) => {
            let (file, _, text) = prompt::file_text(path, node, "`reference`", cx, d)?;
            Some(ReferenceAnswer::File { file, text: text.as_ref().to_owned() })
        }
        None => {
            prompt::check_for_path(&text, node, "reference", d);
            Some(ReferenceAnswer::Text(text))
        }
    }
}

/// What is handed to a judge. `None`: a problem was reported.
fn settings(fields: &mut Fields<'_>, scope: Scope<'_>, d: &mut Diagnostics) -> Option<JudgeSettings> {
    let before = d.len();
    let target = fields.read("target", fields::literal_text, d);
    let model = fields.read("model", fields::text, d);
    let temperature = fields
        .get("temperature")
        .and_then(|entry| fields::number_in(&entry.value, "`temperature`", &range::TEMPERATURE, d));
    let timeout_seconds = fields.read("timeout_seconds", fields::positive, d);
    let confirm =
        fields.get("confirm").and_then(|entry| fields::number_in(&entry.value, "`confirm`", &range::CONFIRM, d));
    let config = fields.read("config", fields::object, d);
    let preprocessors = fields.get("preprocessors").map(|entry| super::preprocessors(entry, scope, d));
    let steps = fields.get_renamed("max_steps", d);
    let max_steps = steps
        .and_then(|entry| fields::integer(&entry.value, &label(entry), 1, 50, d))
        .and_then(|value| u32::try_from(value).ok());
    let failed =
        d.iter().skip(before).any(|problem| problem.severity() == evalsuite_schema::diagnostic::Severity::Error);
    (!failed).then(|| JudgeSettings {
        target,
        model,
        temperature,
        max_steps,
        timeout_seconds,
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number up to 10")]
        confirm: confirm.map(|value| value as u32),
        config: config.unwrap_or_default(),
        preprocessors,
    })
}
