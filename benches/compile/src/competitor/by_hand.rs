//! Hand-written tests: a function per case, which calls a common function, and no data.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Competitor, TEST_TARGET};
use crate::layout::Cases;
use crate::source_copy::SourceCopy;

pub(super) struct ByHand;

impl Competitor for ByHand {
    fn name(&self) -> &'static str {
        "by-hand"
    }

    fn dependencies(&self, _source: &SourceCopy) -> String {
        String::new()
    }

    fn test_source(&self, cases: Cases) -> String {
        source(cases, 0)
    }

    fn cases_in_files(&self, _cases: Cases) -> Option<Cases> {
        None
    }

    fn test_name(&self, cases: Cases, case: usize) -> Option<String> {
        Some(cases.test_path(case).name())
    }

    /// There are no files, so editing a case means editing its test.
    fn edit_case(&self, root: &Path, cases: Cases, revision: usize) -> Result<()> {
        rewrite(root, &source(cases, revision))
    }
}

/// Replaces the source of the tests.
pub(super) fn rewrite(root: &Path, source: &str) -> Result<()> {
    let path = root.join("tests").join(TEST_TARGET).with_extension("rs");
    std::fs::write(&path, source).with_context(|| format!("cannot write {}", path.display()))
}

/// The tests; revisions differ by a number in one of them.
pub(super) fn source(cases: Cases, revision: usize) -> String {
    let mut source =
        String::from("fn check(case: usize) {\n    assert_ne!(std::hint::black_box(case), usize::MAX);\n}\n");
    let mut tests: Vec<_> = (0..cases.count).map(|case| (cases.test_path(case), case)).collect();
    tests.sort_by(|(a, _), (b, _)| a.modules.cmp(&b.modules));
    let mut open: &[String] = &[];
    for (test, case) in &tests {
        let shared = open.iter().zip(&test.modules).take_while(|(a, b)| a == b).count();
        source.push_str(&"}\n".repeat(open.len() - shared));
        for module in &test.modules[shared..] {
            let _ = writeln!(source, "mod {module} {{");
        }
        open = &test.modules;
        let argument = if *case == cases.middle() { case + revision } else { *case };
        let _ = write!(source, "#[test]\nfn {}() {{\n    crate::check({argument})\n}}\n", test.function);
    }
    source.push_str(&"}\n".repeat(open.len()));
    source
}

#[cfg(test)]
mod tests {
    use super::source;
    use crate::layout::{Cases, Layout};

    #[test]
    fn every_case_has_a_test_and_every_module_ends() {
        let source = source(Cases { layout: Layout::Tasks, count: 30 }, 0);
        assert_eq!(source.matches("#[test]").count(), 30);
        assert_eq!(source.matches('{').count(), source.matches('}').count());
        assert_eq!(source.matches("mod support_1").count(), 1);
        assert_eq!(source.matches("mod negative").count(), 1);
    }

    #[test]
    fn a_revision_changes_one_test() {
        let cases = Cases { layout: Layout::Cases, count: 9 };
        let (before, after) = (source(cases, 0), source(cases, 1));
        assert_eq!(before.lines().zip(after.lines()).filter(|(a, b)| a != b).count(), 1);
    }
}
