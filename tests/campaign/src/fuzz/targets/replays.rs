//! What a run reads of an earlier one: cassettes, and evidence that is graded again.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite::{JudgeRequest, Message, Outcome, Role, RunOptions, Status, ToolCall, Trial};
use evalsuite_records::record::Mode;
use serde_json::{Value, json};

use super::one_case::OneCase;
use super::{Input, Target};
use crate::fuzz::corpus::Seed;
use crate::static_suite::grader;

pub(crate) struct Replays {
    seeds: Vec<Seed>,
    case: OneCase,
    file: PathBuf,
    options: RunOptions,
}

/// The run that is recorded.
const RECORDED: &str = "recorded";

impl Replays {
    pub(crate) fn cassettes(scratch: &Path) -> io::Result<Self> {
        let case = recorded(scratch)?;
        let file = first_file(case.cassettes())?;
        Self::of(case, file, RunOptions::new().with_mode(Mode::Replay))
    }

    pub(crate) fn evidence(scratch: &Path) -> io::Result<Self> {
        let case = recorded(scratch)?;
        let report = case.run(RECORDED, RunOptions::new()).map_err(io::Error::other)?;
        let file = report.directory().join("trial-000/evidence.json");
        Self::of(case, file, RunOptions::new().with_regrade(RECORDED))
    }

    fn of(case: OneCase, file: PathBuf, options: RunOptions) -> io::Result<Self> {
        let bytes = without_times(&fs::read(&file)?)?;
        Ok(Self { seeds: vec![Seed::file("recorded.json", bytes)], case, file, options })
    }

    /// The outcome of the case with these bytes in place of what was recorded.
    pub(crate) fn outcome(&self, recorded: &[u8]) -> Result<Status, String> {
        fs::write(&self.file, recorded).map_err(|error| error.to_string())?;
        self.case.run("again", self.options.clone()).map(|case| case.status())
    }
}

fn recorded(scratch: &Path) -> io::Result<OneCase> {
    let graders = json!([
        grader("done", &json!({"contains": {"value": "Done"}})),
        grader("tone", &json!({"llm-grader": {}})),
        grader("calls", &json!({"tool-trajectory": {"mode": "any_order", "minimums": [["find", 1]]}})),
    ]);
    let case = OneCase::new(scratch, &graders, |evals| {
        evals
            .with_agent(async |trial: &mut Trial<'_>| {
                fs::write(trial.workspace().join("note.txt"), "one\ntwo\n")?;
                fs::write(trial.workspace().join("image"), b"\0\xff")?;
                trial.message(Message::text(Role::User, trial.prompt()));
                trial.tool_call(ToolCall::new("find").with_output("x"));
                Ok::<_, io::Error>(Outcome::from("Done.").with_model("m"))
            })
            .with_judge(|_: JudgeRequest| Ok::<_, io::Error>(r#"{"score": 1, "assertions": []}"#))
    })?;
    case.run(RECORDED, RunOptions::new().with_mode(Mode::Record)).map_err(io::Error::other)?;
    Ok(case)
}

fn first_file(directory: &Path) -> io::Result<PathBuf> {
    let mut path = directory.to_owned();
    while path.is_dir() {
        path = fs::read_dir(&path)?.next().ok_or(io::ErrorKind::NotFound)??.path();
    }
    Ok(path)
}

/// The same record at another time is the same input.
fn without_times(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(bytes)?;
    let mut values = vec![&mut value];
    while let Some(next) = values.pop() {
        match next {
            Value::Object(object) => {
                for (key, value) in object.iter_mut() {
                    match value {
                        Value::String(time) if key.ends_with("_at") => *time = "2026-01-04T09:15:00.000Z".to_owned(),
                        Value::Number(number) if key.ends_with("_ms") => *number = 12.into(),
                        value => values.push(value),
                    }
                }
            }
            Value::Array(list) => values.extend(list),
            _ => {}
        }
    }
    Ok(serde_json::to_vec_pretty(&value)?)
}

impl Target for Replays {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        self.outcome(&input.bytes).map(drop)
    }
}
