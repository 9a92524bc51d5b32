//! Comparison and copies of files and directories with everything in them.

use std::fs::File;
use std::path::Path;
use std::{fs, io};

use evalsuite_records::digest::sha256_of;
use evalsuite_records::run_directory::open_run_file;
use walkdir::WalkDir;

/// Whether two paths have the same content.
pub(super) fn has_same_content(left: &Path, right: &Path) -> io::Result<bool> {
    let mut others = sorted_walk(right);
    for entry in sorted_walk(left) {
        let entry = entry?;
        let Some(other) = others.next().transpose()? else { return Ok(false) };
        let is_same_path = entry.path().strip_prefix(left).ok() == other.path().strip_prefix(right).ok();
        if !is_same_path || entry.file_type() != other.file_type() || !is_same_file(&entry, &other)? {
            return Ok(false);
        }
    }
    Ok(others.next().is_none())
}

fn is_same_file(one: &walkdir::DirEntry, other: &walkdir::DirEntry) -> io::Result<bool> {
    Ok(if one.path_is_symlink() {
        fs::read_link(one.path())? == fs::read_link(other.path())?
    } else if one.file_type().is_file() {
        one.metadata()?.len() == other.metadata()?.len()
            && sha256_of(open(one.path())?)? == sha256_of(open(other.path())?)?
    } else {
        true
    })
}

/// Copies a file, link or directory to a path where nothing is.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut directories = Vec::new();
    for entry in sorted_walk(from) {
        let entry = entry?;
        let relative = entry.path().strip_prefix(from).unwrap_or(Path::new(""));
        // Joined with an empty path, a file would become a directory.
        let target = if entry.depth() == 0 { to.to_owned() } else { to.join(relative) };
        if entry.path_is_symlink() {
            link(entry.path(), &target)?;
        } else if entry.file_type().is_dir() {
            fs::create_dir_all(&target)?;
            directories.push((target, entry.metadata()?.permissions()));
        } else if entry.file_type().is_file() {
            let mut source = open(entry.path())?;
            io::copy(&mut source, &mut File::create_new(&target)?)?;
            fs::set_permissions(&target, source.metadata()?.permissions())?;
        }
        // Sockets and pipes belong to processes on the machine of the part.
    }
    // After their content: a directory may be read-only.
    directories.into_iter().rev().try_for_each(|(directory, permissions)| fs::set_permissions(directory, permissions))
}

/// Opens a regular file of a part.
fn open(path: &Path) -> io::Result<File> {
    open_run_file(path.parent().unwrap_or(Path::new("")), Path::new(path.file_name().unwrap_or_default()))
}

fn sorted_walk(path: &Path) -> impl Iterator<Item = walkdir::Result<walkdir::DirEntry>> {
    WalkDir::new(path).follow_root_links(false).sort_by_file_name().into_iter()
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let destination = fs::read_link(from)?;
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(destination, to)
    } else {
        std::os::windows::fs::symlink_file(destination, to)
    }
}
