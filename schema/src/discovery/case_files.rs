//! The case files of a source of a suite; data files below their directories, whether or not they are cases; and directories with several Agent
//! Skills.

use std::fs::{self, FileType};
use std::path::Path;

use super::listing::{
    ENTRIES_PER_THREAD, Listing, MAX_DEPTH, ProblemKind, Search, Tree, TreeEntry, in_parts, join, processors,
};
use super::pattern;
use super::spelling::has_name_of_disk;
use super::suite_files::{SKILL_FILE, SuiteFile, is_skill, suite_files};

/// Lists the case files of one source of a suite. `boundary` is the directory that links may not leave: the suite root
/// for tasks, the package root for case directories and patterns.
///
/// | `kind` | `path` | listed |
/// | --- | --- | --- |
/// | `tasks` | directory | every `.json` file at any depth, except below a `workspace` directory next to a `.json` file |
/// | `directories` | directory | `case.yaml` or `case.yml` of every immediate sub-directory whose name does not start with `.` or `_` |
/// | `glob` | pattern | files that match, without names that start with `.` |
///
/// Paths are relative to `root`; an empty `path` is `root` itself. An unknown kind lists nothing and is a problem.
pub fn list(root: &Path, boundary: &Path, kind: &str, path: &str) -> Listing {
    let mut search = Search::new(root, boundary);
    match kind {
        "tasks" => list_tasks(&mut search, path, 0),
        "directories" => list_directories(&mut search, path),
        "glob" => pattern::list(&mut search, path),
        other => search.problem(path, ProblemKind::Unreadable, format!("unknown kind of source `{other}`")),
    }
    let mut listing = search.found;
    // Case directories come in the order of their names: `a` goes before `a-b`, though `a-b/case.yaml` goes before
    // `a/case.yaml`.
    if kind != "directories" {
        listing.files.sort();
    }
    listing
}

/// The task files below a directory.
fn list_tasks(search: &mut Search<'_>, path: &str, depth: usize) {
    if search.is_too_deep(path, depth) {
        return;
    }
    let mut directories = Vec::new();
    let mut holds_task = false;
    for (name, kind) in search.entries(path) {
        let entry = join(path, &name);
        let linked = kind.is_symlink();
        let Some(kind) = search.resolve(&entry, kind) else {
            // It was meant to be a task: the directory next to it is still its template.
            holds_task |= is_task(&name);
            continue;
        };
        if kind.is_dir() {
            if !linked || search.may_follow(&entry) {
                directories.push((name, entry));
            }
        } else if is_task(&name) {
            // Anything else with such a name (a FIFO, a socket) is listed too: the reader reports what it is.
            holds_task = true;
            search.found.files.push(entry);
        }
    }
    for (name, directory) in directories {
        // The template of the tasks next to it, not a folder of tasks.
        if name != "workspace" || !holds_task {
            list_tasks(search, &directory, depth + 1);
        }
    }
}

fn is_task(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() >= 5 && bytes[bytes.len() - 5..].eq_ignore_ascii_case(b".json")
}

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

/// Lists the data files below `directory`, a source of cases of this kind as [`list`](super::list) has them, of which `tree` was read.
/// Names that start with `.` or `_` are left out, as are templates, links, directories without a case file, and other suites. Patterns
/// have none.
pub fn data_files(directory: &Path, tree: &Tree, kind: &str) -> DataFiles {
    let mut found = DataFiles::default();
    match kind {
        "tasks" => found.collect("", tree, 0, &[]),
        "directories" => {
            for (name, entry) in named(tree) {
                if entry.kind.is_file() {
                    found.add(name, name.to_owned());
                } else if !is_left_out(name) && has_case_file(&directory.join(name), &entry.below) {
                    found.collect(name, &entry.below, 1, &CASE_FILES);
                }
            }
        }
        _ => {}
    }
    found
}

fn is_left_out(name: &str) -> bool {
    name.starts_with(['.', '_']) || FOREIGN.contains(&name)
}

/// The entries whose names are UTF-8: the others are reported where cases are listed.
fn named(tree: &Tree) -> impl Iterator<Item = (&str, &TreeEntry)> {
    tree.entries.iter().filter_map(|entry| Some((entry.name.to_str()?, entry)))
}

