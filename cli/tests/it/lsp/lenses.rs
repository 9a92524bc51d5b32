//! Code lenses: a case can be run, and shows its last verdict. Cargo is a script.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use evalsuite_schema::json::{Value, json};

use super::client::Client;
use super::suites::{self, REFUND};
use crate::package::Package;

const CASE: &str = "suites/shop/cases/refund/case.yaml";

/// A client of a package in which `cargo` runs these lines of a script.
fn with_cargo(package: &Package, script: &str) -> Client {
    let cargo = package.root().join("bin/cargo");
    package.write(
        "bin/cargo",
        &format!(
            "#!/bin/sh\nif [ \"$1\" = metadata ]; then echo '{{\"target_directory\": \"out\"}}'; exit; fi\n{script}\n"
        ),
    );
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("a program");
    let output = package.root().join("out").display().to_string();
    let cargo = cargo.display().to_string();
    let path = format!("{}:/usr/bin:/bin", package.root().join("bin").display());
    let refreshes = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
    Client::open_with(package.root(), refreshes, &[("CARGO", &cargo), ("EVALSUITE_OUTPUT", &output), ("PATH", &path)])
}

fn lenses(client: &mut Client) -> Vec<Value> {
    let params = json!({ "textDocument": { "uri": client.uri(CASE) } });
    client.request("textDocument/codeLens", params)["result"].as_array().expect("a list").clone()
}

#[test]
fn a_suite_in_two_open_directories_is_one_suite() {
    let package = suites::cases();
    let mut client = Client::start(package.root(), &[("PATH", "/usr/bin:/bin")]);
    let folders = ["", "suites/shop", "tests"].map(|path| json!({ "uri": client.uri(path), "name": path }));
    let params = json!({ "processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": folders });
    client.request("initialize", params);
    client.open_file(CASE, REFUND);
    assert_eq!(lenses(&mut client).len(), 1);
    client.shut_down();
}

#[test]
fn a_case_is_run_by_its_lens() {
    let package = suites::cases();
    let mut client = with_cargo(&package, "echo \"ran $*\"; echo 'test evals::shop::refund ... ok'");
    client.open_file(CASE, REFUND);
    let found = lenses(&mut client);
    assert_eq!(found.len(), 1, "{found:?}");
    let command = &found[0]["command"];
    assert_eq!(command["title"], "\u{25b6} run case");
    assert_eq!(command["tooltip"], "cargo test --test shop -- shop::refund");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 0, "character": 0 }));
    let run = &command["arguments"][0];
    assert_eq!(run["build"], json!(["test", "--no-run", "--test", "shop"]), "what a debugger builds");
    assert_eq!(run["test"], json!(["shop::refund"]), "what a debugger runs");
    let run = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert_eq!(client.request("workspace/executeCommand", run.clone())["result"], Value::Null);
    assert_eq!(client.wait_for("window/showMessage")["params"]["message"], "refund: passed");
    let logged = client.take("window/logMessage");
    assert_eq!(
        logged.last().expect("the output")["params"]["message"],
        "ran test --test shop -- shop::refund\ntest evals::shop::refund ... ok\n"
    );
    client.wait_for("workspace/codeLens/refresh");

    let mut other = run;
    other["arguments"][0]["arguments"] = json!(["publish"]);
    assert_eq!(client.request("workspace/executeCommand", other)["error"]["message"], "there is no such case");
    let none = json!({ "command": "evalsuite.other", "arguments": [] });
    assert_eq!(client.request("workspace/executeCommand", none)["error"]["code"], -32602);
    client.shut_down();
}

/// What is said about the case after a run with this output.
fn said_after(package: &Package, script: &str) -> Value {
    let mut client = with_cargo(package, script);
    client.open_file(CASE, REFUND);
    let command = lenses(&mut client)[0]["command"].clone();
    let run = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert!(client.request("workspace/executeCommand", run).get("error").is_none());
    let said = client.wait_for("window/showMessage")["params"]["message"].clone();
    client.shut_down();
    said
}

