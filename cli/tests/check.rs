//! `cargo evalsuite check`, run as a program.

mod package;

use package::{Package, TASK};

#[test]
fn a_good_package_has_no_problems() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    let output = package.run(&["check"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 1 suite with 1 test\n"));
}

#[test]
fn every_problem_is_shown_and_counted() {
    let wrong = TASK.replace("\"description\"", "\"descripton\"");
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK), ("suites/card_agent/tasks/b.json", &wrong)]);
    let output = package.run(&["check", "suites"]);
    assert_eq!(output.code, 1);
    let places = output.out.matches("--> suites/card_agent/tasks/b.json:1:").count();
    assert!(places >= 2, "a place for each problem:\n{}", output.out);
    assert!(output.out.contains("error[E019 unknown-key]: unknown key `descripton`"), "{}", output.out);
    assert!(output.out.contains("error[E030 duplicate-id]"), "{}", output.out);
    assert!(output.out.contains(" errors in 1 suite with 0 tests\n"), "{}", output.out);
    assert!(!output.out.contains('\u{1b}'), "no colors where there is no terminal");
}

#[test]
fn json_is_one_object_per_line() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{}")]);
    let output = package.run(&["check", "--format", "json"]);
    assert_eq!(output.code, 1);
    assert!(!output.out.is_empty());
    for line in output.out.lines() {
        assert!(line.starts_with("{\"code\":\"E") && line.ends_with('}'), "{line}");
    }
}

#[test]
fn github_gets_commands() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{}")]);
    let output = package.run(&["check", "--format", "github"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.lines().all(|line| line.starts_with("::error file=suites/card_agent/tasks/a.json,line=1")),
        "{}",
        output.out
    );
}

#[test]
fn warnings_count_only_when_denied() {
    let yaml = "tests:\n  - id: a\n    input: Hello\n    assert:\n      - type: contains\n        value: hello\n";
    let package = Package::new(&[("suites/greet/EVAL.yaml", yaml)]);
    let output = package.run(&["check", "suites/greet"]);
    assert_eq!(output.code, 0, "{}", output.out);
    assert!(output.out.contains("warning[W001 deprecated-key]"), "{}", output.out);
    assert!(output.out.ends_with("1 warning in 1 suite with 1 test\n"), "{}", output.out);
    assert_eq!(package.run(&["check", "suites/greet", "--deny-warnings"]).code, 1);
}

#[test]
fn a_missing_path_is_a_problem() {
    let package = Package::new(&[]);
    let output = package.run(&["check", "suites/card_agnt"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("E010 entry-not-found"), "{}", output.out);
}

#[test]
fn nothing_found_is_not_green() {
    let package = Package::new(&[]);
    std::fs::remove_dir_all(package.root().join("suites")).expect("the folder of suites");
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("no suite found"), "{}", output.err);
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    let package = Package::new(&[]);
    for arguments in [&["check", "--format", "xml"][..], &["chek"], &[], &["expand"]] {
        assert_eq!(package.run(arguments).code, 2, "for {arguments:?}");
    }
}

#[test]
fn packages_of_a_workspace_are_searched() {
    let package = Package::new(&[
        ("suites/card_agent/tasks/a.json", TASK),
        ("agents/one/Cargo.toml", "[package]\nname = \"one\"\n"),
    ]);
    package.write("agents/one/evals/x/EVAL.yaml", "tests:\n  - id: a\n    input: Hi\n    criteria: Says hi\n");
    let output = package.run(&["check"]);
    assert!(output.out.ends_with("in 2 suites with 2 tests\n"), "{}", output.out);
}

