//! Copies of directories, with permissions and modification times, and resets of a workspace to its base.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Component, Path};

use evalsuite_schema::Reset;

use crate::platform::files::{error_at, make_symlink};
use crate::platform::untrusted::{EntryKind, remove_directory};
use crate::workspace::snapshot::{CACHES, TreeEntry, WalkLimits, walk};

/// Which files of a directory are copied, and where its links may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyMode {
    /// A directory of the suite: without `.git`, and no link may lead out of it.
    Template,
    /// A workspace, with everything in it that can be copied. A link to a path inside it leads to the same path of the
    /// copy.
    Whole,
    /// As [`Whole`](Self::Whole), over a workspace that was the same once: what is unchanged stays, and what is not in the
    /// directory is removed. A fast reset leaves what an agent added to caches.
    Restore(Reset),
}

impl CopyMode {
    /// Copies a directory's content over what is in `to`.
    pub(crate) fn run(self, from: &Path, to: &Path) -> io::Result<()> {
        self.run_without::<&Path>(&[], from, to)
    }

    /// As [`CopyMode::run`], without the entries of the directory that have one of these relative paths.
    pub(crate) fn run_without<P: AsRef<Path>>(self, without: &[P], from: &Path, to: &Path) -> io::Result<()> {
        let copy = TreeCopy { mode: self, from, to };
        copy.remove_added(Path::new(""))?;
        let mut directories = Vec::new();
        let mut entries = walk(from, |name| copy.leaves_out(name));
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if without.iter().any(|path| entry.relative_path == path.as_ref()) {
                entries.leave_out(&entry.relative_path);
            } else if copy.entry(&entry)? {
                // Not the entry, which keeps a directory open.
                directories.push((entry.path, entry.relative_path));
            }
        }
        if entries.is_cut() {
            let WalkLimits { entries, depth } = WalkLimits::default();
            return Err(io::Error::other(format!(
                "{} has more than {entries} entries, or directories nested more than {depth} deep",
                from.display()
            )));
        }
        // After their content: a directory may be read-only, and its time is that of its last change.
        for (source, relative_path) in directories.iter().rev() {
            let target = to.join(relative_path);
            let metadata = fs::symlink_metadata(source).map_err(|error| error_at(source, &error))?;
            keep_directory(&metadata, &target).map_err(|error| error_at(&target, &error))?;
        }
        Ok(())
    }
}

struct TreeCopy<'a> {
    mode: CopyMode,
    from: &'a Path,
    to: &'a Path,
}

impl TreeCopy<'_> {
    /// Copies an entry, a directory without its content. Returns whether it is a directory.
    fn entry(&self, TreeEntry { path: source, relative_path, kind, .. }: &TreeEntry) -> io::Result<bool> {
        let target = self.to.join(relative_path);
        match kind {
            EntryKind::Link => self.link(source, &target)?,
            EntryKind::Directory => {
                make_directory(&target)?;
                self.remove_added(relative_path)?;
            }
            EntryKind::File if source.file_name().is_some_and(|name| self.leaves_out(name)) => {}
            EntryKind::File => {
                let metadata = fs::symlink_metadata(source).map_err(|error| error_at(source, &error))?;
                if !self.is_unchanged(&metadata, source, &target) {
                    file(source, &metadata, &target)?;
                }
            }
            EntryKind::Other if self.mode == CopyMode::Template => {
                let message = format!("{} is neither a file, a directory nor a link", source.display());
                return Err(io::Error::other(message));
            }
            // Sockets and pipes belong to the process that made them: a copy would lead nowhere.
            EntryKind::Other => {}
        }
        Ok(*kind == EntryKind::Directory)
    }

    /// Removes what the source of a directory does not have.
    fn remove_added(&self, relative_path: &Path) -> io::Result<()> {
        let CopyMode::Restore(reset) = self.mode else { return Ok(()) };
        let directory = self.to.join(relative_path);
        let entries = fs::read_dir(&directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        for entry in entries.map_err(|error| error_at(&directory, &error))? {
            let relative_path = relative_path.join(entry.file_name());
            let is_in_cache = || relative_path.iter().any(|name| CACHES.iter().any(|cache| name == *cache));
            let is_kept = self.from.join(&relative_path).symlink_metadata().is_ok();
            if !is_kept && (reset == Reset::Strict || !is_in_cache()) {
                remove_entry(&entry.path()).map_err(|error| error_at(&entry.path(), &error))?;
            }
        }
        Ok(())
    }

    /// Whether a file that is restored is unchanged: by size, permissions and time, in a strict reset also by content.
    fn is_unchanged(&self, wanted: &Metadata, source: &Path, target: &Path) -> bool {
        let (CopyMode::Restore(reset), Ok(there)) = (self.mode, fs::symlink_metadata(target)) else { return false };
        let looks_same = there.is_file()
            && wanted.len() == there.len()
            && wanted.permissions() == there.permissions()
            && matches!((wanted.modified(), there.modified()), (Ok(wanted), Ok(there)) if wanted == there);
        let read = |path| fs::read(path).ok();
        looks_same && (reset != Reset::Strict || read(source) == read(target))
    }

    fn leaves_out(&self, name: &OsStr) -> bool {
        self.mode == CopyMode::Template && name == ".git"
    }

    fn link(&self, source: &Path, target: &Path) -> io::Result<()> {
        let mut destination = fs::read_link(source).map_err(|error| error_at(source, &error))?;
        match self.mode {
            CopyMode::Template => {
                let inside = source.parent().is_some_and(|parent| stays_inside(self.from, parent, &destination));
                if !inside {
                    let message = format!("the link {} leads out of the workspace's template", source.display());
                    return Err(io::Error::other(message));
                }
            }
            CopyMode::Whole | CopyMode::Restore(_) => {
                if let Ok(inside) = destination.strip_prefix(self.from) {
                    destination = self.to.join(inside);
                }
            }
        }
        if fs::read_link(target).is_ok_and(|there| there == destination) {
            return Ok(());
        }
        remove_entry(target).map_err(|error| error_at(target, &error))?;
        make_symlink(&destination, target, source.is_dir()).map_err(|error| error_at(target, &error))
    }
}

