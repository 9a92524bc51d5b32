//! The suites below a directory.
//!
//! Not a walk with `walkdir`: which directories are searched depends on the files beside them.

use std::fs;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use evalsuite_discovery::{SKILL_EVALS, SKILL_FILE, SuiteFile};

/// What is below a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FoundSuites {
    /// Entry paths of suites: their directory, or the eval file where several lie in one directory.
    pub(crate) suites: Vec<PathBuf>,
    /// Directories with a `Cargo.toml` of their own, which are not searched.
    pub(crate) packages: Vec<PathBuf>,
}

/// Directories in which there are no suites.
const NEVER_SEARCHED: &[&str] = &["target", "node_modules", "workspace"];

/// Hidden directories in which agents look for skills.
const SKILL_HOMES: &[&str] = &[".agents", ".claude", ".codex", ".github"];

/// A directory with this file has the records of a run, which have a `suite.json` too.
const RUN_RECORD: &str = "run.json";

/// Directories with the cases of the suite beside them.
const CASE_DIRECTORIES: &[&str] = &["tasks", "cases"];

/// Searches `directory` and everything below it, in the order of names. Hidden directories other than `skills` of agents, links to
/// directories, `target`, `node_modules` and `workspace` are left out, as are files of the evals of skills, as are records of runs and JSON Lines files: a suite cannot be told from data there. What
/// cannot be read is left out too; loading a suite reports it, as it does a suite file that is a bad link.
pub(crate) fn below(directory: &Path) -> FoundSuites {
    let mut found = FoundSuites::default();
    search(directory, &mut found);
    found
}

fn search(directory: &Path, found: &mut FoundSuites) {
    // Whatever is in place of the record.
    if directory.join(RUN_RECORD).symlink_metadata().is_ok() {
        return;
    }
    let mut eval_files = Vec::new();
    let mut has_suite_json = false;
    let mut directories = Vec::new();
    let mut linked_directories = Vec::new();
    for (name, kind) in entries(directory) {
        if kind.is_dir() {
            directories.push(name);
        } else if kind.is_symlink() && directory.join(&name).is_dir() {
            linked_directories.push(name);
        } else {
            match SuiteFile::named(&name) {
                Some(SuiteFile::Json) => has_suite_json = true,
                Some(SuiteFile::Eval) => eval_files.push(name),
                _ => {}
            }
        }
    }
    let is_bare =
        |name: &String| ["case.yaml", "case.yml"].iter().any(|file| directory.join(name).join(file).is_file());
    let is_skill = directory.join(SKILL_FILE).is_file() && directory.join(SKILL_EVALS).is_file();
    match eval_files.len() {
        _ if has_suite_json => found.suites.push(directory.to_path_buf()),
        0 if is_skill => found.suites.push(directory.to_path_buf()),
        0 if directories.iter().chain(&linked_directories).any(is_bare) => {
            found.suites.push(directory.to_path_buf());
            return;
        }
        0 => {}
        1 => found.suites.push(directory.to_path_buf()),
        _ => found.suites.extend(eval_files.iter().map(|name| directory.join(name))),
    }
    let is_suite = has_suite_json || !eval_files.is_empty();
    let has_evals = directory.ends_with("evals") && directory.join("evals.json").is_file();
    for name in directories {
        if SKILL_HOMES.contains(&name.as_str()) {
            search(&directory.join(&name).join("skills"), found);
        }
        let skipped = name.starts_with('.')
            || has_evals && name == "files"
            || NEVER_SEARCHED.contains(&name.as_str())
            || (is_suite && CASE_DIRECTORIES.contains(&name.as_str()));
        let path = directory.join(&name);
        if skipped {
            continue;
        }
        if path.join("Cargo.toml").is_file() {
            found.packages.push(path);
        } else {
            search(&path, found);
        }
    }
}

/// Names and kinds of the files, directories and links, sorted.
fn entries(directory: &Path) -> Vec<(String, FileType)> {
    let Ok(read) = fs::read_dir(directory) else { return Vec::new() };
    let mut entries: Vec<(String, FileType)> = read
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            let name = entry.file_name().into_string().ok()?;
            (kind.is_dir() || kind.is_file() || kind.is_symlink()).then_some((name, kind))
        })
        .collect();
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    entries
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::below;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, "").expect("a file");
        }
        root
    }

    fn names(root: &Path, paths: &[std::path::PathBuf]) -> Vec<String> {
        let name =
            |path: &std::path::PathBuf| path.strip_prefix(root).expect("inside").to_string_lossy().replace('\\', "/");
        paths.iter().map(name).collect()
    }

    #[test]
    fn every_kind_of_suite_directory_is_found() {
        let root = tree(&[
            "suites/tasks_suite/suite.json",
            "suites/tasks_suite/tasks/a/suite.json",
            "suites/eval/EVAL.yaml",
            "suites/eval/more/x.eval.yml",
            "suites/several/a.eval.yaml",
            "suites/several/b.eval.yaml",
            "suites/bare/a/case.yaml",
            "suites/bare/notes/EVAL.yaml",
            "suites/.hidden/EVAL.yaml",
            "suites/target/EVAL.yaml",
            "other/data.jsonl",
            "records/runs/1/run.json",
            "records/runs/1/suites/eval/suite.json",
            "skills/pdf-forms/SKILL.md",
            "skills/pdf-forms/evals/evals.json",
            "skills/pdf-forms/evals/files/EVAL.yaml",
            "skills/without-evals/SKILL.md",
            ".claude/skills/csv/SKILL.md",
            ".claude/skills/csv/evals/evals.json",
            ".claude/EVAL.yaml",
            "nested/Cargo.toml",
            "nested/EVAL.yaml",
        ]);
        let found = below(root.path());
        assert_eq!(
            names(root.path(), &found.suites),
            [
                ".claude/skills/csv",
                "skills/pdf-forms",
                "suites/bare",
                "suites/eval",
                "suites/eval/more",
                "suites/several/a.eval.yaml",
                "suites/several/b.eval.yaml",
                "suites/tasks_suite"
            ]
        );
        assert_eq!(names(root.path(), &found.packages), ["nested"]);
    }

    #[cfg(unix)]
    #[test]
    fn suite_files_and_case_directories_that_are_links_are_found() {
        let root = tree(&["shared/x.yaml", "shared/case/case.yaml", "suites/linked/notes.md", "suites/bare/notes.md"]);
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, root.path().join(name)).expect("a link");
        };
        link("../../shared/x.yaml", "suites/linked/EVAL.yaml");
        link("/dev/zero", "suites/suite.json");
        link("../../shared/case", "suites/bare/a");
        link("../suites", "shared/again");
        let found = below(root.path());
        assert_eq!(names(root.path(), &found.suites), ["shared", "suites", "suites/bare", "suites/linked"]);
    }
}
