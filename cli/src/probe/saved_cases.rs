//! The probe of cases that were just saved: what built-in graders alone decide.

use std::path::Path;

use evalsuite::tooling::probe_loaded_suite;
use evalsuite_schema::diagnostics::{Code, Diagnostic};
use evalsuite_schema::{Case, Suite};

/// Most cases that are probed: a change that concerns many is not one of their graders.
const MOST: usize = 20;

/// What is wrong with the saved cases of a suite, if they are few. Findings about graders that other cases may have, too, are left out.
pub(crate) fn probe(suite: &Suite, cases: &[&Case], package_root: &Path) -> Vec<Diagnostic> {
    if cases.is_empty() || cases.len() > MOST {
        return Vec::new();
    }
    let cases = cases.iter().map(|case| (*case).clone()).collect();
    // The tests of the cases report what keeps them from being probed.
    let Ok(record) = probe_loaded_suite(suite.clone(), cases, package_root) else { return Vec::new() };
    let is_of_case = |finding: &Diagnostic| !matches!(finding.code, Code::VacuousGrader | Code::ImpossibleGrader);
    record.cases.into_iter().flat_map(|case| case.findings).filter(is_of_case).collect()
}
