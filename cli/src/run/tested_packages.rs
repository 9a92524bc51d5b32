//! The packages whose tests are built.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use crate::arguments::Build;
use crate::platform::cargo_process::{Packages, metadata, packages};
use crate::platform::cli_error::{CliError, Result};

/// Names of the packages that are evalsuite, also under another name.
const EVALSUITE: [&str; 2] = ["evalsuite", "evalsuite-dynamic"];

/// The directories of the packages of a workspace that `cargo test` in `directory` builds.
pub(super) fn tested(workspace: &Packages, build: &Build, directory: &Path) -> Vec<PathBuf> {
    let named = workspace.iter().filter(|(_, package)| build.packages.iter().any(|name| package["name"] == **name));
    let named: Vec<PathBuf> = named.map(|(directory, _)| directory.clone()).collect();
    let around = directory.ancestors().find(|directory| workspace.contains_key(*directory));
    match (around, named.is_empty()) {
        (_, false) => named,
        (Some(package), true) if !build.workspace => vec![package.to_owned()],
        _ => workspace.keys().cloned().collect(),
    }
}

/// A feature of evalsuite, as cargo calls it in the tested packages.
pub(crate) fn evalsuite_feature(build: &Build, feature: &str) -> Result<Vec<String>> {
    let workspace = packages(&metadata(Path::new("."))?);
    let mut features = BTreeSet::new();
    for directory in tested(&workspace, build, &env::current_dir()?) {
        for dependency in workspace[&directory]["dependencies"].as_array().into_iter().flatten() {
            let Some(package) = dependency["name"].as_str().filter(|name| EVALSUITE.contains(name)) else { continue };
            features.insert(format!("{}/{feature}", dependency["rename"].as_str().unwrap_or(package)));
        }
    }
    if features.is_empty() {
        return Err(CliError::with_help("no tested package depends on evalsuite", "`cargo add --dev evalsuite`"));
    }
    Ok(features.into_iter().collect())
}
