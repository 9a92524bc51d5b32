//! How judges are chosen and called: services, commands, functions and recordings.

pub(crate) mod call;
pub(crate) mod choice;
pub(crate) mod command;
#[cfg(feature = "judge")]
pub(crate) mod endpoint;
pub(crate) mod options;
pub(crate) mod service;
pub(crate) mod tally;
pub(crate) mod until_read;

pub(crate) use self::{
    call::ask,
    choice::{Choice, Chosen, Commands, OwnedChoice, recorded_judges},
    command::Site,
    options::{CONFIRM, Endpoint, JudgeOptions, KEYS, Variables},
    tally::Tally,
    until_read::{Broken, Call, until_read},
};
