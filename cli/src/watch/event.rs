//! What `watch` waits for.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::programs::{BuildProblems, Program};
use super::verdicts::{TestId, Verdict};
use crate::platform::cli_error::Result;

pub(super) enum Event {
    /// Files were written, renamed or removed.
    Files(BTreeSet<PathBuf>),
    WatchError(String),
    Built(Result<Result<Vec<Program>, BuildProblems>>),
    /// A test has ended.
    Ended(TestId, Verdict),
    /// What a failed test printed.
    Failure(TestId, String),
    /// The test process with this index has ended.
    ProgramEnded(usize),
    /// A signal with this number asks `watch` to end.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals"))]
    EndSignal(i32),
}
