//! Real suites.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evalsuite_loader::{Loaded, LoadedSuite, Request};
use serde_json::{Value, json};

use crate::claim;
use crate::record::Record;

/// A suite of a manifest.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The checkout the suite is part of: where its paths are searched.
    pub root: PathBuf,
    /// The suite file, relative to the root.
    pub suite: String,
    /// Tests, and graders by type.
    pub expected: Count,
}

/// How much a suite holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Tests.
    pub tests: usize,
    /// Graders by type; `<implicit>` counts tests without one.
    pub graders: BTreeMap<String, usize>,
}

/// What came of a suite.
#[derive(Debug)]
pub struct Outcome {
    /// The suite and its diagnostics.
    pub loaded: Loaded,
    /// Diagnostics that say what is not so.
    pub untrue: Vec<String>,
}

impl Entry {
    /// Folder of the checkout and path of the suite.
    pub fn name(&self) -> String {
        let folder = self.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{folder}/{}", self.suite)
    }
}

/// Every suite of every `manifest.json` directly below a folder of the corpus.
pub fn entries(corpus: &Path) -> Result<Vec<Entry>, String> {
    let mut found = Vec::new();
    for root in directories(corpus) {
        let path = root.join("manifest.json");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let manifest: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        for entry in manifest.as_array().into_iter().flatten() {
            let suite = entry["suite"].as_str().ok_or_else(|| format!("{}: an entry has no suite", path.display()))?;
            let graders = entry["graders"].as_object().into_iter().flatten();
            let graders = graders.filter_map(|(name, count)| Some((name.clone(), size(count)?))).collect();
            let expected = Count { tests: size(&entry["tests"]).unwrap_or_default(), graders };
            found.push(Entry { root: root.clone(), suite: suite.to_owned(), expected });
        }
    }
    Ok(found)
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// Loads a suite and checks what is said about it.
pub fn load(entry: &Entry) -> Result<Outcome, String> {
    let root = entry.root.canonicalize().map_err(|error| format!("{}: {error}", entry.root.display()))?;
    let mut request = Request::new(entry.suite.clone(), root.clone());
    request.workspace_root.clone_from(&root);
    let loaded = evalsuite_loader::load(&request);
    // The files that were read are a record of their own.
    let files = loaded.files.all();
    let texts = files.iter().filter_map(|file| {
        let path = file.path.strip_prefix(&root).ok()?.to_string_lossy().into_owned();
        Some((path, json!(file.text.as_deref()?)))
    });
    let json = json!({ "files": texts.collect::<serde_json::Map<_, _>>(), "expected": {} });
    let record = Record { id: entry.name(), eval: Some(entry.suite.clone()), env: BTreeMap::new(), json };
    let checked = loaded.diagnostics.iter().map(|diagnostic| claim::verify(diagnostic, &loaded.files, &record, &root));
    let untrue = checked.filter_map(Result::err).collect();
    Ok(Outcome { loaded, untrue })
}

/// What a loaded suite holds. `rubrics` counts as the judge grader it is.
pub fn count(suite: &LoadedSuite) -> Count {
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
    Count { tests: suite.cases.len(), graders }
}

/// Directories of the corpus that hold a `suite.json`.
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

/// Task files of a suite, and the tests that became of them.
pub fn count_tasks(suite: &Path) -> Result<(usize, usize), String> {
    let suite = suite.canonicalize().map_err(|error| error.to_string())?;
    let root = suite.parent().unwrap_or(&suite).to_path_buf();
    let name = suite.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let loaded = evalsuite_loader::load(&Request::new(name, root));
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
