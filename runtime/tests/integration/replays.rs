//! Replays of what is more than one call of a function: conversations, commands, and agents that only leave spans.

use std::fs;

use evalsuite::record::{Mode, ReasonCode, TrialRecord, TurnRecord};
use evalsuite::{
    AgentError, CaseReport, Evals, Evidence, Message, Outcome, Role, RunOptions, Status, ToolCall, Trial, Usage,
};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run_with, suite};

/// A package with a suite of one case, its recordings and its records.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("suites/x/note.txt", "a note");
        place
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn evals(&self, case: &Value) -> Evals {
        Evals::new(suite("cases", "mixed", self.0.path(), std::slice::from_ref(case)))
    }

    fn run(&self, evals: &Evals, options: RunOptions) -> CaseReport {
        let options = options.with_cassettes(self.0.path().join("cassettes"));
        only(&run_with(evals, &self.0.path().join("out"), options)).clone()
    }

    fn record(&self, evals: &Evals) -> CaseReport {
        self.run(evals, RunOptions::new().with_mode(Mode::Record))
    }

    fn replay(&self, evals: &Evals) -> CaseReport {
        self.run(evals, RunOptions::new().with_mode(Mode::Replay))
    }

    fn regrade(&self, evals: &Evals) -> CaseReport {
        self.run(evals, RunOptions::new().with_regrade("latest"))
    }
}

fn never(_: &mut Trial<'_>) -> Result<String, AgentError> {
    panic!("the agent is called")
}

#[track_caller]
fn passed(case: &CaseReport) -> &TrialRecord {
    assert_eq!(case.status(), Status::Passed, "{case}");
    &case.trials()[0]
}

#[track_caller]
fn stale(case: &CaseReport) -> &str {
    let reason = case.record().reason.as_ref().unwrap();
    assert_eq!((case.status(), reason.code), (Status::Error, ReasonCode::RecordingStale), "{case}");
    &reason.message
}

/// The turns, without the time that their graders took.
fn turns(trial: &TrialRecord) -> Vec<TurnRecord> {
    let mut turns = trial.turns.clone().unwrap();
    turns.iter_mut().flat_map(|turn| &mut turn.graders).for_each(|grader| grader.duration_ms = 0);
    turns
}

/// Steps of the trajectory, without the times at which they were taken.
fn steps(case: &CaseReport) -> Value {
    let path = case.directory().join("trial-000/trajectory.json");
    let mut document: Value = evalsuite_schema::json::from_slice(&fs::read(path).unwrap()).unwrap();
    for step in document["steps"].as_array_mut().unwrap() {
        step.as_object_mut().unwrap().remove("timestamp");
    }
    document["steps"].take()
}

fn user(name: &str) -> Value {
    grader(name, 9, json!({"user": {"grader": name}}))
}

fn turn(content: &Value, graders: Value) -> Value {
    json!({"input": {"role": "user", "content": content}, "graders": graders})
}

/// Two turns, the second with a file.
fn talk(first: Value, settings: &Value) -> Value {
    let file = json!({"parts": [{"file": {"written": "note.txt", "path": "suites/x/note.txt"}}, {"text": "two"}]});
    let mut conversation =
        json!({"turns": [turn(&json!({"text": "one"}), first), turn(&file, json!([contains("turn 2")]))]});
    conversation.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let input = json!({"messages": [{"role": "system", "content": {"text": "be brief"}}]});
    case_json("talk", json!([user("whole")]), json!({"input": input, "conversation": conversation}))
}

/// Reports in every way there is, and changes the same file in both turns.
fn busy(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    let turn = trial.turn().unwrap_or(9);
    let failed = |error: std::io::Error| AgentError::new(error.to_string());
    let file = trial.workspace().join("notes.txt");
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, format!("{before}turn {turn}\n")).map_err(failed)?;
    trial.message(Message::text(Role::Assistant, "looking"));
    trial.tool_call(ToolCall::new("read"));
    trial.log(format!("turn {turn} has {} messages", trial.messages().len()));
    Ok(Outcome::from(format!("turn {turn}"))
        .with_usage(Usage::new(5, 2))
        .with_cost_usd(0.5)
        .with_state("turn", turn)
        .with_model("small"))
}

