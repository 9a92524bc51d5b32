//! A local HTTP service for chat completions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use evalsuite_schema::json::{Value, json};

/// A request to the service: its head and its body.
pub(crate) type Asked = (String, Value);

/// Replies for as long as the test program runs.
pub(crate) struct Service {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Service {
    /// Starts a service. `reply` gets the number of earlier requests and the request; it returns the status line, with
    /// any further headers, and the body.
    pub(crate) fn start(reply: impl Fn(usize, &Asked) -> (String, String) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}/v1", listener.local_addr().expect("a bound socket has an address"));
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some(request) = read(&stream) else { continue };
                let count = {
                    let mut log = log.lock().expect("no thread panics while it holds the lock");
                    log.push(request.clone());
                    log.len() - 1
                };
                let (status, body) = reply(count, &request);
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no thread panics while it holds the lock").clone()
    }
}

/// A reply whose message has this text.
pub(crate) fn completion(text: &str) -> (String, String) {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    let body = json!({"model": "m-1", "choices": [{"message": {"content": text}}], "usage": usage});
    ("200 OK".to_owned(), body.to_string())
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:").map(str::to_owned))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some((head, evalsuite_schema::json::from_slice(&body).ok()?))
}
