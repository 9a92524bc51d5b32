//! The test processes that are killed, and whose system calls fail: one case of a suite each, as nextest runs them.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, fs, io};

use evalsuite::{EvalSuite, Evals, Message, Role, ToolCall, Trial};
use serde_json::{Value, json};

use crate::static_suite::{case_json, grader, suite};

/// The variable with the directory of a victim's package.
const PLACE: &str = "CAMPAIGN_PLACE";
/// Trials of every case.
pub(crate) const TRIALS: usize = 2;
/// The cases with what they depend on.
pub(crate) const CASES: [(&str, &[&str]); 6] =
    [("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"]), ("e", &[]), ("f", &["e"])];

/// A package with a suite, and the records of its runs.
#[derive(Debug)]
pub(crate) struct Package(tempfile::TempDir);

impl Package {
    pub(crate) fn new() -> io::Result<Self> {
        let package = Self(tempfile::tempdir()?);
        fs::create_dir_all(package.path().join("suites/x/template/docs"))?;
        fs::write(package.path().join("suites/x/template/docs/old.txt"), "one\n")?;
        Ok(package)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.path().join("out")
    }

    /// The directory of a run.
    pub(crate) fn run(&self, id: &str) -> PathBuf {
        self.output().join("runs").join(id)
    }

    /// The agent's calls in a run: the case and the index of the trial.
    pub(crate) fn calls(&self, id: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path().join(format!("calls-{id}"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The test process of a case in a run.
    pub(crate) fn test(&self, program: &Path, index: usize, run: &str, mode: &str) -> Command {
        let mut command = Command::new(program);
        command.args(["victim", &index.to_string()]).env(PLACE, self.path());
        command.env("NEXTEST", "1").env("NEXTEST_RUN_ID", run).env("EVALSUITE_OUTPUT", self.output());
        command.env("EVALSUITE_MODE", mode).env("EVALSUITE_CASSETTES", self.path().join("cassettes"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// Runs the case at an index as a test.
pub fn run(index: usize) {
    evalsuite::__private::run_case(evals, index);
}

fn evals() -> Evals {
    static SUITE: OnceLock<&'static EvalSuite> = OnceLock::new();
    let place = || PathBuf::from(env::var_os(PLACE).unwrap_or_default());
    let suite = SUITE.get_or_init(|| {
        let template = json!({"written": "template", "path": "suites/x/template"});
        let graders = json!([grader("hello", &json!({"contains": {"value": "hello"}}))]);
        let case = |(id, depends_on): &(&str, &[&str])| -> Value {
            let more = json!({
                "depends_on": depends_on,
                "trials": {"count": TRIALS, "strategy": "mean"},
                "workspace": {"template": template},
            });
            case_json(id, &graders, &more)
        };
        suite(&place(), &CASES.iter().map(case).collect::<Vec<_>>(), &json!({"workspace": {"template": template}}))
    });
    Evals::new(suite).with_agent(async move |trial: &mut Trial<'_>| {
        let calls = place().join(format!("calls-{}", env::var("NEXTEST_RUN_ID").unwrap_or_default()));
        let mut calls = File::options().create(true).append(true).open(calls)?;
        calls.write_all(format!("{} {}\n", trial.case_id(), trial.index()).as_bytes())?;
        fs::write(trial.workspace().join("new.txt"), "x\n".repeat(2_000))?;
        fs::write(trial.workspace().join("docs/old.txt"), "two\n")?;
        trial.message(Message::text(Role::User, trial.prompt()));
        trial.tool_call(ToolCall::new("read").with_output("y".repeat(5_000)));
        tokio::time::sleep(Duration::from_millis(2)).await;
        Ok::<_, io::Error>(format!("hello {}", trial.case_id()))
    })
}
