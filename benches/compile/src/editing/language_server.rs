//! A client of the language server that changes one file again and again.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use std::{fs, str};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::package::Package;

/// Changes per round.
const EDITS: usize = 10;

/// Seconds from a change of the text to the next answer of the server, which checks before it answers: in a valid suite, and where every
/// second change is an error.
pub(super) fn measure(program: &Path, package: &Package, rounds: usize) -> Result<Vec<(&'static str, Vec<f64>)>> {
    let file = package.root.join(package.cases.file(package.cases.middle()));
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let file = file.canonicalize()?;
    let uri = format!("file://{}", file.display());
    let mut client = Client::start(program, &package.root)?;
    let document = json!({"uri": uri, "languageId": "yaml", "version": 0, "text": text});
    client.notify("textDocument/didOpen", &json!({"textDocument": document}))?;
    client.synchronize()?;
    let (mut version, mut measured) = (0, Vec::new());
    for (edit, has_errors) in [("language server, valid", false), ("language server, with an error", true)] {
        let mut seconds = Vec::new();
        for _ in 0..rounds * EDITS {
            version += 1;
            let changed = match has_errors && version % 2 == 0 {
                true => text.replacen("contains", "contans", 1),
                false => text.replacen("Reminder number", &format!("Reminder {version}"), 1),
            };
            let document = json!({"uri": uri, "version": version});
            let change = json!({"textDocument": document, "contentChanges": [{"text": changed}]});
            let start = Instant::now();
            client.notify("textDocument/didChange", &change)?;
            let found = client.synchronize()?;
            seconds.push(start.elapsed().as_secs_f64());
            let expected = has_errors && version % 2 == 0;
            ensure!(found == expected || !has_errors, "a change is not reported: {found}");
        }
        measured.push((edit, seconds));
    }
    client.end()?;
    Ok(measured)
}

struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Client {
    fn start(program: &Path, root: &Path) -> Result<Self> {
        let mut server = Command::new(program)
            .arg("lsp")
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let input = server.stdin.take().context("a pipe")?;
        let output = BufReader::new(server.stdout.take().context("a pipe")?);
        let mut client = Self { server, input, output, requests: 0 };
        let root = root.canonicalize()?;
        let folder = json!({"uri": format!("file://{}", root.display()), "name": "bench"});
        client.request("initialize", &json!({"capabilities": {}, "workspaceFolders": [folder]}))?;
        client.notify("initialized", &json!({}))?;
        client.synchronize()?;
        Ok(client)
    }

    /// Waits until all notifications are worked on; whether problems were published meanwhile.
    fn synchronize(&mut self) -> Result<bool> {
        self.request("bench/synchronize", &Value::Null)
    }

    fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<bool> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut has_problems = false;
        loop {
            let message = self.receive()?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(has_problems);
            }
            let problems = message["params"]["diagnostics"].as_array();
            has_problems |= problems.is_some_and(|problems| !problems.is_empty());
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        Ok(self.input.flush()?)
    }

    fn receive(&mut self) -> Result<Value> {
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the language server has ended");
            }
            match line.trim().split_once(": ") {
                Some(("Content-Length", value)) => length = Some(value.parse()?),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length.context("a message without a length")?];
        self.output.read_exact(&mut text)?;
        Ok(serde_json::from_str(str::from_utf8(&text)?)?)
    }

    fn end(mut self) -> Result<()> {
        self.request("shutdown", &Value::Null)?;
        self.notify("exit", &Value::Null)?;
        ensure!(self.server.wait()?.success(), "the language server failed");
        Ok(())
    }
}
