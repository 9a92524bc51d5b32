//! Rules about whole tests.

use serde_json::Value;

use super::{Context, excuse};
use crate::complaint::{Complaint, Effect};

/// The rule by which a test of the reference is none of ours.
pub fn left_out(test: &Value, cx: Context<'_>) -> Option<&'static str> {
    let id = test["id"].as_str().unwrap_or_default();
    let has_directory = cx.record.texts().any(|(path, _)| path.contains(&format!("/{id}/case.y")));
    (id.starts_with(['.', '_']) && has_directory).then_some("names-not-looked-at")
}

/// The rule by which we have a test that the reference has not.
pub fn added(id: &str, complaints: &[Complaint], cx: Context<'_>) -> Option<&'static str> {
    if cx.record.links().any(|(path, _)| path.rsplit('/').next() == Some(id)) {
        return Some("links-lead-on");
    }
    let names = [format!(": {id}. Missing"), format!("test '{id}'")];
    let refused = complaints.iter().filter(|complaint| names.iter().any(|name| complaint.text.contains(name)));
    // Or it is part of what was passed over, or the whole suite is refused there.
    let passed_over = ["Skipping invalid test entry", "Skipping directory", "matched no files"];
    let over = |complaint: &&Complaint| passed_over.iter().any(|part| complaint.text.contains(part));
    let refused = refused.chain(complaints.iter().filter(over));
    let all = complaints.iter().filter(|complaint| complaint.effect == Effect::Suite);
    refused.chain(all).find_map(|complaint| excuse(complaint, cx))
}
