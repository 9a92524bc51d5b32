//! What a client and a server send arrives as it was sent.

use std::collections::BTreeSet;

use evalsuite_needs::needs;

use super::*;

/// Lines with every kind of message, and lines that are not valid messages.
const LINES: &[&str] = &[
    r#"{ "jsonrpc" : "2.0",   "id":1, "method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}} }"#,
    r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":"two","method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"structured","arguments":{"n":1.0,"big":12345678901234567890123,"a\u0062c":"\ud83d\ude00"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"fail"}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"no/such/method"}"#,
    r#"[{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}},{"jsonrpc":"2.0","id":7,"method":"resources/list"}]"#,
    "this is no JSON",
    "",
    r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"noise"}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"notify"}}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"p"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":10,"reason":"late"}}"#,
];

/// What a server writes to a client that sends these lines.
fn answers(command: &mut Command) -> String {
    let mut client = Client::start(command.stderr(Stdio::piped()));
    let mut errors = client.process.stderr.take().unwrap();
    client.write((LINES.join("\n") + "\r\n").as_bytes());
    let (lines, status) = client.leave();
    assert!(status.success(), "{status}");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut errors, &mut text).unwrap();
    assert_eq!(text, "a line for people\n", "standard error is that of the server");
    String::from_utf8(lines.concat()).unwrap()
}

#[needs(python)]
#[test]
fn messages_pass_byte_for_byte_in_both_directions() {
    let path = server();
    let direct = answers(Command::new("python3").arg(&path).arg("--serial"));
    assert!(direct.lines().count() > 14, "{direct}");
    for settings in [json!({}), json!({"faults": [{"tool": "other", "fault": "error"}]})] {
        let session = Session::new(&settings);
        let proxied = answers(&mut session.proxy(&["python3", path.to_str().unwrap(), "--serial"]));
        assert_eq!(proxied, direct, "{settings}");
        assert_eq!(session.sent("client"), LINES.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
        assert_eq!(session.sent("server").join("\n") + "\n", direct);
    }
    let unrecorded = answers(proxy().arg("--").args(["python3", path.to_str().unwrap(), "--serial"]));
    assert_eq!(unrecorded, direct, "without a session");
}

#[needs(python)]
#[test]
fn requests_of_the_server_reach_the_client() {
    let session = Session::new(&json!({}));
    let mut client = session.test_server(&[]);
    client.call(1, "ask", &json!({}));
    let request = client.message();
    assert_eq!((&request["method"], &request["id"]), (&json!("sampling/createMessage"), &json!("s1")));
    client.send(&json!({"jsonrpc": "2.0", "id": "s1", "result": {"role": "assistant", "model": "m"}}));
    let answer = client.message();
    assert_eq!(answer["result"]["content"][0]["text"], json!(r#"{"role": "assistant", "model": "m"}"#));
    assert!(client.leave().1.success());
}

#[needs(python)]
#[test]
fn ten_thousand_calls_at_64_at_a_time_are_answered_and_recorded() {
    const CALLS: u64 = 10_000;
    for settings in [json!({}), json!({"faults": [{"tool": "other", "fault": "error"}]})] {
        let session = Session::new(&settings);
        let mut client = session.test_server(&["--serial"]);
        let (mut next, mut open) = (0, BTreeSet::new());
        let mut answered = 0;
        while answered < CALLS {
            while open.len() < 64 && next < CALLS {
                client.call(next, "echo", &json!({"text": format!("text of {next}")}));
                open.insert(next);
                next += 1;
            }
            let message = client.message();
            let id = message["id"].as_u64().unwrap();
            assert!(open.remove(&id), "call {id} is answered twice");
            assert_eq!(message["result"]["content"][0]["text"], json!(format!("text of {id}")));
            answered += 1;
        }
        let (rest, status) = client.leave();
        assert!(rest.is_empty() && status.success());
        for from in ["client", "server"] {
            let ids: BTreeSet<u64> = session
                .sent(from)
                .iter()
                .map(|text| from_str::<Value>(text).unwrap()["id"].as_u64().unwrap())
                .collect();
            assert!(ids.into_iter().eq(0..CALLS), "{from}");
        }
    }
}

#[needs(python)]
#[test]
fn a_huge_message_passes_whole_and_is_recorded_in_part() {
    for settings in [json!({}), json!({"faults": [{"tool": "other", "fault": "error"}]})] {
        let session = Session::new(&settings);
        let mut client = session.test_server(&["--serial"]);
        let huge = "x".repeat(9 << 20);
        let reader = &mut client;
        assert_eq!(reader.text(1, "echo", &json!({"text": huge})).len(), huge.len());
        assert_eq!(reader.text(2, "echo", &json!({"text": "small"})), "small");
        assert!(client.leave().1.success());
        let cut: Vec<(String, u64, usize)> = session
            .trace()
            .into_iter()
            .filter_map(|(from, message)| Some((from, message.get("cut")?.as_u64()?, message["text"].as_str()?.len())))
            .collect();
        let senders: Vec<&str> = cut.iter().map(|(from, ..)| from.as_str()).collect();
        assert_eq!(senders, ["client", "server"]);
        assert!(cut.iter().all(|(_, length, kept)| *length > 9 << 20 && *kept == 8 << 20), "{cut:?}");
    }
}
