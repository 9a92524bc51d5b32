//! The agent against an OpenAI-compatible endpoint on the loopback interface.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use card_agent::{CardAgent, Desk, Note, Observer, OpenAiModel, ToolCall, ToolResult, Usage};
use serde_json::{Value, json};

/// A request that the endpoint received.
struct Request {
    line: String,
    authorization: Option<String>,
    body: Value,
}

/// Serves `answers`, each a status and a body, one per request.
fn serve(answers: Vec<(&'static str, String)>) -> (SocketAddr, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let (mut length, mut authorization, mut header) = (0, None, String::new());
            while reader.read_line(&mut header).unwrap() > 2 {
                let (name, value) = header.split_once(':').unwrap();
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.trim().parse().unwrap(),
                    "authorization" => authorization = Some(value.trim().to_owned()),
                    _ => {}
                }
                header.clear();
            }
            let mut request = vec![0; length];
            reader.read_exact(&mut request).unwrap();
            let request = serde_json::from_slice(&request).unwrap();
            sender.send(Request { line: line.trim().to_owned(), authorization, body: request }).unwrap();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    (address, receiver)
}

/// Records tool calls and usage.
#[derive(Default)]
struct CallLog {
    calls: Vec<(String, bool)>,
    usage: Usage,
}

impl Observer for CallLog {
    fn on_tool_call(&mut self, call: &ToolCall, result: &ToolResult, _took: std::time::Duration) {
        self.calls.push((call.name.clone(), result.is_ok()));
    }

    fn on_usage(&mut self, usage: Usage) {
        self.usage += usage;
    }
}

fn run(address: SocketAddr, root: &std::path::Path, log: &mut CallLog) -> Result<String, String> {
    let model = OpenAiModel::new(format!("http://{address}/v1/"), "tiny", Some("key-1".to_owned()));
    let note = Note::new("Dentist on Wednesday", "2026-01-12".parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let desk = Desk::open(root).unwrap();
    runtime.block_on(CardAgent::new(model).run(&note, &desk, log)).map_err(|error| {
        let source = error.source().map(ToString::to_string).unwrap_or_default();
        format!("{error}: {source}")
    })
}

fn completion_with_calls(calls: Value) -> String {
    json!({
        "choices": [{ "message": { "role": "assistant", "content": null, "tool_calls": calls }, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": { "cached_tokens": 20 } }
    })
    .to_string()
}

fn completion_with_text(text: &str) -> String {
    json!({ "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }] }).to_string()
}

#[test]
fn the_agent_runs_the_tools_that_the_endpoint_calls() {
    let arguments = json!({ "path": "cards/dentist.json", "content": "{}" }).to_string();
    let (address, requests) = serve(vec![
        (
            "200 OK",
            completion_with_calls(json!([
                { "id": "a", "type": "function", "function": { "name": "write_file", "arguments": arguments } },
                { "id": "b", "type": "function", "function": { "name": "read_file", "arguments": "{\"path\": \"../x\"}" } }
            ])),
        ),
        ("200 OK", completion_with_text("Saved.")),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let mut log = CallLog::default();
    assert_eq!(run(address, dir.path(), &mut log).as_deref(), Ok("Saved."));
    assert_eq!(std::fs::read_to_string(dir.path().join("cards/dentist.json")).unwrap(), "{}");
    assert_eq!(log.calls, [("write_file".to_owned(), true), ("read_file".to_owned(), false)]);
    assert_eq!(log.usage, Usage { input: 30, output: 5, cached: 20 });

    let first = requests.recv().unwrap();
    assert_eq!(first.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(first.authorization.as_deref(), Some("Bearer key-1"));
    assert_eq!(first.body["model"], "tiny");
    assert_eq!(first.body["messages"][0]["role"], "system");
    assert_eq!(
        first.body["messages"][1],
        json!({ "role": "user", "content": "<note>\nDentist on Wednesday\n</note>" })
    );
    let tools: Vec<&Value> =
        first.body["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(tools, ["list_files", "read_file", "write_file", "append_file"]);
    assert_eq!(first.body["tools"][1]["type"], "function");
    assert_eq!(first.body["tools"][1]["function"]["parameters"]["required"], json!(["path"]));

    let second = requests.recv().unwrap();
    let assistant = &second.body["messages"][2];
    assert_eq!(assistant["tool_calls"][0]["function"], json!({ "name": "write_file", "arguments": arguments }));
    let results = [&second.body["messages"][3], &second.body["messages"][4]];
    assert_eq!(results[0], &json!({ "role": "tool", "tool_call_id": "a", "content": "wrote cards/dentist.json" }));
    assert_eq!(results[1]["content"], "error: `../x` is outside the workspace");
}

#[test]
fn the_message_of_an_http_error_is_reported() {
    let (address, _requests) =
        serve(vec![("429 Too Many Requests", r#"{"error": {"message": "slow down"}}"#.to_owned())]);
    let dir = tempfile::tempdir().unwrap();
    let error = run(address, dir.path(), &mut CallLog::default()).unwrap_err();
    assert!(error.contains("/v1/chat/completions answered 429 Too Many Requests"), "{error}");
    assert!(error.contains("slow down"), "{error}");
    assert!(!error.contains("key-1"), "{error}");
}

#[test]
fn an_invalid_completion_is_an_error() {
    for (body, expected) in [
        ("<html>".to_owned(), "is not a chat completion"),
        (json!({ "choices": [] }).to_string(), "has no choices"),
        (completion_with_text(" "), "neither answered nor called a tool"),
    ] {
        let (address, _requests) = serve(vec![("200 OK", body)]);
        let dir = tempfile::tempdir().unwrap();
        let error = run(address, dir.path(), &mut CallLog::default()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn an_unreachable_endpoint_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let dir = tempfile::tempdir().unwrap();
    let error = run(address, dir.path(), &mut CallLog::default()).unwrap_err();
    assert!(error.contains("cannot reach http://127.0.0.1:"), "{error}");
}

#[test]
fn a_model_that_never_finishes_is_stopped() {
    let again = || {
        completion_with_calls(
            json!([{ "id": "a", "type": "function", "function": { "name": "list_files", "arguments": "" } }]),
        )
    };
    let (address, _requests) = serve((0..16).map(|_| ("200 OK", again())).collect());
    let dir = tempfile::tempdir().unwrap();
    let error = run(address, dir.path(), &mut CallLog::default()).unwrap_err();
    assert!(error.contains("did not finish within 16 completions"), "{error}");
}
