//! Rules about complaints of the reference that we do not share.

use serde_json::{Value, json};

use super::{Context, interpolation, uses_merge_keys};
use crate::complaint::{Complaint, Effect};
use crate::place;

type Rule = fn(&Complaint, Context<'_>) -> bool;

const RULES: &[(&str, Rule)] = &[
    ("byte-order-mark", |complaint, cx| {
        let marked = cx.record.texts().any(|(_, text)| text.starts_with('\u{feff}'));
        marked && cx.record.expected()["error_kind"] == "yaml" && complaint.text.contains("line 1")
    }),
    ("interpolation-at-run-time", |complaint, cx| {
        // What an unset variable leaves blank there is an error of the trial here.
        let about_value = ["incomplete", "missing value"].iter().any(|part| complaint.text.contains(part));
        about_value && cx.record.texts().any(|(_, text)| interpolation::leaves_blank(text, cx.record))
    }),
    ("no-input-files", |complaint, cx| {
        let id = complaint.case.as_deref().unwrap_or_default();
        let case = (Context { id, ..cx }).written_case().unwrap_or_default();
        case["input_files"] == json!([]) && !case["input"].is_null()
    }),
    ("merge-keys-applied", |complaint, cx| complaint.text.contains("incomplete") && uses_merge_keys(cx.record)),
    ("case-directory-first", found_beside_case),
    ("graders-are-enough", graders_are_enough),
    ("other-files-are-not-read", |complaint, cx| {
        let config = complaint.text.contains(".agentv/config.yaml") && cx.root().join(".agentv/config.yaml").is_file();
        let lines = cx.record.eval.as_deref().is_some_and(|eval| eval.ends_with(".jsonl"));
        complaint.effect == Effect::OtherFile && (config || complaint.text.contains("sidecar") && lines)
    }),
    ("links-lead-on", |complaint, cx| {
        complaint.text.contains("Skipping directory") && cx.record.links().next().is_some()
    }),
    ("names-not-looked-at", |complaint, _| {
        let name = complaint.text.split('\'').nth(1).unwrap_or_default();
        complaint.text.contains("Skipping directory") && name.starts_with(['.', '_'])
    }),
    ("null-is-absent", |complaint, cx| {
        let root = cx.suite_file();
        let is_null = |key: &str| root.as_ref().is_some_and(|root| root.get(key) == Some(&Value::Null));
        let weight = complaint.text.contains("Invalid weight")
            && cx.record.texts().any(|(_, text)| text.contains("weight: null"));
        complaint.text.contains("preprocessors must be") && is_null("preprocessors") || weight
    }),
    ("underscore-in-suite-name", |complaint, cx| {
        let root = cx.suite_file().unwrap_or_default();
        let name = root["name"].as_str().unwrap_or_default();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        complaint.text.contains("\"name\"") && name.contains('_') && name.chars().all(allowed) && name.len() <= 64
    }),
    ("members-of-composites", |complaint, cx| {
        let parts = ["Skipping invalid member", "Skipping member evaluator with invalid name", "no valid member"];
        let composite = cx.record.texts().any(|(_, text)| text.contains("composite"));
        composite && parts.iter().any(|part| complaint.text.contains(part))
    }),
    ("spellings-of-criteria", |complaint, cx| {
        let case = (Context { id: "t", ..cx }).written_case().unwrap_or_default();
        let graders = case["assertions"].as_array().cloned().unwrap_or_default();
        let as_text =
            |grader: &Value| grader["rubrics"].as_array().is_some_and(|list| list.iter().any(Value::is_string));
        let old_type = |grader: &Value| grader["type"] == "rubric" && grader["criteria"].is_array();
        complaint.text.contains("invalid rubric entry") && graders.iter().any(as_text)
            || complaint.text.contains("missing rubrics array") && graders.iter().any(old_type)
    }),
    ("filter-and-dependencies", |complaint, cx| {
        // A filter is the test runner's; what a case depends on is still in the suite.
        complaint.text.contains("no test with that ID") && !cx.record.json["filter"].is_null()
    }),
];

/// The rule by which we do not complain.
pub fn excuse(complaint: &Complaint, cx: Context<'_>) -> Option<&'static str> {
    RULES.iter().find(|(_, holds)| holds(complaint, cx)).map(|(name, _)| *name)
}

/// The file that was not found lies beside the case or the template that names it.
fn found_beside_case(complaint: &Complaint, cx: Context<'_>) -> bool {
    let Some((_, rest)) = complaint.text.split_once("not found: ") else { return false };
    let name = rest.lines().next().unwrap_or_default().trim();
    let ends_so = |path: &String| {
        path.strip_suffix(name).is_some_and(|directory| directory.len() > 1 && directory.ends_with('/'))
    };
    !name.is_empty() && cx.record.json["files"].as_object().is_some_and(|files| files.keys().any(ends_so))
}

/// Other keys than `assertions` bring graders, too, and so does the suite. The complaint is about a case with an input.
fn graders_are_enough(complaint: &Complaint, cx: Context<'_>) -> bool {
    const KEYS: &[&str] = &["evaluators", "rubrics", "assert", "assertions"];
    let Some((_, rest)) = complaint.text.split_once(": ").and_then(|(_, rest)| rest.split_once(": ")) else {
        return false;
    };
    let id = rest.split_once(". Missing").map_or("", |(id, _)| id);
    let Some(case) = (Context { id, ..cx }).written_case() else { return false };
    let brings = |mapping: &Value| KEYS.iter().any(|key| mapping[*key].as_array().is_some_and(|list| !list.is_empty()));
    let suite = cx.record.texts().find(|(path, _)| Some(*path) == cx.record.eval.as_deref());
    let suite = suite.and_then(|(_, text)| place::from_yaml(text)).unwrap_or_default();
    let graded = [&case, &case["execution"], &suite, &suite["execution"]].into_iter().any(brings);
    complaint.text.contains("incomplete") && graded && !case["input"].is_null()
}
