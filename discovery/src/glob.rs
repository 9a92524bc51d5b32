use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::{Listing, MAX_DEPTH, ProblemKind, entries, join};

/// Whether a path is a pattern: it holds `*`, `?` or `{`.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '{'])
}

pub(crate) fn list(root: &Path, pattern: &str, listing: &mut Listing) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if let Some(problem) = too_complex(pattern) {
        listing.problem(pattern, ProblemKind::InvalidGlob, problem);
        return;
    }
    // What stands before the first component with a special character needs no search, and may be `..`.
    let fixed = pattern.split('/').take_while(|part| !is_glob(part)).collect::<Vec<_>>().join("/");
    let rest = pattern[fixed.len()..].trim_start_matches('/');
    match GlobBuilder::new(rest).literal_separator(true).build() {
        Ok(glob) => walk(&Search { root, fixed: &fixed, matcher: glob.compile_matcher() }, "", 0, listing),
        Err(error) => listing.problem(pattern, ProblemKind::InvalidGlob, error.kind().to_string()),
    }
}

/// Longest pattern, in bytes.
const MAX_LENGTH: usize = 4096;

/// Deepest nesting of alternatives.
const MAX_BRACES: usize = 8;

/// Compiling a pattern takes memory and stack by its length and nesting.
fn too_complex(pattern: &str) -> Option<String> {
    if pattern.len() > MAX_LENGTH {
        return Some(format!("the pattern is longer than {MAX_LENGTH} bytes"));
    }
    let mut open = 0usize;
    for byte in pattern.bytes() {
        match byte {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_BRACES {
            return Some(format!("more than {MAX_BRACES} braces are nested"));
        }
    }
    None
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
