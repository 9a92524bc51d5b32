//! The files that an answer names.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_schema::PathRef;

use crate::platform::untrusted::{OpenError, UntrustedDirectory, read_to_limit};

/// Where the files of an answer may be: in the workspace, in the directory of the trial, or they are files of the input.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerFiles {
    pub(crate) workspace: PathBuf,
    /// Directory of the trial.
    pub(crate) trial: PathBuf,
    /// Files that the agent was given.
    pub(crate) input: Vec<PathBuf>,
}

impl AnswerFiles {
    /// The path of a file that an agent names: in its workspace, unless the path is absolute.
    pub(crate) fn path(&self, file: &PathRef) -> PathBuf {
        self.workspace.join(&file.path)
    }

    /// Reads a file of at most `limit` bytes.
    pub(crate) fn read(&self, file: &PathRef, limit: u64) -> Result<Vec<u8>, OpenError> {
        read_to_limit(self.open(file)?, limit)
    }

    /// Whether a file may be part of an answer. A file that does not exist may.
    pub(crate) fn check(&self, file: &PathRef) -> Result<(), OpenError> {
        match self.open(file) {
            Ok(_) | Err(OpenError::Missing | OpenError::Io(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn open(&self, file: &PathRef) -> Result<fs::File, OpenError> {
        let path = self.path(file);
        if self.input.contains(&path) {
            return Ok(fs::File::open(path)?);
        }
        for root in [&self.trial, &self.workspace] {
            if let Some(path) = below(root, &path) {
                return UntrustedDirectory::new(root).open(path);
            }
        }
        Err(OpenError::Outside)
    }
}

/// The path relative to a directory, whose path an agent may know without symbolic links.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let below = |root: &Path| path.strip_prefix(root).map(Path::to_owned).ok();
    below(root).or_else(|| below(&fs::canonicalize(root).ok()?))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn named(path: &Path) -> PathRef {
        let path = path.to_string_lossy().into_owned();
        PathRef::new(path)
    }

    #[test]
    fn the_files_of_an_answer_are_in_the_workspace_the_trial_or_the_input() {
        let root = tempfile::tempdir().unwrap();
        let trial = root.path().join("trial");
        let files = AnswerFiles {
            workspace: trial.join("workspace"),
            trial: trial.clone(),
            input: vec![root.path().join("given")],
        };
        fs::create_dir_all(&files.workspace).unwrap();
        for file in ["given", "other", "trial/log", "trial/workspace/report"] {
            fs::write(root.path().join(file), file).unwrap();
        }
        symlink(&trial, root.path().join("link")).unwrap();
        symlink(root.path().join("other"), files.workspace.join("stolen")).unwrap();
        let read = |path: &str| match files.read(&named(Path::new(path)), 100) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.to_string(),
        };
        let absolute = |path: &str| read(&root.path().join(path).to_string_lossy());
        assert_eq!((read("report"), read("../log")), ("trial/workspace/report".into(), "trial/log".into()));
        assert_eq!((absolute("given"), absolute("trial/log")), ("given".into(), "trial/log".into()));
        let outside = "leads out of the directories of the trial";
        for path in ["/etc/passwd", "../../other", "stolen"] {
            assert_eq!(read(path), outside, "{path}");
            assert!(files.check(&named(Path::new(path))).is_err(), "{path}");
        }
        assert_eq!(absolute("other"), outside);
        let through_link = AnswerFiles { trial: root.path().join("link"), ..AnswerFiles::default() };
        assert!(through_link.check(&named(&trial.join("gone"))).is_ok());
    }
}
