//! `cargo evalsuite check`, run as a program.

use crate::package::{Package, TASK};

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
fn graders_that_no_program_registers_are_named() {
    let suite = "tests:\n  - id: a\n    input: Hello\n    assertions: [{ type: isjson }, { type: not-contains }]\n";
    let package = Package::new(&[("suites/x/EVAL.yaml", suite)]);
    let output = package.run(&["check"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 1 suite with 1 test\n"));
    for line in [
        "note: no Rust code includes these suites, so their own graders were not checked:",
        "  `isjson` (suites/x/EVAL.yaml:4:26): did you mean `is-json`?",
        "): write `type: contains` with `negate: true`",
    ] {
        assert!(output.err.contains(line), "{}", output.err);
    }
}

#[test]
fn what_a_suite_would_drop_is_reported() {
    let case = |text: &str| {
        let package =
            Package::new(&[("suites/x/EVAL.yaml", &format!("tests:\n  - {{ id: a, criteria: c, {text} }}\n"))]);
        package.run(&["check"])
    };
    for (text, code, words) in [
        ("input: file://missing.md", 1, "input_files: [missing.md]"),
        ("input: 'Where is {{ order }}?'", 0, "`{{ order }}` is not filled in"),
        ("input: Hello, assertions: [contains x]", 0, "it is not the grader `contains`"),
        ("input: Hello, execution: { trials: 3 }", 1, "write `trials: { count: 3 }`"),
        ("input: Hello, depends_on: [b]", 1, "name the id of a case of this suite"),
    ] {
        let output = case(text);
        assert_eq!(output.code, code, "{text}: {}", output.out);
        assert!(output.out.contains(words), "{text}: {}", output.out);
    }
    let list = "tests:\n  - { id: a, input: Hello, criteria: c }\n";
    let package =
        Package::new(&[("suites/x/EVAL.yaml", list), ("suites/x/cases/b/case.yaml", "input: Hi\ncriteria: c\n")]);
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.contains("error[E042 invalid-tests]: `tests` leaves out 1 case in `suites/x/cases`"),
        "{}",
        output.out
    );
}

#[test]
fn json_is_one_object_per_line() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{}")]);
    let output = package.run(&["check", "--format", "json"]);
    assert_eq!(output.code, 1);
    assert!(!output.out.is_empty());
    for line in output.out.lines() {
        let problem = package.json("check", line);
        assert_eq!(
            (&problem["severity"], &problem["file"]),
            (&"error".into(), &"suites/card_agent/tasks/a.json".into())
        );
    }
    let other = TASK.replace("Says hello.", "Says it.");
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK), ("suites/card_agent/tasks/b.json", &other)]);
    let output = package.run(&["check", "--format", "json"]);
    let twice =
        output.out.lines().map(|line| package.json("check", line)).find(|problem| problem["name"] == "duplicate-id");
    let twice = twice.unwrap_or_else(|| panic!("two cases of one id: {}", output.out));
    assert_eq!(twice["related"][0]["file"], "suites/card_agent/tasks/a.json", "{twice}");
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
fn a_path_that_does_not_exist_is_named_as_it_was_given_with_the_one_that_was_meant() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    for (given, meant) in [
        ("suites/card_agnt", "did you mean `suites/card_agent`?"),
        ("./suits", "did you mean `suites`?"),
        ("card_agent", "did you mean `suites/card_agent`?"),
        ("nowhere/at/all", "the path is relative to /"),
    ] {
        for command in ["check", "list", "expand", "calibrate"] {
            let output = package.run(&[command, given]);
            let expected = format!("error: `{given}` does not exist\n  = help: {meant}");
            assert_eq!((output.code, output.out.as_str()), (2, ""), "{command}: {}", output.err);
            assert!(output.err.starts_with(&expected), "{command}: {}", output.err);
        }
    }
}