fn has_case_file(directory: &Path, tree: &Tree) -> bool {
    let is_file = |(name, entry): (&str, &TreeEntry)| {
        CASE_FILES.contains(&name)
            && (entry.kind.is_file() || entry.kind.is_symlink() && directory.join(name).is_file())
    };
    named(tree).any(is_file)
}

impl DataFiles {
    /// Adds what is in the directory at the relative path `below`, but for files of these names: those of the case itself.
    fn collect(&mut self, below: &str, tree: &Tree, depth: usize, case_files: &[&str]) {
        // Another suite reports what it does not use.
        if depth > MAX_DEPTH || depth > 1 && named(tree).any(|(name, _)| SuiteFile::named(name).is_some()) {
            return;
        }
        for (name, entry) in named(tree) {
            if entry.kind.is_file() && !case_files.contains(&name) {
                self.add(name, join(below, name));
            } else if entry.kind.is_dir() && !is_left_out(name) {
                self.collect(&join(below, name), &entry.below, depth + 1, &[]);
            }
        }
    }

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

/// Names of the file that is the case of its directory.
pub const CASE_FILES: [&str; 2] = ["case.yaml", "case.yml"];

/// Whether a path is that of the case of a directory, by its name.
pub fn is_case_file(path: &Path) -> bool {
    CASE_FILES.iter().any(|name| path.file_name().is_some_and(|file| file == *name))
}

fn list_directories(search: &mut Search<'_>, path: &str) {
    let entries = search.entries(path);
    let parts = in_parts(&entries, ENTRIES_PER_THREAD, processors, |part| {
        let mut search = Search::new(search.root, search.boundary);
        for (name, kind) in part {
            directory(&mut search, &join(path, name), *kind);
        }
        search.found
    });
    for Listing { files, problems, .. } in parts {
        search.found.files.extend(files);
        search.found.problems.extend(problems);
    }
}

fn directory(search: &mut Search<'_>, directory: &str, kind: FileType) {
    let name = directory.rsplit('/').next().unwrap_or(directory);
    if name.starts_with(['.', '_']) || !kind.is_symlink() && !kind.is_dir() {
        return;
    }
    if search.resolve(directory, kind).is_some_and(|kind| kind.is_dir()) {
        case_file(search, directory);
    }
}

fn case_file(search: &mut Search<'_>, directory: &str) {
    let before = search.found.problems.len();
    let mut exists = |name: &str| {
        let file = join(directory, name);
        // A directory or a pipe with that name is not a case file; a link may point to one inside the boundary.
        let place = search.root.join(&file);
        let Ok(metadata) = place.symlink_metadata() else { return false };
        has_name_of_disk(&place) && search.resolve(&file, metadata.file_type()).is_some_and(|kind| kind.is_file())
    };
    let [name, other] = CASE_FILES;
    match (exists(name), exists(other)) {
        (true, true) => search.problem(directory, ProblemKind::TwoCaseFiles, format!("both `{name}` and `{other}`")),
        (true, false) => search.found.files.push(join(directory, name)),
        (false, true) => search.found.files.push(join(directory, other)),
        (false, false) if search.found.problems.len() > before => {}
        (false, false) => search.problem(directory, ProblemKind::NoCaseFile, format!("no `{name}`, skipped")),
    }
}

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
    use crate::discovery::tests::tree;

    fn found(kind: &str, files: &[&str]) -> DataFiles {
        let root = tree(files);
        data_files(root.path(), &Tree::read(root.path()), kind)
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

    fn found_skills(files: &[&str]) -> Vec<String> {
        skills_below(tree(files).path())
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
        assert_eq!(found_skills(&[&skills[..], &hidden].concat()), ["a", "b"]);
        for file in ["EVAL.yaml", "SKILL.md", "suite.json", "case-1/case.yaml"] {
            assert_eq!(found_skills(&[&skills[..], &[file]].concat()), [""; 0], "{file}");
        }
        assert_eq!(found_skills(&["x/y/SKILL.md", "x/y/evals/evals.json"]), [""; 0], "only right below");
    }
}
