//! What is compared: for each competitor the package that turns case files into tests.

mod by_hand;
mod datatest_stable;
mod dir_test;
mod dynamic;
mod evalsuite;
mod linked;
mod rstest;
mod test_each_file;

use std::path::Path;

use anyhow::{Result, bail};

use crate::layout::Cases;
use crate::source::Source;

/// Name of the test target in every package.
pub(crate) const TEST_TARGET: &str = "evals";

/// One way to get a test per case.
pub(crate) trait Competitor: Sync {
    /// Its name on the command line, in tables and in package names.
    fn name(&self) -> &'static str;

    /// `[dev-dependencies]` and what else the manifest needs. `source` is where evalsuite comes from.
    fn dependencies(&self, source: &Source) -> String;

    /// The build script, where there is one.
    fn build_script(&self) -> Option<&'static str> {
        None
    }

    /// The source of the test target.
    fn test_source(&self, cases: Cases) -> String;

    /// Whether the test target uses the standard harness.
    fn harness(&self) -> bool {
        true
    }

    /// The cases that lie in files: all, unless the tests are written by hand.
    fn files(&self, cases: Cases) -> Option<Cases> {
        Some(cases)
    }

    /// Tests beside those of the cases.
    fn further_tests(&self, cases: Cases) -> usize {
        let _ = cases;
        0
    }

    /// Name of the test of a case, where it is known: some competitors derive it in ways of their own.
    fn test(&self, cases: Cases, case: usize) -> Option<String> {
        let _ = (cases, case);
        None
    }

    /// Changes what defines one case in the package at `root`.
    fn edit(&self, root: &Path, cases: Cases, revision: usize) -> Result<()> {
        cases.write_case(root, cases.middle(), revision)
    }
}

/// All of them; the first is what the others are compared with.
pub(crate) const ALL: &[&dyn Competitor] = &[
    &by_hand::ByHand,
    &linked::Linked,
    &evalsuite::EvalSuite,
    &dynamic::Dynamic,
    &dir_test::DirTest,
    &rstest::Rstest,
    &test_each_file::TestEachFile,
    &datatest_stable::DatatestStable,
];

/// Those with the given names, or all, in the order of [`ALL`].
pub(crate) fn chosen(names: &[String]) -> Result<Vec<&'static dyn Competitor>> {
    let known = || ALL.iter().map(|competitor| competitor.name()).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = names.iter().find(|name| ALL.iter().all(|competitor| competitor.name() != name.as_str())) {
        bail!("no competitor is called `{unknown}`; there are {}", known());
    }
    let is_chosen =
        |competitor: &&dyn Competitor| names.is_empty() || names.iter().any(|name| name == competitor.name());
    Ok(ALL.iter().copied().filter(is_chosen).collect())
}
