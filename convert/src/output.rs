//! The files of a converted suite.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use evalsuite_records::file_replacement::{replace_file, replace_user_file, replace_user_text};

use crate::error::{ConvertError, Kind};
use crate::report::Report;

/// A converted suite that is not written yet.
#[derive(Debug, Clone)]
pub struct Conversion {
    /// The files of the suite.
    pub output: Output,
    /// What became of each entry of the source.
    pub report: Report,
    /// Files outside of the directory of the source that were read, which [`Source::allow_outside`](crate::Source::allow_outside) allowed.
    pub copied_from_outside: Vec<PathBuf>,
}

/// The files to write below a directory.
#[derive(Debug, Clone, Default)]
pub struct Output {
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Files whose bytes are those of the source.
    copies: BTreeSet<PathBuf>,
    /// Files that can be executed.
    programs: BTreeSet<PathBuf>,
}

impl Output {
    /// The files with their contents; paths are relative to the directory of the suite.
    pub fn files(&self) -> &BTreeMap<PathBuf, Vec<u8>> {
        &self.files
    }

    pub(crate) fn add(&mut self, path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), contents.into());
    }

    /// Adds the contents of the file `original`, which can be executed if that can.
    pub(crate) fn add_copy(&mut self, path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>, original: &Path) {
        let path = path.into();
        if is_program(original) {
            self.programs.insert(path.clone());
        }
        self.copies.insert(path.clone());
        self.add(path, contents);
    }

    /// Writes the files below `directory`, which is created.
    ///
    /// # Errors
    ///
    /// If a file exists, unless `force` allows to overwrite it, or if a link leads out of `directory`; then nothing is
    /// written. If a file cannot be written.
    pub fn write(&self, directory: &Path, force: bool) -> Result<(), ConvertError> {
        let paths = || self.files.keys().map(|path| directory.join(path));
        let existing: Vec<PathBuf> = paths().filter(|path| path.symlink_metadata().is_ok()).collect();
        if !force && !existing.is_empty() {
            return Err(ConvertError { kind: Kind::Exists(existing) });
        }
        paths().try_for_each(|path| stays_inside(&path, directory))?;
        for (path, contents) in &self.files {
            let is_executable = self.programs.contains(path);
            let text = str::from_utf8(contents).ok().filter(|_| !self.copies.contains(path));
            let path = directory.join(path);
            let parent = path.parent().unwrap_or(directory);
            fs::create_dir_all(parent).map_err(|error| ConvertError::io(parent, error))?;
            let written = match text {
                // Nothing is written through a link.
                _ if path.is_symlink() => replace_file(&path, contents),
                Some(text) => replace_user_text(&path, text),
                None => replace_user_file(&path, |file| file.write_all(contents)),
            };
            written.map_err(|error| ConvertError::io(&path, error))?;
            if is_executable {
                make_program(&path).map_err(|error| ConvertError::io(&path, error))?;
            }
        }
        Ok(())
    }
}

/// Checks that no link to a directory leads the file at `path` out of `directory`.
fn stays_inside(path: &Path, directory: &Path) -> Result<(), ConvertError> {
    let Ok(real) = directory.canonicalize() else { return Ok(()) };
    // The nearest directory that exists: what is missing is created in it.
    let parent = path.ancestors().skip(1).find_map(|parent| parent.canonicalize().ok());
    match parent.filter(|parent| !parent.starts_with(&real)) {
        Some(outside) => Err(ConvertError::unsupported(format!(
            "{} would be written to {}, outside of the directory of the new suite\n  = help: remove the link, or name another directory",
            path.display(),
            outside.display()
        ))),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(unix)]
fn make_program(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path)?.permissions().mode();
    // Whoever can read it can execute it.
    fs::set_permissions(path, fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

#[cfg(not(unix))]
fn is_program(_: &Path) -> bool {
    false
}

#[cfg(not(unix))]
fn make_program(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_without_force() {
        let directory = tempfile::tempdir().unwrap();
        let mut output = Output::default();
        output.add("EVAL.yaml", "a");
        output.add("cases/b/case.yaml", "b");
        output.write(directory.path(), false).unwrap();
        let mut next = Output::default();
        next.add("EVAL.yaml", "c");
        next.add("cases/b/case.yaml", "c");
        next.add("other.txt", "d");
        let error = next.write(directory.path(), false).unwrap_err();
        assert!(error.to_string().contains("EVAL.yaml and 1 more files would be overwritten"), "{error}");
        assert!(!directory.path().join("other.txt").exists(), "nothing is written");
        next.write(directory.path(), true).unwrap();
        assert_eq!(fs::read_to_string(directory.path().join("EVAL.yaml")).unwrap(), "c");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_links() {
        use std::os::unix::fs::symlink;

        let (directory, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("EVAL.yaml"), "theirs").unwrap();
        symlink(outside.path().join("EVAL.yaml"), directory.path().join("EVAL.yaml")).unwrap();
        let mut output = Output::default();
        output.add("EVAL.yaml", "ours");
        output.write(directory.path(), true).unwrap();
        assert_eq!(fs::read_to_string(directory.path().join("EVAL.yaml")).unwrap(), "ours");
        symlink(outside.path(), directory.path().join("cases")).unwrap();
        output.add("cases/a/case.yaml", "ours");
        let error = output.write(directory.path(), true).unwrap_err().to_string();
        assert!(error.contains("outside of the directory of the new suite"), "{error}");
        assert_eq!(fs::read_to_string(outside.path().join("EVAL.yaml")).unwrap(), "theirs");
        assert!(!outside.path().join("a").exists());
    }
}