#[test]
fn a_run_says_what_became_of_the_tests_of_the_case_and_of_no_other_one() {
    let package = suites::cases();
    let said = |script: &str| said_after(&package, script);
    assert_eq!(said("echo 'running 0 tests'"), "refund: no test of this case was found");
    assert_eq!(said("echo 'test shop::refund_late ... ok'"), "refund: no test of this case was found");
    assert_eq!(
        said("echo 'test shop::refund ... ok'; echo 'test my_shop::refund ... FAILED'; exit 101"),
        "refund: passed"
    );
    let skipped = "echo 'test a::shop::refund ... ok'; echo 'evalsuite: SKIPPED a::shop::refund: needs a judge' >&2";
    assert_eq!(said(skipped), "refund: skipped");
    assert_eq!(said("echo 'error: expected `;`' >&2; exit 101"), "refund: did not pass");
    let killed = "echo 'test shop::refund ... ok'; echo 'error: test failed' >&2; exit 101";
    assert_eq!(said(killed), "refund: did not pass", "the program died before the test of another target");
    assert_eq!(said("echo '50 %test shop::refund ... FAILED'; exit 101"), "refund: did not pass");
    assert_eq!(said("echo '50 %test shop::refund ... ok'"), "refund: passed");
}

#[test]
fn what_nextest_shows_of_a_test_that_passed_says_whether_its_case_was_skipped() {
    let package = suites::cases();
    package.write("bin/cargo-nextest", "");
    let shown = "ran nextest run --test shop --ignore-default-filter --success-output immediate -E test(/(^|::)shop::([^:]+::)?refund$/)\n";
    let mut client = with_cargo(&package, "echo \"ran $*\"");
    client.open_file(CASE, REFUND);
    let command = lenses(&mut client)[0]["command"].clone();
    let run = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert!(client.request("workspace/executeCommand", run).get("error").is_none());
    client.wait_for("window/showMessage");
    assert_eq!(client.take("window/logMessage").last().expect("the output")["params"]["message"], shown);
    client.shut_down();

    let output = |test: &str, status: &str, result: &str, errors: &str| {
        format!(
            "        {status} [   0.1s] (1/1) shop::shop {test}\n  stdout \u{2500}\u{2500}\u{2500}\n\n    running 1 test\n    test {test} ... {result}\n{errors}"
        )
    };
    let said = |outputs: &[String], status: i32| {
        let passed = outputs.iter().filter(|output| output.contains(" PASS [")).count();
        let summary = format!("     Summary [   0.026s] {passed} tests run: {passed} passed, 0 skipped\n");
        package.write("bin/output", &(outputs.concat() + &summary));
        said_after(&package, &format!("cat bin/output >&2; exit {status}"))
    };
    let skip = |test: &str| {
        let errors = format!("  stderr \u{2500}\u{2500}\u{2500}\n    evalsuite: SKIPPED {test}: needs a judge\n");
        output(test, "PASS", "ok", &errors)
    };
    let (pass, fail) = (|test: &str| output(test, "PASS", "ok", ""), |test: &str| output(test, "FAIL", "FAILED", ""));
    assert_eq!(said(&[pass("shop::refund")], 0), "refund: passed");
    assert_eq!(said(&[skip("shop::refund")], 0), "refund: skipped");
    assert_eq!(said(&[skip("a::shop::refund"), pass("b::shop::refund")], 0), "refund: passed", "one of two has run");
    assert_eq!(said(&[fail("shop::refund"), pass("shop::refund")], 0), "refund: passed", "in its second attempt");
    assert_eq!(said(&[fail("shop::refund"), fail("shop::refund")], 100), "refund: did not pass");
    let with_one_thread = pass("shop::refund").replace(" ... ok", " ... evaluation passed: shop/refund\n    ok");
    assert_eq!(
        said(&[with_one_thread], 0),
        "refund: passed",
        "nextest captures the output of tests, and libtest does not"
    );
    assert_eq!(said(&[], 0), "refund: no test of this case was found");
    assert_eq!(said(&["error: no tests to run\n".to_owned()], 4), "refund: no test of this case was found");
    assert_eq!(said(&["error: expected `;`\n".to_owned()], 101), "refund: did not pass");
    let unknown = "error: unexpected argument '--ignore-default-filter' found\n".to_owned();
    assert_eq!(said(&[unknown], 2), "refund: nextest 0.9.77 or later is needed");
}

