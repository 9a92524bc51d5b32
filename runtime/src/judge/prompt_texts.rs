//! The texts of prompts, one file each.

use evalsuite_schema::placeholder::Syntax;

use crate::judge::requested_reply::ReplyShape;
use crate::model::judge::fenced;

macro_rules! contract {
    ($file:literal) => {
        concat!(
            include_str!($file),
            include_str!("../model/judge/untrusted.txt"),
            include_str!("prompts/undecided.txt"),
            include_str!("prompts/one_object.txt")
        )
    };
}

impl ReplyShape {
    /// The system prompt, which says what the reply has to look like.
    pub(crate) fn system(self) -> &'static str {
        match self {
            Self::FreeForm => contract!("prompts/free_form.system.txt"),
            Self::Checklist => contract!("prompts/checklist.system.txt"),
            Self::Ranges => contract!("prompts/ranges.system.txt"),
        }
    }

    /// The beginning of the built-in user prompt.
    pub(crate) fn introduction(self) -> &'static str {
        match self {
            Self::FreeForm => include_str!("prompts/free_form.user.txt"),
            Self::Checklist => include_str!("prompts/checklist.user.txt"),
            Self::Ranges => include_str!("prompts/ranges.user.txt"),
        }
    }
}

/// Says what a reply to the question looks like which of two answers is better.
pub(crate) const PREFERENCE_SYSTEM: &str = contract!("prompts/preference.system.txt");

/// Asks which of two answers is better.
pub(crate) const PREFERENCE: &str = include_str!("prompts/preference.user.txt");

/// Says what a simulated user is, and what its reply looks like.
#[cfg(feature = "users")]
pub(crate) const USER_TURN_SYSTEM: &str =
    concat!(include_str!("prompts/user_turn.system.txt"), include_str!("prompts/one_object.txt"));

/// Asks for the next turn of a simulated user.
#[cfg(feature = "users")]
pub(crate) const USER_TURN: &str = include_str!("prompts/user_turn.user.txt");

/// Asks for one score of the results of several graders.
pub(crate) const AGGREGATE: &str = include_str!("prompts/aggregate.user.txt");

/// Asks to repair a reply that could not be read.
pub(crate) const REPAIR: &str = include_str!("prompts/repair.user.txt");

/// Asks again, because replies were cut off.
pub(crate) const SHORTER: &str = include_str!("prompts/shorter.user.txt");

/// Asks again, because a reply contradicts itself.
pub(crate) const CONTRADICTION: &str = include_str!("prompts/contradiction.user.txt");

/// Asks to repair JSON that could not be read.
pub(crate) const REPAIR_DATA: &str = include_str!("prompts/repair_data.user.txt");

/// The text of a prompt that asks to repair a reply to a question, or the question again because of the reply.
pub(crate) fn repair_prompt(prompt: &str, question: &str, reply: &str, problem: &str) -> String {
    Syntax::Template.fill(prompt, |name| match name {
        "problem" => Some(problem.into()),
        "question" => Some(question.into()),
        "reply" => Some(fenced(reply).into()),
        _ => None,
    })
}
