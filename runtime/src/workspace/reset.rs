//! Resets of a workspace to its base. Hand-written: it compares two trees directory by directory; `walkdir` walks one
//! tree.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{Metadata, Permissions};
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_schema::Reset;

use crate::platform::files::error_at;
use crate::platform::process::echo::Echo;
use crate::platform::symlinks::make_symlink;
use crate::workspace::base::BaseFacts;
use crate::workspace::copy::{CopyMode, make_directory, remove_entry};
use crate::workspace::git::git;
use crate::workspace::tree_walk::CACHES;
use crate::workspace::{copy, repos};

/// Returns the repositories of a workspace to their commits.
pub(crate) fn git_reset(workspace: &Path, facts: &BaseFacts, reset: Reset, echo: Echo) -> io::Result<()> {
    facts
        .repos
        .iter()
        .try_for_each(|repo| reset_repo(&workspace.join(repos::relative(&repo.path)), &repo.commit, reset, echo))
}

fn reset_repo(directory: &Path, commit: &str, reset: Reset, echo: Echo) -> io::Result<()> {
    if !directory.join(".git").exists() {
        // Git would use a repository around the workspace instead.
        return Err(io::Error::other(format!("{} is not a repository any more", directory.display())));
    }
    // Ends whatever the agent began, a merge for instance.
    git(directory, ["reset", "--quiet", "--hard"], echo)?;
    git(directory, ["checkout", "--quiet", "--force", "--detach", commit], echo)?;
    let clean = if reset == Reset::Strict { "-ffdxq" } else { "-ffdq" };
    git(directory, ["clean", clean], echo).map(drop)
}

/// Returns a shared workspace to its base: repositories by git, everything else from an unchanged copy.
pub(crate) fn restore(
    workspace: &Path,
    pristine: &Path,
    facts: &BaseFacts,
    reset: Reset,
    echo: Echo,
) -> io::Result<()> {
    let mut repos = BTreeSet::new();
    for repo in &facts.repos {
        let path = repos::relative(&repo.path);
        let directory = workspace.join(&path);
        if reset_repo(&directory, &repo.commit, reset, echo).is_err() {
            // Its files are damaged beyond what git can repair.
            remove_entry(&directory).map_err(|error| error_at(&directory, &error))?;
            fs::create_dir_all(&directory).map_err(|error| error_at(&directory, &error))?;
            CopyMode::Whole.run(&pristine.join(&path), &directory)?;
        }
        repos.insert(directory);
    }
    Restoration { pristine, workspace, repos, reset }.run()
}

struct Restoration<'a> {
    pristine: &'a Path,
    workspace: &'a Path,
    repos: BTreeSet<PathBuf>,
    reset: Reset,
}

/// A directory of the base and its counterpart in the workspace.
struct DirectoryPair {
    from: PathBuf,
    to: PathBuf,
    /// Whether it is in a directory of generated files.
    in_cache: bool,
}

