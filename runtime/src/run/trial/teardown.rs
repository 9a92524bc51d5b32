use std::path::Path;

use evalsuite_schema::record::{CaseOutcome, Note, TrialRecord};

use crate::{
    run::{plan::Plan, preparation::Ground},
    workspace,
};

/// The workspace of a failure is kept for people to look at.
pub(crate) fn tidy(plan: &Plan<'_>, ground: &Ground, record: &mut TrialRecord) {
    if let (Ground::Shared { .. }, Some(workspace)) = (ground, &mut record.workspace) {
        // It is the next trial's, too, and removed with the bases of the run.
        workspace.kept = plan.settings.keep;
        return;
    }
    let done = matches!(record.outcome, CaseOutcome::Passed | CaseOutcome::Skipped);
    if plan.settings.keep || !done {
        return;
    }
    let Some(workspace) = &mut record.workspace else { return };
    match workspace::remove_directory(Path::new(&workspace.path)) {
        Ok(()) => workspace.kept = false,
        Err(error) => {
            record.notes.push(Note::new("workspace_not_removed", format!("{}: {error}", workspace.path)));
        }
    }
}
