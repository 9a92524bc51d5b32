use std::fmt;

/// What became of a program. Its `Display` is the agent's answer.
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
    /// All tests passed from the beginning.
    Healthy,
    /// All tests pass now; the changes that were made, in words, each with its line.
    Repaired(Vec<(usize, String)>),
    /// Nothing helped, and the program is as it was; what is wrong with it.
    Beaten(String),
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
            Verdict::Beaten(wrong) => {
                write!(
                    f,
                    "Could not repair {file}: {wrong}. Tried {tried} {candidates}, none passes all tests; the file is as it was."
                )
            }
        }
    }
}
