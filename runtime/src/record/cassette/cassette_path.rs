//! Paths of cassettes.

use std::path::{Path, PathBuf};

use crate::model::suite::EvalSuite;
use crate::model::suite_location::{SuiteLocation, package_directory};
use crate::platform::digest::file_key;
use crate::platform::setting_error::SettingError;
use crate::record::run_directory::layout::trial_directory_name;

/// The file of a trial's cassette.
///
/// # Errors
///
/// If it would be in the suite or another directory in which every new file causes a rebuild.
pub(crate) fn cassette_path(
    suite: &EvalSuite,
    case_key: &str,
    index: u32,
    cassettes: Option<&Path>,
    location: &SuiteLocation,
) -> Result<PathBuf, SettingError> {
    let root = match cassettes {
        Some(directory) => std::path::absolute(directory).map_err(|error| {
            format!("EVALSUITE_CASSETTES is {}, which is not a valid path: {error}", directory.display())
        })?,
        None => package_directory(suite).join(".evalsuite").join("cassettes"),
    };
    if let Some(tracked) = location.rebuild_trigger_around(&root) {
        return Err(format!(
            "the directory of cassettes {} is in {tracked}; set EVALSUITE_CASSETTES to another directory",
            root.display()
        )
        .into());
    }
    Ok(root.join(file_key(suite.name)).join(case_key).join(format!("{}.json", trial_directory_name(index, 0))))
}
