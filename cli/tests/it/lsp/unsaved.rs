//! Diagnostics of texts that are not saved.

use std::fs;

use evalsuite_schema::json::json;

use super::client::Client;
use super::suites::{self, REFUND};
#[cfg(unix)]
use crate::package::Package;

#[test]
fn an_unsaved_text_has_the_problems_that_check_finds_once_it_is_saved() {
    let package = suites::cases();
    let path = "suites/shop/cases/refund/case.yaml";
    let wrong = REFUND.replace("type: polite", "type: polit").replace("value: refund", "value: 5");
    let mut client = Client::open(package.root(), json!({}));
    assert_eq!(client.diagnostics(), [], "the package has no problems");
    client.open_file(path, REFUND);
    client.change(path, 2, &wrong);
    let while_typing = client.diagnostics();
    let [(file, lines)] = while_typing.as_slice() else { panic!("one file has problems: {while_typing:?}") };
    assert_eq!(file, path);
    package.write(path, &wrong);
    let checked = package.run(&["check", "--format", "short"]);
    assert_eq!(checked.code, 1);
    // Lines and columns of the protocol count from 0.
    let expected: Vec<String> = lines
        .iter()
        .map(|line| {
            let (place, rest) = line.split_once(' ').expect("a place");
            let (row, column) = place.split_once(':').expect("a line");
            let (code, message) = rest.split_once(": ").expect("a message");
            let from_one = |text: &str| text.parse::<u32>().expect("a number") + 1;
            let help = message.split_once(" | help: ").map(|(fact, help)| format!("{fact} (help: {help})"));
            let code = code.split(' ').next().expect("a code");
            format!(
                "{path}:{}:{}: error[{code}]: {}\n",
                from_one(row),
                from_one(column),
                help.as_deref().unwrap_or(message)
            )
        })
        .collect();
    assert_eq!(checked.out, expected.concat());
    assert!(expected.len() >= 2, "{expected:?}");
    client.shut_down();
}

#[test]
fn problems_of_other_files_come_and_go_with_the_text() {
    let package = suites::cases();
    let path = "suites/shop/cases/refund/case.yaml";
    let reply = "suites/shop/cases/reply/case.yaml";
    let mut client = Client::open(package.root(), json!({}));
    client.open_file(path, REFUND);
    assert_eq!(client.diagnostics(), []);
    client.change(path, 2, &REFUND.replace("id: refund", "id: refnd"));
    let found = client.diagnostics();
    let message =
        "6:13 E046 unknown-dependency: `depends_on` names `refund`, which is not a case | help: did you mean `refnd`?";
    assert_eq!(found, [(reply.to_owned(), vec![message.to_owned()])]);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": client.uri(path) } }));
    assert_eq!(client.diagnostics(), [(reply.to_owned(), Vec::new())], "the file on the disk counts again");
    client.shut_down();
}

#[test]
fn eval_files_templates_calibrations_and_targets_files_are_checked_while_typing() {
    let package = suites::cases();
    let calibration = "samples:\n  - { id: a, case: reply, output: x, human_score: 0.5 }\n  - { id: b, case: reply, output: y, human_score: 1 }\n";
    package.write("suites/shop/calibration.yaml", calibration);
    package.write(
        "suites/plain/EVAL.yaml",
        "execution: { target: small }\ntests:\n  - { id: a, input: Hi, criteria: Says hi. }\n",
    );
    let targets = "targets:\n  - { name: small, provider: cli, command: \"my-agent {PROMPT}\" }\n";
    package.write("suites/plain/targets.yaml", targets);
    let mut client = Client::open(package.root(), json!({}));
    assert_eq!(client.diagnostics(), []);
    let template = "assertions:\n  - { type: icontains, valu: please }\n";
    for (path, text, expected) in [
        ("suites/shop/EVAL.yaml", "name: shop\nexecuton: {}\n", "1:0 E019 unknown-key: "),
        ("suites/shop/.evalsuite/templates/politeness.yaml", template, "1:23 E019 unknown-key: "),
        ("suites/shop/calibration.yaml", &calibration.replace("case: reply", "case: rply"), "1:19 "),
        ("suites/plain/targets.yaml", &targets.replace("{PROMPT}", "{PROMT}"), "1:43 E072 unknown-placeholder: "),
    ] {
        let saved = fs::read_to_string(package.root().join(path)).expect("the file");
        client.open_file(path, &saved);
        client.change(path, 2, text);
        let found = client.diagnostics();
        let lines = found.iter().find(|(file, _)| file == path).map(|(_, lines)| lines.as_slice()).unwrap_or_default();
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{path}: {found:?}");
        client.change(path, 3, &saved);
        assert!(client.diagnostics().iter().all(|(_, lines)| lines.is_empty()), "{path}");
    }
    client.shut_down();
}

