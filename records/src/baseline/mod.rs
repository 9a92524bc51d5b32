//! The baseline of a suite: its file, and the expected result of a case.

mod repeated_cases;
mod unchanged_suite;

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::digest::{file_key, name_with_digest};
use crate::json;
use crate::package_file::{LARGEST_BASELINE, read_package_file_if_exists};
use crate::record::{
    AcceptedAnswers, Baseline, BaselineCase, BaselineError, BaselineHeader, BaselineResult, CaseIdentity, CaseRecord,
    Expectation, PassState, Status, SuiteId,
};
use crate::untrusted::regular_file;

pub use self::repeated_cases::{RepeatedCases, Repetition};
pub use self::unchanged_suite::{
    AS_LIKELY, Beta, Counts, LARGEST_CHANCE, RESEMBLANCES, UnchangedSuite, alike, has_risen, log_likelihood, posterior,
};

/// Largest header of a baseline, in bytes.
const LARGEST_HEADER: u64 = 64 << 10;

/// The file with the baseline of a suite: in `.evalsuite/baselines` of its package, which is not part of any suite.
///
/// Its name is the name of the suite. If another suite of the package, or another module that includes the suite,
/// already uses that file, the name also contains the suite's directory and module. A suite that was moved keeps its
/// baseline.
pub fn baseline_file(package_root: &Path, suite: &SuiteId) -> PathBuf {
    file_in(package_root, &stem(package_root, suite), "jsonl")
}

/// The file with the accepted answers of a suite, next to its baseline.
pub fn accepted_answers_file(package_root: &Path, suite: &SuiteId) -> PathBuf {
    file_in(package_root, &stem(package_root, suite), "answers.jsonl")
}

/// The files with the baseline and the accepted answers of a suite whose plain names another suite uses.
pub fn own_baseline_files(package_root: &Path, suite: &SuiteId) -> [PathBuf; 2] {
    ["jsonl", "answers.jsonl"].map(|extension| file_in(package_root, &own_stem(suite), extension))
}

fn file_in(package_root: &Path, stem: &str, extension: &str) -> PathBuf {
    package_root.join(".evalsuite").join("baselines").join(format!("{stem}.{extension}"))
}

fn own_stem(suite: &SuiteId) -> String {
    name_with_digest(&suite.name, format!("{}\0{}", suite.path, suite.module))
}

fn stem(package_root: &Path, suite: &SuiteId) -> String {
    let (own, shared) = (own_stem(suite), file_key(&suite.name));
    let is_own = file_in(package_root, &own, "jsonl").exists()
        || header(&file_in(package_root, &shared, "jsonl")).is_some_and(|header| {
            let is_of_other_module = !header.module.is_empty() && header.module != suite.module;
            let is_other = !header.path.is_empty() && header.path != suite.path;
            is_of_other_module || is_other && package_root.join(&header.path).is_dir()
        });
    if is_own { own } else { shared }
}

/// The first line of a baseline; `None` if there is none, or if it is not valid, which is an error as soon as it is read.
fn header(file: &Path) -> Option<BaselineHeader> {
    let mut line = String::new();
    BufReader::new(regular_file(file).ok()?.take(LARGEST_HEADER)).read_line(&mut line).ok()?;
    json::decode(line.as_bytes()).ok()
}

/// The line of a case in the baseline; `None` if it has none about the case as it is defined, or if there is no baseline.
///
/// # Errors
///
/// If the file cannot be read, or the line is not valid.
pub fn accepted_result(file: &Path, case: &CaseIdentity) -> io::Result<Option<BaselineCase>> {
    let Some(text) = read(file)? else { return Ok(None) };
    Ok(line(&text, file, case)?.filter(|line| line.is_same_definition(case)))
}

/// The suite as all lines of its baseline tell; as one without any if there is no baseline.
///
/// # Errors
///
/// If the file cannot be read, or is not valid.
pub fn unchanged_suite(file: &Path) -> io::Result<UnchangedSuite> {
    read(file)?.map_or_else(|| Ok(UnchangedSuite::new(&[])), |text| suite(&text, file))
}

fn suite(text: &str, file: &Path) -> io::Result<UnchangedSuite> {
    let baseline = Baseline::parse(text).map_err(|error| invalid(file, &error))?;
    Ok(UnchangedSuite::new(&baseline.cases))
}

fn line(text: &str, file: &Path, case: &CaseIdentity) -> io::Result<Option<BaselineCase>> {
    Baseline::find(text, &case.case_id, &case.target).map_err(|error| invalid(file, &error))
}

/// Trials of a case that passed, and all that passed or failed, with those that repeated it. Correlated trials are one.
pub fn counts(record: &CaseRecord) -> Counts {
    let record = record.with_independent_trials();
    let repeated = |outcome| record.confirming.iter().filter(|trial| trial.outcome == outcome).count();
    let [passed, failed] =
        [Status::Passed, Status::Failed].map(|outcome| u32::try_from(repeated(outcome)).unwrap_or(u32::MAX));
    let ended = record.completed.saturating_add(passed).saturating_add(failed);
    (record.passed.saturating_add(passed), ended)
}

/// Whether a case may have failed by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chance {
    /// It was replayed: its results are what they were.
    None,
    /// So many cases of the suite have failed in this run that passed in the baseline, with this one.
    WithFailures(u32),
}

