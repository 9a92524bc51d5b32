//! Descriptions of the suites in test programs, for `cargo evalsuite run`: only the programs know the paths of their tests.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::entry::run_error::{RunError, RunErrorKind};
use crate::model::suite::EvalSuite;
use crate::model::suite_location::program;
use crate::platform::digest::{file_key, sha256};
use crate::platform::files::replace_json;
use crate::platform::redaction::Redactor;

/// Environment variable with a directory for descriptions of suites.
///
/// While it is set, each test `suite_check` writes one JSON file with a [`SuiteDescription`] into the directory, and the other
/// generated tests do nothing.
pub const DESCRIBE_VARIABLE: &str = "EVALSUITE_DESCRIBE";

/// A suite in a test program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SuiteDescription {
    /// Name of the suite.
    pub suite: String,
    /// Path of its test `suite_check`.
    pub check: String,
    /// The file that defines it, else its directory, relative to the workspace root.
    pub file: String,
    /// The tests of its cases, in order.
    pub tests: Vec<TestDescription>,
}

impl SuiteDescription {
    /// A suite with its name, the path of its test `suite_check`, and the tests of its cases, without its file.
    pub fn new(suite: impl Into<String>, check: impl Into<String>, tests: Vec<TestDescription>) -> Self {
        Self { suite: suite.into(), check: check.into(), file: String::new(), tests }
    }
}

/// The test of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TestDescription {
    /// Path of the test, as `cargo test` lists it.
    pub test: String,
    /// Id of the case.
    pub case_id: String,
    /// Tags of the case.
    pub tags: Vec<String>,
    /// `failure_bucket` of the case's metadata.
    pub bucket: Option<String>,
}

impl TestDescription {
    /// A test with its path and the id of its case, without tags and bucket.
    pub fn new(test: impl Into<String>, case_id: impl Into<String>) -> Self {
        Self { test: test.into(), case_id: case_id.into(), tags: Vec::new(), bucket: None }
    }
}

/// Whether the generated tests have to describe their suite instead of testing.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(DESCRIBE_VARIABLE).is_some_and(|directory| !directory.is_empty())
}

/// Writes the description of a suite into the directory that the variable names.
///
/// # Errors
///
/// If a case cannot be decoded, or the file cannot be written.
pub(crate) fn write(suite: &EvalSuite) -> Result<(), RunError> {
    let Some(directory) = std::env::var_os(DESCRIBE_VARIABLE) else { return Ok(()) };
    let tests: Result<Vec<TestDescription>, RunError> = suite
        .cases
        .iter()
        .map(|entry| {
            let undecodable = |error| {
                RunError::new(RunErrorKind::Suite, format!("case `{}` cannot be decoded", entry.id)).with_source(error)
            };
            let case = entry.decode().map_err::<RunError, _>(undecodable)?;
            Ok(TestDescription {
                test: suite.test_path(entry),
                case_id: entry.id.to_owned(),
                tags: entry.tags.iter().map(|tag| (*tag).to_owned()).collect(),
                bucket: case.metadata.get("failure_bucket").and_then(|bucket| bucket.as_str()).map(str::to_owned),
            })
        })
        .collect();
    let module = suite.module_path.split_once("::").map(|(_crate_name, module)| format!("{module}::"));
    let check = format!("{}suite_check", module.unwrap_or_default());
    let undecodable =
        |error| RunError::new(RunErrorKind::Suite, format!("`{}` cannot be decoded", suite.name)).with_source(error);
    let file = suite.decode().map_err::<RunError, _>(undecodable)?.location.file;
    let description = SuiteDescription { file, ..SuiteDescription::new(suite.name, check, tests?) };
    let inclusion = sha256(format!("{}\0{}", program(), suite.module_path));
    let file = Path::new(&directory).join(format!("{}-{}.json", file_key(suite.name), &inclusion[..16]));
    replace_json(&file, &description, &Redactor::default())
        .map_err(|error| RunError::records(format!("{} cannot be written", file.display())).with_source(error))
}
