//! The proxy between a client and a service that are plain sockets, so that every byte is known.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use evalsuite::tooling::{BeginTrial, BegunTrial, EndTrial, EndedCalls, ModelCallServer};
use evalsuite_schema::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

const KEY: &str = "sk-4711-of-the-test";

/// An answer with a length.
fn whole(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// A service that answers each request on its connection with the next bytes, and what it was sent. It then closes the connection.
fn service(answers: Vec<Vec<Vec<u8>>>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    thread::spawn(move || {
        for parts in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (head, length) = read_head(&mut reader);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            sender.send(head + &String::from_utf8_lossy(&body)).unwrap();
            for part in parts {
                if stream.write_all(&part).is_err() {
                    break;
                }
                thread::sleep(Duration::from_millis(30));
            }
        }
    });
    (url, requests)
}

fn read_head(reader: &mut impl BufRead) -> (String, usize) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    (head, length.map_or(0, |length| length.parse().unwrap()))
}

/// A proxy with one base URL.
struct Proxied(ModelCalls);

impl Proxied {
    fn record(url: &str) -> Self {
        Self::new(CallsMode::Recorded, url, false)
    }

    fn replay() -> Self {
        Self::new(CallsMode::Replayed, "http://127.0.0.1:9/other", false)
    }

    fn new(calls: CallsMode, url: &str, is_paced: bool) -> Self {
        Self(ModelCalls::serve(calls, vec![BaseUrl::parse("MODEL_URL", url).unwrap()], is_paced).unwrap())
    }

    /// The base URL for clients, without its scheme.
    fn base(&self) -> &str {
        &self.0.variables["MODEL_URL"]["http://".len()..]
    }

    fn send(&self, head: &str, body: &[u8]) -> TcpStream {
        let (address, base) = self.base().split_once('/').unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let (method, rest) = head.split_once(' ').unwrap();
        let (path, headers) = rest.split_once('\n').unwrap_or((rest, ""));
        let headers: String = headers.lines().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} /{base}{path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        stream
    }

    /// The response to a request: its head, and the chunks of its body.
    fn call(&self, head: &str, body: &[u8]) -> (String, Vec<Vec<u8>>) {
        let mut reader = BufReader::new(self.send(head, body));
        let (head, length) = read_head(&mut reader);
        if !head.contains("transfer-encoding: chunked") {
            let mut body = vec![0; length];
            let whole = reader.read_exact(&mut body).is_ok();
            return (head, if whole { vec![body] } else { Vec::new() });
        }
        let mut chunks = Vec::new();
        loop {
            let mut line = String::new();
            let _ = reader.read_line(&mut line);
            // Of a response that is cut, the last chunk is missing.
            let Ok(length) = usize::from_str_radix(line.trim(), 16) else { return (head + "CUT", chunks) };
            let mut chunk = vec![0; length + 2];
            reader.read_exact(&mut chunk).unwrap();
            if length == 0 {
                return (head, chunks);
            }
            chunk.truncate(length);
            chunks.push(chunk);
        }
    }

    fn begin(&self, file: &Path) -> Result<Turn, String> {
        let server: ModelCallServer = self.0.variables[MODEL_CALLS].parse().unwrap();
        let mut turn = Turn(BufReader::new(TcpStream::connect(server.address).unwrap()));
        let trial = BeginTrial { file: file.to_owned(), test: "shop::refund".into(), ..BeginTrial::default() };
        let begun: BegunTrial = turn.ask(&trial);
        begun.problem.map_or(Ok(turn), Err)
    }
}

struct Turn(BufReader<TcpStream>);

impl Turn {
    fn ask<T: DeserializeOwned>(&mut self, message: &impl Serialize) -> T {
        writeln!(self.0.get_mut(), "{}", serde_json::to_string(message).unwrap()).unwrap();
        let mut reply = String::new();
        self.0.read_line(&mut reply).unwrap();
        serde_json::from_str(&reply).unwrap()
    }

    fn end(mut self, is_complete: bool) -> EndedCalls {
        self.ask(&EndTrial { is_complete })
    }
}

