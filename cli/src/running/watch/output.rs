//! What `watch` prints off a terminal: lines for the background matchers of editors.

use std::io::{self, Write};

use evalsuite_diagnostics::render;

use super::state::State;
use super::verdicts::Verdict;

/// The first and the last line of everything that is said about one change. Editors wait for them.
const BEGIN: &str = "evalsuite: begin";
const END: &str = "evalsuite: end";

pub(super) fn begin() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{BEGIN}")?;
    out.flush()
}

/// Prints a line per problem that there is now, also of suites that did not change: a matcher forgets those of the change before.
pub(super) fn end(state: &State) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut problems = state.suites.diagnostics().ungrouped();
    problems.sort();
    for problem in &problems {
        writeln!(out, "{}", render::one_line(problem))?;
    }
    for problem in &state.build_problems.lines {
        writeln!(out, "{problem}")?;
    }
    for (test, result) in state.verdicts.shown() {
        if result.verdict == Verdict::Failed {
            let place = state.suites.place(&result.case).map(|(location, _)| location);
            let (file, line, column) = place
                .map_or(("Cargo.toml", 1, 1), |place| (place.file.as_str(), place.line.max(1), place.column.max(1)));
            let reason = result.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
            writeln!(out, "{file}:{line}:{column}: error[failed]: {test}: {reason}")?;
        }
    }
    writeln!(out, "evalsuite: {}", state.summary())?;
    writeln!(out, "{END}")?;
    out.flush()
}
