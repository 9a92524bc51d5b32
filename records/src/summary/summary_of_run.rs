//! The summary of a run from the records of its tests.

use std::io;
use std::path::Path;

use crate::record::{RunSummary, SuiteSummary, TrialRecord};
use crate::run_data::{ReadDepth, SuiteData, suites_of, suites_without_records};
use crate::summary::{SummedCase, by_target};

/// Sums up the run in a directory from its records, without ending it. Of several runner attempts at a case, the last one counts; a case
/// whose process died is an error.
///
/// # Errors
///
/// If the records of the run cannot be read.
pub fn summarize_run(run: &Path) -> io::Result<RunSummary> {
    let failed =
        |error: io::Error| io::Error::new(error.kind(), format!("run {} cannot be summed up: {error}", run.display()));
    let run = std::path::absolute(run).map_err(failed)?;
    let run_id = &*run.file_name().unwrap_or_default().to_string_lossy();
    let (suites, _) = suites_of(&run, ReadDepth::Trials).map_err(failed)?;
    let without_records = suites_without_records(&run, &suites);
    let mut summary = RunSummary::new();
    summary.run_id = run_id.to_owned();
    summary.suites = suites.into_iter().chain(without_records).map(|suite| of_suite(suite, run_id)).collect();
    Ok(summary)
}

fn of_suite(suite: SuiteData, run_id: &str) -> SuiteSummary {
    let not_started = suite.not_started();
    let mut cases = Vec::new();
    for case in suite.cases {
        let trials: Vec<TrialRecord> = case.trials.into_iter().map(|trial| trial.record).collect();
        cases.push((case.record, trials));
    }
    let no_metadata = evalsuite_schema::Object::new();
    let summed: Vec<SummedCase<'_>> = cases
        .iter()
        .map(|(record, trials)| SummedCase {
            record,
            trials,
            metadata: trials.first().map_or(&no_metadata, |trial| &trial.metadata),
        })
        .collect();
    let targets = by_target(&summed);
    let mut summary = SuiteSummary::new();
    (summary.run_id, summary.suite, summary.targets) = (run_id.to_owned(), suite.name, targets);
    summary.id = suite.id;
    summary.probe = suite.record.as_ref().and_then(|record| record.probe);
    summary.problems = suite.problems.iter().map(|problem| problem.sentence()).collect();
    summary.not_started = not_started;
    summary.cases = cases.into_iter().map(|(record, _)| record).collect();
    summary
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::record::{CaseRecord, Status};

    use super::*;

    #[test]
    fn what_is_not_a_record_is_a_problem_of_its_case_only() {
        let run = tempfile::tempdir().unwrap();
        let cases = run.path().join("suites/s/cases");
        for (name, text) in [
            ("a-12345678", "not JSON".to_owned()),
            ("b-12345678", {
                let mut record = CaseRecord::new();
                (record.suite, record.test_name) = ("s".to_owned(), "evals::b".to_owned());
                record.outcome = Status::Passed;
                serde_json::to_string(&record).unwrap()
            }),
        ] {
            fs::create_dir_all(cases.join(name)).unwrap();
            fs::write(cases.join(name).join("case.json"), text).unwrap();
        }
        let summary = summarize_run(run.path()).unwrap();
        let suite = &summary.suites[0];
        let outcomes: Vec<Status> = suite.cases.iter().map(|case| case.outcome).collect();
        assert_eq!((outcomes, suite.problems.len()), (vec![Status::Error, Status::Passed], 1));
        assert!(
            suite.problems[0].starts_with("evaluation error (records): case `a-12345678`  "),
            "{:?}",
            suite.problems
        );
    }

    #[test]
    fn a_test_counts_once_whatever_lies_beside_its_directory() {
        let run = tempfile::tempdir().unwrap();
        let write = |name: &str, test: &str, attempt| {
            let mut record = CaseRecord::new();
            (record.suite, record.test_name, record.runner_attempt) = ("s".to_owned(), test.to_owned(), attempt);
            let directory = run.path().join("suites/s/cases").join(name);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("case.json"), serde_json::to_vec(&record).unwrap()).unwrap();
        };
        write("a-12345678", "evals::a", 1);
        write("a-12345678.test-89abcdef", "evals::a", 1);
        write("copy of a-12345678", "evals::a", 1);
        write("a-12345678.test-fedcba98", "again::a", 1);
        write("b-12345678", "evals::b", 1);
        write("b-12345678.test-89abcdef.attempt-2", "evals::b", 2);
        write("c-12345678.stress-0", "evals::c", 1);
        write("c-12345678.stress-1", "evals::c", 1);
        let summary = summarize_run(run.path()).unwrap();
        let counted = summary.suites[0].cases.iter().map(|case| (case.test_name.as_str(), case.runner_attempt));
        let expected = [("again::a", 1), ("evals::a", 1), ("evals::b", 2), ("evals::c", 1), ("evals::c", 1)];
        assert_eq!(counted.collect::<Vec<_>>(), expected);
    }
}