fn recording_file() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("shop/refund/trial-000.calls.json");
    (directory, file)
}

/// Records one call, then replays it without the service. Both responses, what the service was sent, and the recording.
fn recorded_and_replayed(answer: Vec<Vec<u8>>, head: &str, body: &[u8]) -> [String; 2] {
    let (_directory, file) = recording_file();
    let (url, requests) = service(vec![answer]);
    let proxied = Proxied::record(&url);
    let turn = proxied.begin(&file).unwrap();
    let recorded = proxied.call(head, body);
    assert_eq!(turn.end(true), EndedCalls::default());
    let replayer = Proxied::replay();
    let turn = replayer.begin(&file).unwrap();
    let replayed = replayer.call(head, body);
    assert_eq!(turn.end(true), EndedCalls::default());
    assert_eq!(recorded.1, replayed.1, "the body has the same bytes in the same parts");
    assert_eq!(recorded.0.lines().next(), replayed.0.lines().next(), "the status is the same");
    assert_eq!(recorded.0.ends_with("CUT"), replayed.0.ends_with("CUT"));
    [requests.recv().unwrap(), fs::read_to_string(file).unwrap()]
}

#[test]
fn streamed_events_are_replayed_byte_by_byte_in_the_same_parts() {
    let event = |text: &str| format!("data: {{\"delta\":\"{text}\"}}\n\n").into_bytes();
    let chunk = |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    let start = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    // A character of two bytes is split between two parts.
    let split = "é".as_bytes();
    let mut parts =
        vec![start, chunk(&event("It is")), chunk(&event("half\r past")), chunk(&split[..1]), chunk(&split[1..])];
    parts.push([chunk(b"data: [DONE]\n\n"), b"0\r\n\r\n".to_vec()].concat());
    let body = br#"{"model":"m","stream":true,"messages":[{"role":"user","content":"time?"}]}"#;
    let [sent, recording] =
        recorded_and_replayed(parts, "POST /chat/completions\ncontent-type: application/json", body);
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    let recording: Value = serde_json::from_str(&recording).unwrap();
    let call = &recording["calls"][0];
    assert_eq!(call["request"]["path"], "/chat/completions");
    assert_eq!(call["request"]["body"]["json"]["messages"][0]["content"], "time?");
    let texts: Vec<&Value> = call["response"]["parts"].as_array().unwrap().iter().map(|part| &part["text"]).collect();
    assert_eq!(texts.len(), 5, "{recording}");
    assert_eq!(*texts[0], "data: {\"delta\":\"It is\"}\n\n");
    assert!(texts[2].is_null() && call["response"]["parts"][2]["base64"] == "ww==", "{recording}");
}

#[test]
fn any_method_and_any_body_is_replayed() {
    let answer = |body: &[u8]| vec![whole("200 OK", "content-type: application/octet-stream\r\n", body)];
    for (head, body) in [
        ("GET /models?limit=2", &b""[..]),
        ("DELETE /files/1", b""),
        ("PATCH /files/1\ncontent-type: text/plain", b"text"),
        ("PUT /audio", b"\xff\xfe\x00binary"),
        ("POST /form\ncontent-type: multipart/form-data; boundary=xyz", b"--xyz\r\n\r\n1\r\n--xyz--"),
    ] {
        for reply in [&b"{\"a\": 1}"[..], b"", b"\x00\xff\r\n\xfe"] {
            recorded_and_replayed(answer(reply), head, body);
        }
    }
    let busy = whole("429 Too Many Requests", "retry-after: 1\r\nset-cookie: id=secret\r\n", b"{}");
    let [_, recording] = recorded_and_replayed(vec![busy], "POST /chat", b"{}");
    assert!(recording.contains("\"retry-after\": \"1\"") && !recording.contains("cookie"), "{recording}");
    let moved = whole("302 Found", "location: http://other/?a=1&token=signed\r\n", b"");
    let [_, recording] = recorded_and_replayed(vec![moved], "GET /moved", b"");
    assert!(recording.contains("\"location\": \"http://other/?a=1\""), "{recording}");
    // The service breaks off in the middle of its answer.
    let cut = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n".to_vec();
    let [_, recording] = recorded_and_replayed(vec![cut], "POST /chat", b"{}");
    assert!(recording.contains("\"is_cut\": true"), "{recording}");
}

