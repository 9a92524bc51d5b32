//! Against a real server on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use evalsuite_schema::json::{Value, json};

use crate::judge::endpoint::*;

/// What the server does with a request.
enum Act {
    /// Status line and headers, and a body with its length.
    Reply(&'static str, String),
    /// Bytes, as they are, and then the end.
    Bytes(Vec<u8>),
    /// Nothing, for as long as the client waits.
    Silence,
    /// A byte now and then, for as long as the client reads.
    Drip,
    /// As much as the client reads, in a body without its length.
    Flood,
}

/// A server that does one thing per request; what it was sent comes through the channel.
fn serve(acts: Vec<Act>) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for act in acts {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let request = read(&stream);
            let _ = sender.send(request);
            perform(&act, &mut stream);
        }
    });
    (url, receiver)
}

fn read(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:").map(str::to_owned));
    let mut body = vec![0; length.unwrap().trim().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, evalsuite_schema::json::from_slice(&body).unwrap())
}

fn perform(act: &Act, stream: &mut TcpStream) {
    // In some tests, the client has disconnected.
    let mut send = |bytes: &[u8]| stream.write_all(bytes).and_then(|()| stream.flush()).is_ok();
    match act {
        Act::Reply(head, body) => {
            send(
                format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
                    .as_bytes(),
            );
        }
        Act::Bytes(bytes) => {
            send(bytes);
        }
        Act::Silence => {
            let _ = stream.read(&mut [0]);
        }
        Act::Flood => {
            send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
            while send(&chunk) {}
        }
        Act::Drip => {
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
            while send(b" ") {
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

fn completion(content: &str) -> Act {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 2});
    let body = json!({"model": "m-1", "choices": [{"message": {"content": content}}], "usage": usage});
    Act::Reply("200 OK\r\nContent-Type: application/json", body.to_string())
}

fn refused(status: &'static str, message: &str) -> Act {
    Act::Reply(status, json!({"error": {"message": message}}).to_string())
}

fn service(url: &str) -> Service {
    let key = Some(Secret("sk-very-secret".to_owned()));
    Service::new(Endpoint { url: url.to_owned(), model: "m".to_owned(), key, price: Some((1.0, 2.0)) })
}

fn request() -> JudgeRequest {
    JudgeRequest::new("be fair", "grade this")
        .with_response_schema(json!({"type": "object"}))
        .with_limit(Duration::from_secs(30))
}

fn error(acts: Vec<Act>, request: &JudgeRequest) -> JudgeError {
    let (url, _requests) = serve(acts);
    service(&url).ask(request).unwrap_err()
}

#[test]
fn the_query_of_the_url_goes_behind_the_path_and_is_not_shown() {
    let (url, requests) =
        serve(vec![refused("401 Unauthorized", "code-of-service is wrong, and so is sk-very-secret")]);
    let url = format!("{url}/?api-version=2024-06-01&code=code-of-service");
    let error = service(&url).ask(&request()).unwrap_err().to_string();
    let (head, _) = requests.recv().unwrap();
    let target = "POST /v1/chat/completions?api-version=2024-06-01&code=code-of-service HTTP/1.1\r\n";
    assert!(head.starts_with(target), "{head}");
    assert!(error.contains("/v1/chat/completions?api-version=***&code=***: 401"), "{error}");
    assert!(error.contains("*** is wrong, and so is ***"), "{error}");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = service(&format!("http://{closed}/v1?code=code-of-service")).ask(&request()).unwrap_err().to_string();
    assert!(error.contains("/v1/chat/completions?code=***: "), "{error}");
}

#[test]
fn a_question_is_asked_and_answered() {
    let (url, requests) = serve(vec![completion("{\"score\": 1}")]);
    let reply = service(&url).ask(&request().with_temperature(0.5)).unwrap();
    assert_eq!((reply.text(), reply.usage().map(|usage| usage.input)), ("{\"score\": 1}", Some(10)));
    assert_eq!(reply.cost_usd(), Some(14e-6));
    let (head, body) = requests.recv().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer sk-very-secret"), "{head}");
    assert_eq!((&body["model"], &body["temperature"]), (&json!("m"), &json!(0.5)));
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "be fair"}));
    assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
}

