//! Hooks around one trial: the target's lie inside of the case's.

use evalsuite_schema::{
    Hook, Reset,
    record::{CaseOutcome, Note, ReasonCode, Stage, TrialRecord},
};

use crate::{
    run::{
        hooks::{CaseFacts, End, HookCall, HookFacts, Scope, Trouble},
        preparation::{Ground, hooks_of_target},
        trial::{Stop, Trial},
    },
    workspace,
};

/// Runs everything before the agent.
///
/// # Errors
///
/// If a hook fails, or the workspace cannot be returned to its base.
pub(crate) fn before(trial: &Trial<'_>, record: &mut TrialRecord) -> Result<(), Stop> {
    let own = own(trial, |hooks| hooks.before_each.as_ref());
    if let Some((hook, _)) = own {
        reset(trial, hook.reset).map_err(|message| {
            let message = format!("the workspace cannot be returned to its base: {message}");
            Stop::error(Stage::BeforeHooks, ReasonCode::WorkspaceError, message)
        })?;
    }
    let target = hooks_of_target(trial.plan).and_then(|hooks| hooks.before_each.as_ref());
    for (hook, scope) in own.into_iter().chain(target.map(|hook| (hook, Scope::Target))) {
        run(trial, "before_each", hook, scope, None, record)
            .map_err(|trouble| Stop { outcome: CaseOutcome::Error, reason: trouble.reason() })?;
    }
    Ok(())
}

/// Runs everything after the graders. What fails is noted; the trial is decided.
pub(crate) fn after(trial: &Trial<'_>, record: &mut TrialRecord) {
    let end = Some(End { outcome: record.outcome, score: record.score });
    let own = own(trial, |hooks| hooks.after_each.as_ref());
    if let Some(hook) = hooks_of_target(trial.plan).and_then(|hooks| hooks.after_each.as_ref())
        && let Err(trouble) = run(trial, "after_each", hook, Scope::Target, end, record)
    {
        record.notes.push(Note::new("hook_failed", trouble.message));
    }
    let Some((hook, scope)) = own else { return };
    if let Err(message) = reset(trial, hook.reset) {
        let message = format!("the workspace cannot be returned to its base: {message}");
        record.notes.push(Note::new("reset_failed", message));
    }
    if let Err(trouble) = run(trial, "after_each", hook, scope, end, record) {
        record.notes.push(Note::new("hook_failed", trouble.message));
    }
}

/// A hook of the case, with who wrote it.
fn own<'a>(
    trial: &'a Trial<'_>,
    pick: impl Fn(&'a evalsuite_schema::Hooks) -> Option<&'a Hook>,
) -> Option<(&'a Hook, Scope)> {
    let hook = pick(&trial.plan.case.workspace.as_ref()?.hooks)?;
    let suite = trial.plan.suite_data.workspace.as_ref().and_then(|workspace| pick(&workspace.hooks));
    Some((hook, if suite == Some(hook) { Scope::Suite } else { Scope::Case }))
}

fn run(
    trial: &Trial<'_>,
    name: &str,
    hook: &Hook,
    scope: Scope,
    end: Option<End>,
    record: &mut TrialRecord,
) -> Result<(), Trouble> {
    let plan = trial.plan;
    let file = if scope == Scope::Target { format!("target.{name}.log") } else { format!("{name}.log") };
    let call = HookCall {
        name: name.to_owned(),
        scope,
        hook: hook.clone(),
        facts: HookFacts {
            run_id: plan.run.run_id.clone(),
            package_root: plan.places.package_root.clone(),
            suite_dir: plan.places.suite_dir.clone(),
            workspace: trial.workspace.clone(),
            test_id: trial.case.id.clone(),
            target: Some(plan.target.clone()),
            case: Some(CaseFacts::of(&trial.case, &plan.places)),
            trial: Some((trial.index, trial.directory.clone())),
            end,
        },
        log: trial.directory.join("hooks").join(file),
        location: plan.case.location.clone(),
    };
    let (ran, result) = call.resolve_and_run(&plan.redactor, plan.settings.echo);
    record.hooks.extend(ran);
    result
}

/// Returns the workspace to its base: in a copy only the repositories, for the rest is thrown away with it.
fn reset(trial: &Trial<'_>, reset: Reset) -> Result<(), String> {
    if reset == Reset::None {
        return Ok(());
    }
    match trial.ground {
        Ground::Template => Ok(()),
        Ground::Base { facts, .. } => workspace::git_reset(&trial.workspace, facts, reset, trial.plan.settings.echo)
            .map_err(|error| error.to_string()),
        Ground::Shared { directory, pristine, facts } => {
            workspace::restore(directory, pristine, facts, reset, trial.plan.settings.echo)
                .map_err(|error| error.to_string())
        }
    }
}
