//! Agents that speak the Agent Client Protocol: the guide, followed line by line, and builds without the feature.

use std::fs;
use std::process::Command;

use evalsuite_needs::slow;
use evalsuite_tests::source::workspace_root;
use evalsuite_tests::throwaway::{Package, suites};

/// An agent that repeats what it is asked.
const AGENT: &str = r#"#!/bin/sh
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
read -r line; answer 1 '{"protocolVersion":1}'
read -r line; answer 2 '{"sessionId":"s"}'
read -r line; said=${line##*'"text":"'}
text="{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"${said%%'"'*}\"}}"
printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}\n' "$text"
answer 3 '{"stopReason":"end_turn"}'
read -r line
"#;

#[test]
fn the_guide_leads_to_a_green_case_and_a_red_one() {
    let guide = fs::read_to_string(workspace_root().join("docs/acp.md")).unwrap();
    let (_, block) = guide.split_once("```console\n").expect("the guide has commands");
    let (block, _) = block.split_once("```").expect("the commands have an end");
    assert!(block.lines().count() <= 12, "expected at most 12 lines:\n{block}");
    let of_cargo = |line: &&str| line.starts_with("$ cargo");
    let cargo: Vec<&str> = block.lines().filter(of_cargo).collect();
    assert_eq!(cargo, ["$ cargo add --dev evalsuite --features acp", "$ cargo test --test notes"]);

    let package = Package::new("acp_guide");
    package.library("").write("bin/my-agent", AGENT);
    let script: String = block
        .lines()
        .filter(|line| !of_cargo(line))
        .map(|line| format!("{}\n", line.strip_prefix("$ ").unwrap_or(line)))
        .collect();
    let done = Command::new("sh").args(["-ec", &script]).current_dir(package.root()).status().unwrap();
    assert!(done.success(), "{script}");
    let program = package.root().join("bin/my-agent");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let ran = package.cargo(["test", "--test", "notes"]).env("PATH", &path).run().fails("one case is red");
    ran.says("test notes::green ... ok").says("test notes::red ... FAILED").says("actual: Say hello.");
    assert_eq!(package.records().of_case("green")[0]["agent"], "acp:default");
}

#[slow(builds)]
#[test]
fn such_agents_without_their_feature_are_compile_errors_that_name_it() {
    let package = Package::with_features("acp_missing", &["cli-agents"]);
    package
        .library("")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/EVAL.yaml", "name: by_case\n")
        .write(
            "targets.yaml",
            "targets:\n  - { name: default, use_target: acp }\n  - { name: acp, provider: acp, command: x }\n",
        );
    for (name, agent) in [("acp", "acp"), ("cli", "cli")] {
        let file = format!("tests/{name}.rs");
        package.write(&file, &format!("evalsuite::include_eval_suite!(\"suites/by_case\", agent = {agent:?});"));
        let build = package.build(["--test", name]).fails("a feature is missing");
        let errors = build.errors(name);
        assert_eq!(errors.len(), 1, "{name}: expected one error\n{}", build.transcript());
        let expected =
            "[E079 missing-feature] agents that speak the Agent Client Protocol need the feature `acp` of evalsuite";
        assert!(errors[0].rendered.contains(expected), "{name}: {}", errors[0].rendered);
        package.remove(&file);
    }
}
