//! `test_each_file`: one test per file, in a module per directory, with the file's text included.

use std::fmt::Write as _;

use super::Competitor;
use crate::layout::Cases;
use crate::source_copy::SourceCopy;

pub(super) struct TestEachFile;

impl Competitor for TestEachFile {
    fn name(&self) -> &'static str {
        "test_each_file"
    }

    fn dependencies(&self, _source: &SourceCopy) -> String {
        "[dev-dependencies]\ntest_each_file = \"=0.3.7\"\n".to_owned()
    }

    fn test_source(&self, cases: Cases) -> String {
        let mut source = String::from(
            "use test_each_file::test_each_file;\n\nfn check(content: &str) {\n    assert!(!content.is_empty());\n}\n",
        );
        for suite in cases.suites() {
            let directory = cases.directory();
            let _ = write!(source, "\ntest_each_file! {{ in \"./suites/{suite}/{directory}\" as {suite} => check }}\n");
        }
        source
    }
}
