//! A run as one HTML file: a page, an index of cases and trials in columns, and compressed chunks with everything else.
//!
//! Nothing recorded becomes markup or script. All data is compressed and in base64, whose alphabet has no `<`, and the page shows
//! it as text only. A content security policy with the digests of the page's own script and style makes any other script inert.

mod case_details;
mod index;
mod page;
mod past_runs;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::{fs, io};

use evalsuite_records::file_replacement::replace_user_file;
use evalsuite_records::record::Status;
use evalsuite_schema::json::{Value, json};

use crate::comparison::{CompareOptions, Comparison, pooled, without_trials};
use crate::run_data::{CaseData, CaseLookup, Problem, RunData};

use self::case_details::Chunks;
use self::page::write_page;

pub use self::page::{Transcript, TranscriptError, write_transcripts};

/// Size in bytes above which a report should be written as a directory: browsers take seconds to open it.
pub const LARGE_FILE: u64 = 20_000_000;
/// Name of the page in a directory.
const PAGE: &str = "index.html";
/// Name of the directory of chunks beside the page.
const CHUNKS: &str = "data";

/// Writes a run as HTML.
#[derive(Debug, Clone)]
#[must_use]
pub struct HtmlReport {
    run: RunData,
    history: Vec<RunData>,
    base: Option<RunData>,
    details: Details,
}

/// Cases whose prompts, answers, transcripts and changes are in a report. The table has all cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Details {
    /// All cases.
    #[default]
    All,
    /// Cases with a trial that did not pass.
    NotPassed,
}

/// A report that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Size of all its files in bytes.
    pub bytes: u64,
    /// Files of the run that could not be read; the report lists them too.
    pub problems: Vec<Problem>,
}

impl HtmlReport {
    /// A report of a run with the details of all cases.
    pub fn new(run: RunData) -> Self {
        Self { run, history: Vec::new(), base: None, details: Details::All }
    }

    /// Adds earlier runs, the oldest first: their outcomes are in the grid and the trends, and each can be compared with.
    pub fn with_history(mut self, runs: Vec<RunData>) -> Self {
        self.history = runs;
        self
    }

    /// Sets the run that this one is compared with first; its answers are shown beside those of this run. Default: the newest run of
    /// the history that [may be compared](RunData::is_base_of) with it, else the newest one of the same agent.
    pub fn with_base(mut self, base: RunData) -> Self {
        self.base = Some(base.with_suite_names(&self.run.suite_names()));
        self
    }

    /// Sets the cases whose details are in the report.
    pub fn with_details(mut self, details: Details) -> Self {
        self.details = details;
        self
    }

