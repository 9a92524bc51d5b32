//! Answers from a recording.

use super::*;

fn exchange(method: &str, params: &Value, result: &Value) -> Value {
    json!({"method": method, "params": params, "result": result})
}

fn call(tool: &str, arguments: &Value, text: &str) -> Value {
    let result = json!({"content": [{"type": "text", "text": text}]});
    exchange("tools/call", &json!({"name": tool, "arguments": arguments}), &result)
}

/// A session with a recording of the server `test`.
fn recorded(exchanges: &[Value], settings: &Value) -> Session {
    let mut all = json!({"replay": true});
    for (key, value) in settings.as_object().unwrap() {
        all[key.as_str()] = value.clone();
    }
    let session = Session::new(&all);
    let recording = json!({"schema": "evalsuite.mcp_calls/1", "suite": "s", "case_id": "c", "target": "t", "trial": 0,
        "servers": {"test": {"exchanges": exchanges}}});
    fs::write(session.path().join("recording.json"), recording.to_string()).unwrap();
    session
}

/// A client of the replayed server. Its command does not exist: no server is started.
fn client(session: &Session) -> Client {
    Client::start(&mut session.proxy(&["no-such-server-program"]))
}

#[test]
fn calls_are_matched_by_tool_and_arguments_and_repeats_are_in_order() {
    let session = recorded(
        &[
            exchange(
                "initialize",
                &json!({"protocolVersion": "2024-11-05"}),
                &json!({"protocolVersion": "2024-11-05"}),
            ),
            exchange("tools/list", &json!({}), &json!({"tools": []})),
            call("read", &json!({"path": "a", "n": 1}), "first"),
            call("read", &json!({"path": "b"}), "other"),
            call("read", &json!({"n": 1.0, "path": "a"}), "second"),
            call("now", &json!({}), "noon"),
        ],
        &json!({}),
    );
    let mut client = client(&session);
    client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "clientInfo": {}}}));
    assert_eq!(client.message()["result"]["protocolVersion"], json!("2024-11-05"));
    for id in 1..4 {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
        assert_eq!(
            client.message(),
            json!({"jsonrpc": "2.0", "id": id, "result": {"tools": []}}),
            "may be asked for again"
        );
    }
    client.send(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    assert_eq!(client.message()["result"], json!({}));
    assert_eq!(client.text(5, "read", &json!({"path": "b"})), "other");
    assert_eq!(client.text(6, "read", &json!({"n": 1, "path": "a"})), "first");
    // Another connection in the same trial continues.
    client.leave();
    let mut client = self::client(&session);
    assert_eq!(client.text(7, "read", &json!({"path": "a", "n": 1})), "second");
    client.send(&json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "now"}}));
    assert_eq!(
        client.message()["result"]["content"][0]["text"],
        json!("noon"),
        "no arguments are those of an empty object"
    );
    client.call(9, "read", &json!({"path": "a", "n": 1}));
    let error = client.message()["error"].clone();
    let expected = "call of `read` of the MCP server `test` is in the recording only 2 times";
    assert_eq!(error, json!({"code": -32001, "message": expected}));
    assert!(client.leave().1.success());
}

#[test]
fn a_request_that_is_not_recorded_is_an_error_with_the_nearest_one() {
    let session = recorded(&[call("read", &json!({"path": "a"}), "first")], &json!({}));
    let mut client = client(&session);
    client.call(1, "read", &json!({"path": "b"}));
    let message = client.message()["error"]["message"].clone();
    let expected = "call of `read` of the MCP server `test` is not in the recording; the nearest recorded one differs at `/path`: expected \
                    `\"a\"`, got `\"b\"`";
    assert_eq!(message, json!(expected));
    client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "x"}}));
    assert!(client.message()["error"]["message"].as_str().unwrap().starts_with("request `resources/read`"));
    client.leave();
    let unknown: Vec<Value> =
        session.trace().into_iter().filter(|(kind, _)| kind == "unknown").map(|(_, text)| text).collect();
    assert_eq!((unknown.len(), &unknown[0]), (2, &json!(expected)));
}

#[test]
fn notifications_come_where_they_came_and_progress_has_the_token_of_the_call() {
    let mut recorded_call = call("build", &json!({}), "built");
    recorded_call["notifications"] = json!([{"method": "notifications/progress", "params": {"progress": 1}}, {"method": "notifications/message", "params": {"data": "x"}}]);
    recorded_call["then"] = json!([{"method": "notifications/tools/list_changed"}]);
    let session = recorded(&[recorded_call], &json!({}));
    let mut client = client(&session);
    client.call(41, "build", &json!({}));
    let methods =
        |message: Value| message.get("method").map_or_else(|| message["id"].to_string(), |method| method.to_string());
    let first = client.message();
    assert_eq!(first["params"], json!({"progress": 1, "progressToken": 41}));
    let rest: Vec<String> = (0..3).map(|_| methods(client.message())).collect();
    assert_eq!(rest, ["\"notifications/message\"", "41", "\"notifications/tools/list_changed\""]);
    client.leave();
}

#[test]
fn batches_and_faults_work_without_a_server() {
    let faults =
        json!({"faults": [{"tool": "read", "fault": "garbled", "calls": [1]}, {"tool": "write", "fault": "error"}]});
    let session = recorded(&[call("read", &json!({}), "twelve parts"), call("read", &json!({}), "whole")], &faults);
    let mut client = client(&session);
    assert_eq!(client.text(1, "read", &json!({})), "tw\u{fffd}lv\u{fffd}");
    assert_eq!(client.text(2, "write", &json!({})), "the tool failed", "also of a call that is not recorded");
    let ask = |id: u64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "read"}});
    client.send(
        &json!([ask(3, "ping"), ask(4, "tools/call"), {"jsonrpc": "2.0", "method": "notifications/initialized"}]),
    );
    let answers = client.message();
    assert_eq!(answers[0], json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert_eq!(answers[1]["result"]["content"][0]["text"], json!("whole"));
    client.leave();
}

#[test]
fn a_later_client_learns_that_the_recorded_server_speaks_an_earlier_protocol() {
    let handshake = exchange("initialize", &json!({}), &json!({"protocolVersion": "2025-11-25"}));
    let session = recorded(&[handshake], &json!({}));
    let mut client = client(&session);
    client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": {}}}));
    assert_eq!(client.message()["error"]["code"], json!(-32601));
    client.leave();
    assert!(session.trace().iter().all(|(kind, _)| kind != "unknown"), "{:?}", session.trace());
}

#[test]
fn a_server_that_was_not_recorded_is_named() {
    let session = recorded(&[], &json!({}));
    let mut other = proxy();
    other.arg("--session").arg(session.path()).args(["--server", "news", "--", "no-such-server-program"]);
    let mut client = Client::start(&mut other);
    client.call(1, "read", &json!({}));
    let message = client.message()["error"]["message"].clone();
    assert_eq!(message, json!("the server `news` is not in the recording, which has `test`"));
    client.leave();
}
