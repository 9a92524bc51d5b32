//! Suites that were loaded while the program runs, in the form of suites that were compiled into it.

use std::path::Path;

use evalsuite_schema::json::to_string;
use evalsuite_schema::{Calibration, Case, Suite};

use crate::model::suite::{CompiledJson, EvalCase, EvalSuite};

/// The suite and its cases as if they were compiled into this program. They stay in memory until the process ends.
pub(crate) fn loaded_suite(
    suite: Suite,
    cases: Vec<Case>,
    calibration: Option<&Calibration>,
    package_root: &Path,
) -> serde_json::Result<&'static EvalSuite> {
    let json = CompiledJson::Text(to_string(&suite)?.leak());
    let calibration = calibration.map(to_string).transpose()?.map(|text| &*text.leak());
    let cases: Vec<EvalCase> = cases.into_iter().map(loaded_case).collect::<Result<_, _>>()?;
    Ok(Box::leak(Box::new(EvalSuite {
        name: suite.name.leak(),
        agent_name: None,
        module_path: "",
        package: "",
        package_version: "",
        manifest_dir: package_root.display().to_string().leak(),
        root: suite.root.leak(),
        json,
        sources: &[],
        embedded: None,
        origin: None,
        diagnostics: &[],
        calibration,
        cases: cases.leak(),
    })))
}

fn loaded_case(case: Case) -> serde_json::Result<EvalCase> {
    let json = CompiledJson::Text(to_string(&case)?.leak());
    let id: &'static str = case.id.leak();
    let tags: Vec<&'static str> = case.tags.into_iter().map(|tag| &*tag.leak()).collect();
    let file = case.location.file.leak();
    Ok(EvalCase {
        id,
        test_name: id,
        file,
        line: case.location.line,
        column: case.location.column,
        source: "",
        target: None,
        tags: tags.leak(),
        json,
    })
}
