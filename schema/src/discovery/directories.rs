//! Case files in the sub-directories of a directory, and directories with several Agent Skills.

use std::fs::{self, FileType};
use std::path::Path;

use super::listing::{ENTRIES_PER_THREAD, Listing, ProblemKind, Search, in_parts, join, processors};
use super::spelling::has_name_of_disk;
use super::suite_files::{SKILL_FILE, is_skill, suite_files};

/// Names of the file that is the case of its directory.
pub const CASE_FILES: [&str; 2] = ["case.yaml", "case.yml"];

/// Whether a path is that of the case of a directory, by its name.
pub fn is_case_file(path: &Path) -> bool {
    CASE_FILES.iter().any(|name| path.file_name().is_some_and(|file| file == *name))
}

pub(crate) fn list(search: &mut Search<'_>, path: &str) {
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
