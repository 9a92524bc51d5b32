//! Headless Chromium, driven through the DevTools protocol over pipes.
//!
//! The pipes need no WebSocket and no driver program. File descriptors 3 and 4 of the browser are named pipes that a shell opens,
//! because safe Rust cannot hand them to a child.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evalsuite_schema::json::{Value, json};

/// How long an answer of the browser may take. Machines that run tests are busy.
const PATIENCE: Duration = Duration::from_secs(60);
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS: [&str; 12] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
];

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    commands: File,
    messages: mpsc::Receiver<Value>,
    session: String,
    last_id: u64,
    /// What the page reported: messages on its console, uncaught errors, violations of its security policy.
    pub reports: Vec<String>,
    _directory: tempfile::TempDir,
}

impl Browser {
    /// Starts the browser; `None` if there is none on this machine.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start() -> Option<Self> {
        let works = |program: &&&str| {
            let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            version.is_ok_and(|status| status.success())
        };
        let program = PROGRAMS.iter().find(works)?;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| directory.path().join(name);
        let made = Command::new("mkfifo").args([path("in"), path("out")]).status().expect("mkfifo can be run");
        assert!(made.success(), "the pipes can be made");
        let mut command = Command::new("sh");
        command.args(["-c", "exec 3<\"$1\" 4>\"$2\"; shift 2; exec \"$@\"", "sh"]);
        command.args([path("in"), path("out")]).arg(program).args(FLAGS);
        command.arg(format!("--user-data-dir={}", path("profile").display())).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("a shell can be run");
        // In the order in which the shell opens them: each waits for the other side.
        let commands = File::options().write(true).open(path("in")).expect("the pipe can be opened");
        let answers = File::open(path("out")).expect("the pipe can be opened");
        let (send, messages) = mpsc::channel();
        thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                let message = evalsuite_schema::json::from_slice(&message).expect("messages are JSON");
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self {
            process,
            commands,
            messages,
            session: String::new(),
            last_id: 0,
            reports: Vec::new(),
            _directory: directory,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = browser.call("Target.attachToTarget", attach)["sessionId"].as_str()?.to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        browser.set_window(1440, 900);
        Some(browser)
    }

    /// Sends a command of the protocol and waits for its result.
    ///
    /// # Panics
    ///
    /// If the browser reports an error or does not answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).expect("the browser runs");
        loop {
            let answer = self.messages.recv_timeout(PATIENCE);
            let mut answer = answer.unwrap_or_else(|error| panic!("no answer of the browser to {method}: {error}"));
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.consoleAPICalled") => self.reports.push(format!("console: {}", params["args"])),
            Some("Runtime.exceptionThrown") => self.reports.push(format!("error: {}", params["exceptionDetails"])),
            Some("Log.entryAdded") => self.reports.push(format!("log: {}", params["entry"]["text"])),
            _ => {}
        }
    }

    /// Sets the size of the window in CSS pixels.
    pub fn set_window(&mut self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Sets a media feature, such as `prefers-color-scheme`; an empty value resets all of them.
    pub fn set_media(&mut self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Opens a file with a hash, and waits until the page says that it is ready. A page that is open is left.
    ///
    /// # Panics
    ///
    /// If it does not become ready.
    pub fn open(&mut self, file: &Path, hash: &str) {
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": format!("file://{}{hash}", file.display()) }));
        self.wait("Boolean(document.documentElement && document.documentElement.dataset.ready)");
    }

    /// The value of an expression, which may be a promise.
    ///
    /// # Panics
    ///
    /// If it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    ///
    /// If that takes too long; the message has what the page reported.
    pub fn wait(&mut self, condition: &str) {
        let started = Instant::now();
        while self.evaluate(condition) != Value::Bool(true) {
            assert!(started.elapsed() < PATIENCE, "not true: {condition}\n{}", self.reports.join("\n"));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Presses a key: a character, or a name such as `Enter`.
    pub fn press(&mut self, key: &str) {
        // What the browser itself does on a key, it does by the key's code.
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => 0,
        };
        let mut down = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if key.chars().count() == 1 {
            down["text"] = key.into();
        } else if key == "Enter" {
            down["text"] = "\r".into();
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
    }

    /// Types a text into what has the focus.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// What the window shows, as PNG.
    ///
    /// # Panics
    ///
    /// If the browser's answer is not an image.
    pub fn screenshot(&mut self) -> Vec<u8> {
        let image = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        STANDARD.decode(image["data"].as_str().expect("an image")).expect("base64")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session.clear();
        let close = json!({ "id": 0, "method": "Browser.close" });
        if self.commands.write_all(format!("{close}\0").as_bytes()).is_err() || !self.ends_soon() {
            // It no longer reads: ended from outside.
            self.process.kill().and_then(|()| self.process.wait()).expect("the browser can be ended");
        }
    }
}

impl Browser {
    fn ends_soon(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            if self.process.try_wait().is_ok_and(|status| status.is_some()) {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }
}
