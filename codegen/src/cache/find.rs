//! Finding a suite in the cache, if it is still valid.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_loader::Request;
use evalsuite_schema::diagnostic::Diagnostic;

use super::file_stamps::{FileStamps, MISSING, READ, is_missing, length, nanoseconds};
use super::suite_record::{EmbeddedRecord, SuiteRecord};
use super::{CachePaths, entry_path};
use crate::embed::{Contents, Embedded};
use crate::statics::Body;
use crate::suite_facts::SuiteFacts;

/// A suite from the cache.
#[derive(Debug)]
pub(crate) struct CachedSuite {
    pub(crate) module: String,
    pub(crate) facts: SuiteFacts,
    /// Names of the graders that are not built in.
    pub(crate) graders: Vec<String>,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) body: Body,
    pub(crate) embedded: Embedded,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
}

impl CachedSuite {
    /// The suite as the build script stored it, if it is still what loading it would give.
    pub(crate) fn find(out_dir: &Path, request: &Request) -> Option<Self> {
        if !has_default_settings(request) {
            return None;
        }
        let paths = CachePaths::new(out_dir, &entry_path(request)?);
        let record: SuiteRecord = serde_json::from_str(&fs::read_to_string(&paths.record).ok()?).ok()?;
        if !record.is_valid_for(request) {
            return None;
        }
        let statics = fs::read_to_string(&paths.statics).ok()?;
        let tests = fs::read_to_string(&paths.tests).ok()?;
        let body = Body { statics, tests };
        if !record.matches(&body) || !record.has_archive(&out_dir.join(paths.archive)) {
            return None;
        }
        let SuiteRecord { module, facts, graders, warnings, embedded, stamps, .. } = record;
        Some(Self { module, facts, graders, warnings, body, embedded: embedded.into(), files: stamps.files_read() })
    }
}

/// Whether the build script loads the suite in the same way: with every setting that changes cases at its default.
fn has_default_settings(request: &Request) -> bool {
    let defaults = Request::new(request.entry.clone(), request.package_root.clone());
    request.targets.is_empty()
        && request.fixtures == defaults.fixtures
        && request.allow_docker == defaults.allow_docker
        && request.workspace_root == defaults.workspace_root
}

impl SuiteRecord {
    /// Whether loading would give the same.
    fn is_valid_for(&self, request: &Request) -> bool {
        self.version == env!("CARGO_PKG_VERSION")
            && self.entry == entry_path(request)
            && self.package_root == request.package_root
            && self.workspace_root == request.workspace_root
            && self.stamps.are_current()
    }

    /// Whether the archive at `path` exists, if there has to be one.
    fn has_archive(&self, path: &Path) -> bool {
        !matches!(self.embedded, EmbeddedRecord::Archive(_)) || path.is_file()
    }

    /// Whether `body` has the lengths of the code that was stored.
    fn matches(&self, body: &Body) -> bool {
        self.code_lengths == (body.statics.len(), body.tests.len())
    }
}

impl From<EmbeddedRecord> for Embedded {
    fn from(record: EmbeddedRecord) -> Self {
        match record {
            EmbeddedRecord::Off => Self::Off,
            EmbeddedRecord::NoFiles => Self::Files(Contents::none()),
            EmbeddedRecord::Archive(path) => Self::Archive(path, Contents::none()),
        }
    }
}

impl FileStamps {
    /// Whether nothing has changed.
    pub(super) fn are_current(&self) -> bool {
        self.lines.lines().all(|line| {
            let Some((kind, time, size, path)) = parts(line) else { return false };
            match fs::metadata(path) {
                Ok(metadata) => {
                    kind != MISSING
                        && time == nanoseconds(&metadata).to_string()
                        && size == length(&metadata).to_string()
                }
                Err(error) => kind == MISSING && is_missing(&error),
            }
        })
    }

    /// The files that were read.
    pub(super) fn files_read(&self) -> Vec<PathBuf> {
        let read = self.lines.lines().filter_map(parts).filter(|(kind, ..)| *kind == READ);
        read.map(|(.., path)| PathBuf::from(path)).collect()
    }
}

fn parts(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (kind, rest) = line.split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let (size, path) = rest.split_once(' ')?;
    Some((kind, time, size, path))
}
