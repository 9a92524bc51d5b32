//! The parts of a digest, by names that are the same on another machine: what cargo and rustc built the tests from (the files and variables
//! in their dep-info, what build scripts printed and wrote, features and profiles), and the files of a package that an agent may read when
//! it runs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use evalsuite_records::digest::sha256_of_source;
use evalsuite_schema::Value;
use evalsuite_schema::digest::hexadecimal;
use evalsuite_schema::discovery::with_slashes;
use evalsuite_schema::json::from_str;
use hmac_sha256::Hash;
use walkdir::{DirEntry, WalkDir};

use super::Scope;
use crate::arguments::Build;
use crate::platform::exit_status::{CliError, ErrorContext, Result};
use crate::run::cargo_commands::cargo_test;
use crate::run::chosen_tests::failed;

#[cfg(unix)]
use std::os::unix::fs::MetadataExt;

pub(super) struct Parts {
    /// The directory of the workspace, without links.
    root: PathBuf,
    /// Directories of this machine, longest first, and what is written in their place.
    places: Vec<(PathBuf, String)>,
    parts: BTreeSet<(String, String)>,
}

impl Parts {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: canonical(root),
            places: vec![(root.to_owned(), "{workspace}".to_owned())],
            parts: BTreeSet::new(),
        }
    }

    /// A directory whose path differs between machines.
    pub(super) fn add_place(&mut self, directory: &Path, name: String) {
        self.places.push((directory.to_owned(), name));
        self.places.sort_by_key(|(directory, _)| std::cmp::Reverse(directory.as_os_str().len()));
    }

    /// A text without directories of this machine.
    pub(super) fn add_text(&mut self, name: impl Into<String>, text: &str) {
        let mut text = text.to_owned();
        for (directory, name) in &self.places {
            text = text.replace(&*directory.to_string_lossy(), name);
        }
        self.parts.insert((name.into(), text));
    }

    /// A file as a compiler reads it. One that is not there is a part, too.
    pub(super) fn add_built(&mut self, path: &Path) -> Result<()> {
        let digest = match fs::read(path) {
            Ok(bytes) => hexadecimal(Hash::hash(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "missing".to_owned(),
            Err(error) => return Err(error).at(path),
        };
        self.parts.insert((format!("built {}", self.name(path)), digest));
        Ok(())
    }

    /// A file that a program may read. Another checkout, with other line breaks, has the same digest.
    pub(super) fn add_file(&mut self, path: &Path) -> Result<()> {
        let digest = File::open(path).and_then(sha256_of_source).at(path)?;
        self.parts.insert((self.name(path), digest));
        Ok(())
    }

    pub(super) fn digest(&self) -> String {
        let mut all = Hash::new();
        for (name, digest) in &self.parts {
            all.update(format!("{name}\0{digest}\n"));
        }
        hexadecimal(all.finalize())
    }

    /// The path relative to the workspace, or to one of the places.
    fn name(&self, path: &Path) -> String {
        let place = self.places.iter().find_map(|(directory, name)| Some((path.strip_prefix(directory).ok()?, name)));
        match place {
            Some((rest, name)) if *name != "{workspace}" => format!("{name}/{}", with_slashes(rest)),
            _ => with_slashes(&relative(&self.root, &canonical(path))),
        }
    }
}

/// A path without links, as far as it exists.
pub(super) fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => canonical(parent).join(name),
        _ => path.to_owned(),
    })
}

