//! A digest of everything that an agent in Rust is made of: it is used as the version of the agent where the user does not name one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite::tooling::SuiteDescription;
use evalsuite_schema::digest::hexadecimal;
use hmac_sha256::Hash;
use serde_json::Value;
use walkdir::{DirEntry, WalkDir};

use crate::cargo_process;
use crate::command_line::Run;

/// The one file in `.evalsuite` of a package that says how agents and judges are called.
const TARGETS: [&str; 2] = [".evalsuite/targets.yaml", ".evalsuite/targets.yml"];

/// SHA-256 over the local packages that the tests are built from, their suites, and the lock file. Left out are the files that describe
/// cases, which have digests of their own, hidden files, cargo's output, and records.
///
/// # Errors
///
/// If cargo does not know the packages, or a file cannot be read.
pub(super) fn source_digest(command: &Run, suites: &[SuiteDescription], output: &Path) -> io::Result<String> {
    let metadata = cargo_process::metadata(Path::new("."), &[])?;
    let root = Path::new(metadata["workspace_root"].as_str().unwrap_or_default());
    let target = Path::new(metadata["target_directory"].as_str().unwrap_or_default());
    let of_cases: BTreeSet<PathBuf> = suites
        .iter()
        .flat_map(|suite| suite.files.iter().map(|file| root.join(file)).chain(suite.case_directories.iter().cloned()))
        .collect();
    let mut directories = local_packages(&metadata, command);
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

/// Paths relative to the workspace: another checkout has the same digest.
fn add(files: &mut BTreeMap<String, String>, root: &Path, path: &Path) -> io::Result<()> {
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    files.insert(name, hexadecimal(Hash::hash(&fs::read(path)?)));
    Ok(())
}

/// The directories of the packages that are tested, and of the local ones that they depend on.
fn local_packages(metadata: &Value, command: &Run) -> BTreeSet<PathBuf> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let id_of =
        |name: &String| packages.iter().find(|package| package["name"] == **name).map(|package| package["id"].clone());
    let named: Vec<Value> = command.build.packages.iter().filter_map(id_of).collect();
    let root = &metadata["resolve"]["root"];
    let mut pending = match (named.is_empty(), root.is_null() || command.build.workspace) {
        (false, _) => named,
        (true, true) => list(&metadata["workspace_members"]),
        (true, false) => vec![root.clone()],
    };
    let nodes = list(&metadata["resolve"]["nodes"]);
    let mut found = BTreeMap::new();
    while let Some(id) = pending.pop() {
        let Some(package) = packages.iter().find(|package| package["id"] == id && package["source"].is_null()) else {
            continue;
        };
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let directory = manifest.parent().unwrap_or(manifest).to_owned();
        if found.insert(id.to_string(), directory).is_none() {
            let node = nodes.iter().find(|node| node["id"] == id);
            pending.extend(node.map(|node| list(&node["dependencies"])).unwrap_or_default());
        }
    }
    found.into_values().collect()
}
