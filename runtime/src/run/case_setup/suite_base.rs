//! The base of a suite, and those of its targets.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::Reason;
use evalsuite_schema::{Hook, Hooks, Isolation};

use crate::platform::digest::file_key;
use crate::record::coordination::run_once;
use crate::run::case_setup::workspace_needs::WorkspaceSource;
use crate::run::case_setup::{CaseSetup, run_hook, written};
use crate::run::hooks::{HookCall, HookFacts, Scope};
use crate::run::plan::Plan;
use crate::run::session::Session;
use crate::workspace::{self, WorkspaceBase, workspace_error};

impl CaseSetup<'_> {
    /// The base of the suite, or that of the target where the target has a hook that changes it.
    pub(crate) fn suite_base(&mut self) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let session = Session::of(plan.source.suite, plan.settings, plan.run);
        let entered = session
            .enter(plan.settings.keep_workspaces && self.needs.source == WorkspaceSource::Suite(Isolation::Shared))?;
        let name = format!("base-{}.{}", session.key(), entered.epoch);
        let base = session.base();
        self.session = Some((session.clone(), entered));
        let wanted = plan.source.data.workspace.clone().unwrap_or_default();
        let is_shared = wanted.isolation == Isolation::Shared;
        let directory = base.join("workspace");
        let call = |name: &str, hook: &Hook| HookCall {
            name: name.to_owned(),
            scope: Scope::Suite,
            hook: hook.clone(),
            facts: plan.hook_facts(&directory, &format!("__{name}__")),
            log: session.log(name),
            location: plan.source.data.location.clone(),
        };
        let of_suite =
            self.make_base(&name, &base, &wanted, is_shared, || run_before_all(plan, &session, &wanted.hooks, call))?;
        let of_suite = match of_suite {
            Ok(base) => base,
            Err(reason) => return Ok(Err(reason)),
        };
        let of_target = self.target_base(&directory, is_shared)?;
        Ok(of_target.map(|own| match (of_suite, own) {
            (WorkspaceBase::Copied { facts, .. }, Some(directory)) => WorkspaceBase::Copied { directory, facts },
            (of_suite, _) => of_suite,
        }))
    }

    /// A copy of the base in which the target's hook runs, so that only the target's trials see its changes. Of a shared
    /// workspace there is no copy.
    fn target_base(&self, base: &Path, is_shared: bool) -> io::Result<Result<Option<PathBuf>, Reason>> {
        let (plan, Some((session, entered))) = (self.plan, &self.session) else { return Ok(Ok(None)) };
        let Some(hooks) = plan.target_hooks().filter(|hooks| hooks.before_all.is_some() || hooks.after_all.is_some())
        else {
            return Ok(Ok(None));
        };
        let key = file_key(&plan.tested.target);
        let own = (!is_shared && hooks.before_all.is_some()).then(|| session.base().join("targets").join(&key));
        let call = |name: &str, hook: &Hook| HookCall {
            name: name.to_owned(),
            scope: Scope::Target,
            hook: hook.clone(),
            facts: HookFacts {
                target: Some(plan.tested.target.clone()),
                ..plan.hook_facts(own.as_deref().unwrap_or(base), &format!("__target_{name}__"))
            },
            log: session.log(&format!("target.{key}.{name}")),
            location: plan.source.data.location.clone(),
        };
        let name = format!("target-{}-{key}.{}", session.key(), entered.epoch);
        let made = run_once(&plan.run.locks(), &name, &plan.redactor, || {
            if let Some(own) = &own {
                workspace::copy_to_trial(base, own).map_err(|error| workspace_error(&error))?;
            }
            run_before_all(plan, session, hooks, call)
        })?;
        Ok(made.map(|()| own))
    }
}

/// Runs the hook before all tests. The session knows by then which hook undoes it.
fn run_before_all(
    plan: &Plan<'_>,
    session: &Session,
    hooks: &Hooks,
    call: impl Fn(&str, &Hook) -> HookCall,
) -> Result<(), Reason> {
    written(session.note_pending(hooks.after_all.as_ref().map(|hook| call("after_all", hook))))?;
    let Some(hook) = &hooks.before_all else { return Ok(()) };
    let result = run_hook(&call("before_all", hook), plan);
    written(session.before_all_ended(result.is_ok()))?;
    result
}
