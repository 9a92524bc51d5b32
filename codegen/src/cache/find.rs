//! Finding a suite in the cache, if it is still valid.

use std::path::{Path, PathBuf};

use evalsuite_loader::Request;
use evalsuite_schema::diagnostic::Diagnostic;

use super::stored_suite::{EmbeddedRecord, StoredSuite, SuiteRecord};
use super::{cache_file, entry_path};
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
        let stored = StoredSuite::read(&cache_file(out_dir, &entry_path(request)?))?;
        let StoredSuite { record, stamps, body, .. } = stored;
        if !record.is_about(request) || !record.has_archive(out_dir) || !stamps.are_current() {
            return None;
        }
        let SuiteRecord { module, facts, graders, warnings, embedded, .. } = record;
        Some(Self { module, facts, graders, warnings, body, embedded: embedded.into(), files: stamps.files() })
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

impl From<EmbeddedRecord> for Embedded {
    fn from(record: EmbeddedRecord) -> Self {
        match record {
            EmbeddedRecord::Off => Self::Off,
            EmbeddedRecord::NoFiles => Self::Files(Contents::none()),
            EmbeddedRecord::Archive(path) => Self::Archive(path, Contents::none()),
        }
    }
}
