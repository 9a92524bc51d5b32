//! The suites below a directory, those named on the command line, and the packages around them.
//!
//! Not a walk with `walkdir`: which directories are searched depends on the files beside them.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io;
use std::path::{Component, Path, PathBuf};

use evalsuite_loader::{Request, workspace_root};
use evalsuite_schema::diagnostics::suggest::did_you_mean;
use evalsuite_schema::discovery::{CASE_FILES, SuiteFile, is_skill, skill_directory};

use crate::platform::exit_status::{CliError, Result};

/// A path as it is typed in the current directory.
pub(crate) fn relative(path: &Path) -> Result<String> {
    let here = std::env::current_dir()?;
    let shown = match path.strip_prefix(&here) {
        Ok(below) if below.as_os_str().is_empty() => Path::new(".").to_owned(),
        Ok(below) => below.to_owned(),
        // In the same workspace, the way up is short.
        Err(_) => {
            let root = workspace_root(&here);
            let up =
                here.ancestors().take_while(|parent| parent.starts_with(&root)).position(|up| path.starts_with(up));
            let path_up = up.and_then(|up| Some((here.ancestors().nth(up)?, up)));
            path_up
                .and_then(|(above, up)| Some(Path::new(&"../".repeat(up)).join(path.strip_prefix(above).ok()?)))
                .unwrap_or_else(|| path.to_owned())
        }
    };
    Ok(shown.display().to_string())
}

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
fn has_suite_file(directory: &Path) -> bool {
    Contents::read(directory).has_suite_file()
}

/// Whether a path is the file of a suite.
pub(crate) fn is_suite_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.is_file() && (SuiteFile::named(&name).is_some() || skill_directory(path).is_some())
}

