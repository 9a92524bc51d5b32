//! `mcp` of a target: an agent that is a program, its servers, and runs that record, replay and break them.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_needs::{needs, slow};
use evalsuite_schema::Value;
use evalsuite_schema::json::json;
use evalsuite_tests::throwaway::{Call, CommandOutput, MORE_FEATURES, Package, files_below, read_json, suites};

const KEY: &str = "mk-a-key-of-the-test";

/// A file of the tests.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(name)
}

struct Suite(Package);

impl Suite {
    /// A suite whose cases have these prompts and graders; `keys` are those of `mcp` beside the server `test`.
    fn new(name: &str, keys: &str, cases: &[(&str, &Value, &str)]) -> Self {
        let package = Package::new(name);
        package
            .write("build.rs", suites::BUILD_SCRIPT)
            .library("")
            .write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/shop\", agent = \"cli\");\n")
            .write("suites/shop/EVAL.yaml", "description: Tools.\n");
        let suite = Self(package);
        suite.write_target(keys);
        for (id, prompt, graders) in cases {
            let case = format!("input: '{prompt}'\nassertions:\n{graders}");
            suite.0.write(&format!("suites/shop/cases/{id}/case.yaml"), &case);
        }
        suite
    }

    fn write_target(&self, keys: &str) {
        let (agent, server) = (file("agent.py"), file("server.py"));
        let target = format!(
            "targets:\n- name: default\n  provider: cli\n  command: python3 {} {{MCP_CONFIG}} {{PROMPT_FILE}} {{OUTPUT_FILE}}\n  \
             timeout_seconds: 20\n  mcp:\n    servers:\n      test:\n        command: python3\n        args: ['{}', --serial]\n        \
             env: {{ SERVICE_KEY: '${{{{ SERVICE_KEY }}}}' }}\n{keys}",
            agent.display(),
            server.display(),
        );
        self.0.write("targets.yaml", &target);
    }

    fn run(&self, variables: &[(&str, &str)]) -> CommandOutput {
        self.run_with(&[], variables)
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        self.0.records().clear();
        let call = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &self.0);
        let call = call.env("SERVICE_KEY", KEY);
        let call = variables.iter().fold(call, |call, (name, value)| call.env(name, *value));
        call.args(["evalsuite", "run"]).args(arguments.iter().copied()).with_cargo().run()
    }

    fn result(&self, id: &str) -> Value {
        let results = self.0.records().results();
        results.into_iter().find(|result| result["case_id"] == json!(id)).expect("a result of the case")
    }

    /// The calls in the transcripts of all trials: tool, result, and whether it is an error.
    fn calls(&self) -> Vec<(String, Value, bool)> {
        let mut calls = Vec::new();
        for file in self.0.records().named("evidence.json") {
            let evidence = read_json(&file);
            for call in evidence["calls"].as_array().unwrap() {
                let messages = [&call["returned"]["messages"], &call["reported"]["captured"]["messages"]];
                for message in messages.into_iter().filter_map(Value::as_array).flatten() {
                    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                        let is_error = call.get("is_error").and_then(Value::as_bool).unwrap_or_default();
                        let output = call.get("output").cloned().unwrap_or_default();
                        calls.push((call["tool"].as_str().unwrap().to_owned(), output, is_error));
                    }
                }
            }
        }
        calls
    }
}

fn prompt(calls: &Value) -> Value {
    json!({ "calls": calls })
}

const ECHOED: &str = "- { type: tool-trajectory, mode: in_order, expected: [{ tool: echo, args: { text: hello } }] }\n";

#[slow(builds)]
#[needs(python)]
#[test]
fn calls_of_a_closed_agent_are_graded_recorded_and_replayed() {
    let echo = prompt(&json!([["test", "echo", {"text": "hello"}], ["test", "structured", {}], ["test", "fail", {}]]));
    let wrong = prompt(&json!([["test", "echo", {"text": "bye"}]]));
    let suite = Suite::new("mcp_closed", "", &[("right", &echo, ECHOED), ("wrong", &wrong, ECHOED)]);
    suite
        .run(&[("EVALSUITE_MCP", "replay")])
        .fails("nothing is recorded")
        .says("there is no recording of the MCP servers");
    suite.run(&[]).fails("one case calls the tool with other arguments").says("args mismatch");
    assert_eq!(suite.result("right")["outcome"], json!("passed"));
    let mut calls = suite.calls();
    calls.sort_by(|left, right| left.0.cmp(&right.0));
    let expected = [
        ("echo", json!("bye"), false),
        ("echo", json!("hello"), false),
        ("fail", json!("it failed"), true),
        ("structured", json!({"total": 2.5, "items": ["a"]}), false),
    ];
    calls.sort_by_key(|(tool, output, _)| (tool.clone(), output.to_string()));
    assert_eq!(calls, expected.map(|(tool, output, is_error)| (tool.to_owned(), output, is_error)));

    suite.0.remove("suites/shop/cases/wrong");
    suite.run(&[("EVALSUITE_MCP", "record")]).succeeds("the servers answer");
    let recordings = files_below(&suite.0.root().join(".evalsuite/cassettes"));
    let [recording] = recordings.as_slice() else { panic!("{recordings:?}") };
    assert!(recording.ends_with("trial-000.mcp.json"), "{recording:?}");
    let text = fs::read_to_string(recording).unwrap();
    assert!(!text.contains(KEY) && text.contains("\"it failed\""), "{text}");

    // No server is started: its program is gone.
    let target = fs::read_to_string(suite.0.root().join("targets.yaml")).unwrap();
    suite.0.write("targets.yaml", &target.replace("command: python3\n", "command: no-such-program\n"));
    suite.run(&[("EVALSUITE_MCP", "replay")]).succeeds("the recording answers");
    assert_eq!(suite.calls().len(), 3);
    let changed = prompt(&json!([["test", "echo", {"text": "hello!"}]]));
    suite.0.write("suites/shop/cases/right/case.yaml", &format!("input: '{changed}'\nassertions:\n{ECHOED}"));
    let output = suite.run(&[("EVALSUITE_MCP", "replay")]).fails("the call is not recorded");
    output
        .says("recording_stale")
        .says("call of `echo` of the MCP server `test` is not in the recording; the nearest recorded one differs at `/text`")
        .says("to record it: `EVALSUITE_MCP=record");
    let notes = suite.result("right")["notes"].to_string();
    assert!(notes.contains("3 recorded calls were not made: `echo` of `test`"), "{notes}");
}

