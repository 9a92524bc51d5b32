//! How the scripted model understands a note: by words and patterns, without state.

mod classify;
mod contact;
mod date;
mod fields;
mod mentions;
mod money;
mod refusal;
mod text;
mod time;
mod vocabulary;

use jiff::civil::{Date, Time};
use serde::Deserialize;

use crate::Card;

pub(crate) use classify::read;

/// The settings in the user's `profile.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Profile {
    /// How `03/04` is read.
    pub(crate) date_order: Option<DateOrder>,
    /// ISO code of the currency of amounts without a currency.
    pub(crate) currency: Option<String>,
}

/// Order of day and month in a date of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DateOrder {
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
}

/// The meaning of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoteMeaning {
    /// There is nothing to save; the text is the reason.
    Nothing(&'static str),
    /// Something is missing or ambiguous; the text is a question.
    Unclear(String),
    /// A new card, or an addition to an existing one.
    Card(Card),
    /// A contact whose data has changed.
    Changed(Card),
    /// An event that takes place at another time.
    Moved(EventMove),
}

/// A new time for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventMove {
    /// The note's name for the event.
    pub(crate) what: String,
    pub(crate) date: Option<Date>,
    pub(crate) time: Option<Time>,
}
