//! `Cargo.toml` with further dependencies; everything else in it stays as it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use evalsuite_discovery::with_slashes;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::changes::Changes;
use crate::platform::cli_error::{CliError, ErrorContext, Result};

pub(super) struct Manifest {
    pub(super) path: PathBuf,
    /// What the file says, with what was added.
    pub(super) document: DocumentMut,
    /// What was added, for the list of changes.
    pub(super) added: Vec<String>,
}

/// Where the crates of evalsuite are taken from.
pub(super) enum CrateSource {
    /// A registry.
    Published,
    /// A clone of evalsuite.
    Clone(PathBuf),
    /// The clone of evalsuite that this program was built in, unless the workspace says otherwise.
    OwnClone(PathBuf),
}

impl CrateSource {
    pub(super) fn of_this_program() -> Self {
        let clone =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().filter(|clone| clone.join("runtime/Cargo.toml").is_file());
        clone.map_or(Self::Published, |clone| Self::OwnClone(clone.to_owned()))
    }
}

impl Manifest {
    pub(super) fn read(path: PathBuf) -> Result<Self> {
        let document = read(&path)?;
        Ok(Self { path, document, added: Vec::new() })
    }

    fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The path of the build script relative to the package.
    pub(super) fn build_script(&self) -> Result<&str> {
        match self.document.get("package").and_then(|package| package.get("build")).map(Item::as_value) {
            Some(Some(Value::String(path))) => Ok(path.value()),
            Some(Some(Value::Boolean(is_on))) if !is_on.value() => Err(CliError::with_help(
                "`build = false` in Cargo.toml",
                "remove it: the build script has to track the suites",
            )),
            _ => Ok("build.rs"),
        }
    }

    /// The names of the crates that tests of the package see: its own, those of its dependencies, and those of the standard library.
    pub(super) fn crates(&self) -> BTreeSet<String> {
        let named =
            |table: &str| self.document.get(table).and_then(|table| table.get("name")?.as_str().map(str::to_owned));
        let own = named("lib").or_else(|| named("package"));
        let tables = ["dependencies", "dev-dependencies"]
            .into_iter()
            .filter_map(|name| self.document.get(name)?.as_table_like());
        let dependencies = tables.flat_map(|table| table.iter().map(|(name, _)| name.to_owned()));
        let standard = ["alloc", "core", "proc_macro", "std", "test"].map(str::to_owned);
        own.into_iter().chain(dependencies).chain(standard).map(|name| name.replace('-', "_")).collect()
    }

    /// Adds what tests of suites need, unless it is there under any name.
    pub(super) fn add_evalsuite(&mut self, source: &CrateSource, workspace_root: &Path) {
        let root = workspace_root.join("Cargo.toml");
        let workspace = if root == self.path { self.document.clone() } else { read(&root).unwrap_or_default() };
        for (table, tables, name, folder) in [
            ("dev-dependencies", &["dev-dependencies", "dependencies"][..], "evalsuite", "runtime"),
            ("build-dependencies", &["build-dependencies"], "evalsuite-build", "build"),
        ] {
            let is_there = |table: &&str| self.document.get(table).is_some_and(|table| table.get(name).is_some());
            if tables.iter().any(is_there) {
                continue;
            }
            let inherited = workspace.get("workspace").and_then(|table| table.get("dependencies")?.get(name));
            let value = match source {
                CrateSource::Published | CrateSource::OwnClone(_) if inherited.is_some() => inline("workspace", true),
                CrateSource::Clone(directory) | CrateSource::OwnClone(directory) => {
                    inline("path", with_slashes(&relative_path(self.directory(), &directory.join(folder))))
                }
                CrateSource::Published => Value::from(env!("CARGO_PKG_VERSION")),
            };
            let entry = self.document.entry(table).or_insert_with(|| Item::Table(Table::new()));
            if let Some(table) = entry.as_table_like_mut() {
                table.insert(name, Item::Value(value));
            }
            self.added.push(format!("{} {name}", table.trim_end_matches("ies").to_owned() + "y"));
        }
    }

    /// Adds a feature to the dependency `evalsuite`, if it is there without the feature.
    pub(super) fn add_feature(&mut self, feature: &str) {
        let tables = ["dev-dependencies", "dependencies"];
        let Some(table) = tables
            .into_iter()
            .find(|table| self.document.get(table).is_some_and(|table| table.get("evalsuite").is_some()))
        else {
            return;
        };
        let dependency = &mut self.document[table]["evalsuite"];
        if let Some(version) = dependency.as_str() {
            *dependency = Item::Value(inline("version", version.to_owned()));
        }
        let Some(dependency) = dependency.as_table_like_mut() else { return };
        let features = dependency.entry("features").or_insert_with(|| Item::Value(Value::Array(Array::new())));
        let Some(features) = features.as_array_mut() else { return };
        if features.iter().all(|present| present.as_str() != Some(feature)) {
            features.push(feature);
            self.added.push(format!("feature {feature} of evalsuite"));
        }
    }