#[test]
fn a_service_without_schemas_is_asked_for_plain_json_from_then_on() {
    let refuse = || refused("400 Bad Request", "response_format.type json_schema is not supported");
    let acts = vec![refuse(), refuse(), completion("{}"), completion("{}"), refuse(), completion("{}")];
    let (url, requests) = serve(acts);
    let service = service(&url);
    for _ in 0..3 {
        service.ask(&request()).unwrap();
    }
    let formats: Vec<Value> = requests.iter().map(|(_, body)| body["response_format"]["type"].clone()).collect();
    assert_eq!(
        formats,
        [
            json!("json_schema"),
            json!("json_schema"),
            json!("json_object"),
            json!("json_object"),
            json!("json_object"),
            Value::Null
        ]
    );
}

#[test]
fn a_service_that_takes_no_lengths_of_lists_is_given_the_schema_without() {
    let refuse = refused("400 Bad Request", "For 'array' type, property 'maxItems' is not supported");
    let (url, requests) = serve(vec![refuse, completion("{}"), completion("{}")]);
    let service = service(&url);
    let request = request().with_response_schema(json!({"type": "array", "maxItems": 2}));
    for _ in 0..2 {
        service.ask(&request).unwrap();
    }
    let schemas = requests.iter().map(|(_, body)| body["response_format"]["json_schema"]["schema"].clone());
    let without = json!({"type": "array"});
    assert_eq!(schemas.collect::<Vec<_>>(), [json!({"type": "array", "maxItems": 2}), without.clone(), without]);
}

#[test]
fn a_model_that_takes_no_temperature_is_asked_without() {
    let (url, requests) = serve(vec![refused("400 Bad Request", "Unsupported value: temperature"), completion("{}")]);
    service(&url).ask(&request()).unwrap();
    assert_eq!(requests.iter().map(|(_, body)| body["temperature"].is_null()).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn who_is_busy_is_asked_again_when_it_says() {
    let busy = Act::Reply("429 Too Many Requests\r\nRetry-After: 7", "{}".to_owned());
    let error_of_busy = error(vec![busy], &request());
    assert_eq!((error_of_busy.is_permanent(), error_of_busy.retry_after()), (false, Some(Duration::from_secs(7))));
    let date =
        "503 Service Unavailable\r\nDate: Sun, 06 Nov 1994 08:49:30 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(error(vec![Act::Reply(date, String::new())], &request()).retry_after(), Some(Duration::from_secs(7)));
    let past = "503 Service Unavailable\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(error(vec![Act::Reply(past, String::new())], &request()).retry_after(), Some(Duration::ZERO));
    for status in ["500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "429 Too Many Requests"] {
        let error = error(vec![refused(status, "try later")], &request());
        assert_eq!((error.is_permanent(), error.retry_after()), (false, None), "{error}");
        assert!(error.to_string().contains("try later") && error.is_unpaid(), "{error}");
    }
}

#[test]
fn what_asking_again_cannot_help_is_final_and_shows_no_key() {
    for (act, part) in [
        (
            refused("401 Unauthorized", "Incorrect API key provided: sk-very-secret"),
            "\nhelp: the service rejects the key; check EVALSUITE_JUDGE_API_KEY",
        ),
        (
            refused("404 Not Found", "The model `m` does not exist"),
            "\nhelp: EVALSUITE_JUDGE_MODEL is `m`; set it to a model that the service has",
        ),
        (refused("404 Not Found", "no such page"), "\nhelp: EVALSUITE_JUDGE_URL is the base"),
        (refused("429 Too Many Requests", "insufficient_quota"), "insufficient_quota"),
        (
            Act::Reply("307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/", String::new()),
            "307 Temporary Redirect\nhelp: redirects are not followed",
        ),
        (Act::Reply("200 OK", "x".repeat((LARGEST + 1) as usize)), "more than"),
        (Act::Flood, "more than"),
    ] {
        let error = error(vec![act], &request());
        assert!(error.is_permanent() && error.to_string().contains(part), "{error}");
        assert!(!error.to_string().contains("sk-very-secret"), "{error}");
    }
    let (url, _requests) = serve(vec![refused("401 Unauthorized", "Missing bearer authentication")]);
    let keyless = Service::new(Endpoint { url, model: "m".to_owned(), key: None, price: None });
    let keyless = keyless.ask(&request()).unwrap_err().to_string();
    assert!(keyless.ends_with("\nhelp: set EVALSUITE_JUDGE_API_KEY"), "{keyless}");
    let refuse = || refused("400 Bad Request", "no");
    assert!(error(vec![refuse(), refuse(), refuse(), refuse()], &request()).is_permanent());
}

#[test]
fn what_is_no_reply_is_asked_for_again() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\": [".to_vec();
    for (act, part) in [
        (Act::Reply("200 OK", "<html>".to_owned()), "not JSON"),
        (Act::Reply("200 OK", "{\"id\": 1}".to_owned()), "choices[0].message"),
        (Act::Reply("200 OK", "{\"error\": \"overloaded\"}".to_owned()), "overloaded"),
        (Act::Bytes(cut), "/chat/completions"),
        (Act::Bytes(b"garbage\r\n\r\n".to_vec()), "/chat/completions"),
        (Act::Bytes(Vec::new()), "/chat/completions"),
    ] {
        let error = error(vec![act], &request());
        assert!(!error.is_permanent() && error.to_string().contains(part), "{part}: {error}");
        assert!(!error.is_unpaid() && error.cost_usd().is_none(), "{part}: the service may have answered");
    }
    // What a server says that speaks TLS, to a client that does not.
    let alert = Act::Bytes(b"\x15\x03\x01\x00\x02\x02\x46".to_vec());
    assert!(!error(vec![alert], &request()).is_permanent());
    let unreachable = service("http://127.0.0.1:1/v1").ask(&request()).unwrap_err();
    assert!(!unreachable.is_permanent() && unreachable.is_unpaid(), "{unreachable}");
}

#[test]
fn a_service_that_is_too_slow_is_given_up() {
    for act in [Act::Silence, Act::Drip] {
        let error = error(vec![act], &request().with_limit(Duration::from_millis(300)));
        assert!(!error.is_permanent() && error.to_string().contains("within 0.3 s"), "{error}");
    }
    // One that does not even read what it is asked, which is more than the system keeps for it.
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let long = JudgeRequest::new("", "x".repeat(16 << 20)).with_limit(Duration::from_millis(300));
    let error = service(&format!("http://{}/v1", deaf.local_addr().unwrap())).ask(&long).unwrap_err();
    assert!(!error.is_permanent() && error.to_string().contains("within 0.3 s"), "{error}");
}

#[test]
fn a_service_that_speaks_no_tls_is_no_judge() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let error = service(&url).ask(&request()).unwrap_err();
    assert!(error.to_string().starts_with(&url), "{error}");
    // A server that does not accept the connection.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", silent.local_addr().unwrap());
    let error = service(&url).ask(&request().with_limit(Duration::from_millis(300))).unwrap_err();
    assert!(!error.is_permanent() && error.to_string().contains("within 0.3 s"), "{error}");
}

