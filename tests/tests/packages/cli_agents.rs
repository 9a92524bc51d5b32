//! Agents that are commands: packages whose only Rust code is the macro call.

use std::fs;
use std::process::Command;

use evalsuite_needs::{needs, slow};
use evalsuite_schema::json::{Value, json};
use evalsuite_tests::throwaway::{Package, suites};

/// Reads its prompt, changes the workspace, and reports a tool call, tokens and cost.
const AGENT: &str = r#"set -eu
prompt=$(tail -n 1 "$1")
echo "$prompt" >> note.txt
echo "$PERSONA: working on $EVALSUITE_CASE_ID" >&2
cat > "$2" <<END
{ "output": [{ "role": "assistant", "content": "$PERSONA heard: $prompt",
               "tool_calls": [{ "tool": "write", "input": { "path": "note.txt" } }] }],
  "token_usage": { "input": 7, "output": 3 }, "cost_usd": 0.25 }
END
"#;

const TARGETS: &str = r#"targets:
  - { name: polite, provider: cli, command: 'sh "$EVALSUITE_SUITE_DIR/agent.sh" {PROMPT_FILE} {OUTPUT_FILE}', env: { PERSONA: Polite } }
  - { name: default, use_target: polite }
  - name: terse
    provider: cli
    command: sh "$EVALSUITE_SUITE_DIR"/agent.sh {PROMPT_FILE} {OUTPUT_FILE}
    env: { PERSONA: Terse }
    healthcheck: { command: 'echo checked >> "$EVALSUITE_SUITE_DIR"/../../checked.txt' }
"#;

/// Two targets, a case with a workspace and a conversation.
const EVAL: &str =
    "execution:\n  targets: [terse, { name: friendly, use_target: default }]\nworkspace: { template: ./start }\n";

const EDITS: &str = "input: fix the note\nassertions:\n  - { type: contains, value: 'heard: fix the note' }\n  \
    - { type: tool-trajectory, mode: any_order, minimums: { write: 1 } }\n  \
    - { type: code-grader, command: 'grep -q \"fix the note\" \"$EVALSUITE_WORKSPACE\"/note.txt' }\n";

const TALKS: &str = "mode: conversation\ninput: [{ role: system, content: be brief }]\nturns:\n  \
    - { input: hello, assertions: [{ type: contains, value: 'heard: hello' }] }\n  \
    - input: bye\n    assertions:\n      - { type: contains, value: 'heard: bye' }\n      \
    - { type: code-grader, command: 'grep -q hello \"$EVALSUITE_WORKSPACE\"/note.txt' }\n";

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .add_generator()
        .library("")
        .write(
            "build.rs",
            "fn main() { evalsuite_build::generate(\"suites/by_case\").name(\"generated\").cli_agents().write(); }",
        )
        .write("targets.yaml", TARGETS)
        .write("suites/by_case/EVAL.yaml", EVAL)
        .write("suites/by_case/agent.sh", AGENT)
        .write("suites/by_case/start/note.txt", "a note\n")
        .write("suites/by_case/cases/edits/case.yaml", EDITS)
        .write("suites/by_case/cases/talks/case.yaml", TALKS)
        .write(
            "tests/evals.rs",
            "evalsuite::include_eval_suite!(\"suites/by_case\", agent = \"cli\", deny_warnings);
            mod other { include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/generated.rs\")); }",
        );
    package
}

const TESTS: [&str; 4] = ["terse::edits", "terse::talks", "friendly::edits", "friendly::talks"];

