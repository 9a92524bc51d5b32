//! Compares a converted suite with the results of promptfoo, `cargo run -p evalsuite-convert --example verdicts -- SUITE RESULTS`.
//!
//! SUITE is a directory, or a configuration of promptfoo, which is then converted: lines with `@`, an outcome, an entry and the reasons are its
//! report. If the suite has errors, there is a line with `!`, the id of a case and the problem for each. RESULTS is what `promptfoo eval -o RESULTS.json` wrote. Each case gets the answer of the result with its prompt and its variables. Prints
//! a line per case: its id, the outcome here and there (`+`, `-`, `?` for another one, which a judge causes), and what it says if they differ.
//! `convert/tests/promptfoo_examples.py` and `promptfoo_generated.py` run it for many configurations.

#[path = "../tests/verdicts/run_suite.rs"]
mod run_suite;

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use evalsuite::{AgentError, Outcome, Trial};
use evalsuite_convert::{CasePlacement, from_promptfoo};
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
    let suite = Path::new(suite).canonicalize().expect("a directory or a configuration");
    let directory = tempfile::tempdir().expect("a directory");
    let suite = if suite.is_file() { converted(&suite, directory.path()) } else { suite };
    let root = suite.parent().expect("a directory above");
    let mut request = Request::new(suite.file_name().expect("a name").to_string_lossy(), root);
    request.workspace_root = root.to_path_buf();
    let loaded = load(&request);
    let Some(loaded) = loaded.suite else {
        for problem in
            loaded.diagnostics.iter().map(|problem| problem.to_string()).filter(|problem| problem.starts_with("error"))
        {
            println!("!\t{}\t{}", case_of(&problem, root), problem.replace('\n', " "));
        }
        std::process::exit(3);
    };
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

/// Converts a configuration to a suite in a directory, and prints what became of its entries.
fn converted(configuration: &Path, directory: &Path) -> PathBuf {
    let conversion =
        from_promptfoo(configuration).expect("a configuration that can be converted").in_layout(CasePlacement::File);
    for entry in conversion.report.entries() {
        println!("@\t{}\t{}\t{}", entry.outcome.word(), entry.name, entry.reasons.join("; ").replace('\n', " "));
    }
    let suite = directory.join("suite");
    conversion.output.write(&suite, false).expect("a suite");
    suite
}

/// The case that has a problem: its schema is named like it, or it is the last one before the line.
fn case_of(problem: &str, root: &Path) -> String {
    let place = problem.lines().find_map(|line| line.trim_start().strip_prefix("--> ")).unwrap_or_default();
    let mut parts = place.split(':');
    let file = Path::new(parts.next().unwrap_or_default());
    let number = parts.next().and_then(|line| line.parse().ok()).unwrap_or(0);
    if file.extension().is_some_and(|extension| extension == "json") {
        return file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let before: Vec<&str> = text.lines().take(number).collect();
    let id = before.iter().rev().find_map(|line| line.trim_start().strip_prefix("- id: "));
    id.unwrap_or_default().to_owned()
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
