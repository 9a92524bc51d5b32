//! Nextest archives: test programs on a machine without the sources.

use std::collections::BTreeSet;

use evalsuite_needs::needs;
use evalsuite_tests::throwaway::{Archive, CommandOutput, Package, suites};

/// A grader that passes if the files of the workspace are as in the suite.
const TESTS: &str = "
use archived::echo;
use evalsuite::Evidence;

evalsuite::include_eval_suite!(\"suites/by_task\", graders = [as_written]);
evalsuite::include_eval_suite!(\"suites/by_case\", agent = echo);
evalsuite::include_eval_suite!(\"suites/by_command\", agent = \"cli\");
evalsuite::include_eval_suite!(\"suites/by_task\", graders = [as_written], name = not_embedded, embed = off);

#[cfg(unix)]
fn as_written(evidence: &Evidence<'_>) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let at = |path: &str| evidence.workspace().join(path);
    std::fs::read_to_string(at(\"link\")).unwrap() == \"A fixture.\"
        && at(\"link\").is_symlink()
        && at(\"empty\").is_dir()
        && at(\"run.sh\").metadata().unwrap().permissions().mode() & 0o777 == 0o755
}
";

const TASK: &str = r#"{ "id": "with-files", "description": "Has files.", "input": { "content": "hello" },
  "graders": [{ "name": "contains", "config": { "value": "hello" } }, { "name": "as_written" }] }"#;

const CASE: &str = "
input: hello
input_files: [note.txt]
assertions:
  - { type: contains, value: hello }
  - { type: code-grader, command: [./check.sh] }
";

/// A command in its own directory beside the suite.
const TARGETS: &str = "
targets:
  - { name: default, provider: cli, cwd: ./agent, command: './answer.sh {PROMPT_FILE} {OUTPUT_FILE}' }
";

fn package() -> Package {
    let package = Package::new("archived");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(suites::AGENT)
        .write("tests/evals.rs", TESTS)
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/plain.json", &suites::task("plain", "hello", "hello"))
        .write("suites/by_task/tasks/files/with_files.json", TASK)
        .write("suites/by_task/tasks/files/workspace/note.txt", "A fixture.")
        .write("suites/by_task/tasks/files/workspace/run.sh", "#!/bin/sh\n")
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/script/case.yaml", CASE)
        .write("suites/by_case/cases/script/note.txt", "A note.")
        .write("suites/by_case/cases/script/check.sh", "#!/bin/sh\ncat > /dev/null\necho '{\"score\": 1}'\n");
    package
        .write("suites/by_command/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_command/cases/asked/case.yaml", &suites::case("hello", "hello"))
        .write("targets.yaml", TARGETS)
        .write("agent/answer.sh", "#!/bin/sh\ncp \"$1\" \"$2\"\n");
    let workspace = package.root().join("suites/by_task/tasks/files/workspace");
    std::fs::create_dir(workspace.join("empty")).expect("a folder");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        symlink("note.txt", workspace.join("link")).expect("a link");
        let executable = std::fs::Permissions::from_mode(0o755);
        let scripts = ["suites/by_case/cases/script/check.sh", "agent/answer.sh"].map(|path| package.root().join(path));
        for script in scripts.into_iter().chain([workspace.join("run.sh")]) {
            std::fs::set_permissions(script, executable.clone()).expect("a mode");
        }
    }
    package
}

/// Whether nextest reports this status of a test.
fn ended(ran: &CommandOutput, status: &str, test: &str) -> bool {
    ran.stderr.lines().any(|line| line.trim_start().starts_with(status) && line.ends_with(test))
}

#[cfg(unix)]
#[needs(nextest)]
#[test]
fn tests_of_an_archive_have_the_files_of_their_cases() {
    let package = package();
    let archive = Archive::of(&package);

    // As on a machine without the sources.
    for path in ["suites", "targets.yaml", "agent"] {
        package.rename(path, &format!("moved/{path}"));
    }
    let output = package.records_directory().join("sharded");
    let run = |more: &[&str]| {
        let call = archive.call(&package).args(["--no-fail-fast"]).args(more.iter().copied());
        call.env("EVALSUITE_OUTPUT", &output).env("EVALSUITE_RUN_ID", "shared").run()
    };
    let ran = run(&["-E", "test(not_embedded)"]);
    assert_eq!(ran.code, Some(100), "without its files the case cannot pass\n{}", ran.transcript());
    assert!(ended(&ran, "PASS", "not_embedded::plain"), "{}", ran.transcript());
    assert!(ended(&ran, "FAIL", "not_embedded::files::with_files"), "{}", ran.transcript());
    ran.says("evaluation error (").says("suites/by_task");

    // Two machines share one run.
    let chosen = ["-E", "not test(not_embedded)"];
    let mut passed = BTreeSet::new();
    for part in ["hash:1/2", "hash:2/2"] {
        let ran = run(&[&chosen[..], &["--partition", part, "--no-tests", "pass"]].concat());
        let ran = ran.succeeds("every test of the partition passes");
        for test in ["by_task::plain", "by_task::files::with_files", "by_case::script", "by_command::asked"] {
            if ended(&ran, "PASS", test) {
                assert!(passed.insert(test), "{test} belongs to one partition");
            }
        }
    }
    assert_eq!(passed.len(), 4, "each test belongs to a partition: {passed:?}");
    let run_directory = output.join("runs/shared");
    assert!(run_directory.is_dir());
    assert_eq!(std::fs::read_dir(output.join("runs")).expect("runs").count(), 1, "both wrote into one run");
    assert!(!archive.root().join("suites").exists(), "nothing is written where the package would be");
}
