//! Hooks that a run still has to run, as its files have them.

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::json::{Value, from_value};
use evalsuite_schema::sorting::sort_by;

use crate::platform::process::echo::Echo;
use crate::platform::redaction::Redactor;
use crate::run::hooks::{HookCall, Scope};

/// Runs hooks after all tests, and adds how each of them ended. The hooks of targets run inside those of the suite. Those that cannot be read
/// stay in the list.
pub(crate) fn run_pending(ended: &mut Vec<Result<(), Reason>>, pending: &mut Vec<Value>, echo: Echo) {
    let mut calls: Vec<HookCall> = Vec::new();
    pending.retain(|hook| match from_value(hook.clone()) {
        Ok(call) => {
            calls.push(call);
            false
        }
        Err(error) => {
            let message = format!("a pending hook cannot be read: {error}");
            ended.push(Err(Reason::new(Stage::BeforeHooks, ReasonCode::HookFailed, message)));
            true
        }
    });
    sort_by(&mut calls, |one, other| (one.scope != Scope::Target).cmp(&(other.scope != Scope::Target)));
    ended.extend(calls.iter().map(|call| call.resolve_and_run(&Redactor::default(), echo).1));
}
