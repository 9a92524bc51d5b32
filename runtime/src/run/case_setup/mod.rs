//! The common setup of a case's trials, before the first one: which workspace they need, base workspaces, and hooks that run once.

mod base_hooks;

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::{Hooks, Isolation, Workspace};

use crate::model::interpolation;
use crate::platform::digest::file_key;
use crate::platform::file_lock::FileLock;
use crate::platform::files::remove_if_exists;
use crate::platform::process::Echo;
use crate::record::coordination::run_once;
use crate::run::plan::Plan;
use crate::run::session::{EnteredSession, Session, remove_base};
use crate::workspace::{self, BaseFacts, WorkspaceBase, workspace_error};

/// Where the workspaces of a case's trials come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkspaceSource {
    /// Every trial copies the template; there is no base.
    Template,
    /// The base of the suite.
    Suite(Isolation),
    /// A base of the case.
    Case(Isolation),
}

/// What has to be made before the first trial of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkspaceNeeds {
    /// Whether the base of the suite is made with its hooks, for its files or for what the hooks do elsewhere.
    pub(crate) suite_base: bool,
    pub(crate) source: WorkspaceSource,
    /// Whether the case itself defines `before_all`.
    pub(crate) own_before_all: bool,
    /// Whether the case itself defines `after_all`.
    pub(crate) own_after_all: bool,
}

impl WorkspaceNeeds {
    /// The needs of a case whose workspace is merged over the suite's. What differs belongs to the case.
    pub(crate) fn of(suite: Option<&Workspace>, case: Option<&Workspace>, target: Option<&Hooks>) -> Self {
        let empty = Workspace::default();
        let (suite, case) = (suite.unwrap_or(&empty), case.unwrap_or(&empty));
        let (before, after) = (&case.hooks.before_all, &case.hooks.after_all);
        let inherits_before = *before == suite.hooks.before_all;
        let inherits_after = *after == suite.hooks.after_all;
        let own_files = case.template != suite.template
            || case.base_fixture != suite.base_fixture
            || case.copies != suite.copies
            || case.repos != suite.repos;
        let own_before_all = before.is_some() && !inherits_before;
        let own_after_all = after.is_some() && !inherits_after;
        // A case that turns hooks off does not use what they make.
        let is_own = own_files || own_after_all || !inherits_before;
        let is_shared = case.isolation == Isolation::Shared;
        let needs_base = !case.repos.is_empty() || is_shared;
        let suite_hooks = inherits_before && before.is_some() || inherits_after && after.is_some();
        let target_hooks = target.is_some_and(|hooks| hooks.before_all.is_some() || hooks.after_all.is_some());
        let suite_base = suite_hooks || target_hooks || !is_own && needs_base;
        let source = match is_own {
            true if needs_base || own_before_all || own_after_all => WorkspaceSource::Case(case.isolation),
            true => WorkspaceSource::Template,
            false if suite_base => WorkspaceSource::Suite(case.isolation),
            false => WorkspaceSource::Template,
        };
        Self { suite_base, source, own_before_all, own_after_all }
    }
}

/// What the trials of one case need, made when the first of them is about to start.
pub(crate) struct CaseSetup<'a> {
    plan: &'a Plan<'a>,
    needs: WorkspaceNeeds,
    session: Option<(Session, EnteredSession)>,
    base: Option<WorkspaceBase>,
    /// The directory of the case's own base, which ends with the case.
    own_base: Option<PathBuf>,
    _shared: Option<FileLock>,
}

impl<'a> CaseSetup<'a> {
    /// Waits for a shared workspace. Nothing is made yet.
    pub(crate) fn begin(plan: &'a Plan<'a>) -> io::Result<Self> {
        let (of_suite, of_case) = (&plan.data.workspace, &plan.case.workspace);
        let needs = WorkspaceNeeds::of(of_suite.as_ref(), of_case.as_ref(), plan.target_hooks());
        let mut shared = None;
        if needs.source == WorkspaceSource::Suite(Isolation::Shared) {
            // For all trials of the case, and before a slot is taken: a test with a slot must not wait for one that needs it.
            let key = Session::of(plan.suite, plan.settings, plan.run).key();
            shared = Some(FileLock::acquire(&plan.run.locks().join(format!("workspace-{key}.lock")))?);
        }
        Ok(Self { plan, needs, session: None, base: None, own_base: None, _shared: shared })
    }