/// A server that sends these bytes after the first bytes that it reads, and then, unless it is silent, the end of the stream. It reads all of
/// the request: a connection that is closed before is reset.
fn sends(bytes: &'static [u8], is_silent: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes);
            if !is_silent {
                let _ = stream.shutdown(Shutdown::Write);
            }
            while stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
        }
    });
    address
}

#[test]
fn a_service_that_speaks_another_protocol_is_an_error_that_says_so() {
    /// The alert by which a server with TLS answers a request without.
    const ALERT: &[u8] = b"\x15\x03\x01\x00\x02\x02\x46";
    let limit = Duration::from_secs(2);
    let request = request().with_limit(limit);
    const HELLO: &[u8] = b"\x16\x03\x03\x40\x00\x02";
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n{";
    let (tls, no_tls) =
        ("help: the reply is not HTTP; the address of a service with TLS", "help: does the service have TLS?");
    let late = "no reply within 2 s";
    let answers = [
        ("https", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".as_slice(), false, no_tls),
        ("https", ALERT, false, no_tls),
        ("https", b"", false, "end of file"),
        ("https", HELLO, false, "end of file"),
        ("https", HELLO, true, late),
        ("https", b"", true, late),
        ("http", ALERT, false, tls),
        ("http", b"", false, "disconnected"),
        ("http", HEAD, false, "disconnected"),
        ("http", HEAD, true, late),
        ("http", &HEAD[..25], false, "disconnected"),
        ("http", &HEAD[..25], true, late),
    ];
    // At the same time: four of them wait for their limit.
    thread::scope(|scope| {
        for (scheme, bytes, is_silent, part) in answers {
            let request = &request;
            scope.spawn(move || {
                let address = sends(bytes, is_silent);
                let error = service(&format!("{scheme}://{address}/v1")).ask(request).unwrap_err();
                let case = format!("{scheme} {} {is_silent}", bytes.escape_ascii());
                assert!(error.to_string().contains(part), "{case}: {error}");
                assert_eq!(error.is_permanent(), part == no_tls, "{case}: {error}");
            });
        }
    });
}