#[test]
fn a_case_is_checked_in_its_suite_by_its_file_its_directory_and_the_current_directory() {
    let case = |word: &str| format!("input: hello\nassertions:\n  - {{ type: contains, {word}: hello }}\n");
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/bad/case.yaml", &case("valeu")),
        ("suites/shop/cases/other/case.yaml", &case("vlue")),
        ("suites/shop/cases/good/case.yaml", &case("value")),
        ("suites/card_agent/tasks/a.json", TASK),
        ("suites/card_agent/tasks/group/b.json", "{}"),
    ]);
    let note = "note: 1 problem in other cases of this suite; `cargo evalsuite check suites/shop` shows all of them\n";
    for path in ["suites/shop/cases/bad", "suites/shop/cases/bad/case.yaml", "./suites/shop/cases/bad/"] {
        let output = package.run(&["check", path]);
        assert_eq!(output.code, 1, "{}", output.out);
        assert!(output.out.contains("--> suites/shop/cases/bad/case.yaml:3:"), "{}", output.out);
        assert!(output.out.contains("unknown key `valeu` in `contains`"), "{}", output.out);
        assert!(!output.out.contains("cases/other"), "{}", output.out);
        assert!(output.out.ends_with("1 error in `suites/shop/cases/bad`\n"), "{}", output.out);
        assert!(output.err.contains(note), "{}", output.err);
    }
    let output = package.run(&["check", "suites/shop/cases/good/case.yaml"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in `suites/shop/cases/good`\n"));
    let output = package.run_in("suites/shop/cases/bad", &["check"]);
    assert_eq!(output.code, 1);
    assert!(output.out.ends_with("1 error in `.`\n"), "{}", output.out);
    assert!(!output.out.contains("cases/other"), "{}", output.out);

    let output = package.run(&["check", "suites/card_agent/tasks/a.json"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in `suites/card_agent/tasks/a.json`\n"));
    let output = package.run(&["check", "suites/card_agent/tasks/group"]);
    assert!(output.code == 1 && output.out.ends_with(" in `suites/card_agent/tasks/group`\n"), "{}", output.out);

    package.write("suites/shop/EVAL.yaml", "nmae: shop\n");
    let output = package.run(&["check", "suites/shop/cases/good"]);
    assert_eq!(output.code, 1, "what is wrong with the suite concerns its cases: {}", output.out);
    assert!(output.out.contains("--> suites/shop/EVAL.yaml:1:1"), "{}", output.out);
}

#[test]
fn outside_of_a_package_only_the_usual_directories_are_searched_unless_others_are_named() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK), ("deep/below/x/EVAL.yaml", "tests: 1\n")]);
    std::fs::remove_file(package.root().join("Cargo.toml")).expect("no package");
    let output = package.run(&["check"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 1 suite with 1 test\n"));
    let output = package.run(&["check", "."]);
    assert!(output.code == 1 && output.out.contains("--> deep/below/x/EVAL.yaml:1:"), "{}", output.out);
    let output = package.run_in("deep/below", &["check"]);
    assert_eq!(output.code, 2);
    assert!(
        output
            .err
            .starts_with("error: no suite found: outside of a package, only `suites` and `evals` are searched in ")
            && output.err.contains("help: name a suite or a directory to search, such as `cargo evalsuite check .`"),
        "{}",
        output.err
    );
    let output = package.run_in("deep/below/x", &["check"]);
    assert_eq!(output.code, 1, "a suite in the current directory itself: {}", output.err);
}

#[test]
fn nothing_found_is_not_green() {
    let package = Package::new(&[]);
    std::fs::remove_dir_all(package.root().join("suites")).expect("the folder of suites");
    let output = package.run(&["check"]);
    assert_eq!(output.code, 2);
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
        ("AGENTS.md", "Be nice."),
    ]);
    std::fs::remove_file(package.root().join("Cargo.toml")).expect("no package");
    let suite = "repository/examples/x/evals";
    let output = package.run(&["check", suite]);
    assert_eq!(output.out, "no problems in 1 suite with 1 test\n", "only the current directory is around the suite");
    package.write("repository/.git/HEAD", "ref: refs/heads/main");
    let output = package.run(&["check", suite]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert_eq!(output.out.matches("error[").count(), 1, "{}", output.out);
    assert!(
        output.out.contains("error[E018 missing-path]: a `file` part: file `/AGENTS.md` not found"),
        "{}",
        output.out
    );
    package.write("repository/AGENTS.md", "Be nice.");
    let output = package.run(&["check", suite]);
    assert_eq!(output.out, "no problems in 1 suite with 1 test\n");
    let missing = package.run(&["check", "repository/zzz"]);
    assert!(missing.err.contains("error: `repository/zzz` does not exist"), "{}", missing.err);
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
    let problems: Vec<evalsuite_schema::Value> =
        json.out.lines().map(|line| evalsuite_schema::json::from_str(line).expect("an object a line")).collect();
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

/// A case of an eval file's suite.
const CASE: &str = "input: hello\nassertions:\n  - { type: contains, value: hello }\n";

#[test]
fn a_problem_of_many_cases_is_shown_once_with_all_places_for_programs() {
    let wrong = |id: usize| {
        TASK.replace("\"a\"", &format!("\"{id}\"")).replace("\"description\"", "\"dificulty\": 1, \"description\"")
    };
    let package = Package::new(&[]);
    package.write("suites/many/suite.json", r#"{ "name": "many", "agent_name": "many" }"#);
    for id in 1..=9 {
        package.write(&format!("suites/many/tasks/{id}.json"), &wrong(id));
    }
    let text = package.run(&["check"]).out;
    assert_eq!(
        text.matches("error[E019 unknown-key]: unknown key `dificulty` in a task (9 times)").count(),
        1,
        "{text}"
    );
    assert!(text.contains("= note: suites/many/tasks/7.json:1:14: also here\n"), "{text}");
    assert!(text.contains("= note: and 2 more in 2 files\n"), "{text}");
    assert!(text.ends_with("1 error in 1 suite with 0 tests\n"), "{text}");

    let json = package.run(&["check", "--format", "json"]).out;
    let problem: evalsuite_schema::Value = evalsuite_schema::json::from_str(&json).expect("one object");
    let files: Vec<&str> =
        problem["related"].as_array().expect("a list").iter().filter_map(|place| place["file"].as_str()).collect();
    assert_eq!(files.len(), 8, "{json}");
    assert!(files.contains(&"suites/many/tasks/9.json"), "{json}");

    let github = package.run(&["check", "--format", "github"]).out;
    assert_eq!(github.lines().count(), 1, "{github}");
    assert!(github.contains("%0Anote: and 2 more in 2 files"), "{github}");
}

#[test]
fn arguments_in_the_sources_of_the_package_are_checked_as_the_compiler_does() {
    let case = "input: hello\nassertions:\n  - { type: contians, config: { value: hello } }\n  - { type: polite }\n";
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", case),
        ("suites/generated/EVAL.yaml", "name: generated\n"),
        ("suites/generated/cases/a/case.yaml", case),
        ("suites/alone/EVAL.yaml", "name: alone\n"),
        ("suites/alone/cases/a/case.yaml", case),
        (
            "tests/evals.rs",
            "use evalsuite::include_eval_suite as suite;\nmod inner {\n    suite! { \"suites/shop\", agent = shop, graders = [graders::polite] }\n}\n",
        ),
        (
            "build.rs",
            "fn main() {\n    evalsuite_build::generate(\"suites/generated\").graders([\"polite\", \"kind\"]).allow([\"unused-grader\"]).write();\n}\n",
        ),
    ]);
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1, "{}", output.out);
    for suite in ["shop", "generated"] {
        let place = format!("--> suites/{suite}/cases/a/case.yaml:3:13");
        assert!(output.out.contains(&place), "{}", output.out);
    }
    assert_eq!(
        output.out.matches("error[E050 unknown-grader]: unknown grader `contians`").count(),
        2,
        "{}",
        output.out
    );
    assert!(output.out.contains("did you mean `contains`"), "{}", output.out);
    assert!(!output.out.contains("grader `polite`") && !output.out.contains("W016"), "{}", output.out);
    assert!(output.out.contains("2 errors in 3 suites with 1 test\n"), "{}", output.out);
    assert!(!output.err.contains("arguments of a call"), "every call is read: {}", output.err);

    let output = package.run(&["check", "suites/alone"]);
    assert_eq!(output.code, 0, "which graders a suite has is not known without its include: {}", output.out);
}

