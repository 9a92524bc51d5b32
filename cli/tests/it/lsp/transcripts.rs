//! Whole sessions, with everything that both sides say.

use evalsuite_schema::json::json;

use super::client::Client;
use super::suites::{self, REFUND, TASK};

#[test]
fn a_session_in_the_cases_layout() {
    let package = suites::cases();
    let mut client = Client::open(package.root(), json!({}));
    let path = "suites/shop/cases/refund/case.yaml";
    client.open_file(path, REFUND);
    let typed = REFUND.replace("assertions:", "asertions:");
    client.change(path, 2, &typed);
    let range = json!({ "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 0 } });
    let document = json!({ "uri": client.uri(path) });
    client.request(
        "textDocument/codeAction",
        json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } }),
    );
    client.change(path, 3, REFUND);
    client.at("textDocument/hover", path, REFUND, "assertions", json!({}));
    client.at("textDocument/completion", path, REFUND, "contains", json!({}));
    client.at("textDocument/definition", path, REFUND, "polite", json!({}));
    client.at("textDocument/prepareRename", path, REFUND, "refund", json!({}));
    client.at("textDocument/rename", path, REFUND, "refund", json!({ "newName": "money-back" }));
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": client.uri(path) } }));
    insta::assert_snapshot!("cases_layout", client.shut_down());
}

#[test]
fn a_session_in_the_tasks_layout() {
    let package = suites::tasks();
    let mut client = Client::open(package.root(), json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } }));
    let path = "suites/card_agent/tasks/small.json";
    client.open_file(path, TASK);
    client.change(path, 2, &TASK.replace("\"description\"", "\"descripton\""));
    client.at("textDocument/hover", path, TASK, "config", json!({}));
    client.change(path, 3, TASK);
    client.at("textDocument/hover", path, TASK, "value", json!({}));
    client.at("textDocument/completion", path, TASK, "contains", json!({}));
    insta::assert_snapshot!("tasks_layout", client.shut_down());
}
