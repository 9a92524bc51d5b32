//! The stored probes of a run's suites.

use evalsuite_records::probe::read_probe;
use evalsuite_records::record::{ProbeRecord, ProbedCase};
use evalsuite_report::{RunData, SuiteData};

use super::baselines::WorkspacePackages;
use crate::platform::cli_error::Result;

/// The probes of a run's suites, as far as there are any: of a suite whose package is not in this workspace there is none. Each names its
/// suite as the run does.
pub(crate) fn of_run(run: &RunData) -> Result<Vec<ProbeRecord>> {
    // Where there are runs but no packages, as on a machine that only reports, there are no probes either.
    let Ok(packages) = WorkspacePackages::here() else { return Ok(Vec::new()) };
    let mut probes = Vec::new();
    for suite in &run.suites {
        let Some(root) = packages.root_of(&suite.id) else { continue };
        if let Some(mut probe) = read_probe(root, &suite.id)? {
            probe.suite.name.clone_from(&suite.name);
            probe.retain(|case| is_current(suite, case));
            probes.push(probe);
        }
    }
    Ok(probes)
}

/// Whether the suite of the run has the case as it was probed. Of a case that is not in the run, only its id is known.
fn is_current(suite: &SuiteData, probed: &ProbedCase) -> bool {
    let is_it = |id: &str, target: Option<&str>| {
        id == probed.case_id && probed.target.as_deref().is_none_or(|of_matrix| target == Some(of_matrix))
    };
    let is_known = suite
        .record
        .as_ref()
        .is_none_or(|record| record.tests.iter().any(|test| is_it(&test.case_id, test.target.as_deref())));
    let in_run = suite.cases.iter().find(|case| is_it(&case.record.case_id, Some(&case.record.target)));
    is_known && in_run.is_none_or(|case| case.record.case_digest == probed.case_digest)
}