#[test]
fn targets_warnings_and_agents_of_includes_are_those_of_the_build() {
    let old = "input: hello\nassert:\n  - { type: contains, value: hello }\n";
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", old),
        ("suites/shop/targets.yaml", "targets:\n  - { name: fast, provider: cli, command: agent }\n"),
        (
            "tests/evals.rs",
            "evalsuite::include_eval_suite!(\"suites/shop\", agent = \"cli\", targets = [\"fast\", \"slow\"], allow = [\"deprecated-key\"]);",
        ),
    ]);
    let output = package.run(&["check"]);
    assert_eq!(output.code, 0, "{}", output.out);
    assert!(!output.out.contains("W001"), "the include allows it: {}", output.out);
    assert!(output.out.contains("undefined-target]: target `slow` of the suite is not defined"), "{}", output.out);
    assert!(output.out.ends_with("1 warning in 1 suite with 2 tests\n"), "a test per target: {}", output.out);
    package.write(
        "tests/evals.rs",
        "evalsuite::include_eval_suite!(\"suites/shop\", agent = \"cli\", targets = [\"fast\"], deny_warnings);",
    );
    let output = package.run(&["check"]);
    assert!(output.out.ends_with("1 warning in 1 suite with 0 tests\n"), "{}", output.out);
    assert_eq!(output.code, 1, "the include denies warnings");
}

