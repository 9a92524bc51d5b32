//! Output files of agents that are commands.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite::{CliAgents, RunOptions};
use serde_json::json;

use super::one_case::OneCase;
use super::{Input, Target};
use crate::fuzz::corpus::{self, Seed};
use crate::static_suite::grader;

pub(crate) struct Answers {
    seeds: Vec<Seed>,
    case: OneCase,
    answer: PathBuf,
}

impl Answers {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let answer = scratch.join("answer");
        let command = format!("cat {} > {{OUTPUT_FILE}}", answer.display());
        fs::write(
            scratch.join("targets.yaml"),
            format!("targets:\n  - {{ name: default, provider: cli, command: '{command}' }}\n"),
        )?;
        let graders = json!([
            grader("done", &json!({"contains": {"value": "Done"}})),
            grader("calls", &json!({"tool-trajectory": {"mode": "any_order", "minimums": [["find", 1]]}})),
        ]);
        let case = OneCase::new(scratch, &graders, |evals| evals.with_agent(CliAgents))?;
        Ok(Self { seeds: corpus::files_of("answers")?, case, answer })
    }
}

impl Target for Answers {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        fs::write(&self.answer, &input.bytes).map_err(|error| error.to_string())?;
        self.case.run("run", RunOptions::new()).map(drop)
    }
}
