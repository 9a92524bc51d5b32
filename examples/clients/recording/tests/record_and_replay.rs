//! `cargo evalsuite run --record` and `--replay` with the agents of this workspace: their clients do not know of the proxy.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use fakes::http::{self, Request, Response};
use fakes::{mcp, model};
use serde_json::Value;
use tempfile::TempDir;

/// A key, which no recording may contain.
const KEY: &str = "sk-a-key-of-the-test-4711";

const AGENTS: [&str; 5] = ["openai-clock", "rig-clock", "genai-clock", "adk-clock", "mcp-clock"];

/// Number of calls that reached the model or the MCP server.
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn answer(request: &Request) -> Response {
    CALLS.fetch_add(1, Ordering::SeqCst);
    if request.route.ends_with("/mcp") { mcp::answer(request) } else { model::answer(request) }
}

/// Runs the suites of all agents. Without variables with base URLs, there is no service to call.
fn run(option: &str, variables: &[(&str, &str)]) -> String {
    let records = tempfile::tempdir().unwrap();
    let mut command = Command::new(command_line());
    command.args(["evalsuite", "run", option, "--workspace", "clock"]).current_dir(clients());
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "MODEL_URL", "OLLAMA_URL", "MCP_URL"] {
        command.env_remove(name);
    }
    command.env("CARGO", cargo()).env("EVALSUITE_OUTPUT", records.path()).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{option}: {text}");
    text
}

/// The recorded calls of an agent.
fn calls(agent: &str) -> Vec<Value> {
    let mut files = Vec::new();
    add_files(&recordings(agent), &mut files);
    files.sort();
    assert!(!files.is_empty(), "expected recordings of {agent}");
    let mut calls = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(KEY), "expected no key in {}:\n{text}", file.display());
        let recording: Value = serde_json::from_str(&text).unwrap();
        calls.extend(recording["calls"].as_array().unwrap().clone());
    }
    calls
}

fn recordings(agent: &str) -> PathBuf {
    clients().join(agent).join(".evalsuite/cassettes")
}

fn add_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { add_files(&path, files) } else { files.push(path) }
    }
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The command line of this repository.
fn command_line() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let root = clients().join("../..").canonicalize().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args([
            "build",
            "--quiet",
            "--locked",
            "-p",
            "cargo-evalsuite",
            "--features",
            "record",
            "--message-format=json",
        ]);
        let built = build.current_dir(root).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let messages = String::from_utf8(built.stdout).unwrap();
        let messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let program = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).last();
        program.expect("cargo names the program")
    })
}

/// Cargo for packages that say they need a newer compiler than they do.
fn cargo() -> &'static Path {
    static DIRECTORY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, script) = DIRECTORY.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("cargo");
        let cargo = env!("CARGO");
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = test ]; then shift; exec '{cargo}' test --ignore-rust-version \"$@\"; fi\nexec '{cargo}' \"$@\"\n"
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        (directory, script)
    });
    script
}

#[test]
fn agents_are_replayed_without_services_and_keys() {
    for agent in AGENTS {
        let _ = fs::remove_dir_all(recordings(agent));
    }
    let address = http::serve(answer).unwrap();
    let (v1, v1_slash, mcp) = (format!("{address}/v1"), format!("{address}/v1/"), format!("{address}/mcp"));
    run(
        "--record",
        &[
            ("OPENAI_BASE_URL", &v1),
            ("OPENAI_API_KEY", KEY),
            ("MODEL_URL", &v1_slash),
            ("OLLAMA_URL", &address),
            ("MCP_URL", &mcp),
        ],
    );
    let recorded = AGENTS.map(calls);
    let sent = CALLS.swap(0, Ordering::SeqCst);
    assert_eq!(recorded.iter().map(Vec::len).sum::<usize>(), sent, "every call is recorded once");

    let text = run("--replay", &[]);
    assert!(text.contains(&format!("replayed {sent} model calls of ")), "{text}");
    assert!(!text.contains("warning: "), "{text}");
    assert_eq!(CALLS.load(Ordering::SeqCst), 0, "a replay calls no service");
    assert_eq!(AGENTS.map(calls), recorded, "a replay changes no recording");
    for (agent, calls) in AGENTS.iter().zip(&recorded) {
        let of_model = calls.iter().filter(|call| call["request"]["variable"] != "MCP_URL");
        assert!(of_model.count() >= 2, "{agent} asks its model twice: {calls:?}");
    }
    let is_streamed = |call: &Value| call["response"]["headers"]["content-type"] == "text/event-stream";
    assert!(recorded.iter().flatten().any(is_streamed), "expected a streamed answer: {recorded:?}");
}
