//! `EVALSUITE_REGRADE`: which trials of an earlier run are graded again.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{CaseIdentity, Reason, ReasonCode, Stage};

use crate::platform::digest::file_key;
use crate::platform::files::is_temporary;
use crate::record::earlier_trials::{CaseTrials, EarlierTrials, has_begun, has_trials, newest_of_case};
use crate::record::run_directory::layout::{CASES, LATEST, SUITES};
use crate::record::run_directory::run_id_or_new;
use crate::run::plan::Plan;

/// Finds the trials of a case that are graded again, if the settings name a run.
pub(crate) fn find_trials(plan: &mut Plan<'_>) {
    let Some(wanted) = plan.settings.regrade.as_deref() else { return };
    let found = trials_of(plan, wanted);
    if let Ok(earlier) = &found {
        plan.planned = earlier.planned;
    }
    plan.regraded = Some(found);
}

/// The trials of a case in the wanted run; for `latest` those of the newest run that has any. A case that these runs did not run, although they
/// ran others, is left out, unless the user asked for its test: the code of the reason is then [`ReasonCode::Filtered`].
fn trials_of(plan: &Plan<'_>, wanted: &str) -> Result<EarlierTrials, Reason> {
    let CaseIdentity { case_key, test_name, .. } = &plan.identity;
    let is_named = plan.settings.names_test(test_name);
    let Some(runs) = plan.run.path().parent() else {
        return Err(missing("there are no earlier runs"));
    };
    // Older versions named directories after the suite alone.
    let directories = [plan.suite.key(), file_key(plan.suite.name)];
    let cases = |run: &Path| directories.each_ref().map(|suite| run.join(SUITES).join(suite).join(CASES));
    let of = |run: &Path| cases(run).iter().find_map(|cases| newest_of_case(cases, case_key, test_name));
    let none = |message: String, runs: &[PathBuf]| {
        let has_begun = |run: &PathBuf| cases(run).iter().any(|cases| has_begun(cases, case_key));
        let is_left_out = !is_named && !runs.iter().any(has_begun) && runs.iter().any(|run| has_trials(run));
        if is_left_out { Reason::new(Stage::Select, ReasonCode::Filtered, message) } else { missing(message) }
    };
    if wanted != LATEST {
        let id = run_id_or_new(Some(wanted));
        let directory = runs.join(&id);
        if !directory.is_dir() {
            let message = format!("EVALSUITE_REGRADE is `{wanted}`, but there is no such run in {}", runs.display());
            return Err(Reason::new(Stage::Setup, ReasonCode::InvalidSetting, message));
        }
        let message = || format!("run `{wanted}` {NONE}");
        let case = of(&directory).ok_or_else(|| none(message(), std::slice::from_ref(&directory)))?;
        return Ok(EarlierTrials::new(id, case));
    }
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    let is_other = |name: OsString| name != plan.run.run_id.as_str() && !is_temporary(&name);
    let others: Vec<PathBuf> = entries.filter(|entry| is_other(entry.file_name())).map(|entry| entry.path()).collect();
    let ended = others.iter().filter_map(|other| {
        let case = of(other).filter(CaseTrials::has_results)?;
        Some(((case.first_ended()?, other.file_name()?.to_string_lossy().into_owned()), case))
    });
    match ended.max_by(|(one, _), (other, _)| one.cmp(other)) {
        Some(((_, id), case)) => Ok(EarlierTrials::new(id, case)),
        None => Err(none(format!("no run in {} {NONE}", runs.display()), &others)),
    }
}

const NONE: &str = "has no trial of this case; run the test without EVALSUITE_REGRADE to make one";

fn missing(message: impl Into<String>) -> Reason {
    Reason::new(Stage::Setup, ReasonCode::RecordingMissing, message)
}