#[test]
fn each_target_of_the_case_is_run_and_no_case_with_a_longer_name() {
    let package = suites::cases();
    package.write("suites/shop/EVAL.yaml", &suites::EVAL.replace("timeout_seconds: 60", "targets: [mini, large]"));
    package.write("suites/shop/cases/refund-late/case.yaml", &REFUND.replace("id: refund", "id: refund-late"));
    let mut client = with_cargo(&package, "");
    client.open_file(CASE, REFUND);
    let arguments = lenses(&mut client)[0]["command"]["arguments"][0]["arguments"].clone();
    let expected = "test --test shop -- shop::mini::refund shop::large::refund --skip shop::mini::refund_late --skip shop::large::refund_late";
    let shown = arguments.as_array().expect("a list").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(shown, expected);
    client.shut_down();
    let output = "echo 'test shop::mini::refund ... ok'; echo 'test shop::large::refund ... FAILED'; exit 101";
    assert_eq!(said_after(&package, output), "refund: did not pass");
}

#[test]
fn a_case_that_fails_is_told_and_a_second_run_waits() {
    let package = suites::cases();
    let mut client = with_cargo(&package, "while [ ! -e go ]; do sleep 0.05; done; exit 101");
    client.open_file(CASE, REFUND);
    let command = lenses(&mut client)[0]["command"].clone();
    let run = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert!(client.request("workspace/executeCommand", run.clone()).get("error").is_none());
    let again = client.request("workspace/executeCommand", run);
    assert_eq!(again["error"]["message"], "another case is running");
    package.write("go", "");
    assert_eq!(client.wait_for("window/showMessage")["params"]["message"], "refund: did not pass");
    client.shut_down();
}

#[test]
fn the_verdict_of_the_newest_run_is_shown() {
    let package = suites::cases();
    let case = json!({
        "schema": "evalsuite.case/1", "run_id": "run-1", "suite": "shop", "suite_digest": "", "layout": "cases",
        "kind": "capability", "case_id": "refund", "case_key": "refund", "case_digest": "", "input_digest": "",
        "grader_digest": "", "test_name": "shop::refund", "target": "default", "agent": "agent",
        "location": { "file": CASE, "line": 1, "column": 1 }, "runner_attempt": 1, "requested_by": null,
        "outcome": "failed", "reason": null, "score": 0.5, "threshold": 0.8, "rule": "any", "strategy": null,
        "trials": [], "planned": 3, "completed": 3, "passed": 1, "errors": 0, "truncated": false, "cost_limited": false,
        "pass_at_k": {}, "pass_hat_k": {}, "mean": 0.5, "min": 0.0, "max": 1.0, "stddev": null, "ci95_lower": null,
        "ci95_upper": null, "stability": null,
    });
    package.write("out/runs/run-1/suites/shop-0/cases/refund/case.json", &case.to_string());
    package.write("out/runs/run-1/run.json", "{}");
    package.write("out/latest", "run-1");
    let mut client = with_cargo(&package, "exit 1");
    client.open_file(CASE, REFUND);
    let titles: Vec<Value> = lenses(&mut client).iter().map(|lens| lens["command"]["title"].clone()).collect();
    assert_eq!(titles, ["\u{25b6} run case", "failed (1 of 3 trials), score 0.50"]);
    client.shut_down();
}
