//! The suites below a directory.
//!
//! Not a walk with `walkdir`: which directories are searched depends on the files beside them.

use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use evalsuite_discovery::{CASE_FILES, SuiteFile, is_skill, skill_directory};

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
pub(crate) const SKILL_HOMES: &[&str] = &[".agents", ".claude", ".codex", ".github"];

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

/// Entry paths of the suites in `directory` itself.
pub(crate) fn suites_in(directory: &Path) -> Vec<PathBuf> {
    Contents::read(directory).suites(directory)
}

/// Whether `directory` has the file of a suite, and not only directories of cases.
pub(crate) fn has_suite_file(directory: &Path) -> bool {
    Contents::read(directory).has_suite_file()
}

/// Whether a path is the file of a suite.
pub(crate) fn is_suite_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.is_file() && (SuiteFile::named(&name).is_some() || skill_directory(path).is_some())
}

/// Whether a path, relative to its suite, is in the directory of the suite's cases.
pub(crate) fn is_of_cases(path: &Path) -> bool {
    path.components().next().is_some_and(|first| CASE_DIRECTORIES.iter().any(|known| first.as_os_str() == *known))
}

fn search(directory: &Path, found: &mut FoundSuites) {
    let contents = Contents::read(directory);
    let suites = contents.suites(directory);
    let has_only_cases = !suites.is_empty() && !contents.has_suite_file();
    found.suites.extend(suites);
    if has_only_cases {
        return;
    }
    let has_evals = directory.ends_with("evals") && directory.join("evals.json").is_file();
    for name in &contents.directories {
        if SKILL_HOMES.contains(&name.as_str()) {
            search(&directory.join(name).join("skills"), found);
        }
        let skipped = name.starts_with('.')
            || (has_evals && name == "files")
            || NEVER_SEARCHED.contains(&name.as_str())
            || (contents.has_suite_file() && CASE_DIRECTORIES.contains(&name.as_str()));
        let path = directory.join(name);
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

/// The names in a directory that tell whether it is a suite.
#[derive(Default)]
struct Contents {
    eval_files: Vec<String>,
    has_suite_json: bool,
    /// Whether it is an Agent Skill with evals.
    is_skill: bool,
    directories: Vec<String>,
    linked_directories: Vec<String>,
}

impl Contents {
    fn read(directory: &Path) -> Self {
        let mut contents = Self::default();
        // Whatever is in place of the record.
        if directory.join(RUN_RECORD).symlink_metadata().is_ok() {
            return contents;
        }
        contents.is_skill = is_skill(directory);
        for (name, kind) in entries(directory) {
            if kind.is_dir() {
                contents.directories.push(name);
            } else if kind.is_symlink() && directory.join(&name).is_dir() {
                contents.linked_directories.push(name);
            } else {
                match SuiteFile::named(&name) {
                    Some(SuiteFile::Json) => contents.has_suite_json = true,
                    Some(SuiteFile::Eval) => contents.eval_files.push(name),
                    _ => {}
                }
            }
        }
        contents
    }

    fn has_suite_file(&self) -> bool {
        self.has_suite_json || self.is_skill || !self.eval_files.is_empty()
    }

    /// The entry paths of the suites in `directory`, which has these contents. Without a suite file, its cases are one.
    fn suites(&self, directory: &Path) -> Vec<PathBuf> {
        let has_case = |name: &String| has_case_file(&directory.join(name));
        match self.eval_files.len() {
            0 if !self.has_suite_file() && !self.directories.iter().chain(&self.linked_directories).any(has_case) => {
                Vec::new()
            }
            2.. if !self.has_suite_json => self.eval_files.iter().map(|name| directory.join(name)).collect(),
            _ => vec![directory.to_path_buf()],
        }
    }
}

/// Whether a directory is that of a case.
pub(crate) fn has_case_file(directory: &Path) -> bool {
    CASE_FILES.iter().any(|file| directory.join(file).is_file())
}

/// Names and kinds of the files, directories and links, sorted.
fn entries(directory: &Path) -> Vec<(String, FileType)> {
    let read = fs::read_dir(directory).into_iter().flatten().flatten();
    let named = read.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?)));
    let is_listed = |kind: FileType| kind.is_dir() || kind.is_file() || kind.is_symlink();
    let mut entries: Vec<(String, FileType)> = named.filter(|(_, kind)| is_listed(*kind)).collect();
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