#[test]
fn calls_that_cannot_be_read_are_named_with_the_reason() {
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", CASE),
        (
            "tests/evals.rs",
            "macro_rules! suite {\n    ($path:literal) => {\n        evalsuite::include_eval_suite!($path, agent = agent);\n    };\n}\nsuite!(\"suites/shop\");\n",
        ),
        ("tests/typo.rs", "evalsuite::include_eval_suite!(\"suites/shop\", grader = [polite]);"),
        ("build.rs", "fn main() {\n    let suite = evalsuite_build::generate(path());\n    suite.write();\n}\n"),
        ("src/lib.rs", "// include_eval_suite\nfn f() { \" }"),
    ]);
    let output = package.run(&["check"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 1 suite with 1 test\n"));
    let notes: Vec<&str> = output.err.lines().collect();
    assert_eq!(notes.len(), 4, "{}", output.err);
    for expected in [
        "build.rs:2: the arguments of `generate` are not literals",
        "src/lib.rs: the file is not valid Rust: ",
        "tests/evals.rs:3: expected the path of a suite as a string literal, found `$`",
        "tests/typo.rs:1: unknown argument `grader`; did you mean `graders`?",
    ] {
        let line = format!("note: cannot read the arguments of a call: {expected}");
        assert!(notes.iter().any(|note| note.starts_with(&line)), "expected {line}\n{}", output.err);
    }
}

#[test]
fn what_the_macro_refuses_is_refused() {
    let package = Package::new(&[("suites/shop/cases/a/case.yaml", CASE)]);
    for arguments in [&["check"][..], &["check", "suites"], &["check", "suites/shop"]] {
        let output = package.run(arguments);
        assert_eq!(output.code, 1, "{arguments:?}: {}", output.out);
        assert!(output.out.contains("error[E011 no-suite-file]"), "{}", output.out);
        assert!(output.out.contains("write `suites/shop/EVAL.yaml` with `name: shop`"), "{}", output.out);
    }
    assert_eq!(package.run(&["check", "suites/shop/cases"]).code, 0, "the macro takes this path");
    package.write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/shop/cases\");");
    assert_eq!(package.run(&["check"]).out, "no problems in 1 suite with 1 test\n");
    package.write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/shop/gone\");");
    assert!(
        package.run(&["check"]).out.contains("error[E010 entry-not-found]"),
        "an include is checked wherever it is"
    );
}

/// Nine wrong cases of one suite, with an error that they share and a warning.
fn many_problems() -> Package {
    let package = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n")]);
    for id in 1..=9 {
        let case = "input: hello\nassert:\n  - { type: contains, valeu: hello }\n";
        package.write(&format!("suites/shop/cases/c{id}/case.yaml"), case);
    }
    package
}

#[test]
fn short_lines_name_every_place() {
    let package = many_problems();
    let output = package.run(&["check", "--format", "short"]);
    assert_eq!(output.code, 1);
    assert_eq!(output.out.lines().count(), 9 * 2, "{}", output.out);
    let expected = [
        "suites/shop/cases/c1/case.yaml:2:1: warning[W001]: `assert` is now `assertions` (help: rename it to `assertions`)",
        "suites/shop/cases/c1/case.yaml:3:23: error[E019]: unknown key `valeu` in `contains` (help: did you mean `value`?)",
    ];
    for (line, expected) in output.out.lines().zip(expected) {
        assert!(line.starts_with(expected), "{line}");
    }
    let whole = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n"), ("suites/shop/cases/a/case.yaml", "")]);
    let output = whole.run(&["check", "--format", "short"]);
    assert!(output.out.starts_with("suites/shop/cases/a/case.yaml:1:1: error[E"), "{}", output.out);
}

