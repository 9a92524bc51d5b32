//! The package around the current directory, and changes of its files, which are written together or not at all: `Cargo.toml` with further
//! dependencies and a smaller dev profile.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use evalsuite_records::file_replacement::replace_user_text;
use evalsuite_schema::discovery::{is_skill, suite_files, with_slashes};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use super::Question;
use crate::locate::suite_search::{self, relative};
use crate::platform::exit_status::{CliError, ErrorContext, Result};
use crate::platform::output::stdout;

/// A package that gets new files.
pub(super) struct PackageHere {
    pub(super) root: PathBuf,
    pub(super) manifest: Manifest,
}

impl PackageHere {
    /// The package around the current directory.
    pub(super) fn find() -> Result<Self> {
        let root = manifest_directory()?;
        let manifest = Manifest::read(root.join("Cargo.toml"))?;
        if manifest.document.get("package").is_none() {
            let message = format!("{} has no package", relative(&root.join("Cargo.toml"))?);
            return Err(CliError::with_help(message, "change to the directory of one of its members"));
        }
        Ok(Self { root, manifest })
    }

    /// The suite at a path, or the only one of the package.
    pub(super) fn suite(&self, given: Option<&Path>) -> Result<Suite> {
        let found = suite_search::below(&self.root).suites;
        let path = match (given, found.as_slice()) {
            (Some(path), _) => suite_search::absolute(path)?,
            (None, [only]) => only.clone(),
            (None, []) => {
                return Err(CliError::with_help("the package has no suite", "write one: `cargo evalsuite new suite`"));
            }
            (None, several) => {
                let shown: Vec<String> = several.iter().map(|path| self.shown(path)).collect();
                let text = format!("Directory of the suite ({})", shown.join(", "));
                let question = Question { text: &text, argument: "--suite", default: None };
                suite_search::absolute(Path::new(&question.answer(None)?))?
            }
        };
        if !path.is_dir() || !suite_search::below(&path).suites.contains(&path) {
            return Err(CliError::new(format!("{} is not the directory of a suite", self.shown(&path))));
        }
        let has_tasks = path.join("suite.json").is_file() && !path.join("cases").is_dir();
        let has_no_file = suite_files(&path)?.is_empty();
        let is_skill = has_no_file && is_skill(&path);
        let cases = if has_no_file { path.clone() } else { path.join("cases") };
        Ok(Suite { entry: self.shown(&path), has_tasks, is_skill, cases, path })
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

/// The directory of the package or workspace around the current directory.
pub(super) fn manifest_directory() -> Result<PathBuf> {
    let missing = || CliError::with_help("there is no package here", "create one: `cargo new --lib my-agent`");
    suite_search::package_around(&std::env::current_dir()?).map(Path::to_owned).ok_or_else(missing)
}

/// A suite of the package.
pub(super) struct Suite {
    pub(super) path: PathBuf,
    /// The path as the macro names it.
    pub(super) entry: String,
    /// Whether it has the tasks layout.
    pub(super) has_tasks: bool,
    /// Whether it is an Agent Skill.
    pub(super) is_skill: bool,
    /// The directory of its case directories, in the cases layout.
    pub(super) cases: PathBuf,
}

/// Refuses a name that cannot be a file and part of a test's name.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_allowed) {
        return Ok(());
    }
    let message = format!("`{name}` is not a valid name: use letters, digits, `-` and `_`, and start with a letter");
    Err(CliError::new(message))
}

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
        let document = read_manifest(&path)?;
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

    /// Whether tests of the package see the crate `evalsuite`.
    pub(super) fn has_evalsuite(&self) -> bool {
        self.crates().contains("evalsuite")
    }

    /// Adds what tests of suites need, unless it is there under any name.
    pub(super) fn add_evalsuite(&mut self, source: &CrateSource, workspace_root: &Path) {
        let root = workspace_root.join("Cargo.toml");
        let workspace =
            if root == self.path { self.document.clone() } else { read_manifest(&root).unwrap_or_default() };
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

pub(super) fn read_manifest(path: &Path) -> Result<DocumentMut> {
    fs::read_to_string(path).at(path)?.parse().at(path)
}

/// What is written.
const SETTING: &str = "[profile.dev.package.\"*\"]\ndebug = false\n";

/// What the list of changes says.
const WHAT: &str = "dev profile without debug information of dependencies";

/// Adds the setting to the manifest of the workspace, which may be that of the package, unless the user sets `debug` or does not want it.
/// A note if the manifest has to be changed by hand.
pub(super) fn add_dev_profile(
    package: &mut Manifest,
    workspace_root: &Path,
    changes: &mut Changes,
) -> Result<Option<String>> {
    let path = workspace_root.join("Cargo.toml");
    let mut workspace = if path == package.path { None } else { Some(Manifest::read(path)?) };
    let manifest = workspace.as_mut().unwrap_or(package);
    if has_setting(&manifest.document) || !is_wanted()? {
        return Ok(None);
    }
    let Some(document) = with_setting(&manifest.document) else {
        return Ok(Some(format!(
            "note: {} was not changed: its tables do not allow it\n  = help: for smaller and faster builds, add to it:\n{SETTING}",
            relative(&manifest.path)?
        )));
    };
    manifest.document = document;
    manifest.added.push(WHAT.to_owned());
    if let Some(workspace) = workspace {
        workspace.write(changes);
    }
    Ok(None)
}

fn is_wanted() -> Result<bool> {
    let text = "Leave out debug information of dependencies, for smaller and faster builds: yes or no";
    match (Question { text, argument: "--keep-debug-info", default: Some("yes") }).answer(None)?.as_str() {
        "yes" | "y" => Ok(true),
        "no" | "n" => Ok(false),
        other => Err(CliError::new(format!("`{other}` is neither yes nor no"))),
    }
}

/// Whether the user has decided about debug information of dependencies or of all crates.
fn has_setting(document: &DocumentMut) -> bool {
    let dev = document.get("profile").and_then(|profile| profile.get("dev"));
    let of_dependencies = dev.and_then(|dev| dev.get("package")?.get("*"));
    [dev, of_dependencies].into_iter().flatten().any(|table| table.get("debug").is_some())
}

/// The manifest with the setting; everything else in it stays as it is. `None` if its tables cannot be extended.
fn with_setting(document: &DocumentMut) -> Option<DocumentMut> {
    let mut changed = document.clone();
    let existing =
        changed.get_mut("profile").and_then(|profile| profile.get_mut("dev")?.get_mut("package")?.get_mut("*"));
    if let Some(table) = existing.and_then(Item::as_table_like_mut) {
        table.insert("debug", value(false));
        return Some(changed);
    }
    let text = document.to_string();
    let separator = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // Fails where a part of the path is an inline table.
    format!("{text}{newline}{separator}{SETTING}").parse().ok()
}

/// What is going to be written below a directory.
pub(super) struct Changes {
    root: PathBuf,
    list: Vec<Change>,
}

struct Change {
    path: PathBuf,
    text: String,
    /// What is changed in a file that exists; `None` for a new file.
    edit: Option<String>,
}

impl Changes {
    /// Paths are shown relative to `root`.
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), list: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Writes a file of its own.
    pub(super) fn create(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.list.push(Change { path: path.into(), text: text.into(), edit: None });
    }

    /// Writes the new text of a file of the user, which has everything that was in it.
    pub(super) fn edit(&mut self, path: impl Into<PathBuf>, text: impl Into<String>, what: impl Into<String>) {
        self.list.push(Change { path: path.into(), text: text.into(), edit: Some(what.into()) });
    }

    /// Writes all files and prints what was done.
    pub(super) fn write(self, force: bool) -> Result<()> {
        let is_taken = |change: &&Change| change.edit.is_none() && change.path.symlink_metadata().is_ok();
        let taken: Vec<String> = self.list.iter().filter(is_taken).map(|change| self.shown(change)).collect();
        if !taken.is_empty() && !force {
            let are = if taken.len() == 1 { "is" } else { "are" };
            let message = format!("{} {are} already there; nothing was written", taken.join(", "));
            return Err(CliError::with_help(message, "`--force` overwrites existing files"));
        }
        let mut out = stdout();
        for change in &self.list {
            let shown = self.shown(change);
            let did = match &change.edit {
                Some(_) => "changed",
                None if taken.contains(&shown) => "replaced",
                None => "created",
            };
            let written = change.path.parent().map_or(Ok(()), fs::create_dir_all);
            written.and_then(|()| replace_user_text(&change.path, &change.text)).at(Path::new(&shown))?;
            let what = change.edit.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
            writeln!(out, "{did} {shown}{what}")?;
        }
        Ok(())
    }

    fn shown(&self, change: &Change) -> String {
        with_slashes(change.path.strip_prefix(&self.root).unwrap_or(&change.path))
    }
}

