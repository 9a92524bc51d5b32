//! Cases that are conversations.

use std::sync::Mutex;
use std::time::Duration;

use evalsuite::record::{ReasonCode, TrialRecord};
use evalsuite::{
    AgentError, CaseReport, Evals, Evidence, JudgeError, JudgeReply, JudgeRequest, Message, Outcome, Report, Role,
    Status, ToolCall, Trial, Usage,
};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, suite};

fn user(text: &str) -> Value {
    json!({"role": "user", "content": {"text": text}})
}

fn turn(text: &str, graders: Value) -> Value {
    json!({"input": user(text), "graders": graders})
}

/// A case with these turns, after a system message, and more keys of a conversation.
fn talk(turns: Value, settings: Value, more: Value) -> Value {
    let mut conversation = json!({"turns": turns});
    conversation.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let mut all = json!({
        "input": {"messages": [{"role": "system", "content": {"text": "be brief"}}]},
        "conversation": conversation,
    });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    case_json("talk", all.get("graders").cloned().unwrap_or_else(|| json!([])), all)
}

fn hold(case: Value, evals: impl FnOnce(Evals) -> Evals) -> (Report, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let evals = evals(Evals::new(suite("cases", "mixed", directory.path(), &[case])));
    (run(&evals, &directory.path().join("out")), directory)
}

/// Answers with the turn's index and the prompt.
fn echo(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let said = trial.messages().last().map(|message| format!("{:?}", message.content)).unwrap_or_default();
    Ok(format!("turn {:?} of {} messages: {said}", trial.turn(), trial.messages().len()))
}

fn turns(case: &CaseReport) -> Vec<(Status, Option<f64>)> {
    let turns = case.trials()[0].turns.as_ref().unwrap();
    turns.iter().map(|turn| (turn.outcome, turn.score)).collect()
}

use Status::{Error, Failed, Passed, Skipped};

#[test]
fn the_agent_is_called_once_per_turn_with_what_was_said_before() {
    let turns_of_case = json!([
        turn("one", json!([contains("turn Some(1) of 2 messages")])),
        turn("two", json!([contains("turn Some(2) of 4 messages"), contains("two")])),
        turn("three", json!([])),
    ]);
    let (report, _directory) = hold(talk(turns_of_case, json!({}), json!({})), |evals| evals.with_agent(echo));
    let case = only(&report);
    assert_eq!((case.status(), case.record().score), (Passed, Some(1.0)), "{case}");
    assert_eq!(turns(case), [(Passed, Some(1.0)), (Passed, Some(1.0)), (Skipped, None)]);
    let trial: &TrialRecord = &case.trials()[0];
    let second = &trial.turns.as_ref().unwrap()[1];
    assert_eq!((second.index, second.input.as_str(), second.graders.len()), (1, "two", 2));
    assert!(second.answer.as_ref().unwrap().starts_with("turn Some(2)"));
    let whole = trial.answer.as_deref().unwrap();
    assert!(whole.starts_with("system: be brief\n\nuser: one\n\nassistant: turn Some(1)"), "{whole}");
    assert!(trial.graders.is_empty());
}

#[test]
fn a_window_shortens_what_the_agent_gets() {
    let turns_of_case =
        json!([turn("one", json!([])), turn("two", json!([])), turn("three", json!([contains("of 4 messages")]))]);
    let (report, _directory) =
        hold(talk(turns_of_case, json!({"window_size": 1}), json!({})), |evals| evals.with_agent(echo));
    assert_eq!(only(&report).status(), Passed, "{}", only(&report));
}

#[test]
fn the_scores_of_turns_are_combined_as_the_case_says() {
    let turns_of_case = || json!([turn("one", json!([contains("nothing")])), turn("two", json!([contains("two")]))]);
    for (aggregation, expected) in [("mean", (Failed, 0.5)), ("min", (Failed, 0.0)), ("max", (Passed, 1.0))] {
        let case = talk(turns_of_case(), json!({"aggregation": aggregation}), json!({}));
        let (report, _directory) = hold(case, |evals| evals.with_agent(echo));
        let case = only(&report);
        assert_eq!((case.status(), case.record().score), (expected.0, Some(expected.1)), "{aggregation}: {case}");
        assert_eq!(turns(case), [(Failed, Some(0.0)), (Passed, Some(1.0))]);
    }
}

