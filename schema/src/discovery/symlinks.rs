//! Links to directories below a suite: cargo follows them when it looks for changes of a tracked directory, and reads
//! everything below their targets first.
//!
//! evalsuite-build, which has no dependencies, has the same rules in `tracking`; a test there compares them.

use std::path::{Path, PathBuf};

use super::listing::Tree;

/// A link that cargo should not follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryLink {
    /// Where it is.
    pub path: PathBuf,
    /// Where it leads, with all links resolved.
    pub target: PathBuf,
    /// Why cargo should not follow it, as the end of a sentence about the target.
    pub reason: &'static str,
}

/// Links to directories that are followed, at most: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

/// Entries behind links, at most.
const MAX_ENTRIES: usize = 250_000;

/// The links to directories below `directory`, also behind other links, that lead out of `boundary`, or to a directory that contains
/// `target_directory`. The last one is that at which there is too much to follow. `tree` is what is below the directory; what cannot be
/// read is left out: cargo cannot read it either.
pub fn directory_links(directory: &Path, tree: &Tree, boundary: &Path, target_directory: &Path) -> Vec<DirectoryLink> {
    // Most suites have none.
    if !tree.has_link() {
        return Vec::new();
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut walk = Walk {
        boundary: real(boundary),
        target_directory: real(target_directory),
        links: 0,
        entries: 0,
        open: vec![real(directory)],
        found: Vec::new(),
    };
    walk.visit(directory, tree);
    walk.found
}

struct Walk {
    boundary: PathBuf,
    target_directory: PathBuf,
    links: usize,
    entries: usize,
    /// The directories around the one that is visited, links resolved: cargo does not follow a link to one of them.
    open: Vec<PathBuf>,
    found: Vec<DirectoryLink>,
}

impl Walk {
    /// False when it is over.
    fn visit(&mut self, directory: &Path, tree: &Tree) -> bool {
        tree.entries.iter().all(|entry| {
            let path = directory.join(&entry.name);
            if entry.kind.is_dir() {
                let real = self.open.last().map_or_else(|| path.clone(), |around| around.join(&entry.name));
                self.open.push(real);
                let goes_on = self.visit(&path, &entry.below);
                self.open.pop();
                return goes_on;
            }
            let target = if entry.kind.is_symlink() { path.canonicalize().ok() } else { None };
            target.filter(|target| target.is_dir()).is_none_or(|target| self.follow(path, target))
        })
    }

    /// False when it is over.
    fn follow(&mut self, path: PathBuf, target: PathBuf) -> bool {
        let reason = if !target.starts_with(&self.boundary) {
            "which is outside of the package, and cargo would look for changes everywhere below it"
        } else if self.target_directory.starts_with(&target) {
            "which has cargo's target directory in it, so every build would be a full one"
        } else if self.open.contains(&target) {
            return true;
        } else if self.links == MAX_LINKS || self.entries > MAX_ENTRIES {
            self.found.push(DirectoryLink { path, target, reason: TOO_MUCH });
            return false;
        } else {
            let behind = Tree::read(&path);
            self.links += 1;
            self.entries += behind.len();
            self.open.push(target);
            let goes_on = self.visit(&path, &behind);
            self.open.pop();
            return goes_on;
        };
        self.found.push(DirectoryLink { path, target, reason });
        true
    }
}

const TOO_MUCH: &str =
    "and cargo would follow more than 1,000 links to directories, or see more than 250,000 files behind them";

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Directories and links of a package, with the paths of the links that are found below `suites`.
    fn found(directories: &[&str], links: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let package = root.path().canonicalize().unwrap().join("package");
        for directory in directories.iter().chain(&["suites", "target"]) {
            fs::create_dir_all(package.join(directory)).unwrap();
        }
        links.iter().for_each(|(target, path)| symlink(target, package.join(path)).unwrap());
        let suites = package.join("suites");
        let found = directory_links(&suites, &Tree::read(&suites), &package, &package.join("target"));
        found.iter().map(|link| link.path.strip_prefix(&package).unwrap().display().to_string()).collect()
    }

    #[test]
    fn links_out_and_links_to_the_target_directory_are_found() {
        let directories = ["suites/a/b", "shared"];
        let links = [
            ("/", "suites/a/root"),
            ("../..", "suites/a/up"),
            ("..", "suites/package"),
            ("../target", "suites/target"),
            ("../shared", "suites/shared"),
            ("/tmp", "shared/tmp"),
            ("/etc/passwd", "suites/file"),
            ("/nowhere", "suites/broken"),
        ];
        let expected = ["suites/a/root", "suites/a/up", "suites/package", "suites/shared/tmp", "suites/target"];
        assert_eq!(found(&directories, &links), expected);
    }

    #[test]
    fn one_link_among_very_many_directories_is_found() {
        let directories: Vec<String> = (0..1_000).map(|number| format!("suites/d{number:03}/below")).collect();
        let directories: Vec<&str> = directories.iter().map(String::as_str).collect();
        for place in ["suites/d000/below/up", "suites/d700/up", "suites/d999/below/up"] {
            assert_eq!(found(&directories, &[("/", place)]), [place]);
        }
    }

    #[test]
    fn loops_and_links_inside_of_the_package_are_left_alone() {
        let directories = ["suites/a/b", "shared/deep"];
        let links = [
            ("..", "suites/a/up"),
            (".", "suites/a/b/self"),
            ("../../shared", "suites/a/shared"),
            ("../suites", "shared/back"),
            ("../../shared/deep", "suites/a/deep"),
        ];
        assert_eq!(found(&directories, &links), [""; 0]);
    }

    #[test]
    fn links_that_double_at_every_level_end() {
        let names: Vec<(String, String, String)> = (0..20)
            .map(|level| (format!("suites/l{level}"), format!("../l{}", level + 1), format!("suites/l{level}")))
            .collect();
        let mut directories: Vec<&str> = names.iter().map(|(directory, ..)| directory.as_str()).collect();
        directories.push("suites/l20");
        let links: Vec<(&str, String)> = names
            .iter()
            .flat_map(|(_, target, at)| [(target.as_str(), format!("{at}/a")), (target.as_str(), format!("{at}/b"))])
            .collect();
        let links: Vec<(&str, &str)> = links.iter().map(|(target, path)| (*target, path.as_str())).collect();
        assert_eq!(found(&directories, &links).len(), 1);
    }
}