#[test]
fn the_boundary_of_a_form_is_random_and_no_difference() {
    let (_directory, file) = recording_file();
    let (url, _requests) = service(vec![vec![whole("200 OK", "", b"ok")]]);
    let form = |boundary: &str| {
        let head = format!("POST /form\ncontent-type: multipart/form-data; boundary={boundary}");
        (head, format!("--{boundary}\r\n\r\nvoice\r\n--{boundary}--"))
    };
    let proxied = Proxied::record(&url);
    let turn = proxied.begin(&file).unwrap();
    let (head, body) = form("one");
    proxied.call(&head, body.as_bytes());
    turn.end(true);
    let replayer = Proxied::replay();
    let turn = replayer.begin(&file).unwrap();
    let (head, body) = form("another");
    assert_eq!(replayer.call(&head, body.as_bytes()).1, [b"ok"]);
    assert_eq!(turn.end(true), EndedCalls::default());
}

#[test]
fn keys_never_reach_the_recording() {
    let (start, end) = KEY.split_at(9);
    let escaped = format!("{{\"seen\":\"{KEY}\"}}");
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len()).into_bytes();
    for (head, body) in [
        (format!("POST /chat\nauthorization: Bearer {KEY}"), format!("{{\"user\":\"{KEY}\",\"{KEY}\":1}}")),
        (format!("POST /chat\nx-api-key: {KEY}"), format!("not JSON: {KEY}")),
        (format!("POST /chat\napi-key: {KEY}"), format!("{{\"nested\":[\"the key {KEY}.\"]}}")),
        (format!("POST /m:generate?alt=sse&key={KEY}"), String::new()),
        (format!("GET /bot/{KEY}/me\ncookie: session={KEY}"), String::new()),
    ] {
        // The service repeats the key: whole, and split between two parts.
        let answer = vec![
            format!(
                "HTTP/1.1 200 OK\r\nset-cookie: id={KEY}\r\nx-account: {KEY}\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            .into_bytes(),
            chunk(&escaped),
            chunk(&format!("data: {start}")),
            [chunk(&format!("{end}\n\n")), b"0\r\n\r\n".to_vec()].concat(),
        ];
        let (_directory, file) = recording_file();
        let (url, requests) = service(vec![answer]);
        let proxied = Proxied::record(&url);
        let turn = proxied.begin(&file).unwrap();
        proxied.call(&head, body.as_bytes());
        assert_eq!(turn.end(true), EndedCalls::default());
        assert!(requests.recv().unwrap().contains(KEY), "the service gets the key: {head}");
        let recording = fs::read_to_string(&file).unwrap();
        assert!(!recording.contains(KEY) && !recording.contains(start), "{head}\n{recording}");
        assert!(!recording.to_lowercase().contains("authorization"), "{recording}");
        // The same call has the same key, or another one.
        let replayer = Proxied::replay();
        let turn = replayer.begin(&file).unwrap();
        let (head, body) = (head.replace(KEY, "another-key"), body.replace(KEY, "another-key"));
        let (status, _) = replayer.call(&head, body.as_bytes());
        assert_eq!(turn.end(true), EndedCalls::default(), "{head}");
        assert!(status.starts_with("HTTP/1.1 200 OK"), "{status}");
    }
}

