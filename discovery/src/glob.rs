//! Files whose paths match a pattern.

use std::path::Path;

use crate::link;
use crate::listing::{Listing, MAX_DEPTH, MAX_VISITED, ProblemKind, entries, join};
use crate::pattern::Pattern;

/// Whether a path is a pattern: it holds `*`, `?` or `{`.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '{'])
}

pub(crate) fn list(root: &Path, boundary: &Path, pattern: &str, listing: &mut Listing) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let fixed = fixed_directory(root, pattern);
    let rest = pattern[fixed.len()..].trim_start_matches('/');
    match Pattern::new(rest) {
        Ok(pattern) => {
            let levels = if rest.contains("**") { usize::MAX } else { rest.matches('/').count() };
            walk(&Search { root, boundary, fixed: &fixed, pattern, levels }, "", 0, &mut 0, listing);
        }
        Err(problem) => listing.problem(pattern, ProblemKind::InvalidGlob, problem),
    }
}

/// The directory before the first component with a special character: it needs no search, and may be `..`. Names with `[` are
/// common, so a directory that has the name of such a component is the one that is meant.
fn fixed_directory(root: &Path, pattern: &str) -> String {
    let mut fixed: Vec<&str> = Vec::new();
    for part in pattern.split('/') {
        fixed.push(part);
        if is_glob(part) || part.contains(['[', '\\']) && !root.join(fixed.join("/")).is_dir() {
            fixed.pop();
            break;
        }
    }
    fixed.join("/")
}

struct Search<'a> {
    root: &'a Path,
    boundary: &'a Path,
    fixed: &'a str,
    pattern: Pattern,
    /// Maximum number of directories between `fixed` and a match.
    levels: usize,
}

fn walk(search: &Search<'_>, below: &str, depth: usize, links: &mut usize, listing: &mut Listing) {
    let directory = if below.is_empty() { search.fixed.to_owned() } else { join(search.fixed, below) };
    if depth > MAX_DEPTH {
        listing.problem(directory, ProblemKind::TooDeep, format!("directories are nested deeper than {MAX_DEPTH}"));
        return;
    }
    if depth == 0 && !search.root.join(&directory).is_dir() {
        return;
    }
    let entries = entries(search.root, &directory, listing);
    let before = listing.visited;
    listing.visited += entries.len();
    if listing.visited > MAX_VISITED {
        if before <= MAX_VISITED {
            let message = format!("the pattern visits more than {MAX_VISITED} files and directories");
            listing.problem(directory, ProblemKind::TooDeep, message);
        }
        return;
    }
    for (name, kind) in entries {
        if name.starts_with('.') {
            continue;
        }
        let path = join(below, &name);
        let full = join(search.fixed, &path);
        let (is_match, leads_on) = (search.pattern.is_match(&path), depth < search.levels);
        let is_dir = kind.is_dir() || kind.is_symlink() && search.root.join(&full).is_dir();
        if !(if is_dir { leads_on } else { is_match }) {
            continue;
        }
        // A link is a problem only if something that matches may be below it.
        let linked = kind.is_symlink();
        let Some(kind) = link::resolve(search.root, search.boundary, &full, kind, listing) else { continue };
        if kind.is_file() {
            listing.files.push(full);
        } else if kind.is_dir() && (!linked || link::may_follow(search.root, &full, links, listing)) {
            walk(search, &path, depth + 1, links, listing);
        }
    }
}
