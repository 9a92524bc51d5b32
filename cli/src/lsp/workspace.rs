//! The suites of the directories that are open in the editor.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evalsuite_discovery::{SuiteFile, is_case_file, skill_directory};
use evalsuite_loader::Request;
use evalsuite_loader::source::Texts;

use super::open_suite::OpenSuite;
use crate::check;
use crate::locate::includes;
use crate::locate::suite_request::suite_directory;

/// Directories of files that programs write.
const OF_PROGRAMS: &[&str] = &["target", "node_modules", ".git"];

/// The suites of the directories that are open in the editor.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) roots: Vec<PathBuf>,
    pub(super) suites: Vec<OpenSuite>,
    /// Calls that include a suite in a way that is not understood.
    pub(super) unread: Vec<String>,
}

impl Workspace {
    /// Finds the suites and their includes again, and loads all.
    pub(super) fn open(&mut self, texts: &Texts) {
        self.suites.clear();
        self.unread.clear();
        for root in &self.roots {
            // It fails if the current directory is gone.
            let Ok((paths, includes)) = check::suites_of(root) else { continue };
            self.unread.extend(includes.unread.iter().cloned());
            // Two of the directories may be in one workspace.
            let is_open = |path: &PathBuf| self.suites.iter().any(|suite| includes::is_same_suite(&suite.path, path));
            let others: Vec<PathBuf> = paths.into_iter().filter(|path| !is_open(path)).collect();
            for path in others {
                let Ok(request) = Request::of_suite(&path, root) else { continue };
                let of_suite = includes.of_suite(&path);
                if of_suite.is_empty() {
                    self.suites.push(OpenSuite::new(path.clone(), None, request.clone()));
                }
                for include in of_suite {
                    self.suites.push(OpenSuite::new(path.clone(), Some(include.clone()), request.clone()));
                }
            }
        }
        self.suites.iter_mut().for_each(|suite| suite.load(texts));
    }

    /// Adds the package or repository around a file that is in none of the directories. Whether there is one.
    pub(super) fn add_root_around(&mut self, path: &Path) -> bool {
        if self.roots.iter().any(|root| path.starts_with(root)) {
            return false;
        }
        let around = |name: &str| path.ancestors().skip(1).find(|directory| directory.join(name).exists());
        let root = around("Cargo.toml").or_else(|| around(".git"));
        self.roots.extend(root.map(Path::to_path_buf));
        root.is_some()
    }

    /// Whether a file is written by programs all the time, and belongs to no suite.
    pub(super) fn ignores(&self, path: &Path) -> bool {
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        below.iter().any(|part| OF_PROGRAMS.iter().any(|name| part == *name))
    }

    /// Whether there may be other suites once a file or directory has appeared or disappeared: one that is the file of a suite or of a
    /// case, or that a suite consists of. When a directory is removed or moved, clients may not name what was in it.
    pub(super) fn may_make_suites(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_dir()
            || SuiteFile::named(&name).is_some()
            || skill_directory(path).is_some()
            || is_case_file(path)
            || self.suites.iter().any(|suite| suite.has_below(path))
    }

    /// Checks the suites that read these files, whose texts have changed.
    pub(super) fn change(&mut self, paths: &BTreeSet<PathBuf>, texts: &Texts) {
        for suite in &mut self.suites {
            let read: Vec<&PathBuf> = paths.iter().filter(|path| suite.reads(path)).collect();
            match read.as_slice() {
                [] => {}
                [one] => suite.reload(one, texts),
                _ => suite.load(texts),
            }
        }
    }

    /// Loads the suites that may read these files again, some of which are new or gone.
    pub(super) fn reload(&mut self, paths: &BTreeSet<PathBuf>, texts: &Texts) {
        for suite in &mut self.suites {
            if paths.iter().any(|path| suite.may_read(path)) {
                suite.load(texts);
            }
        }
    }

    /// The suites that a file belongs to.
    pub(super) fn of_file(&self, path: &Path) -> Vec<&OpenSuite> {
        let reading: Vec<&OpenSuite> = self.suites.iter().filter(|suite| suite.reads(path)).collect();
        if !reading.is_empty() {
            return reading;
        }
        let around = self.suites.iter().filter(|suite| path.starts_with(suite_directory(&suite.path)));
        let deepest = around.clone().map(|suite| suite_directory(&suite.path).components().count()).max();
        around.filter(|suite| Some(suite_directory(&suite.path).components().count()) == deepest).collect()
    }
}
