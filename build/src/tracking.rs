//! `track()`: lets cargo see every change below a directory.
//!
//! Links below a tracked directory: cargo follows them when it looks for changes.
//!
//! `evalsuite_schema::discovery` has the same rules in `directory_links`, for the loader. A test compares them.

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

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[cfg(unix)]
    use evalsuite_schema::discovery::{Tree, directory_links};

    use super::track;
    use crate::tests::Fixture;

    fn fixture() -> Fixture {
        let fixture = Fixture::new(&[]);
        std::fs::create_dir(fixture.path("suites/empty")).expect("a folder");
        fixture
    }

    fn lines(fixture: &Fixture, directory: impl AsRef<Path>) -> Vec<String> {
        fixture.lines(|package, instructions| track(directory.as_ref(), package, instructions))
    }

    /// The error that is the only instruction for `suites`.
    #[cfg(unix)]
    #[track_caller]
    fn error(fixture: &Fixture) -> String {
        let lines = lines(fixture, "suites");
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0].strip_prefix("cargo::error=cannot track `suites`: ").expect("an error").to_owned()
    }

    #[cfg(unix)]
    fn link(fixture: &Fixture, target: impl AsRef<Path>, path: &str) {
        let path = fixture.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::os::unix::fs::symlink(target, path).expect("a link");
    }

    #[test]
    fn a_tracked_directory_is_watched_and_named_to_the_macro() {
        let fixture = fixture();
        let lines = lines(&fixture, "suites");
        assert_eq!(lines[0], "cargo::rerun-if-changed=suites");
        let variable = evalsuite_codegen::cargo_environment::TRACKED;
        assert!(lines[1].starts_with(&format!("cargo::rustc-env={variable}")), "{lines:?}");
        assert!(lines[1].ends_with(&format!("={}", fixture.package.root.join("suites").display())), "{lines:?}");
        assert_eq!(lines.len(), 2, "{lines:?}");
    }

    #[test]
    fn each_directory_gets_a_variable_of_its_own() {
        let fixture = fixture();
        let variable = |lines: Vec<String>| lines[1].split('=').nth(1).map(str::to_owned);
        assert_ne!(variable(lines(&fixture, "suites")), variable(lines(&fixture, "suites/empty")));
    }

    #[test]
    fn a_missing_directory_is_a_warning_and_nothing_that_makes_every_build_a_full_one() {
        let fixture = fixture();
        for directory in ["missing", "suites/missing", "Cargo.toml/missing"] {
            let lines = lines(&fixture, directory);
            assert_eq!(lines.len(), 1, "{lines:?}");
            let warning = format!("cargo::warning=`{directory}` is not tracked: it does not exist in ");
            assert!(lines[0].starts_with(&warning), "{lines:?}");
        }
    }

    #[test]
    fn a_directory_that_would_make_every_build_a_full_one_is_refused() {
        let fixture = fixture();
        let table = [
            (".", "cannot track `.`: this is the whole package"),
            ("suites/..", "cannot track `suites/..`: this is the whole package"),
            ("..", "cannot track `..`: it contains cargo's target directory"),
            ("target", "cannot track `target`: it contains cargo's target directory"),
            ("a\nb", "cannot track `a"),
        ];
        for (directory, start) in table {
            let lines = lines(&fixture, directory);
            let error = lines[0].strip_prefix("cargo::error=").expect("an error");
            assert!(error.starts_with(start), "for {directory:?}: {lines:?}");
            assert!(lines.iter().all(|line| line.starts_with("cargo::error=")), "for {directory:?}: {lines:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused_wherever_they_are() {
        let outside = tempfile::tempdir().expect("a temporary directory");
        let outside = outside.path().canonicalize().expect("a path");
        for path in ["suites/out", "suites/card_agent/tasks/deep/out"] {
            let fixture = fixture();
            link(&fixture, &outside, path);
            let error = error(&fixture);
            let start = format!("{} is a link to {}: ", fixture.path(path).display(), outside.display());
            assert!(error.starts_with(&start) && error.contains("outside of the package"), "{error}");
        }
        let fixture = fixture();
        link(&fixture, "../shared", "suites/shared");
        link(&fixture, &outside, "shared/out");
        let error = error(&fixture);
        assert!(error.contains("suites/shared/out is a link to "), "a link behind a link: {error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_to_the_package_and_to_the_target_directory_are_refused() {
        let table = [
            ("/", "it contains cargo's target directory"),
            ("../..", "this is the whole package"),
            ("../../target/debug", "it contains cargo's target directory"),
        ];
        for (target, reason) in table {
            let fixture = fixture();
            link(&fixture, target, "suites/card_agent/link");
            let error = error(&fixture);
            assert!(error.contains(reason), "{target}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_double_at_every_level_are_refused() {
        let fixture = fixture();
        for level in 0..20 {
            for name in ["a", "b"] {
                link(&fixture, format!("../l{}", level + 1), &format!("suites/l{level}/{name}"));
            }
        }
        std::fs::create_dir_all(fixture.path("suites/l20")).expect("a folder");
        let error = error(&fixture);
        assert!(error.contains("more than 1,000 links to directories"), "{error}");
    }

    /// The loader refuses the same links, with the rules of another crate: this one has no dependencies.
    #[cfg(unix)]
    #[test]
    fn the_loader_refuses_the_links_that_are_not_tracked() {
        for (target, path, is_refused) in [
            ("/", "suites/card_agent/out", true),
            ("/tmp", "suites/card_agent/tasks/deep/out", true),
            ("../..", "suites/card_agent/package", true),
            ("../../target", "suites/card_agent/target", true),
            ("../../shared", "suites/card_agent/shared", false),
            ("..", "suites/card_agent/loop", false),
            ("/etc/passwd", "suites/card_agent/file", false),
        ] {
            let fixture = fixture();
            std::fs::create_dir_all(fixture.path("shared")).expect("a folder");
            link(&fixture, target, path);
            let root = &fixture.package.root;
            let suites = fixture.path("suites");
            let found = directory_links(&suites, &Tree::read(&suites), root, &fixture.path("target"));
            assert_eq!(!found.is_empty(), is_refused, "{path} -> {target}: {found:?}");
            assert_eq!(lines(&fixture, "suites")[0].starts_with("cargo::error="), is_refused, "{path} -> {target}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_inside_of_the_package_to_files_and_to_nothing_are_tracked() {
        let fixture = fixture();
        link(&fixture, "../shared", "suites/shared");
        link(&fixture, "..", "suites/card_agent/loop");
        link(&fixture, "../suites", "shared/back");
        link(&fixture, "/etc/passwd", "suites/file");
        link(&fixture, "/nowhere", "suites/broken");
        let lines = lines(&fixture, "suites");
        assert!(lines.len() == 2 && lines[0] == "cargo::rerun-if-changed=suites", "{lines:?}");
    }
}
