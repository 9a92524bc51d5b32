//! The tests written by hand, in a binary that also holds a suite of one case.
//!
//! A test binary with a suite has evalsuite's runtime in it, which costs the linker the same for any number of cases. This
//! tells that cost from what the cases cost.

use std::path::Path;

use anyhow::Result;

use super::evalsuite::EvalSuite;
use super::{Competitor, by_hand};
use crate::layout::Cases;
use crate::source::Source;

pub(super) struct Linked;

impl Competitor for Linked {
    fn name(&self) -> &'static str {
        "by-hand-linked"
    }

    fn dependencies(&self, source: &Source) -> String {
        EvalSuite.dependencies(source)
    }

    fn build_script(&self) -> Option<&'static str> {
        EvalSuite.build_script()
    }

    fn test_source(&self, cases: Cases) -> String {
        source(cases, 0)
    }

    fn files(&self, cases: Cases) -> Option<Cases> {
        Some(Cases { count: 1, ..cases })
    }

    /// The one case and its `suite_check`.
    fn further_tests(&self, _cases: Cases) -> usize {
        2
    }

    fn test(&self, cases: Cases, case: usize) -> Option<String> {
        by_hand::ByHand.test(cases, case)
    }

    fn edit(&self, root: &Path, cases: Cases, revision: usize) -> Result<()> {
        by_hand::rewrite(root, &source(cases, revision))
    }
}

fn source(cases: Cases, revision: usize) -> String {
    let one = EvalSuite.test_source(Cases { count: 1, ..cases });
    // Its module must not be called like one of the tests'.
    one.replace("agent = agent", "agent = agent, name = one_case") + &by_hand::source(cases, revision)
}
