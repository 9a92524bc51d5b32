//! The bases of suites, of their targets, and of cases that have their own files or hooks.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::record::Reason;
use evalsuite_schema::{Isolation, Workspace};

use crate::platform::digest::file_key;
use crate::platform::files::remove_if_exists;
use crate::platform::process::Echo;
use crate::record::coordination::run_once;
use crate::run::case_setup::{CaseSetup, WorkspaceNeeds, WorkspaceSource};
use crate::run::plan::Plan;
use crate::run::session::Session;
use crate::workspace::{self, WorkspaceBase, workspace_error};

/// What a base belongs to.
#[derive(Clone, Copy)]
pub(super) enum BaseOwner<'b> {
    /// The suite, with this workspace, in the directory.
    Suite { session: &'b Session, workspace: &'b Workspace, directory: &'b Path },
    /// The target of the case, in the directory.
    Target { session: &'b Session, directory: &'b Path },
    /// The case, with this workspace, in a directory with further files.
    Case { needs: WorkspaceNeeds, workspace: &'b Workspace, base: &'b Path },
}

/// Does what a base needs once its files are there.
pub(super) fn complete(plan: &Plan<'_>, owner: BaseOwner<'_>) -> Result<(), Reason> {
    super::base_hooks::run_before_all(plan, owner)?;
    Ok(())
}

impl CaseSetup<'_> {
    /// The base of the suite, or that of the target where the target has a hook that changes it.
    pub(crate) fn suite_base(&mut self) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let session = Session::of(plan.suite, plan.settings, plan.run);
        let entered = session
            .enter(plan.settings.keep_workspaces && self.needs.source == WorkspaceSource::Suite(Isolation::Shared))?;
        let name = format!("base-{}.{}", session.key(), entered.epoch);
        let base = session.base();
        self.session = Some((session.clone(), entered));
        let wanted = plan.data.workspace.clone().unwrap_or_default();
        let is_shared = wanted.isolation == Isolation::Shared;
        let directory = base.join("workspace");
        let owner = BaseOwner::Suite { session: &session, workspace: &wanted, directory: &directory };
        let of_suite = self.make_base(&name, &base, &wanted, is_shared, owner)?;
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
        let key = file_key(&plan.identity.target);
        let own = (!is_shared && hooks.before_all.is_some()).then(|| session.base().join("targets").join(&key));
        let name = format!("target-{}-{key}.{}", session.key(), entered.epoch);
        let made = run_once(&plan.run.locks(), &name, &plan.redactor, || {
            if let Some(own) = &own {
                workspace::copy_to_trial(base, own).map_err(|error| workspace_error(&error))?;
            }
            complete(plan, BaseOwner::Target { session, directory: own.as_deref().unwrap_or(base) })
        })?;
        Ok(made.map(|()| own))
    }

    /// The base of a case that has its own files or hooks.
    pub(crate) fn case_base(&mut self, isolation: Isolation) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let Some(workspace) = &plan.case.workspace else { return Ok(Ok(WorkspaceBase::Template)) };
        // The same in all attempts of the test runner.
        let first_attempt = plan.case_directory.attempt(1);
        let name = format!("case-{}", first_attempt.file_name().unwrap_or_default().to_string_lossy());
        let base = plan.run.suite(&plan.suite.key()).join("base").join(&name);
        self.own_base = Some(base.clone());
        let owner = BaseOwner::Case { needs: self.needs, workspace, base: &base };
        self.make_base(&once_name(&name), &base, workspace, isolation == Isolation::Shared, owner)
    }

    /// Runs the case's own hook after its trials and removes its base, unless the case is run again.
    pub(crate) fn end(mut self, is_last: bool) -> Vec<String> {
        let Some(base) = self.own_base.take().filter(|_| is_last) else { return Vec::new() };
        end_own_base(&self.plan.run.locks(), &base, self.plan.settings.echo).1
    }
}

/// Runs the pending hook of a case's own base and removes the base. Returns whether there was a hook, and the problems.
pub(crate) fn end_own_base(locks: &Path, base: &Path, echo: Echo) -> (bool, Vec<String>) {
    let mut problems = Vec::new();
    let mut had_hook = false;
    super::base_hooks::run_after_all(base, echo, &mut had_hook, &mut problems);
    // The next test that needs the base makes it again.
    let name = base.file_name().unwrap_or_default().to_string_lossy();
    let made = locks.join(format!("once-{}.json", once_name(&name)));
    let removed = remove_if_exists(&made).and_then(|()| workspace::remove_directory(base));
    problems.extend(removed.err().map(|error| format!("{} cannot be removed: {error}", base.display())));
    if let Some(bases) = base.parent() {
        // It fails where other bases remain.
        let _ = fs::remove_dir(bases);
    }
    (had_hook, problems)
}

/// Name under which the making of a base is done once per run.
fn once_name(name: &str) -> String {
    format!("base-{name}")
}
