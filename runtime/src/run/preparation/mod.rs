//! What trials of a case start from, made before the first of them: base workspaces, and hooks that run once.

pub(crate) mod case_base;
pub(crate) mod needs;
pub(crate) mod suite_base;

use std::{
    io,
    path::{Path, PathBuf},
};

use evalsuite_schema::{
    Hooks, Isolation, Workspace,
    record::{Reason, ReasonCode, Stage},
};

use crate::{
    model::interpolation,
    platform::{file_lock::FileLock, process::echo::Echo, redaction::Redactor},
    run::{
        hooks::{HookCall, HookFacts, Trouble},
        plan::Plan,
        preparation::needs::{Needs, Source},
        session::{Entered, Session},
    },
    workspace::{self, BaseFacts},
};

pub(crate) use crate::run::preparation::case_base::end_own_base;

/// Where the workspace of a trial comes from.
#[derive(Debug, Clone)]
pub(crate) enum Ground {
    /// The template itself is copied; with no template the workspace is empty.
    Template,
    /// A copy of a base.
    Base { directory: PathBuf, facts: BaseFacts },
    /// The base is the workspace.
    Shared { directory: PathBuf, pristine: PathBuf, facts: BaseFacts },
}

/// What the trials of one case need, made when the first of them is about to start.
pub(crate) struct Preparation<'a> {
    plan: &'a Plan<'a>,
    needs: Needs,
    session: Option<(Session, Entered)>,
    ground: Option<Ground>,
    /// The base of the case, to be ended after its trials.
    own: Option<PathBuf>,
    _shared: Option<FileLock>,
}

impl<'a> Preparation<'a> {
    /// Waits for a shared workspace. Nothing is made yet.
    ///
    /// # Errors
    ///
    /// If a lock cannot be had.
    pub(crate) fn begin(plan: &'a Plan<'a>) -> io::Result<Self> {
        let target = plan.suite_data.targets.iter().find(|target| target.name == plan.target);
        let needs = Needs::of(
            plan.suite_data.workspace.as_ref(),
            plan.case.workspace.as_ref(),
            target.map(|target| &target.hooks),
        );
        let mut shared = None;
        if needs.source == Source::Suite(Isolation::Shared) {
            // For all trials of the case, and before a slot is taken: who has a slot must not wait for who needs one.
            let key = Session::of(plan.suite, plan.settings, plan.run)?.key();
            shared = Some(FileLock::acquire(&plan.run.locks().join(format!("workspace-{key}.lock")))?);
        }
        Ok(Self { plan, needs, session: None, ground: None, own: None, _shared: shared })
    }

    /// Makes what is missing; what another test has made is used.
    ///
    /// # Errors
    ///
    /// If the run's directory cannot be written; the inner error is why no trial can start.
    pub(crate) fn ground(&mut self) -> io::Result<Result<&Ground, Reason>> {
        if self.ground.is_none() {
            match self.make()? {
                Ok(ground) => self.ground = Some(ground),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(self.ground.as_ref().ok_or_else(|| Reason::new(Stage::Workspace, ReasonCode::WorkspaceError, "no ground")))
    }

    fn make(&mut self) -> io::Result<Result<Ground, Reason>> {
        let mut ground = Ground::Template;
        if self.needs.suite {
            match self.suite_base()? {
                Err(reason) => return Ok(Err(reason)),
                Ok(base) if self.needs.source != Source::Template => ground = base,
                Ok(_) => {}
            }
        }
        match self.needs.source {
            Source::Case(isolation) => self.case_base(isolation),
            Source::Template | Source::Suite(_) => Ok(Ok(ground)),
        }
    }
}

/// The hooks of the plan's target.
pub(crate) fn hooks_of_target<'a>(plan: &'a Plan<'_>) -> Option<&'a Hooks> {
    plan.suite_data.targets.iter().find(|target| target.name == plan.target).map(|target| &target.hooks)
}

fn facts(plan: &Plan<'_>, directory: &Path, test_id: &str) -> HookFacts {
    HookFacts {
        run_id: plan.run.run_id.clone(),
        package_root: plan.places.package_root.clone(),
        suite_dir: plan.places.suite_dir.clone(),
        workspace: directory.to_owned(),
        test_id: test_id.to_owned(),
        target: None,
        case: None,
        trial: None,
        end: None,
    }
}

fn build(written: &Workspace, directory: &Path, plan: &Plan<'_>) -> Result<(), Reason> {
    let resolved = interpolation::resolve_workspace(
        // What hooks need is filled in when they run.
        Workspace { hooks: Hooks::default(), ..written.clone() },
        &plan.case.location,
    );
    let resolved = resolved.map_err(|unresolved| {
        Reason::new(Stage::Workspace, ReasonCode::VariableUnset, unresolved.message).with_location(unresolved.location)
    })?;
    workspace::build(Some(&resolved), directory, &plan.places, plan.settings.echo)
}

fn run(call: &HookCall, redactor: &Redactor, echo: Echo) -> Result<(), Reason> {
    let (_, result) = call.resolve_and_run(redactor, echo);
    result.map_err(Trouble::reason)
}

/// What a session cannot note must not happen either.
fn tell(result: io::Result<()>) -> Result<(), Reason> {
    result.map_err(|error| {
        let message = format!("the state of the suite's hooks cannot be written: {error}");
        Reason::new(Stage::BeforeHooks, ReasonCode::HookFailed, message)
    })
}

fn workspace_error(message: String) -> Reason {
    Reason::new(Stage::Workspace, ReasonCode::WorkspaceError, message)
}
