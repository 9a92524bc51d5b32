//! Tests of graders, in which no agent is called.

mod examples;

use crate::entry::run_error::RunError;
use crate::entry::suite_description;
use crate::entry::test_entry::{fail, setup_error};
use crate::model::evals::Evals;
use crate::platform::notice;
use crate::run::settings::Settings;

/// Grades the examples of the suite as a test.
///
/// # Panics
///
/// If one has the wrong verdict, or cannot be graded.
pub fn grader_examples(evals: fn() -> Evals) {
    if suite_description::is_wanted() {
        return;
    }
    let evals = evals();
    let name = evals.suite().name;
    let report = Settings::from_environment()
        .map_err(RunError::from)
        .and_then(|settings| examples::run(evals, settings))
        .unwrap_or_else(|error| fail(setup_error(&error)));
    for reason in &report.skipped {
        notice::say(&format!("SKIPPED {reason}"));
    }
    if !report.problems.is_empty() {
        let (wrong, all) = (report.problems.len(), report.examples);
        fail(format!("evaluation failed: {wrong} of {all} examples of {name}\n{}", report.problems.join("\n")));
    }
}
