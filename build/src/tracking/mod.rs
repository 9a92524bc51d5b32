//! `track()`: lets cargo see every change below a directory.
//!
//! Links below a tracked directory: cargo follows them when it looks for changes.
//!
//! `evalsuite_schema::discovery` has the same rules in `directory_links`, for the loader. A test compares them.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io};

use crate::cargo_instructions::{Instructions, Package};

/// Start of the names of the variables that tell the macro which directories the build script tracks. evalsuite-codegen has the same
/// constant.
const TRACKED: &str = "EVALSUITE_TRACKED_";

// What a directory contains that has nothing to do with suites: cargo would see changes that builds make themselves, or search more than
// the package.
const WHOLE_PACKAGE: &str =
    "this is the whole package, in which every build changes files, so every build would be a full one";
const TARGET_DIRECTORY: &str = "it contains cargo's target directory, so every build would be a full one";
const OUTSIDE: &str = "this is outside of the package, and cargo would look for changes everywhere below it";

/// Adds the instructions that track `directory`, or say why it is not tracked.
pub(crate) fn track(directory: &Path, package: &Package, instructions: &mut Instructions) {
    match checked(directory, package) {
        Ok(Some(absolute)) => {
            instructions.rerun_if_changed(&directory.to_string_lossy());
            instructions.rustc_env(&format!("{TRACKED}{}", next_number()), &absolute);
        }
        // Without an instruction: cargo takes a missing path for one that has changed, and every build would be a full one.
        Ok(None) => instructions.warning(&format!(
            "`{}` is not tracked: it does not exist in {}. The path is relative to the package's root, where Cargo.toml is",
            directory.display(),
            package.root.display()
        )),
        Err(reason) => instructions.error(&format!("cannot track `{}`: {reason}", directory.display())),
    }
}

/// The whole path of a directory that can be tracked, or why it cannot; `None` if it does not exist.
fn checked(directory: &Path, package: &Package) -> Result<Option<String>, String> {
    let Some(written) = directory.to_str().filter(|path| !path.contains(['\n', '\r'])) else {
        return Err("the path has to be UTF-8 without line breaks".to_owned());
    };
    // `join` and no more: cargo shows and compares paths as they are written, links are resolved only to compare.
    let absolute = package.root.join(written.trim_end_matches('/'));
    let resolved = match absolute.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string()),
    };
    let root = package.root.canonicalize().unwrap_or_else(|_| package.root.clone());
    let out_dir = package.out_dir.canonicalize().unwrap_or_else(|_| package.out_dir.clone());
    let contents = |path: &Path| match path {
        path if path == root => Some(WHOLE_PACKAGE),
        path if out_dir.starts_with(path) => Some(TARGET_DIRECTORY),
        _ => None,
    };
    if let Some(contents) = contents(&resolved) {
        let help = "Name the directory of the suites, such as `evalsuite_build::track(\"suites\")`";
        return Err(format!("{contents}. {help}"));
    }
    // A directory outside of the package is tracked if the build script names it, but what it links to has to be in it.
    let boundary = if resolved.starts_with(&root) { &root } else { &resolved };
    let of_target = |target: &Path| contents(target).or((!target.starts_with(boundary)).then_some(OUTSIDE));
    if let Some(link) = first(&absolute, of_target) {
        let (path, target, reason) = (link.path.display(), link.target.display(), link.reason);
        let help = format!("Copy the files that the suite needs, or move the link out of `{written}`");
        return Err(format!("{path} is a link to {target}: {reason}. {help}"));
    }
    match absolute.into_os_string().into_string() {
        Ok(absolute) => Ok(Some(absolute)),
        Err(_) => Err("the path of the package is not UTF-8".to_owned()),
    }
}

/// Build scripts may track several directories; each gets its own variable.
fn next_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A link to a directory that cargo should not follow.
#[derive(Debug)]
struct Link {
    path: PathBuf,
    /// Where it leads, with all links resolved.
    target: PathBuf,
    /// Why cargo should not follow it, as a sentence about the target.
    reason: &'static str,
}

/// Links to directories that are followed, at most: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

/// Entries behind links, at most.
const MAX_ENTRIES: usize = 250_000;

const TOO_MUCH: &str =
    "with it, cargo would follow more than 1,000 links to directories, or see more than 250,000 files behind them";

/// The first link to a directory below `directory`, also behind other links, for whose target there is a `reason` not to follow it. What
/// cannot be read is left out: cargo cannot read it either.
fn first(directory: &Path, reason: impl Fn(&Path) -> Option<&'static str>) -> Option<Link> {
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
