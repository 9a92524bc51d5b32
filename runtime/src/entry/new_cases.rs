//! Cases that are new since the build and so have no tests of their own. A test `suite_check` runs them for `cargo evalsuite watch`, which
//! need not build for them.

use evalsuite_records::record::Status;

use crate::entry::evals_run::{Report, RunCases, RunError, RunOptions};
use crate::entry::reload;
use crate::entry::suite_description::NEW_CASES;
use crate::model::evals::Evals;
use crate::platform::redaction::without_secrets;

/// A case that is new since the build.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "reload"), expect(dead_code, reason = "only a reload reads files"))]
pub(crate) struct NewCase {
    /// Path of its test; below the suite's module once the suite is known.
    pub(crate) path: String,
    pub(crate) id: String,
    /// The file that defines it, relative to the directory of the suite; empty if that defines several cases.
    pub(crate) source: String,
}

/// The cases that the variable names.
pub(crate) fn wanted() -> Option<Vec<NewCase>> {
    let lines = std::env::var(NEW_CASES).ok().filter(|lines| !lines.is_empty())?;
    let case = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        NewCase { path: next(), id: next(), source: next() }
    };
    Some(lines.lines().map(case).collect())
}

/// Runs the wanted cases of a suite, and prints how they end.
pub(crate) fn run(evals: Evals, wanted: &[NewCase]) {
    let module = evals.suite().path_of_test("");
    let of_suite = |case: &NewCase| Some(NewCase { path: case.path.strip_prefix(&module)?.to_owned(), ..case.clone() });
    let wanted: Vec<NewCase> = wanted.iter().filter_map(of_suite).collect();
    let report = report(evals, &wanted);
    for NewCase { path, .. } in &wanted {
        let failed = |text: &str| failed(&module, path, text);
        let result = match &report {
            Err(error) => failed(&format!("evaluation error (setup): {error}")),
            Ok(report) => match report.cases().iter().find(|report| report.case().test_name == path) {
                Some(case) if case.fails_test() => failed(&case.to_string()),
                Some(case) if case.status() == Status::Skipped => "ignored".to_owned(),
                Some(_) => "ok".to_owned(),
                None if report.problems().is_empty() => failed("the suite has no such case"),
                None => failed(&report.problems().join("\n")),
            },
        };
        // The harness may have begun a line.
        print!("\ntest {module}{path} ... {result}\n");
    }
}

fn report(evals: Evals, wanted: &[NewCase]) -> Result<Report, RunError> {
    let run = RunCases::new(&evals, &RunOptions::new())?;
    let evals = reload::with_new_cases(evals, wanted)?;
    let is_wanted = |test: &str| wanted.iter().any(|case| case.path == test);
    let cases: Vec<_> = evals.suite().cases.iter().filter(|case| is_wanted(case.test_name)).collect();
    Ok(run.finish(&evals, &cases, &|| false))
}

fn failed(module: &str, path: &str, text: &str) -> String {
    format!("FAILED\n---- {module}{path} stdout ----\n{}\n\nfailures:", without_secrets(text).trim_end())
}
