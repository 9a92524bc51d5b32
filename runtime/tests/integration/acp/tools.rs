//! What agents do in a turn: messages, tool calls, files and permissions.

use evalsuite::Usage;
use evalsuite_schema::json::{Value, json};

use super::{Package, error, file, notes, passed, with_workspace};

fn trajectory(case: &evalsuite::CaseReport) -> Value {
    evalsuite_schema::json::from_str(&file(case, "trajectory.json")).unwrap()
}

#[test]
fn the_work_of_a_turn_is_the_transcript() {
    let script = r#"
start '{"protocolVersion":1,"agentInfo":{"name":"script","version":"1.2"}}'
update '{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"let me "}}'
update '{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"look"}}'
text 'I '; text 'read.'
update '{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Reading note.txt","kind":"read","status":"pending","rawInput":{"path":"note.txt"},"locations":[{"path":"/w/note.txt","line":2}]}'
update '{"sessionUpdate":"plan","entries":[{"content":"read","priority":"high","status":"completed"}]}'
update '{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"1 2 3"}}]}'
update '{"sessionUpdate":"tool_call","toolCallId":"c2","title":"deploy","name":"deploy_tool","rawInput":{}}'
update '{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed","rawOutput":{"error":"no"}}'
update '{"sessionUpdate":"usage_update","used":120,"size":1000,"cost":{"amount":0.25,"currency":"USD"}}'
text 'all done'
answer 3 '{"stopReason":"end_turn","usage":{"inputTokens":100,"outputTokens":20,"totalTokens":120}}'
hear
"#;
    let case = Package::new(script, "").run();
    passed(&case);
    let trial = &case.trials()[0];
    assert_eq!((trial.agent.as_str(), trial.answer.as_deref()), ("acp:default", Some("all done")));
    assert_eq!((trial.usage, trial.cost_usd), (Some(Usage::new(100, 20)), Some(0.25)));
    assert_eq!(trial.agent_metadata["agent"], json!({"name": "script", "version": "1.2"}));
    let written = trajectory(&case).to_string();
    for part in [
        "let me look",
        "I read.",
        "\"function_name\":\"read\"",
        "note.txt",
        "1 2 3",
        "deploy_tool",
        "\"locations\":[{\"path\":\"/w/note.txt\",\"line\":2}]",
        "\"plans\":",
    ] {
        assert!(written.contains(part), "{part} is not in {written}");
    }
}

#[test]
fn files_go_through_the_workspace_and_nowhere_else() {
    let script = r#"
start
ask r fs/read_text_file "{\"sessionId\":\"s1\",\"path\":\"$PWD/note.txt\",\"line\":2,\"limit\":1}"
case $line in *'"content":"2\n"'*) text 'read ';; esac
ask w fs/write_text_file "{\"sessionId\":\"s1\",\"path\":\"$PWD/d/new.txt\",\"content\":\"new\"}"
case $line in *'"result":null'*) text 'wrote ';; esac
ask o fs/read_text_file '{"sessionId":"s1","path":"/etc/passwd"}'
case $line in *'"error"'*outside*) text 'refused ';; esac
ask p fs/write_text_file "{\"sessionId\":\"s1\",\"path\":\"$PWD/../escaped\",\"content\":\"x\"}"
case $line in *'"error"'*outside*) text 'refused ';; esac
ask m fs/read_text_file "{\"sessionId\":\"s1\",\"path\":\"$PWD/gone\"}"
case $line in *'-32002'*) text 'missing ';; esac
text 'done'; end
"#;
    let case = Package::new(script, "").run();
    passed(&case);
    let trial = &case.trials()[0];
    assert_eq!(trial.answer.as_deref(), Some("read wrote refused refused missing done"));
    assert!(notes(&case).contains("refused to read a file: /etc/passwd is outside"), "{}", notes(&case));
    let files = trial.agent_metadata["files"].as_array().unwrap();
    assert_eq!(files.len(), 5, "{files:?}");
    assert!(files[2]["refused"].as_str().unwrap().contains("outside of the session's directory"));
    assert_eq!(trial.workspace.as_ref().unwrap().created, ["d/new.txt"]);
}

#[test]
fn a_sealed_agent_does_not_read_the_suite() {
    let script = r#"
start
if grep -q . "$EVALSUITE_SUITE_DIR/$(echo secret).txt"; then text 'leaked '; fi
text 'done'; end
"#;
    let place = Package::new(script, "    sealed: auto\n");
    std::fs::write(place.path().join("suites/x/secret.txt"), "secret\n").unwrap();
    let case = place.run();
    passed(&case);
    let trial = &case.trials()[0];
    let seal = trial.sealed.as_ref().expect("an agent that is to be sealed has a record of it");
    assert_eq!(trial.answer.as_deref() == Some("done"), seal.is_sealed(), "{seal:?}");
}

