//! The competitors: for each, the package that generates tests from case files.

mod by_hand;
mod by_hand_linked;
mod datatest_stable;
mod dir_test;
mod evalsuite;
mod evalsuite_dynamic;
mod rstest;
mod test_each_file;

use std::path::Path;

use anyhow::{Result, bail};

use crate::layout::Cases;
use crate::source_copy::SourceCopy;

/// Name of the test target in every package.
pub(crate) const TEST_TARGET: &str = "evals";

/// One way to get a test per case.
pub(crate) trait Competitor: Sync {
    /// Its name on the command line, in tables and in package names.
    fn name(&self) -> &'static str;

    /// `[dev-dependencies]` and other sections of the manifest. `source` is the copy of evalsuite to depend on.
    fn dependencies(&self, source: &SourceCopy) -> String;

    /// The build script, if there is one.
    fn build_script(&self) -> Option<&'static str> {
        None
    }

    /// The source of the test target.
    fn test_source(&self, cases: Cases) -> String;

    /// Whether the test target uses the standard harness.
    fn harness(&self) -> bool {
        true
    }

    /// The cases that are written to files: all, unless the tests are hand-written.
    fn cases_in_files(&self, cases: Cases) -> Option<Cases> {
        Some(cases)
    }

    /// Number of tests in addition to those of the cases.
    fn additional_tests(&self, cases: Cases) -> usize {
        let _ = cases;
        0
    }

    /// Name of the test of a case, if it is predictable.
    fn test_name(&self, cases: Cases, case: usize) -> Option<String> {
        let _ = (cases, case);
        None
    }

    /// Edits one case of the package at `root`.
    fn edit_case(&self, root: &Path, cases: Cases, revision: usize) -> Result<()> {
        cases.write_case(root, cases.middle(), revision)
    }
}

/// All competitors; the others are compared with the first.
pub(crate) const ALL: &[&dyn Competitor] = &[
    &by_hand::ByHand,
    &by_hand_linked::ByHandLinked,
    &evalsuite::EvalSuite,
    &evalsuite_dynamic::EvalSuiteDynamic,
    &dir_test::DirTest,
    &rstest::Rstest,
    &test_each_file::TestEachFile,
    &datatest_stable::DatatestStable,
];

/// The competitors with the given names, or all, in the order of [`ALL`].
pub(crate) fn select(names: &[String]) -> Result<Vec<&'static dyn Competitor>> {
    let known = || ALL.iter().map(|competitor| competitor.name()).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = names.iter().find(|name| ALL.iter().all(|competitor| competitor.name() != name.as_str())) {
        bail!("unknown competitor `{unknown}`; known: {}", known());
    }
    let is_selected =
        |competitor: &&dyn Competitor| names.is_empty() || names.iter().any(|name| name == competitor.name());
    Ok(ALL.iter().copied().filter(is_selected).collect())
}
