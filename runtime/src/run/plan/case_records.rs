//! Where the records of a case go, and the digests that identify it.

use std::path::PathBuf;

use evalsuite_schema::digest::CaseDigests;

use crate::model::suite_location::program;
use crate::platform::digest::case_key;
use crate::record::cassette::AgentInput;
use crate::record::run_directory::{CaseDirectory, RunDirectory};
use crate::run::case_error::CaseError;
use crate::run::plan::case_source::CaseSource;
use crate::run::settings::Runner;

/// The identity of a case in records.
pub(crate) struct CaseRecords {
    pub(crate) case_key: String,
    pub(crate) place: CaseDirectory,
    /// Directory of this attempt of the test runner.
    pub(crate) directory: PathBuf,
    pub(crate) digests: Digests,
}

/// SHA-256 of the parts of a case.
pub(crate) struct Digests {
    pub(crate) case: String,
    pub(crate) input: String,
    pub(crate) graders: String,
}

impl CaseRecords {
    pub(super) fn claim(
        CaseSource { suite, entry, case, .. }: &CaseSource,
        target: &str,
        seen: &AgentInput,
        runner: &Runner,
        run: &RunDirectory,
    ) -> Result<Self, CaseError> {
        let case_key = case_key(suite.name, target, entry.id);
        // The test that runs a case: the test program and the test's path in it.
        let owner = format!("{}\0{}\0{}", program(), suite.module_path, entry.test_name);
        let place = run
            .claim_case(&suite.key(), &case_key, &owner, runner.stress.as_deref())
            .map_err(|source| CaseError::unwritable(&format!("case `{}`", entry.id), run.path(), source))?;
        let directory = place.attempt(runner.attempt);
        let CaseDigests { case, graders } = entry.json.digests().unwrap_or_else(|| CaseDigests::of(case));
        Ok(Self { case_key, place, directory, digests: Digests { case, input: seen.digest(), graders } })
    }
}