    /// Whether all trials of the case use one workspace.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(
            self.needs.source,
            WorkspaceSource::Suite(Isolation::Shared) | WorkspaceSource::Case(Isolation::Shared)
        )
    }

    /// The base of the trials' workspaces, made by the first trial; what another test of the run has made is used.
    pub(crate) fn base(&mut self) -> io::Result<Result<&WorkspaceBase, Reason>> {
        let base = match self.base.take() {
            Some(base) => Ok(base),
            None => self.make()?,
        };
        Ok(base.map(|base| &*self.base.insert(base)))
    }

    fn make(&mut self) -> io::Result<Result<WorkspaceBase, Reason>> {
        let of_suite = if self.needs.suite_base { self.suite_base()? } else { Ok(WorkspaceBase::Template) };
        match self.needs.source {
            _ if of_suite.is_err() => Ok(of_suite),
            WorkspaceSource::Template => Ok(Ok(WorkspaceBase::Template)),
            WorkspaceSource::Suite(_) => Ok(of_suite),
            WorkspaceSource::Case(isolation) => self.case_base(isolation),
        }
    }

    /// Makes a base in `workspace` of a directory, once per run under this name: its files, then what its owner adds. A shared one gets a
    /// copy for resets.
    fn make_base(
        &self,
        name: &str,
        directory: &Path,
        wanted: &Workspace,
        is_shared: bool,
        owner: BaseOwner<'_>,
    ) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let (directory, pristine) = (directory.join("workspace"), directory.join("pristine"));
        let built = run_once(&plan.run.locks(), name, &plan.redactor, || {
            build(wanted, &directory, plan)?;
            complete(plan, owner)?;
            if is_shared {
                workspace::copy_to_trial(&directory, &pristine).map_err(|error| workspace_error(&error))?;
            }
            Ok(BaseFacts::of(wanted, &directory, plan.settings.echo))
        })?;
        Ok(built.map(|facts| match is_shared {
            true => WorkspaceBase::Shared { directory, pristine, facts },
            false => WorkspaceBase::Copied { directory, facts },
        }))
    }
}

fn build(written: &Workspace, directory: &Path, plan: &Plan<'_>) -> Result<(), Reason> {
    let resolved = interpolation::resolve_workspace(
        // The variables of hooks are filled in when the hooks run.
        Workspace { hooks: Hooks::default(), ..written.clone() },
        &plan.case.location,
    );
    let resolved = resolved.map_err(|unresolved| {
        Reason::new(Stage::Workspace, ReasonCode::VariableUnset, unresolved.message).with_location(unresolved.location)
    })?;
    workspace::build(&resolved, directory, &plan.places, plan.settings.echo)
}

/// What a base belongs to.
#[derive(Clone, Copy)]
enum BaseOwner<'b> {
    /// The suite, with this workspace, in the directory.
    Suite { session: &'b Session, workspace: &'b Workspace, directory: &'b Path },
    /// The target of the case, in the directory.
    Target { session: &'b Session, directory: &'b Path },
    /// The case, with this workspace, in a directory with further files.
    Case { needs: WorkspaceNeeds, workspace: &'b Workspace, base: &'b Path },
}

/// Does what a base needs once its files are there.
fn complete(plan: &Plan<'_>, owner: BaseOwner<'_>) -> Result<(), Reason> {
    base_hooks::run_before_all(plan, owner)?;
    Ok(())
}

