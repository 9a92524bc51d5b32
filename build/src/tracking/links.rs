//! Links below a tracked directory: cargo follows them when it looks for changes.
//!
//! evalsuite-discovery has the same rules in `directory_links`, for the loader. A test compares them.

use std::fs;
use std::path::{Path, PathBuf};

/// A link to a directory that cargo should not follow.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) path: PathBuf,
    /// Where it leads, with all links resolved.
    pub(super) target: PathBuf,
    /// Why cargo should not follow it, as a sentence about the target.
    pub(super) reason: &'static str,
}

/// Links to directories that are followed, at most: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

/// Entries behind links, at most.
const MAX_ENTRIES: usize = 250_000;

const TOO_MUCH: &str =
    "with it, cargo would follow more than 1,000 links to directories, or see more than 250,000 files behind them";

/// The first link to a directory below `directory`, also behind other links, for whose target there is a `reason` not to follow it. What
/// cannot be read is left out: cargo cannot read it either.
pub(super) fn first(directory: &Path, reason: impl Fn(&Path) -> Option<&'static str>) -> Option<Link> {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    Walk { reason, links: 0, entries: 0, open: vec![real] }.visit(directory, false)
}

struct Walk<F> {
    reason: F,
    links: usize,
    entries: usize,
    /// The directories around the one that is visited, links resolved: cargo does not follow a link to one of them.
    open: Vec<PathBuf>,
}

impl<F: Fn(&Path) -> Option<&'static str>> Walk<F> {
    fn visit(&mut self, directory: &Path, is_behind_link: bool) -> Option<Link> {
        let entries = fs::read_dir(directory).ok()?;
        let mut directories: Vec<_> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let kind = entry.file_type().ok()?;
                self.entries += usize::from(is_behind_link);
                (!kind.is_file()).then(|| (entry.file_name(), kind))
            })
            .collect();
        directories.sort_by(|(one, _), (other, _)| one.cmp(other));
        directories.into_iter().find_map(|(name, kind)| {
            let path = directory.join(&name);
            let (real, is_link) = if kind.is_dir() {
                (self.open.last().map_or_else(|| path.clone(), |around| around.join(&name)), false)
            } else {
                (path.canonicalize().ok().filter(|target| kind.is_symlink() && target.is_dir())?, true)
            };
            if is_link {
                if let Some(reason) = (self.reason)(&real) {
                    return Some(Link { path, target: real, reason });
                }
                if self.open.contains(&real) {
                    return None;
                }
                if self.links == MAX_LINKS || self.entries > MAX_ENTRIES {
                    return Some(Link { path, target: real, reason: TOO_MUCH });
                }
                self.links += 1;
            }
            self.open.push(real);
            let found = self.visit(&path, is_behind_link || is_link);
            self.open.pop();
            found
        })
    }
}