/// Whether a path, relative to its suite, is in the directory of the suite's cases.
fn is_of_cases(path: &Path) -> bool {
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

/// A request for the suite at `path`.
pub(crate) fn request(path: &Path) -> io::Result<Request> {
    Request::of_suite(&absolute(path)?, &std::env::current_dir()?)
}

/// The absolute path of what the user has named.
pub(crate) fn existing(path: &Path) -> Result<PathBuf> {
    let whole = absolute(path)?;
    if whole.symlink_metadata().is_ok() {
        return Ok(whole);
    }
    let message = format!("`{}` does not exist", path.display());
    let here = std::env::current_dir()?;
    let help = meant(&whole, &here).unwrap_or_else(|| format!("the path is relative to {}", here.display()));
    Err(CliError::with_help(message, help))
}

/// The path that was probably meant: that of a suite with this name, or one with a similar spelling.
fn meant(path: &Path, here: &Path) -> Option<String> {
    let shown = |path: &Path| path.strip_prefix(here).unwrap_or(path).to_str().map(str::to_owned);
    let suites: Vec<String> = suites_here().ok()?.iter().filter_map(|suite| shown(suite)).collect();
    if let Some(suite) = suites.iter().find(|suite| Path::new(suite).file_name() == path.file_name()) {
        return Some(format!("did you mean `{suite}`?"));
    }
    let beside = path.parent()?.read_dir().into_iter().flatten().flatten();
    let beside: Vec<String> = beside.filter_map(|entry| shown(&entry.path())).collect();
    did_you_mean(&shown(path)?, suites.iter().chain(&beside).map(String::as_str))
}

/// The suites at or below a path that the user has named; the path itself if there are none: loading it reports what is missing.
pub(crate) fn suites_at(path: &Path) -> Result<Vec<PathBuf>> {
    let path = existing(path)?;
    // The directory of a suite's cases looks like a suite without its file.
    if let (Some(around), Some(name)) = (path.parent(), path.file_name())
        && is_of_cases(Path::new(name))
        && has_suite_file(around)
    {
        return Ok(suites_in(around));
    }
    let found = all_below(&path);
    let is_one = found.is_empty() || found.contains(&path);
    Ok(if is_one { vec![path] } else { found })
}

/// The suites of the package or workspace around the current directory. Outside of packages, not everything below the directory is
/// searched, which may be a home directory: only itself and the usual directories of suites.
pub(crate) fn suites_here() -> io::Result<Vec<PathBuf>> {
    let here = std::env::current_dir()?;
    if package_around(&here).is_some() {
        return Ok(suites_around(&here));
    }
    let mut found = suites_in(&here);
    found.extend(USUAL_DIRECTORIES.iter().flat_map(|name| all_below(&here.join(name))));
    Ok(found)
}

/// Directories in which suites usually are.
const USUAL_DIRECTORIES: [&str; 2] = ["suites", "evals"];

/// The error of a command that found no suite in the current directory.
pub(crate) fn no_suite_here() -> Result<CliError> {
    let here = std::env::current_dir()?;
    if package_around(&here).is_some() {
        return Ok(CliError::with_help("no suite found", "write one: `cargo evalsuite new suite`"));
    }
    let usual = USUAL_DIRECTORIES.join("` and `");
    let message = format!("no suite found: outside of a package, only `{usual}` are searched in {}", here.display());
    Ok(CliError::with_help(message, "name a suite or a directory to search, such as `cargo evalsuite check .`"))
}

/// The suites that the case at a path is a case of; none if the path is not that of a case: its directory, its file, or a directory of
/// such files.
pub(crate) fn suites_of_case(path: &Path) -> Vec<PathBuf> {
    if is_suite_file(path) || (path.is_dir() && !below(path).suites.is_empty()) {
        return Vec::new();
    }
    let Some(directory) = path.ancestors().skip(1).find(|directory| !suites_in(directory).is_empty()) else {
        return Vec::new();
    };
    // Directories of cases look like a suite without its file.
    let parent = directory.parent().filter(|parent| has_suite_file(parent));
    let directory = parent.filter(|_| !has_suite_file(directory)).unwrap_or(directory);
    let below = path.strip_prefix(directory).unwrap_or(path);
    let is_case = match path.is_dir() {
        true => has_case_file(path) || is_of_cases(below),
        false => {
            below.components().count() > 1 && path.extension().is_some_and(|it| DATA.iter().any(|data| it == *data))
        }
    };
    if is_case { suites_in(directory) } else { Vec::new() }
}

/// Extensions of files with cases.
const DATA: [&str; 4] = ["yaml", "yml", "json", "jsonl"];

/// The directory of a suite that is named by its directory or its file.
pub(crate) fn suite_directory(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}

/// The suites of the package or workspace around a directory.
pub(crate) fn suites_around(directory: &Path) -> Vec<PathBuf> {
    all_below(package_around(directory).unwrap_or(directory))
}

/// The directory of the package or workspace around a path.
pub(crate) fn package_around(path: &Path) -> Option<&Path> {
    path.ancestors().find(|directory| directory.join("Cargo.toml").is_file())
}

/// The packages of the workspaces around `paths`.
pub(crate) fn packages_around(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut packages = BTreeSet::new();
    for path in paths {
        let Some(package) = package_around(path) else { continue };
        if packages.insert(package.to_path_buf()) {
            add_packages_below(&workspace_root(package), &mut packages);
        }
    }
    packages.into_iter().collect()
}

fn add_packages_below(directory: &Path, packages: &mut BTreeSet<PathBuf>) {
    for package in below(directory).packages {
        add_packages_below(&package, packages);
        packages.insert(package);
    }
}

/// Searches packages below `directory` too: the root of a workspace often is not a package.
fn all_below(directory: &Path) -> Vec<PathBuf> {
    let found = below(directory);
    let mut all = found.suites;
    all.extend(found.packages.iter().flat_map(|package| all_below(package)));
    all
}

/// The absolute path without `.` and `..`. Symbolic links stay, so that files are shown as the user named them.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    let mut absolute = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::ParentDir => {
                absolute.pop();
            }
            other => absolute.push(other),
        }
    }
    Ok(absolute)
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
