//! Replies of judges.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite::{JudgeRequest, RunOptions, Trial};
use evalsuite_records::record::GraderState;
use serde_json::json;

use super::one_case::OneCase;
use super::{Input, Target};
use crate::fuzz::corpus::{self, Seed};
use crate::static_suite::grader;

pub(crate) struct JudgeReplies {
    seeds: Vec<Seed>,
    case: OneCase,
    reply: Arc<Mutex<String>>,
}

impl JudgeReplies {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let reply = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&reply);
        let criterion = |id: &str| json!({"id": id, "outcome": "Is polite", "weight": 1.0, "required": false});
        let ranges = json!([{"low": 0, "high": 5, "outcome": "Rude"}, {"low": 6, "high": 10, "outcome": "Polite"}]);
        let mut ranged = criterion("tone");
        ranged["score_ranges"] = ranges;
        // One grader per form of a reply.
        let graders = json!([
            grader("free", &json!({"llm-grader": {}})),
            grader("checks", &json!({"rubrics": {"criteria": [criterion("polite"), criterion("short")]}})),
            grader("ranges", &json!({"rubrics": {"criteria": [ranged]}})),
        ]);
        let case = OneCase::new(scratch, &graders, |evals| {
            evals.with_agent(async |_: &mut Trial<'_>| Ok::<_, io::Error>("Thanks.")).with_judge(
                move |_: JudgeRequest| Ok::<_, io::Error>(said.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            )
        })?;
        Ok(Self { seeds: corpus::files_of("judge-replies")?, case, reply })
    }

    /// How many graders can read a reply.
    pub(crate) fn decided(&self, reply: &[u8]) -> Result<usize, String> {
        *self.reply.lock().unwrap_or_else(PoisonError::into_inner) = String::from_utf8_lossy(reply).into_owned();
        let case = self.case.run("run", RunOptions::new())?;
        let graders = case.trials().iter().flat_map(|trial| &trial.graders);
        Ok(graders.filter(|grader| grader.state == GraderState::Decided).count())
    }
}

impl Target for JudgeReplies {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        self.decided(&input.bytes).map(drop)
    }
}
