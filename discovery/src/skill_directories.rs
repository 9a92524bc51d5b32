//! Directories with several Agent Skills.

use std::fs;
use std::path::Path;

use crate::directories::CASE_FILES;
use crate::suite_files::{SKILL_FILE, is_skill, suite_files};

/// The names of the Agent Skills with evals right below a directory, in their order: those with a module of their own where the macro names
/// the directory. None if it is a suite itself: a skill, or a directory with a suite file or with case directories. Names that start with
/// `.` or `_` are left out, and so are skills without evals.
pub fn skills_below(directory: &Path) -> Vec<String> {
    let is_suite = suite_files(directory).is_ok_and(|files| !files.is_empty()) || directory.join(SKILL_FILE).is_file();
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if CASE_FILES.iter().any(|file| path.join(file).is_file()) {
            return Vec::new();
        }
        if is_skill(&path) {
            names.extend(entry.file_name().into_string());
        }
    }
    names.retain(|name| !is_suite && !name.starts_with(['.', '_']));
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        skills_below(root.path())
    }

    #[test]
    fn only_skills_with_evals_are_found_and_only_where_the_directory_is_no_suite() {
        let skills = [
            "b/SKILL.md",
            "b/evals/evals.json",
            "a/SKILL.md",
            "a/evals/evals.json",
            "c/SKILL.md",
            "d/evals/evals.json",
        ];
        let hidden = [".d/SKILL.md", ".d/evals/evals.json", "_e/SKILL.md", "_e/evals/evals.json"];
        assert_eq!(found(&[&skills[..], &hidden].concat()), ["a", "b"]);
        for file in ["EVAL.yaml", "SKILL.md", "suite.json", "case-1/case.yaml"] {
            assert_eq!(found(&[&skills[..], &[file]].concat()), [""; 0], "{file}");
        }
        assert_eq!(found(&["x/y/SKILL.md", "x/y/evals/evals.json"]), [""; 0], "only right below");
    }
}
