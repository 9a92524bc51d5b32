//! The result of a repair.

use std::fmt;

/// The result of a repair. Its `Display` is the agent's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub(crate) file: String,
    pub(crate) verdict: Verdict,
    pub(crate) tests: usize,
    pub(crate) tried: usize,
}

/// How a repair ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// All tests passed without a change.
    Healthy,
    /// All tests pass now; the changes, each with its line and a description.
    Repaired(Vec<(usize, String)>),
    /// No candidate helped, and the program is unchanged; the text is the problem.
    NotRepaired(String),
}

impl Report {
    /// How the repair ended.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Number of candidates that were tried.
    pub fn tried(&self) -> usize {
        self.tried
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, tests, tried, .. } = self;
        let candidates = if *tried == 1 { "candidate" } else { "candidates" };
        match &self.verdict {
            Verdict::Healthy => write!(f, "Nothing to repair in {file}: all {tests} tests pass."),
            Verdict::Repaired(changes) => {
                writeln!(f, "Repaired {file}.")?;
                for (line, what) in changes {
                    writeln!(f, "- line {line}: {what}")?;
                }
                write!(f, "All {tests} tests pass. Tried {tried} {candidates}.")
            }
            Verdict::NotRepaired(wrong) => {
                write!(
                    f,
                    "Could not repair {file}: {wrong}. Tried {tried} {candidates}, none passes all tests; the file is as it was."
                )
            }
        }
    }
}
