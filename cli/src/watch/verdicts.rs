//! What `watch` waits for, and how tests ended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::programs::{BuildProblems, Built, Program};
use super::suites::Touched;
use crate::platform::exit_status::Result;

/// Something that `watch` reacts to.
pub(super) enum Event {
    /// Files were written, renamed or removed.
    Files(BTreeSet<PathBuf>),
    WatchError(String),
    Built(Result<Result<Built, BuildProblems>>),
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

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Running,
    Passed,
    Failed,
    Skipped,
    /// A Rust file has changed since.
    Outdated,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
            Self::Outdated => "outdated",
        }
    }
}

/// A test of a test program. Programs may have tests with the same paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TestId {
    pub(super) test: String,
    /// The [`Program::id`].
    pub(super) program: Arc<str>,
}

/// The last result of a test.
#[derive(Debug, Clone)]
pub(super) struct LastResult {
    pub(super) verdict: Verdict,
    /// The one that is outdated, or the same.
    earlier: Verdict,
    pub(super) case: Touched,
    /// What it printed, if it failed.
    pub(super) text: String,
    /// Grows with every start of a test.
    pub(super) number: usize,
}

/// The last result of each test that has run.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    last: BTreeMap<TestId, LastResult>,
    started: usize,
}

impl Verdicts {
    pub(super) fn start(&mut self, program: &Program, tests: &[(String, Touched)]) {
        for (test, case) in tests {
            self.started += 1;
            let result = LastResult {
                verdict: Verdict::Running,
                earlier: Verdict::Running,
                case: case.clone(),
                text: String::new(),
                number: self.started,
            };
            self.last.insert(TestId { test: test.clone(), program: Arc::clone(&program.id) }, result);
        }
    }

    pub(super) fn end(&mut self, test: &TestId, verdict: Verdict) {
        if let Some(result) = self.last.get_mut(test)
            // Libtest counts a skipped test as passed, after the line about it or before. A failure stays one.
            && !matches!((result.earlier, verdict), (Verdict::Skipped, Verdict::Passed) | (Verdict::Failed, _))
        {
            result.earlier = verdict;
            // A Rust file may have changed while it ran.
            if result.verdict != Verdict::Outdated {
                result.verdict = verdict;
            }
        }
    }

    /// Every result is that of another program than the one that is built next.
    pub(super) fn outdate(&mut self) {
        self.last.values_mut().for_each(|result| result.verdict = Verdict::Outdated);
    }

    /// The results of a program that the build left as it was are those of the sources.
    pub(super) fn confirm(&mut self, program: &Program) {
        let of_program = self.last.iter_mut().filter(|(test, _)| test.program == program.id);
        let outdated = of_program.filter(|(_, result)| result.verdict == Verdict::Outdated);
        outdated.for_each(|(_, result)| result.verdict = result.earlier);
    }

    /// The cases whose last result is a failure, also an outdated one.
    pub(super) fn failed(&self) -> impl Iterator<Item = &Touched> {
        self.last.values().filter(|result| result.earlier == Verdict::Failed).map(|result| &result.case)
    }

    /// How the last run of a test of a program ended, also if that is outdated.
    pub(super) fn last_of(&self, program: &Program, test: &str) -> Option<Verdict> {
        let test = TestId { test: test.to_owned(), program: Arc::clone(&program.id) };
        self.last.get(&test).map(|result| result.earlier)
    }

    pub(super) fn fail(&mut self, test: &TestId, text: String) {
        if let Some(result) = self.last.get_mut(test) {
            result.text = text;
        }
    }

    /// Tests whose program ended without a word about them have failed.
    pub(super) fn end_all(&mut self) {
        for result in self.last.values_mut().filter(|result| result.earlier == Verdict::Running) {
            result.earlier = Verdict::Failed;
            // A Rust file may have changed while it ran.
            if result.verdict != Verdict::Outdated {
                result.verdict = Verdict::Failed;
            }
            result.text = "the test program ended before this test".to_owned();
        }
    }

    /// Forgets tests that do not exist any more.
    pub(super) fn retain(&mut self, exists: impl Fn(&Touched) -> bool) {
        self.last.retain(|_, result| exists(&result.case));
    }

    /// The newest first, running tests and failures before the others.
    pub(super) fn shown(&self) -> Vec<(String, &LastResult)> {
        // Tests with one path are beside each other.
        let tests: Vec<&TestId> = self.last.keys().collect();
        let is_repeated = |index: usize, test: &TestId| {
            let others = [index.checked_sub(1), index.checked_add(1)].into_iter().flatten();
            others.filter_map(|index| tests.get(index)).any(|other| other.test == test.test)
        };
        let name = |(index, (test, result)): (usize, (&TestId, _))| match is_repeated(index, test) {
            true => (format!("{} ({})", test.test, test.program), result),
            false => (test.test.clone(), result),
        };
        let mut all: Vec<(String, &LastResult)> = self.last.iter().enumerate().map(name).collect();
        let rank = |verdict: Verdict| match verdict {
            Verdict::Running => 0,
            Verdict::Failed => 1,
            Verdict::Passed | Verdict::Skipped | Verdict::Outdated => 2,
        };
        all.sort_by_key(|(_, result)| (rank(result.verdict), usize::MAX - result.number));
        all
    }

    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.last.values().filter(|result| result.verdict == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_no_pass_and_a_failure_stays_one() {
        let last = |found: [Verdict; 2]| {
            let id = TestId { test: "a".to_owned(), program: "shop::evals".into() };
            let case = Touched { suite: "EVAL.yaml".to_owned(), path: "a".to_owned() };
            let running = Verdict::Running;
            let result = LastResult { verdict: running, earlier: running, case, text: String::new(), number: 1 };
            let mut verdicts = Verdicts { last: [(id.clone(), result)].into(), started: 1 };
            found.into_iter().for_each(|verdict| verdicts.end(&id, verdict));
            verdicts.last[&id].verdict
        };
        let (passed, failed, skipped) = (Verdict::Passed, Verdict::Failed, Verdict::Skipped);
        assert_eq!([last([skipped, passed]), last([passed, skipped])], [skipped, skipped]);
        assert_eq!([last([skipped, failed]), last([failed, skipped])], [failed, failed]);
    }
}