impl Restoration<'_> {
    fn run(&self) -> io::Result<()> {
        let mut directories =
            vec![DirectoryPair { from: self.pristine.to_owned(), to: self.workspace.to_owned(), in_cache: false }];
        let mut permissions = Vec::new();
        while let Some(pair) = directories.pop() {
            self.directory(&pair, &mut directories, &mut permissions)?;
        }
        // After their content, the deepest first: a directory may be read-only.
        for (target, permissions) in permissions.into_iter().rev() {
            fs::set_permissions(&target, permissions).map_err(|error| error_at(&target, &error))?;
        }
        Ok(())
    }

    /// Restores what is directly in a directory. The directories in it are added to `directories`.
    fn directory(
        &self,
        DirectoryPair { from, to, in_cache }: &DirectoryPair,
        directories: &mut Vec<DirectoryPair>,
        permissions: &mut Vec<(PathBuf, Permissions)>,
    ) -> io::Result<()> {
        let wanted = names(from).map_err(|error| error_at(from, &error))?;
        for name in names(to).map_err(|error| error_at(to, &error))?.difference(&wanted) {
            let path = to.join(name);
            // A fast reset leaves what an agent adds to caches.
            let is_cache = *in_cache || CACHES.iter().any(|cache| name == cache);
            if self.reset == Reset::Strict || !is_cache {
                remove_entry(&path).map_err(|error| error_at(&path, &error))?;
            }
        }
        for name in &wanted {
            let (source, target) = (from.join(name), to.join(name));
            if self.repos.contains(&target) {
                continue;
            }
            let metadata = fs::symlink_metadata(&source).map_err(|error| error_at(&source, &error))?;
            let there = fs::symlink_metadata(&target).ok();
            if metadata.is_dir() {
                make_directory(&target)?;
                permissions.push((target.clone(), metadata.permissions()));
                let in_cache = *in_cache || CACHES.iter().any(|cache| name == cache);
                directories.push(DirectoryPair { from: source, to: target, in_cache });
            } else if metadata.is_symlink() {
                self.link(&source, &target)?;
            } else if metadata.is_file()
                && !there.is_some_and(|there| self.is_same(&metadata, &source, &there, &target))
            {
                copy::file(&source, &metadata, &target)?;
            }
        }
        Ok(())
    }

    fn link(&self, source: &Path, target: &Path) -> io::Result<()> {
        let mut destination = fs::read_link(source).map_err(|error| error_at(source, &error))?;
        if let Ok(inside) = destination.strip_prefix(self.pristine) {
            destination = self.workspace.join(inside);
        }
        if fs::read_link(target).is_ok_and(|there| there == destination) {
            return Ok(());
        }
        remove_entry(target).map_err(|error| error_at(target, &error))?;
        make_symlink(&destination, target, source.is_dir()).map_err(|error| error_at(target, &error))
    }

    /// Whether a file is unchanged: by size, permissions and time, in a strict reset also by content.
    fn is_same(&self, wanted: &Metadata, source: &Path, there: &Metadata, target: &Path) -> bool {
        let looks_same = there.is_file()
            && wanted.len() == there.len()
            && wanted.permissions() == there.permissions()
            && matches!((wanted.modified(), there.modified()), (Ok(wanted), Ok(there)) if wanted == there);
        let read = |path| fs::read(path).ok();
        looks_same && (self.reset != Reset::Strict || read(source) == read(target))
    }
}

fn names(directory: &Path) -> io::Result<BTreeSet<OsString>> {
    fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Everything below a directory, with its content.
    fn listed(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut directories = vec![root.to_owned()];
        while let Some(directory) = directories.pop() {
            for name in names(&directory).unwrap() {
                let path = directory.join(name);
                let shown = evalsuite_discovery::with_slashes(path.strip_prefix(root).unwrap());
                if path.is_dir() {
                    directories.push(path);
                } else {
                    found.push(format!("{shown}={}", fs::read_to_string(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn changed_deleted_and_created_files_are_as_before() {
        let root = tempfile::tempdir().unwrap();
        let (base, pristine) = (root.path().join("base"), root.path().join("pristine"));
        for path in ["same", "changed", "deleted/a", "was_file", "node_modules/lib"] {
            write(&base, path, "old");
        }
        crate::workspace::copy_to_trial(&base, &pristine).unwrap();
        let before = listed(&base);
        for reset in [Reset::Fast, Reset::Strict] {
            write(&base, "changed", "new");
            fs::remove_dir_all(base.join("deleted")).unwrap();
            fs::remove_file(base.join("was_file")).unwrap();
            write(&base, "was_file/now", "a directory");
            write(&base, "node_modules/cache", "kept by a fast reset");
            write(&base, "created/deep", "x");
            restore(&base, &pristine, &BaseFacts::default(), reset, Echo::Off).unwrap();
            let mut expected = before.clone();
            if reset == Reset::Fast {
                expected.push("node_modules/cache=kept by a fast reset".to_owned());
                expected.sort();
            }
            assert_eq!(listed(&base), expected);
        }
    }

    #[test]
    fn a_strict_reset_finds_a_change_that_keeps_the_modification_time() {
        let root = tempfile::tempdir().unwrap();
        let (base, pristine) = (root.path().join("base"), root.path().join("pristine"));
        write(&base, "a", "old");
        crate::workspace::copy_to_trial(&base, &pristine).unwrap();
        let time = base.join("a").metadata().unwrap().modified().unwrap();
        write(&base, "a", "bad");
        fs::File::options().write(true).open(base.join("a")).unwrap().set_modified(time).unwrap();
        restore(&base, &pristine, &BaseFacts::default(), Reset::Strict, Echo::Off).unwrap();
        assert_eq!(listed(&base), ["a=old"]);
    }
}