#[test]
fn a_targets_file_is_checked_once_for_all_suites_that_share_it() {
    let targets = "targets:\n  - name: small\n    provider: cli\n    command: my-agent {PROMT}\n  - name: big\n    use_target: bgi\n";
    let eval = |target: &str| {
        format!("execution: {{target: {target}}}\ntests:\n  - id: a\n    input: Hello\n    criteria: Says hello.\n")
    };
    let package = Package::new(&[
        ("suites/card_agent/tasks/a.json", TASK),
        ("suites/greet/EVAL.yaml", &eval("small")),
        ("suites/leave/EVAL.yaml", &eval("small")),
        ("suites/wait/EVAL.yaml", &eval("big")),
        ("suites/.evalsuite/targets.yaml", targets),
    ]);
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1);
    assert_eq!(output.out.matches("E072 unknown-placeholder").count(), 1, "{}", output.out);
    assert!(output.out.contains("--> suites/.evalsuite/targets.yaml:4:14"), "{}", output.out);
    assert!(output.out.contains("did you mean `PROMPT`?"), "{}", output.out);
    assert_eq!(output.out.matches("E071 target-not-runnable").count(), 1, "{}", output.out);
}

#[test]
fn without_a_package_a_suite_may_use_the_whole_repository() {
    let eval = "x-anchors: &a [bun, run, ../graders/x.ts]\ninput: [{role: user, content: [{type: file, value: /AGENTS.md}]}]\ntests:\n  - \
                id: a\n    input: Hello\n    assertions: [{type: code-grader, command: *a}]\n";
    let package = Package::new(&[
        ("repository/examples/x/evals/EVAL.yaml", eval),
        ("repository/examples/x/graders/x.ts", "//"),
        ("repository/AGENTS.md", "Be nice."),
    ]);
    std::fs::remove_file(package.root().join("Cargo.toml")).expect("no package");
    let suite = "repository/examples/x/evals";
    let output = package.run(&["check", suite]);
    assert_eq!(output.code, 1, "only the current directory is around the suite:\n{}", output.out);
    assert_eq!(output.out.matches("error[").count(), 1, "{}", output.out);
    assert!(
        output.out.contains("error[E018 missing-path]: a `file` part: file `/AGENTS.md` not found"),
        "{}",
        output.out
    );
    package.write("repository/.git/HEAD", "ref: refs/heads/main");
    let output = package.run(&["check", suite]);
    assert_eq!(output.out, "no problems in 1 suite with 1 test\n");
    let missing = package.run(&["check", "repository/zzz"]);
    assert!(missing.out.contains("the path is relative to the current directory"), "{}", missing.out);
}

#[test]
fn problems_of_calibrations_are_told_in_every_format() {
    let calibration = "minimum: {kapa: 1}\nsamples:\n  - {id: a, case: b, output: o, human_score: 2}\n";
    let package =
        Package::new(&[("suites/card_agent/tasks/a.json", TASK), ("suites/card_agent/calibration.yaml", calibration)]);
    let file = "suites/card_agent/calibration.yaml";
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1);
    for (code, place) in [("E019 unknown-key", "1:11"), ("E078 too-few-samples", "3:3"), ("E024 out-of-range", "3:46")]
    {
        assert!(output.out.contains(&format!("error[{code}]")), "{code}\n{}", output.out);
        assert!(output.out.contains(&format!("--> {file}:{place}")), "{place}\n{}", output.out);
    }
    assert!(output.out.contains("did you mean `kappa`?"), "{}", output.out);
    let json = package.run(&["check", "--format", "json"]);
    let problems: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert!(problems.iter().any(|problem| problem["code"] == "E078"), "{}", json.out);
    assert!(problems.iter().all(|problem| problem.to_string().contains(file)), "{}", json.out);
    let github = package.run(&["check", "--format", "github"]);
    assert!(github.out.contains(&format!("::error file={file},line=1,")), "{}", github.out);
    assert_eq!(github.out.lines().count(), problems.len(), "{}", github.out);

    // What names cases is looked at where nothing else is wrong with them.
    let sample = |id: &str| format!("  - {{id: {id}, case: a, output: o, human_score: 1}}\n");
    package.write(file, &format!("samples:\n{}{}", sample("a"), sample("b")));
    let output = package.run(&["check"]);
    assert!(output.out.contains("error[E077 unknown-sample-case]: case `a` asks no judge"), "{}", output.out);
    package
        .write(file, &format!("samples:\n{}{}", sample("a"), sample("b")).replace("case: a", "input: q, criteria: c"));
    assert_eq!(package.run(&["check"]).out, "no problems in 1 suite with 1 test\n");
}
