//! Changes of files, as the operating system reports them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::{fs, io};

use notify::{ErrorKind, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::verdicts::Event;

/// Directories of a package with results and recordings, not with cases.
const WRITTEN_BY_RUNS: [&str; 2] = [".evalsuite/cassettes", ".evalsuite/baselines"];

/// How often a directory is tried that changes while it is added.
const ATTEMPTS: usize = 10;

/// Watches the directories of suites and packages, but for those that builds, runs and version control write to.
pub(super) struct FileWatcher {
    watcher: RecommendedWatcher,
    /// Directories of packages, and those of workspaces without one.
    packages: BTreeSet<PathBuf>,
    /// Where runs are stored, unless there are suites in it.
    output: Option<PathBuf>,
}

impl FileWatcher {
    /// `directories` are watched with what is below them, of `workspaces` the manifests and new members. `output` is the directory of runs.
    pub(super) fn start(
        directories: &BTreeSet<PathBuf>,
        workspaces: &BTreeSet<PathBuf>,
        output: &Path,
        events: Sender<Event>,
    ) -> notify::Result<Self> {
        let manifests: BTreeSet<PathBuf> = directories.iter().map(|directory| directory.join("Cargo.toml")).collect();
        let report = move |found: notify::Result<notify::Event>| {
            // The receiver is gone when the program ends.
            drop(event_of(found, &manifests).map(|event| events.send(event)));
        };
        let has_suites = directories.iter().any(|directory| directory.starts_with(output));
        let output = (!has_suites).then(|| output.to_path_buf());
        let mut watcher = Self { watcher: notify::recommended_watcher(report)?, packages: BTreeSet::new(), output };
        for directory in directories {
            if directory.join("Cargo.toml").is_file() {
                watcher.add_package(directory)?;
            } else {
                watcher.watcher.watch(directory, RecursiveMode::Recursive)?;
            }
        }
        for root in workspaces.difference(directories) {
            watcher.watcher.watch(root, RecursiveMode::NonRecursive)?;
            watcher.packages.insert(root.clone());
        }
        Ok(watcher)
    }

    /// The directory itself, and what is below its directories.
    fn add_package(&mut self, root: &Path) -> notify::Result<()> {
        self.watcher.watch(root, RecursiveMode::NonRecursive)?;
        self.packages.insert(root.to_path_buf());
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            self.add_below_package(&entry.path())?;
        }
        Ok(())
    }

    fn add_below_package(&mut self, directory: &Path) -> notify::Result<()> {
        // A program may remove what is in it meanwhile.
        for _ in 0..ATTEMPTS {
            if !directory.is_dir() || is_ignored(directory) || self.is_output(directory) {
                return Ok(());
            }
            match self.watcher.watch(directory, RecursiveMode::Recursive) {
                Err(error) if is_not_found(&error) => {}
                watched => return watched,
            }
        }
        Ok(())
    }

    fn is_output(&self, path: &Path) -> bool {
        self.output.as_ref().is_some_and(|output| path.starts_with(output))
    }

    /// Follows directories that are new in a package; returns the files that count.
    pub(super) fn sift(&mut self, files: BTreeSet<PathBuf>) -> notify::Result<BTreeSet<PathBuf>> {
        let mut sifted = BTreeSet::new();
        for file in files {
            // Of the innermost one.
            let below = self.packages.iter().rev().find_map(|package| file.strip_prefix(package).ok());
            let is_written_by_runs =
                |below: &Path| WRITTEN_BY_RUNS.iter().any(|directory| below.starts_with(directory));
            let is_ours = below.is_some_and(|below| {
                is_written_by_runs(below) || below.iter().next().is_some_and(|first| is_ignored(Path::new(first)))
            });
            if is_ours || self.is_output(&file) {
                continue;
            }
            if file.parent().is_some_and(|parent| self.packages.contains(parent)) {
                self.add_below_package(&file)?;
            }
            if !is_temporary(&file) {
                sifted.insert(file);
            }
        }
        Ok(sifted)
    }
}

