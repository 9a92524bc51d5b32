//! Commands that suites run before and after each trial, and before and after all trials.

pub(crate) mod hook_call;
pub(crate) mod hook_command;
pub(crate) mod hook_facts;
mod pending_hooks;

pub(crate) use self::hook_call::{HookCall, Scope};
pub(crate) use self::hook_facts::{CaseFacts, HookFacts};
pub(crate) use self::pending_hooks::run_pending;
