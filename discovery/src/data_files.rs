//! Data files below the directories of cases, whether or not they are cases.

use std::fs::FileType;
use std::path::Path;

use crate::directories::CASE_FILES;
use crate::listing::{Listing, MAX_DEPTH, entries, in_parts, join};
use crate::suite_files::SuiteFile;

/// What is below the directories of cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataFiles {
    /// YAML, JSON and JSON Lines files, relative to the directory with `/` separators, in the order of their names.
    pub data: Vec<String>,
    /// All other files.
    pub others: Vec<String>,
}

/// Directories whose files are not written for the suite.
const FOREIGN: &[&str] = &["workspace", "node_modules", "target", "__pycache__"];

/// Files with a meaning of their own, wherever they are.
const KNOWN: &[&str] = &[
    "calibration.yaml",
    "calibration.yml",
    "targets.yaml",
    "targets.yml",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
];

/// Lists the data files below `directory`, a source of cases of this kind as [`list`](crate::list) has them. Names that start
/// with `.` or `_` are left out, as are templates, links, directories without a case file, and other suites. Patterns have
/// none.
pub fn data_files(directory: &Path, kind: &str) -> DataFiles {
    let mut found = DataFiles::default();
    match kind {
        "tasks" => walk(directory, "", 0, false, &mut found),
        "directories" => {
            let entries = entries(directory, "", &mut Listing::default());
            let parts = in_parts(&entries, |part| {
                let mut found = DataFiles::default();
                for (name, kind) in part {
                    if kind.is_file() {
                        found.add(name, name.clone());
                    } else if kind.is_dir() && !is_left_out(name) {
                        walk(directory, name, 1, true, &mut found);
                    }
                }
                found
            });
            for DataFiles { data, others } in parts {
                found.data.extend(data);
                found.others.extend(others);
            }
        }
        _ => {}
    }
    found
}

fn is_left_out(name: &str) -> bool {
    name.starts_with(['.', '_']) || FOREIGN.contains(&name)
}

fn walk(root: &Path, below: &str, depth: usize, is_case: bool, found: &mut DataFiles) {
    let here = entries(root, below, &mut Listing::default());
    // Another suite reports what it does not use.
    if depth > MAX_DEPTH || depth > 1 && here.iter().any(|(name, _)| SuiteFile::named(name).is_some()) {
        return;
    }
    let is_case_file = |(name, kind): &(String, FileType)| {
        CASE_FILES.contains(&name.as_str())
            && (kind.is_file() || kind.is_symlink() && root.join(below).join(name).is_file())
    };
    if is_case && !here.iter().any(is_case_file) {
        return;
    }
    for (name, kind) in here {
        let path = join(below, &name);
        if kind.is_file() {
            // The file of the case itself, even where there are two.
            if !is_case || !CASE_FILES.contains(&name.as_str()) {
                found.add(&name, path);
            }
        } else if kind.is_dir() && !is_left_out(&name) {
            walk(root, &path, depth + 1, false, found);
        }
    }
}

impl DataFiles {
    fn add(&mut self, name: &str, path: String) {
        if name.starts_with(['.', '_'])
            || KNOWN.contains(&name)
            || SuiteFile::named(name).is_some()
            || name.contains(".calibration.")
        {
            return;
        }
        let lower = name.to_ascii_lowercase();
        let is_data = [".yaml", ".yml", ".json", ".jsonl"].iter().any(|ending| lower.ends_with(ending));
        if is_data { self.data.push(path) } else { self.others.push(path) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(kind: &str, files: &[&str]) -> DataFiles {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        data_files(root.path(), kind)
    }

    #[test]
    fn data_beside_and_below_case_files_is_listed() {
        let files = [
            "refund.yaml",
            "list.JSONL",
            "_shared.yaml",
            ".hidden.json",
            "EVAL.yaml",
            "calibration.yaml",
            "notes.md",
            "a/case.yaml",
            "a/case2.yml",
            "a/sub/case.yaml",
            "a/check.py",
            "a/_data/x.json",
            "a/workspace/x.json",
            "a/other/EVAL.yaml",
            "a/other/cases/b/case.yaml",
            "no-case/x.yaml",
            "_b/case.yaml",
        ];
        let DataFiles { data, others } = found("directories", &files);
        assert_eq!(data, ["a/case2.yml", "a/sub/case.yaml", "list.JSONL", "refund.yaml"]);
        assert_eq!(others, ["a/check.py", "notes.md"]);
        assert_eq!(found("glob", &files), DataFiles::default());
    }

    #[test]
    fn data_among_tasks_is_listed_but_no_templates() {
        let files = ["a.json", "b.yaml", "deep/c.jsonl", "deep/workspace/d.json", "deep/task.json", "_e.yaml"];
        assert_eq!(found("tasks", &files).data, ["a.json", "b.yaml", "deep/c.jsonl", "deep/task.json"]);
    }
}
