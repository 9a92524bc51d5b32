//! A client of the language server, which talks to it as an editor does.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use evalsuite_schema::json::{Value, json};

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: String,
    requests: i64,
    /// Every message in both directions, without the path of the package.
    transcript: String,
    /// Notifications that the server has sent, and no test has taken.
    notifications: Vec<Value>,
}

impl Client {
    /// Starts the server in a package, without `initialize`.
    pub(crate) fn start(root: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"));
        let is_ours = |name: &str| name.starts_with("EVALSUITE_") || name == "CARGO_TARGET_DIR";
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_ours)) {
            command.env_remove(name);
        }
        command.args(["evalsuite", "lsp"]).current_dir(root).envs(variables.iter().copied());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let root = root.to_str().expect("UTF-8").to_owned();
        Self { child, input, output, root, requests: 0, transcript: String::new(), notifications: Vec::new() }
    }

    /// Starts the server and initializes it with these capabilities of the client.
    pub(crate) fn open(root: &Path, capabilities: Value) -> Self {
        Self::open_with(root, capabilities, &[])
    }

    pub(crate) fn open_with(root: &Path, capabilities: Value, variables: &[(&str, &str)]) -> Self {
        let mut client = Self::start(root, variables);
        let folders = json!([{ "uri": client.uri(""), "name": "package" }]);
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders, "trace": "verbose" });
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.root).trim_end_matches('/').to_owned()
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.record("-->", message);
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The response to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive().expect("a response");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// The next message of the server; `None` at its end.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).expect("UTF-8") == 0 {
                return None;
            }
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().expect("a length"),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a whole message");
        let message: Value = evalsuite_schema::json::from_slice(&bytes).expect("JSON");
        self.record("<--", &message);
        if message.get("method").is_some() {
            self.notifications.push(message.clone());
        }
        Some(message)
    }

    pub(crate) fn open_file(&mut self, path: &str, text: &str) {
        let document = json!({ "uri": self.uri(path), "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, path: &str, version: i64, text: &str) {
        let document = json!({ "uri": self.uri(path), "version": version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
    }

    /// The result of a request about the place of `mark` in `text`, which is what is in the file at `path`.
    pub(crate) fn at(&mut self, method: &str, path: &str, text: &str, mark: &str, more: Value) -> Value {
        let offset = text.find(mark).unwrap_or_else(|| panic!("`{mark}` in {text}"));
        let line = text[..offset].matches('\n').count();
        let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        let character = text[start..offset].encode_utf16().count();
        let mut params =
            json!({ "textDocument": { "uri": self.uri(path) }, "position": { "line": line, "character": character } });
        for (key, value) in more.as_object().expect("a mapping") {
            params[key] = value.clone();
        }
        self.request(method, params)["result"].clone()
    }

    /// The labels that are proposed at the place of `|` in `text`, with which the file at `path` is opened.
    pub(crate) fn labels(&mut self, path: &str, text: &str) -> Vec<String> {
        let plain = text.replacen('|', "", 1);
        self.open_file(path, &plain);
        let offset = text.find('|').expect("a place");
        let line = text[..offset].matches('\n').count();
        let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        let params = json!({
            "textDocument": { "uri": self.uri(path) },
            "position": { "line": line, "character": text[start..offset].encode_utf16().count() },
        });
        let items = self.request("textDocument/completion", params)["result"].clone();
        let label = |item: &Value| item["label"].as_str().expect("a label").to_owned();
        items.as_array().expect("a list").iter().map(label).collect()
    }

    /// The diagnostics that were published since the last call, by file: the last ones of each, as `LINE:COLUMN CODE MESSAGE`.
    pub(crate) fn diagnostics(&mut self) -> Vec<(String, Vec<String>)> {
        self.synchronize();
        let mut files: Vec<(String, Vec<String>)> = Vec::new();
        for message in self.take("textDocument/publishDiagnostics") {
            let uri = message["params"]["uri"].as_str().expect("a URI").to_owned();
            let path = uri.strip_prefix(&format!("{}/", self.uri(""))).unwrap_or(&uri).to_owned();
            let line = |diagnostic: &Value| {
                let start = &diagnostic["range"]["start"];
                let message = diagnostic["message"].as_str().expect("a message").replace('\n', " | ");
                let code = diagnostic["code"].as_str().expect("a code");
                format!("{}:{} {code}: {message}", start["line"], start["character"])
            };
            let lines = message["params"]["diagnostics"].as_array().expect("a list").iter().map(line).collect();
            files.retain(|(known, _)| *known != path);
            files.push((path, lines));
        }
        files
    }

    /// Waits until everything that was sent is handled.
    pub(crate) fn synchronize(&mut self) {
        self.request("evalsuite/none", Value::Null);
    }

    /// The notifications and requests of the server with a method.
    pub(crate) fn take(&mut self, method: &str) -> Vec<Value> {
        let (taken, rest) = self.notifications.drain(..).partition(|message| message["method"] == method);
        self.notifications = rest;
        taken
    }

    /// Waits for a message of the server with a method.
    #[cfg(unix)]
    pub(crate) fn wait_for(&mut self, method: &str) -> Value {
        loop {
            if let Some(found) = self.take(method).pop() {
                return found;
            }
            self.receive().expect("a message");
        }
    }

    /// Ends the input. The exit code, and what was written to standard error.
    pub(crate) fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        self.wait()
    }

    /// Shuts the server down. What was said by both sides.
    pub(crate) fn shut_down(mut self) -> String {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let (code, error) = self.wait();
        assert_eq!((code, error.as_str()), (0, ""));
        std::mem::take(&mut self.transcript)
    }

    pub(crate) fn wait(&mut self) -> (i32, String) {
        while self.receive().is_some() {}
        let mut error = String::new();
        self.child.stderr.take().expect("an error output").read_to_string(&mut error).expect("UTF-8");
        (self.child.wait().expect("an exit code").code().expect("no signal"), error)
    }

    fn record(&mut self, direction: &str, message: &Value) {
        // How often the server checks depends on how fast the client is.
        if message["method"] == "$/logTrace" {
            return;
        }
        let mut message = message.clone();
        let fields = message.as_object_mut().expect("an object");
        fields.remove("jsonrpc");
        shorten(&mut message);
        let text = message.to_string().replace(&self.root, "[ROOT]");
        writeln!(self.transcript, "{direction} {text}").expect("memory");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Already gone if the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Leaves of long lists their first element, and of documentation its first line.
fn shorten(value: &mut Value) {
    match value {
        Value::Array(items) => {
            // How many there are changes with every grader.
            if items.len() > 3 && items[0].get("label").is_some() {
                items.truncate(1);
                items.push(json!("and more"));
            }
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => {
            if let (Some("markdown"), Some(Value::String(text))) = (
                fields.get("kind").and_then(|kind| kind.as_str().map(str::to_owned)).as_deref(),
                fields.get_mut("value"),
            ) {
                *text = text.lines().next().unwrap_or_default().to_owned();
            }
            if let Some(Value::Object(changes)) = fields.get_mut("changes") {
                changes.sort_keys();
            }
            fields.values_mut().for_each(shorten);
        }
        _ => {}
    }
}