#[needs(python)]
#[test]
fn calls_that_the_agent_reports_are_not_doubled() {
    let calls = json!([["test", "echo", {"text": "hello"}], ["test", "fail", {}]]);
    let task = json!({"calls": calls, "report": "mcp__{server}__{tool}"});
    let exact = "- { type: tool-trajectory, mode: exact, expected: [{ tool: echo, args: { text: hello } }, { tool: fail }], args_match: superset }\n";
    let suite = Suite::new("mcp_reports", "", &[("right", &task, exact)]);
    suite.run(&[]).succeeds("each call is there once");
    assert_eq!(suite.calls(), [("echo".into(), json!("hello"), false), ("fail".into(), json!("it failed"), true)]);
}

#[needs(python)]
#[test]
fn what_is_not_known_of_a_closed_agent_is_an_error() {
    let none = "- { type: tool-trajectory, mode: any_order, maximums: { bash: 0 } }\n";
    let few = "- { type: execution-metrics, max_tool_calls: 2 }\n";
    let task = prompt(&json!([["test", "echo", {"text": "hello"}]]));
    let idle = prompt(&json!([]));
    let suite = Suite::new("mcp_unknown", "", &[("bash", &task, none), ("few", &task, few), ("idle", &idle, ECHOED)]);
    suite
        .run(&[])
        .fails("other tools are not seen")
        .says("calls of `bash` are not known: the agent reports no calls itself, and its MCP servers have no such tool (they have: `echo`")
        .says("write `only_tools: true` in `mcp` of its target")
        .says("the agent started none of its MCP servers (`test`)");
    suite.0.remove("suites/shop/cases/bash").remove("suites/shop/cases/idle");
    suite.write_target("    only_tools: true\n");
    suite.run(&[]).succeeds("it has no other tools");
}

#[needs(python)]
#[test]
fn faults_are_injected_and_recorded() {
    let task = json!({"calls": [["test", "echo", {"text": "hello"}], ["test", "echo", {"text": "hello"}]]});
    let handled = format!("{ECHOED}- {{ type: contains, value: \"disk full hello\" }}\n");
    let keys = "    faults: [{ tool: echo, fault: error, calls: [1], message: disk full }]\n";
    let suite = Suite::new("mcp_faults", keys, &[("right", &task, &handled)]);
    suite.run(&[]).succeeds("the agent goes on after an error");
    let result = suite.result("right");
    assert!(
        result["notes"].to_string().contains("`error` was injected into call 1 of `echo`, server `test`"),
        "{result}"
    );
    assert_eq!(suite.calls()[0], ("echo".into(), json!("disk full"), true));
}

#[needs(python)]
#[test]
fn an_agent_that_is_killed_keeps_its_calls() {
    let task = json!({"calls": [["test", "echo", {"text": KEY}]], "hang": true});
    let suite = Suite::new("mcp_killed", "", &[("right", &task, ECHOED)]);
    let target = fs::read_to_string(suite.0.root().join("targets.yaml")).unwrap();
    suite.0.write("targets.yaml", &target.replace("timeout_seconds: 20", "timeout_seconds: 3"));
    suite.run(&[]).fails("the agent does not end").says("did not end within 3 s");
    let records = suite.0.records();
    let texts: Vec<String> = ["trajectory.json", "test.000.jsonl"]
        .iter()
        .flat_map(|name| records.named(name))
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    assert_eq!(texts.len(), 2, "the transcript and the trace");
    assert!(texts.iter().all(|text| text.contains("echo") && !text.contains(KEY)), "{texts:#?}");
    assert!(records.named("config.json").is_empty(), "it has the key of the service");
}

#[slow(builds)]
#[cfg(target_os = "linux")]
#[needs(python)]
#[test]
fn a_sealed_agent_starts_its_servers_and_its_calls_are_recorded_and_replayed() {
    let task = prompt(&json!([["test", "echo", {"text": "hello"}]]));
    let suite = Suite::new("mcp_sealed", "", &[("right", &task, ECHOED)]);
    let target = fs::read_to_string(suite.0.root().join("targets.yaml")).unwrap();
    let sealed = format!("  timeout_seconds: 20\n  sealed: auto\n  read: ['{}']\n", file("").display());
    suite.0.write("targets.yaml", &target.replace("  timeout_seconds: 20\n", &sealed));
    for mode in ["record", "replay"] {
        let ran = suite.run_with(&["--features", MORE_FEATURES], &[("EVALSUITE_MCP", mode)]);
        ran.succeeds("the servers are started in the seal of the agent");
        assert_eq!(suite.calls(), [("echo".into(), json!("hello"), false)], "{mode}");
        let sealed = &suite.result("right")["sealed"];
        assert!(sealed["landlock_abi"].is_number() || sealed["reason"].is_string(), "{sealed}");
    }
}
