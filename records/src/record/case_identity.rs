//! What names a case in a run.

use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::{Layout, Location, SuiteKind};

/// What names a case in a run. Records of the case and of its trials have these fields as their own.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(part)]
pub struct CaseIdentity {
    /// Id of the run.
    pub run_id: String,
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 over all files of the suite, hexadecimal.
    pub suite_digest: String,
    /// How the suite's files are laid out.
    pub layout: Layout,
    /// Rule by which the trials of a case decide it.
    pub kind: SuiteKind,
    /// Id of the case.
    pub case_id: String,
    /// Name of the case's directory in the run.
    pub case_key: String,
    /// SHA-256 of the whole case, hexadecimal.
    pub case_digest: String,
    /// SHA-256 of the input of the agent, hexadecimal.
    pub input_digest: String,
    /// SHA-256 of the graders, hexadecimal.
    pub grader_digest: String,
    /// Path of the Rust test, without the crate.
    pub test_name: String,
    /// Name of the target.
    pub target: String,
    /// Name or Rust path of the agent.
    pub agent: String,
    /// Where the case is defined.
    pub location: Location,
    /// Attempt of the test runner, from 1.
    pub runner_attempt: u32,
    /// Id of the case that depends on this one and caused it to run.
    pub requested_by: Option<String>,
}

impl CaseIdentity {
    /// The digests of the case, of what the agent sees of it and of its graders: equal for cases of the same definition.
    pub fn digests(&self) -> [&str; 3] {
        [&self.case_digest, &self.input_digest, &self.grader_digest]
    }
}

/// The fields of the identity are read and set as those of the record.
macro_rules! fields_of_identity {
    ($record:ident) => {
        impl std::ops::Deref for $record {
            type Target = $crate::record::CaseIdentity;

            fn deref(&self) -> &Self::Target {
                &self.identity
            }
        }

        impl std::ops::DerefMut for $record {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.identity
            }
        }
    };
}

pub(super) use fields_of_identity;