    /// Writes one self-contained file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_file(&self, path: &Path) -> io::Result<Written> {
        let (index, chunks, problems) = self.data();
        Ok(Written { bytes: write_page(path, &index, Some(&chunks))?, problems })
    }

    /// Writes `index.html` and a directory `data` with files that the page loads when they are needed.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write_directory(&self, path: &Path) -> io::Result<Written> {
        let (index, chunks, problems) = self.data();
        let data = path.join(CHUNKS);
        fs::create_dir_all(&data)?;
        let mut bytes = 0;
        for (number, chunk) in chunks.iter().enumerate() {
            let script = page::chunk_script(number, chunk);
            bytes += script.len() as u64;
            replace_user_file(&data.join(page::chunk_file(number)), |file| file.write_all(script.as_bytes()))?;
        }
        bytes += write_page(&path.join(PAGE), &index, None)?;
        Ok(Written { bytes, problems })
    }

    /// The index, the chunks, and what could not be read.
    fn data(&self) -> (String, Vec<String>, Vec<Problem>) {
        let mut problems = self.run.problems.clone();
        let base = self.base().map(CaseLookup::new);
        let mut chunks = Chunks::default();
        let mut places = Vec::new();
        for case in self.run.suites.iter().flat_map(|suite| &suite.cases) {
            places.push(self.has_details(case).then(|| {
                let details = self.case_details(case, base.as_ref(), &mut problems);
                chunks.add(&details.to_string())
            }));
        }
        let index = self.index(&places, &problems);
        (index, chunks.finish(), problems)
    }

    fn has_details(&self, case: &CaseData) -> bool {
        let mut outcomes = case.record.trials.iter().map(|trial| trial.outcome);
        let passed = case.record.outcome == Status::Passed && outcomes.all(|outcome| outcome == Status::Passed);
        self.details == Details::All || !passed
    }

    fn base(&self) -> Option<&RunData> {
        let newest = self.history.iter().rev().find(|past| past.is_base_of(&self.run));
        let same_agent = || self.history.iter().rev().find(|past| past.is_of_same_agent(&self.run));
        self.base.as_ref().or(newest).or_else(same_agent)
    }

    /// What `diff` says about this run and an earlier one: each counted together with the other runs of its agent in the history, unless both
    /// are of one agent.
    fn compared_with(&self, past: &RunData) -> Comparison {
        let options = CompareOptions::new();
        if past.is_of_same_agent(&self.run) {
            return Comparison::new(past, &self.run, &options);
        }
        let counted = |run: &RunData| {
            let is_meant = |other: &&RunData| {
                let records = other.record.as_ref().zip(run.record.as_ref());
                other.run_id != run.run_id && records.is_some_and(|(other, run)| other.counts_with(run))
            };
            let mut runs: Vec<RunData> = self.history.iter().filter(is_meant).map(without_trials).collect();
            runs.push(without_trials(run));
            pooled(runs)
        };
        Comparison::new(&counted(past), &counted(&self.run), &options)
    }

    /// The history with the base in it, by time.
    fn runs_before(&self) -> Vec<&RunData> {
        let mut runs: Vec<&RunData> = self.history.iter().collect();
        if let Some(base) = &self.base
            && runs.iter().all(|run| run.run_id != base.run_id)
        {
            runs.push(base);
            runs.sort_by_key(|run| run.record.as_ref().map(|record| &record.started_at));
        }
        runs
    }
}

/// Identity of a run.
fn run_info(run: &RunData) -> Value {
    let record = run.record.clone().unwrap_or_default();
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let packages = several_packages(run);
    // The version of the first package says nothing of the others.
    let version = if packages.is_some() { String::new() } else { record.package_version };
    json!({
        "id": run.run_id,
        "startedAt": some(record.started_at),
        "package": some(packages.unwrap_or(record.package)),
        "version": some(version),
        "git": record.git,
        "ci": record.ci,
        "env": record.env,
        // Number of runs it was merged from.
        "shards": record.shards.len(),
    })
}

/// The packages of a run's suites, if there are several.
fn several_packages(run: &RunData) -> Option<String> {
    let packages = run.suites.iter().map(|suite| suite.id.package.as_str()).filter(|package| !package.is_empty());
    let packages: Vec<&str> = packages.collect::<BTreeSet<_>>().into_iter().collect();
    match packages.as_slice() {
        [] | [_] => None,
        [first, second] => Some(format!("{first}, {second}")),
        [first, second, others @ ..] => Some(format!("{first}, {second} and {} more", others.len())),
    }
}

/// The letter of an outcome in the index.
fn outcome_code(outcome: Status) -> &'static str {
    &outcome.as_str()[..1]
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::{GitState, RunRecord};

    use super::*;

    #[test]
    fn a_run_is_compared_with_no_replay_of_another_commit() {
        let run = |id: &str, commit: &str, mode: Option<&str>| {
            let mut record = RunRecord::new();
            let mut git = GitState::default();
            commit.clone_into(&mut git.commit);
            record.git = Some(git);
            record.env.extend(mode.map(|mode| ("EVALSUITE_MODE".to_owned(), Some(mode.to_owned()))));
            RunData { run_id: id.to_owned(), record: Some(record), ..RunData::default() }
        };
        let (live, same, replay) = (run("1", "a", None), run("2", "b", None), run("3", "a", Some("replay")));
        for (history, base) in [
            (vec![live.clone(), same.clone(), replay.clone()], Some("1")),
            (vec![same, replay.clone()], Some("2")),
            (vec![replay], None),
        ] {
            let report = HtmlReport::new(run("now", "b", None)).with_history(history);
            assert_eq!(report.base().map(|base| base.run_id.as_str()), base);
        }
    }
}