#[test]
fn an_agent_that_is_not_offered_files_has_its_own_tools_only() {
    let script = r#"
hear
case $line in *'"readTextFile":false,"writeTextFile":false'*) ;; *) exit 9 ;; esac
answer 1 '{"protocolVersion":1}'; hear; answer 2 '{"sessionId":"s1"}'; hear
ask r fs/read_text_file "{\"sessionId\":\"s1\",\"path\":\"$PWD/note.txt\"}"
case $line in *-32601*) text 'done' ;; esac
end
"#;
    let case = Package::new(script, "    client_files: false\n").run();
    passed(&case);
    assert!(notes(&case).contains("`fs/read_text_file`, which evalsuite does not offer"), "{}", notes(&case));
}

fn asking(options: &str) -> String {
    format!(
        r#"
start
ask p session/request_permission '{{"sessionId":"s1","toolCall":{{"toolCallId":"c1","title":"rm -r build","kind":"execute","rawInput":{{"command":"rm -r build"}}}},"options":[{options}]}}'
case $line in *yes*) text 'allowed ';; *no*) text 'denied ';; *cancelled*) text 'cancelled ';; esac
text 'done'; end
"#
    )
}

#[test]
fn permissions_are_what_the_target_says() {
    let options =
        r#"{"optionId":"no","name":"No","kind":"reject_once"},{"optionId":"yes","name":"Yes","kind":"allow_once"}"#;
    for (keys, expected) in [
        ("", "allowed done"),
        ("    permissions: deny\n", "denied done"),
        ("    permissions: [{ kind: execute, title: 'rm *', decision: allow }]\n", "allowed done"),
        ("    permissions: [{ kind: read, decision: allow }]\n", "denied done"),
    ] {
        let case = Package::new(&asking(options), keys).run();
        passed(&case);
        assert_eq!(case.trials()[0].answer.as_deref(), Some(expected), "{keys}");
        let word = if expected.starts_with("allowed") { "allow" } else { "deny" };
        assert!(trajectory(&case).to_string().contains(&format!("\"permission\":\"{word}\"")), "{}", *case);
        assert!(file(&case, "log.txt").contains(&format!("permission: {word}: execute rm -r build")));
    }
}

#[test]
fn a_request_without_an_option_that_is_understood_is_cancelled() {
    for options in ["", r#"{"optionId":"yes","name":"Yes","kind":"allow_perhaps"}"#] {
        let case = Package::new(&asking(options), "").run();
        passed(&case);
        assert_eq!(case.trials()[0].answer.as_deref(), Some("cancelled done"));
        assert!(notes(&case).contains("without an option that the client knows to allow"), "{}", notes(&case));
    }
}

#[test]
fn an_agent_that_wants_authentication_gets_the_method_that_the_target_names() {
    let methods =
        r#"{"protocolVersion":1,"authMethods":[{"id":"key","name":"API key"},{"id":"login","name":"Log in"}]}"#;
    let script = format!(
        r#"
hear; answer 1 '{methods}'; hear
case $line in
  *authenticate*key*) answer 2 '{{}}'; hear; answer 3 '{{"sessionId":"s1"}}'; hear; text 'done'; end end_turn 4 ;;
  *) refuse 2 '{{"code":-32000,"message":"Authentication required"}}'; hear ;;
esac
"#
    );
    passed(&Package::new(&script, "    authenticate: key\n").run());
    let (_, message) = error(&Package::new(&script, "").run());
    for part in [
        "asks for authentication (error -32000: Authentication required); it offers `key` and `login`",
        "help: name one as `authenticate`",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let (_, message) = error(&Package::new(&script, "    authenticate: oauth\n").run());
    assert!(message.contains("no authentication method `oauth`; it offers `key` and `login`"), "{message}");
    // An agent that is logged in offers methods, too.
    let logged_in = format!("start '{methods}'; text 'done'; end");
    passed(&Package::new(&logged_in, "").run());
}

#[test]
fn the_session_is_in_the_directory_of_the_trial() {
    let script = r#"
hear
case $line in *'"protocolVersion":1'*'"readTextFile":true'*) ;; *) exit 9 ;; esac
answer 1 '{"protocolVersion":1}'; hear
case $line in *"\"cwd\":\"$PWD\""*'"mcpServers":[]'*) ;; *) exit 9 ;; esac
answer 2 '{"sessionId":"s1"}'; hear
case $line in *'"type":"text","text":"say hello"'*) text "done by $NAME for $EVALSUITE_CASE_ID";; esac
end
"#;
    let case = Package::new(script, "    env: { NAME: acp }\n").run_case(&with_workspace(json!({})));
    passed(&case);
    assert_eq!(case.trials()[0].answer.as_deref(), Some("done by acp for a"));
}

#[test]
fn no_case_is_judged_by_such_an_agent_and_no_placeholder_is_filled() {
    let place = Package::new("exit", "");
    let targets = "targets:\n  - { name: default, provider: acp, command: 'agent {PROMPT}' }\n";
    std::fs::write(place.path().join("targets.yaml"), targets).unwrap();
    let case = place.run();
    let message = &case.record().reason.as_ref().unwrap().message;
    assert!(
        message.contains("E072") && message.contains("`{PROMPT}` is not replaced in the command of an ACP agent"),
        "{message}"
    );
}
