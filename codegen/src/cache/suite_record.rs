//! What the cache holds of a suite beside its code, and what decides whether it is still valid.

use std::path::PathBuf;

use evalsuite_loader::{Loaded, LoadedSuite, Request};
use evalsuite_schema::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::entry_path;
use super::file_stamps::FileStamps;
use crate::statics::Body;
use crate::suite_facts::SuiteFacts;

/// Everything about a loaded suite but its code.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SuiteRecord {
    /// Version of this crate: another one may generate other code.
    pub(super) version: String,
    pub(super) entry: Option<PathBuf>,
    pub(super) package_root: PathBuf,
    pub(super) workspace_root: PathBuf,
    pub(super) module: String,
    pub(super) facts: SuiteFacts,
    /// Names of the graders that are not built in.
    pub(super) graders: Vec<String>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Lengths of the two files of code.
    pub(super) code_lengths: (usize, usize),
    pub(super) embedded: EmbeddedRecord,
    pub(super) stamps: FileStamps,
}

/// How the files that cases need are embedded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum EmbeddedRecord {
    /// Not at all.
    Off,
    /// Cases need none.
    NoFiles,
    /// In the archive with this path in OUT_DIR.
    Archive(String),
}

impl SuiteRecord {
    pub(super) fn new(
        request: &Request,
        suite: &LoadedSuite,
        loaded: &Loaded,
        warnings: Vec<Diagnostic>,
        (body, embedded): (&Body, EmbeddedRecord),
        stamps: FileStamps,
    ) -> Self {
        let mut graders: Vec<String> = loaded.user_graders.iter().map(|grader| grader.name.clone()).collect();
        graders.sort();
        graders.dedup();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            entry: entry_path(request),
            package_root: request.package_root.clone(),
            workspace_root: request.workspace_root.clone(),
            module: suite.module.clone(),
            facts: SuiteFacts::new(suite),
            graders,
            warnings,
            code_lengths: (body.statics.len(), body.tests.len()),
            embedded,
            stamps,
        }
    }
}