    /// The file with what was added.
    pub(super) fn write(self, changes: &mut Changes) {
        if !self.added.is_empty() {
            changes.edit(self.path, self.document.to_string(), self.added.join(", "));
        }
    }
}

/// The path of a directory from another one; the whole path if they have only the root of the file system in common.
fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(from, to)| from == to).count();
    let is_below_root = from.components().take(common).any(|part| matches!(part, Component::Normal(_)));
    if !is_below_root {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

fn inline(key: &str, value: impl Into<Value>) -> Value {
    let mut table = InlineTable::new();
    table.insert(key, value.into());
    Value::InlineTable(table)
}

pub(super) fn read(path: &Path) -> Result<DocumentMut> {
    fs::read_to_string(path).at(path)?.parse().at(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str, source: &CrateSource, workspace: &str) -> (String, Vec<String>) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("member/Cargo.toml");
        fs::create_dir(directory.path().join("member")).expect("a directory");
        fs::write(&path, text).expect("a manifest");
        fs::write(directory.path().join("Cargo.toml"), workspace).expect("a manifest");
        let mut manifest = Manifest::read(path).expect("TOML");
        manifest.add_evalsuite(source, directory.path());
        (manifest.document.to_string(), manifest.added)
    }

    #[test]
    fn dependencies_are_added_and_the_rest_stays() {
        let text = "# mine\n[package]\nname = \"shop\"   # here\n\n[dev-dependencies]\nanyhow = \"1\"\n";
        let (written, said) = added(text, &CrateSource::Published, "");
        let version = env!("CARGO_PKG_VERSION");
        let expected =
            format!("{text}evalsuite = \"{version}\"\n\n[build-dependencies]\nevalsuite-build = \"{version}\"\n");
        assert_eq!(written, expected);
        assert_eq!(said, ["dev-dependency evalsuite", "build-dependency evalsuite-build"]);
    }

    #[test]
    fn what_is_there_is_not_added_again() {
        let text = "[package]\n[dependencies]\nevalsuite = { path = \"x\" }\n[build-dependencies.evalsuite-build]\nversion = \"0\"\n";
        assert_eq!(added(text, &CrateSource::Published, ""), (text.to_owned(), Vec::new()));
    }

    #[test]
    fn crates_come_from_the_workspace_or_a_clone_if_they_are_there() {
        let workspace = "[workspace.dependencies]\nevalsuite = \"0.1\"\n";
        let (written, _) = added("[package]\n", &CrateSource::Published, workspace);
        assert!(written.contains("evalsuite = { workspace = true }\n"), "{written}");
        assert!(written.contains("evalsuite-build = \""), "{written}");
        let (written, _) = added("[package]\n", &CrateSource::Clone("/src/evalsuite".into()), workspace);
        assert!(written.contains("evalsuite = { path = \"/src/evalsuite/runtime\" }\n"), "{written}");
        assert!(written.contains("evalsuite-build = { path = \"/src/evalsuite/build\" }\n"), "{written}");
        let (written, _) = added("[package]\n", &CrateSource::of_this_program(), workspace);
        let build = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("build");
        assert!(written.contains("evalsuite = { workspace = true }\n"), "{written}");
        assert!(written.contains(&format!("evalsuite-build = {{ path = {build:?} }}\n")), "{written}");
    }

    #[test]
    fn a_feature_is_added_once_to_any_form_of_a_dependency() {
        let of = |text: &str| {
            let document = text.parse().expect("TOML");
            let mut manifest = Manifest { path: PathBuf::new(), document, added: Vec::new() };
            manifest.add_feature("cli-agents");
            manifest.add_feature("cli-agents");
            (manifest.document.to_string(), manifest.added.len())
        };
        let cases = [
            ("evalsuite = \"0.1\"\n", "evalsuite = { version = \"0.1\", features = [\"cli-agents\"] }\n", 1),
            (
                "evalsuite = { path = \"x\", features = [\"judge\"] } # ours\n",
                "evalsuite = { path = \"x\", features = [\"judge\", \"cli-agents\"] } # ours\n",
                1,
            ),
            ("evalsuite.workspace = true\n", "evalsuite.workspace = true\nevalsuite.features = [\"cli-agents\"]\n", 1),
            ("anyhow = \"1\"\n", "anyhow = \"1\"\n", 0),
        ];
        for (before, after, added) in cases {
            for table in ["dev-dependencies", "dependencies"] {
                let text = |dependency: &str| format!("[{table}]\n{dependency}");
                assert_eq!(of(&text(before)), (text(after), added));
            }
        }
    }

    #[test]
    fn the_build_script_may_have_another_path_or_be_off() {
        let script = |build: &str| {
            let document = format!("[package]\n{build}").parse().expect("TOML");
            let manifest = Manifest { path: PathBuf::new(), document, added: Vec::new() };
            manifest.build_script().map(str::to_owned).ok()
        };
        assert_eq!(script(""), Some("build.rs".to_owned()));
        assert_eq!(script("build = \"ci/build.rs\""), Some("ci/build.rs".to_owned()));
        assert_eq!(script("build = false"), None);
    }
}
