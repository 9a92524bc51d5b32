//! Graders that need more than an answer: registered ones, commands, composites.

use evalsuite::record::{GraderRecord, GraderState};
use evalsuite::{Evals, Evidence, Status, Trial, Verdict};
use evalsuite_schema::json::{Value, json};
use serde::Deserialize;

use crate::common::{case_json, contains, grader, only, run, suite};

async fn hello(trial: &mut Trial<'_>) -> anyhow::Result<String> {
    std::fs::write(trial.workspace().join("made.txt"), "made")?;
    Ok("hello world".into())
}

#[derive(Deserialize)]
struct Words {
    words: Vec<String>,
}

async fn has_words(config: Words, evidence: &Evidence<'_>) -> f64 {
    tokio::task::yield_now().await;
    let found = config.words.iter().filter(|word| evidence.answer().contains(word.as_str())).count();
    f64::from(u32::try_from(found).unwrap()) / f64::from(u32::try_from(config.words.len()).unwrap())
}

fn made_a_file(evidence: &Evidence<'_>) -> anyhow::Result<bool> {
    Ok(std::fs::read_to_string(evidence.workspace().join("made.txt"))? == "made"
        && evidence.changes().created == ["made.txt"])
}

fn undecided(_: &Evidence<'_>) -> Option<bool> {
    None
}

fn breaks(_: &Evidence<'_>) -> anyhow::Result<bool> {
    anyhow::bail!("no connection")
}

fn graded(graders: Value) -> (Status, Option<f64>, Vec<GraderRecord>) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let suite = suite("cases", "mixed", directory.path(), &[case_json("c", graders, json!({}))]);
    let evals = Evals::new(suite)
        .with_agent(hello)
        .with_grader("has_words", has_words)
        .with_grader("made_a_file", made_a_file)
        .with_grader("undecided", undecided)
        .with_grader("breaks", breaks);
    let report = run(&evals, &directory.path().join("out"));
    let case = only(&report);
    (case.status(), case.record().score, case.trials()[0].graders.clone())
}

fn user(name: &str, config: Value) -> Value {
    grader(name, 7, json!({"user": {"grader": name, "config": config}}))
}

#[test]
fn registered_graders_get_their_config() {
    let (outcome, score, _) =
        graded(json!([user("has-words", json!({"words": ["hello", "world"]})), user("made_a_file", json!({}))]));
    assert_eq!((outcome, score), (Status::Passed, Some(1.0)));
    let (_, score, records) =
        graded(json!([user("has_words", json!({"words": ["hello", "x"]})), user("undecided", json!({}))]));
    assert_eq!((score, records[1].state), (Some(0.5), GraderState::Undecided));
}

#[test]
fn a_config_that_does_not_fit_is_an_error() {
    for entry in [
        user("has_words", json!({"wörds": []})),
        user("made_a_file", json!({"x": 1})),
        grader(
            "all",
            7,
            json!({"composite": {"members": [user("has_words", json!({}))], "aggregator": {"weighted_average": {}}}}),
        ),
    ] {
        let (outcome, score, records) = graded(json!([contains("hello"), entry]));
        assert_eq!((outcome, score), (Status::Error, None));
        assert_eq!(records, [], "nothing is graded: the agent was not called");
    }
}

#[cfg(unix)]
mod commands {
    use super::*;

    fn command(name: &str, script: &str, more: Value) -> Value {
        let mut config = json!({"run": {"command": {"shell": script}}});
        if let (Value::Object(config), Value::Object(more)) = (&mut config, more) {
            config.extend(more);
        }
        grader(name, 7, json!({"code-grader": config}))
    }

    #[test]
    fn a_command_reads_the_evidence_and_prints_a_result() {
        let script = r#"
            grep -q '"answer": "hello world"' && test "$EVALSUITE_CASE_ID" = c && test -f "$EVALSUITE_WORKSPACE/made.txt" \
                && test "$PWD" = "$EVALSUITE_SUITE_DIR" && echo '{"score": 0.5, "assertions": [{"text": "ok", "passed": true}]}'
        "#;
        let (outcome, score, records) = graded(json!([command("check", script, json!({}))]));
        assert_eq!((outcome, score), (Status::Failed, Some(0.5)), "{records:?}");
        let command = records[0].command.as_ref().unwrap();
        assert_eq!((command.exit_code, command.timed_out), (Some(0), false));
        assert!(command.stdout.as_ref().unwrap().starts_with("graders/check-"), "{command:?}");
    }

