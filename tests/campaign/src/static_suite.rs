//! Suites as the macro would generate them, made while the program runs.

use std::path::Path;

use evalsuite::__private::CompiledJson;
use evalsuite::{EvalCase, EvalSuite};
use serde_json::{Value, json};

/// A suite that lives as long as the program. Its package is at `root`.
pub(crate) fn suite(root: &Path, cases: &[Value], more: &Value) -> &'static EvalSuite {
    let location = json!({"file": "suites/x/EVAL.yaml", "line": 1, "column": 1});
    let suite = json!({"name": "x", "layout": "cases", "kind": "mixed", "location": location, "root": "suites/x"});
    let cases: Vec<EvalCase> = cases.iter().map(case).collect();
    leak(EvalSuite {
        name: "x",
        agent_name: None,
        module_path: "campaign::x",
        package: "campaign",
        package_version: "0.1.0",
        manifest_dir: root.display().to_string().leak(),
        root: "suites/x",
        json: CompiledJson::Text(with(suite, more).to_string().leak()),
        origin: None,
        sources: &[],
        diagnostics: &[],
        embedded: None,
        calibration: None,
        cases: leak(cases),
    })
}

fn case(json: &Value) -> EvalCase {
    let id = json["id"].as_str().unwrap_or_default().to_owned().leak();
    let tag: &'static str = json["tag"].as_str().unwrap_or_default().to_owned().leak();
    EvalCase {
        id,
        test_name: id,
        file: "suites/x/EVAL.yaml",
        line: 1,
        column: 1,
        source: "EVAL.yaml",
        target: None,
        tags: leak([tag]),
        json: CompiledJson::Text(json.to_string().leak()),
    }
}

/// A case with what the loader always writes, and more. `tag` is the tag of its test.
pub(crate) fn case_json(id: &str, graders: &Value, more: &Value) -> Value {
    let case = json!({
        "id": id,
        "location": {"file": "suites/x/EVAL.yaml", "line": 1, "column": 1},
        "input": {"messages": [{"role": "user", "content": {"text": "say hello"}}]},
        "graders": graders,
    });
    with(case, more)
}

/// A grader.
pub(crate) fn grader(name: &str, config: &Value) -> Value {
    json!({"name": name, "location": {"file": "suites/x/EVAL.yaml", "line": 2, "column": 1}, "config": config})
}

fn with(mut object: Value, more: &Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more.clone());
    }
    object
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
