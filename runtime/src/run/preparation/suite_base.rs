//! The base of a suite, and those of its targets.

use std::{
    io,
    path::{Path, PathBuf},
};

use evalsuite_schema::{Hook, Isolation, Workspace, record::Reason};

use crate::{
    platform::digest::file_key,
    record::coordination::run_once,
    run::{
        hooks::{HookCall, HookFacts, Scope},
        preparation::{Ground, Preparation, Source, build, facts, hooks_of_target, run, tell, workspace_error},
        session::Session,
    },
    workspace::{self, BaseFacts},
};

impl Preparation<'_> {
    /// The base of the suite, or that of the target where it has a hook that works on it.
    pub(crate) fn suite_base(&mut self) -> io::Result<Result<Ground, Reason>> {
        let plan = self.plan;
        let session = Session::of(plan.suite, plan.settings, plan.run)?;
        let entered = session.enter(plan.settings.keep && self.needs.source == Source::Suite(Isolation::Shared))?;
        let epoch = entered.epoch;
        let (session, _) = self.session.insert((session, entered));
        let empty = Workspace::default();
        let written = plan.suite_data.workspace.as_ref().unwrap_or(&empty);
        let is_shared = written.isolation == Isolation::Shared;
        let directory = session.base().join("workspace");
        let pristine = session.base().join("pristine");
        let name = format!("base-{}.{epoch}", session.key());
        let call = |name: &str, hook: &Hook, test_id: &str| HookCall {
            name: name.to_owned(),
            scope: Scope::Suite,
            hook: hook.clone(),
            facts: facts(plan, &directory, test_id),
            log: session.log(name),
            location: plan.suite_data.location.clone(),
        };
        let built = run_once(&plan.run.locks(), &name, &plan.redactor, || {
            build(written, &directory, plan)?;
            let owed = written.hooks.after_all.as_ref().map(|hook| call("after_all", hook, "__after_all__"));
            tell(session.attempt(owed))?;
            if let Some(hook) = &written.hooks.before_all {
                let result = run(&call("before_all", hook, "__before_all__"), &plan.redactor, plan.settings.echo);
                tell(session.before_all_ended(result.is_ok()))?;
                result?;
            }
            let facts = BaseFacts::of(Some(written), &directory, plan.settings.echo);
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
            Ok(_) if is_shared => Ok(Ok(Ground::Shared { directory, pristine, facts })),
            Ok(own) => Ok(Ok(Ground::Base { directory: own.unwrap_or(directory), facts })),
        }
    }

    /// A copy of the base in which the target's hook runs: what it makes is for its trials only. A shared workspace is
    /// one for all.
    fn target_base(&self, base: &Path, is_shared: bool) -> io::Result<Result<Option<PathBuf>, Reason>> {
        let (plan, Some((session, entered))) = (self.plan, &self.session) else { return Ok(Ok(None)) };
        let Some(hooks) = hooks_of_target(plan).filter(|hooks| hooks.before_all.is_some() || hooks.after_all.is_some())
        else {
            return Ok(Ok(None));
        };
        let key = file_key(&plan.target);
        let own = (!is_shared && hooks.before_all.is_some()).then(|| session.base().join("targets").join(&key));
        let directory = own.as_deref().unwrap_or(base);
        let call = |name: &str, hook: &Hook, test_id: &str| HookCall {
            name: name.to_owned(),
            scope: Scope::Target,
            hook: hook.clone(),
            facts: HookFacts { target: Some(plan.target.clone()), ..facts(plan, directory, test_id) },
            log: session.log(&format!("target.{key}.{name}")),
            location: plan.suite_data.location.clone(),
        };
        let name = format!("target-{}-{key}.{}", session.key(), entered.epoch);
        let made = run_once(&plan.run.locks(), &name, &plan.redactor, || {
            if let Some(own) = &own {
                workspace::copy_to_trial(base, own).map_err(|error| workspace_error(error.to_string()))?;
            }
            let owed = hooks.after_all.as_ref().map(|hook| call("after_all", hook, "__target_after_all__"));
            tell(session.attempt(owed))?;
            let Some(hook) = &hooks.before_all else { return Ok(()) };
            let result = run(&call("before_all", hook, "__target_before_all__"), &plan.redactor, plan.settings.echo);
            tell(session.before_all_ended(result.is_ok()))?;
            result
        })?;
        Ok(made.map(|()| own))
    }
}
