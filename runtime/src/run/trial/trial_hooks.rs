//! Hooks around one trial. The hooks of the target run inside those of the case.

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::{Hook, Hooks, Reset};

use crate::run::case_report::{HOOK_FAILED, RESET_FAILED, TrialResult};
use crate::run::hooks::Scope;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::EarlyEnd;
use crate::workspace::{self, WorkspaceBase};

/// Runs the hooks before the agent.
pub(crate) fn run_before_each(prepared: &Prepared<'_>) -> Result<(), EarlyEnd> {
    let own = hook_of_case(prepared, |hooks| hooks.before_each.as_ref());
    if let Some((hook, _)) = own {
        reset(prepared, hook.reset)?;
    }
    let target = prepared.trial.plan.target_hooks().and_then(|hooks| hooks.before_each.as_ref());
    for (hook, scope) in own.into_iter().chain(target.map(|hook| (hook, Scope::Target))) {
        run(prepared, "before_each", hook, scope, None)?;
    }
    Ok(())
}

/// Runs the hooks after the graders. A failure is noted: the trial is decided.
pub(crate) fn run_after_each(prepared: &Prepared<'_>, result: &TrialResult) {
    let trial = prepared.trial;
    let run = |hook, scope| {
        if let Err(failure) = run(prepared, "after_each", hook, scope, Some(result.clone())) {
            trial.note(HOOK_FAILED, failure.message);
        }
    };
    if let Some(hook) = trial.plan.target_hooks().and_then(|hooks| hooks.after_each.as_ref()) {
        run(hook, Scope::Target);
    }
    if let Some((hook, scope)) = hook_of_case(prepared, |hooks| hooks.after_each.as_ref()) {
        if let Err(end) = reset(prepared, hook.reset) {
            trial.note(RESET_FAILED, end.reason.message);
        }
        run(hook, scope);
    }
}

/// A hook of the case, and whether the case or the suite defines it.
fn hook_of_case<'a>(
    prepared: &Prepared<'a>,
    pick: impl Fn(&'a Hooks) -> Option<&'a Hook>,
) -> Option<(&'a Hook, Scope)> {
    let plan = prepared.trial.plan;
    let hook = pick(&plan.case.workspace.as_ref()?.hooks)?;
    let suite = plan.data.workspace.as_ref().and_then(|workspace| pick(&workspace.hooks));
    Some((hook, if suite == Some(hook) { Scope::Suite } else { Scope::Case }))
}

fn run(
    prepared: &Prepared<'_>,
    name: &str,
    hook: &Hook,
    scope: Scope,
    result: Option<TrialResult>,
) -> Result<(), Reason> {
    let Prepared { trial, case, .. } = prepared;
    let plan = trial.plan;
    let file = if scope == Scope::Target { format!("target.{name}.log") } else { format!("{name}.log") };
    let log = trial.directory.join("hooks").join(file);
    let mut call = plan.hook_call(scope, name, hook, Some(case.as_ref()), &trial.workspace, log);
    (call.facts.trial, call.facts.result) = (Some((trial.index, trial.directory.clone())), result);
    let (record, outcome) = call.resolve_and_run(&plan.redactor, plan.settings.echo);
    trial.journal.borrow_mut().hooks.extend(record);
    outcome
}

/// Resets the workspace to its base. Of a copy, only the repositories: the rest is discarded with it.
fn reset(prepared: &Prepared<'_>, reset: Reset) -> Result<(), EarlyEnd> {
    if reset == Reset::None {
        return Ok(());
    }
    let trial = prepared.trial;
    let echo = trial.plan.settings.echo;
    let done = match trial.base {
        WorkspaceBase::Copied { facts, .. } => workspace::repos::reset_all(&trial.workspace, facts, reset, echo),
        WorkspaceBase::Shared { directory, pristine, facts } => {
            workspace::restore(directory, pristine, facts, reset, echo)
        }
        _ => Ok(()),
    };
    done.map_err(|error| {
        let message = format!("the workspace cannot be reset to its base: {error}");
        EarlyEnd::error(Stage::BeforeHooks, ReasonCode::WorkspaceError, message)
    })
}
