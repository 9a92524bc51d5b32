//! `datatest-stable`: a custom harness that finds the files when the tests run, so that nothing is built per case.

use super::Competitor;
use crate::layout::{Cases, Layout};
use crate::source_copy::SourceCopy;

pub(super) struct DatatestStable;

impl Competitor for DatatestStable {
    fn name(&self) -> &'static str {
        "datatest-stable"
    }

    fn dependencies(&self, _source: &SourceCopy) -> String {
        "[dev-dependencies]\ndatatest-stable = \"=0.3.3\"\n".to_owned()
    }

    fn test_source(&self, cases: Cases) -> String {
        let pattern = match cases.layout {
            Layout::Cases => r"/case\.yaml$",
            Layout::Tasks => r"/tasks/.*\.json$",
        };
        format!(
            "use std::path::Path;\n\nfn check(_path: &Path, content: String) -> datatest_stable::Result<()> {{\n    \
             assert!(!content.is_empty());\n    Ok(())\n}}\n\ndatatest_stable::harness! {{\n    {{ test = check, root = \
             \"suites\", pattern = r\"{pattern}\" }},\n}}\n"
        )
    }

    fn harness(&self) -> bool {
        false
    }

    fn test_name(&self, cases: Cases, case: usize) -> Option<String> {
        let path = cases.file(case);
        let below_root = path.components().skip(1).map(|part| part.as_os_str().to_string_lossy());
        Some(format!("check::{}", below_root.collect::<Vec<_>>().join("/")))
    }
}
