//! `cargo evalsuite run --record` and `--replay`, with real suites, cargo and nextest.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use evalsuite_needs::{needs, slow};
use evalsuite_schema::Value;
use evalsuite_tests::http_service;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, files_below, suites};

const KEY: &str = "mk-a-key-of-the-test";

/// An agent with a client of its own. `SYSTEM` is a part of its prompt, `QUIET` has it make no call, `PROUD` ignore errors.
const AGENT: &str = r#"
use std::env::{var, var_os};
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, Box<dyn Error>> {
    if var_os("QUIET").is_some() {
        return Ok("hello".to_owned());
    }
    let id = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let system = var("SYSTEM").unwrap_or_default();
    let body = format!("{{\"id\":\"{id}\",\"system\":{system:?},\"prompt\":{:?}}}", trial.prompt());
    match ask(&body) {
        Err(_) if var_os("PROUD").is_some() => Ok("hello".to_owned()),
        answer => answer,
    }
}

fn ask(body: &str) -> Result<String, Box<dyn Error>> {
    let (url, key) = (var("MODEL_URL")?, var("MODEL_KEY")?);
    let (address, path) = url.strip_prefix("http://").ok_or("http")?.split_once('/').unwrap_or_default();
    let mut stream = TcpStream::connect(address)?;
    let length = body.len();
    write!(stream, "POST /{path}/chat HTTP/1.0\r\nauthorization: Bearer {key}\r\ncontent-length: {length}\r\n\r\n{body}")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (head, answer) = response.split_once("\r\n\r\n").ok_or("no answer")?;
    if head.contains(" 200 ") { Ok(answer.to_owned()) } else { Err(answer.into()) }
}
"#;

/// Number of calls that reached the model.
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn model(request: &str) -> String {
    let call = CALLS.fetch_add(1, Ordering::SeqCst);
    format!("hello {call}, {}", request.len())
}

struct Recorded(Package);

impl Recorded {
    fn new(name: &str) -> Self {
        let package = Package::new(name);
        package
            .write("build.rs", suites::BUILD_SCRIPT)
            .library(AGENT)
            .write(
                "tests/evals.rs",
                &format!(
                    "use {name}::agent;\nevalsuite::include_eval_suite!(\"suites/shop\", record = [\"MODEL_URL\"], \
                     record_ignore = [\"/id\"]);\n"
                ),
            )
            .write("suites/shop/EVAL.yaml", "description: Refunds.\nexecution:\n  trials: { count: 2 }\n")
            .write("suites/shop/cases/small/case.yaml", &suites::case("small refund", "hello"))
            .write("suites/shop/cases/large/case.yaml", &suites::case("large refund", "hello"));
        Self(package)
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        self.0.records().clear();
        let call = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &self.0);
        let call = variables.iter().fold(call, |call, (name, value)| call.env(name, *value));
        call.args(["evalsuite", "run"]).args(arguments.iter().copied()).with_cargo().env("EVALSUITE_RUN_ALL", "1").run()
    }

    /// The recordings of trials with their contents.
    fn recordings(&self) -> BTreeMap<PathBuf, String> {
        let files = files_below(&self.0.root().join(".evalsuite/cassettes"));
        files.into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect()
    }

    fn results(&self) -> Vec<Value> {
        self.0.records().results()
    }
}

