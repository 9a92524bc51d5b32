//! The names of the files and directories of runs.
//!
//! ```text
//! OUTPUT/                          target/evalsuite of the workspace, or EVALSUITE_OUTPUT
//! ├── latest                       id of the newest run
//! ├── .digest-key                  key of digests of values that may be secret
//! └── runs/RUN_ID/
//!     ├── run.json
//!     ├── summary.json
//!     ├── chosen.json              the tests that `cargo evalsuite run` chose
//!     ├── decision.json            how the run is compared with its base while it runs
//!     ├── spend.jsonl              the ledger: one line per attempt at a trial
//!     ├── pairwise/RUN_ID/         what judges were asked about the answers of this run and of another one
//!     ├── locks/                   lock files, and results of work that is done once per run
//!     ├── shards/N/                of a merged run: files of part N that others have with other content
//!     └── suites/SUITE/
//!         ├── suite.json
//!         ├── calibration.json
//!         ├── session*.json        what the suite still has to undo
//!         ├── finished*            one file per test that has ended
//!         ├── base/                base workspaces
//!         ├── hooks/               logs of the suite's hooks
//!         ├── earlier/CASE_KEY…/   records of a case that runs again, until it has ended
//!         └── cases/CASE_KEY[.test-TEST][.attempt-N][.stress-N]/
//!             ├── case.json
//!             └── trial-000[.retry-N]/
//!                 ├── started.json
//!                 ├── result.json
//!                 ├── evidence.json, or input.json if the agent returned no result
//!                 ├── trajectory.json
//!                 ├── diff.patch
//!                 ├── hooks/
//!                 └── workspace/
//! ```

use std::fmt;

/// Name of the file with the id of the newest run.
pub const LATEST: &str = "latest";
/// Name of the file with the key of digests. It is hidden: uploads of artifacts leave hidden files out.
pub const DIGEST_KEY: &str = ".digest-key";
/// Name of the directory of all runs.
pub const RUNS: &str = "runs";
/// Name of the file with the [`RunRecord`](crate::record::RunRecord).
pub const RUN_RECORD: &str = "run.json";
/// Name of the file with the [`RunSummary`](crate::record::RunSummary).
pub const SUMMARY: &str = "summary.json";
/// Name of the file with the [`ChosenTests`](crate::record::ChosenTests).
pub const CHOSEN: &str = "chosen.json";
/// Name of the file with the [`DecisionRecord`](crate::record::DecisionRecord).
pub const DECISION: &str = "decision.json";
/// Name of the ledger, which has one line per attempt at a trial.
pub const LEDGER: &str = "spend.jsonl";
/// Name of the directory of lock files.
pub const LOCKS: &str = "locks";
/// Extension of files that are locked while a test uses what they name.
pub const LOCK_EXTENSION: &str = "lock";
/// Name of the directory for files that parts of a merged run have with different content.
pub const SHARDS: &str = "shards";
/// Name of the directory of suites.
pub const SUITES: &str = "suites";
/// Name of the file with the [`SuiteRecord`](crate::record::SuiteRecord).
pub const SUITE_RECORD: &str = "suite.json";
/// Name of the directory of a suite's base workspaces.
pub const BASE_WORKSPACES: &str = "base";
/// Name of the directory of a suite's cases.
pub const CASES: &str = "cases";
/// Name of the directory of the records of cases that run again in the same run, until they have ended.
pub const EARLIER_CASES: &str = "earlier";
/// Name of the file with the [`CaseRecord`](crate::record::CaseRecord).
pub const CASE_RECORD: &str = "case.json";
/// Name of the file that says that a trial has started.
pub const TRIAL_STARTED: &str = "started.json";
/// Name of the file with the [`TrialRecord`](crate::record::TrialRecord).
pub const TRIAL_RECORD: &str = "result.json";
/// Name of the file next to it with the data to grade the trial again.
pub const EVIDENCE: &str = "evidence.json";
/// Name of the file with what the agent was asked, in a trial that ended before there was such data.
pub const INPUT: &str = "input.json";
/// Name of the directory an agent works in, unless the suite's workspace is shared.
pub const WORKSPACE: &str = "workspace";

/// Name of the directory of an attempt at a trial; both count from 0.
pub fn trial_directory_name(trial: u32, attempt: u32) -> String {
    match attempt {
        0 => format!("trial-{trial:03}"),
        _ => format!("trial-{trial:03}.retry-{attempt}"),
    }
}

/// Whether a file in a suite's directory belongs to one of its sessions: pending hooks, and tests that have ended.
pub fn is_session_file(name: &str) -> bool {
    name.starts_with("finished") || name.starts_with("session") && name.ends_with(".json")
}

/// Name of a case's directory.
///
/// ```
/// # use evalsuite_records::run_directory::CaseDirectoryName;
/// let name = CaseDirectoryName::parse("refund-0a1b2c3d.attempt-2");
/// assert_eq!((name.case_key.as_str(), name.attempt), ("refund-0a1b2c3d", 2));
/// assert_eq!(name.to_string(), "refund-0a1b2c3d.attempt-2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseDirectoryName {
    /// The key of the case, a digest at its end.
    pub case_key: String,
    /// The test, where another test of the run has the same case: a digest of its path, in a merged run maybe the path itself.
    pub test: Option<String>,
    /// The runner attempt, from 1.
    pub attempt: u32,
    /// The index of a stress run of nextest.
    pub stress: Option<String>,
}

impl CaseDirectoryName {
    /// Reads the name of a directory.
    pub fn parse(name: &str) -> Self {
        let (name, stress) = split(name, ".stress-");
        let (name, attempt) = match name.rsplit_once(".attempt-").map(|(name, attempt)| (name, attempt.parse())) {
            Some((name, Ok(attempt))) => (name, attempt),
            _ => (name, 1),
        };
        let (case_key, test) = split(name, ".test-");
        Self { case_key: case_key.to_owned(), test, attempt, stress }
    }

    /// Name of the file that is locked while a test runs the case of a suite, which is given by the name of its directory. All attempts and
    /// stress runs of the test share it.
    pub fn lock_file(&self, suite: &str) -> String {
        let name = Self { attempt: 1, stress: None, ..self.clone() };
        format!("{suite}.{name}.{LOCK_EXTENSION}")
    }
}

fn split<'n>(name: &'n str, separator: &str) -> (&'n str, Option<String>) {
    match name.rsplit_once(separator) {
        Some((name, rest)) => (name, Some(rest.to_owned())),
        None => (name, None),
    }
}

impl fmt::Display for CaseDirectoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.case_key)?;
        if let Some(test) = &self.test {
            write!(f, ".test-{test}")?;
        }
        if self.attempt > 1 {
            write!(f, ".attempt-{}", self.attempt)?;
        }
        match &self.stress {
            Some(stress) => write!(f, ".stress-{stress}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_case_directories_are_written_as_they_are_read() {
        for (text, key, test, attempt, stress) in [
            ("a-01234567", "a-01234567", None, 1, None),
            ("a-01234567.test-89abcdef", "a-01234567", Some("89abcdef"), 1, None),
            ("a.test-b-01234567.test-89abcdef.attempt-3.stress-7", "a.test-b-01234567", Some("89abcdef"), 3, Some("7")),
            ("a.attempt-x-01234567.stress-0", "a.attempt-x-01234567", None, 1, Some("0")),
        ] {
            let name = CaseDirectoryName::parse(text);
            assert_eq!((name.case_key.as_str(), name.test.as_deref(), name.attempt), (key, test, attempt), "{text}");
            assert_eq!((name.stress.as_deref(), name.to_string().as_str()), (stress, text));
        }
    }
}
