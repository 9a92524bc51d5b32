//! Completion, hover, definitions, fixes and renaming.

use std::fs;

use evalsuite_schema::json::{Value, json};

use super::client::Client;
use super::suites::{self, EVAL, REFUND, REPLY};
use crate::package::Package;

const CASE: &str = "suites/shop/cases/refund/case.yaml";
const REPLY_PATH: &str = "suites/shop/cases/reply/case.yaml";

fn strings(labels: &[String]) -> Vec<&str> {
    labels.iter().map(String::as_str).collect()
}

#[test]
fn keys_are_completed_also_in_files_that_cannot_be_read() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    let labels = client.labels(CASE, "id: a\nexp|\nassertions: [\n");
    assert!(labels.contains(&"expected_output".to_owned()), "{labels:?}");
    assert!(!labels.contains(&"id".to_owned()), "it is there already");
    let labels = client.labels(CASE, "input: Hi\nexecution:\n  |\nassertions:\n");
    assert!(labels.contains(&"timeout_seconds".to_owned()) && !labels.contains(&"input".to_owned()), "{labels:?}");
    let labels = client.labels(CASE, "assertions:\n  - type: contains\n    |\n");
    assert!(labels.contains(&"value".to_owned()) && labels.contains(&"weight".to_owned()), "{labels:?}");
    assert!(!labels.contains(&"type".to_owned()) && !labels.contains(&"prompt".to_owned()), "{labels:?}");
    let labels = client.labels(CASE, "assertions:\n  - |\n");
    assert!(labels.contains(&"type".to_owned()) && labels.contains(&"include".to_owned()), "{labels:?}");
    let labels = client.labels(CASE, "assertions:\n  - { type: contains, |\ninput: \"x\n");
    assert!(labels.contains(&"value".to_owned()), "{labels:?}");
    let labels = client.labels("suites/shop/EVAL.yaml", "na|: shop\n");
    assert!(labels.contains(&"name".to_owned()) && labels.contains(&"tests".to_owned()), "{labels:?}");
    assert_eq!(client.labels("suites/shop/cases/reply/letter.txt", "na|"), Vec::<String>::new());
    client.shut_down();
}

#[test]
fn the_evals_of_a_skill_are_completed() {
    let path = "skills/pdf-forms/evals/evals.json";
    let package = Package::new(&[
        ("skills/pdf-forms/SKILL.md", "---\nname: pdf-forms\ndescription: Fills in forms.\n---\n"),
        (path, "{ \"evals\": [] }"),
    ]);
    let mut client = Client::open(package.root(), json!({}));
    let labels = client.labels(path, "{ \"|\" }");
    assert!(labels.contains(&"skill_name".to_owned()) && labels.contains(&"evals".to_owned()), "{labels:?}");
    let labels = client.labels(path, "{ \"evals\": [{ \"id\": 1, \"|\" }] }");
    assert!(labels.contains(&"expectations".to_owned()) && !labels.contains(&"id".to_owned()), "{labels:?}");
    client.shut_down();
}

#[test]
fn the_front_matter_of_a_skill_is_completed_and_its_text_is_not() {
    let path = "skills/pdf-forms/SKILL.md";
    let package = Package::new(&[(path, ""), ("skills/pdf-forms/evals/evals.json", "{ \"evals\": [] }")]);
    let mut client = Client::open(package.root(), json!({}));
    let labels = client.labels(path, "---\nname: pdf-forms\n|\n---\n\nallowed: text\n");
    let has = |label: &str| labels.contains(&label.to_owned());
    assert!(has("description") && has("allowed-tools") && !has("name"), "{labels:?}");
    let labels = client.labels(path, "---\ndes|");
    assert!(labels.contains(&"description".to_owned()), "{labels:?}");
    for text in ["---\nname: a\n---\n\n|\n", "---\nname: a\n---\n\nname: |\n", "# Title\n|\n", "|---\nname: a\n---\n"] {
        assert_eq!(client.labels(path, text), Vec::<String>::new(), "{text:?}");
    }
    let text = "---\nname: pdf-forms\ndescription: Fills\n---\n";
    client.open_file(path, text);
    let result = client.at("textDocument/hover", path, text, "description", json!({}));
    assert!(result["contents"]["value"].as_str().expect("a text").starts_with("**`description`**"), "{result}");
    client.shut_down();
}

#[test]
fn words_graders_and_ids_are_completed() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    assert_eq!(strings(&client.labels("suites/shop/EVAL.yaml", "kind: |\n")), ["capability", "regression", "mixed"]);
    let labels = client.labels(CASE, "assertions:\n  - type: |\n");
    assert!(labels.contains(&"contains".to_owned()) && labels.contains(&"polite".to_owned()), "{labels:?}");
    assert_eq!(strings(&client.labels(CASE, "assertions:\n  - { type: is-json, negate: | }\n")), ["true", "false"]);
    assert_eq!(client.labels(CASE, "depends_on: [|]\n"), ["refund", "reply"].map(str::to_owned));
    assert_eq!(client.labels(CASE, "input: |\n"), Vec::<String>::new(), "free text");
    client.shut_down();
}

