//! The cache file of a suite: what is known of it, and its code.
//!
//! One file, because two builds may write at once: what is read together was written together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_loader::{LoadedSuite, Request};
use evalsuite_schema::diagnostics::Diagnostic;
use evalsuite_schema::json::{FromJson, ToJson};

use super::file_stamps::FileStamps;
use crate::embed::Embedded;
use crate::replaced_file;
use crate::statics::{Body, SuiteTexts};
use crate::suite_facts::SuiteFacts;
use crate::suite_location::entry_path;

/// First word of a cache file. Another number for another format.
const FORMAT: &str = "evalsuite-cache-6";

/// A suite as an expansion stored it.
#[derive(Debug)]
pub(crate) struct StoredSuite {
    pub(crate) record: SuiteRecord,
    pub(super) stamps: FileStamps,
    /// The cases that can be replaced, if any can.
    pub(super) own_files: OwnFiles,
    pub(crate) body: Body,
}

/// Everything about a stored suite but its files and its code.
#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct SuiteRecord {
    pub(super) key: SuiteKey,
    pub(crate) module: String,
    pub(crate) facts: SuiteFacts,
    /// Names of the graders that are not built in.
    pub(crate) graders: Vec<String>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The files with problems, as they are shown.
    pub(super) noted: BTreeSet<String>,
    /// How the files that cases need are embedded; `None` if there are too many.
    pub(crate) embedded: Option<Embedded>,
}

/// The suite of a request, and the program that stores it.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(super) struct SuiteKey {
    /// Version of this crate: another one may generate other code.
    version: String,
    /// A crate of the same version may have been built from other sources.
    program: String,
    /// The suite's directory or file.
    pub(super) entry: PathBuf,
    package_root: PathBuf,
    workspace_root: PathBuf,
}

impl SuiteKey {
    pub(super) fn of(request: &Request, program: &str) -> Option<Self> {
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: program.to_owned(),
            entry: entry_path(request)?,
            package_root: request.package_root.clone(),
            workspace_root: request.workspace_root.clone(),
        })
    }
}

impl StoredSuite {
    /// The content of a cache file; `None` if there is none, or it is damaged.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let (header, mut rest) = text.split_once('\n')?;
        let mut lengths = header.strip_prefix(FORMAT)?.split_ascii_whitespace().map(str::parse::<usize>);
        let mut next = || {
            let (part, others) = rest.split_at_checked(lengths.next()?.ok()?)?;
            rest = others;
            Some(part)
        };
        let record = evalsuite_schema::json::from_str(next()?).ok()?;
        let stamps = FileStamps { lines: next()?.to_owned() };
        let (statics, tests) = (next()?.to_owned(), next()?.to_owned());
        let texts = SuiteTexts { suite: next()?.to_owned(), cases: next()?.to_owned(), files: next()?.to_owned() };
        let own_files = OwnFiles { lines: next()?.to_owned() };
        let is_whole = lengths.next().is_none() && rest.is_empty();
        is_whole.then_some(Self { record, stamps, own_files, body: Body { statics, texts, tests } })
    }

    /// The files that were read or embedded.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.stamps.files()
    }

    /// Writes the cache file, in one step.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let record = evalsuite_schema::json::to_string(&self.record)?;
        let Body { statics, texts, tests } = &self.body;
        let SuiteTexts { suite, cases, files } = texts;
        let parts = [&record, &self.stamps.lines, statics, tests, suite, cases, files, &self.own_files.lines];
        let mut text = FORMAT.to_owned();
        for part in parts {
            text.push_str(&format!(" {}", part.len()));
        }
        text.push('\n');
        text.reserve(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| text.push_str(part));
        replaced_file::write(path, text.as_bytes(), None)
    }
}

/// Cases with a file of their own that stand alone, one a line: index, names of graders that are not built in, file relative to the
/// suite's directory.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnFiles {
    lines: String,
}

/// A case with a file of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnFile<'s> {
    /// Index of the case.
    pub(super) index: usize,
    /// Its graders, as [`graders`] writes them.
    pub(super) graders: &'s str,
    pub(super) source: &'s str,
}

impl OwnFiles {
    /// None of a suite whose other parts depend on the texts of all cases.
    pub(super) fn of(suite: &LoadedSuite) -> Self {
        let mut lines = String::new();
        if suite.has_unread_files || suite.calibration.is_some() {
            return Self::default();
        }
        for (index, loaded) in suite.cases.iter().enumerate().filter(|(_, loaded)| loaded.stands_alone) {
            let Some(graders) = graders(&loaded.user_graders) else { continue };
            if !loaded.source.contains('\n') {
                lines.push_str(&format!("{index} {graders} {}\n", loaded.source));
            }
        }
        Self { lines }
    }

    /// The case that has the file `source`.
    pub(super) fn find(&self, source: &str) -> Option<OwnFile<'_>> {
        self.lines.lines().filter_map(OwnFile::parse).find(|file| file.source == source)
    }
}

impl<'s> OwnFile<'s> {
    fn parse(line: &'s str) -> Option<Self> {
        let (index, rest) = line.split_once(' ')?;
        let (graders, source) = rest.split_once(' ')?;
        Some(Self { index: index.parse().ok()?, graders, source })
    }
}

/// Names as one word; `None` if one of them would make another word of it.
pub(super) fn graders(names: &[String]) -> Option<String> {
    let is_plain = |name: &String| !name.contains(|character: char| character == ',' || character.is_whitespace());
    names.iter().all(is_plain).then(|| names.join(","))
}
