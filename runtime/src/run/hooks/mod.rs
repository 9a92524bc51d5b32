//! Commands that suites run around trials, and around all of them.

pub(crate) mod hook_call;
pub(crate) mod hook_command;
pub(crate) mod hook_facts;

pub(crate) use self::hook_call::{HookCall, HookFailure, Scope};
pub(crate) use self::hook_facts::{CaseFacts, HookFacts, TrialResult};
