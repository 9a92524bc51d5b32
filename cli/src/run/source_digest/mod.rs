//! A digest of everything that an agent in Rust is made of: it is used as the version of the agent where the user does not name one.
//!
//! It consists of what cargo and rustc say that the tests are built from, and of the files that the agent may read when it runs: those
//! that the package names, else all files of the package.

mod parts;
#[cfg(all(test, unix))]
mod random_edits;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use evalsuite::tooling::SuiteDescription;
use evalsuite_schema::Value;

use self::parts::{Parts, canonical};
use crate::arguments::Build;
use crate::platform::cargo_process::{self, Packages, packages};
use crate::platform::exit_status::{ErrorContext, Result};
use crate::run::cargo_commands::tested;

pub(crate) use self::parts::dep_info;

/// Variables with which a build differs although no file does.
const OF_BUILD: [&str; 5] =
    ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_BOOTSTRAP"];

/// Where files of the agent are, and which files are not the agent's.
struct Scope<'a> {
    /// Where cargo is called.
    directory: &'a Path,
    /// The directory of the workspace.
    root: &'a Path,
    target: PathBuf,
    output: PathBuf,
    /// The files that describe cases, which have digests of their own, and the directories that belong to one case each.
    of_cases: BTreeSet<PathBuf>,
}

impl Scope<'_> {
    fn is_of_case(&self, path: &Path) -> bool {
        canonical(path).ancestors().any(|path| self.of_cases.contains(path))
    }
}

/// SHA-256 over what the tests are built from, the files that they may read, their suites, and the compiler.
pub(super) fn source_digest(
    directory: &Path,
    build: &Build,
    suites: &[SuiteDescription],
    output: &Path,
) -> Result<String> {
    let metadata = cargo_process::metadata(directory)?;
    let root = Path::new(metadata["workspace_root"].as_str().unwrap_or_default());
    let target = Path::new(metadata["target_directory"].as_str().unwrap_or_default());
    let of_cases = suites
        .iter()
        .flat_map(|suite| suite.files.iter().map(|file| root.join(file)).chain(suite.case_directories.clone()));
    let of_cases = of_cases.map(|path| canonical(&path)).collect();
    let scope = Scope { directory, root, target: canonical(target), output: canonical(output), of_cases };
    let mut parts = Parts::new(root);
    parts.add_place(target, "{target}".to_owned());
    parts::add(&mut parts, &scope, build)?;
    for (directory, package) in local_packages(&metadata, build, directory)? {
        parts::add_package(&mut parts, &scope, &directory, &package)?;
    }
    for suite in suites {
        parts::add_directory(&mut parts, &scope, &suite.directory)?;
    }
    add_settings(&mut parts, &scope)?;
    Ok(parts.digest())
}

/// The lock file, the settings of cargo, and the compiler.
fn add_settings(parts: &mut Parts, scope: &Scope<'_>) -> Result<()> {
    let within = scope.directory.ancestors().take_while(|directory| directory.starts_with(scope.root));
    let of_cargo =
        within.flat_map(|directory| ["config.toml", "config"].map(|file| directory.join(".cargo").join(file)));
    for file in of_cargo.chain(["Cargo.lock", "Cargo.toml"].map(|file| scope.root.join(file))) {
        if file.is_file() {
            parts.add_file(&file)?;
        }
    }
    for (name, value) in env::vars_os() {
        let name = name.to_string_lossy();
        let of_target = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUSTFLAGS");
        if OF_BUILD.contains(&&*name) || name.starts_with("CARGO_PROFILE_") || of_target {
            parts.add_text(format!("variable {name}"), &value.to_string_lossy());
        }
    }
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.arg("-vV").current_dir(scope.directory);
    let version = rustc.output().of(&rustc)?;
    parts.add_text("rustc", &String::from_utf8_lossy(&version.stdout));
    Ok(())
}

/// The directories of the packages that are tested from `directory`, and of the local ones that they depend on.
fn local_packages(metadata: &Value, build: &Build, directory: &Path) -> Result<Packages> {
    let mut known = packages(metadata);
    let mut pending = tested(&known, build, directory);
    let mut found = BTreeMap::new();
    while let Some(directory) = pending.pop() {
        if found.contains_key(&directory) {
            continue;
        }
        if !known.contains_key(&directory) {
            known.extend(packages(&cargo_process::metadata(&directory)?));
        }
        let package = known.get(&directory).cloned().unwrap_or_default();
        let dependencies = package["dependencies"].as_array();
        let paths = dependencies.into_iter().flatten().filter_map(|dependency| dependency["path"].as_str());
        pending.extend(paths.map(PathBuf::from));
        found.insert(directory, package);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A workspace with two members, one of which depends on a package outside, and all on a package that no registry has.
    #[test]
    fn local_packages_are_found_without_any_other_package() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let nowhere = "[target.'cfg(windows)'.dependencies]\nno-such-package-in-any-registry = \"9\"\n";
        let write = |path: &str, name: &str, dependencies: &str| {
            let package = root.join(path);
            fs::create_dir_all(package.join("src")).unwrap();
            fs::write(package.join("src/lib.rs"), "").unwrap();
            let manifest =
                format!("[package]\nname = \"{name}\"\nedition = \"2021\"\n[dependencies]\n{dependencies}\n{nowhere}");
            fs::write(package.join("Cargo.toml"), manifest).unwrap();
        };
        fs::create_dir_all(root.join("ws")).unwrap();
        fs::write(root.join("ws/Cargo.toml"), "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n").unwrap();
        write("ws/a", "a", "outside = { path = \"../../outside\" }");
        write("ws/b", "b", "");
        write("outside", "outside", "");
        let found = |from: &str, packages: &[&str], workspace: bool| {
            let from = root.join(from);
            let metadata = cargo_process::metadata(&from).unwrap();
            let packages = packages.iter().map(|&name| name.to_owned()).collect();
            let build = Build { packages, workspace, ..Build::default() };
            let found = local_packages(&metadata, &build, &from).unwrap();
            found.keys().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("ws/b/src", &[], false), ["ws/b"]);
        assert_eq!(found("ws/a", &[], false), ["outside", "ws/a"]);
        assert_eq!(found("ws/b", &["a"], false), ["outside", "ws/a"]);
        assert_eq!(found("ws/b", &[], true), ["outside", "ws/a", "ws/b"]);
        assert_eq!(found("ws", &[], false), ["outside", "ws/a", "ws/b"]);
    }
}
