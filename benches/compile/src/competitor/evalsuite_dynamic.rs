//! evalsuite as a dynamic library, which is linked once instead of into every test binary.

use std::path::Path;

use anyhow::Result;

use super::Competitor;
use super::evalsuite::EvalSuite;
use crate::layout::Cases;
use crate::source_copy::SourceCopy;

pub(super) struct EvalSuiteDynamic;

impl Competitor for EvalSuiteDynamic {
    fn name(&self) -> &'static str {
        "evalsuite-dynamic"
    }

    fn dependencies(&self, source: &SourceCopy) -> String {
        EvalSuite.dependencies(source).replacen("evalsuite = {", "evalsuite = { package = \"evalsuite-dynamic\",", 1)
    }

    fn build_script(&self) -> Option<&'static str> {
        EvalSuite.build_script()
    }

    fn test_source(&self, cases: Cases) -> String {
        EvalSuite.test_source(cases)
    }

    fn additional_tests(&self, cases: Cases) -> usize {
        EvalSuite.additional_tests(cases)
    }

    fn test_name(&self, cases: Cases, case: usize) -> Option<String> {
        EvalSuite.test_name(cases, case)
    }

    fn edit_case(&self, root: &Path, cases: Cases, revision: usize) -> Result<()> {
        EvalSuite.edit_case(root, cases, revision)
    }
}
