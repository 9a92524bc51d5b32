//! Follows a section of docs/which-agent.md: an agent built with rig gets to a green and a red case, and its spans to the record.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fakes::http::{self, Request, Response};
use serde_json::{Value, json};

/// Without TLS: the model is on the loopback interface, and the crates are compiled for the other examples.
const DEPENDENCIES: &str = r#"
rig-agent = { version = "0.46", default-features = false }
rig-core = { version = "0.46", default-features = false, features = ["reqwest"] }
"#;

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A model that knows one capital.
fn answer(_: &Request) -> Response {
    let message = json!({"role": "assistant", "content": "It is Paris."});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13});
    let completion = json!({"id": "1", "object": "chat.completion", "created": 1, "model": "gpt-5-mini"});
    let Value::Object(mut completion) = completion else { unreachable!("an object was written") };
    completion.insert("choices".to_owned(), json!([choice]));
    completion.insert("usage".to_owned(), usage);
    Response::Json(completion.into())
}

/// The files of the section, and of the text above all sections: their paths and their lines.
fn files(page: &str) -> Vec<(String, String)> {
    let (above, _) = page.split_once("\n## ").expect("sections");
    let (_, section) = page.split_once("\n## A framework\n").expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let blocks = [above, section].into_iter().flat_map(|text| text.split("\n```").skip(1).step_by(2));
    let blocks = blocks.filter(|block| !block.starts_with("console"));
    let file = |block: &str| {
        let (_, lines) = block.split_once('\n').expect("a language");
        let place = lines.lines().next().expect("a path");
        let path = place.strip_prefix("// ").or_else(|| place.strip_prefix("# ")).expect("a path in a comment");
        (path.to_owned(), lines.to_owned())
    };
    blocks.map(file).collect()
}

#[test]
fn a_framework_gets_to_a_green_and_a_red_case() {
    let root = clients().join("../..").canonicalize().unwrap();
    let page = fs::read_to_string(root.join("docs/which-agent.md")).unwrap();
    let package = tempfile::tempdir().unwrap();
    let runtime = root.join("runtime");
    let manifest = format!(
        "[package]\nname = \"my-agent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]{DEPENDENCIES}\n\
         [dev-dependencies]\nevalsuite = {{ path = {runtime:?}, features = [\"capture\"] }}\n\n[workspace]\n"
    );
    let mut files = files(&page);
    assert_eq!(files.len(), 2, "a suite and a test: {files:?}");
    files.extend([("Cargo.toml".to_owned(), manifest), ("src/lib.rs".to_owned(), String::new())]);
    for (path, text) in &files {
        let path = package.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::copy(clients().join("Cargo.lock"), package.path().join("Cargo.lock")).unwrap();

    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--offline", "--ignore-rust-version", "--test", "evals"]).current_dir(package.path());
    cargo.env("CARGO_TARGET_DIR", target()).env("EVALSUITE_OUTPUT", package.path().join("records"));
    cargo.env("OPENAI_BASE_URL", format!("{}/v1", http::serve(answer).unwrap())).env("OPENAI_API_KEY", "no-key");
    let output = cargo.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success(), "expected a red case: {text}");
    for line in ["test capitals::green ... ok", "test capitals::red ... FAILED", "evaluation failed: red"] {
        assert!(text.contains(line), "expected `{line}`: {text}");
    }
    let records = records(&package.path().join("records"));
    assert_eq!(records.len(), 2, "one per case: {text}");
    for record in records {
        assert_eq!(record["usage"]["output"], 4, "of the spans: {record:#}");
    }
}

/// The target directory of this workspace, in which the libraries are compiled.
fn target() -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    executable.ancestors().find(|directory| directory.join("CACHEDIR.TAG").is_file()).unwrap().to_owned()
}

/// The records of trials below a directory.
fn records(directory: &Path) -> Vec<Value> {
    let mut records = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            records.extend(self::records(&path));
        } else if path.file_name().is_some_and(|name| name == "result.json") {
            records.push(serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap());
        }
    }
    records
}
