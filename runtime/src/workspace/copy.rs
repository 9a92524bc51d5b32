//! Copies of directories, with modes and modification times.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
};

use crate::workspace::{at, discard::make_room, link};

/// What is copied of a directory, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copy {
    /// A directory of the suite: without `.git`, and no link may lead out of it.
    Template,
    /// A workspace, with everything in it that a copy can have. A link to a place inside leads to the same place of the
    /// copy.
    Whole,
}

impl Copy {
    /// Copies a directory's content over what is in `to`.
    ///
    /// # Errors
    ///
    /// What could not be copied, and why.
    pub(crate) fn run(self, from: &Path, to: &Path) -> Result<(), String> {
        Tree { how: self, from, to }.directory(from, to)
    }
}

struct Tree<'a> {
    how: Copy,
    from: &'a Path,
    to: &'a Path,
}

impl Tree<'_> {
    fn directory(&self, from: &Path, to: &Path) -> Result<(), String> {
        for entry in fs::read_dir(from).map_err(|error| at(from, &error))? {
            let entry = entry.map_err(|error| at(from, &error))?;
            if self.how == Copy::Template && entry.file_name() == ".git" {
                continue;
            }
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let metadata = fs::symlink_metadata(&source).map_err(|error| at(&source, &error))?;
            if metadata.is_symlink() {
                self.link(&source, &target)?;
            } else if metadata.is_dir() {
                if fs::symlink_metadata(&target).is_ok_and(|there| !there.is_dir()) {
                    make_room(&target).map_err(|error| at(&target, &error))?;
                }
                fs::create_dir_all(&target).map_err(|error| at(&target, &error))?;
                self.directory(&source, &target)?;
                // After its content: a directory may be read-only, and its time is that of its last change.
                keep_directory(&metadata, &target).map_err(|error| at(&target, &error))?;
            } else if metadata.is_file() {
                file(&source, &metadata, &target)?;
            } else if self.how == Copy::Template {
                return Err(format!("{} is neither a file, a directory nor a link", source.display()));
            }
            // Sockets and pipes belong to the program that made them in the base: a copy of them leads nowhere.
        }
        Ok(())
    }

    fn link(&self, source: &Path, target: &Path) -> Result<(), String> {
        let mut destination = fs::read_link(source).map_err(|error| at(source, &error))?;
        match self.how {
            Copy::Template => {
                let inside = source.parent().is_some_and(|parent| link::stays_inside(self.from, parent, &destination));
                if !inside {
                    return Err(format!("the link {} leads out of the workspace's template", source.display()));
                }
            }
            Copy::Whole => {
                if let Ok(inside) = destination.strip_prefix(self.from) {
                    destination = self.to.join(inside);
                }
            }
        }
        make_room(target).map_err(|error| at(target, &error))?;
        link::make(&destination, source, target).map_err(|error| at(target, &error))
    }
}

/// Copies a file over whatever has its name.
///
/// Where the file system can, the copy shares the blocks of the file until one of them is written: the standard library
/// copies with `copy_file_range` on Linux and `clonefile` on macOS, which do so on Btrfs, XFS and APFS.
///
/// # Errors
///
/// What could not be copied, and why.
pub(crate) fn file(source: &Path, metadata: &Metadata, target: &Path) -> Result<(), String> {
    make_room(target).map_err(|error| at(target, &error))?;
    fs::copy(source, target).map_err(|error| at(source, &error))?;
    keep_time(metadata, target).map_err(|error| at(target, &error))
}

#[cfg(unix)]
fn keep_time(metadata: &Metadata, target: &Path) -> io::Result<()> {
    // The owner may set the time of a file that cannot be written, through a handle that only reads.
    File::open(target)?.set_modified(metadata.modified()?)
}

#[cfg(not(unix))]
fn keep_time(metadata: &Metadata, target: &Path) -> io::Result<()> {
    if metadata.permissions().readonly() {
        // The copy cannot be opened for writing, and its time matters less than its mode.
        return Ok(());
    }
    File::options().write(true).open(target)?.set_modified(metadata.modified()?)
}

fn keep_directory(metadata: &Metadata, target: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(target)?.set_modified(metadata.modified()?)?;
    fs::set_permissions(target, metadata.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::{
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    };

    use super::*;

    #[test]
    fn a_whole_copy_is_no_part_of_what_it_was_made_from() {
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
        Copy::Whole.run(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("repo/.git/HEAD")).unwrap(), "main");
        assert_eq!(fs::read_link(to.join("inside")).unwrap(), to.join("repo"));
        assert_eq!(fs::read_link(to.join("outside")).unwrap(), Path::new("/bin/sh"));
        assert!(!to.join("socket").exists());
        let key = to.join("locked/key").metadata().unwrap();
        assert_eq!((key.permissions().mode() & 0o777, key.modified().unwrap()), (0o444, old));
        assert_eq!(to.join("locked").metadata().unwrap().permissions().mode() & 0o777, 0o555);
        crate::workspace::discard(&to).unwrap();
        crate::workspace::discard(&from).unwrap();
    }
}
