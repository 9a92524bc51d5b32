//! Input that no client should send, and how the server ends.

use evalsuite_schema::json::{Value, json};

use super::client::Client;
use super::suites::{self, REFUND};

const CASE: &str = "suites/shop/cases/refund/case.yaml";

fn error_code(response: &Value) -> i64 {
    response["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {response}"))
}

#[test]
fn the_order_of_the_protocol_is_required() {
    let package = suites::cases();
    let mut client = Client::start(package.root(), &[]);
    assert_eq!(error_code(&client.request("textDocument/hover", json!({}))), -32002);
    assert_eq!(error_code(&client.request("initialize", json!({ "capabilities": 5 }))), -32602);
    client.notify("textDocument/didOpen", json!({}));
    client.request("initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} }));
    assert_eq!(error_code(&client.request("initialize", json!({}))), -32600);
    assert_eq!(client.request("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(error_code(&client.request("textDocument/hover", json!({}))), -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.wait(), (0, String::new()));
}

#[test]
fn the_exit_code_says_how_it_ended() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    client.notify("exit", Value::Null);
    assert_eq!(client.wait().0, 1, "without `shutdown`");
    let (code, error) = Client::open(package.root(), json!({})).end();
    assert_eq!((code, error.as_str()), (2, "error: the input of the language server: it ended without `exit`\n"));
    let mut client = Client::start(package.root(), &[]);
    client.send_bytes(b"GET / HTTP/1.1\r\n\r\n");
    let (code, error) = client.wait();
    assert_eq!(code, 2);
    assert!(error.starts_with("error: the input of the language server: not a header of a message"), "{error}");
}

#[test]
fn what_is_not_json_rpc_is_answered_and_skipped() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    for body in ["{", "null", "[1]", "{\"id\": {}}", "{\"method\": 5}", "\"\u{1f600}\""] {
        client.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let reply = loop {
            let message = client.receive().expect("a reply");
            if message.get("error").is_some() {
                break message;
            }
        };
        assert_eq!((error_code(&reply), &reply["id"]), (-32700, &Value::Null), "{body}");
    }
    let huge = 65 << 20;
    client.send_bytes(format!("Content-Length: {huge}\r\n\r\n").as_bytes());
    client.send_bytes(&vec![b' '; huge]);
    client.send_bytes(b"Content-Length: 38\r\nX: y\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"unknown/x\"}");
    assert_eq!(error_code(&client.request("unknown/method", json!([1]))), -32601);
    assert_eq!(error_code(&client.request("textDocument/hover", json!({ "position": -1 }))), -32602);
    client.notify("textDocument/didChange", json!({ "textDocument": 7 }));
    client.notify("$/cancelRequest", json!({ "id": 1 }));
    client.synchronize();
    assert_eq!(client.take("window/logMessage").len(), 1, "the notification is logged");
    client.shut_down();
}

#[test]
fn positions_and_files_that_do_not_exist_have_empty_answers() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    client.open_file(CASE, REFUND);
    let far = json!({ "line": 4_000_000_000_u32, "character": 4_000_000_000_u32 });
    let long = json!({ "line": 0, "character": 9999 });
    let methods = ["completion", "hover", "definition", "prepareRename", "codeLens", "rename", "codeAction"];
    let uris = [client.uri(CASE), client.uri("missing.yaml"), client.uri("suites"), "untitled:x".into(), "%%%".into()];
    for uri in &uris {
        for method in methods {
            for position in [&far, &long] {
                let params = json!({
                    "textDocument": { "uri": uri }, "position": position, "newName": "x",
                    "range": { "start": position, "end": { "line": 0, "character": 0 } },
                    "context": { "diagnostics": [], "triggerKind": 1 },
                });
                let response = client.request(&format!("textDocument/{method}"), params);
                assert!(
                    response.get("result").is_some() || error_code(&response) == -32803,
                    "{uri} {method}: {response}"
                );
            }
        }
        client.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": 9 },
                "contentChanges": [{ "range": { "start": far, "end": long }, "text": "\u{0}" }, { "text": REFUND }],
            }),
        );
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    client.synchronize();
    client.shut_down();
}

#[test]
fn every_beginning_of_a_file_is_answered() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    client.open_file(CASE, "");
    for (end, _) in REFUND.char_indices() {
        let text = &REFUND[..end];
        client.change(CASE, i64::try_from(end).expect("a small number") + 2, text);
        let line = text.matches('\n').count();
        let character = text.rsplit('\n').next().unwrap_or_default().len();
        for method in ["completion", "hover", "definition"] {
            let params = json!({ "textDocument": { "uri": client.uri(CASE) }, "position": { "line": line, "character": character } });
            assert!(client.request(&format!("textDocument/{method}"), params).get("error").is_none());
        }
    }
    client.shut_down();
}