#[test]
fn the_arguments_of_the_macro_count() {
    let package = suites::cases();
    let tests = fs::read_to_string(package.root().join("tests/shop.rs")).expect("the test file");
    package.write("tests/shop.rs", &tests.replace("[polite]", "[polite, rude]"));
    let mut client = Client::open(package.root(), json!({}));
    let found = client.diagnostics();
    let [(file, lines)] = found.as_slice() else { panic!("one file: {found:?}") };
    assert_eq!(file, "tests/shop.rs", "a problem without a place is shown at the macro");
    assert!(lines[0].starts_with("2:20 W016 unused-grader: grader `rude` is registered, but no case"), "{lines:?}");
    package.write("tests/shop.rs", &tests.replace("[polite]", "[polite, rude], allow = [\"unused-grader\"]"));
    let event = json!({ "uri": client.uri("tests/shop.rs"), "type": 2 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [event] }));
    assert_eq!(client.diagnostics(), [("tests/shop.rs".to_owned(), Vec::new())]);
    client.shut_down();
}

#[test]
fn files_that_appear_and_disappear_on_the_disk_are_seen() {
    let package = suites::cases();
    let mut client = Client::open(
        package.root(),
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } }),
    );
    client.synchronize();
    let registered = client.take("client/registerCapability");
    assert_eq!(registered[0]["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    let path = "suites/shop/cases/late/case.yaml";
    let mut tell = |kind: u32| {
        let event = json!({ "uri": client.uri(path), "type": kind });
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [event] }));
        client.diagnostics()
    };
    package.write(path, "inptu: Where is it?\ncriteria: Answers.\n");
    let found = tell(1);
    assert!(found[0].0 == path && found[0].1[0].contains("unknown key `inptu`"), "{found:?}");
    fs::remove_dir_all(package.root().join("suites/shop/cases/late")).expect("the case");
    assert_eq!(tell(3), [(path.to_owned(), Vec::new())]);
    client.shut_down();
}

/// Neovim reports no changes of files on Linux.
#[cfg(unix)]
#[test]
fn files_that_other_programs_write_are_seen_without_the_client() {
    let package = suites::cases();
    let mut client = looking_every(50, &package);
    assert_eq!(client.diagnostics(), []);
    let mut published = |path: &str| {
        let params = client.wait_for("textDocument/publishDiagnostics")["params"].clone();
        assert_eq!(params["uri"], client.uri(path));
        params["diagnostics"].as_array().expect("a list").len()
    };
    let (case, new) = ("suites/shop/cases/refund/case.yaml", "suites/shop/cases/late/case.yaml");
    package.write(case, &suites::REFUND.replace("input", "inptu"));
    assert_ne!(published(case), 0);
    package.write(case, suites::REFUND);
    assert_eq!(published(case), 0);
    package.write(new, "inptu: Where is it?\ncriteria: Answers.\n");
    assert_ne!(published(new), 0);
    fs::remove_dir_all(package.root().join("suites/shop/cases/late")).expect("the case");
    assert_eq!(published(new), 0);
    let suite = "suites/plain/EVAL.yaml";
    let made = "target/plain/EVAL.yaml";
    package.write(made, "tests:\n  - { id: a, inptu: Hi, assertions: [{ type: equals, value: x }] }\n");
    fs::rename(package.root().join("target/plain"), package.root().join("suites/plain")).expect("a directory");
    assert_ne!(published(suite), 0, "a new suite");
    fs::remove_dir_all(package.root().join("suites/plain")).expect("the suite");
    assert_eq!(published(suite), 0, "it is gone, and nobody expects it");
    client.shut_down();
}