    #[test]
    fn an_exit_code_is_enough() {
        let graders =
            json!([command("good", "echo fine >&2", json!({})), command("bad", "echo broken >&2; exit 1", json!({}))]);
        let (outcome, score, records) = graded(graders);
        assert_eq!((outcome, score), (Status::Failed, Some(0.5)));
        assert_eq!(records[1].assertions[0].text, "broken");
    }

    #[test]
    fn prose_is_an_error_unless_only_the_exit_code_counts() {
        let prose = command("prose", "echo FAIL: amount missing", json!({}));
        let (outcome, _, records) = graded(json!([prose]));
        assert_eq!(outcome, Status::Error);
        let error = records[0].error.as_deref().unwrap();
        assert!(error.contains("`FAIL: amount missing`") && error.contains("set `result: status`"), "{error}");

        let status = json!({"result": "status"});
        let graders = json!([
            command("good", "echo '{\"score\": 0}'", status.clone()),
            command("bad", "echo pass; exit 1", status)
        ]);
        let (outcome, score, records) = graded(graders);
        assert_eq!((outcome, score), (Status::Failed, Some(0.5)));
        assert_eq!(records[0].assertions[0].text, r#"{"score": 0}"#);
    }

    #[test]
    fn a_crash_is_not_negated_to_a_pass() {
        // Whether this is a crash in a language that is not known, or a deliberate fail, cannot be told.
        let crash = "echo 'no total' >&2; exit 1";
        let negated = |mut grader: Value| {
            grader["negate"] = json!(true);
            grader
        };
        let composite = |member: Value| {
            grader(
                "all",
                7,
                json!({"composite": {"members": [member], "aggregator": {"threshold": {"threshold": 1.0}}}}),
            )
        };
        for (entry, part) in [
            (negated(command("check", crash, json!({}))), "the command crashed (exit code 1)"),
            (negated(composite(command("inner", crash, json!({})))), "member `inner`: the command crashed"),
            (composite(negated(command("inner", crash, json!({})))), "member `inner`: the command crashed"),
        ] {
            let (outcome, _, records) = graded(json!([entry]));
            let error = records[0].error.as_deref().unwrap_or_default();
            assert_eq!((outcome, records[0].state), (Status::Error, GraderState::Error), "{records:?}");
            assert!(error.contains(part) && error.ends_with("no total"), "{error}");
        }
        // An exit code stays a verdict where it is not negated, or where standard output has the reason.
        let (outcome, ..) = graded(json!([command("check", crash, json!({}))]));
        assert_eq!(outcome, Status::Failed);
        let verdicts = ["echo 'no total'; echo log >&2; exit 1", "exit 1"];
        for verdict in verdicts {
            let (outcome, ..) = graded(json!([negated(command("check", verdict, json!({})))]));
            assert_eq!(outcome, Status::Passed, "{verdict}");
        }
    }

    #[test]
    fn a_command_that_broke_is_an_error_and_the_exit_status_1_a_fail() {
        let traceback = "printf 'Traceback (most recent call last):\\n  File \"c.py\"\\nImportError: x\\n' >&2; exit 1";
        let broken = [traceback, "exit 126", "exit 127", "kill -9 $$", "sh -c 'kill -9 $$'", "nope"];
        // Test runners and build tools have statuses of their own.
        let other = ["exit 2", "exit 101"];
        for script in other {
            let (outcome, ..) = graded(json!([command("check", script, json!({"result": "status"}))]));
            assert_eq!(outcome, Status::Failed, "{script}");
        }
        for (settings, other) in [(json!({}), other.as_slice()), (json!({"result": "status"}), &[])] {
            for script in broken.iter().chain(other) {
                let (outcome, _, records) = graded(json!([command("check", script, settings.clone())]));
                assert_eq!((outcome, records[0].state), (Status::Error, GraderState::Error), "{script}: {records:?}");
            }
            for script in ["exit 1", "echo 'no total' >&2; exit 1", "echo FAIL; exit 1", "grep -q x /dev/null"] {
                let (outcome, _, records) = graded(json!([command("check", script, settings.clone())]));
                assert_eq!((outcome, records[0].value), (Status::Failed, Some(0.0)), "{script}: {records:?}");
            }
        }
    }

    #[test]
    fn a_command_that_hangs_or_cannot_start_is_an_error() {
        let started = std::time::Instant::now();
        let hanging = command("hangs", "sleep 60", json!({"timeout_seconds": 0.2}));
        let argv = json!({"code-grader": {"run": {"command": {"argv": [{"text": "no-such-program"}]}}}});
        let (outcome, _, records) = graded(json!([hanging, grader("missing", 8, argv)]));
        assert_eq!(outcome, Status::Error);
        assert!(records[0].error.as_ref().unwrap().contains("did not end within 0.2 s"), "{records:?}");
        assert!(records[0].command.as_ref().unwrap().timed_out);
        assert!(records[1].error.as_ref().unwrap().contains("no-such-program"), "{records:?}");
        assert!(started.elapsed() < std::time::Duration::from_secs(20));
    }

    #[test]
    fn a_command_can_combine_the_members_of_a_composite() {
        let script = r#"grep -q '"contains-hello"' && echo '{"score": 0.1, "verdict": "pass"}'"#;
        let graded_with = |script: &str, result: &str| {
            let aggregator = json!({"code-grader": {"run": {"command": {"shell": script}}, "result": result}});
            let composite = json!({"composite": {"members": [contains("hello")], "aggregator": aggregator}});
            graded(json!([grader("all", 7, composite)]))
        };
        let (_, score, records) = graded_with(script, "output");
        assert_eq!((score, records[0].verdict), (Some(0.1), Some(Verdict::Pass)), "{records:?}");
        let (outcome, _, records) = graded_with("echo combined", "output");
        assert_eq!(outcome, Status::Error, "{records:?}");
        let (outcome, score, records) = graded_with("echo combined", "status");
        assert_eq!((outcome, score), (Status::Passed, Some(1.0)), "{records:?}");
    }
}

#[test]
fn a_composite_combines_its_members() {
    let composite = |aggregator: Value, members: Value| {
        let config = json!({"composite": {"members": members, "aggregator": aggregator}});
        let (_, _, mut records) = graded(json!([grader("all", 7, config)]));
        records.remove(0)
    };
    let members = json!([contains("hello"), contains("nothing")]);
    let average = composite(json!({"weighted_average": {"weights": [["contains-hello", 3.0]]}}), members.clone());
    assert_eq!((average.value, average.members.len()), (Some(0.75), 2));
    assert_eq!(average.assertions[1].text, "[contains-nothing] Output does not contain \"nothing\"");
    let share = composite(json!({"threshold": {"threshold": 0.5}}), members.clone());
    assert_eq!((share.value, share.verdict), (Some(0.5), Some(Verdict::Pass)));

    let mut gated = members.clone();
    gated[1]["required"] = json!(true);
    let closed = composite(json!({"threshold": {"threshold": 0.0}}), gated);
    assert_eq!((closed.value, closed.verdict, closed.forced_fail), (Some(0.0), Some(Verdict::Fail), true));

    let nothing = composite(json!({"weighted_average": {}}), json!([user("undecided", json!({}))]));
    assert_eq!(nothing.state, GraderState::Undecided);
    let broken = composite(json!({"weighted_average": {}}), json!([contains("hello"), user("breaks", json!({}))]));
    assert_eq!(broken.state, GraderState::Error);
}

#[test]
fn a_limit_is_a_guard_if_the_composite_gives_it_a_weight() {
    let verdict = |own: f64, given: Value| {
        let mut limit = grader("calls", 7, json!({"execution-metrics": {"max_tool_calls": 0}}));
        limit["weight"] = json!(own);
        let members = json!([limit, contains("hello")]);
        let aggregator = json!({"weighted_average": {"weights": given}});
        let directory = tempfile::tempdir().unwrap();
        let composite = grader("all", 7, json!({"composite": {"members": members, "aggregator": aggregator}}));
        let suite = suite("cases", "mixed", directory.path(), &[case_json("c", json!([composite]), json!({}))]);
        let agent = |trial: &mut Trial<'_>| {
            trial.tool_call(evalsuite::ToolCall::new("write"));
            anyhow::Ok("hello".to_owned())
        };
        let report = run(&Evals::new(suite).with_agent(agent), &directory.path().join("out"));
        only(&report).trials()[0].graders[0].verdict
    };
    assert_eq!(verdict(1.0, json!([["contains-hello", 9.0]])), Some(Verdict::Fail));
    assert_eq!(verdict(0.0, json!([["calls", 1.0], ["contains-hello", 9.0]])), Some(Verdict::Fail));
    assert_eq!(verdict(0.0, json!([["contains-hello", 9.0]])), Some(Verdict::Pass));
    assert_eq!(verdict(1.0, json!([["calls", 0.0]])), Some(Verdict::Pass));
}
