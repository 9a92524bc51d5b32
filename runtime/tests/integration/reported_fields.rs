//! Where everything arrives that an agent can report: a table of fields and their readers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evalsuite::record::Mode;
use evalsuite::{
    AgentError, CaseReport, Content, Evals, Evidence, Message, Outcome, Part, PathRef, Role, RunOptions, ToolCall,
    Trial, Usage,
};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, grader, only, run_with, suite};
use crate::judges::scripted;

fn file(name: &str) -> PathRef {
    PathRef::new(name)
}

/// A message with every field.
fn message() -> Message {
    let parts = vec![
        Part::Text("the chart".into()),
        Part::File(file("data.csv")),
        Part::Image { file: file("chart.png"), media_type: "image/png".into() },
    ];
    let call = ToolCall::new("plot").with_input(json!({"x": 1})).with_output("ok").with_id("1").with_error();
    let mut message = Message::new(Role::Assistant, Content::Parts(parts))
        .with_name("main")
        .with_model("of-message")
        .with_usage(Usage::new(3, 2))
        .with_cost_usd(0.125)
        .with_tool_call(call);
    message.start_time = Some("2026-01-04T09:15:00.000Z".into());
    message.end_time = Some("2026-01-04T09:15:01.000Z".into());
    message.duration_ms = Some(1000.0);
    message.llm_call_count = Some(2);
    message.tool_call_id = Some("0".into());
    message.reasoning = Some("a chart says more".into());
    message.metadata = Some(json!({"step": 1}));
    message
}

/// Writes the files of the message.
fn work(trial: &mut Trial<'_>) -> Result<(), AgentError> {
    trial.log("working");
    for (name, content) in [("data.csv", "1,2"), ("chart.png", "png")] {
        fs::write(trial.workspace().join(name), content).map_err(|error| AgentError::new(error.to_string()))?;
    }
    Ok(())
}

/// Returns everything that an outcome can hold; its text is that of the message.
fn returns(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    work(trial)?;
    Ok(Outcome::new()
        .with_messages(vec![message()])
        .with_state("saved", true)
        .with_usage(Usage::new(7, 3).with_cached(2))
        .with_cost_usd(0.25)
        .with_duration(Duration::from_millis(1234))
        .with_model("small")
        .with_metadata("session", "s-1"))
}

/// Reports the same while it runs.
fn reports(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    work(trial)?;
    trial.message(message());
    trial.set_state("saved", true);
    trial.usage(Usage::new(7, 3).with_cached(2));
    trial.cost_usd(0.25);
    trial.set_model("small");
    trial.set_metadata("session", "s-1");
    Ok(Outcome::new().with_duration(Duration::from_millis(1234)))
}

/// What each reader got.
struct Arrived {
    /// Standard input of a code grader.
    code_grader: Value,
    /// What a grader in Rust is told.
    evidence: Value,
    /// Standard input of the hook after the trial.
    hook: Value,
    /// `result.json`.
    record: Value,
    /// The call in the cassette.
    cassette: Value,
    /// Media types and files of the images for the judge, and its prompt.
    judge: (Vec<String>, String),
    log: String,
}

fn told(evidence: &Evidence<'_>) -> Value {
    json!({
        "answer": evidence.answer(), "messages": evidence.transcript(), "state": evidence.state(),
        "usage": evidence.usage(), "cost_usd": evidence.cost_usd(), "duration_ms": evidence.duration().as_millis(),
        "model": evidence.model(), "metadata": evidence.agent_metadata(), "llm_calls": evidence.llm_calls(),
    })
}

fn arrived(bind: impl Fn(Evals) -> Evals) -> Arrived {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let keep = "cat > $EVALSUITE_TRIAL_DIR/stdin.json";
    let graders = json!([
        grader("command", 5, json!({"code-grader": {"run": {"command": {"shell": keep}}}})),
        grader("rust", 6, json!({"user": {"grader": "rust"}})),
        grader("tone", 7, json!({"llm-grader": {"prompt": {"text": "fine?"}}})),
    ]);
    let hook = json!({"command": {"shell": "cat > $EVALSUITE_TRIAL_DIR/hook.json"}, "timeout_ms": 60_000});
    let case = case_json("c", graders, json!({"criteria": "good", "workspace": {"hooks": {"after_each": hook}}}));
    let evidence = Arc::new(Mutex::new(Value::Null));
    let kept = Arc::clone(&evidence);
    let rust = move |evidence: &Evidence<'_>| {
        *kept.lock().unwrap() = told(evidence);
        true
    };
    let judge = scripted([r#"{"score": 1.0}"#]);
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case]));
    let evals = bind(evals.with_grader("rust", rust).with_judge(judge.clone()));
    let options = RunOptions::new().with_mode(Mode::Record).with_cassettes(directory.path().join("cassettes"));
    let report = run_with(&evals, &directory.path().join("out"), options);
    let case: &CaseReport = only(&report);
    let read = |name: &str| fs::read_to_string(case.directory().join("trial-000").join(name)).unwrap_or_default();
    let json = |name: &str| {
        evalsuite_schema::json::from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}\n{case}"))
    };
    let asked = judge.asked();
    let images = asked[0].images().iter().map(|image| format!("{} {}", image.media_type(), image.path().display()));
    Arrived {
        code_grader: json("stdin.json"),
        evidence: evidence.lock().unwrap().clone(),
        hook: json("hook.json"),
        record: json("result.json"),
        cassette: cassette(&directory.path().join("cassettes")),
        judge: (images.collect(), asked[0].user().to_owned()),
        log: read("log.txt"),
    }
}

