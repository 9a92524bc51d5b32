//! Files that several processes may write and read at the same time.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;
use std::{fs, io};

/// Replaces a file, so that whoever reads it at the same time sees the old content or the new one. `modified`: its time, if not now.
pub fn write(path: &Path, content: &[u8], modified: Option<SystemTime>) -> io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let written = path.with_extension(format!("{}-{number}.new", std::process::id()));
    let write = || {
        let mut file = File::create(&written)?;
        file.write_all(content)?;
        modified.map_or(Ok(()), |time| file.set_modified(time))?;
        fs::rename(&written, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&written)))
}

/// Replaces a file, or writes it with the folders above it; one with the same content stays as it is, so that nothing is compiled again
/// for it.
pub fn write_if_changed(path: &Path, content: &[u8], modified: impl FnOnce() -> Option<SystemTime>) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    write(path, content, modified())
}
