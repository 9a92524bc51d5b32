//! Conversations: the turns of one session.

use evalsuite::Usage;
use evalsuite_schema::json::{Value, json};

use super::{Package, error, file, passed};
use crate::common::{case_json, contains, grader};

fn turn(text: &str, expected: &str) -> Value {
    json!({"input": {"role": "user", "content": {"text": text}}, "graders": [contains(expected)]})
}

fn talk() -> Value {
    let turns = json!([turn("one", "got 1"), turn("two", "got 2"), turn("three", "got 3")]);
    case_json("a", json!([]), json!({"conversation": {"turns": turns}}))
}

const COUNTS: &str = r#"
start
n=1
while :; do
  echo "heard $n" >&2
  case $line in *one*two*) text 'everything again' ;; esac
  update "{\"sessionUpdate\":\"usage_update\",\"used\":1,\"size\":9,\"cost\":{\"amount\":0.$n,\"currency\":\"USD\"}}"
  text "got $n"
  end end_turn $((n + 2))
  n=$((n + 1))
done
"#;

#[test]
fn the_turns_of_a_conversation_are_turns_of_one_session() {
    let case = Package::new(COUNTS, "").run_case(&talk());
    passed(&case);
    let trial = &case.trials()[0];
    let answers: Vec<_> = trial.turns.iter().flatten().map(|turn| turn.answer.clone().unwrap_or_default()).collect();
    assert_eq!(answers, ["got 1", "got 2", "got 3"]);
    assert!(
        (trial.cost_usd.unwrap() - 0.3).abs() < 1e-9,
        "the agent reports the cost of its session: {:?}",
        trial.cost_usd
    );
    assert!(file(&case, "agent/turn-000/protocol.jsonl").contains("session/new"));
    assert!(!file(&case, "agent/turn-001/protocol.jsonl").contains("session/new"));
    assert!(file(&case, "agent/turn-002/stderr.txt").contains("heard 3"));
}

/// An agent that reports these tokens in its turns.
fn reporting(tokens: [u32; 3]) -> String {
    let mut script = "start\n".to_owned();
    for (index, input) in tokens.iter().enumerate() {
        let usage = format!(
            r#"{{"stopReason":"end_turn","usage":{{"inputTokens":{input},"outputTokens":5,"totalTokens":{}}}}}"#,
            input + 5
        );
        script += &format!("text 'got {}'\nanswer {} '{usage}'\nhear\n", index + 1, index + 3);
    }
    script
}

#[test]
fn tokens_of_a_session_are_not_counted_in_each_turn() {
    let limit = grader("tokens", 9, json!({"token-usage": {"max_total": 1000.0}}));
    let mut talk = talk();
    talk["graders"] = json!([limit]);
    let case = Package::new(&reporting([100, 250, 300]), "").run_case(&talk);
    let trial = &case.trials()[0];
    assert_eq!((trial.usage, trial.usage_partial), (Some(Usage::new(100, 5)), true), "that of the first turn");
    let (_, message) = error(&case);
    assert!(message.contains("those of the session so far"), "{message}");
    let case = Package::new(&reporting([100, 90, 80]), "").run_case(&talk);
    passed(&case);
    assert_eq!(case.trials()[0].usage, Some(Usage::new(270, 15)), "numbers that fall are those of turns");
    for (key, usage) in [("turn", Usage::new(650, 15)), ("session", Usage::new(300, 5))] {
        let keys = format!("    tokens: {key}\n");
        let case = Package::new(&reporting([100, 250, 300]), &keys).run_case(&talk);
        passed(&case);
        assert_eq!(case.trials()[0].usage, Some(usage), "{key}");
    }
}

/// Answers with what it was told about its servers.
const NAMES_SERVERS: &str = r#"
hear; answer 1 '{"protocolVersion":1}'
hear; servers=$(printf '%s' "$line" | grep -o '"mcpServers":.*' | sed 's/\\/\\\\/g; s/"/\\"/g')
answer 2 '{"sessionId":"s1"}'; hear
text "done: $servers"
end
"#;

#[test]
fn the_servers_of_a_target_are_those_of_its_session() {
    let keys = "    mcp:\n      record: false\n      servers: { notes: { command: my-notes, args: [--root, .], env: { KEY: k } } }\n";
    let case = Package::new(NAMES_SERVERS, keys).run();
    passed(&case);
    let answer = case.trials()[0].answer.clone().unwrap();
    for part in [
        r#""name":"notes""#,
        r#""command":"my-notes""#,
        r#""args":["--root","."]"#,
        r#""env":[{"name":"KEY","value":"k"}]"#,
    ] {
        assert!(answer.contains(part), "expected {part}: {answer}");
    }
}

#[test]
fn a_session_that_ends_in_a_later_turn_keeps_the_turns_before() {
    let script = "start; text 'got 1'; end; text 'got'; exit 4";
    let case = Package::new(script, "").run_case(&talk());
    let (_, message) = error(&case);
    assert!(
        message.starts_with("turn 2: the agent ended (exit status: 4) before it answered `session/prompt`"),
        "{message}"
    );
    let turns = case.trials()[0].turns.clone().unwrap();
    assert_eq!(turns[0].answer.as_deref(), Some("got 1"));
    assert!(file(&case, "trajectory.json").contains("got 1"));
}

#[test]
fn work_that_is_reported_between_two_turns_is_not_the_answer_of_the_next_one() {
    let agent = r#"
start
text 'got 1'
answer 3 '{"stopReason":"end_turn"}'
sleep 0.2
text 'got 2, says the first turn'
hear
text 'nothing'
end end_turn 4
"#;
    let waits = grader("waits", 4, json!({"code-grader": {"run": {"command": {"shell": "sleep 1; echo pass"}}}}));
    let mut first = turn("one", "got 1");
    first["graders"] = json!([contains("got 1"), waits]);
    let turns = json!([first, turn("two", "got 2")]);
    let case = Package::new(agent, "").run_case(&case_json("a", json!([]), json!({"conversation": {"turns": turns}})));
    let (_, message) = error(&case);
    let expected = "turn 2: the agent broke the protocol: it reported work between two turns";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(case.trials()[0].turns.as_ref().unwrap()[0].answer.as_deref(), Some("got 1"));
    assert!(file(&case, "agent/turn-001/protocol.jsonl").contains("says the first turn"), "the log has it");
}
