//! Rules about whole tests.

use evalsuite_schema::Value;

use super::{RuleContext, excuse};
use crate::complaint::{Complaint, Effect};

/// The rule that explains why we lack a test of the reference.
pub fn left_out(test: &Value, cx: RuleContext<'_>) -> Option<&'static str> {
    let id = test["id"].as_str().unwrap_or_default();
    let has_directory = cx.record.texts().any(|(path, _)| path.contains(&format!("/{id}/case.y")));
    (id.starts_with(['.', '_']) && has_directory).then_some("ignored-directories")
}

/// The rule that explains why we have a test that the reference lacks.
pub fn added(id: &str, complaints: &[Complaint], cx: RuleContext<'_>) -> Option<&'static str> {
    if cx.record.links().any(|(path, _)| path.rsplit('/').next() == Some(id)) {
        return Some("links-are-followed");
    }
    let names = [format!(": {id}. Missing"), format!("test '{id}'")];
    let refused = complaints.iter().filter(|complaint| names.iter().any(|name| complaint.text.contains(name)));
    // Or it is part of what was skipped, or the reference rejects the whole suite.
    let skip_messages = ["Skipping invalid test entry", "Skipping directory", "matched no files"];
    let is_skipped = |complaint: &&Complaint| skip_messages.iter().any(|part| complaint.text.contains(part));
    let refused = refused.chain(complaints.iter().filter(is_skipped));
    let all = complaints.iter().filter(|complaint| complaint.effect == Effect::Suite);
    refused.chain(all).find_map(|complaint| excuse(complaint, cx))
}
