//! The records that runs have written.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_schema::Value;

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

    /// The id of the newest run. The ids of runs that began in one second are not in their order.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn newest_run(&self) -> String {
        fs::read_to_string(self.root.join("latest")).expect("there is a run").trim().to_owned()
    }

    /// Every `result.json`, in the order of their paths.
    pub fn results(&self) -> Vec<Value> {
        self.named("result.json").iter().map(|path| read_json(path)).collect()
    }

    /// The results of a case, in the order of their paths.
    pub fn of_case(&self, id: &str) -> Vec<Value> {
        self.results().into_iter().filter(|result| result["case_id"] == id).collect()
    }

    /// Every `case.json`, in the order of their paths.
    pub fn cases(&self) -> Vec<Value> {
        self.named("case.json").iter().map(|path| read_json(path)).collect()
    }

    /// Paths of the files with a name, sorted.
    pub fn named(&self, name: &str) -> Vec<PathBuf> {
        let mut found = files_below(&self.root);
        found.retain(|path| path.file_name().is_some_and(|file| file == name));
        found
    }

    /// Deletes all runs.
    pub fn clear(&self) {
        if self.root.exists() {
            fs::remove_dir_all(&self.root).expect("the records can be deleted");
        }
    }
}

/// The files below a directory, sorted. Directories that vanish in the meantime are left out.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_below(&entry.path())),
            _ => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

/// Reads a record.
///
/// # Panics
///
/// If the file is not one complete JSON document.
#[track_caller]
pub fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    evalsuite_schema::json::from_str(&text)
        .unwrap_or_else(|error| panic!("{} is not valid JSON: {error}\n{text}", path.display()))
}