/// Copies a file over whatever has its name.
///
/// Where the file system can, the copy shares the blocks of the file until one of them is written: the standard library
/// copies with `copy_file_range` on Linux and `clonefile` on macOS, which do so on Btrfs, XFS and APFS.
pub(crate) fn file(source: &Path, metadata: &Metadata, target: &Path) -> io::Result<()> {
    remove_entry(target).map_err(|error| error_at(target, &error))?;
    fs::copy(source, target).map_err(|error| error_at(source, &error))?;
    keep_time(metadata, target).map_err(|error| error_at(target, &error))
}

fn keep_time(metadata: &Metadata, target: &Path) -> io::Result<()> {
    if !cfg!(unix) && metadata.permissions().readonly() {
        // The copy cannot be opened for writing, and its time matters less than its permissions.
        return Ok(());
    }
    // On Unix, the owner may set the time of a file that cannot be written, through a handle that only reads.
    let file = File::options().read(cfg!(unix)).write(!cfg!(unix)).open(target)?;
    file.set_modified(metadata.modified()?)
}

fn keep_directory(metadata: &Metadata, target: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(target)?.set_modified(metadata.modified()?)?;
    fs::set_permissions(target, metadata.permissions())
}

/// Whether the destination of a link in the directory `parent` is below `root`. Does not look at the disk.
fn stays_inside(root: &Path, parent: &Path, destination: &Path) -> bool {
    let Ok(parent) = parent.strip_prefix(root) else { return false };
    let mut depth = parent.components().count();
    for component in destination.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Makes a directory, in place of whatever else has its name.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_dir()) {
        remove_entry(path).map_err(|error| error_at(path, &error))?;
    }
    fs::create_dir_all(path).map_err(|error| error_at(path, &error))
}

/// Removes a file, link or directory if it exists, even if directories in it are read-only.
pub(crate) fn remove_entry(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => remove_directory(path),
        // Windows removes a link to a directory as one.
        Ok(_) => fs::remove_file(path).or_else(|error| if cfg!(windows) { fs::remove_dir(path) } else { Err(error) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(all(test, unix))]
mod copy_tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_whole_copy_is_independent_of_its_original() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("repo/.git")).unwrap();
        fs::create_dir_all(from.join("locked")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("repo/.git/HEAD"), "main").unwrap();
        fs::write(from.join("locked/key"), "x").unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        File::open(from.join("locked/key")).unwrap().set_modified(old).unwrap();
        fs::set_permissions(from.join("locked/key"), fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(from.join("locked"), fs::Permissions::from_mode(0o555)).unwrap();
        symlink(from.join("repo"), from.join("inside")).unwrap();
        symlink("/bin/sh", from.join("outside")).unwrap();
        let _server = UnixListener::bind(from.join("socket")).unwrap();
        CopyMode::Whole.run(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("repo/.git/HEAD")).unwrap(), "main");
        assert_eq!(fs::read_link(to.join("inside")).unwrap(), to.join("repo"));
        assert_eq!(fs::read_link(to.join("outside")).unwrap(), Path::new("/bin/sh"));
        assert!(!to.join("socket").exists());
        let key = to.join("locked/key").metadata().unwrap();
        assert_eq!((key.permissions().mode() & 0o777, key.modified().unwrap()), (0o444, old));
        assert_eq!(to.join("locked").metadata().unwrap().permissions().mode() & 0o777, 0o555);
        crate::workspace::remove_directory(&to).unwrap();
        crate::workspace::remove_directory(&from).unwrap();
    }

    #[test]
    fn a_link_that_leads_out_of_the_root_is_found() {
        for (parent, destination, inside) in [
            ("/t", "a/b", true),
            ("/t/d", "../a", true),
            ("/t", "../a", false),
            ("/t/d", "../../a", false),
            ("/t", "/etc/passwd", false),
            ("/t", "a/../../t/x", false),
        ] {
            assert_eq!(
                stays_inside(Path::new("/t"), Path::new(parent), Path::new(destination)),
                inside,
                "{destination}"
            );
        }
    }
}
