//! The files and directories that a sealed command may use.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::platform::sealed::{SealedStart, installations};

/// A path that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenedPath {
    pub(super) path: PathBuf,
    pub(super) rights: Rights,
    /// Whether the command starts without it if it does not exist.
    pub(super) is_optional: bool,
}

/// What may be done below a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    /// Read and run.
    Read,
    /// Read, run and change.
    Write,
    /// Read and write a device.
    Device,
}

/// Programs, libraries and settings of the system.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/snap",
];

/// Files of the system that links in /etc lead to, and facts about processors and memory. Files of other processes are not among them, so
/// neither is `/proc/self`: which directory that is, is not known before the program runs.
const FACTS: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/proc/version_signature",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// First version of Landlock that can refuse the commands of a terminal.
const TERMINAL_SINCE: u32 = 5;

/// All paths that a command may use. The error is one that the settings name and that is not there.
pub(super) fn of(start: &SealedStart) -> io::Result<Vec<OpenedPath>> {
    let files = &start.files;
    let hidden: Vec<PathBuf> = files.hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut opened = Vec::new();
    let mut add = |paths: Vec<PathBuf>, rights, is_optional| {
        opened.extend(paths.into_iter().map(|path| OpenedPath { path, rights, is_optional }));
    };
    for directory in SYSTEM.iter().chain(FACTS).map(Path::new).filter_map(|path| path.canonicalize().ok()) {
        add(around(&directory, &hidden), Rights::Read, true);
    }
    for path in installations::of_search_path() {
        add(around(path, &hidden), Rights::Read, true);
    }
    for device in DEVICES {
        add(vec![device.into()], Rights::Device, true);
    }
    if start.rules.landlock_abi >= TERMINAL_SINCE {
        add(vec!["/dev/tty".into()], Rights::Device, true);
    }
    for (paths, rights) in [(&files.read, Rights::Read), (&files.write, Rights::Write)] {
        for path in paths {
            add(explicit(path, &hidden)?, rights, false);
        }
    }
    for file in &files.named {
        add(vec![file.clone()], Rights::Read, false);
        for path in installations::of_program(file) {
            add(around(&path, &hidden), Rights::Read, true);
        }
    }
    if let Some(working) = files.working.as_ref().and_then(|path| path.canonicalize().ok()) {
        add(around(&working, &hidden), Rights::Read, true);
    }
    let own = start.directories.all();
    add(files.own.iter().cloned().chain(own.map(Path::to_owned)).collect(), Rights::Write, false);
    Ok(opened)
}

/// What the settings name. A hidden directory itself is not opened, whoever names it.
fn explicit(path: &Path, hidden: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let real =
        path.canonicalize().map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    if hidden.contains(&real) {
        let why = "is the directory of the suite, of its records, or of cargo; name a file or directory in it";
        return Err(io::Error::other(format!("{} {why}", path.display())));
    }
    Ok(around(&real, hidden))
}

/// A directory without the hidden ones in it: itself, or its entries beside them. What is in a hidden directory stays as it is named.
fn around(path: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    if hidden.iter().any(|hidden| hidden == path) {
        return Vec::new();
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| !entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .flat_map(|entry| around(&entry.path(), hidden))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_opened_without_the_hidden_ones_in_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["suites/shop/cases", "suites/other", "src", "target"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("main.py"), "").unwrap();
        std::os::unix::fs::symlink(root.join("target"), root.join("link")).unwrap();
        let hidden = [root.join("suites/shop"), root.join("target")];
        let mut opened = around(&root, &hidden);
        opened.sort();
        assert_eq!(opened, [root.join("main.py"), root.join("src"), root.join("suites/other")]);
        assert_eq!(around(&root.join("src"), &hidden), [root.join("src")]);
        assert_eq!(around(&root.join("suites/shop/cases"), &hidden), [root.join("suites/shop/cases")]);
        assert!(around(&root.join("target"), &hidden).is_empty());
        assert!(
            explicit(&root.join("target"), &hidden).unwrap_err().to_string().contains("is the directory of the suite")
        );
        assert!(explicit(&root.join("gone"), &hidden).unwrap_err().to_string().contains("gone"));
    }
}
