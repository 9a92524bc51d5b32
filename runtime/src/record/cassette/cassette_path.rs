//! Paths of cassettes.

use std::path::{Path, PathBuf};

use evalsuite_records::record::{Reason, ReasonCode, Stage};

use crate::model::suite::EvalSuite;
use crate::model::suite_location::{SuiteLocation, package_directory};
use crate::platform::digest::file_key;
use crate::record::run_directory::layout::trial_directory_name;

/// The file of a trial's cassette.
pub(crate) fn cassette_path(
    suite: &EvalSuite,
    case_key: &str,
    index: u32,
    cassettes: Option<&Path>,
    location: &SuiteLocation,
) -> Result<PathBuf, Reason> {
    let file = Path::new(&file_key(suite.name)).join(case_key).join(format!("{}.json", trial_directory_name(index, 0)));
    Ok(cassette_directory(&package_directory(suite), cassettes, location)?.join(file))
}

/// The directory of all cassettes: the one that is named, else that of the package.
pub(crate) fn cassette_directory(
    package: &Path,
    named: Option<&Path>,
    location: &SuiteLocation,
) -> Result<PathBuf, Reason> {
    let invalid = |message: String| Reason::new(Stage::Setup, ReasonCode::InvalidSetting, message);
    let root = match named {
        Some(directory) => std::path::absolute(directory).map_err(|error| {
            invalid(format!("EVALSUITE_CASSETTES is {}, which is not a valid path: {error}", directory.display()))
        })?,
        None => package.join(".evalsuite").join("cassettes"),
    };
    match location.rebuild_trigger_around(&root) {
        Some(tracked) => Err(invalid(format!(
            "the directory of cassettes {} is in {tracked}; set EVALSUITE_CASSETTES to another directory",
            root.display()
        ))),
        None => Ok(root),
    }
}
