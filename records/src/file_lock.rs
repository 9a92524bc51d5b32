//! Advisory locks on files, with the standard library's calls.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::untrusted::{OpenError, UntrustedDirectory};

/// The most bytes of a lock file that are read.
const MOST_CONTENT: u64 = 4096;

/// A lock on a file, held until it is dropped. Threads of one process exclude each other like processes do.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub struct FileLock(File);

impl FileLock {
    /// Waits for the exclusive lock.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, or its file system has no locks.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        uninterrupted(|| file.lock())?;
        Ok(Self(file))
    }

    /// The exclusive lock, or `None` if it is held.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        Ok(try_lock(&file)?.then_some(Self(file)))
    }

    /// Whether a file below the directory of a run is locked; `false` without such a file, for one that this user may not read, and for what
    /// is not a regular file. Nothing is written where the file system allows it, so that it also works for the run of somebody else.
    ///
    /// # Errors
    ///
    /// If it cannot be opened or locked.
    pub fn is_held(run: &Path, path: &Path) -> io::Result<bool> {
        let file = match UntrustedDirectory::new(run).open_record(path) {
            Ok(file) => file,
            Err(OpenError::Io(error)) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            Err(_) => return Ok(false),
        };
        let lock = Self(file);
        match try_lock(&lock.0) {
            Ok(is_free) => Ok(!is_free),
            // Some file systems lock only files that are open for writing.
            Err(_) => Ok(Self::try_acquire(&run.join(path))?.is_none()),
        }
    }

    /// The beginning of the content of the file: who owns it is said in a few bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        // Without a limit, `read_to_end` first asks for size and position.
        (&self.0).take(MOST_CONTENT).read_to_end(&mut content)?;
        Ok(content)
    }

    /// Adds to the content of the file that was read.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, content: &[u8]) -> io::Result<()> {
        (&self.0).write_all(content)
    }

    /// Replaces the content of the file. Some systems refuse to write a locked file through another handle.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn replace(&self, content: &[u8]) -> io::Result<()> {
        let mut file = &self.0;
        file.seek(SeekFrom::Start(0))?;
        self.0.set_len(0)?;
        file.write_all(content)
    }

    /// Waits for a shared lock.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn share(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        uninterrupted(|| file.lock_shared())?;
        Ok(Self(file))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A process that was started meanwhile may have a copy of the handle: closing this one would not release the lock.
        let _ = self.0.unlock();
    }
}

/// Locks a file unless it is locked; whether it was free.
fn try_lock(file: &File) -> io::Result<bool> {
    uninterrupted(|| match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    })
}

/// Repeats a call that a signal interrupted. The standard library does so for all calls but those that lock.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let directory = UntrustedDirectory::new(path.parent().unwrap_or(Path::new("")));
    directory.open_shared(path.file_name().unwrap_or_default(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_a_signal_interrupts_is_repeated() {
        let mut results =
            [Err(io::ErrorKind::Interrupted.into()), Err(io::ErrorKind::Interrupted.into()), Ok(7)].into_iter();
        assert_eq!(uninterrupted(|| results.next().unwrap()).unwrap(), 7);
        let refused = uninterrupted(|| Err::<(), _>(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn one_holds_it_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("locks/x.lock");
        let held = FileLock::acquire(&path).unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
        let shared = [FileLock::share(&path).unwrap(), FileLock::share(&path).unwrap()];
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        drop(shared);
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_a_file_of_ours_is_no_lock() {
        use std::fs;
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(place("pipe")).status().unwrap().success());
        fs::create_dir(place("directory")).unwrap();
        fs::write(place("victim"), "unharmed").unwrap();
        for (link, to) in [("link", "victim"), ("dangling", "new"), ("zero", "/dev/zero"), ("circle", "circle")] {
            symlink(to, place(link)).unwrap();
        }
        for name in ["pipe", "directory", "link", "dangling", "zero", "circle"] {
            assert!(FileLock::acquire(&place(name)).is_err(), "{name}");
            assert!(!FileLock::is_held(directory.path(), Path::new(name)).unwrap(), "{name}");
        }
        assert!(!place("new").exists() && fs::read(place("victim")).unwrap() == b"unharmed");
        // A run that may only be read.
        let lock = place("x.lock");
        let held = FileLock::acquire(&lock).unwrap();
        fs::set_permissions(&lock, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(FileLock::is_held(directory.path(), Path::new("x.lock")).unwrap());
        drop(held);
        assert!(
            !FileLock::is_held(directory.path(), Path::new("x.lock")).unwrap()
                && !FileLock::is_held(directory.path(), Path::new("none")).unwrap()
        );
    }
}