#[test]
fn a_recording_stays_unless_its_trial_has_a_result() {
    let (_directory, file) = recording_file();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "before").unwrap();
    let unchanged = || assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    let (url, _requests) = service(vec![vec![whole("200 OK", "", b"ok")]]);
    let proxied = Proxied::record(&url);
    let turn = proxied.begin(&file).unwrap();
    proxied.call("POST /chat", b"{}");
    let ended = turn.end(false);
    assert_eq!(ended.note.as_deref(), Some("the model calls were not recorded: the trial ended in an error"));
    unchanged();
    // The process of a trial dies.
    drop(proxied.begin(&file).unwrap());
    // The service has gone: the client hears why, and does not record it.
    let turn = proxied.begin(&file).unwrap();
    let gone = Proxied::record("http://127.0.0.1:9/v1");
    let gone_turn = gone.begin(&file).unwrap();
    let (head, body) = gone.call("POST /chat", b"{}");
    assert!(head.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{head}");
    let error: Value = serde_json::from_slice(&body[0]).unwrap();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("evalsuite: http://127.0.0.1:9 of MODEL_URL cannot be reached: "), "{message}");
    let note = gone_turn.end(true).note.unwrap();
    assert!(note.starts_with("the model calls were not recorded: POST /chat of MODEL_URL got no answer: "), "{note}");
    unchanged();
    // A trial without calls is a trial that can be replayed.
    assert_eq!(turn.end(true), EndedCalls::default());
    let recording: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(recording["calls"], evalsuite_schema::json::json!([]));
}

#[test]
fn one_trial_runs_at_a_time_and_its_calls_at_the_same_time() {
    let (directory, _) = recording_file();
    let answers = (0..8).map(|number| vec![whole("200 OK", "", format!("{number}").as_bytes())]).collect();
    let (url, _requests) = service(answers);
    let proxied = Proxied::record(&url);
    let files: Vec<PathBuf> = (0..2).map(|trial| directory.path().join(format!("trial-{trial}.calls.json"))).collect();
    thread::scope(|scope| {
        for (trial, file) in files.iter().enumerate() {
            let proxied = &proxied;
            scope.spawn(move || {
                let turn = proxied.begin(file).unwrap();
                thread::scope(|scope| {
                    for call in 0..4 {
                        let body = format!("{{\"trial\":{trial},\"call\":{call}}}");
                        scope.spawn(move || proxied.call("POST /chat", body.as_bytes()));
                    }
                });
                turn.end(true);
            });
        }
    });
    for (trial, file) in files.iter().enumerate() {
        let text = fs::read_to_string(file).unwrap();
        let recording: Value = serde_json::from_str(&text).unwrap();
        let calls = recording["calls"].as_array().unwrap();
        assert_eq!(calls.len(), 4, "{text}");
        assert!(calls.iter().all(|call| call["request"]["body"]["json"]["trial"] == trial), "{text}");
    }
}

#[test]
fn a_call_that_differs_is_an_error_that_clients_do_not_try_again() {
    let (_directory, file) = recording_file();
    let (url, _requests) = service(vec![vec![whole("200 OK", "", b"ok")]]);
    let proxied = Proxied::record(&url);
    let turn = proxied.begin(&file).unwrap();
    proxied.call("POST /chat", b"{\"prompt\":\"hello\"}");
    turn.end(true);
    let replayer = Proxied::replay();
    let turn = replayer.begin(&file).unwrap();
    let (head, body) = replayer.call("POST /chat", b"{\"prompt\":\"goodbye\"}");
    assert!(head.starts_with("HTTP/1.1 422 Unprocessable Entity\r\n"), "{head}");
    assert!(head.contains("x-should-retry: false\r\n"), "{head}");
    let error: Value = serde_json::from_slice(&body[0]).unwrap();
    let difference = "model call 1 differs from call 1 of the recording, at `/prompt` of the body: expected `\"hello\"`, got `\"goodbye\"`";
    assert_eq!(error["error"]["message"], format!("evalsuite: {difference}"));
    assert_eq!(error["type"], "error");
    let ended = turn.end(false);
    assert_eq!(ended.difference.as_deref(), Some(difference));
    assert_eq!(ended.note.as_deref(), Some("1 recorded call was not made: call 1 (POST /chat of MODEL_URL)"));
    let missing = replayer.begin(&file.with_file_name("trial-001.calls.json")).map(|_| ()).unwrap_err();
    assert!(missing.starts_with("there is no recording of the model calls of this trial at /"), "{missing}");
    let (head, _) = replayer.call("POST /chat", b"{}");
    assert!(head.starts_with("HTTP/1.1 422 "), "no trial runs: {head}");
    assert_eq!(replayer.0.proxy.outside.load(Ordering::Relaxed), 1);
}