#[slow(builds)]
#[needs(nextest)]
#[test]
fn calls_of_models_are_recorded_and_replayed_without_service_and_key() {
    let recorded = Recorded::new("records_models");
    recorded
        .run(&["--replay"], &[])
        .fails("there is no recording")
        .says("recording_missing")
        .says("there is no recording of the model calls of this trial at ")
        .says("`cargo evalsuite run --record -p records_models shop::small`");
    recorded.run(&["--record"], &[]).fails("the model has no address").says("MODEL_URL is not set");

    let url = http_service::serve(model);
    let service = [("MODEL_URL", url.as_str()), ("MODEL_KEY", KEY)];
    let output = recorded.run(&["--record"], &service).succeeds("the model answers");
    output.says("recorded 4 model calls of 4 trials");
    assert_eq!(CALLS.load(Ordering::SeqCst), 4);
    let recordings = recorded.recordings();
    assert_eq!(recordings.len(), 4, "{recordings:#?}");
    assert!(recordings.values().all(|text| !text.contains(KEY)), "{recordings:#?}");
    let results = recorded.results();
    assert!(results.iter().all(|result| result["model_calls"] == "recorded"), "{results:?}");
    let answers = |results: Vec<Value>| -> BTreeMap<String, String> {
        results
            .iter()
            .map(|result| (format!("{} {}", result["case_id"], result["trial"]), result["answer"].to_string()))
            .collect()
    };
    let recorded_answers = answers(results);

    for arguments in [&["--replay"][..], &["--replay", "--nextest"], &["--replay", "--paced"]] {
        let output = recorded.run(arguments, &[]).succeeds("the recording answers");
        output.says("replayed 4 model calls of 4 trials");
        assert_eq!(answers(recorded.results()), recorded_answers, "{arguments:?}");
        assert!(recorded.results().iter().all(|result| result["model_calls"] == "replayed"));
    }
    // Neither proxies nor another key have any influence.
    let proxies =
        [("HTTP_PROXY", "http://127.0.0.1:9"), ("http_proxy", "http://127.0.0.1:9"), ("MODEL_KEY", "other-key")];
    recorded.run(&["--replay", "small"], &proxies).succeeds("loopback is not reached through a proxy");

    // Another prompt, whether or not the agent makes something of the error.
    for proud in [&[][..], &[("PROUD", "1")]] {
        let changed = [&[("SYSTEM", "Be brief.")][..], proud].concat();
        let output = recorded.run(&["--replay", "small"], &changed).fails("the prompt has changed");
        output
            .says("evaluation error (agent/recording_stale)")
            .says("model call 1 differs from call 1 of the recording, at `/system` of the body: expected `\"\"`, got `\"Be brief.\"`");
        let results = recorded.results();
        assert!(results.iter().all(|result| result["reason"]["code"] == "recording_stale"), "{results:?}");
    }
    let quiet = recorded.run(&["--replay", "small"], &[("QUIET", "1")]).succeeds("the answer is right");
    quiet.says("1 recorded call was not made: call 1 (POST /chat of MODEL_URL)");
    let notes = recorded.results()[0]["notes"].to_string();
    assert!(notes.contains("1 recorded call was not made"), "{notes}");

    // The model has gone: the recording stays.
    let gone = [("MODEL_URL", "http://127.0.0.1:9/v1"), ("MODEL_KEY", KEY)];
    let output = recorded.run(&["--record", "small"], &gone).fails("the model cannot be reached");
    output.says("cannot be reached").says("the model calls were not recorded: the trial ended in an error");
    assert_eq!(recorded.recordings(), recordings);
    assert_eq!(CALLS.load(Ordering::SeqCst), 4, "a replay calls no model");

    // Where the service has moved, its recording is still the same.
    let moved = format!("{}/", url.replace("/v1", "/moved/v2"));
    recorded.run(&["--record", "small"], &[("MODEL_URL", &moved), ("MODEL_KEY", KEY)]).succeeds("the model answers");
    recorded.run(&["--replay"], &[]).succeeds("the recording answers");

    for (arguments, variables, message) in [
        (&["--record", "--replay"][..], &[][..], "cannot be used with"),
        (&["--paced"], &[], "--replay"),
        (&["--replay", "--changed"], &[], "cannot be used with"),
        (
            &["--record"],
            &[("EVALSUITE_MODE", "replay")],
            "EVALSUITE_MODE=replay does not call agents, so `--record` has no calls",
        ),
        (&["--replay"], &[("EVALSUITE_REGRADE", "latest")], "EVALSUITE_REGRADE does not call agents"),
        (&["--record"], &[("MODEL_URL", "model:1")], "MODEL_URL is not the URL of a service"),
    ] {
        recorded.run(arguments, variables).fails("the command line is wrong").says(message);
    }
}
