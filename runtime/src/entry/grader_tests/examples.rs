//! The generated test `grader_examples`: the examples of a suite are graded, and get the verdicts they should.

use std::collections::BTreeSet;

use evalsuite_records::record::Mode;

use crate::entry::reload;
use crate::entry::run_error::RunError;
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::platform::map_on_threads::map_on_threads;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::made_up::made_up_suite::MadeUpSuite;
use crate::run::settings::Settings;

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
pub(crate) fn run(evals: Evals, settings: &Settings) -> Result<ExamplesReport, RunError> {
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