impl CaseSetup<'_> {
    /// The base of the suite, or that of the target where the target has a hook that changes it.
    fn suite_base(&mut self) -> io::Result<Result<WorkspaceBase, Reason>> {
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
    fn case_base(&mut self, isolation: Isolation) -> io::Result<Result<WorkspaceBase, Reason>> {
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
    base_hooks::run_after_all(base, echo, &mut had_hook, &mut problems);
    // The next test that needs the base makes it again.
    let name = base.file_name().unwrap_or_default().to_string_lossy();
    let made = locks.join(format!("once-{}.json", once_name(&name)));
    problems.extend(match remove_if_exists(&made) {
        Ok(()) => remove_base(base),
        Err(error) => Some(format!("{} cannot be removed: {error}", made.display())),
    });
    (had_hook, problems)
}

/// Name under which the making of a base is done once per run.
fn once_name(name: &str) -> String {
    format!("base-{name}")
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{Checkout, Command, Hook, PathRef, Repo, RepoSource, Reset, Sealing};

    use super::*;

    fn hook(line: &str) -> Option<Hook> {
        let command = Some(Command::Shell(line.into()));
        Some(Hook { command, timeout_ms: 1, cwd: None, reset: Reset::None, sealing: Sealing::default() })
    }

    fn workspace(template: &str) -> Workspace {
        let template = Some(PathRef::new(template));
        Workspace { template, ..Workspace::default() }
    }

    fn with_repo(workspace: Workspace) -> Workspace {
        let source = RepoSource::Git("x".into());
        let repo =
            Repo { path: "r".into(), source, checkout: Checkout::default(), depth: None, filter: None, sparse: vec![] };
        Workspace { repos: vec![repo], ..workspace }
    }

    fn with_hooks(workspace: Workspace, before: &str, after: &str) -> Workspace {
        let hooks = Hooks { before_all: hook(before), after_all: hook(after), ..Hooks::default() };
        Workspace { hooks, ..workspace }
    }

    fn needs(suite: &Workspace, case: &Workspace) -> (bool, WorkspaceSource) {
        let needs = WorkspaceNeeds::of(Some(suite), Some(case), None);
        (needs.suite_base, needs.source)
    }

    const PER_TEST: Isolation = Isolation::PerTest;

    #[test]
    fn a_template_alone_is_copied_without_a_base() {
        let none = WorkspaceNeeds::of(None, None, None);
        assert_eq!((none.suite_base, none.source), (false, WorkspaceSource::Template));
        assert_eq!(needs(&workspace("a"), &workspace("a")), (false, WorkspaceSource::Template));
        assert_eq!(needs(&workspace("a"), &workspace("b")), (false, WorkspaceSource::Template));
    }

    #[test]
    fn what_cases_have_in_common_comes_from_the_suite() {
        let suite = with_repo(workspace("a"));
        assert_eq!(needs(&suite, &suite), (true, WorkspaceSource::Suite(PER_TEST)));
        let suite = with_hooks(workspace("a"), "x", "y");
        assert_eq!(needs(&suite, &suite), (true, WorkspaceSource::Suite(PER_TEST)));
        let shared = Workspace { isolation: Isolation::Shared, ..workspace("a") };
        assert_eq!(needs(&shared, &shared), (true, WorkspaceSource::Suite(Isolation::Shared)));
        let target = Hooks { before_all: hook("x"), ..Hooks::default() };
        let needs = WorkspaceNeeds::of(None, None, Some(&target));
        assert_eq!((needs.suite_base, needs.source), (true, WorkspaceSource::Suite(PER_TEST)));
    }

    #[test]
    fn what_a_case_defines_is_its_own() {
        let suite = with_hooks(workspace("a"), "x", "y");
        // The suite's hooks run for what they do elsewhere; the case's files are other ones.
        assert_eq!(needs(&suite, &with_hooks(workspace("b"), "x", "y")), (true, WorkspaceSource::Template));
        assert_eq!(
            needs(&suite, &with_hooks(with_repo(workspace("a")), "x", "y")),
            (true, WorkspaceSource::Case(PER_TEST))
        );
        let own = WorkspaceNeeds::of(Some(&suite), Some(&with_hooks(workspace("a"), "own", "y")), None);
        assert_eq!((own.suite_base, own.source), (true, WorkspaceSource::Case(PER_TEST)));
        assert_eq!((own.own_before_all, own.own_after_all), (true, false));
        assert_eq!(needs(&suite, &workspace("a")), (false, WorkspaceSource::Template), "hooks are turned off");
    }
}