/// Sees what both turns left.
fn whole(evidence: &Evidence<'_>) -> Result<bool, String> {
    let notes = fs::read_to_string(evidence.workspace().join("notes.txt")).map_err(|error| error.to_string())?;
    let calls = evidence.tool_calls().map_or(0, |calls| calls.len());
    let seen = (notes.as_str(), calls, evidence.usage(), evidence.cost_usd());
    if seen == ("turn 1\nturn 2\n", 2, Some(Usage::new(10, 4)), Some(1.0)) {
        Ok(true)
    } else {
        Err(format!("{seen:?}"))
    }
}

/// Of the first turn: its workspace is as it was then.
fn first(evidence: &Evidence<'_>) -> bool {
    evidence.diff().contains("+turn 1") && !evidence.diff().contains("turn 2")
}

fn bound(evals: Evals) -> Evals {
    evals.with_grader("whole", whole).with_grader("first", first)
}

#[test]
fn a_conversation_that_broke_off_ends_in_the_same_way_when_it_is_graded_again() {
    let breaks_off = |end: fn() -> AgentError| {
        move |trial: &mut Trial<'_>| if trial.turn() == Some(2) { Err(end()) } else { busy(trial) }
    };
    let ends: [fn() -> AgentError; 2] = [|| AgentError::new("no network"), || AgentError::skip("later")];
    let expected = [
        (Status::Error, ReasonCode::AgentError, ""),
        (Status::Error, ReasonCode::SkipRequested, "; an earlier turn had failed"),
    ];
    for (end, (status, code, more)) in ends.into_iter().zip(expected) {
        let place = Place::new();
        let evals = |text: &str| bound(place.evals(&talk(json!([contains(text)]), &json!({}))));
        let first = place.run(&evals("turn 1").with_agent(breaks_off(end)), RunOptions::new());
        let again = place.regrade(&evals("another text").with_agent(never));
        let reason = again.record().reason.as_ref().unwrap();
        assert_eq!((again.status(), reason.code), (status, code), "{again}");
        let earlier = first.record().reason.as_ref().unwrap().message.strip_prefix("turn 2: ").unwrap();
        assert_eq!(reason.message, format!("turn 2: in run {}: {earlier}{more}", first.record().run_id));
        let turns = again.trials()[0].turns.as_ref().unwrap();
        assert_eq!(turns[0].outcome, Status::Failed, "the first turn is graded by what the case says now");
    }

    // A turn that was not run because the one before failed has no recording, which is said.
    let place = Place::new();
    let evals = |text: &str| bound(place.evals(&talk(json!([contains(text)]), &json!({"on_turn_failure": "stop"}))));
    place.run(&evals("another text").with_agent(busy), RunOptions::new());
    let again = place.regrade(&evals("turn 1").with_agent(never));
    let message = stale(&again);
    let expected = "turn 2: the recording has fewer calls of the agent than the case; to make one: `cargo ";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_conversation_is_replayed_turn_by_turn() {
    let place = Place::new();
    let evals = || bound(place.evals(&talk(json!([user("first")]), &json!({}))));
    let recorded = place.record(&evals().with_agent(busy));
    let then = passed(&recorded);
    for replayed in [place.replay(&evals().with_agent(never)), place.regrade(&evals().with_agent(never))] {
        let now = passed(&replayed);
        assert_eq!(turns(now), turns(then), "their answers, graders and scores");
        assert_eq!((now.usage, now.cost_usd, &now.model), (then.usage, then.cost_usd, &then.model));
        assert_eq!((&now.state, now.duration_ms), (&then.state, then.duration_ms));
        assert_eq!(steps(&replayed), steps(&recorded));
        let log = |case: &CaseReport| fs::read_to_string(case.directory().join("trial-000/log.txt")).unwrap();
        assert_eq!(log(&replayed), log(&recorded));
    }

    place.write("suites/x/note.txt", "another note");
    let message = stale(&place.replay(&evals().with_agent(never))).to_owned();
    assert!(message.contains("input file: `note.txt` changed"), "{message}");
}

#[test]
fn a_conversation_that_ended_early_has_to_be_recorded_again_before_it_goes_on() {
    let place = Place::new();
    let stops = |first: &str| place.evals(&talk(json!([contains(first)]), &json!({"on_turn_failure": "stop"})));
    let ended = place.record(&bound(stops("no such word")).with_agent(busy));
    let answers =
        |case: &CaseReport| case.trials()[0].turns.iter().flatten().filter(|turn| turn.answer.is_some()).count();
    assert_eq!(answers(&ended), 1, "{ended}");
    let replayed = place.replay(&bound(stops("no such word")).with_agent(never));
    assert_eq!((answers(&replayed), replayed.status()), (1, ended.status()), "{replayed}");
    let replayed = place.replay(&bound(stops("turn 1")).with_agent(never));
    let message = stale(&replayed);
    assert!(message.contains("turn 2: ") && message.contains("EVALSUITE_MODE=record"), "{message}");

    passed(&place.record(&bound(stops("turn 1")).with_agent(busy)));
    let shorter = place.replay(&bound(stops("no such word")).with_agent(never));
    assert_eq!(answers(&shorter), 1, "what is not asked any more is not replayed: {shorter}");
}

#[cfg(unix)]
#[test]
fn a_recording_belongs_to_the_command_that_made_it() {
    let place = Place::new();
    let write = |command: &str| {
        let entry = format!("{{ name: default, provider: cli, env: {{ MOOD: calm }}, command: '{command}' }}");
        place.write("targets.yaml", &format!("targets:\n  - {entry}\n"));
    };
    let evals = || place.evals(&case_json("a", json!([contains("calm")]), json!({}))).with_agent(evalsuite::CliAgents);
    write("echo $MOOD > {OUTPUT_FILE}");
    passed(&place.record(&evals()));
    write("exit 1; echo $MOOD > {OUTPUT_FILE}");
    let replayed = place.replay(&evals());
    let message = stale(&replayed);
    for part in [
        "the target's command changed:",
        "-  \"command\": \"echo $MOOD > {OUTPUT_FILE}\",",
        "+  \"command\": \"exit 1; echo $MOOD > {OUTPUT_FILE}\",",
    ] {
        assert!(message.contains(part), "{part} is missing in\n{message}");
    }
    passed(&place.regrade(&evals()));
    fs::remove_file(place.0.path().join("targets.yaml")).unwrap();
    let replayed = place.replay(&evals());
    assert!(stale(&replayed).contains("+null"), "nobody is called at all: {}", stale(&replayed));
    write("echo $MOOD > {OUTPUT_FILE}");
    passed(&place.replay(&evals()));
}

#[cfg(feature = "capture")]
mod spans {
    use tracing::info_span;

    use super::*;
    use crate::common::in_own_process;

    /// An agent that is instrumented, and says nothing itself.
    async fn instrumented(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        let turn = trial.turn().unwrap_or_default();
        tokio::spawn(async move {
            let chat = info_span!(
                "chat",
                gen_ai.operation.name = "chat",
                gen_ai.request.model = "m-1",
                gen_ai.usage.input_tokens = 3
            );
            chat.in_scope(|| ());
            let tool = info_span!(
                "execute_tool",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = format!("read-{turn}"),
                gen_ai.tool.call.arguments = r#"{"path":"a"}"#
            );
            tool.in_scope(|| ());
        })
        .await?;
        Ok(format!("turn {turn}"))
    }

    fn calls(tools: &[&str]) -> Value {
        let expected: Vec<Value> = tools.iter().map(|tool| json!({"tool": tool})).collect();
        grader("calls", 8, json!({"tool-trajectory": {"mode": "exact", "expected": expected}}))
    }

    #[track_caller]
    fn replays(case: &Value, usage: Usage) {
        let place = Place::new();
        let recorded = place.record(&place.evals(case).with_agent(instrumented));
        let then = passed(&recorded);
        assert_eq!((then.usage, then.model.as_deref()), (Some(usage), Some("m-1")));
        for replayed in
            [place.replay(&place.evals(case).with_agent(never)), place.regrade(&place.evals(case).with_agent(never))]
        {
            let now = passed(&replayed);
            assert_eq!((now.usage, &now.model, &now.notes), (then.usage, &then.model, &then.notes));
            assert_eq!(steps(&replayed), steps(&recorded));
        }
    }

    #[test]
    fn captured_spans_are_replayed() {
        in_own_process("replays::spans::captured_spans_are_replayed", || {
            replays(&case_json("a", json!([calls(&["read-0"])]), json!({})), Usage::new(3, 0));
        });
    }

    #[test]
    fn captured_spans_of_every_turn_are_replayed() {
        in_own_process("replays::spans::captured_spans_of_every_turn_are_replayed", || {
            let turn = |text: &str, graders: Value| turn(&json!({"text": text}), graders);
            let turns = json!([turn("one", json!([calls(&["read-1"])])), turn("two", json!([calls(&["read-2"])]))]);
            let more = json!({"input": {"messages": []}, "conversation": {"turns": turns}});
            replays(&case_json("a", json!([calls(&["read-1", "read-2"])]), more), Usage::new(6, 0));
        });
    }
}
