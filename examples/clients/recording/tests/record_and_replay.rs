//! `cargo evalsuite run --record` and `--replay` with the agents of this workspace: their clients do not know of the proxy.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use fakes::http::{self, Request, Response};
use fakes::{mcp, model};
use serde_json::Value;
use tempfile::TempDir;

/// A key, which no recording may contain.
const KEY: &str = "sk-a-key-of-the-test-4711";

/// Number of calls that reached the model or the MCP server.
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn answer(request: &Request) -> Response {
    CALLS.fetch_add(1, Ordering::SeqCst);
    if request.route.ends_with("/mcp") { mcp::answer(request) } else { model::answer(request) }
}

/// The recordings of one agent, and how it is run.
struct Recorded {
    package: &'static str,
    suites: &'static [&'static str],
    recordings: TempDir,
}

impl Recorded {
    fn new(package: &'static str, suites: &'static [&'static str]) -> Self {
        Self { package, suites, recordings: tempfile::tempdir().unwrap() }
    }

    /// Runs the suites. Without variables with base URLs, there is no service to call.
    fn run(&self, option: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(command_line());
        command.args(["evalsuite", "run", option, "-p", self.package]).args(self.suites);
        for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "MODEL_URL", "OLLAMA_URL", "MCP_URL"] {
            command.env_remove(name);
        }
        command
            .current_dir(clients())
            .env("CARGO", cargo())
            .env("EVALSUITE_CASSETTES", self.recordings.path())
            .env("EVALSUITE_OUTPUT", self.recordings.path().join("runs"))
            .envs(variables.iter().copied());
        command.output().unwrap()
    }

    /// The recorded calls of all trials.
    fn calls(&self) -> Vec<Value> {
        let mut files = Vec::new();
        add_recordings(self.recordings.path(), &mut files);
        files.sort();
        assert!(!files.is_empty(), "expected recordings of {}", self.package);
        let mut calls = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains(KEY), "expected no key in {}:\n{text}", file.display());
            let recording: Value = serde_json::from_str(&text).unwrap();
            calls.extend(recording["calls"].as_array().unwrap().clone());
        }
        calls
    }
}

fn add_recordings(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "runs") {
            add_recordings(&path, files);
        } else if path.to_string_lossy().ends_with(".calls.json") {
            files.push(path);
        }
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
        build.args(["build", "--quiet", "--locked", "-p", "cargo-evalsuite", "--message-format=json"]);
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

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Records and replays all agents, one after another: they share the number of calls.
#[test]
fn agents_are_replayed_without_services_and_keys() {
    let address = http::serve(answer).unwrap();
    let (v1, v1_slash, mcp) = (format!("{address}/v1"), format!("{address}/v1/"), format!("{address}/mcp"));
    let openai = [("OPENAI_BASE_URL", v1.as_str()), ("OPENAI_API_KEY", KEY)];
    let agents: [(Recorded, Vec<(&str, &str)>); 5] = [
        (Recorded::new("openai-clock", &["clock"]), openai.to_vec()),
        (Recorded::new("rig-clock", &["clock", "clock_names"]), openai.to_vec()),
        (Recorded::new("genai-clock", &["clock"]), vec![("MODEL_URL", &v1_slash), ("MODEL_KEY", KEY)]),
        (Recorded::new("adk-clock", &["clock", "clock_names"]), vec![("OLLAMA_URL", &address)]),
        (Recorded::new("mcp-clock", &["clock"]), [&openai[..], &[("MCP_URL", &mcp)]].concat()),
    ];
    for (agent, variables) in &agents {
        let package = agent.package;
        let recorded = agent.run("--record", variables);
        assert!(recorded.status.success(), "{package} is recorded: {}", text(&recorded));
        let calls = agent.calls();
        let sent = CALLS.swap(0, Ordering::SeqCst);
        assert_eq!(calls.len(), sent, "{package}: every call is recorded: {}", text(&recorded));

        let replayed = agent.run("--replay", &[]);
        assert!(replayed.status.success(), "{package} is replayed: {}", text(&replayed));
        assert!(text(&replayed).contains(&format!("replayed {sent} model calls")), "{package}: {}", text(&replayed));
        assert_eq!(CALLS.load(Ordering::SeqCst), 0, "{package}: a replay calls no service");
        assert_eq!(agent.calls(), calls, "{package}: a replay changes no recording");
    }
    let rig = agents[1].0.calls();
    let streamed = rig.iter().filter(|call| call["response"]["headers"]["content-type"] == "text/event-stream");
    let parts: Vec<usize> = streamed.map(|call| call["response"]["parts"].as_array().unwrap().len()).collect();
    assert!(!parts.is_empty(), "expected streamed answers: {rig:?}");
    eprintln!("{parts:?}");
}
