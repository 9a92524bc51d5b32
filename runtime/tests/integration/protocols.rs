//! The pages of the reference about protocols and variables say what their schemas and table say.

use std::fs;
use std::path::Path;

use evalsuite_schema::Value;
use evalsuite_schema::variable::{Topic, VARIABLES};

/// The schemas in `runtime/protocols`, as the page shows them.
const PROTOCOLS: &[&str] = &["code-grader-input", "code-grader-result", "hook-input", "agent-output", "judge-reply"];

/// A longer example has a line for each value.
const MOST_OF_A_LINE: usize = 150;

/// Compares a page with the committed one, or writes it.
fn compare(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference").join(file);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "docs/reference/{file} is out of date; update it with `UPDATE_REFERENCE=1 cargo test -p evalsuite --test integration`"
    );
}

#[test]
fn the_page_about_protocols_is_that_of_the_schemas() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocols");
    let listed = fs::read_dir(&directory).unwrap().count();
    assert_eq!(listed, PROTOCOLS.len(), "every file in runtime/protocols is on the page");
    let mut page = "# Protocols\n\nThe JSON that commands and judges read and write.\n\n".to_owned();
    for name in PROTOCOLS {
        let text = fs::read_to_string(directory.join(format!("{name}.schema.json"))).unwrap();
        let schema: Value = evalsuite_schema::json::from_str(&text).unwrap();
        let (title, description) = (schema["title"].as_str().unwrap(), schema["description"].as_str().unwrap());
        page.push_str(&format!("## {title}\n\n{description}\n\n"));
        for example in schema["examples"].as_array().unwrap() {
            let line = example.to_string();
            let text = if line.len() <= MOST_OF_A_LINE { line } else { format!("{example:#}") };
            page.push_str(&format!("```json\n{text}\n```\n\n"));
        }
        page.push_str(&keys(&schema));
        page.push_str(&format!("[JSON Schema](../../runtime/protocols/{name}.schema.json)\n\n"));
    }
    compare("protocols.md", &format!("{}\n", page.trim_end()));
}

/// The keys of an object that its schema describes; the examples show the others.
fn keys(schema: &Value) -> String {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let described = properties.filter_map(|(key, property)| Some((key, property["description"].as_str()?)));
    let rows: String = described.map(|(key, meaning)| format!("| `{key}` | {meaning} |\n")).collect();
    if rows.is_empty() { rows } else { format!("| key | meaning |\n| --- | --- |\n{rows}\n") }
}

#[test]
fn the_page_about_variables_is_that_of_the_table() {
    let mut page =
        "# Environment variables\n\nThey take precedence over the files of a suite and over the macro, except where the table says otherwise. \
         An empty value counts as unset. A switch is on with `1` or `true`, and off with `0` or `false`. A variable that starts with \
         `EVALSUITE_` and is not listed here is an error.\n\n"
            .to_owned();
    for (topic, heading) in [
        (Topic::Run, "Runs"),
        (Topic::Judge, "Judges"),
        (Topic::Build, "Builds"),
        (Topic::Program, "Set for programs that a run starts"),
    ] {
        page.push_str(&format!(
            "## {heading}\n\n| variable | meaning | value | default |\n| --- | --- | --- | --- |\n"
        ));
        for variable in VARIABLES.iter().filter(|variable| variable.topic == topic) {
            let value = if variable.value == "`1` or `true`, `0` or `false`" { "switch" } else { variable.value };
            let cells = [variable.meaning, value, variable.default].map(|cell| cell.replace('|', "\\|"));
            page.push_str(&format!("| `{}` | {} |\n", variable.name, cells.join(" | ")));
        }
        page.push('\n');
    }
    compare("variables.md", &format!("{}\n", page.trim_end()));
}
