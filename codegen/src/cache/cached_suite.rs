//! A suite from the cache, as an expansion takes it.

use std::path::PathBuf;

use evalsuite_diagnostics::Diagnostic;

use super::stored_suite::{EmbeddedRecord, StoredSuite, SuiteRecord};
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
    /// The files that were read or embedded.
    pub(crate) files: Vec<PathBuf>,
    /// What was read to get it.
    #[cfg(test)]
    pub(crate) read: super::Read,
}

impl CachedSuite {
    pub(super) fn new(stored: StoredSuite, #[cfg_attr(not(test), expect(unused))] read: super::Read) -> Self {
        let StoredSuite { record, stamps, body, .. } = stored;
        let SuiteRecord { module, facts, graders, warnings, embedded, .. } = record;
        Self {
            module,
            facts,
            graders,
            warnings,
            body,
            embedded: embedded.into(),
            files: stamps.files(),
            #[cfg(test)]
            read,
        }
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