#[cfg(unix)]
#[test]
fn files_that_other_programs_write_are_seen_while_the_client_sends_messages() {
    let package = suites::cases();
    let mut client = looking_every(400, &package);
    assert_eq!(client.diagnostics(), []);
    package.write("suites/shop/cases/refund/case.yaml", &suites::REFUND.replace("input", "inptu"));
    let changed = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        !client.diagnostics().is_empty()
    });
    assert!(changed);
    client.shut_down();
}

/// A client that does not tell which files change, and wants the server to look at them after so many milliseconds.
#[cfg(unix)]
fn looking_every(milliseconds: u64, package: &Package) -> Client {
    let mut client = Client::start(package.root(), &[]);
    let folders = json!([{ "uri": client.uri(""), "name": "package" }]);
    let options = json!({ "lookMilliseconds": milliseconds });
    client.request(
        "initialize",
        json!({ "processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": folders, "initializationOptions": options }),
    );
    client.notify("initialized", json!({}));
    client
}

#[test]
fn suites_come_and_go_with_their_files_and_directories() {
    let package = suites::cases();
    let (eval, bare) = ("suites/plain/EVAL.yaml", "suites/bare/one/case.yaml");
    package.write(eval, "tests:\n  - file://more.yaml\n");
    let mut client = Client::open(
        package.root(),
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } }),
    );
    let found = client.diagnostics();
    assert!(found[0].0 == eval && found[0].1[0].contains("E018 missing-path"), "{found:?}");
    let mut tell = |path: &str, kind: u32| {
        let event = json!({ "uri": client.uri(path), "type": kind });
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [event] }));
        client.diagnostics()
    };
    package.write("more.yaml", "- { id: a, inptu: Hi, assertions: [{ type: equals, value: x }] }\n");
    let found = tell("more.yaml", 1);
    assert_eq!(found.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), [eval, "more.yaml"]);
    assert!(found[0].1.is_empty() && found[1].1[0].contains("unknown key `inptu`"), "{found:?}");
    fs::remove_file(package.root().join(eval)).expect("the suite");
    assert_eq!(tell(eval, 3), [("more.yaml".to_owned(), Vec::new())], "as in `check`, nothing is a suite there");
    package.write(bare, "inptu: Hi\nassertions: [{ type: equals, value: x }]\n");
    let found = tell(bare, 1);
    assert!(found[0].0 == bare && found[0].1[0].contains("unknown key `inptu`"), "{found:?}");
    fs::remove_dir_all(package.root().join("suites/bare")).expect("the suite");
    assert_eq!(tell("suites/bare", 3), [(bare.to_owned(), Vec::new())], "clients name only the directory");
    client.shut_down();
}

#[test]
fn without_a_directory_the_package_of_an_open_file_counts() {
    let package = suites::cases();
    let mut client = Client::start(package.root(), &[]);
    client.request("initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} }));
    client.notify("initialized", json!({}));
    assert_eq!(client.diagnostics(), []);
    let path = "suites/shop/cases/refund/case.yaml";
    client.open_file(path, "inptu: Hi\n");
    let found = client.diagnostics();
    assert!(found.iter().any(|(file, lines)| file == path && lines[0].contains("`inptu`")), "{found:?}");
    client.shut_down();
}

#[test]
fn a_saved_case_that_passes_without_work_is_a_warning_until_the_next_edit() {
    let package = suites::cases();
    let path = "suites/plain/EVAL.yaml";
    let text = "tests:\n  - { id: a, input: Say please., assertions: [{ type: contains, value: e }] }\n";
    package.write(path, text);
    let mut client = Client::open(package.root(), json!({}));
    assert_eq!(client.diagnostics(), []);
    client.open_file(path, text);
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": client.uri(path) } }));
    let found = client.diagnostics();
    let [(file, lines)] = found.as_slice() else { panic!("one file has a warning: {found:?}") };
    assert_eq!((file.as_str(), lines.len()), (path, 1));
    assert!(lines[0].starts_with("1:") && lines[0].contains(" W030 passes-without-work: case `a` "), "{lines:?}");
    client.change(path, 2, &text.replace("value: e", "value: el"));
    assert_eq!(client.diagnostics(), [(path.to_owned(), Vec::new())], "nothing is probed while typing");
    client.shut_down();
}
