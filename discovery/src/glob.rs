use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::{Listing, MAX_DEPTH, ProblemKind, entries, join};

/// Whether a path is a pattern: it holds `*`, `?` or `{`.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '{'])
}

pub(crate) fn list(root: &Path, pattern: &str, listing: &mut Listing) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    // What stands before the first component with a special character needs no search, and may be `..`.
    let fixed = pattern.split('/').take_while(|part| !is_glob(part)).collect::<Vec<_>>().join("/");
    let rest = pattern[fixed.len()..].trim_start_matches('/');
    match GlobBuilder::new(rest).literal_separator(true).build() {
        Ok(glob) => walk(&Search { root, fixed: &fixed, matcher: glob.compile_matcher() }, "", 0, listing),
        Err(error) => listing.problem(pattern, ProblemKind::InvalidGlob, error.kind().to_string()),
    }
}

struct Search<'a> {
    root: &'a Path,
    fixed: &'a str,
    matcher: GlobMatcher,
}

fn walk(search: &Search<'_>, below: &str, depth: usize, listing: &mut Listing) {
    let directory = if below.is_empty() { search.fixed.to_owned() } else { join(search.fixed, below) };
    if depth > MAX_DEPTH {
        listing.problem(directory, ProblemKind::TooDeep, format!("directories are nested deeper than {MAX_DEPTH}"));
        return;
    }
    if depth == 0 && !search.root.join(&directory).is_dir() {
        return;
    }
    for (name, kind) in entries(search.root, &directory, listing) {
        if name.starts_with('.') {
            continue;
        }
        let path = join(below, &name);
        if kind.is_dir() {
            walk(search, &path, depth + 1, listing);
        } else if kind.is_file() && search.matcher.is_match(&path) {
            listing.files.push(join(search.fixed, &path));
        }
    }
}