#[test]
fn a_failed_turn_may_end_the_conversation() {
    static CALLS: Mutex<Vec<Option<u32>>> = Mutex::new(Vec::new());
    fn count(trial: &mut Trial<'_>) -> Result<&'static str, AgentError> {
        CALLS.lock().unwrap().push(trial.turn());
        Ok("no")
    }
    let turns_of_case =
        json!([turn("one", json!([])), turn("two", json!([contains("yes")])), turn("three", json!([]))]);
    let (report, _directory) =
        hold(talk(turns_of_case, json!({"on_turn_failure": "stop"}), json!({})), |evals| evals.with_agent(count));
    let case = only(&report);
    assert_eq!((case.status(), case.record().score), (Failed, Some(0.0)), "{case}");
    assert_eq!(turns(case), [(Skipped, None), (Failed, Some(0.0)), (Skipped, Some(0.0))]);
    assert_eq!(*CALLS.lock().unwrap(), [Some(1), Some(2)]);
    let shown = case.to_string();
    for line in ["  turn 2  failed  0.00  two\n    ✗ contains-yes: ", "  turn 3  skipped  0.00  three\n"] {
        assert!(shown.contains(line), "{line} is missing in\n{shown}");
    }
    assert!(!shown.contains("turn 1"), "nothing grades it: {shown}");
}

#[test]
fn the_whole_is_graded_with_everything_that_was_said_and_done() {
    async fn busy(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        trial.message(Message::text(Role::Assistant, "looking"));
        trial.tool_call(ToolCall::new("read"));
        trial.log(format!("turn {:?}", trial.turn()));
        std::fs::write(trial.workspace().join(format!("{:?}.txt", trial.turn())), "x")
            .map_err(|error| AgentError::new(error.to_string()))?;
        Ok(Outcome::from("done")
            .with_usage(Usage::new(5, 2))
            .with_cost_usd(0.5)
            .with_state("turn", trial.turn())
            .with_duration(Duration::from_millis(20)))
    }
    fn seen(evidence: &Evidence<'_>) -> Result<bool, String> {
        let calls = evidence.tool_calls().ok_or("not reported")?.len();
        let roles: Vec<Role> = evidence.transcript().unwrap_or_default().iter().map(|message| message.role).collect();
        let expected = [Role::User, Role::Assistant, Role::Assistant].repeat(2);
        match (calls, evidence.usage(), evidence.cost_usd(), evidence.changes().created.len()) {
            (2, Some(usage), Some(1.0), 2) if usage == Usage::new(10, 4) && roles == expected => Ok(true),
            other => Err(format!("{other:?} {roles:?}")),
        }
    }
    fn seen_in_turn(evidence: &Evidence<'_>) -> bool {
        evidence.tool_calls().is_some_and(|calls| calls.len() == 1) && evidence.answer() == "done"
    }
    let named = |name: &str| grader(name, 9, json!({"user": {"grader": name}}));
    let turns_of_case = json!([turn("one", json!([named("seen_in_turn")])), turn("two", json!([]))]);
    let graders = json!([named("seen"), contains("user: two\n\nassistant: done")]);
    let (report, _directory) = hold(talk(turns_of_case, json!({}), json!({"graders": graders})), |evals| {
        evals.with_agent(busy).with_grader("seen", seen).with_grader("seen_in_turn", seen_in_turn)
    });
    let case = only(&report);
    assert_eq!(case.status(), Passed, "{case}");
    let trial = &case.trials()[0];
    assert_eq!((trial.duration_ms, trial.cost_usd, trial.state.get("turn")), (Some(40), Some(1.0), Some(&json!(2))));
    assert_eq!(trial.graders.len(), 2);
    let log = std::fs::read_to_string(case.directory().join("trial-000/log.txt")).unwrap();
    assert_eq!(log, "turn Some(1)\nturn Some(2)\n");
    let trajectory = std::fs::read_to_string(case.directory().join("trial-000/trajectory.json")).unwrap();
    assert!(trajectory.contains("\"turn\": 1"), "{trajectory}");
}

#[test]
fn calls_of_earlier_turns_are_not_those_of_a_turn_whose_agent_reports_its_history() {
    /// Keeps its history, and looks something up in the first turn only.
    fn keeps(history: &Mutex<Vec<Message>>, trial: &Trial<'_>, id: Option<&str>) -> Outcome {
        let mut history = history.lock().unwrap();
        let answer = Message::text(Role::Assistant, "ok").with_usage(Usage::new(5, 1));
        let call = ToolCall::new("lookup");
        let call = id.map_or_else(|| call.clone(), |id| call.clone().with_id(id));
        let answer = if history.is_empty() { answer.with_tool_call(call) } else { answer };
        history.extend([Message::text(Role::User, trial.prompt()), answer]);
        Outcome::new().with_messages(history.clone())
    }
    let looks_up =
        || grader("looks-up", 9, json!({"tool-trajectory": {"mode": "any_order", "minimums": [["lookup", 1]]}}));
    for (id, second) in [(Some("call-1"), Failed), (None, Passed)] {
        let turns_of_case =
            json!([turn("one", json!([looks_up()])), turn("two", json!([looks_up()])), turn("three", json!([]))]);
        let agent_of = || {
            let history = Mutex::default();
            move |trial: &mut Trial<'_>| Ok::<_, AgentError>(keeps(&history, trial, id))
        };
        let (report, _directory) =
            hold(talk(turns_of_case, json!({}), json!({})), |evals| evals.with_agent(agent_of()));
        let case = only(&report);
        let outcomes: Vec<Status> = turns(case).into_iter().map(|(outcome, _)| outcome).collect();
        assert_eq!(outcomes, [Passed, second, Skipped], "{id:?} {case}");
        if id.is_some() {
            assert_eq!(case.trials()[0].usage, Some(Usage::new(15, 3)), "each message counts once");
        }
    }
}

#[test]
fn a_gate_of_the_whole_fails_what_its_turns_passed() {
    let gate = json!([{
        "name": "gate", "location": {"file": "f", "line": 1, "column": 1}, "required": true, "weight": 0.0,
        "config": {"contains": {"value": "never said"}},
    }]);
    let case = talk(json!([turn("one", json!([]))]), json!({"aggregation": "max"}), json!({"graders": gate}));
    let (report, _directory) = hold(case, |evals| evals.with_agent(echo));
    let case = only(&report);
    assert_eq!(case.status(), Failed);
    assert_eq!(case.record().reason.as_ref().unwrap().code, ReasonCode::RequiredGraderFailed);
}

#[test]
fn what_was_said_before_an_error_is_kept() {
    async fn breaks(trial: &mut Trial<'_>) -> Result<String, AgentError> {
        trial.usage(Usage::new(5, 2));
        trial.log("called");
        match trial.turn() {
            Some(2) => Err(AgentError::new("no connection")),
            _ => Ok("fine".to_owned()),
        }
    }
    async fn hangs(trial: &mut Trial<'_>) -> Result<String, AgentError> {
        trial.usage(Usage::new(5, 2));
        trial.log("called");
        match trial.turn() {
            Some(2) => std::future::pending().await,
            _ => Ok("fine".to_owned()),
        }
    }
    let turns_of_case =
        || json!([turn("one", json!([contains("fine")])), turn("two", json!([])), turn("three", json!([]))]);
    let case = || talk(turns_of_case(), json!({"aggregation": "max"}), json!({"timeout_seconds": 0.5}));
    for (bind, code, message) in [
        (hold(case(), |evals| evals.with_agent(breaks)), ReasonCode::AgentError, "turn 2: no connection"),
        (
            hold(case(), |evals| evals.with_agent(hangs)),
            ReasonCode::Timeout,
            "turn 2: the agent did not end within 0.5 s",
        ),
    ] {
        let (report, _directory) = bind;
        let case = only(&report);
        assert_eq!(case.status(), Error);
        let reason = case.record().reason.as_ref().unwrap();
        assert_eq!((reason.code, reason.message.as_str()), (code, message));
        assert_eq!(turns(case), [(Passed, Some(1.0)), (Error, None)]);
        assert_eq!(case.trials()[0].usage, Some(Usage::new(10, 4)));
        let log = std::fs::read_to_string(case.directory().join("trial-000/log.txt")).unwrap();
        assert_eq!(log, "called\ncalled\n");
    }
}

#[test]
fn an_agent_may_ask_to_skip_in_any_turn() {
    fn skips(trial: &mut Trial<'_>) -> Result<String, AgentError> {
        if trial.turn() == Some(2) { Err(AgentError::skip("no key")) } else { Ok("fine".to_owned()) }
    }
    let (report, _directory) = hold(
        talk(json!([turn("one", json!([contains("fine")])), turn("two", json!([]))]), json!({}), json!({})),
        |evals| evals.with_agent(skips),
    );
    let case = only(&report);
    assert_eq!((case.status(), case.record().reason.as_ref().unwrap().code), (Skipped, ReasonCode::SkipRequested));
}

#[test]
fn a_skip_does_not_hide_that_an_earlier_turn_failed() {
    fn skips(trial: &mut Trial<'_>) -> Result<String, AgentError> {
        if trial.turn() == Some(2) { Err(AgentError::skip("rate limit")) } else { Ok("wrong".to_owned()) }
    }
    let mut required = contains("right");
    required["required"] = json!(true);
    for (first, outcome, code) in [
        (required, Failed, ReasonCode::RequiredGraderFailed),
        (contains("right"), Error, ReasonCode::SkipRequested),
        (contains("wrong"), Skipped, ReasonCode::SkipRequested),
    ] {
        let turns_of_case = json!([turn("one", json!([first])), turn("two", json!([contains("right")]))]);
        let (report, _directory) = hold(talk(turns_of_case, json!({}), json!({})), |evals| evals.with_agent(skips));
        let case = only(&report);
        assert_eq!((case.status(), case.record().reason.as_ref().unwrap().code), (outcome, code), "{case}");
    }
}

#[test]
fn a_broken_grader_of_a_turn_makes_the_trial_an_error_that_names_it() {
    fn breaks(_: &Evidence<'_>) -> Result<bool, String> {
        Err("cannot tell".to_owned())
    }
    let broken = grader("breaks", 9, json!({"user": {"grader": "breaks"}}));
    let turns_of_case = json!([turn("one", json!([])), turn("two", json!([broken])), turn("three", json!([]))]);
    let (report, _directory) =
        hold(talk(turns_of_case, json!({}), json!({})), |evals| evals.with_agent(echo).with_grader("breaks", breaks));
    let case = only(&report);
    assert_eq!(turns(case), [(Skipped, None), (Error, None), (Skipped, None)]);
    let reason = case.record().reason.as_ref().unwrap();
    assert_eq!((case.status(), reason.code), (Error, ReasonCode::GraderError));
    assert!(reason.message.starts_with("turn 2: grader `breaks`: "), "{}", reason.message);
}

#[test]
fn a_turn_that_nothing_grades_is_not_a_pass() {
    let ungraded = || json!([turn("one", json!([])), turn("two", json!([])), turn("three", json!([]))]);
    let whole = json!({"graders": [contains("nowhere")]});
    let (report, _directory) = hold(talk(ungraded(), json!({}), whole), |evals| evals.with_agent(echo));
    let case = only(&report);
    assert_eq!((case.status(), case.record().score), (Failed, Some(0.0)), "three turns do not make up for it: {case}");
    assert!(!case.to_string().contains("turn 1"), "{case}");

    let (report, _directory) = hold(talk(ungraded(), json!({}), json!({})), |evals| evals.with_agent(echo));
    let reason = only(&report).record().reason.as_ref().unwrap();
    assert_eq!((only(&report).status(), reason.message.as_str()), (Skipped, "nothing grades the case"));

    async fn judge(request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let is_whole = request.user().contains("user: one\n\nassistant: ") && request.user().contains("Is polite.");
        Ok(format!(r#"{{"score": {}}}"#, if is_whole { 0.9 } else { 0.0 }).into())
    }
    let criteria = json!({"criteria": "Is polite."});
    let judged = |evals: Evals| evals.with_agent(echo).with_judge(judge);
    let (report, _directory) = hold(talk(ungraded(), json!({}), criteria.clone()), judged);
    let case = only(&report);
    assert_eq!((case.status(), case.record().score), (Passed, Some(0.9)), "criteria alone are judged: {case}");
    let graded = json!([turn("one", json!([contains("turn")])), turn("two", json!([]))]);
    let (report, _directory) = hold(talk(graded, json!({}), criteria), judged);
    assert!(only(&report).trials()[0].graders.is_empty(), "beside graders, criteria are not judged");
}

#[test]
fn a_turn_with_a_reference_and_no_grader_needs_a_judge() {
    let mut judged = turn("one", json!([]));
    judged["expected_output"] = json!([{"role": "assistant", "content": {"text": "gold"}}]);
    let (report, _directory) = hold(talk(json!([judged]), json!({}), json!({})), |evals| evals.with_agent(echo));
    let case = only(&report);
    assert_eq!(case.status(), Skipped, "{case}");
    assert_eq!(case.record().reason.as_ref().unwrap().code, ReasonCode::RequirementMissing);
}

#[cfg(unix)]
#[test]
fn a_command_is_called_once_per_turn_with_the_history_as_its_prompt() {
    let turns_of_case = json!([
        turn("one", json!([contains("user: one")])),
        turn("two", json!([contains("@[User]:\none"), contains("@[Assistant]:\n"), contains("@[User]:\ntwo")])),
    ]);
    let case = talk(turns_of_case, json!({"aggregation": "min"}), json!({}));
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let command = "cat {PROMPT_FILE} > {OUTPUT_FILE}; echo 'user: one' >> {OUTPUT_FILE}";
    let targets =
        format!("targets:\n  - {{ name: default, provider: cli, command: \"{command}\", keep_temp_files: true }}\n");
    std::fs::write(directory.path().join("targets.yaml"), targets).unwrap();
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(evalsuite::CliAgents);
    let report = run(&evals, &directory.path().join("out"));
    let case = only(&report);
    assert_eq!(case.status(), Passed, "{case}");
    let agent = case.directory().join("trial-000/agent");
    for (turn, expected) in [("turn-000", "@[System]:\nbe brief\n\n@[User]:\none"), ("turn-001", "@[User]:\ntwo")] {
        let prompt = std::fs::read_to_string(agent.join(turn).join("prompt.md")).unwrap();
        assert!(prompt.ends_with(expected), "{prompt}");
    }
}

#[test]
fn a_judge_of_a_turn_reads_what_was_said_before_with_its_speakers() {
    static ASKED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    async fn judge(request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        ASKED.lock().unwrap().push(request.user().to_owned());
        Ok(JudgeReply::new("{\"score\": 0.9}"))
    }
    let mut judged = turn("two", json!([]));
    judged["expected_output"] = json!([{"role": "assistant", "content": {"text": "gold"}}]);
    let case = talk(json!([turn("one", json!([])), judged]), json!({}), json!({}));
    let (report, _directory) =
        hold(case, |evals| evals.with_agent(|_: &mut Trial<'_>| Ok::<_, AgentError>("fine")).with_judge(judge));
    let case = only(&report);
    assert_eq!(turns(case), [(Skipped, None), (Passed, Some(0.9))], "{case}");
    let asked = ASKED.lock().unwrap();
    let said = "system: be brief\n\nuser: one\n\nassistant:\n<untrusted 1>\nfine\n</untrusted 1>\n\nuser: two";
    assert!(asked[0].contains(said) && asked[0].contains("gold"), "{}", asked[0]);
}
