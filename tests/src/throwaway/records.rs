//! What runs leave on disk.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The run directories below an output root.
#[derive(Debug)]
pub struct Records {
    root: PathBuf,
}

impl Records {
    /// The runs below `root`, which holds `runs/` and `latest`.
    pub fn below(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Ids of the runs, sorted.
    pub fn runs(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join("runs")) else { return Vec::new() };
        let mut runs: Vec<String> =
            entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        runs.sort();
        runs
    }

    /// Every `result.json`, in the order of their paths.
    pub fn results(&self) -> Vec<Value> {
        self.named("result.json").iter().map(|path| read(path)).collect()
    }

    /// The results of a case, in the order of their paths.
    pub fn of_case(&self, id: &str) -> Vec<Value> {
        self.results().into_iter().filter(|result| result["case_id"] == id).collect()
    }

    /// Every `case.json`, in the order of their paths.
    pub fn cases(&self) -> Vec<Value> {
        self.named("case.json").iter().map(|path| read(path)).collect()
    }

    /// Paths of the files with a name, sorted.
    pub fn named(&self, name: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.root, name, &mut found);
        found.sort();
        found
    }

    /// Forgets everything.
    pub fn clear(&self) {
        if self.root.exists() {
            fs::remove_dir_all(&self.root).expect("the records can be deleted");
        }
    }
}

fn collect(directory: &Path, name: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries {
        let entry = entry.expect("readable");
        let path = entry.path();
        if entry.file_type().expect("readable").is_dir() {
            collect(&path, name, found);
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{} is no JSON: {error}\n{text}", path.display()))
}