#[test]
fn a_client_that_leaves_and_a_body_that_is_too_large_break_nothing() {
    let (_directory, file) = recording_file();
    let start = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n".to_vec();
    let endless: Vec<Vec<u8>> = [vec![start], vec![b"5\r\nhello\r\n".to_vec(); 60]].concat();
    let (url, _requests) = service(vec![endless]);
    let proxied = Proxied::record(&url);
    let turn = proxied.begin(&file).unwrap();
    let mut client = proxied.send("POST /chat", b"{}");
    client.read_exact(&mut [0; 20]).unwrap();
    drop(client);
    let (head, _) = proxied.call("POST /chat", &vec![b'a'; (1 << 20) + 1]);
    assert!(head.starts_with("HTTP/1.1 413 "), "{head}");
    let upgrade = proxied.call("GET /realtime\nupgrade: websocket", b"").0;
    assert!(upgrade.starts_with("HTTP/1.1 501 "), "{upgrade}");
    let start = Instant::now();
    assert_eq!(turn.end(true), EndedCalls::default());
    assert!(start.elapsed() < Duration::from_secs(5), "the end of the trial does not wait for the service");
    let text = fs::read_to_string(&file).unwrap();
    let recording: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(recording["calls"].as_array().unwrap().len(), 1);
    assert_eq!(recording["calls"][0]["response"]["is_cut"], true, "{text}");
}

/// As one whose time limit is shorter than the service takes.
#[test]
fn a_client_that_left_before_the_answer_gets_none_in_a_replay() {
    let (_directory, file) = recording_file();
    let late = vec![Vec::new(), Vec::new(), Vec::new(), Vec::new(), whole("200 OK", "", b"late")];
    let (url, requests) = service(vec![late, vec![whole("200 OK", "", b"in time")]]);
    let proxied = Proxied::record(&url);
    let turn = proxied.begin(&file).unwrap();
    let client = proxied.send("POST /chat", b"{}");
    requests.recv().unwrap();
    drop(client);
    assert_eq!(proxied.call("POST /chat", b"{}").1, [b"in time"]);
    assert_eq!(turn.end(true), EndedCalls::default());
    let replayer = Proxied::replay();
    let turn = replayer.begin(&file).unwrap();
    let mut text = String::new();
    replayer.send("POST /chat", b"{}").read_to_string(&mut text).unwrap();
    assert_eq!(text, "", "the connection is closed");
    assert_eq!(replayer.call("POST /chat", b"{}").1, [b"in time"], "the second attempt has its own answer");
    assert_eq!(turn.end(true), EndedCalls::default());
}

#[test]
fn a_paced_replay_takes_the_time_of_the_recording() {
    let (_directory, file) = recording_file();
    let trial = BeginTrial { file: file.clone(), ..BeginTrial::default() };
    let part = recorded_calls::RecordedPart::new(80, b"hello");
    let response = recorded_calls::RecordedResponse {
        status: 200,
        headers: [].into(),
        parts: vec![part.clone(), part],
        is_cut: false,
    };
    let request = recorded_calls::RecordedRequest {
        variable: "MODEL_URL".into(),
        method: "GET".into(),
        path: "/".into(),
        headers: [].into(),
        body: None,
    };
    let calls = vec![recorded_calls::RecordedCall { request, response }];
    Recording::new(&trial, [].into(), [].into(), calls)
        .write(&file, &evalsuite::tooling::Placeholders::default())
        .unwrap();
    let proxied = Proxied::new(CallsMode::Replayed, "http://127.0.0.1:9", true);
    let _turn = proxied.begin(&file).unwrap();
    let start = Instant::now();
    let mut reader = BufReader::new(TcpStream::connect(proxied.base()).unwrap());
    reader.get_mut().write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    reader.read_to_end(&mut Vec::new()).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(160), "{:?}", start.elapsed());
}
