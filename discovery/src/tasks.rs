//! Task files below a directory.

use std::path::Path;

use crate::link;
use crate::listing::{Listing, MAX_DEPTH, ProblemKind, entries, join};

pub(crate) fn list(root: &Path, boundary: &Path, path: &str, listing: &mut Listing) {
    walk(Search { root, boundary, links: &mut 0 }, path, 0, listing);
}

struct Search<'a> {
    root: &'a Path,
    boundary: &'a Path,
    /// Links to directories that were followed.
    links: &'a mut usize,
}

fn walk(search: Search<'_>, path: &str, depth: usize, listing: &mut Listing) {
    let Search { root, boundary, links } = search;
    if depth > MAX_DEPTH {
        listing.problem(path, ProblemKind::TooDeep, format!("directories are nested deeper than {MAX_DEPTH}"));
        return;
    }
    let mut directories = Vec::new();
    let mut holds_task = false;
    for (name, kind) in entries(root, path, listing) {
        let entry = join(path, &name);
        let linked = kind.is_symlink();
        let Some(kind) = link::resolve(root, boundary, &entry, kind, listing) else {
            // It was meant to be a task: the directory next to it is still its template.
            holds_task |= is_task(&name);
            continue;
        };
        if kind.is_dir() {
            if !linked || link::may_follow(root, &entry, links, listing) {
                directories.push((name, entry));
            }
        } else if is_task(&name) {
            // Anything else with such a name (a FIFO, a socket) is listed too: the reader reports what it is.
            holds_task = true;
            listing.files.push(entry);
        }
    }
    for (name, directory) in directories {
        // The template of the tasks next to it, not a folder of tasks.
        if name == "workspace" && holds_task {
            continue;
        }
        walk(Search { root, boundary, links }, &directory, depth + 1, listing);
    }
}

fn is_task(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() >= 5 && bytes[bytes.len() - 5..].eq_ignore_ascii_case(b".json")
}
