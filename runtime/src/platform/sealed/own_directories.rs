//! The home directory and the directory for temporary files of a sealed command.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

/// Two directories that are made for one command, or for all calls of a trial's agent, and removed with this value.
///
/// They are in the system's directory for temporary files, not with the records: the path of a Unix socket has at most 107 characters.
#[derive(Debug)]
pub(crate) struct OwnDirectories {
    root: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
}

impl OwnDirectories {
    /// New, empty directories.
    pub(crate) fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let around = env::temp_dir().canonicalize()?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let root = around.join(format!("evalsuite-{}-{number}", process::id()));
            match make_private(&root) {
                Ok(()) => {
                    let made = Self { home: root.join("home"), temporary: root.join("tmp"), root };
                    fs::create_dir(&made.home)?;
                    fs::create_dir(&made.temporary)?;
                    return Ok(made);
                }
                // Left by a process with the same id that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(io::Error::new(error.kind(), format!("{} cannot be made: {error}", root.display())));
                }
            }
        }
    }

    /// The empty home directory.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The directory for temporary files.
    pub(crate) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Both.
    pub(crate) fn all(&self) -> [&Path; 2] {
        [&self.home, &self.temporary]
    }

    /// Lets the command find those of the paths in its home directory that are in the user's.
    pub(crate) fn link<'p>(&self, paths: impl IntoIterator<Item = &'p PathBuf>) -> io::Result<()> {
        let Some(home) = env::home_dir() else { return Ok(()) };
        for path in paths {
            let Ok(inner) = path.strip_prefix(&home) else { continue };
            let link = self.home.join(inner);
            if inner.as_os_str().is_empty() || link.symlink_metadata().is_ok() {
                continue;
            }
            fs::create_dir_all(link.parent().unwrap_or(&self.home))?;
            #[cfg(unix)]
            std::os::unix::fs::symlink(path, link)?;
        }
        Ok(())
    }
}

impl Drop for OwnDirectories {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            eprintln!("evalsuite: {} cannot be removed: {error}", self.root.display());
        }
    }
}

/// Makes a directory that only this user can enter.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
