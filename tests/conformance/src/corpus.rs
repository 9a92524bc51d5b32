//! Loads the real suites of the corpus and counts what they contain.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_loader::{Loaded, LoadedSuite, Request, find_targets_file, load_targets};
use evalsuite_schema::diagnostics::Diagnostics;
use evalsuite_schema::json::{Value, json};
use tempfile::TempDir;

use crate::claim;
use crate::record::Record;

/// A suite that a manifest lists.
#[derive(Debug, Clone)]
pub struct CorpusSuite {
    /// The checkout that contains the suite; its paths are searched there.
    pub root: PathBuf,
    /// The suite file, relative to the root.
    pub suite: String,
    /// Number of tests, and of graders by type.
    pub expected: SuiteCounts,
}

/// Number of tests and graders of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteCounts {
    /// Number of tests.
    pub tests: usize,
    /// Number of graders by type; `<implicit>` counts tests without a grader.
    pub graders: BTreeMap<String, usize>,
}

/// What is around a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surroundings {
    /// A repository whose root is a package, as where the macro is used.
    Package,
    /// A repository without a package, as where the command line is used.
    Repository,
}

/// A suite of the corpus after loading.
#[derive(Debug)]
pub struct LoadedCorpusSuite {
    /// Problems of the targets file, as far as the suite needs it.
    pub targets_file_problems: Diagnostics,
    /// The suite and its diagnostics.
    pub loaded: Loaded,
    /// Diagnostics whose claims are false.
    pub false_claims: Vec<String>,
}

impl CorpusSuite {
    /// Directory of the checkout and path of the suite.
    pub fn name(&self) -> String {
        let folder = self.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{folder}/{}", self.suite)
    }
}

/// Every suite of every `manifest.json` directly below a directory of the corpus.
pub fn manifest_suites(corpus: &Path) -> Result<Vec<CorpusSuite>, String> {
    let mut found = Vec::new();
    for root in directories(corpus) {
        let path = root.join("manifest.json");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let manifest: Value =
            evalsuite_schema::json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        for entry in manifest.as_array().into_iter().flatten() {
            let suite = entry["suite"].as_str().ok_or_else(|| format!("{}: an entry has no suite", path.display()))?;
            let graders = entry["graders"].as_object().into_iter().flatten();
            let graders = graders.filter_map(|(name, count)| Some((name.clone(), size(count)?))).collect();
            let expected = SuiteCounts { tests: size(&entry["tests"]).unwrap_or_default(), graders };
            found.push(CorpusSuite { root: root.clone(), suite: suite.to_owned(), expected });
        }
    }
    Ok(found)
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

/// The directories in a directory, in the order of their names.
pub fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// Loads a suite and verifies its diagnostics.
pub fn load(entry: &CorpusSuite, surroundings: Surroundings) -> Result<LoadedCorpusSuite, String> {
    let failed = |error: &dyn Display| format!("{}: {error}", entry.root.display());
    let copy = TempDir::new().map_err(|error| failed(&error))?;
    let root = copy.path().canonicalize().map_err(|error| failed(&error))?;
    copy_directory(&entry.root, &root).map_err(|error| failed(&error))?;
    std::fs::create_dir_all(root.join(".git")).map_err(|error| failed(&error))?;
    if surroundings == Surroundings::Package {
        std::fs::write(root.join("Cargo.toml"), "[package]\n").map_err(|error| failed(&error))?;
    }
    let suite = root.join(&entry.suite);
    let request = Request::of_suite(&suite, &root).map_err(|error| failed(&error))?;
    if request.package_root != root {
        return Err(format!("the boundary of `{}` is {}", entry.suite, request.package_root.display()));
    }
    let loaded = evalsuite_loader::load(&request);
    let directory = suite.parent().unwrap_or(&root);
    let targets_file = find_targets_file(directory, &root).map(|path| load_targets(&path, &request));
    let targets_file_problems = match (targets_file, &loaded.suite) {
        (Some(targets), Some(suite)) => targets.problems_of(suite.targets_file_entries()),
        _ => Diagnostics::new(),
    };
    // The files that were read make up a record.
    let files = loaded.files.all();
    let texts = files.iter().filter_map(|file| {
        let path = file.path.strip_prefix(&root).ok()?.to_string_lossy().into_owned();
        Some((path, json!(file.text.as_deref()?)))
    });
    let json = json!({ "files": texts.collect::<evalsuite_schema::Object>(), "expected": {} });
    let record = Record { id: entry.name(), eval: Some(entry.suite.clone()), env: BTreeMap::new(), json };
    let checked = loaded.diagnostics.iter().map(|diagnostic| claim::verify(diagnostic, &loaded.files, &record, &root));
    let false_claims = checked.filter_map(Result::err).collect();
    Ok(LoadedCorpusSuite { targets_file_problems, loaded, false_claims })
}

/// Copies a directory, without what cargo builds in it.
///
/// # Errors
///
/// If a file cannot be read or written.
pub fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_name() == "target" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Counts the tests and graders of a loaded suite. `rubrics` counts as an `llm-grader`.
pub fn count(suite: &LoadedSuite) -> SuiteCounts {
    let mut graders = BTreeMap::new();
    for case in &suite.cases {
        if case.case.graders.is_empty() {
            *graders.entry("<implicit>".to_owned()).or_default() += 1;
        }
        for grader in &case.case.graders {
            let name = match grader.config.type_name() {
                "rubrics" => "llm-grader".to_owned(),
                other => other.replace('_', "-"),
            };
            *graders.entry(name).or_default() += 1;
        }
    }
    SuiteCounts { tests: suite.cases.len(), graders }
}

/// Directories of the corpus that contain a `suite.json`.
pub fn task_suites(corpus: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![corpus.to_path_buf()];
    while let Some(directory) = open.pop() {
        if directory.join("suite.json").is_file() {
            found.insert(directory);
        } else {
            open.extend(directories(&directory));
        }
    }
    found.into_iter().collect()
}

/// Loads a directory that contains a `suite.json`.
///
/// # Errors
///
/// If the directory does not exist.
pub fn load_tasks(suite: &Path) -> Result<Loaded, String> {
    let suite = suite.canonicalize().map_err(|error| error.to_string())?;
    let root = suite.parent().unwrap_or(&suite).to_path_buf();
    let name = suite.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(evalsuite_loader::load(&Request::new(name, root)))
}

/// Number of task files of a suite, and of the tests generated from them.
pub fn count_tasks(suite: &Path) -> Result<(usize, usize), String> {
    let loaded = load_tasks(suite)?;
    let problems: Vec<String> =
        loaded.diagnostics.iter().map(|problem| format!("{} {}", problem.code, problem.message)).collect();
    let found = loaded.suite.ok_or_else(|| problems.join("\n"))?;
    Ok((task_files(&suite.join("tasks")), found.tests.len()))
}

fn task_files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let paths: Vec<PathBuf> = entries.collect();
    let is_task = |path: &&PathBuf| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let own = paths.iter().filter(is_task).count();
    let below = paths.iter().filter(|path| path.is_dir() && !(own > 0 && path.ends_with("workspace")));
    own + below.map(|path| task_files(path)).sum::<usize>()
}
