//! The agent under test is the agent in production: no dependency of evalsuite changes what it sends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use evalsuite_tests::http_service::serve;
use evalsuite_tests::throwaway::{Package, suites, workspace};

/// Features that evalsuite enables for crates that an agent may share with it, and why each is harmless.
const ADDITIVE: &str = include_str!("additive_features.txt");

/// An agent that knows nothing of evalsuite. What it sends shows the order of keys and the last bits of numbers.
const CLIENT: &str = r##"
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

/// The body of a request.
pub fn request(prompt: &str) -> String {
    let schema: Value = serde_json::from_str(r#"{"type":"object","properties":{"to":{"type":"string"},"city":{}},"additionalProperties":false}"#).unwrap();
    let mut bits = 1_u64;
    let numbers: Vec<f64> = (0..500)
        .map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let text = format!("{:.17e}", (bits >> 11) as f64 / 1e10);
            serde_json::from_str(&text).unwrap()
        })
        .collect();
    let body = json!({
        "model": "small",
        "messages": [{"role": "user", "content": prompt}],
        "tools": [{"type": "function", "function": {"name": "send", "parameters": schema}}],
        "numbers": numbers,
        "sum": 0.1 + 0.2,
        "directory": std::env::current_dir().unwrap(),
    });
    body.to_string()
}

/// Asks a model on loopback.
pub fn ask(prompt: &str) -> String {
    let (url, body) = (std::env::var("MODEL_ADDRESS").unwrap(), request(prompt));
    let mut stream = TcpStream::connect(url).unwrap();
    write!(stream, "POST /v1 HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split_once("\r\n\r\n").unwrap().1.to_owned()
}
"##;

/// What agents have sent.
static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn sent() -> Vec<String> {
    SENT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A package with an agent that depends on evalsuite for its tests only, with all features.
fn package(name: &str) -> Package {
    let package = Package::new(name);
    let path = |folder: &str| format!("{:?}", workspace().join(folder));
    package.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nserde_json = \"1\"\n\n\
             [dev-dependencies]\nevalsuite = {{ path = {}, features = [\"cli-agents\", \"json-schema\", \"judge\", \"reload\"] }}\n\n\
             [build-dependencies]\nevalsuite-build = {{ path = {}, features = [\"generate\"] }}\n",
            path("runtime"),
            path("build"),
        ),
    );
    package
}

#[test]
fn an_agent_sends_the_same_bytes_under_test_as_in_production() {
    let package = package("same_agent");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", CLIENT)
        .write("src/main.rs", "fn main() { println!(\"{}\", same_agent::ask(\"What is new?\")); }\n")
        .write("suites/news/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/news/cases/new/case.yaml", &suites::case("What is new?", "nothing"))
        .write(
            "tests/evals.rs",
            "fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {\n    \
             Ok(same_agent::ask(trial.prompt()))\n}\n\nevalsuite::include_eval_suite!(\"suites/news\");\n",
        );
    let url = serve(|body| {
        SENT.lock().unwrap_or_else(PoisonError::into_inner).push(body.to_owned());
        "nothing".to_owned()
    });
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    package.cargo(["run"]).env("MODEL_ADDRESS", address).run().succeeds("the agent runs").says("nothing");
    package.cargo(["test"]).env("MODEL_ADDRESS", address).run().succeeds("the case passes").says("news::new ... ok");
    let sent = sent();
    let [in_production, under_test] = &sent[..] else { panic!("expected two requests: {sent:?}") };
    assert!(in_production.contains(r#""properties":{"city":"#), "expected sorted keys: {in_production}");
    assert_eq!(under_test, in_production);
}

/// The features of each crate that a package gets through evalsuite.
fn features() -> BTreeSet<(String, String)> {
    let package = package("features");
    package.write("build.rs", "fn main() {}\n").write("src/lib.rs", "");
    let arguments =
        ["tree", "--edges", "features,all", "--target", "x86_64-unknown-linux-gnu", "--prefix", "none", "--no-dedupe"];
    let tree = package.cargo(arguments).run().succeeds("cargo shows the tree");
    let feature = |line: &str| {
        let (krate, feature) = line.split_once(" feature \"")?;
        Some((krate.to_owned(), feature.split_once('"')?.0.to_owned()))
    };
    tree.stdout.lines().filter_map(feature).filter(|(krate, _)| !krate.starts_with("evalsuite")).collect()
}

/// Crates and features of the list. Its lines are a crate and its features, below comments with the reason.
fn listed() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut listed: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let mut has_reason = false;
    for line in ADDITIVE.lines().filter(|line| !line.is_empty()) {
        has_reason |= line.starts_with('#');
        if let Some((krate, features)) = line.split_once(": ").filter(|_| !line.starts_with('#')) {
            assert!(has_reason, "expected a comment with the reason before `{line}`");
            listed.entry(krate).or_default().extend(features.split_whitespace());
        }
    }
    listed
}

#[test]
fn every_feature_that_evalsuite_enables_is_known_to_be_additive() {
    let (features, listed) = (features(), listed());
    assert!(features.len() > 200, "expected cargo to list features: {features:?}");
    let is_listed = |(krate, feature): &&(String, String)| {
        [krate.as_str(), "*"].iter().any(|name| listed.get(name).is_some_and(|known| known.contains(feature.as_str())))
    };
    let unknown: Vec<String> = features
        .iter()
        .filter(|found| !is_listed(found))
        .map(|(krate, feature)| format!("{krate}/{feature}"))
        .collect();
    assert!(
        unknown.is_empty(),
        "evalsuite enables features that tests/tests/packages/additive_features.txt does not list: {}\n\
         An agent that has the crate gets the feature in its tests. Leave it out, or list it with the reason why the agent \
         stays the same",
        unknown.join(", ")
    );
    for (krate, feature) in
        [("serde_json", "preserve_order"), ("serde_json", "float_roundtrip"), ("serde_json", "arbitrary_precision")]
    {
        assert!(
            !features.contains(&(krate.to_owned(), feature.to_owned())),
            "{krate}/{feature} changes what an agent sends"
        );
    }
}
