//! Symbolic links.

use std::io;
use std::path::{Path, PathBuf};

/// Makes symbolic links, of which each has a path and a destination, after the files that they lead to. Nothing has their names.
pub(crate) fn make_symlinks(mut links: Vec<(PathBuf, &Path)>) -> io::Result<()> {
    let reached = |path: &Path, destination: &Path| path.parent().unwrap_or(path).join(destination);
    while !links.is_empty() {
        let leads_to_entry = |(path, destination): &(PathBuf, &Path)| reached(path, destination).exists();
        let (mut ready, waiting): (Vec<_>, Vec<_>) = links.into_iter().partition(leads_to_entry);
        links = waiting;
        if ready.is_empty() {
            // The others lead nowhere.
            ready = std::mem::take(&mut links);
        }
        for (path, destination) in ready {
            make_symlink(destination, &path, reached(&path, destination).is_dir())?;
        }
    }
    Ok(())
}

/// Makes a symbolic link at `path`. Windows has to know whether its destination is a directory.
#[cfg(unix)]
pub(crate) fn make_symlink(destination: &Path, path: &Path, _to_directory: bool) -> io::Result<()> {
    std::os::unix::fs::symlink(destination, path)
}

/// Makes a symbolic link at `path`. Windows has to know whether its destination is a directory, and follows no `/` in a link.
#[cfg(windows)]
pub(crate) fn make_symlink(destination: &Path, path: &Path, to_directory: bool) -> io::Result<()> {
    let destination: PathBuf = destination.components().collect();
    if to_directory {
        std::os::windows::fs::symlink_dir(destination, path)
    } else {
        std::os::windows::fs::symlink_file(destination, path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    #[cfg_attr(windows, ignore = "Wine 8 does not follow a link to a link; on Windows it has not run yet")]
    fn links_are_made_after_what_they_lead_to() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("directory")).unwrap();
        fs::write(path("directory/file"), "x").unwrap();
        let links = vec![
            (path("a"), Path::new("b")),
            (path("b"), Path::new("directory")),
            (path("c"), Path::new("nowhere")),
            (path("d"), Path::new("a/file")),
        ];
        match make_symlinks(links) {
            // Windows lets only administrators and developers make links.
            Err(error) if cfg!(windows) && error.raw_os_error().is_some() => return,
            made => made.unwrap(),
        }
        assert_eq!(fs::read_to_string(path("a/file")).unwrap(), "x");
        assert_eq!(fs::read_to_string(path("d")).unwrap(), "x");
        assert_eq!(fs::read_link(path("c")).unwrap(), Path::new("nowhere"));
    }
}
