//! What a suite says about its tests, for `cargo evalsuite run`: which of them there are only the test programs know.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    model::{suite::EvalSuite, suite_location::program},
    platform::{
        digest::{file_key, sha256},
        files::replace_json,
        redaction::Redactor,
    },
};

/// Names the directory that suites describe themselves in. While it is set, the tests `suite_check` do that, and no other
/// generated test does anything.
pub const VARIABLE: &str = "EVALSUITE_DESCRIBE";

/// An inclusion of a suite in a test program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Name of the suite.
    pub suite: String,
    /// Path of the test that checks the suite.
    pub check: String,
    /// Its other tests, in order.
    pub tests: Vec<Described>,
}

/// A test of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// Path of the test, as it is listed.
    pub test: String,
    /// Id of the case.
    pub case_id: String,
    /// Labels of the suite.
    pub tags: Vec<String>,
    /// `failure_bucket` of the case's metadata.
    pub bucket: Option<String>,
}

/// Whether tests describe themselves in place of what they do otherwise.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|directory| !directory.is_empty())
}

/// Writes what the suite says of itself into the directory.
///
/// # Errors
///
/// If a case cannot be decoded, or the file not be written.
pub(crate) fn write(suite: &EvalSuite) -> Result<(), String> {
    let Some(directory) = std::env::var_os(VARIABLE) else { return Ok(()) };
    let tests: Result<Vec<Described>, String> = suite
        .cases
        .iter()
        .map(|entry| {
            let case = entry.decode().map_err(|error| format!("case `{}` cannot be decoded: {error}", entry.id))?;
            Ok(Described {
                test: suite.test_path(entry),
                case_id: entry.id.to_owned(),
                tags: entry.tags.iter().map(|tag| (*tag).to_owned()).collect(),
                bucket: case.metadata.get("failure_bucket").and_then(|bucket| bucket.as_str()).map(str::to_owned),
            })
        })
        .collect();
    let module = suite.module_path.split_once("::").map(|(_crate_name, module)| format!("{module}::"));
    let check = format!("{}suite_check", module.unwrap_or_default());
    let description = Description { suite: suite.name.to_owned(), check, tests: tests? };
    let inclusion = sha256(format!("{}\0{}", program(), suite.module_path));
    let file = Path::new(&directory).join(format!("{}-{}.json", file_key(suite.name), &inclusion[..16]));
    replace_json(&file, &description, &Redactor::default())
        .map_err(|error| format!("{} cannot be written: {error}", file.display()))
}
