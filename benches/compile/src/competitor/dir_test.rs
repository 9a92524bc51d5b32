//! `dir-test`: an attribute that generates one test per file and includes its text.

use super::Competitor;
use crate::layout::{Cases, Layout};
use crate::source_copy::SourceCopy;

pub(super) struct DirTest;

impl Competitor for DirTest {
    fn name(&self) -> &'static str {
        "dir-test"
    }

    fn dependencies(&self, _source: &SourceCopy) -> String {
        "[dev-dependencies]\ndir-test = \"=0.4.1\"\n".to_owned()
    }

    fn test_source(&self, cases: Cases) -> String {
        let glob = match cases.layout {
            Layout::Cases => "*/cases/*/case.yaml",
            Layout::Tasks => "*/tasks/**/*.json",
        };
        format!(
            "use dir_test::{{Fixture, dir_test}};\n\n#[dir_test(dir: \"$CARGO_MANIFEST_DIR/suites\", glob: \"{glob}\")]\nfn \
             check(case: Fixture<&str>) {{\n    assert!(!case.content().is_empty());\n}}\n"
        )
    }
}
