//! Links: which of them are followed.

use std::fs::{FileType, Metadata};

use crate::listing::{ProblemKind, Search};

/// Maximum number of links to directories that are followed: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

impl Search<'_> {
    /// What an entry is, links followed while they stay inside of the boundary. `None`: a problem was noted.
    pub(crate) fn resolve(&mut self, path: &str, kind: FileType) -> Option<FileType> {
        if !kind.is_symlink() {
            return Some(kind);
        }
        let problem = match self.root.join(path).canonicalize() {
            Ok(target) if self.boundary.canonicalize().is_ok_and(|boundary| target.starts_with(boundary)) => {
                return std::fs::metadata(&target).as_ref().map(Metadata::file_type).ok();
            }
            Ok(target) => format!("the link resolves to {}, outside the suite", target.display()),
            Err(error) => format!("the link is broken: {error}"),
        };
        self.problem(path, ProblemKind::Link, problem);
        None
    }

    /// Whether a link to a directory is followed. If not, a problem was noted.
    pub(crate) fn may_follow(&mut self, path: &str) -> bool {
        if self.is_loop(path) {
            self.problem(path, ProblemKind::Link, "the link points to a directory that contains it");
            return false;
        }
        if self.links == MAX_LINKS {
            self.problem(path, ProblemKind::TooDeep, format!("more than {MAX_LINKS} links to directories"));
        }
        self.links += 1;
        self.links <= MAX_LINKS
    }

    /// Whether a linked directory is one of its own ancestors.
    fn is_loop(&self, path: &str) -> bool {
        let link = self.root.join(path);
        let Ok(target) = link.canonicalize() else { return false };
        let parent = link.parent().and_then(|parent| parent.canonicalize().ok());
        parent.is_some_and(|parent| parent.starts_with(target))
    }
}