/// The only call in the only cassette below a directory.
fn cassette(directory: &Path) -> Value {
    let mut path = directory.to_owned();
    while path.is_dir() {
        path = fs::read_dir(&path).unwrap().next().unwrap().unwrap().path();
    }
    let mut file: Value = evalsuite_schema::json::from_slice(&fs::read(path).unwrap()).unwrap();
    file["calls"][0]["returned"].take()
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn everything_that_an_outcome_holds_reaches_graders_records_and_cassettes() {
    type Row = (&'static str, Value, &'static str, &'static str, &'static str);
    let usage = json!({"input": 7, "output": 3, "cached": 2, "reasoning": 0});
    // Field, value, and where it is for a code grader, for a grader in Rust, and in the record. Empty: messages are in the
    // trajectory instead.
    let table: [Row; 8] = [
        ("text", json!("the chart"), "/answer", "/answer", "/answer"),
        ("messages", json!("the chart"), "/output/0/content/0/text", "/messages/0/content/parts/0/text", ""),
        ("state", json!({"saved": true}), "/state", "/state", "/state"),
        ("usage", usage, "/token_usage", "/usage", "/usage"),
        ("cost_usd", json!(0.25), "/cost_usd", "/cost_usd", "/cost_usd"),
        ("duration_ms", json!(1234), "/duration_ms", "/duration_ms", "/duration_ms"),
        ("model", json!("small"), "/model", "/model", "/model"),
        ("metadata", json!({"session": "s-1"}), "/agent_metadata", "/metadata", "/agent_metadata"),
    ];
    for (how, arrived) in [
        ("returned", arrived(|evals| evals.with_agent(returns))),
        ("reported", arrived(|evals| evals.with_agent(reports))),
    ] {
        let fields: BTreeSet<&str> = arrived.cassette.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, table.iter().map(|(field, ..)| *field).collect(), "the table has every field");
        for (field, value, code_grader, evidence, record) in &table {
            let readers =
                [(&arrived.code_grader, code_grader), (&arrived.evidence, evidence), (&arrived.record, record)];
            for (reader, place) in readers.into_iter().filter(|(_, place)| !place.is_empty()) {
                let found = reader.pointer(place).unwrap_or(&Value::Null);
                let is_same = found == value || found.as_f64().is_some_and(|number| Some(number) == value.as_f64());
                assert!(is_same, "{how} `{field}` at {place}: {found}, expected {value}");
            }
        }
        assert_eq!((&arrived.hook["answer"], &arrived.hook["outcome"]), (&json!("the chart"), &json!("passed")));
        assert_eq!(arrived.log, "working\n");
    }
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn what_code_graders_and_hooks_read_conforms_to_the_schemas_of_the_protocols() {
    let schema = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("protocols/{name}.schema.json"));
        let schema: Value = evalsuite_schema::json::from_slice(&fs::read(path).unwrap()).unwrap();
        jsonschema::draft7::new(&schema.into()).unwrap()
    };
    let silent = |trial: &mut Trial<'_>| work(trial).map(|()| "done");
    for arrived in [arrived(|evals| evals.with_agent(returns)), arrived(|evals| evals.with_agent(silent))] {
        for (name, value) in [("code-grader-input", &arrived.code_grader), ("hook-input", &arrived.hook)] {
            let problems: Vec<String> = schema(name)
                .iter_errors(&value.into())
                .map(|problem| format!("{problem} at {}", problem.instance_path()))
                .collect();
            assert_eq!(problems, Vec::<String>::new(), "{name}: {value:#}");
        }
    }
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn every_field_of_a_message_reaches_code_graders() {
    let arrived = arrived(|evals| evals.with_agent(returns));
    let written = evalsuite_schema::json::to_value(&message()).unwrap();
    let output = &arrived.code_grader["output"][0];
    for (field, value) in written.as_object().unwrap() {
        match field.as_str() {
            "content" => {}
            _ => assert_eq!(&output[field], value, "`{field}`"),
        }
    }
    assert_eq!(arrived.evidence["messages"][0], written);
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn files_and_images_of_an_answer_reach_code_graders_and_judges_where_the_agent_wrote_them() {
    let arrived = arrived(|evals| evals.with_agent(returns));
    let content = &arrived.code_grader["output"][0]["content"];
    let workspace = arrived.code_grader["workspace_path"].as_str().unwrap();
    let (data, chart) = (format!("{workspace}/data.csv"), format!("{workspace}/chart.png"));
    assert_eq!(content[1], json!({"type": "file", "value": "data.csv", "path": data}));
    assert_eq!(content[2], json!({"type": "image", "value": "chart.png", "path": chart, "media_type": "image/png"}));
    let (images, prompt) = arrived.judge;
    assert_eq!(images, [format!("image/png {chart}")]);
    assert!(prompt.contains("[[ file: data.csv ]]\n1,2"), "{prompt}");
}