#[test]
fn sarif_has_the_catalogue_as_rules_and_a_result_per_place() {
    let package = many_problems();
    let output = package.run(&["check", "--format", "sarif"]);
    assert_eq!(output.code, 1);
    let log: evalsuite_schema::Value = evalsuite_schema::json::from_str(&output.out).expect("one JSON object");
    assert_eq!((&log["version"], log["runs"].as_array().map(Vec::len)), (&"2.1.0".into(), Some(1)));
    let (rules, results) = (&log["runs"][0]["tool"]["driver"]["rules"], &log["runs"][0]["results"]);
    assert_eq!(results.as_array().map(Vec::len), Some(18), "{}", output.out);
    for result in results.as_array().expect("a list") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small number");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert_eq!(rules[index]["defaultConfiguration"]["level"], result["level"]);
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty() && !text.contains("times)")));
        assert!(["note", "warning", "error"].iter().any(|level| result["level"] == *level), "{result}");
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.starts_with("suites/")), "{result}");
        let region = ["startLine", "startColumn", "endLine", "endColumn"].map(|key| place["region"][key].as_u64());
        assert!(region.iter().all(|number| number.is_some_and(|number| number > 0)), "{result}");
    }
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "suites/shop/cases/c1/case.yaml");
    assert_eq!(
        place["region"],
        evalsuite_schema::json::json!({ "startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 7 })
    );

    let below = Package::new(&[]);
    std::fs::create_dir(below.root().join(".git")).expect("a repository");
    below.write("agents/shop/Cargo.toml", "[package]\nname = \"shop\"\n[workspace]\n");
    below.write("agents/shop/suites/a/EVAL.yaml", "tests: 1\n");
    let output = below.run(&["check", "agents/shop/suites/a", "--format", "sarif"]);
    assert!(output.out.contains("\"uri\":\"agents/shop/suites/a/EVAL.yaml\""), "{}", output.out);
}

#[test]
fn github_shows_ten_annotations_of_a_kind() {
    let package = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n")]);
    for id in 1..=12 {
        let case = format!("input: hello\nassertions:\n  - {{ type: contains, valeu{id}: hello }}\n");
        package.write(&format!("suites/shop/cases/c{id}/case.yaml"), &case);
    }
    let output = package.run(&["check", "--format", "github"]);
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines.len(), 10, "{}", output.out);
    assert_eq!(lines[9], "::error title=evalsuite::6 more errors; `cargo evalsuite check` shows them all");
}

