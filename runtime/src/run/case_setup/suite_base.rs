//! The base of a suite, and those of its targets.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::Reason;
use evalsuite_schema::{Hook, Isolation, Workspace};

use crate::platform::digest::file_key;
use crate::record::coordination::run_once;
use crate::run::case_setup::workspace_base::WorkspaceBase;
use crate::run::case_setup::workspace_needs::WorkspaceSource;
use crate::run::case_setup::{CaseSetup, build, run_hook, workspace_error, written};
use crate::run::hooks::{HookCall, HookFacts, Scope};
use crate::run::session::Session;
use crate::workspace;
use crate::workspace::BaseFacts;

impl CaseSetup<'_> {
    /// The base of the suite, or that of the target where the target has a hook that changes it.
    pub(crate) fn suite_base(&mut self) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let session = Session::of(plan.source.suite, plan.settings, plan.run);
        let entered = session
            .enter(plan.settings.keep_workspaces && self.needs.source == WorkspaceSource::Suite(Isolation::Shared))?;
        let epoch = entered.epoch;
        let (session, _) = self.session.insert((session, entered));
        let empty = Workspace::default();
        let workspace = plan.source.data.workspace.as_ref().unwrap_or(&empty);
        let is_shared = workspace.isolation == Isolation::Shared;
        let directory = session.base().join("workspace");
        let pristine = session.base().join("pristine");
        let name = format!("base-{}.{epoch}", session.key());
        let call = |name: &str, hook: &Hook, test_id: &str| HookCall {
            name: name.to_owned(),
            scope: Scope::Suite,
            hook: hook.clone(),
            facts: plan.hook_facts(&directory, test_id),
            log: session.log(name),
            location: plan.source.data.location.clone(),
        };
        let built = run_once(&plan.run.locks(), &name, &plan.redactor, || {
            build(workspace, &directory, plan)?;
            let after_all = workspace.hooks.after_all.as_ref().map(|hook| call("after_all", hook, "__after_all__"));
            written(session.note_pending(after_all))?;
            if let Some(hook) = &workspace.hooks.before_all {
                let result = run_hook(&call("before_all", hook, "__before_all__"), plan);
                written(session.before_all_ended(result.is_ok()))?;
                result?;
            }
            let facts = BaseFacts::of(Some(workspace), &directory, plan.settings.echo);
            if is_shared {
                workspace::copy_to_trial(&directory, &pristine).map_err(|error| workspace_error(error.to_string()))?;
            }
            Ok(facts)
        })?;
        let facts = match built {
            Ok(facts) => facts,
            Err(reason) => return Ok(Err(reason)),
        };
        match self.target_base(&directory, is_shared)? {
            Err(reason) => Ok(Err(reason)),
            Ok(_) if is_shared => Ok(Ok(WorkspaceBase::Shared { directory, pristine, facts })),
            Ok(own) => Ok(Ok(WorkspaceBase::Copied { directory: own.unwrap_or(directory), facts })),
        }
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
        let directory = own.as_deref().unwrap_or(base);
        let call = |name: &str, hook: &Hook, test_id: &str| HookCall {
            name: name.to_owned(),
            scope: Scope::Target,
            hook: hook.clone(),
            facts: HookFacts { target: Some(plan.tested.target.clone()), ..plan.hook_facts(directory, test_id) },
            log: session.log(&format!("target.{key}.{name}")),
            location: plan.source.data.location.clone(),
        };
        let name = format!("target-{}-{key}.{}", session.key(), entered.epoch);
        let made = run_once(&plan.run.locks(), &name, &plan.redactor, || {
            if let Some(own) = &own {
                workspace::copy_to_trial(base, own).map_err(|error| workspace_error(error.to_string()))?;
            }
            let after_all = hooks.after_all.as_ref().map(|hook| call("after_all", hook, "__target_after_all__"));
            written(session.note_pending(after_all))?;
            let Some(hook) = &hooks.before_all else { return Ok(()) };
            let result = run_hook(&call("before_all", hook, "__target_before_all__"), plan);
            written(session.before_all_ended(result.is_ok()))?;
            result
        })?;
        Ok(made.map(|()| own))
    }
}
