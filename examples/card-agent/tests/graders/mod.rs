//! What a good card is, in the forms a grader can have: with and without config, `async` and not, fallible, undecided,
//! and as a type.

mod answer;
mod cards;
mod content;
mod files;

pub(crate) use answer::card_asks_back;
pub(crate) use content::{card_completion, card_matches_reference, card_must_contain, card_template};
pub(crate) use files::{ExistingFilesKept, card_untouched, ledger_line};
