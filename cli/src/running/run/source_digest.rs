//! A digest of everything that an agent in Rust is made of: it is used as the version of the agent where the user does not name one.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use evalsuite::tooling::SuiteDescription;
use evalsuite_discovery::with_slashes;
use evalsuite_records::digest::sha256_of_source;
use evalsuite_schema::Value;
use evalsuite_schema::digest::hexadecimal;
use hmac_sha256::Hash;
use walkdir::{DirEntry, WalkDir};

use crate::command_line::{Build, Run};
use crate::platform::cargo_process::{self, packages};
use crate::platform::cli_error::Result;
use crate::running::run::tested_packages::tested;

/// The one file in `.evalsuite` of a package that says how agents and judges are called.
const TARGETS: [&str; 2] = [".evalsuite/targets.yaml", ".evalsuite/targets.yml"];

/// SHA-256 over the local packages that the tests are built from, their suites, and the lock file. Left out are the files that describe
/// cases, which have digests of their own, hidden files, cargo's output, and records.
pub(super) fn source_digest(command: &Run, suites: &[SuiteDescription], output: &Path) -> Result<String> {
    let metadata = cargo_process::metadata(Path::new("."))?;
    let root = Path::new(metadata["workspace_root"].as_str().unwrap_or_default());
    let target = Path::new(metadata["target_directory"].as_str().unwrap_or_default());
    let of_cases: BTreeSet<PathBuf> = suites
        .iter()
        .flat_map(|suite| suite.files.iter().map(|file| root.join(file)).chain(suite.case_directories.iter().cloned()))
        .collect();
    let mut directories = local_packages(&metadata, &command.build, &env::current_dir()?)?;
    directories.extend(suites.iter().map(|suite| suite.directory.clone()));
    let mut files = BTreeMap::new();
    for directory in &directories {
        let is_left_out = |entry: &DirEntry| {
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_other_package = path.join("Cargo.toml").is_file();
            entry.depth() > 0
                && (is_hidden || is_other_package || path == target || path == output || of_cases.contains(path))
        };
        for entry in WalkDir::new(directory).into_iter().filter_entry(|entry| !is_left_out(entry)) {
            let entry = entry?;
            if entry.file_type().is_file() && entry.path().extension() != Some(OsStr::new("md")) {
                add(&mut files, root, entry.path())?;
            }
        }
        for file in TARGETS.map(|file| directory.join(file)).iter().filter(|file| file.is_file()) {
            add(&mut files, root, file)?;
        }
    }
    let lock = root.join("Cargo.lock");
    if lock.is_file() {
        add(&mut files, root, &lock)?;
    }
    let mut all = Hash::new();
    for (path, digest) in files {
        all.update(format!("{path}\0{digest}\n"));
    }
    Ok(hexadecimal(all.finalize()))
}

/// Paths relative to the workspace, and texts with any line breaks: another checkout has the same digest.
fn add(files: &mut BTreeMap<String, String>, root: &Path, path: &Path) -> Result<()> {
    let name = with_slashes(path.strip_prefix(root).unwrap_or(path));
    files.insert(name, sha256_of_source(File::open(path)?)?);
    Ok(())
}

/// The directories of the packages that are tested from `directory`, and of the local ones that they depend on.
fn local_packages(metadata: &Value, build: &Build, directory: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut known = packages(metadata);
    let mut pending = tested(&known, build, directory);
    let mut found = BTreeSet::new();
    while let Some(directory) = pending.pop() {
        if !found.insert(directory.clone()) {
            continue;
        }
        if !known.contains_key(&directory) {
            known.extend(packages(&cargo_process::metadata(&directory)?));
        }
        let dependencies = known.get(&directory).and_then(|package| package["dependencies"].as_array());
        let paths = dependencies.into_iter().flatten().filter_map(|dependency| dependency["path"].as_str());
        pending.extend(paths.map(PathBuf::from));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_checkout_with_other_line_breaks_has_the_same_digest() {
        let root = tempfile::tempdir().unwrap();
        let digests = |text: &str| {
            std::fs::create_dir_all(root.path().join("src")).unwrap();
            fs::write(root.path().join("src/lib.rs"), text).unwrap();
            let mut files = BTreeMap::new();
            add(&mut files, root.path(), &root.path().join("src/lib.rs")).unwrap();
            files
        };
        assert_eq!(digests("a\nb\n"), digests("a\r\nb\r\n"));
        assert!(digests("a\n").contains_key("src/lib.rs"));
        assert_ne!(digests("a\n"), digests("b\n"));
    }

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
            found.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("ws/b/src", &[], false), ["ws/b"]);
        assert_eq!(found("ws/a", &[], false), ["outside", "ws/a"]);
        assert_eq!(found("ws/b", &["a"], false), ["outside", "ws/a"]);
        assert_eq!(found("ws/b", &[], true), ["outside", "ws/a", "ws/b"]);
        assert_eq!(found("ws", &[], false), ["outside", "ws/a", "ws/b"]);
    }
}
