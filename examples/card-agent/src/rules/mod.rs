//! How the scripted model understands a note: by words and patterns, without any state.

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

pub(crate) use classify::read;
use jiff::civil::{Date, Time};
use serde::Deserialize;

use crate::Card;

/// What the user's `profile.json` settles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Profile {
    /// How `03/04` is read.
    pub(crate) date_order: Option<DateOrder>,
    /// ISO code of the currency of amounts without one.
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

/// What a note says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// There is nothing to save; the text says why.
    Nothing(&'static str),
    /// Something is missing or has two meanings; the text asks for it.
    Unclear(String),
    /// A new card, or more about a known one.
    Card(Card),
    /// A contact whose data has changed.
    Changed(Card),
    /// An event that takes place at another time.
    Moved(Move),
}

/// A new time for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Move {
    /// How the note calls the event.
    pub(crate) what: String,
    pub(crate) date: Option<Date>,
    pub(crate) time: Option<Time>,
}
