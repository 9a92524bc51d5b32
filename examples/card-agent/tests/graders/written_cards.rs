//! Reads the cards that the agent wrote.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Context;
use evalsuite::Evidence;
use serde::Deserialize;

/// A card as the graders read it, defined independently of the agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCard {
    pub(super) template: String,
    pub(super) title: String,
    pub(super) fields: BTreeMap<String, String>,
    pub(super) note: String,
}

/// The cards that the agent created or changed, with their paths.
///
/// A file below `cards/` that is not a card is an error of the grader; `card_completion` reports it as a failure.
pub(super) fn written(evidence: &Evidence<'_>) -> anyhow::Result<Vec<(String, WrittenCard)>> {
    paths(evidence)
        .map(|path| {
            let text = read(evidence, path)?;
            let card = serde_json::from_str(&text).with_context(|| format!("{path} is not a card"))?;
            Ok((path.to_owned(), card))
        })
        .collect()
}

/// Paths of the files below `cards/` that the agent created or changed.
pub(super) fn paths<'e>(evidence: &'e Evidence<'_>) -> impl Iterator<Item = &'e str> {
    let changes = evidence.changes();
    changes.created.iter().chain(&changes.modified).map(String::as_str).filter(|path| path.starts_with("cards/"))
}

pub(super) fn read(evidence: &Evidence<'_>, path: &str) -> anyhow::Result<String> {
    fs::read_to_string(evidence.workspace().join(path)).with_context(|| format!("cannot read {path}"))
}