/// Fails the test unless the records hold what the commands reported.
fn check_records(package: &Package, per_case: usize) {
    let edits = package.records().of_case("edits");
    assert_eq!(edits.len(), 2 * per_case, "one trial per target and test");
    for trial in &edits {
        let (agent, persona) = match trial["target"].as_str() {
            Some("terse") => ("cli:terse", "Terse"),
            _ => ("cli:polite", "Polite"),
        };
        assert_eq!(trial["agent"], agent, "an alias is followed");
        assert_eq!(trial["answer"], format!("{persona} heard: fix the note"));
        assert_eq!(trial["workspace"]["modified"], json!(["note.txt"]));
        assert_eq!((&trial["usage"]["input"], &trial["cost_usd"]), (&json!(7), &json!(0.25)));
    }
    for trial in package.records().of_case("talks") {
        let turns: Vec<&Value> =
            trial["turns"].as_array().expect("turns").iter().map(|turn| &turn["outcome"]).collect();
        assert_eq!(turns, ["passed", "passed"]);
        assert_eq!((&trial["usage"]["output"], &trial["cost_usd"]), (&json!(6), &json!(0.5)), "turns add up");
    }
}

#[test]
fn commands_of_a_targets_file_are_agents() {
    let package = package("cli_agents");
    let ran = package.cargo(["test", "--test", "evals"]).run().succeeds("all cases pass");
    for test in TESTS {
        ran.says(&format!("test by_case::{test} ... ok")).says(&format!("test other::generated::{test} ... ok"));
    }
    check_records(&package, 2);
    let checked = fs::read_to_string(package.root().join("checked.txt")).expect("the health of `terse` was checked");
    assert_eq!(checked, "checked\n", "expected one health check per run");

    let ran = package.cargo(["test", "--test", "evals", "by_case"]).env("EVALSUITE_TARGET", "terse").run();
    ran.succeeds("the other target is skipped").says("SKIPPED by_case::friendly::edits");

    package.write("ci/targets.yml", "targets: [{ name: terse, provider: cli, command: 'echo other > {OUTPUT_FILE}' }]");
    let ran = package.cargo(["test", "--test", "evals", "--", "--exact", "by_case::terse::edits"]);
    let ran = ran.env("EVALSUITE_TARGETS", "ci").run().fails("another file has other targets");
    ran.says("actual: other");
}

#[needs(nextest)]
#[test]
fn under_nextest_processes_share_a_health_check() {
    let package = package("cli_agents_nextest");
    let ran = package.cargo(["nextest", "run"]).run().succeeds("all cases pass");
    for test in TESTS {
        assert!(ran.stderr.contains(&format!("by_case::{test}")), "{test} is missing\n{}", ran.transcript());
    }
    check_records(&package, 2);
    let checked = fs::read_to_string(package.root().join("checked.txt")).expect("the health of `terse` was checked");
    assert_eq!(checked, "checked\n", "expected one health check for all processes");
}

#[needs(ps)]
#[test]
fn commands_that_give_no_answer_are_errors_that_say_why() {
    let package = Package::new("cli_agents_failing");
    let hangs = "'sleep 500 & echo $! > \"$EVALSUITE_TRIAL_DIR\"/child.pid; wait'";
    package
        .library("")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/EVAL.yaml", "execution: { targets: [fails, silent, hangs, sick, rust, gone] }\n")
        .write(
            "suites/by_case/.evalsuite/targets.yaml",
            &format!(
                "targets:\n  \
                - {{ name: fails, provider: cli, command: 'echo out of tokens >&2; exit 3' }}\n  \
                - {{ name: silent, provider: cli, command: 'true {{OUTPUT_FILE}}' }}\n  \
                - {{ name: hangs, provider: cli, command: {hangs}, timeout_seconds: 1 }}\n  \
                - {{ name: sick, provider: cli, command: 'true', healthcheck: {{ command: 'echo no server >&2; exit 1' }} }}\n  \
                - {{ name: rust, provider: codex-cli }}\n"
            ),
        )
        .write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/by_case\", agent = \"cli\");");
    let ran = package.cargo(["test", "--test", "evals"]).run().fails("no target answers");
    for (target, texts) in [
        ("fails", &["(agent/agent_error)", "the command failed: exit status: 3", "stderr: out of tokens"][..]),
        ("silent", &["(agent/agent_error)", "the command wrote no output file"]),
        ("hangs", &["(agent/timeout)", "the command did not end within 1 s"]),
        ("sick", &["(setup/healthcheck_failed)", "the health check of target `sick` failed", "no server"]),
        (
            "rust",
            &["(setup/target_unusable)", "error[E071 target-not-runnable]: target `rust` has provider `codex-cli`"],
        ),
        (
            "gone",
            &[
                "(setup/target_unusable)",
                "error[E071 target-not-runnable]: target `gone` is not defined",
                "known: `fails`, `silent`",
            ],
        ),
    ] {
        ran.says(&format!("test by_case::{target}::first ... FAILED"));
        for text in texts {
            ran.says(text);
        }
    }
    let pid_file = package.records().named("child.pid").pop().expect("the command that hangs has started another one");
    let pid = fs::read_to_string(pid_file).expect("readable");
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().expect("ps can be called");
    let state = String::from_utf8_lossy(&state.stdout);
    // Without an init process that reaps orphans it stays as a zombie.
    assert!(
        state.trim().is_empty() || state.starts_with('Z'),
        "expected the command's child process to have ended: {state}"
    );

    package.remove("suites/by_case/.evalsuite");
    let ran = package.cargo(["test", "--test", "evals", "fails"]).run().fails("there is no targets file");
    ran.says("error[E070 targets-file]: no targets.yaml from");
}

