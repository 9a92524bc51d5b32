//! `cargo evalsuite convert`, run as a program.

use crate::package::Package;

const CONFIGURATION: &str = "prompts: ['Say {{word}}']\nproviders: [echo]\ntests:\n  # Tea.\n  - vars: { word: tea }\n    assert: [{ type: contains, value: tea }]\n";

const SUITE: &str = "# Shop.\nname: shop\ntests:\n  - id: b # second\n    input: hi\n    criteria: Greets\n  - id: a\n    input: ho\n    criteria: Greets\n";

#[test]
fn a_configuration_becomes_a_suite_that_is_checked() {
    let package = Package::new(&[("promptfooconfig.yaml", CONFIGURATION)]);
    let output = package.run(&["convert", "promptfooconfig.yaml", "suites/words"]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert_eq!(
        output.out,
        "mapped       promptfooconfig.yaml:1: prompts[0]\n\
         approximated promptfooconfig.yaml:2: providers[0]: `echo` is the name of a target: the agent decides what it means\n\
         mapped       promptfooconfig.yaml:5: tests[0].vars\n\
         mapped       promptfooconfig.yaml:6: tests[0].assert[0]\n\
         3 mapped, 1 approximated, 0 different, 0 dropped\n"
    );
    let suite = std::fs::read_to_string(package.root().join("suites/words/EVAL.yaml")).unwrap();
    assert!(suite.contains("# Tea.") && suite.contains("input: Say tea"), "{suite}");
    let checked = package.run(&["check", "suites/words"]);
    assert_eq!(checked.code, 0, "{}", checked.out);
}

#[test]
fn a_suite_is_named_after_the_directory_of_its_configuration() {
    let package = Package::new(&[("riddles/promptfooconfig.yaml", CONFIGURATION)]);
    for (directory, source) in [("riddles", "promptfooconfig.yaml"), ("riddles", "."), (".", "riddles")] {
        let output = package.run_in(directory, &["convert", source, "out", "--force"]);
        assert_eq!(output.code, 0, "{}{}", output.out, output.err);
        let suite = std::fs::read_to_string(package.root().join(directory).join("out/EVAL.yaml")).unwrap();
        assert!(suite.starts_with("name: riddles\n"), "{source}: {suite}");
    }
}

#[test]
fn nothing_is_overwritten_without_force() {
    let package = Package::new(&[("promptfooconfig.yaml", CONFIGURATION), ("suites/words/EVAL.yaml", "mine")]);
    let output = package.run(&["convert", ".", "suites/words"]);
    assert_eq!(output.code, 2, "{}", output.out);
    assert!(output.err.contains("would be overwritten") && output.err.contains("--force"), "{}", output.err);
    let read = || std::fs::read_to_string(package.root().join("suites/words/EVAL.yaml")).unwrap();
    assert_eq!(read(), "mine");
    assert_eq!(package.run(&["convert", ".", "suites/words", "--force"]).code, 0);
    assert!(read().contains("Say tea"));
}

#[test]
fn what_is_dropped_is_a_failure_unless_that_is_wanted() {
    let configuration = format!("{CONFIGURATION}env: {{ KEY: x }}\n");
    let package = Package::new(&[("promptfooconfig.yaml", &configuration)]);
    let output = package.run(&["convert", ".", "suites/a"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.out.contains("dropped      promptfooconfig.yaml:7: env: "), "{}", output.out);
    assert!(package.root().join("suites/a/EVAL.yaml").is_file(), "the suite is written all the same");
    assert_eq!(package.run(&["convert", ".", "suites/b", "--lossy"]).code, 0);
}

#[test]
fn the_report_is_one_json_object() {
    let package = Package::new(&[("promptfooconfig.yaml", CONFIGURATION)]);
    let output = package.run(&["convert", ".", "suites/words", "--layout", "directories", "--format", "json"]);
    let report = package.json("convert", &output.out);
    assert_eq!((&report["mapped"], &report["dropped"]), (&3.into(), &0.into()));
    assert_eq!(report["entries"][0]["outcome"], "mapped");
    assert_eq!(report["files"], evalsuite_schema::json::json!(["EVAL.yaml", "cases/test-1/case.yaml"]));
    assert_eq!(report["problems"], evalsuite_schema::json::json!([]));
}

#[test]
fn a_harbor_task_becomes_a_case() {
    let package = Package::new(&[
        ("task/task.toml", "version = \"1.0\"\n[agent]\ntimeout_sec = 60\n"),
        ("task/instruction.md", "Write hello.txt."),
        ("task/environment/Dockerfile", "WORKDIR /app\n"),
        ("task/tests/test.sh", "echo 1 > /logs/verifier/reward.txt"),
    ]);
    let output = package.run(&["convert", "task", "suites/task"]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(output.out.contains("approximated tests/test.sh: it runs with `docker`"), "{}", output.out);
    assert_eq!(package.run(&["check", "suites/task"]).code, 0);
}

#[test]
fn what_cannot_be_converted_is_an_error() {
    let package = Package::new(&[("suites/shop/EVAL.yaml", SUITE), ("a.yaml", "a: 1"), ("bad.yaml", "prompts: [")]);
    for (arguments, message) in [
        (vec!["none.yaml", "out"], "`none.yaml` does not exist\n  = help: the path is relative to "),
        (
            vec!["a.yaml", "out"],
            "a.yaml is not a source of a known kind\n  = help: set its kind with `--from`: `promptfoo` or `harbor`",
        ),
        (vec!["bad.yaml", "out", "--from", "promptfoo"], "the source cannot be read"),
        (
            vec!["suites/shop", "out"],
            "suites/shop is not a source of a known kind\n  = help: set its kind with `--from`: `promptfoo` or `harbor`",
        ),
        (
            vec!["suites/shop/EVAL.yaml", "out"],
            "EVAL.yaml is not a source of a known kind\n  = help: set its kind with `--from`: `promptfoo` or `harbor`",
        ),
        (vec!["a.yaml", "out", "--from", "promptfoo"], "is not a promptfoo configuration"),
        (vec!["promptfooconfig.yaml"], "<DIR>"),
    ] {
        let output = package.run(&[&["convert"], &arguments[..]].concat());
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.out);
        assert!(output.err.contains(message), "{arguments:?}: {}", output.err);
    }
}

#[test]
fn a_source_without_a_case_that_can_be_converted_writes_nothing() {
    let start = "prompts: ['Say {{word}}']\nproviders: [echo]\n";
    let text = |tests: &str| format!("{start}{tests}");
    let task = "[task]\nname = \"a/b\"\n";
    let said = "error: the source has no case that can be converted, and nothing is written\n";
    for (files, arguments, reason) in [
        (
            vec![("promptfooconfig.yaml", text("tests: file://tests.py\n"))],
            vec![],
            "dropped      promptfooconfig.yaml:3: tests: `tests.py` is a program that writes tests",
        ),
        (
            vec![("promptfooconfig.yaml", text("tests: [{ assert: [{ type: ruby, value: x }] }]\n"))],
            vec!["--lossy", "--layout", "directories"],
            "dropped      promptfooconfig.yaml:3: tests[0].assert[0]: write a `code-grader` that calls it",
        ),
        (
            vec![("promptfooconfig.yaml", text("tests: [{ vars: { word: x } }]\n"))],
            vec!["--layout", "tasks"],
            "dropped      suite.json: tasks: no case can be a task: choose another layout",
        ),
        (
            vec![("task.toml", task.to_owned()), ("instruction.md", "Do.".to_owned())],
            vec!["--lossy"],
            "dropped      task.toml: nothing is left that grades it",
        ),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        let package = Package::new(&[]);
        files.iter().for_each(|(path, text)| package.write(&format!("in/{path}"), text));
        let output = package.run(&[&["convert", "in", "made"], &arguments[..]].concat());
        assert_eq!(output.code, 2, "{files:?}: {}{}", output.out, output.err);
        assert!(output.err.contains(said) && output.err.contains(reason), "{files:?}: {}", output.err);
        assert!(!package.root().join("made").exists(), "{files:?}");
    }
}

#[test]
fn other_sources_become_tasks_and_what_they_cannot_express_is_named() {
    let package = Package::new(&[
        ("promptfooconfig.yaml", CONFIGURATION),
        ("task/task.toml", "version = \"1.0\"\n[agent]\ntimeout_sec = 60\n"),
        ("task/instruction.md", "Write hello.txt."),
        ("task/environment/Dockerfile", "WORKDIR /app\n"),
        ("task/tests/test.sh", "echo 1 > /logs/verifier/reward.txt"),
    ]);
    let output = package.run(&["convert", ".", "suites/words", "--layout", "tasks"]);
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    for line in [
        "mapped       promptfooconfig.yaml:6: tests[0].assert[0]\n",
        "approximated suite.json: comments: JSON has none\n",
        "approximated tasks/test-1.json: case: without `criteria`, its description is its id\n",
        "dropped      suite.json: execution.target: the tasks layout has nothing like it\n",
        "3 mapped, 3 approximated, 0 different, 1 dropped\n",
    ] {
        assert!(output.out.contains(line), "{line}{}", output.out);
    }
    let task = std::fs::read_to_string(package.root().join("suites/words/tasks/test-1.json")).unwrap();
    assert!(task.contains("\"prompt\": \"Say tea\"") && task.contains("\"value\": \"tea\""), "{task}");
    assert_eq!(package.run(&["convert", ".", "suites/again", "--layout", "tasks", "--lossy"]).code, 0);
    assert_eq!(package.run(&["convert", ".", "suites/words", "--layout", "tasks"]).code, 2, "nothing is overwritten");
    let output = package.run(&["convert", "task", "suites/task", "--layout", "tasks"]);
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    assert!(output.out.contains("dropped      tasks/task.json: case.requires: "), "{}", output.out);
    let checked = package.run(&["check", "suites/task", "suites/words"]);
    assert_eq!(checked.code, 0, "{}", checked.out);
}
