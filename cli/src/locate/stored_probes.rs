//! The stored probes of a run's suites.

use evalsuite_records::probe::read_probe;
use evalsuite_records::record::ProbeRecord;
use evalsuite_report::RunData;

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
            probes.push(probe);
        }
    }
    Ok(probes)
}
