//! What has to hold of the records of a run, at whatever moment its test processes ended.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite::Status;
use evalsuite::tooling::finish_run;
use evalsuite_records::record::CaseRecord;
use evalsuite_records::summary::{SummaryText, summarize_run};
use evalsuite_report::RunData;
use serde_json::Value;

use crate::victim::{CASES, TRIALS};

/// What the records of a run say between two of its test processes.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Directories of cases that ended, now or earlier.
    pub(crate) ended: BTreeSet<String>,
    pub(crate) problems: Vec<String>,
}

impl Records {
    /// Reads the records of a run in which no test is running. Those that were there before must still be there.
    pub(crate) fn read(run: &Path, before: &Self) -> Self {
        let mut records = Self::default();
        for file in files(run).iter().filter(|file| is_record(file)) {
            records.check_whole(file);
        }
        records.check_summary(run);
        for directory in ["cases", "earlier"] {
            for suite in entries(&run.join("suites")) {
                let ended = entries(&suite.join(directory)).into_iter().filter(|case| case.join("case.json").is_file());
                records.ended.extend(ended.filter_map(|case| Some(case.file_name()?.to_string_lossy().into_owned())));
            }
        }
        for lost in before.ended.difference(&records.ended) {
            records.problems.push(format!("the record of {lost} is lost"));
        }
        records
    }

    /// A record is whole, or it is not there.
    fn check_whole(&mut self, file: &Path) {
        let bytes = match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) => return self.problems.push(format!("{}: {error}", file.display())),
        };
        let lines = file.extension().is_some_and(|extension| extension == "jsonl");
        let parts: Vec<&[u8]> = match lines {
            // A line that was not finished counts nothing.
            true => bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).collect(),
            false => vec![&bytes],
        };
        for part in parts {
            if let Err(error) = serde_json::from_slice::<Value>(part) {
                self.problems.push(format!("{} is torn: {error}", file.display()));
            }
        }
    }

    fn check_summary(&mut self, run: &Path) {
        if !run.join("suites").is_dir() {
            return;
        }
        let (summary, data) = match (summarize_run(run), RunData::read(run)) {
            (Ok(summary), Ok(data)) => (summary, data),
            (Err(error), _) => return self.problems.push(format!("the run cannot be summed up: {error}")),
            (_, Err(error)) => return self.problems.push(format!("the run cannot be read: {error}")),
        };
        let names: Vec<&str> =
            summary.suites.iter().flat_map(|suite| &suite.cases).map(|case| case.case_id.as_str()).collect();
        if names.iter().collect::<BTreeSet<_>>().len() != names.len() {
            self.problems.push(format!("a case is counted twice: {names:?}"));
        }
        // Summaries, their text and reports agree on how many cases broke.
        let is_error = |record: &CaseRecord| record.outcome == Status::Error;
        let of_summary: u32 =
            summary.suites.iter().flat_map(|suite| &suite.targets).map(|target| target.cases.error).sum();
        let cases = data.suites.iter().flat_map(|suite| &suite.cases);
        let of_report = cases.filter(|case| is_error(&case.record)).count();
        let text: String = summary.suites.iter().map(|suite| SummaryText::new(suite).to_string()).collect();
        if of_report != of_summary as usize
            || summary.suites.len() == 1 && !text.contains(&format!(" {of_report} error,"))
        {
            self.problems.push(format!("{of_summary} cases of the summary broke, {of_report} of the report:\n{text}"));
        }
        // The report says which trials and cases a killed process did not end.
        let expected = [" died in trial ", " died after trial "];
        let is_expected = |message: &str| expected.iter().any(|text| message.contains(text));
        let unexpected = data.problems.iter().filter(|problem| !is_expected(&problem.message));
        // The first process may have been killed before it wrote the record of the run; the next one writes it.
        let unexpected = unexpected.filter(|problem| problem.file != "run.json" || problem.message != "is missing");
        self.problems.extend(unexpected.map(|problem| format!("the report says: {problem:?}")));
    }
}

/// What has to hold when all tests of a run have ended by themselves.
pub(crate) fn check_whole_run(run: &Path) -> Vec<String> {
    let finished = match finish_run(run) {
        Ok(finished) => finished,
        Err(error) => return vec![format!("the run cannot be finished: {error}")],
    };
    let mut problems = finished.problems;
    if !run.join("run.json").is_file() {
        problems.push("there is no record of the run".to_owned());
    }
    for suite in &finished.summary.suites {
        problems.extend(suite.problems.iter().cloned());
        problems.extend(suite.not_started.iter().map(|test| format!("{test} was not started")));
        let passed = suite.cases.iter().filter(|case| case.outcome == Status::Passed);
        let passed: Vec<&str> =
            passed.filter(|case| case.trials.len() == TRIALS).map(|case| case.case_id.as_str()).collect();
        let expected: Vec<&str> = CASES.iter().map(|(id, _)| *id).collect();
        if passed.iter().collect::<BTreeSet<_>>() != expected.iter().collect() || passed.len() != expected.len() {
            problems.push(format!("{passed:?} passed with {TRIALS} trials, not {expected:?}"));
        }
    }
    if finished.summary.suites.len() != 1 {
        problems.push(format!("{} suites", finished.summary.suites.len()));
    }
    for file in files(run) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".tmp") || file.components().any(|part| part.as_os_str() == "earlier") {
            problems.push(format!("{} is left", file.display()));
        }
    }
    problems
}

fn is_record(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "json" || extension == "jsonl")
}

/// The files below a directory, without those of workspaces.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let (mut files, mut directories) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(next) = directories.pop() {
        for path in entries(&next) {
            if !path.is_dir() || path.is_symlink() {
                files.push(path);
            } else if path.file_name().is_none_or(|name| name != "workspace") {
                directories.push(path);
            }
        }
    }
    files
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_record_and_a_lost_one_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let case = directory.path().join("suites/x/cases/a-1");
        fs::create_dir_all(&case).unwrap();
        fs::write(case.join("case.json"), "{\"schema\": ").unwrap();
        fs::write(directory.path().join("spend.jsonl"), "{}\n{\"torn").unwrap();
        let before = Records { ended: ["a-1".to_owned(), "b-1".to_owned()].into(), ..Records::default() };
        let records = Records::read(directory.path(), &before);
        let has = |text: &str| records.problems.iter().any(|problem| problem.contains(text));
        assert!(has("case.json is torn") && has("the record of b-1 is lost"), "{:?}", records.problems);
        assert!(!has("record of a-1") && !has("spend.jsonl"), "{:?}", records.problems);
    }
}