/// The text of a file; `None` if it does not exist.
pub(super) fn read_if_there(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).at(path),
    }
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
        // Relative if the clone is in a directory of temporary files, too.
        let (_, path) = written.split_once("evalsuite-build = { path = \"").expect("a path");
        let path = path.split_once("\" }\n").expect("the end of the path").0;
        let named = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_)));
        let named: PathBuf = named.collect();
        assert!(named.ends_with("build") && build.ends_with(&named), "{written}");
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

    fn with(text: &str) -> Option<String> {
        with_setting(&text.parse().expect("TOML")).map(|document| document.to_string())
    }

    #[test]
    fn the_setting_is_added_and_the_rest_stays() {
        let text = "# mine\n[package]\nname = \"shop\"   # here\n";
        assert_eq!(with(text), Some(format!("{text}\n{SETTING}")));
        assert_eq!(with("[package]\nname = \"shop\""), Some(format!("[package]\nname = \"shop\"\n\n{SETTING}")));
        let text = "[profile.dev]\nopt-level = 1 # fast\n";
        assert_eq!(with(text), Some(format!("{text}\n{SETTING}")));
        let text = "[profile.dev.package.\"*\"]\nopt-level = 1 # fast\n\n[profile.release]\nlto = true\n";
        assert_eq!(with(text), Some(text.replace("# fast\n", "# fast\ndebug = false\n")));
        let text = "[profile.dev.package]\n\"*\" = { opt-level = 1 }\n";
        assert_eq!(with(text), Some("[profile.dev.package]\n\"*\" = { opt-level = 1 , debug = false }\n".to_owned()));
    }

    #[test]
    fn tables_that_cannot_be_extended_are_left_alone() {
        let text = "profile.dev.opt-level = 1\n[package]\n";
        assert_eq!(with(text), Some(format!("{text}\n{SETTING}")), "dotted keys can");
        for text in ["profile = { dev = {} }\n", "[profile]\ndev = { opt-level = 1 }\n"] {
            assert_eq!(with(text), None, "{text}");
        }
    }

    #[test]
    fn a_decision_of_the_user_is_kept() {
        let has = |text: &str| has_setting(&text.parse().expect("TOML"));
        for text in [
            "[profile.dev]\ndebug = \"line-tables-only\"\n",
            "[profile.dev.package.\"*\"]\ndebug = true\n",
            "profile.dev.debug = 0\n",
            "profile = { dev = { package = { \"*\" = { debug = 1 } } } }\n",
        ] {
            assert!(has(text), "{text}");
        }
        for text in ["", "[profile.release]\ndebug = 1\n", "[profile.dev.package.serde]\ndebug = false\n"] {
            assert!(!has(text), "{text}");
        }
    }
}
