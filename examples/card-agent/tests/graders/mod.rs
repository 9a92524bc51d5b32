//! Graders of every form: with and without config, sync and `async`, fallible, possibly undecided, and as a type.

mod answer;
mod content;
mod files;
mod written_cards;

pub(crate) use answer::card_asks_back;
pub(crate) use content::{card_completion, card_matches_reference, card_must_contain, card_template};
pub(crate) use files::{ExistingFilesKept, card_untouched, ledger_line};
