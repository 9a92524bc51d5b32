//! `rstest` with `#[files]`: one test per file, which gets the file's path.

use super::Competitor;
use crate::layout::{Cases, Layout};
use crate::source_copy::SourceCopy;

pub(super) struct Rstest;

impl Competitor for Rstest {
    fn name(&self) -> &'static str {
        "rstest"
    }

    fn dependencies(&self, _source: &SourceCopy) -> String {
        "[dev-dependencies]\nrstest = \"=0.28.0\"\n".to_owned()
    }

    fn test_source(&self, cases: Cases) -> String {
        let glob = match cases.layout {
            Layout::Cases => "suites/*/cases/*/case.yaml",
            Layout::Tasks => "suites/*/tasks/**/*.json",
        };
        format!(
            "use std::path::PathBuf;\n\nuse rstest::rstest;\n\n#[rstest]\nfn check(#[files(\"{glob}\")] case: PathBuf) {{\n    \
             assert!(case.is_absolute());\n}}\n"
        )
    }
}
