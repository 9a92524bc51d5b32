//! Runs the suites with the agent as a program. `.cargo/config.toml` of this workspace says where it is.

use evalsuite::{AcpAgents, Evals, Evidence, RunOptions, Status, include_eval_suite};

include_eval_suite!("suites/notes", agent = "acp", graders = [written]);
include_eval_suite!("suites/denied", agent = none);
include_eval_suite!("suites/published", agent = none);

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

#[tokio::test]
async fn agents_that_cannot_be_prompted_end_with_what_they_answered() {
    let records = tempfile::tempdir().unwrap();
    let options = RunOptions::new().with_output(records.path());
    let report = Evals::new(&published::SUITE).with_agent(AcpAgents).run(&options).await.unwrap();

    let answers = [
        ("simple", "the agent answered `session/new` with error -32601: Method not found", "session/new"),
        (
            "second-version",
            "the agent answered `initialize` with error -32022: Unsupported protocol version",
            "supported",
        ),
    ];
    for (id, reason, message) in answers {
        let case = report.cases().iter().find(|case| case.case().id == id).unwrap();
        assert_eq!(case.status(), Status::Error, "{case}");
        assert!(case.to_string().contains(reason), "{case}");
        let messages = std::fs::read_to_string(case.directory().join("trial-000/agent/protocol.jsonl")).unwrap();
        assert!(messages.contains(message), "{messages}");
    }
}
