//! The generated test `grader_examples`, in which no agent is called: the examples of a suite are graded, and get the verdicts they should.

use std::collections::BTreeSet;

use evalsuite_records::record::Mode;

use crate::entry::evals_run::RunError;
use crate::entry::test_entry::{fail, setup_error};
use crate::entry::{reload, suite_description};
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::platform::map_on_threads::map_on_threads;
use crate::platform::notice;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::made_up::made_up_suite::MadeUpSuite;
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
        .and_then(|settings| run(evals, settings))
        .unwrap_or_else(|error| fail(setup_error(&error)));
    for reason in &report.skipped {
        notice::say(&format!("SKIPPED {reason}"));
    }
    if !report.problems.is_empty() {
        let (wrong, all) = (report.problems.len(), report.examples);
        fail(format!("evaluation failed: {wrong} of {all} examples of {name}\n{}", report.problems.join("\n")));
    }
}

/// The result of all examples of a suite.
#[derive(Debug, Default)]
pub(crate) struct ExamplesReport {
    /// Number of examples.
    pub(crate) examples: usize,
    /// Examples with the wrong verdict, and those that could not be graded.
    pub(crate) problems: Vec<String>,
    /// Examples that ask a judge where there is none.
    pub(crate) skipped: Vec<String>,
}

/// Grades the examples of all cases.
fn run(evals: Evals, settings: &Settings) -> Result<ExamplesReport, RunError> {
    let evals = reload::whole_suite(evals, settings)?;
    let mut seen = BTreeSet::new();
    // In a matrix, a case is listed once per target.
    let cases: Vec<&'static EvalCase> =
        evals.suite().cases.iter().filter(|case| may_have_examples(case) && seen.insert(case.id)).collect();
    let workers = settings.workers;
    let judges = matches!(settings.judge_mode(), Mode::Live | Mode::Record);
    let suite = MadeUpSuite::new(evals, settings, AllowedGraders { judges, commands: true })
        .map_err(|error| RunError::records("no temporary directory can be made").with_source(error))?;
    let graded = map_on_threads(&cases, workers, |case| {
        suite.case(case).and_then(|mut grading| grading.grade_examples()).map_err(RunError::from)
    });
    let mut report = ExamplesReport::default();
    for (case, graded) in cases.iter().zip(graded) {
        let examples = graded.unwrap_or_else(|error| {
            report.problems.push(format!("case `{}`: {error}", case.id));
            Vec::new()
        });
        report.examples += examples.len();
        for example in examples {
            match example.is_right() {
                Some(true) => {}
                Some(false) => report.problems.push(example.problem(case.id)),
                None => match example.undecided(case.id) {
                    (true, text) if !settings.require && settings.mode != Mode::Replay => report.skipped.push(text),
                    (_, text) => report.problems.push(text),
                },
            }
        }
    }
    report.problems.extend(suite.end());
    Ok(report)
}

/// Whether a search for examples may find one. Most cases have none, and their text is faster to search than to decode.
fn may_have_examples(case: &EvalCase) -> bool {
    case.json.text().contains("\"examples\":")
}