#[test]
fn what_is_certain_is_fixed_in_both_layouts() {
    let task = TASK.replace("\"description\"", "\"descripton\"").replace("\"hello\" }", "5 }");
    let case = "# mine\ninput: Pay 19.90 €   # here\nassert:\n  - { type: contains, vaule: 19.90 }\n  - { type: execution-metrics, max_tool_cals: 3 }\n  - { type: tool-trajectory, mode: exactt, expected: [{ tool: pay }] }\n";
    let package = Package::new(&[
        ("suites/card_agent/tasks/a.json", &task),
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", case),
        ("tests/evals.rs", "include_eval_suite!(\"suites/shop\", agent = a);"),
    ]);
    let output = package.run(&["check", "--fix", "--deny-warnings"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 2 suites with 2 tests\n"), "{}", output.err);
    let read = |path: &str| std::fs::read_to_string(package.root().join(path)).expect(path);
    assert_eq!(read("suites/card_agent/tasks/a.json"), TASK.replace("\"hello\" }", "\"5\" }"));
    assert_eq!(
        read("suites/shop/cases/a/case.yaml"),
        "# mine\ninput: Pay 19.90 €   # here\nassertions:\n  - { type: contains, value: \"19.90\" }\n  - { type: execution-metrics, max_tool_calls: 3 }\n  - { type: tool-trajectory, mode: exact, expected: [{ tool: pay }] }\n"
    );
    assert!(
        output.err.contains("fixed suites/shop/cases/a/case.yaml:3:1: assert is now assertions\n"),
        "{}",
        output.err
    );
    assert!(
        output.err.contains("fixed suites/shop/cases/a/case.yaml:4:30: 19.90 is now \"19.90\"\n"),
        "{}",
        output.err
    );
}

#[test]
fn what_is_not_certain_is_not_fixed() {
    let case = "input: hello\nasserts:\n  - { type: contains, value: hello }\n";
    let package = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n"), ("suites/shop/cases/a/case.yaml", case)]);
    let output = package.run(&["check", "--fix"]);
    assert_eq!((output.code, output.err.as_str()), (1, ""));
    assert!(output.out.contains("help: did you mean `assertions`?"), "{}", output.out);
    let written = std::fs::read_to_string(package.root().join("suites/shop/cases/a/case.yaml")).expect("the case");
    assert_eq!(written, case);
}

#[test]
fn no_color_wins_over_a_request_for_colors() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{}")]);
    let colored = package.run_with(&["check"], &[("CLICOLOR_FORCE", "1")]);
    assert!(colored.out.contains('\u{1b}'), "{}", colored.out);
    let plain = package.run_with(&["check"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
    assert!(!plain.out.contains('\u{1b}'), "{}", plain.out);
}

#[test]
fn very_many_problems_are_counted_and_the_errors_are_printed_first() {
    let unknown: Vec<String> = (0..1500).map(|number| format!("x{number}")).collect();
    let yaml =
        format!("tests:\n- id: a\n  input: b\n  criteria: c\n  assert: [d]\n  depends_on: [{}]\n", unknown.join(", "));
    let package = Package::new(&[("suites/greet/EVAL.yaml", &yaml)]);
    let output = package.run(&["check", "suites/greet"]);
    assert_eq!(output.code, 1);
    assert_eq!(output.out.matches("error[E").count(), 1000);
    assert!(!output.out.contains("warning[W001 deprecated-key]"), "a warning takes the place of an error");
    assert!(output.out.ends_with("1500 errors, 1 warning in 1 suite with 0 tests\n"));
    assert_eq!(output.err, "note: the first 1000 problems are printed; there are 501 more\n");
    let lines = package.run(&["check", "suites/greet", "--format", "json"]).out;
    assert_eq!(lines.lines().count(), 1000);
}

#[cfg(unix)]
#[test]
fn a_linked_suite_file_is_checked_and_links_to_devices_and_foreign_files_are_not_read() {
    let package = Package::new(&[("shared/eval.yaml", "tests:\n- {id: a, criteria: b, input: c, typo: d}\n")]);
    let link = |target: &str, name: &str| {
        let path = package.root().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::os::unix::fs::symlink(target, path).expect("a link");
    };
    link("../../shared/eval.yaml", "suites/linked/EVAL.yaml");
    link("/etc/hostname", "suites/foreign/EVAL.yaml");
    link("/dev/zero", "suites/linked/targets.yaml");
    link("/dev/zero", "src/device.rs");
    let output = package.run(&["check", "suites"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("unknown key `typo`"), "{}", output.out);
    assert!(output.out.contains("resolves to `/etc/hostname`, outside the package"), "{}", output.out);
    assert!(output.out.ends_with(" errors in 2 suites with 0 tests\n"), "{}", output.out);
}

#[cfg(unix)]
#[test]
fn links_that_cargo_should_not_follow_are_found_in_tracked_directories() {
    let package = Package::new(&[
        ("suites/card_agent/tasks/a.json", TASK),
        (
            "build.rs",
            "use evalsuite_build::track;\nfn main() {\n    track(\"suites\");\n    evalsuite_build::track(\"data\");\n}\n",
        ),
        ("data/x/keep", ""),
        ("other/keep", ""),
        ("shared/keep", ""),
    ]);
    let link = |target: &str, path: &str| {
        std::os::unix::fs::symlink(target, package.root().join(path)).expect("a link");
    };
    link("../shared", "suites/shared");
    link("/", "other/root");
    let output = package.run(&["check"]);
    assert_eq!(output.code, 0, "{}", output.out);
    for path in ["suites/card_agent/root", "suites/root", "data/x/root"] {
        link("/", path);
        for arguments in [&["check"][..], &["check", "suites/card_agent"]] {
            let output = package.run(arguments);
            assert_eq!(output.code, 1, "{path}: {}", output.out);
            let error =
                format!("error[E081 linked-directory]: `{path}` is a link to /, which is outside of the package");
            assert_eq!(output.out.matches(&error).count(), 1, "{path}: {}", output.out);
        }
        let output = package.run(&["run"]);
        assert_eq!(output.code, 2, "cargo is not started: {}", output.err);
        assert!(output.err.contains("E081 linked-directory"), "{}", output.err);
        std::fs::remove_file(package.root().join(path)).expect("the link");
    }
}