#[test]
fn ids_have_quotes_where_they_need_them() {
    let package = suites::cases();
    package.write("suites/shop/cases/other/case.yaml", &REFUND.replace("id: refund", "id: \"a: \\u200B #1\""));
    let mut client = Client::open(package.root(), json!({}));
    let text = "depends_on: [x]\n";
    client.open_file(CASE, text);
    let items = client.at("textDocument/completion", CASE, text, "x]", json!({}));
    let texts = items.as_array().expect("a list").iter().map(|item| item["textEdit"]["newText"].clone());
    assert_eq!(texts.collect::<Vec<_>>(), ["\"a: \u{200b} #1\"", "refund", "reply"]);
    client.shut_down();
}

#[test]
fn json_gets_quotes_and_a_colon_where_they_are_missing() {
    let package = suites::tasks();
    let path = "suites/card_agent/tasks/small.json";
    let mut client = Client::open(package.root(), json!({}));
    let text = "{ \"id\": \"a\", \"gra";
    client.open_file(path, text);
    let items = client.at("textDocument/completion", path, text, "ra", json!({}));
    let item = items.as_array().expect("a list").iter().find(|item| item["label"] == "graders").expect("the key");
    assert_eq!(item["textEdit"]["newText"], "\"graders\": ");
    assert_eq!(item["textEdit"]["range"]["start"], json!({ "line": 0, "character": 13 }), "the open quote is replaced");
    assert_eq!(item["filterText"], "\"graders\"");
    let labels = client.labels(path, "{ \"graders\": [{ \"name\": \"contains\", \"config\": { \"|\" } }] }");
    assert!(labels.contains(&"value".to_owned()) && !labels.contains(&"weight".to_owned()), "{labels:?}");
    let labels = client.labels(path, "{ \"graders\": [{ \"name\": \"|\" }] }");
    assert!(labels.contains(&"contains".to_owned()), "{labels:?}");
    client.shut_down();
}

#[test]
fn keys_and_graders_have_documentation() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    let mut hover = |mark: &str| {
        let result = client.at("textDocument/hover", CASE, REFUND, mark, json!({}));
        result["contents"]["value"].as_str().map(str::to_owned)
    };
    let text = hover("assertions").expect("a key");
    assert!(text.starts_with("**`assertions`**: a list\n\nThe graders of the case"), "{text}");
    assert!(text.contains("```yaml\nassertions: ") && text.contains("Diagnostics: E"), "{text}");
    assert!(hover("contains").expect("a type").starts_with("**`contains`**\n\n"));
    assert!(hover("value").expect("a key of the grader").starts_with("**`value`**"));
    assert_eq!(hover("polite"), None, "a grader of the user");
    client.shut_down();
}

/// The first place of a definition, with the text that is there.
fn target(result: &Value, root: &std::path::Path) -> Option<(String, String)> {
    let uri = result[0]["uri"].as_str()?;
    let path = uri.strip_prefix(&format!("file://{}/", root.display()))?.to_owned();
    let text = fs::read_to_string(root.join(&path)).ok()?;
    let start = &result[0]["range"]["start"];
    let line = text.lines().nth(usize::try_from(start["line"].as_u64()?).ok()?)?;
    Some((path, line.get(usize::try_from(start["character"].as_u64()?).ok()?..)?.to_owned()))
}

#[test]
fn cases_graders_templates_and_files_have_definitions() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    let mut define = |path: &str, text: &str, mark: &str| {
        let result = client.at("textDocument/definition", path, text, mark, json!({}));
        target(&result, package.root())
    };
    let at = |path: &str, text: &str| Some((path.to_owned(), text.to_owned()));
    assert_eq!(define(REPLY_PATH, REPLY, "refund"), at(CASE, "refund"));
    assert_eq!(define(CASE, REFUND, "polite"), at("tests/shop.rs", "polite(_: &Evidence<'_>) -> bool {"));
    let template = "suites/shop/.evalsuite/templates/politeness.yaml";
    assert_eq!(define("suites/shop/EVAL.yaml", EVAL, "politeness"), at(template, "assertions:"));
    assert_eq!(define(REPLY_PATH, REPLY, "./letter"), at("suites/shop/cases/reply/letter.txt", "Dear shop."));
    assert_eq!(define(CASE, REFUND, "contains"), None, "built in");
    assert_eq!(define(CASE, REFUND, "I want"), None, "text");
    let eval = "workspace: { template: ./template }\ntests: [file://more.yaml, file://../../../../etc/passwd]\n";
    package.write("suites/shop/template/src/a.txt", "a file\n");
    package.write("suites/shop/more.yaml", "- { id: c, input: Hi, criteria: Hi. }\n");
    package.write("suites/shop/EVAL.yaml", eval);
    assert_eq!(define("suites/shop/EVAL.yaml", eval, "./template"), at("suites/shop/template/src/a.txt", "a file"));
    assert!(define("suites/shop/EVAL.yaml", eval, "file://more").is_some());
    assert_eq!(define("suites/shop/EVAL.yaml", eval, "file://.."), None, "outside of the package");
    client.shut_down();
}

