//! Agents that break the protocol, or do not end: each leaves a record that says what happened, with what came before.

use std::fs;
use std::time::{Duration, Instant};

use evalsuite::record::ReasonCode;
use evalsuite_schema::json::json;

use super::{Package, Ran, error, file, notes, passed, with_workspace};

const SHORT: &str = "    timeout_seconds: 1\n";

/// Runs a script that ends in an error, and checks its reason. `half` is in the answer if the agent said it.
#[track_caller]
fn fails(script: &str, keys: &str, code: ReasonCode, said: &[&str]) -> Ran {
    let began = Instant::now();
    let case = Package::new(script, keys).run();
    let (found, message) = error(&case);
    assert_eq!(found, code, "{message}");
    for part in said {
        assert!(message.contains(part), "`{part}` is not in\n{message}");
    }
    if script.contains("text half") {
        let answer = case.trials()[0].answer.clone().unwrap_or_default();
        assert!(answer.starts_with("half"), "what came before is kept: {answer}");
        assert!(file(&case, "trajectory.json").contains("half"));
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    case
}

#[test]
fn an_agent_that_does_not_answer_is_ended_at_the_time_limit() {
    let said = "the agent did not answer `initialize` within 1 s";
    fails("while :; do hear; done", SHORT, ReasonCode::Timeout, &[said]);
    fails(
        "hear; answer 1 '{\"protocolVersion\":1}'; sleep 100",
        SHORT,
        ReasonCode::Timeout,
        &["did not answer `session/new`"],
    );
}

#[test]
fn an_agent_that_exits_is_an_error_with_its_status_and_its_last_words() {
    fails("exit 3", "", ReasonCode::AgentError, &["the agent ended (exit status: 3) before it answered `initialize`"]);
    let script = "start; text half; echo oops >&2; exit 7";
    let said = ["the agent ended (exit status: 7) before it answered `session/prompt`", "stderr: oops"];
    let case = fails(script, "", ReasonCode::AgentError, &said);
    assert_eq!(file(&case, "agent/stderr.txt"), "oops\n");
}

#[test]
fn a_program_that_does_not_exist_is_an_error_of_the_shell() {
    let place = Package::new("", "");
    let targets = "targets:\n  - { name: default, provider: acp, command: no-such-agent --acp }\n";
    fs::write(place.path().join("targets.yaml"), targets).unwrap();
    let (_, message) = error(&place.run());
    assert!(message.contains("exit status: 127") && message.contains("no-such-agent"), "{message}");
}

#[test]
fn answers_out_of_order_are_a_problem_of_the_turn() {
    let script = "hear; answer 3 '{\"stopReason\":\"end_turn\"}'; answer 1 '{\"protocolVersion\":1}'; hear; answer 2 '{\"sessionId\":\"s1\"}'; hear; text half; end";
    fails(
        script,
        "",
        ReasonCode::AgentError,
        &["the agent broke the protocol: it answered request 3, which was not sent"],
    );
    let script = "hear; answer 2 '{\"sessionId\":\"s1\"}'; answer 1 '{\"protocolVersion\":1}'; hear; sleep 100";
    let case = fails(script, SHORT, ReasonCode::Timeout, &["did not answer `session/new`"]);
    assert!(
        notes(&case).contains("protocol_broken: the agent broke the protocol: it answered request 2"),
        "{}",
        notes(&case)
    );
}

#[test]
fn a_second_answer_is_ignored_if_it_is_the_same_and_a_problem_if_it_is_not() {
    let twice = |second: &str| {
        format!(
            "hear; answer 1 '{{\"protocolVersion\":1}}'; answer 1 '{second}'; hear; answer 2 '{{\"sessionId\":\"s1\"}}'; hear; text 'half done'; end"
        )
    };
    let case = Package::new(&twice("{\"protocolVersion\":1}"), "").run();
    passed(&case);
    assert!(notes(&case).contains("answered_twice"), "{}", notes(&case));
    fails(
        &twice("{\"protocolVersion\":2}"),
        "",
        ReasonCode::AgentError,
        &["it answered request 1 twice, and not the same"],
    );
}

#[test]
fn unknown_methods_are_refused_and_unknown_notifications_are_noted() {
    let script = "start; ask t terminal/create '{}'; case $line in *-32601*) text 'done';; esac; notify surprise '{}'; notify _own '{}'; update '{\"sessionUpdate\":\"news\"}'; end";
    let case = Package::new(script, "").run();
    passed(&case);
    for part in ["`terminal/create`", "notification `surprise`", "unknown kind `news`"] {
        assert!(notes(&case).contains(part), "{part}: {}", notes(&case));
    }
}

#[test]
fn a_huge_line_is_not_read_to_its_end() {
    let script =
        "start; text half; printf '{\"jsonrpc\":\"2.0\",\"x\":\"'; head -c 30000000 /dev/zero | tr '\\0' a; sleep 100";
    fails(script, "", ReasonCode::AgentError, &["the agent wrote a line of more than 16 MiB"]);
}

#[test]
fn what_cannot_be_read_after_the_answer_is_an_error_of_the_turn() {
    let plan = "update \"{\\\"sessionUpdate\\\":\\\"plan\\\",\\\"entries\\\":[\\\"$(cat zeros)\\\"]}\" > big";
    let prepare = format!("start; head -c 17000000 /dev/zero | tr '\\0' a > zeros; {plan}");
    let answer = "text 'half done'; answer 3 '{\"stopReason\":\"end_turn\"}'";
    let said = ["the agent broke the protocol: "];
    fails(&format!("{prepare}; {answer}; cat big; hear"), "", ReasonCode::AgentError, &said);
    let shorter = prepare.replace("17000000", "100000");
    let many = "for count in $(seq 350); do cat big; done";
    fails(&format!("{shorter}; {answer}; {many}; hear"), "", ReasonCode::AgentError, &said);
}

#[test]
fn messages_without_end_are_not_collected_without_end() {
    let script = "start; text half; update \"{\\\"sessionUpdate\\\":\\\"plan\\\",\\\"entries\\\":[\\\"$(head -c 100000 /dev/zero | tr '\\0' a)\\\"]}\" > big; while :; do cat big; done";
    let keys = "    timeout_seconds: 50\n";
    fails(script, keys, ReasonCode::AgentError, &["more than 32 MiB of messages in one turn"]);
}

#[test]
fn broken_messages_are_an_error_once_the_turn_has_ended() {
    for line in [
        r#"'{"jsonrpc":"2.0","method":"session/update"'"#,
        r#"'{"jsonrpc":"2.0"}'"#,
        r#"'[{"jsonrpc":"2.0","method":"x"}]'"#,
        r#"'{"jsonrpc":"2.0","id":{},"method":"x"}'"#,
        r#"'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call"}}}'"#,
        r#"'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}'"#,
        r#""{\"x\":$(head -c 200000 /dev/zero | tr '\0' '[')""#,
    ] {
        let case = fails(
            &format!("start; text half; say {line}; text ' done'; end"),
            "",
            ReasonCode::AgentError,
            &["the agent broke the protocol"],
        );
        assert_eq!(case.trials()[0].answer.as_deref(), Some("half done"), "{line}");
    }
    let invalid_utf8 = "start; text half; printf '{\"jsonrpc\":\"\\377\"}\\n'; end";
    fails(invalid_utf8, "", ReasonCode::AgentError, &["a line is not a message: it is not UTF-8"]);
}

#[test]
fn lines_for_people_are_noted() {
    let case = Package::new("echo 'npm warn'; start; say 42; printf '\\377\\n\\n'; text 'done'; end", "").run();
    passed(&case);
    let expected = "the agent wrote 3 lines to its standard output that are not messages; the first: it is not JSON";
    assert!(notes(&case).contains(expected) && notes(&case).contains("npm warn"), "{}", notes(&case));
}

#[test]
fn a_prompt_that_never_ends_is_cancelled_and_what_came_before_is_kept() {
    let said = ["did not answer `session/prompt` within 1 s; it did not end its turn within 2 s of `session/cancel`"];
    let case = fails("start; text half; sleep 100", SHORT, ReasonCode::Timeout, &said);
    assert!(file(&case, "agent/protocol.jsonl").contains("session/cancel"));
    let said = ["after `session/cancel` it ended its turn with `cancelled`"];
    fails("start; text half; hear; text ' more'; end cancelled", SHORT, ReasonCode::Timeout, &said);
    let said = ["it answered `session/cancel` with error 5: stopped"];
    fails("start; text half; hear; refuse 3 '{\"code\":5,\"message\":\"stopped\"}'", SHORT, ReasonCode::Timeout, &said);
}

#[test]
fn an_agent_that_keeps_writing_or_ignores_every_signal_ends() {
    let said = ["it did not end its turn within 2 s"];
    fails("start; text half; while :; do text x; sleep 0.01; done", SHORT, ReasonCode::Timeout, &said);
    fails("trap '' TERM INT; start; text half; while :; do sleep 0.1; done", SHORT, ReasonCode::Timeout, &said);
    let asks = "start; text half; hear; ask p session/request_permission '{\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"c\"},\"options\":[]}'; case $line in *cancelled*) end cancelled;; esac";
    fails(asks, SHORT, ReasonCode::Timeout, &["ended its turn with `cancelled`"]);
}

#[test]
fn a_message_without_a_line_break_counts_once_the_agent_has_ended() {
    let said = ["the last 10 bytes that it wrote have no line break"];
    fails("start; text half; printf '{\"jsonrpc\"'; sleep 100", SHORT, ReasonCode::Timeout, &said);
    let script = "start; text 'done'; printf '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}'";
    passed(&Package::new(script, "").run());
}

#[test]
fn an_agent_without_standard_output_is_an_error() {
    let said = ["the agent closed its standard output, but did not end, before it answered `session/prompt`"];
    fails("start; text half; exec >&-; sleep 100", "", ReasonCode::AgentError, &said);
}

#[test]
fn work_of_another_session_is_not_in_the_transcript() {
    let script = "start; text 'done'; notify session/update '{\"sessionId\":\"s2\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"other\"}}}'; ask f fs/read_text_file '{\"sessionId\":\"s2\",\"path\":\"/x\"}'; end";
    let case = Package::new(script, "").run();
    passed(&case);
    assert!(notes(&case).contains("work of another session, \"s2\""), "{}", notes(&case));
    assert_eq!(case.trials()[0].answer.as_deref(), Some("done"));
}

#[test]
fn another_version_of_the_protocol_and_a_session_without_an_id_are_errors() {
    let script = "hear; answer 1 '{\"protocolVersion\":2}'; hear";
    fails(script, "", ReasonCode::AgentError, &["the agent speaks version 2 of the protocol, not version 1"]);
    fails("hear; answer 1 '{}'; hear", "", ReasonCode::AgentError, &["speaks version null"]);
    let script = "hear; answer 1 '{\"protocolVersion\":1}'; hear; answer 2 '{}'; hear";
    fails(script, "", ReasonCode::AgentError, &["made a session without a `sessionId`"]);
    let script =
        "hear; refuse 1 '{\"code\":-32603,\"message\":\"Internal error\",\"data\":{\"details\":\"no disk\"}}'; hear";
    fails(script, "", ReasonCode::AgentError, &["answered `initialize` with error -32603: Internal error (no disk)"]);
}

#[test]
fn a_flood_of_errors_is_read_and_cut() {
    let script = "start; head -c 30000000 /dev/zero | tr '\\0' e >&2; text 'done'; end";
    let case = Package::new(script, "").run();
    passed(&case);
    assert!(notes(&case).contains("output_truncated"), "{}", notes(&case));
}

#[test]
fn processes_that_an_agent_leaves_behind_end_with_it() {
    let script = "start; sleep 300 & echo $! > child; text 'done'; end";
    let case = Package::new(script, "").run();
    passed(&case);
    let child = file(&case, "diff.patch").lines().find_map(|line| line.strip_prefix('+')?.parse::<u32>().ok()).unwrap();
    // A zombie is not running: init may be slow to reap it.
    let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    // The child has the standard output of an agent that is gone.
    let said = ["the agent ended (exit status: 5) before it answered `session/prompt`"];
    fails("start; text half; sleep 300 & exit 5", "", ReasonCode::AgentError, &said);
}

#[test]
fn an_agent_that_does_not_read_is_no_reason_to_wait() {
    let prompt = "x".repeat(1 << 20);
    let case = with_workspace(json!({"input": {"messages": [{"role": "user", "content": {"text": prompt}}]}}));
    let place = Package::new(
        "hear; answer 1 '{\"protocolVersion\":1}'; hear; answer 2 '{\"sessionId\":\"s1\"}'; sleep 100",
        SHORT,
    );
    let (code, message) = error(&place.run_case(&case));
    assert_eq!(code, ReasonCode::Timeout, "{message}");
}

#[test]
fn an_agent_that_was_cut_off_has_no_answer_to_grade() {
    for reason in ["max_tokens", "max_turn_requests", "cancelled", "bored"] {
        let case = fails(&format!("start; text 'half done'; end {reason}"), "", ReasonCode::AgentError, &[reason]);
        assert_eq!(case.trials()[0].agent_metadata["stop_reason"], json!(reason));
    }
    let case = Package::new("start; text 'done: no'; end refusal", "").run();
    passed(&case);
    assert!(notes(&case).contains("stop reason `refusal`"), "{}", notes(&case));
}
