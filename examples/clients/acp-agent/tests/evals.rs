//! Runs the suites with the agent as a program. `.cargo/config.toml` of this workspace says where it is.

use evalsuite::{AcpAgents, Evals, Evidence, RunOptions, Status, include_eval_suite};

include_eval_suite!("suites/notes", agent = "acp", graders = [written]);
include_eval_suite!("suites/denied", agent = none);

/// The note is in the workspace.
fn written(evidence: &Evidence<'_>) -> bool {
    evidence.changes().created == ["list.txt"]
}

#[tokio::test]
async fn a_permission_that_is_denied_fails_the_case_and_is_in_the_record() {
    let records = tempfile::tempdir().unwrap();
    let options = RunOptions::new().with_output(records.path());
    let report = Evals::new(&denied::SUITE).with_agent(AcpAgents).run(&options).await.unwrap();

    let case = &report.cases()[0];
    assert_eq!(case.status(), Status::Failed, "{case}");
    assert_eq!(case.trials()[0].answer.as_deref(), Some("I may not write list.txt."));
    let trial = case.directory().join("trial-000");
    let read = |file: &str| std::fs::read_to_string(trial.join(file)).unwrap();
    assert!(read("log.txt").contains("permission: deny: edit Write list.txt"));
    let trajectory = read("trajectory.json");
    for part in ["which needs permission", "write the note", "\"permission\": \"deny\"", "not allowed"] {
        assert!(trajectory.contains(part), "{part} is not in {trajectory}");
    }
}
