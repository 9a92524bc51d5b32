//! The common setup of a case's trials, before the first one: base workspaces, and hooks that run once.

pub(crate) mod case_base;
pub(crate) mod suite_base;
pub(crate) mod workspace_base;
pub(crate) mod workspace_needs;

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::{Hooks, Isolation, Workspace};

use self::workspace_base::WorkspaceBase;
use self::workspace_needs::{WorkspaceNeeds, WorkspaceSource};
use crate::model::interpolation;
use crate::platform::file_lock::FileLock;
use crate::run::hooks::{HookCall, HookFailure};
use crate::run::plan::Plan;
use crate::run::session::{EnteredSession, Session};
use crate::workspace;

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
        let needs = WorkspaceNeeds::of(
            plan.source.data.workspace.as_ref(),
            plan.source.case.workspace.as_ref(),
            plan.target_hooks(),
        );
        let mut shared = None;
        if needs.source == WorkspaceSource::Suite(Isolation::Shared) {
            // For all trials of the case, and before a slot is taken: a test with a slot must not wait for one that needs it.
            let key = Session::of(plan.source.suite, plan.settings, plan.run).key();
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
            Some(base) => base,
            None => match self.make()? {
                Ok(base) => base,
                Err(reason) => return Ok(Err(reason)),
            },
        };
        Ok(Ok(self.base.insert(base)))
    }

    fn make(&mut self) -> io::Result<Result<WorkspaceBase, Reason>> {
        let mut base = WorkspaceBase::Template;
        if self.needs.suite_base {
            match self.suite_base()? {
                Err(reason) => return Ok(Err(reason)),
                Ok(of_suite) if self.needs.source != WorkspaceSource::Template => base = of_suite,
                Ok(_) => {}
            }
        }
        match self.needs.source {
            WorkspaceSource::Case(isolation) => self.case_base(isolation),
            WorkspaceSource::Template | WorkspaceSource::Suite(_) => Ok(Ok(base)),
        }
    }
}

fn build(written: &Workspace, directory: &Path, plan: &Plan<'_>) -> Result<(), Reason> {
    let resolved = interpolation::resolve_workspace(
        // The variables of hooks are filled in when the hooks run.
        Workspace { hooks: Hooks::default(), ..written.clone() },
        &plan.source.case.location,
    );
    let resolved = resolved.map_err(|unresolved| {
        Reason::new(Stage::Workspace, ReasonCode::VariableUnset, unresolved.message).with_location(unresolved.location)
    })?;
    workspace::build(Some(&resolved), directory, &plan.source.places, plan.settings.echo)
}

fn run_hook(call: &HookCall, plan: &Plan<'_>) -> Result<(), Reason> {
    let (_, result) = call.resolve_and_run(&plan.redactor, plan.settings.echo);
    result.map_err(HookFailure::into_reason)
}

/// A hook runs only if the session knows how to undo it.
fn written(result: io::Result<()>) -> Result<(), Reason> {
    result.map_err(|error| {
        let message = format!("the state of the suite's hooks cannot be written: {error}");
        Reason::new(Stage::BeforeHooks, ReasonCode::HookFailed, message)
    })
}

fn workspace_error(message: String) -> Reason {
    Reason::new(Stage::Workspace, ReasonCode::WorkspaceError, message)
}
