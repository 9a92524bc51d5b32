use crate::{Card, Template, rules::Move};

use super::seen::Seen;

/// A card of the user with its file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    pub(super) path: String,
    pub(super) card: Card,
}

/// The cards that were read. Files that hold no card are none of this agent's business.
pub(super) fn kept(seen: &Seen<'_>) -> Vec<Kept> {
    seen.files
        .iter()
        .filter(|(path, _)| is_card(path))
        .filter_map(|(path, text)| Some((path, serde_json::from_str(text.ok()?).ok()?)))
        .map(|(path, card)| Kept { path: path.clone(), card })
        .collect()
}

pub(super) fn is_card(path: &str) -> bool {
    path.starts_with("cards/") && path.ends_with(".json")
}

/// Contacts the note may mean: of exactly this name, else those whose name has it as a part.
pub(super) fn contacts<'k>(kept: &'k [Kept], name: &str) -> Vec<&'k Kept> {
    let name = name.to_lowercase();
    let contacts: Vec<&Kept> = kept.iter().filter(|kept| kept.card.template == Template::Contact).collect();
    let exact: Vec<&Kept> = contacts.iter().copied().filter(|kept| kept.card.title.to_lowercase() == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    contacts
        .into_iter()
        .filter(|kept| kept.card.title.to_lowercase().split_whitespace().any(|part| part == name))
        .collect()
}

/// Events whose title has all words by which the note calls the event.
pub(super) fn events<'k>(kept: &'k [Kept], change: &Move) -> Vec<&'k Kept> {
    let words: Vec<String> = change.what.to_lowercase().split_whitespace().map(str::to_owned).collect();
    kept.iter()
        .filter(|kept| kept.card.template == Template::Event)
        .filter(|kept| {
            let title = kept.card.title.to_lowercase();
            let parts: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).collect();
            words.iter().all(|word| parts.contains(&word.as_str()))
        })
        .collect()
}