/// What the baseline says about a case that passed or failed, with its trials and those that repeated it; `None` if it has no line about
/// the case, or if there is no baseline. `chance` is asked about a case that fails and has passed in the baseline.
///
/// # Errors
///
/// If the file cannot be read, or is not valid, or `chance` returns an error.
pub fn result_of(
    file: &Path,
    record: &CaseRecord,
    chance: impl FnOnce() -> io::Result<Chance>,
) -> io::Result<Option<BaselineResult>> {
    let Some(text) = read(file)? else { return Ok(None) };
    let Some(line) = line(&text, file, record)? else { return Ok(None) };
    let mut result = BaselineResult::new(Expectation::Redefined, line.passed, line.trials);
    if !line.is_same_definition(record) {
        return Ok(Some(result));
    }
    result.expectation = match (record.outcome == Status::Passed, line.state()) {
        (true, PassState::Fails) => Expectation::NewPass,
        (true, _) => Expectation::ExpectedPass,
        (false, PassState::Fails) => Expectation::ExpectedFailure,
        (false, state) => match (chance()?, state) {
            (Chance::None, PassState::Passes) => Expectation::Regression,
            (chance, _) => {
                let suite = suite(&text, file)?;
                let (accepted, now) = ((line.passed, line.trials), counts(record));
                result.chance = Some(suite.chance(accepted, now));
                let is_broken = || match chance {
                    Chance::WithFailures(cases) => {
                        let planned = record.with_independent_trials().planned.max(1);
                        cases >= suite.too_many_failures(planned, record.rule)
                    }
                    Chance::None => false,
                };
                match state {
                    _ if suite.is_worse(accepted, now) || is_broken() => Expectation::Regression,
                    PassState::Passes => Expectation::Unconfirmed,
                    _ => Expectation::Quarantined,
                }
            }
        },
    };
    Ok(Some(result))
}

/// The accepted answer to the input of a case, of its target; `None` if there is none.
///
/// # Errors
///
/// If the file cannot be read or is invalid.
pub fn accepted_answer(package_root: &Path, suite: &SuiteId, case: &CaseIdentity) -> io::Result<Option<String>> {
    answer_in(&accepted_answers_file(package_root, suite), case)
}

fn answer_in(file: &Path, case: &CaseIdentity) -> io::Result<Option<String>> {
    let Some(text) = read(file)? else { return Ok(None) };
    let answers = AcceptedAnswers::parse(&text).map_err(|error| invalid(file, &error))?;
    let found = answers.find(&case.case_id, &case.target);
    Ok(found.filter(|found| found.input == case.input_digest).map(|found| found.answer.clone()))
}

/// The text of a file; `None` if it does not exist.
fn read(file: &Path) -> io::Result<Option<String>> {
    let utf8 = |bytes| String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
    let read = read_package_file_if_exists(file, LARGEST_BASELINE).and_then(|bytes| bytes.map(utf8).transpose());
    read.map_err(|error| {
        io::Error::new(error.kind(), format!("the baseline {} cannot be read: {error}", file.display()))
    })
}

fn invalid(file: &Path, error: &BaselineError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the baseline {} is invalid: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_a_baseline_is_an_error_and_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let record = CaseRecord::new();
        let errors =
            [result_of(&pipe, &record, || Ok(Chance::None)).unwrap_err(), answer_in(&pipe, &record).unwrap_err()];
        for error in errors {
            assert!(error.to_string().ends_with(": it is a named pipe, not a regular file"), "{error}");
        }
    }

    #[test]
    fn what_a_case_was_says_what_to_make_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = baseline_file(directory.path(), &SuiteId::new("shop"));
        assert!(file.starts_with(directory.path().join(".evalsuite/baselines")), "{}", file.display());
        let of = |outcome, trials: u32, input: &str| {
            let mut record = CaseRecord::new();
            (record.case_id, record.target, record.outcome) = ("a".into(), "default".into(), outcome);
            (record.input_digest, record.grader_digest) = (input.into(), "g".into());
            record.completed = trials;
            result_of(&file, &record, || Ok(Chance::WithFailures(1)))
                .map(|found| found.map(|found| found.expectation))
                .map_err(|error| error.to_string())
        };
        assert_eq!(of(Status::Failed, 1, "i"), Ok(None), "there is no file");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let write = |passed: u32, trials: u32| {
            let line = format!(
                "{{\"schema\":\"evalsuite.baseline/1\",\"suite\":\"shop\",\"commit\":null,\"date\":\"\",\"version\":\"\"}}\n{{\"case\":\"a\",\"target\":\"default\",\"passed\":{passed},\"trials\":{trials},\"score\":0.5,\"input\":\"i\",\"graders\":\"g\"}}\n"
            );
            fs::write(&file, line).unwrap();
        };
        let expected = [
            ((0, 3), Expectation::NewPass, [Expectation::ExpectedFailure, Expectation::ExpectedFailure]),
            ((5, 9), Expectation::ExpectedPass, [Expectation::Quarantined, Expectation::Regression]),
            ((3, 3), Expectation::ExpectedPass, [Expectation::Unconfirmed, Expectation::Regression]),
        ];
        for ((passed, trials), if_it_passes, if_it_fails) in expected {
            write(passed, trials);
            assert_eq!(of(Status::Passed, 1, "i"), Ok(Some(if_it_passes)), "{passed}");
            let found = [1, 20].map(|failed| of(Status::Failed, failed, "i"));
            assert_eq!(found, if_it_fails.map(|expectation| Ok(Some(expectation))), "{passed}");
            assert_eq!(of(Status::Failed, 1, "other"), Ok(Some(Expectation::Redefined)), "{passed}");
        }
        write(4, 3);
        let error = of(Status::Passed, 1, "i").unwrap_err();
        assert!(error.ends_with("is invalid: line 2: 4 of 3 trials passed, which is not a result"), "{error}");
    }
}
