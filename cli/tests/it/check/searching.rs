//! What is checked, and where suites are searched.

use crate::package::{Package, TASK};

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
fn the_directory_of_cases_is_their_suite_and_a_suite_named_twice_is_one() {
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "assertions: [{ type: contains, value: hello }]\n"),
        ("suites/shop/cases/good/case.yaml", "input: hello\n"),
    ]);
    for paths in [&["suites/shop/cases"][..], &["suites/shop", "suites/shop"], &["suites", "suites/shop/cases"]] {
        let output = package.run(&[&["check"], paths].concat());
        assert_eq!(output.out, "no problems in 1 suite with 1 test\n", "{paths:?}");
    }
    assert!(package.run(&["list", "suites/shop/cases"]).out.starts_with("shop (suites/shop)\n"));
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
