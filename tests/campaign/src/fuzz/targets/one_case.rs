//! A suite of one case that is run for every execution.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite::{CaseReport, Evals, RunOptions};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::static_suite::{case_json, suite};

pub(crate) struct OneCase {
    evals: Evals,
    runtime: Runtime,
    output: PathBuf,
    cassettes: PathBuf,
}

impl OneCase {
    /// The case with these graders, in the package at `root`.
    pub(crate) fn new(root: &Path, graders: &Value, bind: impl FnOnce(Evals) -> Evals) -> io::Result<Self> {
        fs::create_dir_all(root.join("suites/x"))?;
        let cases = [case_json("a", graders, &json!({}))];
        Ok(Self {
            evals: bind(Evals::new(suite(root, &cases, &json!({})))),
            runtime: Builder::new_current_thread().enable_time().build()?,
            output: root.join("out"),
            cassettes: root.join("cassettes"),
        })
    }

    /// The directory of the recordings.
    pub(crate) fn cassettes(&self) -> &Path {
        &self.cassettes
    }

    /// Runs the case in the run `id`.
    pub(crate) fn run(&self, id: &str, options: RunOptions) -> Result<CaseReport, String> {
        let options = options.with_output(&self.output).with_cassettes(&self.cassettes).with_run_id(id);
        let report = self.runtime.block_on(self.evals.run(&options)).map_err(|error| error.to_string())?;
        if let Some(problem) = report.problems().first() {
            return Err(problem.clone());
        }
        let case = report.cases().first().ok_or("there is no case")?.clone();
        for trial in case.trials() {
            let numbers = trial.score.into_iter().chain(trial.graders.iter().filter_map(|grader| grader.value));
            for number in numbers {
                if !(0.0..=1.0).contains(&number) {
                    return Err(format!("a score of {number}"));
                }
            }
        }
        let record = fs::read(case.directory().join("case.json")).map_err(|error| error.to_string())?;
        serde_json::from_slice::<Value>(&record).map_err(|error| format!("case.json: {error}"))?;
        Ok(case)
    }
}