#[test]
fn what_check_fixes_is_an_action() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    let wrong = REFUND.replace("assertions", "asertions").replace("input", "inptu");
    client.open_file(CASE, &wrong);
    let mut actions = |line: u32, only: &[&str]| {
        let position = json!({ "line": line, "character": 1 });
        let mut context = json!({ "diagnostics": [] });
        if !only.is_empty() {
            context["only"] = json!(only);
        }
        let document = json!({ "uri": client.uri(CASE) });
        let range = json!({ "start": position, "end": position });
        let params = json!({ "textDocument": document, "range": range, "context": context });
        let result = client.request("textDocument/codeAction", params)["result"].clone();
        let action = |action: &Value| {
            let edits = action["edit"]["changes"][client.uri(CASE)].as_array().expect("edits").len();
            (
                action["kind"].as_str().expect("a kind").to_owned(),
                action["title"].as_str().expect("a title").to_owned(),
                edits,
            )
        };
        result.as_array().expect("a list").iter().map(action).collect::<Vec<_>>()
    };
    let quick = ("quickfix".to_owned(), "Write input".to_owned(), 1);
    let all = ("source.fixAll".to_owned(), "Apply all safe fixes".to_owned(), 2);
    assert_eq!(actions(1, &[]), [quick.clone(), all.clone()]);
    assert_eq!(actions(1, &["quickfix"]), [quick]);
    assert_eq!(actions(0, &["source"]), [all]);
    assert_eq!(actions(0, &["refactor"]), []);
    client.shut_down();
}

#[test]
fn a_case_is_renamed_wherever_it_is_named() {
    let package = suites::cases();
    let calibration = "suites/shop/calibration.yaml";
    let samples = "samples:\n  - { id: refund, case: \"reply\", output: x, human_score: 0.5 }\n  - { id: b, case: reply, output: refund, human_score: 1 }\n";
    package.write(calibration, samples);
    let mut client = Client::open(package.root(), json!({}));
    assert_eq!(client.diagnostics(), []);
    let mut edits = |text: &str, mark: &str, new: &str| {
        let result = client.at("textDocument/rename", REPLY_PATH, text, mark, json!({ "newName": new }));
        let mut all: Vec<(String, String)> = Vec::new();
        for (uri, edits) in result["changes"].as_object().into_iter().flatten() {
            let path = uri.strip_prefix(&format!("{}/", client.uri(""))).expect("a file of the package");
            for edit in edits.as_array().expect("a list") {
                let start = &edit["range"]["start"];
                let text = edit["newText"].as_str().expect("a text");
                all.push((path.to_owned(), format!("{}:{} {text}", start["line"], start["character"])));
            }
        }
        all.sort();
        all
    };
    let one = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    assert_eq!(edits(REPLY, "refund", "money"), [one(CASE, "0:4 money"), one(REPLY_PATH, "6:13 money")]);
    let expected =
        [one(calibration, "1:24 \"answer\""), one(calibration, "2:19 answer"), one(REPLY_PATH, "0:4 answer")];
    assert_eq!(edits(REPLY, "reply", "answer"), expected);
    assert_eq!(edits(REPLY, "refund", "1.5")[0].1, "0:4 \"1.5\"", "a number has to be quoted");
    for (mark, new) in [("refund", "reply"), ("refund", " "), ("criteria", "x"), ("Answers", "x")] {
        assert_eq!(edits(REPLY, mark, new), [], "{mark} {new}");
    }
    package.write(CASE, "input: Hi\ncriteria: Hi.\n");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": client.uri(CASE), "type": 2 }] }));
    let params = json!({ "textDocument": { "uri": client.uri(REPLY_PATH) }, "position": { "line": 6, "character": 14 }, "newName": "x" });
    let message = client.request("textDocument/rename", params)["error"]["message"].clone();
    assert!(message.as_str().expect("an error").starts_with("the id is the name of the directory"), "{message}");
    client.shut_down();
}

#[test]
fn columns_count_utf_16_or_bytes_as_negotiated() {
    let package = suites::cases();
    let text =
        "input: Hi\ncriteria: \"\u{1f600}\u{e9}\"\nassertions: [{ type: contains, value: \"\u{1f600}\", valu: x }]\n";
    for (encodings, column) in [(json!(["utf-16"]), 44), (json!(["utf-8"]), 46), (Value::Null, 44)] {
        let mut client = Client::open(package.root(), json!({ "general": { "positionEncodings": encodings } }));
        client.open_file(CASE, text);
        client.synchronize();
        let published = client.take("textDocument/publishDiagnostics");
        let diagnostics = published.last().expect("diagnostics")["params"]["diagnostics"].clone();
        let unknown = diagnostics.as_array().expect("a list").iter().find(|found| found["code"] == "E019 unknown-key");
        assert_eq!(unknown.expect("the key")["range"]["start"], json!({ "line": 2, "character": column }));
        client.shut_down();
    }
}
