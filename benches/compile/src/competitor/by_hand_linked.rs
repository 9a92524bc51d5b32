//! The hand-written tests in a binary that also contains a suite of one case.
//!
//! A test binary with a suite links evalsuite's runtime, which takes the same time for any number of cases. This
//! competitor separates that time from the cost of the cases.

use std::path::Path;

use anyhow::Result;

use super::evalsuite::EvalSuite;
use super::{Competitor, by_hand};
use crate::layout::Cases;
use crate::source_copy::SourceCopy;

pub(super) struct ByHandLinked;

impl Competitor for ByHandLinked {
    fn name(&self) -> &'static str {
        "by-hand-linked"
    }

    fn dependencies(&self, source: &SourceCopy) -> String {
        EvalSuite.dependencies(source)
    }

    fn build_script(&self) -> Option<&'static str> {
        EvalSuite.build_script()
    }

    fn test_source(&self, cases: Cases) -> String {
        source(cases, 0)
    }

    fn cases_in_files(&self, cases: Cases) -> Option<Cases> {
        Some(Cases { count: 1, ..cases })
    }

    /// The one case and its `suite_check`.
    fn additional_tests(&self, _cases: Cases) -> usize {
        2
    }

    fn test_name(&self, cases: Cases, case: usize) -> Option<String> {
        by_hand::ByHand.test_name(cases, case)
    }

    fn edit_case(&self, root: &Path, cases: Cases, revision: usize) -> Result<()> {
        by_hand::rewrite(root, &source(cases, revision))
    }
}

fn source(cases: Cases, revision: usize) -> String {
    let one = EvalSuite.test_source(Cases { count: 1, ..cases });
    // The suite's module must not have the name of a module of the tests.
    one.replace("agent = agent", "agent = agent, name = one_case") + &by_hand::source(cases, revision)
}
