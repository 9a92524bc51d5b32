//! evalsuite as a dynamic library, which is linked once and not into every test binary.

use std::path::Path;

use anyhow::Result;

use super::Competitor;
use super::evalsuite::EvalSuite;
use crate::layout::Cases;
use crate::source::Source;

pub(super) struct Dynamic;

impl Competitor for Dynamic {
    fn name(&self) -> &'static str {
        "evalsuite-dynamic"
    }

    fn dependencies(&self, source: &Source) -> String {
        EvalSuite.dependencies(source).replacen("evalsuite = {", "evalsuite = { package = \"evalsuite-dynamic\",", 1)
    }

    fn build_script(&self) -> Option<&'static str> {
        EvalSuite.build_script()
    }

    fn test_source(&self, cases: Cases) -> String {
        EvalSuite.test_source(cases)
    }

    fn further_tests(&self, cases: Cases) -> usize {
        EvalSuite.further_tests(cases)
    }

    fn test(&self, cases: Cases, case: usize) -> Option<String> {
        EvalSuite.test(cases, case)
    }

    fn edit(&self, root: &Path, cases: Cases, revision: usize) -> Result<()> {
        EvalSuite.edit(root, cases, revision)
    }
}
