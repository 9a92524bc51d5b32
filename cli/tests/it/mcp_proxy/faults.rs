//! Calls that are made to fail.

use evalsuite_needs::needs;

use super::*;

fn with(faults: &Value) -> Session {
    Session::new(&json!({ "faults": faults }))
}

#[needs(python)]
#[test]
fn each_fault_is_what_a_broken_tool_does() {
    let session = with(&json!([
        {"tool": "echo", "fault": "error", "calls": [1], "message": "disk full"},
        {"tool": "ec*", "fault": "garbled", "calls": [2]},
        {"tool": "echo", "fault": "timeout", "calls": [3]},
        {"tool": "echo", "fault": "slow", "calls": [4], "after_ms": 300},
        {"server": "other", "tool": "echo", "fault": "timeout"},
    ]));
    let mut client = session.test_server(&["--serial"]);
    client.call(1, "echo", &json!({"text": "one"}));
    let failed = json!({"content": [{"type": "text", "text": "disk full"}], "isError": true});
    assert_eq!(client.message()["result"], failed);
    assert_eq!(client.text(2, "echo", &json!({"text": "twelve parts"})), "tw\u{fffd}lv\u{fffd}");
    client.call(3, "echo", &json!({"text": "never"}));
    let began = Instant::now();
    client.call(4, "echo", &json!({"text": "late"}));
    assert_eq!(client.text(5, "echo", &json!({"text": "in time"})), "in time", "others do not wait for a slow call");
    let late = client.message();
    assert_eq!(late["result"]["content"][0]["text"], json!("late"));
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert!(client.leave().1.success());

    let server_got: Vec<String> = session.sent("server");
    assert_eq!(server_got.len(), 3, "neither the error nor the timeout reached the server: {server_got:?}");
    let faults: Vec<(String, u64)> = session
        .trace()
        .into_iter()
        .filter(|(kind, _)| kind == "fault")
        .map(|(_, fault)| (fault["fault"].as_str().unwrap().to_owned(), fault["call"].as_u64().unwrap()))
        .collect();
    let expected = [("error", 1), ("garbled", 2), ("timeout", 3), ("slow", 4)];
    assert_eq!(faults, expected.map(|(fault, call)| (fault.to_owned(), call)));
}

#[needs(python)]
#[test]
fn calls_are_counted_over_all_proxies_of_a_trial() {
    let session = with(&json!([{"tool": "echo", "fault": "error", "calls": [2]}]));
    let mut texts = Vec::new();
    for id in 0..3 {
        let mut client = session.test_server(&["--serial"]);
        texts.push(client.text(id, "echo", &json!({"text": "fine"})));
        client.leave();
    }
    assert_eq!(texts, ["fine", "the tool failed", "fine"]);
}

#[needs(python)]
#[test]
fn a_batch_loses_only_its_call_with_a_fault() {
    let session = with(&json!([{"tool": "fail", "fault": "timeout"}]));
    let mut client = session.test_server(&["--serial"]);
    let call =
        |id: u64, tool: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}});
    client.send(&json!([call(1, "echo"), call(2, "fail"), call(3, "structured")]));
    let answers = client.message();
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(3)]);
    assert!(client.leave().1.success());
}