fn is_not_found(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => error.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

/// What the system reports, if files may have changed.
fn event_of(found: notify::Result<notify::Event>, manifests: &BTreeSet<PathBuf>) -> Option<Event> {
    match found {
        // Reading a file does not change it.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => None,
        // There were more changes than the system keeps: cargo finds out what they are.
        Ok(event) if event.need_rescan() => Some(Event::Files(manifests.clone())),
        Ok(event) => Some(Event::Files(event.paths.into_iter().collect())),
        Err(error) => Some(Event::WatchError(error.to_string())),
    }
}

/// Directories of a package that no case is in.
fn is_ignored(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default();
    let is_target = name == "target" || directory.join("CACHEDIR.TAG").is_file();
    is_target || [".git", ".jj", ".hg", "node_modules"].iter().any(|ignored| name == *ignored)
}

/// Files that editors write beside the one that is saved.
fn is_temporary(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.ends_with('~') || name.ends_with(".swp") || name.ends_with(".swx") || name.starts_with(".#") || name == "4913"
}

/// Whether a file is one that cargo builds from, whatever the packages are.
pub(super) fn is_of_build(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.ends_with(".rs") || matches!(name, "Cargo.toml" | "Cargo.lock")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn records_of_runs_are_no_change_wherever_they_are() {
        let package = tempfile::tempdir().unwrap();
        let root = package.path();
        fs::write(root.join("Cargo.toml"), "").unwrap();
        let sift = |output: &Path, file: &str| {
            let directories = [root.to_path_buf(), root.join("suites")].into();
            fs::create_dir_all(root.join("suites")).unwrap();
            let mut watcher = FileWatcher::start(&directories, &BTreeSet::new(), output, mpsc::channel().0).unwrap();
            watcher.sift([root.join(file)].into()).unwrap().len()
        };
        let results = root.join("results");
        let files = ["results/latest", "results/runs/1/run.json", "target/x", ".evalsuite/baselines/shop.json"];
        files.iter().for_each(|file| assert_eq!(sift(&results, file), 0, "{file}"));
        assert_eq!(sift(&results, "resultsets.yaml"), 1);
        assert_eq!(sift(root, "suites/a.yaml"), 1, "an output directory with suites is watched");
    }

    #[test]
    fn directories_that_disappear_while_they_are_added_are_no_errors() {
        let package = tempfile::tempdir().unwrap();
        let root = package.path().to_path_buf();
        fs::write(root.join("Cargo.toml"), "").unwrap();
        let mut watcher =
            FileWatcher::start(&[root.clone()].into(), &BTreeSet::new(), &root.join("out"), mpsc::channel().0).unwrap();
        let directory = root.join("temporary");
        let program = std::thread::spawn(move || {
            for round in 0..100 {
                let directory = root.join("temporary");
                (0..20).for_each(|name| fs::create_dir_all(directory.join(format!("{name}/below"))).unwrap());
                std::thread::sleep(std::time::Duration::from_micros(round * 10));
                fs::remove_dir_all(directory).unwrap();
            }
        });
        while !program.is_finished() {
            watcher.sift([directory.clone()].into()).unwrap();
        }
        program.join().unwrap();
    }

    #[test]
    fn changes_that_the_system_has_lost_need_a_build() {
        let manifests: BTreeSet<PathBuf> = ["/p/Cargo.toml".into()].into();
        let lost = notify::Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        let Some(Event::Files(files)) = event_of(Ok(lost), &manifests) else { panic!("a change of files") };
        assert!(files == manifests && files.iter().all(|file| is_of_build(file)));
    }

    #[test]
    fn what_editors_leave_beside_a_file_is_no_change() {
        let temporary = ["case.yaml~", ".case.yaml.swp", ".#case.yaml", "4913"];
        assert!(temporary.iter().all(|name| is_temporary(Path::new(name))));
        assert!(["case.yaml", "evals.rs", ".evalsuite"].iter().all(|name| !is_temporary(Path::new(name))));
    }

    #[test]
    fn sources_and_manifests_need_a_build() {
        assert!(["tests/evals.rs", "Cargo.toml", "Cargo.lock"].iter().all(|name| is_of_build(Path::new(name))));
        assert!(!is_of_build(Path::new("suites/shop/EVAL.yaml")));
    }
}
