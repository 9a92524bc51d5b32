//! Files below a directory of a source.
//!
//! Not `walkdir`: a link is followed only where it stays in the directory of the source, and the number of entries has a limit.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_discovery::{MAX_DEPTH, Pattern, is_glob};

use super::{SourceFiles, resolved};
use crate::report::Place;
use crate::source_problem::SourceProblem;

/// Entries of directories that a conversion visits, at most.
const MAX_ENTRIES: usize = 100_000;

/// Links to directories that are followed, at most: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

impl SourceFiles {
    /// The files below `directory` that `keeps` does not leave out, in the order of their names. `keeps` gets each path relative to it.
    pub(crate) fn below(&self, directory: &Path, place: &Place, keeps: impl Fn(&Path, bool) -> bool) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let reference = self.shown(directory);
        if directory.is_dir() && self.allows(directory, &reference, place) {
            let walk = Walk { files: self, top: directory, place, keeps: &keeps };
            walk.visit(directory, 0, &mut files);
        }
        files
    }

    /// The files that a path or pattern of `reference` leads to from `directory`, in the order of their names.
    pub(crate) fn matching(
        &self,
        pattern: &str,
        directory: &Path,
        reference: &str,
        place: &Place,
    ) -> Result<Vec<PathBuf>, String> {
        let path = directory.join(pattern);
        if path.is_file() {
            return Ok(if self.allows(&path, reference, place) { vec![path] } else { Vec::new() });
        }
        let is_special = |part: &str| is_glob(part) || part.contains('[');
        let parts: Vec<&str> = pattern.split('/').collect();
        let Some(first) = parts.iter().position(|part| is_special(part)) else {
            self.allows(&path, reference, place);
            return Ok(Vec::new());
        };
        // An absolute pattern starts with an empty part.
        let (fixed, rest) = (parts[..first].join("/"), parts[first..].join("/"));
        let top = directory.join(if pattern.starts_with('/') { format!("/{fixed}") } else { fixed });
        let compiled = Pattern::new(&rest)?;
        if !self.allows(&top, reference, place) {
            return Ok(Vec::new());
        }
        let levels = if rest.contains("**") { usize::MAX } else { rest.matches('/').count() };
        let keeps = |path: &Path, is_directory: bool| {
            let path = path.to_string_lossy().replace('\\', "/");
            let is_hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
            !is_hidden && if is_directory { path.matches('/').count() < levels } else { compiled.is_match(&path) }
        };
        Ok(self.below(&top, place, keeps))
    }
}

struct Walk<'a, K> {
    files: &'a SourceFiles,
    top: &'a Path,
    place: &'a Place,
    keeps: &'a K,
}

impl<K: Fn(&Path, bool) -> bool> Walk<'_, K> {
    /// Adds the files below `directory`; false at the limit of entries.
    fn visit(&self, directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> bool {
        if depth > MAX_DEPTH {
            let shown = self.files.shown(directory);
            return self.limit(&format!("`{shown}`: directories are nested deeper than {MAX_DEPTH}"));
        }
        // What cannot be read has no files.
        let Ok(entries) = fs::read_dir(directory) else { return true };
        let mut children = Vec::new();
        for entry in entries.flatten() {
            self.files.entries.set(self.files.entries.get() + 1);
            if self.files.entries.get() > MAX_ENTRIES {
                let shown = self.files.shown(self.top);
                return self.limit(&format!("more than {MAX_ENTRIES} files and directories are below `{shown}`"));
            }
            children.push((entry.path(), entry.file_type()));
        }
        children.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (path, kind) in children {
            let Ok(kind) = kind else { continue };
            let is_directory = kind.is_dir() || kind.is_symlink() && path.is_dir();
            let below = path.strip_prefix(self.top).unwrap_or(&path);
            if !(self.keeps)(below, is_directory) {
                continue;
            }
            if kind.is_symlink() && !self.follows(&path, is_directory) {
                continue;
            }
            if is_directory {
                if !self.visit(&path, depth + 1, found) {
                    return false;
                }
            } else if path.is_file() {
                found.push(path);
            }
        }
        true
    }

    /// Whether a link is followed. One that leads out is a problem.
    fn follows(&self, link: &Path, is_directory: bool) -> bool {
        if !self.files.allows(link, &self.files.shown(link), self.place) {
            return false;
        }
        if !is_directory {
            return true;
        }
        // A link to a directory that contains it.
        if link.parent().is_some_and(|parent| resolved(parent).starts_with(resolved(link))) {
            return false;
        }
        self.files.links.set(self.files.links.get() + 1);
        self.files.links.get() <= MAX_LINKS || self.limit(&format!("more than {MAX_LINKS} links to directories"))
    }

    fn limit(&self, message: &str) -> bool {
        let help = "name the directory that has the files, and no other";
        self.files.problem(SourceProblem::new(message, self.place, help));
        false
    }
}
