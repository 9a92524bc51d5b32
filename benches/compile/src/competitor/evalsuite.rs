//! evalsuite itself, built from this workspace, with the build script from its documentation.

use std::fmt::Write as _;

use super::Competitor;
use crate::layout::Cases;
use crate::source_copy::SourceCopy;

pub(super) struct EvalSuite;

impl Competitor for EvalSuite {
    fn name(&self) -> &'static str {
        "evalsuite"
    }

    fn dependencies(&self, source: &SourceCopy) -> String {
        let source = source.dependency();
        format!(
            "[dev-dependencies]\nevalsuite = {{ {source}, features = [\"unicode-patterns\"] }}\n\n[build-dependencies]\nevalsuite-build = {{ {source} }}\n"
        )
    }

    fn build_script(&self) -> Option<&'static str> {
        Some("fn main() {\n    evalsuite_build::track(\"suites\");\n}\n")
    }

    fn test_source(&self, cases: Cases) -> String {
        let mut source = String::from(
            "use evalsuite::{Trial, include_eval_suite};\n\nasync fn agent(trial: &mut Trial<'_>) -> Result<String, \
             std::convert::Infallible> {\n    Ok(trial.prompt().to_string())\n}\n",
        );
        for suite in cases.suites() {
            let _ = write!(source, "\ninclude_eval_suite!(\"suites/{suite}\", agent = agent);\n");
        }
        source
    }

    /// One `suite_check` per suite.
    fn additional_tests(&self, cases: Cases) -> usize {
        cases.suites().len()
    }

    fn test_name(&self, cases: Cases, case: usize) -> Option<String> {
        Some(cases.test_path(case).name())
    }
}
