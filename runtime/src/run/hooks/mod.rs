//! Commands that suites run before and after each trial, and before and after all trials.

pub(crate) mod hook_call;
pub(crate) mod hook_facts;

pub(crate) use self::hook_call::{HookCall, Scope, run_pending};
pub(crate) use self::hook_facts::{CaseFacts, HookFacts};
