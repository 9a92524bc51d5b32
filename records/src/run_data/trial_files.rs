//! The files next to the record of a trial: input, transcript, changes, prompts and replies of judges, logs.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;

use evalsuite_schema::Value;
use evalsuite_schema::json::{FromJson, written_by_serde};
use serde::Serialize;

use super::{Problem, RunData, TrialData, read_record};
use crate::run_directory::{EVIDENCE, INPUT, open_run_file, run_directory_entries};
use crate::untrusted::UntrustedDirectory;

/// The most bytes of a text file that a report shows.
const MOST_BYTES: u64 = 2 << 20;
/// Name of the agent's log in the directory of a trial.
const LOG: &str = "log.txt";
/// Directories of a trial whose files are shown.
const SHOWN_DIRECTORIES: &[&str] = &["agent", "graders", "hooks", "user"];
/// The most files of a trial that are shown.
const MOST_FILES: usize = 200;
/// The most levels of directories whose files are shown.
const MOST_LEVELS: usize = 10;

/// What a trial left beside its record.
#[derive(Debug, Clone, Default)]
pub struct TrialFiles {
    /// The agent's input: messages, or data.
    pub input: Option<Value>,
    /// The user's input of each turn of a conversation.
    pub turns: Option<Value>,
    /// The transcript as an ATIF document.
    pub trajectory: Option<Value>,
    /// The workspace's changes as a unified diff.
    pub patch: Option<TextFile>,
    /// What the agent logged.
    pub log: Option<TextFile>,
    /// Prompts, replies, output of commands and hooks, sorted by path.
    pub texts: Vec<TextFile>,
}

/// A text file of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextFile {
    /// Path relative to the trial's directory, with `/` separators.
    pub path: String,
    /// Its beginning, at most 2 MiB.
    pub text: String,
    /// The bytes that are left out.
    pub omitted: u64,
}

written_by_serde!(TextFile);

/// What is shown of the evidence. The rest, which may be large, is not kept.
#[derive(Debug, Default, FromJson)]
struct Evidence {
    #[json(default)]
    seen: Seen,
}

#[derive(Debug, Default, FromJson)]
struct Seen {
    input: Option<Value>,
    turns: Option<Value>,
}

impl TrialFiles {
    /// Reads the files of a trial; what cannot be read is added to the problems.
    pub fn read(run: &RunData, trial: &TrialData, problems: &mut Vec<Problem>) -> Self {
        let mut files = Self::read_without_texts(run, trial, problems);
        // Most trials have none of these, and to look for each would open every directory on the way again.
        let listed = UntrustedDirectory::new(&run.directory).join(&trial.directory).entries();
        let entries = Problem::add_of(listed, &run.directory, &run.directory.join(&trial.directory), problems);
        let has = |name: &str| entries.iter().any(|(entry, _)| entry == name);
        if has(LOG) {
            files.log = read_text(run, trial, LOG, problems);
        }
        let shown: Vec<&str> = SHOWN_DIRECTORIES.iter().copied().filter(|name| has(name)).collect();
        files.texts = texts(run, trial, &shown, problems);
        files
    }

    /// Reads them without the log, and without what agents, graders and hooks wrote.
    pub fn read_without_texts(run: &RunData, trial: &TrialData, problems: &mut Vec<Problem>) -> Self {
        let root = &run.directory;
        let directory = root.join(&trial.directory);
        let mut read = |file: &str| -> Option<Evidence> { read_record(root, &directory.join(file), problems) };
        let seen = read(EVIDENCE).or_else(|| read(INPUT)).unwrap_or_default().seen;
        let trajectory = trial.record.trajectory.as_ref();
        let patch = trial.record.workspace.as_ref().and_then(|workspace| workspace.patch.as_ref());
        Self {
            input: seen.input,
            turns: seen.turns,
            trajectory: trajectory.and_then(|file| read_record(root, &directory.join(file), problems)),
            patch: patch.and_then(|file| read_text(run, trial, file, problems)),
            ..Self::default()
        }
    }
}

/// What agents, graders and hooks of a trial wrote into these directories.
fn texts(run: &RunData, trial: &TrialData, shown: &[&str], problems: &mut Vec<Problem>) -> Vec<TextFile> {
    let root = &run.directory;
    let directory = root.join(&trial.directory);
    let mut paths = Vec::new();
    for shown in shown {
        let listed = list(root, &trial.directory, shown, MOST_LEVELS, &mut paths);
        Problem::add_of(listed, root, &directory.join(shown), problems);
    }
    paths.sort();
    if paths.len() > MOST_FILES {
        let message = format!("has more than {MOST_FILES} files; the report has that many");
        problems.push(Problem::new(root, &directory, message));
        paths.truncate(MOST_FILES);
    }
    paths.iter().filter_map(|path| read_text(run, trial, path, problems)).collect()
}

/// `None` if there is no such file, or if it cannot be read: then the problem is added.
fn read_text(run: &RunData, trial: &TrialData, path: &str, problems: &mut Vec<Problem>) -> Option<TextFile> {
    let root = &run.directory;
    let read = TextFile::read(root, &trial.directory, path);
    Problem::add_of(read, root, &root.join(&trial.directory).join(path), problems)
}

impl TextFile {
    /// Reads a text of a trial, whose directory is relative to the run; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(run: &Path, trial: impl AsRef<Path>, path: &str) -> io::Result<Option<Self>> {
        let file = match open_run_file(run, &trial.as_ref().join(path)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let size = file.metadata()?.len();
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let omitted = size.saturating_sub(bytes.len() as u64);
        Ok(Some(Self { path: path.to_owned(), text: String::from_utf8_lossy(&bytes).into_owned(), omitted }))
    }
}

/// The regular files below a directory of a trial, in at most so many levels, and at most one more than are shown. Links are left
/// out: agents make them, and they lead anywhere.
fn list(run: &Path, trial: &Path, relative: &str, levels: usize, paths: &mut Vec<String>) -> io::Result<()> {
    let (directories, files) = run_directory_entries(run, &trial.join(relative))?;
    let path = |name: &OsString| format!("{relative}/{}", name.to_string_lossy());
    paths.extend(files.iter().map(path).take((MOST_FILES + 1).saturating_sub(paths.len())));
    for directory in directories.iter().filter(|_| levels > 1) {
        if paths.len() > MOST_FILES {
            break;
        }
        list(run, trial, &path(directory), levels - 1, paths)?;
    }
    Ok(())
}
