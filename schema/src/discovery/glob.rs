//! Files whose paths match a pattern.

use std::path::Path;

use super::listing::{MAX_VISITED, ProblemKind, Search, join};
use super::pattern::Pattern;

/// Whether a path is a pattern: it holds `*`, `?` or `{`.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '{'])
}

pub(crate) fn list(search: &mut Search<'_>, pattern: &str) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let fixed = fixed_directory(search.root, pattern);
    let rest = pattern[fixed.len()..].trim_start_matches('/');
    match Pattern::new(rest) {
        Ok(pattern) => {
            let levels = if rest.contains("**") { usize::MAX } else { rest.matches('/').count() };
            walk(search, &Glob { fixed: &fixed, pattern, levels }, "", 0);
        }
        Err(problem) => search.problem(pattern, ProblemKind::InvalidGlob, problem),
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

struct Glob<'a> {
    fixed: &'a str,
    pattern: Pattern,
    /// Maximum number of directories between `fixed` and a match.
    levels: usize,
}

fn walk(search: &mut Search<'_>, glob: &Glob<'_>, below: &str, depth: usize) {
    let directory = if below.is_empty() { glob.fixed.to_owned() } else { join(glob.fixed, below) };
    search.found.directories.push(directory.clone());
    if search.is_too_deep(&directory, depth) || depth == 0 && !search.root.join(&directory).is_dir() {
        return;
    }
    let entries = search.entries(&directory);
    let before = search.found.visited;
    search.found.visited += entries.len();
    if search.found.visited > MAX_VISITED {
        if before <= MAX_VISITED {
            let message = format!("the pattern visits more than {MAX_VISITED} files and directories");
            search.problem(directory, ProblemKind::TooDeep, message);
        }
        return;
    }
    for (name, kind) in entries {
        if name.starts_with('.') {
            continue;
        }
        let path = join(below, &name);
        let full = join(glob.fixed, &path);
        let (is_match, leads_on) = (glob.pattern.is_match(&path), depth < glob.levels);
        let is_dir = kind.is_dir() || kind.is_symlink() && search.root.join(&full).is_dir();
        if !(if is_dir { leads_on } else { is_match }) {
            continue;
        }
        // A link is a problem only if something that matches may be below it.
        let linked = kind.is_symlink();
        let Some(kind) = search.resolve(&full, kind) else { continue };
        if kind.is_file() {
            search.found.files.push(full);
        } else if kind.is_dir() && (!linked || search.may_follow(&full)) {
            walk(search, glob, &path, depth + 1);
        }
    }
}