/// The path from a directory, also with `..`.
fn relative(directory: &Path, path: &Path) -> PathBuf {
    let (mut from, mut to) = (directory.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    from.map(|_| Component::ParentDir).chain(to).collect()
}

/// Directory in `OUT_DIR` with the code of suites and what is known of them, which `evalsuite-build` and the macro write.
const OF_SUITES: &str = "evalsuite";

/// What cargo says about the built tests, one message for each unit.
fn messages(directory: &Path, build: &Build) -> Result<Vec<Value>> {
    let mut tests = cargo_test(build);
    tests.args(["--no-run", "--quiet", "--message-format=json"]).current_dir(directory).stdin(Stdio::null());
    let output = tests.output().of(&tests)?;
    if !output.status.success() {
        return Err(failed(&output)?);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter(|line| line.starts_with('{')).filter_map(|line| from_str(line).ok()).collect())
}

pub(super) fn add(parts: &mut Parts, scope: &Scope<'_>, build: &Build) -> Result<()> {
    let messages = messages(scope.directory, build)?;
    let of = |reason: &'static str| messages.iter().filter(move |message| message["reason"] == reason);
    // Before texts that contain their directories.
    for script in of("build-script-executed") {
        if let Some(directory) = script["out_dir"].as_str() {
            parts.add_place(Path::new(directory), format!("{{out of {}}}", package(script)));
        }
    }
    for script in of("build-script-executed").filter(|script| is_local(script)) {
        let name = format!("build script of {}", package(script));
        for what in ["env", "cfgs", "linked_libs", "linked_paths"] {
            parts.add_text(format!("{name}: {what}"), &script[what].to_string());
        }
        if let Some(directory) = script["out_dir"].as_str() {
            add_outputs(parts, Path::new(directory))?;
        }
    }
    for unit in of("compiler-artifact") {
        let target = &unit["target"];
        let kind = format!("{} {} {}", package(unit), target["kind"], target["name"]);
        parts.add_text(format!("unit {kind}"), &format!("{} {}", unit["features"], unit["profile"]));
        if is_local(unit) {
            let dep_info = dep_info(unit).ok_or_else(|| {
                let message = format!("cargo has not written which files {kind} is built from");
                CliError::with_help(message, "`cargo clean`, or set EVALSUITE_AGENT_DIGEST to the version of the agent")
            })?;
            add_dep_info(parts, scope, &dep_info, unit)?;
        }
    }
    Ok(())
}

fn is_local(message: &Value) -> bool {
    message["package_id"].as_str().is_some_and(|id| id.contains("path+file://"))
}

/// The package of a message: its name and version. The id of a local one contains its directory, and its name only where the directory
/// has another one.
fn package(message: &Value) -> String {
    let id = message["package_id"].as_str().unwrap_or_default();
    match id.rsplit_once('#').filter(|_| is_local(message)) {
        Some((_, named)) if named.contains('@') => named.to_owned(),
        Some((path, version)) => format!("{}@{version}", path.rsplit('/').next().unwrap_or_default()),
        None => id.to_owned(),
    }
}

/// Everything that a build script wrote, but not the code of suites.
fn add_outputs(parts: &mut Parts, directory: &Path) -> Result<()> {
    let is_of_suite = |path: &Path| path.strip_prefix(directory).is_ok_and(|path| path == Path::new(OF_SUITES));
    for entry in WalkDir::new(directory).into_iter().filter_entry(|entry| !is_of_suite(entry.path())) {
        let entry = entry?;
        if !entry.file_type().is_dir() {
            parts.add_built(entry.path())?;
        }
    }
    Ok(())
}

/// The dep-info that rustc wrote for a unit, beside its result.
pub(crate) fn dep_info(unit: &Value) -> Option<PathBuf> {
    let files = unit["filenames"].as_array()?.iter().filter_map(|file| Some(PathBuf::from(file.as_str()?)));
    let files: Vec<PathBuf> = files.collect();
    // A library that is also a `cdylib` has no hash in its name.
    let is_in_deps = |file: &Path| file.parent().is_some_and(|directory| directory.ends_with("deps"));
    let of_rustc = files.iter().filter(|file| has_hash(file) || is_in_deps(file)).find_map(|file| {
        let name = file.file_stem()?.to_str()?;
        let names = [name, name.strip_prefix("lib").unwrap_or(name)];
        names.iter().map(|name| file.with_file_name(format!("{name}.d"))).find(|file| file.is_file())
    });
    // A program is a copy of what rustc wrote, and has no hash in its name.
    of_rustc.or_else(|| dep_info_of_copy(files.first()?, &unit["target"]["name"].as_str()?.replace('-', "_")))
}

/// Whether cargo named this file for one unit only.
fn has_hash(file: &Path) -> bool {
    let hash = file.file_stem().and_then(OsStr::to_str).and_then(|name| name.rsplit_once('-'));
    hash.is_some_and(|(_, hash)| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn dep_info_of_copy(copy: &Path, name: &str) -> Option<PathBuf> {
    let directory = copy.parent()?;
    let directories = [directory.to_owned(), directory.join("deps")];
    let files = directories.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
    let is_named = |file: &PathBuf| {
        let unit = file.file_stem().and_then(OsStr::to_str).and_then(|stem| stem.rsplit_once('-'));
        file.extension() == Some(OsStr::new("d"))
            && unit.is_some_and(|(unit, _)| unit.trim_start_matches("lib") == name)
    };
    let mut found: Vec<PathBuf> = files.map(|entry| entry.path()).filter(is_named).collect();
    if found.len() > 1 {
        // The same program with other features, or as a test.
        let bytes = fs::read(copy).ok()?;
        let extension = copy.extension().unwrap_or_default();
        found.retain(|file| fs::read(file.with_extension(extension)).is_ok_and(|original| original == bytes));
    }
    found.sort();
    found.pop()
}

/// The files and variables in a dep-info. Files of cases have digests of their own.
fn add_dep_info(parts: &mut Parts, scope: &Scope<'_>, dep_info: &Path, unit: &Value) -> Result<()> {
    let package = Path::new(unit["manifest_path"].as_str().unwrap_or_default()).parent().unwrap_or(scope.root);
    let text = fs::read_to_string(dep_info).at(dep_info)?;
    for variable in text.lines().filter_map(|line| line.strip_prefix("# env-dep:")) {
        parts.add_text("variable of the build", variable);
    }
    // Each file is also a rule of its own, without sources.
    for file in text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.strip_suffix(':')) {
        let file = file.replace("\\ ", " ");
        // Rustc runs in the directory of the workspace, or in that of a package outside.
        let path = match scope.root.join(&file) {
            path if path.exists() => path,
            _ => package.join(&file),
        };
        if is_code_of_suite(&path) || scope.is_of_case(&path) {
            continue;
        }
        parts.add_built(&path)?;
        if let Some(built) = unnoticed_change(&path, dep_info) {
            parts.add_text(format!("{} as of the build of {built}", path.display()), "");
        }
    }
    Ok(())
}

/// When a unit was built, if a file of it has changed since, which cargo did not notice: a link that now leads to an older file, or a file
/// that was replaced with an older one. The program is then not built from what the file contains.
#[cfg(unix)]
fn unnoticed_change(file: &Path, dep_info: &Path) -> Option<String> {
    let built = fs::metadata(dep_info).ok()?;
    let built = (built.mtime(), built.mtime_nsec());
    let changes = [fs::symlink_metadata(file), fs::metadata(file)];
    let is_newer = changes.iter().flatten().any(|file| (file.ctime(), file.ctime_nsec()) > built);
    is_newer.then(|| format!("{}.{:09}", built.0, built.1))
}

#[cfg(not(unix))]
fn unnoticed_change(_: &Path, _: &Path) -> Option<String> {
    None
}

/// Whether a file is in the `evalsuite` of an `OUT_DIR`.
fn is_code_of_suite(path: &Path) -> bool {
    path.ancestors().any(|directory| directory.ends_with(Path::new("out").join(OF_SUITES)))
}

/// The files in `.evalsuite` of a package that say how agents and judges are called.
const TARGETS: [&str; 2] = [".evalsuite/targets.yaml", ".evalsuite/targets.yml"];

/// The key with the files that the agent reads when it runs.
const KEY: &str = "agent-files";

/// The files that a package names, else all of them, and its manifest and targets.
pub(super) fn add_package(parts: &mut Parts, scope: &Scope<'_>, directory: &Path, package: &Value) -> Result<()> {
    for file in TARGETS.iter().chain(&["Cargo.toml"]).map(|file| directory.join(file)).filter(|file| file.is_file()) {
        parts.add_file(&file)?;
    }
    let named = &package["metadata"]["evalsuite"][KEY];
    if named.is_null() {
        return add_directory(parts, scope, directory);
    }
    let place = || format!("`[package.metadata.evalsuite]` in {}", directory.join("Cargo.toml").display());
    let help =
        format!("`{KEY} = [\"prompts\"]`: files and directories of the package that the agent reads when it runs");
    let Some(named) = named.as_array() else {
        return Err(CliError::with_help(format!("`{KEY}` is not a list, {}", place()), help));
    };
    for path in named {
        let Some(name) = path.as_str() else {
            return Err(CliError::with_help(format!("`{path}` in `{KEY}` is not a path, {}", place()), help));
        };
        match directory.join(name) {
            path if path.is_dir() => add_tree(parts, scope, &path, |_| false)?,
            path if path.is_file() => parts.add_file(&path)?,
            _ => return Err(CliError::with_help(format!("`{name}` in `{KEY}` does not exist, {}", place()), help)),
        }
    }
    Ok(())
}

/// All files of a directory, except those of other packages and in hidden directories, which belong to version control and editors.
pub(super) fn add_directory(parts: &mut Parts, scope: &Scope<'_>, directory: &Path) -> Result<()> {
    add_tree(parts, scope, directory, |entry| {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        entry.file_type().is_dir() && (is_hidden || entry.path().join("Cargo.toml").is_file())
    })
}

fn add_tree(
    parts: &mut Parts,
    scope: &Scope<'_>,
    directory: &Path,
    is_left_out: impl Fn(&DirEntry) -> bool,
) -> Result<()> {
    let is_other = |entry: &DirEntry| {
        let path = canonical(entry.path());
        path == scope.target || path == scope.output || scope.of_cases.contains(&path) || is_left_out(entry)
    };
    let walk = WalkDir::new(directory).follow_links(true).into_iter();
    for entry in walk.filter_entry(|entry| entry.depth() == 0 || !is_other(entry)) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => parts.add_file(entry.path())?,
            Ok(_) => {}
            // A link that leads nowhere, or to a directory that contains it.
            Err(error) if error.path().is_some_and(Path::is_symlink) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dep_info_of_a_library_for_c_is_not_that_of_its_tests() {
        let target = tempfile::tempdir().unwrap();
        let deps = target.path().join("debug/deps");
        fs::create_dir_all(&deps).unwrap();
        let write = |name: &str| fs::write(deps.join(name), "").unwrap();
        let unit = evalsuite_schema::json::json!({"filenames": [deps.join("libshop.rlib").to_str()], "target": {"name": "shop"}});
        ["shop.d", "shop-0123456789abcdef.d"].into_iter().for_each(write);
        assert_eq!(dep_info(&unit), Some(deps.join("shop.d")));
    }

    #[test]
    fn a_checkout_with_other_line_breaks_has_the_same_digest() {
        let root = tempfile::tempdir().unwrap();
        let digest = |text: &str| {
            let file = root.path().join("notes");
            fs::write(&file, text).unwrap();
            let mut parts = Parts::new(root.path());
            parts.add_file(&file).unwrap();
            parts.digest()
        };
        assert_eq!(digest("a\nb\n"), digest("a\r\nb\r\n"));
        assert_ne!(digest("a\n"), digest("b\n"));
    }

    #[test]
    fn names_are_the_same_in_another_directory() {
        let digest = |root: &Path| {
            fs::create_dir_all(root.join("ws/target/out-1234")).unwrap();
            fs::write(root.join("shared"), "text").unwrap();
            fs::write(root.join("ws/target/out-1234/table"), "text").unwrap();
            let mut parts = Parts::new(&root.join("ws"));
            parts.add_place(&root.join("ws/target/out-1234"), "{out}".to_owned());
            parts.add_built(&root.join("shared")).unwrap();
            parts.add_built(&root.join("ws/target/out-1234/table")).unwrap();
            parts.add_text("variable", &root.join("ws/target/out-1234/x").to_string_lossy());
            parts.digest()
        };
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(digest(one.path()), digest(other.path()));
    }
}
