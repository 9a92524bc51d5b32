//! Agents that speak the Agent Client Protocol, as scripts.

mod badly_behaved;
mod recordings;
mod sessions;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite::record::ReasonCode;
use evalsuite::{AcpAgents, CaseReport, Evals, Status};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, only, run, suite};

/// What every script starts with. The ids of the client's requests count from 1: `initialize`, `session/new`, the first prompt.
const FUNCTIONS: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"result\":$2}"; }
refuse() { say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"error\":$2}"; }
notify() { say "{\"jsonrpc\":\"2.0\",\"method\":\"$1\",\"params\":$2}"; }
ask() { say "{\"jsonrpc\":\"2.0\",\"id\":\"$1\",\"method\":\"$2\",\"params\":$3}"; hear; }
update() { notify session/update "{\"sessionId\":\"s1\",\"update\":$1}"; }
text() { update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
hear() { IFS= read -r line || exit 0; }
start() { hear; answer 1 "${1:-{\"protocolVersion\":1\}}"; hear; answer 2 '{"sessionId":"s1"}'; hear; }
end() { answer "${2:-3}" "{\"stopReason\":\"${1:-end_turn}\"}"; hear; }
"#;

/// A package whose agent is a script.
pub(super) struct Package(tempfile::TempDir);

impl Package {
    /// `keys` are further lines of the target.
    pub(super) fn new(script: &str, keys: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(place.path().join("suites/x/ws")).unwrap();
        fs::write(place.path().join("suites/x/ws/note.txt"), "1\n2\n3\n").unwrap();
        place.write(script, keys);
        place
    }

    pub(super) fn write(&self, script: &str, keys: &str) {
        fs::write(self.path().join("agent.sh"), format!("{FUNCTIONS}{script}")).unwrap();
        let command = format!("exec sh {}/agent.sh", self.path().display());
        let targets = format!("targets:\n  - name: default\n    provider: acp\n    command: {command}\n{keys}");
        fs::write(self.path().join("targets.yaml"), targets).unwrap();
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn evals(&self, case: &Value) -> Evals {
        Evals::new(suite("cases", "mixed", self.path(), std::slice::from_ref(case))).with_agent(AcpAgents)
    }

    /// Runs a case whose answer contains `done`.
    pub(super) fn run(self) -> Ran {
        self.run_case(&with_workspace(json!({})))
    }

    pub(super) fn run_case(self, case: &Value) -> Ran {
        let report = only(&run(&self.evals(case), &self.path().join("out"))).clone();
        Ran { report, _package: self }
    }
}

/// The report of a case, and its files.
pub(super) struct Ran {
    report: CaseReport,
    _package: Package,
}

impl std::ops::Deref for Ran {
    type Target = CaseReport;

    fn deref(&self) -> &CaseReport {
        &self.report
    }
}

pub(super) fn with_workspace(more: Value) -> Value {
    let mut case = case_json(
        "a",
        json!([contains("done")]),
        json!({"workspace": {"template": {"written": "ws", "path": "suites/x/ws"}}}),
    );
    case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    case
}

/// A file of the only trial.
pub(super) fn file(case: &CaseReport, name: &str) -> String {
    let path: PathBuf = case.directory().join("trial-000").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}\n{case}", path.display()))
}

#[track_caller]
pub(super) fn passed(case: &CaseReport) {
    assert_eq!(case.status(), Status::Passed, "{case}");
}

/// Why the only trial is an error of its agent.
#[track_caller]
pub(super) fn error(case: &CaseReport) -> (ReasonCode, String) {
    assert_eq!(case.status(), Status::Error, "{case}");
    let reason = case.record().reason.as_ref().unwrap();
    (reason.code, reason.message.clone())
}

/// The notes of the only trial, as text.
pub(super) fn notes(case: &CaseReport) -> String {
    let notes = case.trials()[0].notes.iter().map(|note| format!("{}: {}\n", note.code, note.message));
    notes.collect()
}
