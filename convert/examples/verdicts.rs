//! Compares a converted suite with the results of promptfoo, `cargo run -p evalsuite-convert --example verdicts -- SUITE RESULTS`.
//!
//! RESULTS is what `promptfoo eval -o RESULTS.json` wrote. Each case gets the answer of the result with its prompt and its variables. Prints
//! a line per case: its id, the outcome here and there (`+`, `-`, `?` for another one, which a judge causes), and what it says if they differ.
//! `convert/tests/promptfoo_examples.py` runs it for many configurations.

#[path = "../tests/verdicts/run_suite.rs"]
mod run_suite;

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::sync::OnceLock;

use evalsuite::{AgentError, Outcome, Trial};
use evalsuite_loader::{Request, load};
use evalsuite_schema::Value;
use evalsuite_schema::json::{from_str, to_value};

/// The answer to each case, by its id.
static ANSWERS: OnceLock<BTreeMap<String, String>> = OnceLock::new();

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [suite, results] = &arguments[..] else {
        panic!("name the directory of a suite, and the results of promptfoo")
    };
    let suite = Path::new(suite).canonicalize().expect("a directory");
    let root = suite.parent().expect("a directory above");
    let mut request = Request::new(suite.file_name().expect("a name").to_string_lossy(), root);
    request.workspace_root = root.to_path_buf();
    let loaded = load(&request).suite.expect("a suite without errors");
    let text = std::fs::read_to_string(results).expect("the results");
    let results: Value = from_str(&text).expect("JSON");
    let mut results: Vec<&Value> =
        results["results"]["results"].as_array().expect("a list of results").iter().collect();
    results.sort_by_key(|result| (result["testIdx"].as_u64(), result["promptIdx"].as_u64()));
    let (mut answers, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    for case in &loaded.cases {
        let case = to_value(&*case.case).expect("JSON");
        let id = case["id"].as_str().unwrap_or_default().to_owned();
        let prompt = texts(&case["input"]);
        let same_prompt = |result: &&Value| texts(&prompt_of(result)) == prompt;
        let same_variables = |result: &&Value| result["vars"] == case["metadata"]["vars"];
        let found = results.iter().position(|result| same_prompt(result) && same_variables(result));
        let Some(index) = found.or_else(|| results.iter().position(same_prompt)) else { continue };
        let result = results.remove(index);
        let answer = match &result["response"]["output"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        answers.insert(id.clone(), answer);
        theirs.insert(id, if result["success"] == true { '+' } else { '-' });
    }
    ANSWERS.set(answers).expect("once");
    for (id, ours, text) in run_suite::run(&loaded, root, answer) {
        match theirs.get(&id) {
            Some(theirs) if ours == '?' || ours == *theirs => println!("{id}\t{ours}\t{theirs}"),
            Some(theirs) => println!("{id}\t{ours}\t{theirs}\t{}", text.replace('\n', " | ")),
            None => println!("{id}\t{ours}\tnone"),
        }
    }
}

fn answer(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    trial.cost_usd(0.0001);
    let answer = ANSWERS.get().and_then(|answers| answers.get(trial.case_id()));
    answer.map(|answer| Outcome::new().with_text(answer)).ok_or_else(|| AgentError::new("promptfoo has no result"))
}

/// The prompt of a result, a chat as JSON.
fn prompt_of(result: &Value) -> Value {
    let text = result["prompt"]["raw"].as_str().unwrap_or_default();
    from_str(text)
        .ok()
        .filter(|chat: &Value| chat.is_array() || chat.is_object())
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// All texts of a prompt, without white space around them, which suites do not have.
fn texts(prompt: &Value) -> Vec<String> {
    match prompt {
        Value::String(text) if matches!(&**text, "system" | "user" | "assistant" | "text") => Vec::new(),
        Value::String(text) => vec![text.trim().to_owned()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(entries) => entries
            .iter()
            .filter(|(key, _)| *key != "role" && *key != "type")
            .flat_map(|(_, value)| texts(value))
            .collect(),
        _ => Vec::new(),
    }
}
