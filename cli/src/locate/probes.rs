//! The probes that the packages of a run's suites store.

use std::collections::BTreeMap;

use evalsuite_records::probe::read_probe;
use evalsuite_records::record::{ProbeRecord, SuiteRecord};
use evalsuite_report::{RunData, SuiteData};

use super::workspace_packages::WorkspacePackages;
use crate::platform::cli_error::Result;

/// The probes of a run's suites, as far as there are any: of a suite whose package is not in this workspace there is none. Each names its
/// suite as the run does.
pub(crate) fn read_probes(run: &RunData) -> Result<Vec<ProbeRecord>> {
    // Where there are runs but no packages, as on a machine that only reports, there are no probes either.
    let Ok(packages) = WorkspacePackages::here() else { return Ok(Vec::new()) };
    let mut probes = Vec::new();
    for suite in &run.suites {
        let (Some(root), Some(record)) = (packages.root_of(&suite.id), &suite.record) else { continue };
        if let Some(mut probe) = read_probe(root, &suite.id)? {
            probe.suite.name.clone_from(&suite.name);
            probe.retain_current(&cases_of(suite, record));
            probes.push(probe);
        }
    }
    Ok(probes)
}

/// The cases of a run's suite by id and target, with their digests. Of a case that is not in the run, only its id is known.
fn cases_of<'a>(suite: &'a SuiteData, record: &'a SuiteRecord) -> BTreeMap<(&'a str, Option<&'a str>), Option<String>> {
    let in_run: BTreeMap<_, _> =
        suite.cases.iter().map(|case| (&case.record.test_name, &case.record.case_digest)).collect();
    let tests = record.tests.iter();
    tests
        .map(|test| {
            ((&*test.case_id, test.target.as_deref()), in_run.get(&test.test_name).map(|digest| (*digest).clone()))
        })
        .collect()
}
