//! The decision of the scripted model: what to do next.

use serde_json::{Value, json};

use super::conversation_state::ConversationState;
use super::stored_cards::{StoredCard, is_card};
use super::{Step, stored_cards};
use crate::rules::{EventMove, NoteMeaning, Profile};
use crate::{Card, Template, rules};

const PROFILE: &str = "profile.json";
const LEDGER: &str = "expenses.csv";

/// Maximum number of cards to read, newest file names first.
const MAX_CARDS_READ: usize = 50;

/// Decides what to do next.
pub(super) fn decide(state: &ConversationState<'_>) -> Step {
    let first = rules::read(state.note, state.today, &Profile::default());
    if let NoteMeaning::Nothing(reason) = first {
        return Step::Answer(reason.to_owned());
    }
    let listing = match &state.listing {
        None => return Step::Call("Let me see what is there.", vec![("list_files", json!({}))]),
        Some(Err(error)) => return Step::Answer(format!("I cannot see your cards: {error}.")),
        Some(Ok(listing)) => listing,
    };
    let mut unread: Vec<&str> = listing.iter().copied().filter(|path| *path == PROFILE || *path == LEDGER).collect();
    unread.extend(listing.iter().rev().copied().filter(|path| is_card(path)).take(MAX_CARDS_READ));
    unread.retain(|path| !state.files.contains_key(*path));
    if !unread.is_empty() {
        let calls = unread.into_iter().map(|path| ("read_file", json!({ "path": path }))).collect();
        return Step::Call("Let me read the profile and the cards.", calls);
    }
    if !state.writes.is_empty() {
        return report_writes(state);
    }
    let stored = stored_cards::read(state);
    match rules::read(state.note, state.today, &profile(state)) {
        NoteMeaning::Nothing(reason) => Step::Answer(reason.to_owned()),
        NoteMeaning::Unclear(question) => Step::Answer(question),
        NoteMeaning::Moved(change) => move_event(&stored, &change),
        NoteMeaning::Changed(card) => change_contact(&stored, &card, true),
        NoteMeaning::Card(card) if card.template == Template::Contact => change_contact(&stored, &card, false),
        NoteMeaning::Card(card) => save_new(state, listing, &stored, &card),
    }
}

/// An unreadable profile is ignored; the agent then asks if something is ambiguous.
fn profile(state: &ConversationState<'_>) -> Profile {
    let text = state.files.get(PROFILE).and_then(|text| text.ok());
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

fn save_new(state: &ConversationState<'_>, listing: &[&str], stored: &[StoredCard], card: &Card) -> Step {
    if let Some(same) = stored.iter().find(|stored| stored.card.has_same_content(card)) {
        return Step::Answer(format!("Nothing to save: {} says that already.", same.path));
    }
    let mut calls = vec![write(&free_path(listing, card), card, false)];
    if card.template == Template::Expense
        && let Some(Ok(ledger)) = state.files.get(LEDGER)
    {
        let start = if ledger.is_empty() || ledger.ends_with('\n') { "" } else { "\n" };
        let field = |name: &str| card.fields.get(name).map_or("", String::as_str);
        let line = format!("{start}{},{},{},{}\n", field("date"), csv(&card.title), field("amount"), field("currency"));
        calls.push(("append_file", json!({ "path": LEDGER, "content": line })));
    }
    Step::Call("I'll save the card.", calls)
}

fn change_contact(stored: &[StoredCard], card: &Card, replaces: bool) -> Step {
    match stored_cards::contacts(stored, &card.title).as_slice() {
        [] => Step::Call("I'll save the card.", vec![write(&card.path(), card, false)]),
        [known] => {
            let mut changed = known.card.clone();
            for (name, value) in &card.fields {
                match changed.fields.get(name) {
                    Some(old) if old != value && !replaces => {
                        return Step::Answer(format!(
                            "{} has the {name} {old}. Should {value} replace it?",
                            known.card.title
                        ));
                    }
                    _ => changed.fields.insert(name.clone(), value.clone()),
                };
            }
            if changed == known.card {
                return Step::Answer(format!("Nothing to save: {} says that already.", known.path));
            }
            changed.note.clone_from(&card.note);
            Step::Call("I'll update the card.", vec![write(&known.path, &changed, true)])
        }
        several => Step::Answer(format!("Which {} do you mean: {}?", card.title, titles(several))),
    }
}

fn move_event(stored: &[StoredCard], change: &EventMove) -> Step {
    match stored_cards::events(stored, change).as_slice() {
        [] => Step::Answer(format!("I know no event \"{}\". On which day was it?", change.what)),
        [known] => {
            let mut moved = known.card.clone();
            if let Some(date) = change.date {
                moved.fields.insert("date".to_owned(), date.to_string());
            }
            if let Some(time) = change.time {
                moved.fields.insert("time".to_owned(), time.strftime("%H:%M").to_string());
                moved.fields.remove("end");
            }
            if moved == known.card {
                return Step::Answer(format!("Nothing to save: {} says that already.", known.path));
            }
            Step::Call("I'll update the card.", vec![write(&known.path, &moved, true)])
        }
        several => Step::Answer(format!("Which event do you mean: {}?", titles(several))),
    }
}

/// The answer after the files were written.
fn report_writes(state: &ConversationState<'_>) -> Step {
    let saved = |path: &str| -> Option<Card> { card_written(state, path) };
    let mut sentences = Vec::new();
    for write in &state.writes {
        sentences.push(match (&write.result, saved(&write.path)) {
            (Err(error), _) => format!("I could not save everything: {error}."),
            (Ok(()), Some(card)) => format!("Saved {} card {}: {}.", card.template, write.path, summary(&card)),
            (Ok(()), None) => format!("Added a line to {}.", write.path),
        });
    }
    Step::Answer(sentences.join(" "))
}

/// The card in the call that wrote `path`.
fn card_written(state: &ConversationState<'_>, path: &str) -> Option<Card> {
    state.written.get(path).and_then(|content| serde_json::from_str(content).ok())
}

fn summary(card: &Card) -> String {
    let fields: Vec<String> =
        card.fields.iter().filter(|(name, _)| *name != "text").map(|(name, value)| format!("{name} {value}")).collect();
    if fields.is_empty() { card.title.clone() } else { format!("{} ({})", card.title, fields.join(", ")) }
}

fn titles(stored: &[&StoredCard]) -> String {
    let titles: Vec<String> = stored
        .iter()
        .map(|stored| match stored.card.fields.get("date") {
            Some(date) => format!("{} on {date}", stored.card.title),
            None => stored.card.title.clone(),
        })
        .collect();
    titles.join(" or ")
}

fn write(path: &str, card: &Card, overwrite: bool) -> (&'static str, Value) {
    let content = format!("{:#}\n", json!(card));
    let mut arguments = json!({ "path": path, "content": content });
    if overwrite {
        arguments["overwrite"] = json!(true);
    }
    ("write_file", arguments)
}

/// The card's path, followed by a number if another card has that path.
fn free_path(listing: &[&str], card: &Card) -> String {
    let path = card.path();
    let taken = |path: &str| listing.contains(&path);
    if !taken(&path) {
        return path;
    }
    let stem = path.trim_end_matches(".json");
    (2..).map(|number| format!("{stem}-{number}.json")).find(|path| !taken(path)).unwrap_or(path.clone())
}

fn csv(value: &str) -> String {
    if value.contains([',', '"', '\n']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value.to_owned() }
}
