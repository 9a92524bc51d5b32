//! The cargo workspace around a package.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::Lines;

use super::spelling::normalize;

const MANIFEST: &str = "Cargo.toml";

/// Root of the cargo workspace around a directory: the nearest package at or above it decides which one, by the rules of
/// [`workspace_root`]. A directory that no package is around is the root itself.
pub fn workspace_around(directory: &Path) -> PathBuf {
    let package = directory.ancestors().find(|directory| directory.join(MANIFEST).is_file());
    package.map_or_else(|| directory.to_path_buf(), workspace_root)
}

/// Root of the workspace that a package belongs to, as cargo finds it: the directory that `package.workspace` names, or the nearest
/// one at or above the package whose manifest has a table `[workspace]` that does not exclude the package; else the package itself.
/// `cargo metadata` says the same, but is not there when a test program runs, and takes longer than many a test.
pub fn workspace_root(package: &Path) -> PathBuf {
    for directory in package.ancestors() {
        let Some(manifest) = Manifest::read(directory) else { continue };
        if manifest.is_workspace && (directory == package || !manifest.excludes(directory, package)) {
            return directory.to_path_buf();
        }
        if let Some(root) = manifest.workspace {
            return normalize(&directory.join(root));
        }
    }
    package.to_path_buf()
}

/// What a manifest says about workspaces.
#[derive(Debug, Default)]
struct Manifest {
    /// It has a table `[workspace]`.
    is_workspace: bool,
    /// `workspace.members`.
    members: Vec<String>,
    /// `workspace.exclude`.
    exclude: Vec<String>,
    /// `package.workspace`.
    workspace: Option<String>,
}

impl Manifest {
    fn read(directory: &Path) -> Option<Self> {
        let file = directory.join(MANIFEST);
        // Reading a pipe would not end.
        file.is_file().then(|| fs::read_to_string(file).ok().map(|text| Self::parse(&text))).flatten()
    }

    /// Reads the few keys above. A crate that reads all of TOML would be compiled by every user.
    fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut table = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim_start();
            if let Some(header) = line.strip_prefix('[') {
                table = plain_key(header.trim_start_matches('[').split(']').next().unwrap_or_default());
                manifest.is_workspace |= is_workspace(&table);
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
            let key = plain_key(key);
            let key = if table.is_empty() { key } else { format!("{table}.{key}") };
            manifest.is_workspace |= is_workspace(&key);
            match key.as_str() {
                "workspace.members" => manifest.members = strings(value, &mut lines),
                "workspace.exclude" => manifest.exclude = strings(value, &mut lines),
                "package.workspace" => manifest.workspace = strings(value, &mut lines).pop(),
                _ => {}
            }
        }
        manifest
    }

    fn excludes(&self, root: &Path, package: &Path) -> bool {
        let contains = |paths: &[String]| paths.iter().any(|path| package.starts_with(root.join(path)));
        contains(&self.exclude) && !contains(&self.members)
    }
}

fn is_workspace(key: &str) -> bool {
    key == "workspace" || key.starts_with("workspace.")
}

/// A key without white space and quotation marks.
fn plain_key(key: &str) -> String {
    key.chars().filter(|char| !char.is_whitespace() && !matches!(char, '"' | '\'')).collect()
}

/// The strings of a value: of a string, or of an array, which can go on in the next lines.
fn strings(value: &str, lines: &mut Lines<'_>) -> Vec<String> {
    let mut strings = Vec::new();
    let is_array = value.trim_start().starts_with('[');
    let mut line = value;
    loop {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '\'', ']', '#']) {
            let (found, after) = rest[at..].split_at(1);
            match found {
                "]" => return strings,
                "#" => break,
                quote => {
                    let (string, after) = after.split_once(quote).unwrap_or((after, ""));
                    strings.push(string.to_owned());
                    rest = after;
                }
            }
        }
        match lines.next() {
            Some(next) if is_array => line = next,
            _ => return strings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_the_one_that_cargo_finds() {
        let directory = tempfile::tempdir().unwrap();
        for (manifest, text) in [
            ("one", "[package]\nname = \"one\"\nversion.workspace = true\n"),
            (
                "ws",
                "[workspace]\nmembers = ['crates/*', \"out/in\"] # all\nexclude = [\n  \"out\", # \"in\"\n  'a]b',\n]\n",
            ),
            ("ws/crates/member", "[package]\n[dependencies]\nserde.workspace = true\n"),
            ("ws/crates/own", "[workspace.dependencies]\n[package]\n"),
            ("ws/out", "[package]\n"),
            ("ws/out/in", "[package]\n"),
            ("ws/a]b", "[package]\n"),
            ("dotted", "workspace.resolver = \"3\"\n[package]\n"),
            ("dotted/member", "# [workspace]\n[package]\n"),
            ("points", "[package]\nworkspace = \"../ws\"\n"),
            ("points/below", "[package]\n"),
        ] {
            fs::create_dir_all(directory.path().join(manifest).join("suites")).unwrap();
            fs::write(directory.path().join(manifest).join(MANIFEST), text).unwrap();
        }
        fs::create_dir(directory.path().join("none")).unwrap();
        for (from, root) in [
            ("one", "one"),
            ("ws", "ws"),
            ("ws/suites", "ws"),
            ("ws/crates", "ws"),
            ("ws/crates/member/suites", "ws"),
            ("ws/crates/own", "ws/crates/own"),
            ("ws/out", "ws/out"),
            ("ws/out/in", "ws"),
            ("ws/a]b", "ws/a]b"),
            ("dotted/member", "dotted"),
            ("points", "ws"),
            ("points/below", "ws"),
            ("none", "none"),
        ] {
            let found = workspace_around(&directory.path().join(from));
            assert_eq!(found, directory.path().join(root), "around {from}");
        }
    }
}
