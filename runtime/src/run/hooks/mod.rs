//! Commands that suites run around trials, and around all of them.

pub(crate) mod call;
pub(crate) mod facts;
pub(crate) mod placeholders;

pub(crate) use crate::run::hooks::{
    call::{HookCall, Scope, Trouble},
    facts::{CaseFacts, End, HookFacts},
};
