//! What all records of a case say about it, and the records of which nothing else is known yet.

use super::{CaseRecord, Rule, TrialRecord};
use crate::{Kind, Layout, Location};

/// What the records of a case and of its trials have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseIdentity {
    /// Id of the run.
    pub run_id: String,
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 over all files of the suite, hexadecimal.
    pub suite_digest: String,
    /// How the suite's files are laid out.
    pub layout: Layout,
    /// How trials decide a case.
    pub kind: Kind,
    /// Id of the case.
    pub case_id: String,
    /// Name of the case's directory in the run.
    pub case_key: String,
    /// SHA-256 of the whole case, hexadecimal.
    pub case_digest: String,
    /// SHA-256 of what the agent sees, hexadecimal.
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
    /// Case that caused this one to run.
    pub requested_by: Option<String>,
    /// Effective threshold, 0 to 1.
    pub threshold: f64,
}

impl TrialRecord {
    /// The record of a trial of this case that ended in an error before anything was known about it.
    pub fn of_case(case: CaseIdentity) -> Self {
        Self {
            run_id: case.run_id,
            suite: case.suite,
            suite_digest: case.suite_digest,
            layout: case.layout,
            kind: case.kind,
            case_id: case.case_id,
            case_key: case.case_key,
            case_digest: case.case_digest,
            input_digest: case.input_digest,
            grader_digest: case.grader_digest,
            test_name: case.test_name,
            target: case.target,
            agent: case.agent,
            location: case.location,
            runner_attempt: case.runner_attempt,
            requested_by: case.requested_by,
            threshold: case.threshold,
            ..Self::new()
        }
    }
}

impl CaseRecord {
    /// The record of this case before any of its trials; `rule` is how they decide it.
    pub fn of_case(case: CaseIdentity, rule: Rule) -> Self {
        Self {
            run_id: case.run_id,
            suite: case.suite,
            suite_digest: case.suite_digest,
            layout: case.layout,
            kind: case.kind,
            case_id: case.case_id,
            case_key: case.case_key,
            case_digest: case.case_digest,
            input_digest: case.input_digest,
            grader_digest: case.grader_digest,
            test_name: case.test_name,
            target: case.target,
            agent: case.agent,
            location: case.location,
            runner_attempt: case.runner_attempt,
            requested_by: case.requested_by,
            threshold: case.threshold,
            rule,
            ..Self::new()
        }
    }
}
