//! `cargo evalsuite mcp-proxy` between a client and a server, all of them processes.

mod ends;
mod faults;
mod passes;
mod replays;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

use evalsuite_schema::Value;
use evalsuite_schema::json::{from_str, json};

/// Longest time that a test waits for a message.
const LIMIT: Duration = Duration::from_secs(60);

/// The server of the tests.
pub(super) fn server() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py")
}

/// A session of a trial, as the runtime makes it.
struct Session(tempfile::TempDir);

impl Session {
    fn new(settings: &Value) -> Self {
        let session = Self(tempfile::tempdir().unwrap());
        for directory in ["traces", "claims"] {
            fs::create_dir(session.path().join(directory)).unwrap();
        }
        let mut file = json!({"schema": "evalsuite.mcp_session/1", "replay": false, "faults": []});
        for (key, value) in settings.as_object().unwrap() {
            file[key.as_str()] = value.clone();
        }
        fs::write(session.path().join("session.json"), file.to_string()).unwrap();
        session
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// The proxy in front of a command.
    fn proxy(&self, command: &[&str]) -> Command {
        let mut proxy = proxy();
        proxy.arg("--session").arg(self.path()).args(["--server", "test", "--"]).args(command);
        proxy
    }

    /// The proxy in front of the server of the tests.
    fn test_server(&self, arguments: &[&str]) -> Client {
        let path = server();
        Client::start(&mut self.proxy(&[&["python3", path.to_str().unwrap()], arguments].concat()))
    }

    /// What the first proxy has traced, with the sender of messages.
    fn trace(&self) -> Vec<(String, Value)> {
        let text = fs::read_to_string(self.path().join("traces/test.000.jsonl")).unwrap();
        let line = |line: &str| {
            let line: Value = from_str(line).unwrap();
            let (kind, value) = line["event"].as_object().unwrap().iter().next().unwrap();
            match value.get("from") {
                Some(from) => (from.as_str().unwrap().to_owned(), value.clone()),
                None => (kind.clone(), value.clone()),
            }
        };
        text.lines().map(line).collect()
    }

    /// The texts that a sender sent.
    fn sent(&self, from: &str) -> Vec<String> {
        let texts = self.trace().into_iter().filter(|(sender, _)| sender == from);
        texts.map(|(_, message)| message["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn proxy() -> Command {
    let mut proxy = Command::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"));
    proxy.arg("mcp-proxy").env_remove("EVALSUITE_MCP_SESSION");
    proxy
}

/// A client of a server: each line that the server writes is a message.
struct Client {
    process: Child,
    lines: Receiver<Vec<u8>>,
}

impl Client {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        Self { process, lines }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.process.stdin.as_mut().expect("the client has not left").write_all(bytes).unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    fn line(&self) -> Vec<u8> {
        self.lines.recv_timeout(LIMIT).expect("a line of the server")
    }

    fn message(&self) -> Value {
        from_str(&String::from_utf8(self.line()).unwrap()).unwrap()
    }

    /// The text of the result of a call.
    fn text(&mut self, id: u64, tool: &str, arguments: &Value) -> String {
        self.call(id, tool, arguments);
        let message = self.message();
        assert_eq!(message["id"], json!(id), "{message}");
        message["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// Leaves; what the server still writes, and how it ends.
    fn leave(mut self) -> (Vec<Vec<u8>>, ExitStatus) {
        drop(self.process.stdin.take());
        self.end()
    }

    /// Waits for the end of the server.
    fn end(mut self) -> (Vec<Vec<u8>>, ExitStatus) {
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
            }
        }
        let status = end_of(&mut self.process);
        (rest, status)
    }
}

/// Waits for the end of a proxy.
fn end_of(proxy: &mut Child) -> ExitStatus {
    let end = Instant::now() + LIMIT;
    loop {
        match proxy.try_wait().unwrap() {
            Some(status) => return status,
            None => assert!(Instant::now() < end, "the proxy does not end"),
        }
        thread::sleep(Duration::from_millis(5));
    }
}
