//! Where recordings lie.

use std::path::{Path, PathBuf};

use crate::{
    model::{suite::EvalSuite, suite_location::SuiteLocation},
    platform::digest::file_key,
};

/// The file of a trial's recording.
///
/// # Errors
///
/// If it would lie in the suite, where every new file would cause a rebuild.
pub(crate) fn cassette_path(
    suite: &EvalSuite,
    case_key: &str,
    index: u32,
    cassettes: Option<&Path>,
    places: &SuiteLocation,
) -> Result<PathBuf, String> {
    let root = match cassettes {
        Some(directory) => std::path::absolute(directory)
            .map_err(|error| format!("EVALSUITE_CASSETTES is {}, which is no place: {error}", directory.display()))?,
        None => home(suite).join(".evalsuite").join("cassettes"),
    };
    if let Some(watched) = places.rebuild_trigger_around(&root) {
        return Err(format!(
            "the recordings' directory {} lies in {watched}; set EVALSUITE_CASSETTES to another one",
            root.display()
        ));
    }
    Ok(root.join(file_key(suite.name)).join(case_key).join(format!("trial-{index:03}.json")))
}

/// Directory of the package, also where the suite's files are not: recordings are kept with its sources.
fn home(suite: &EvalSuite) -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .filter(|directory| directory.is_dir())
        .unwrap_or_else(|| PathBuf::from(suite.manifest_dir))
}
