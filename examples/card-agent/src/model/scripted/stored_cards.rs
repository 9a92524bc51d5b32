//! The cards that the scripted model has read, and how a note refers to them.

use super::conversation_state::ConversationState;
use crate::rules::EventMove;
use crate::{Card, Template};

/// A card of the user, with its path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StoredCard {
    pub(super) path: String,
    pub(super) card: Card,
}

/// The cards that were read. Files that are not cards are ignored.
pub(super) fn read(state: &ConversationState<'_>) -> Vec<StoredCard> {
    state
        .files
        .iter()
        .filter(|(path, _)| is_card(path))
        .filter_map(|(path, text)| Some((path, serde_json::from_str(text.ok()?).ok()?)))
        .map(|(path, card)| StoredCard { path: path.clone(), card })
        .collect()
}

pub(super) fn is_card(path: &str) -> bool {
    path.starts_with("cards/") && path.ends_with(".json")
}

/// Contacts that the note may mean: those with exactly this name, or else those whose name contains it as a word.
pub(super) fn contacts<'c>(stored: &'c [StoredCard], name: &str) -> Vec<&'c StoredCard> {
    let name = name.to_lowercase();
    let contacts: Vec<&StoredCard> = stored.iter().filter(|stored| stored.card.template == Template::Contact).collect();
    let exact: Vec<&StoredCard> =
        contacts.iter().copied().filter(|stored| stored.card.title.to_lowercase() == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    contacts
        .into_iter()
        .filter(|stored| stored.card.title.to_lowercase().split_whitespace().any(|part| part == name))
        .collect()
}

/// Events whose title contains all words of the note's name for the event.
pub(super) fn events<'c>(stored: &'c [StoredCard], change: &EventMove) -> Vec<&'c StoredCard> {
    let words: Vec<String> = change.what.to_lowercase().split_whitespace().map(str::to_owned).collect();
    stored
        .iter()
        .filter(|stored| stored.card.template == Template::Event)
        .filter(|stored| {
            let title = stored.card.title.to_lowercase();
            let parts: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).collect();
            words.iter().all(|word| parts.contains(&word.as_str()))
        })
        .collect()
}