/// Programs without agents in targets files do not pay for the YAML reader.
#[test]
fn a_program_with_agents_in_rust_links_no_yaml_reader() {
    let package = Package::new("cli_agents_linked");
    package
        .library(suites::AGENT)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("targets.yaml", "targets: []\n")
        .write(
            "tests/with_rust.rs",
            "evalsuite::include_eval_suite!(\"suites/by_case\", agent = cli_agents_linked::agent);",
        )
        .write("tests/with_commands.rs", "evalsuite::include_eval_suite!(\"suites/by_case\", agent = \"cli\");");
    let build = package.build([]).succeeds("both compile");
    let holds_reader = |target: &str| {
        let program = fs::read(build.executable("test", target)).expect("readable");
        // Part of the mangled name of each of its functions. The bare name is also in the list of linked files.
        program.windows(15).any(|bytes| bytes == b"13granit_parser")
    };
    assert!(holds_reader("with_commands"), "expected the program that uses the YAML reader to contain its name");
    assert!(!holds_reader("with_rust"), "expected no YAML reader in the program");
}

#[slow(builds)]
#[test]
fn commands_without_their_feature_are_compile_errors_that_name_it() {
    let package = Package::with_features("cli_agents_missing", &[]);
    package
        .library(suites::AGENT)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("targets.yaml", "targets: [{ name: strict, provider: cli, command: 'true {OUTPUT_FILE}' }]\n");
    for (name, arguments, who) in [
        ("agents", "agent = \"cli\"", "agents"),
        ("judges", "agent = cli_agents_missing::agent, judge = \"strict\"", "judges"),
    ] {
        let file = format!("tests/{name}.rs");
        package.write(&file, &format!("evalsuite::include_eval_suite!(\"suites/by_case\", {arguments});"));
        let build = package.build(["--test", name]).fails("a feature is missing");
        let errors = build.errors(name);
        assert_eq!(errors.len(), 1, "{name}: expected one error\n{}", build.transcript());
        let expected = format!(
            "[E079 missing-feature] {who} that are commands of a targets file need the feature `cli-agents` of evalsuite"
        );
        assert!(errors[0].rendered.contains(&expected), "{name}: expected {expected:?} in\n{}", errors[0].rendered);
        package.remove(&file);
    }

    let judged = format!("{}  - {{ type: llm-grader, prompt: Is it polite? }}\n", suites::case("hello", "hello"));
    package.write("suites/by_case/cases/first/case.yaml", &judged).write(
        "tests/evals.rs",
        "evalsuite::include_eval_suite!(\"suites/by_case\", agent = cli_agents_missing::agent);",
    );
    let ran = package.cargo(["test", "--test", "evals"]).env("EVALSUITE_JUDGE_TARGET", "strict").run();
    ran.fails("no command can judge")
        .says("or a command of targets.yaml, `judge = \"strict\"` with the feature `cli-agents` of evalsuite");
}
