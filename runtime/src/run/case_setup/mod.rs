//! The common setup of a case's trials, before the first one: base workspaces, and hooks that run once.

pub(crate) mod bases;
pub(crate) mod workspace_needs;

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::{Hooks, Isolation, Workspace};

use self::workspace_needs::{WorkspaceNeeds, WorkspaceSource};
use crate::model::interpolation;
use crate::platform::file_lock::FileLock;
use crate::record::coordination::run_once;
use crate::run::hooks::HookCall;
use crate::run::plan::Plan;
use crate::run::session::{EnteredSession, Session};
use crate::workspace::{self, BaseFacts, WorkspaceBase, workspace_error};

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

    /// Makes a base in `workspace` of a directory, once per run under this name: its files, then what its hooks do. A shared one gets a
    /// copy for resets.
    fn make_base(
        &self,
        name: &str,
        directory: &Path,
        wanted: &Workspace,
        is_shared: bool,
        run_hooks: impl FnOnce() -> Result<(), Reason>,
    ) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let (directory, pristine) = (directory.join("workspace"), directory.join("pristine"));
        let built = run_once(&plan.run.locks(), name, &plan.redactor, || {
            build(wanted, &directory, plan)?;
            run_hooks()?;
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

fn run_hook(call: &HookCall, plan: &Plan<'_>) -> Result<(), Reason> {
    call.resolve_and_run(&plan.redactor, plan.settings.echo).1
}

/// A hook runs only if the session knows how to undo it.
fn written(result: io::Result<()>) -> Result<(), Reason> {
    result.map_err(|error| {
        let message = format!("the state of the suite's hooks cannot be written: {error}");
        Reason::new(Stage::BeforeHooks, ReasonCode::HookFailed, message)
    })
}
