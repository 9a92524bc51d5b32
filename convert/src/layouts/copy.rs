//! Copies a suite to another directory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::user_file::replace_user_file;

use super::suite_files;
use crate::error::ConvertError;
use crate::report::Place;
use crate::source::{Source, SourceFiles};

/// Directories that belong to version control and to cargo.
const LEFT_OUT: [&str; 2] = [".git", "target"];

/// Copies the files of the suite `source` to the directory `to`, without what version control and cargo keep. Returns the files outside of
/// the suite that were copied, because links lead to them and [`Source::allow_outside`] allowed it.
///
/// # Errors
///
/// If a link leads out of the suite, or if there are too many files; then nothing is written. If a file cannot be written.
pub fn copy_suite(source: impl Into<Source>, to: &Path) -> Result<Vec<PathBuf>, ConvertError> {
    let source = source.into();
    let root = suite_files(&source.path)?.root;
    let files = SourceFiles::new(&root, &source)?;
    let target = to.canonicalize().ok();
    let place = Place::new(root.display().to_string(), 0, "");
    let found = files.below(&root, &place, |path, is_directory| {
        let is_left_out = path.file_name().is_some_and(|name| LEFT_OUT.iter().any(|left_out| name == *left_out));
        !is_directory || !is_left_out && (target.is_none() || root.join(path).canonicalize().ok() != target)
    });
    found.iter().for_each(|file| files.note_copy(file));
    let copied = files.finish()?;
    for file in found {
        let target = to.join(file.strip_prefix(&root).unwrap_or(&file));
        let parent = target.parent().unwrap_or(to);
        fs::create_dir_all(parent).map_err(|error| ConvertError::io(parent, error))?;
        let copied = File::open(&file).and_then(|mut source| {
            let mode = source.metadata()?.permissions();
            replace_user_file(&target, |copy| io::copy(&mut source, copy).and_then(|_| copy.set_permissions(mode)))
        });
        copied.map_err(|error| ConvertError::io(&target, error))?;
    }
    Ok(copied)
}
