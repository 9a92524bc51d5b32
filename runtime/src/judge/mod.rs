//! Selection and calls of judges: prompts, replies, votes, services and commands; and what simulated users are asked.

pub(crate) mod contradiction;
#[cfg_attr(not(feature = "judge"), path = "without_endpoint.rs")]
pub(crate) mod endpoint;
pub(crate) mod endpoint_settings;
pub(crate) mod grader_inquiry;
pub(crate) mod judge_call;
pub(crate) mod judge_choice;
pub(crate) mod preference;
pub(crate) mod prompt_texts;
pub(crate) mod reply_reader;
#[cfg(feature = "users")]
pub(crate) mod simulated_user_turn;
pub(crate) mod user_prompt;

use crate::platform::errors::text_error;

text_error! {
    /// Why a grader has no judge.
    NoJudge
}
