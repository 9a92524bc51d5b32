//! `cargo evalsuite new`, run as a program.

use std::fs;

use crate::package::Package;
use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Call, Package as Directory};

/// A package as `cargo new --lib` leaves it.
fn package() -> Package {
    let package = Package::new(&[("Cargo.toml", "[package]\nname = \"shop-agent\"\nedition = \"2024\"\n")]);
    package.write("src/lib.rs", "");
    fs::remove_dir(package.root().join("suites")).expect("the folder of suites");
    package
}

fn read(package: &Package, path: &str) -> String {
    fs::read_to_string(package.root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[slow(builds)]
#[test]
fn three_commands_lead_to_a_passing_and_a_failing_case() {
    let directory = Directory::directory_outside_of_workspaces("new-command");
    let run = |line: &str, below: &str| {
        let call = Call::program("sh", &directory).with_cargo().args(["-c", line]);
        call.in_directory(&directory.root().join(below)).run()
    };
    run("cargo new --quiet --lib shop-agent", "").succeeds("the package is created");
    // The same versions as those of all other packages, which are built already.
    fs::copy(directory.root().join("Cargo.lock"), directory.root().join("shop-agent/Cargo.lock"))
        .expect("the lock file");
    // The program was built in a clone, whose crates it uses.
    let new =
        |what: &str| format!("{} evalsuite new {what}", assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display());
    run(&new("suite"), "shop-agent").succeeds("the suite is written").says("created suites/basics/EVAL.yaml");
    run(&new("grader short"), "shop-agent").succeeds("the grader is written");
    let short = "input: Say hello.\nassertions:\n  - type: short\n";
    directory.write("shop-agent/suites/basics/cases/short/case.yaml", short);
    let ran = run("cargo test --test basics", "shop-agent").fails("one case fails");
    ran.says("test basics::greeting ... ok")
        .says("test basics::short ... ok")
        .says("test basics::addition ... FAILED")
        .says("test basics::suite_check ... ok");
    ran.says("Output does not equal \"42\"").is_silent_about("warning");
    run(&new("suite pdf-forms --layout skill"), "shop-agent").succeeds("the skill is written");
    let ran = run("cargo test --test pdf_forms", "shop-agent").fails("one case fails");
    ran.says("test pdf_forms::unrelated ... ok")
        .says("test pdf_forms::needed ... FAILED")
        .says("evaluation failed: needed");
}

#[test]
fn a_suite_of_either_layout_passes_check() {
    for (layout, file) in [("cases", "suites/basics/EVAL.yaml"), ("tasks", "suites/basics/suite.json")] {
        let package = package();
        let output = package.run(&["new", "suite", "--layout", layout]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
        assert!(output.out.starts_with(&format!("created {file}\n")), "{}", output.out);
        for line in [
            "created tests/basics.rs\n",
            "created build.rs\n",
            "created .gitattributes\n",
            "changed Cargo.toml: dev-dependency evalsuite, build-dependency evalsuite-build, \
             dev profile without debug information of dependencies\n",
        ] {
            assert!(output.out.contains(line), "{}", output.out);
        }
        let check = package.run(&["check", "--deny-warnings"]);
        assert_eq!((check.code, check.out.as_str()), (0, "no problems in 1 suite with 2 tests\n"), "{layout}");
        let added = package.run(&["new", "case", "third", "--input", "Hi", "--contains", "Hello"]);
        assert_eq!((added.code, added.err.as_str()), (0, ""), "{}", added.out);
        assert_eq!(package.run(&["check", "--deny-warnings"]).code, 0);
        let text = read(&package, file);
        let canary =
            text.split(['"', ' ', '\n']).find(|word| word.len() == 36).expect("a canary in the file of the suite");
        let cases = match layout {
            "cases" => ["greeting", "addition", "third"].map(|case| format!("suites/basics/cases/{case}/case.yaml")),
            _ => ["greeting", "addition", "third"].map(|case| format!("suites/basics/tasks/{case}.json")),
        };
        for case in cases {
            assert!(read(&package, &case).contains(canary), "an agent that reads {case} is noticed");
        }
        assert_eq!(check.err, "", "the call in the test file is read");
    }
    let package = package();
    assert_eq!(package.run(&["new"]).code, 0, "a suite is the default");
    assert!(package.root().join("suites/basics/EVAL.yaml").is_file());
}

#[test]
fn suites_and_recordings_get_attributes_of_git_unless_there_are_some() {
    let lines = "/suites/** text=auto eol=lf\n/.evalsuite/** text=auto eol=lf\n";
    let package = package();
    assert_eq!(package.run(&["new", "suite", "one"]).code, 0);
    assert!(read(&package, ".gitattributes").ends_with(lines), "{}", read(&package, ".gitattributes"));
    let again = package.run(&["new", "suite", "two"]);
    assert!(again.code == 0 && !again.out.contains(".gitattributes"), "{}", again.out);

    package.write(".gitattributes", "*.png binary\nsuites/** -text");
    let output = package.run(&["new", "suite", "three"]);
    let changed = "changed .gitattributes: /.evalsuite/** text=auto eol=lf\n";
    assert!(output.out.contains(changed), "{}", output.out);
    let attributes = read(&package, ".gitattributes");
    assert!(attributes.starts_with("*.png binary\nsuites/** -text\n#"), "{attributes}");
    assert!(attributes.ends_with("/.evalsuite/** text=auto eol=lf\n"), "{attributes}");
}

#[test]
fn a_skill_gets_evals_where_it_is() {
    let fresh = package();
    let output = fresh.run(&["new", "suite", "pdf-forms", "--layout", "skill"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    for file in ["skills/pdf-forms/SKILL.md", "skills/pdf-forms/evals/evals.json", "tests/pdf_forms.rs", "build.rs"] {
        assert!(output.out.contains(&format!("created {file}\n")), "{file}: {}", output.out);
    }
    assert!(
        output.out.contains("`unrelated` passes; `needed` fails until `agent` in tests/pdf_forms.rs"),
        "{}",
        output.out
    );
    assert!(read(&fresh, "build.rs").contains("track(\"skills\")"));
    let check = fresh.run(&["check", "--deny-warnings"]);
    assert_eq!((check.code, check.out.as_str(), check.err.as_str()), (0, "no problems in 1 suite with 2 tests\n", ""));

    let skill = "---\nname: csv\ndescription: Reads tables.\n---\n";
    let existing = package();
    existing.write(".claude/skills/csv/SKILL.md", skill);
    let output = existing.run(&["new", "suite", "csv", "--layout", "skill"]);
    assert!(output.out.starts_with("created .claude/skills/csv/evals/evals.json\n"), "{}{}", output.out, output.err);
    assert_eq!(read(&existing, ".claude/skills/csv/SKILL.md"), skill);
    assert_eq!(existing.run(&["check", "--deny-warnings"]).out, "no problems in 1 suite with 2 tests\n");
    let again = existing.run(&["new", "suite", "csv", "--ci"]);
    assert!(
        again.out.ends_with("\n.claude/skills/csv already exists and was not changed.\n"),
        "{}{}",
        again.out,
        again.err
    );

    let refused = existing.run(&["new", "suite", "PDF_forms", "--layout", "skill"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("`PDF_forms` is not a valid name of a skill"), "{}", refused.err);
    let refused = existing.run(&["new", "suite", "PDF_forms"]);
    assert!(refused.err.contains("`PDF_forms` is not a valid name of a suite of cases"), "{}", refused.err);
    assert_eq!(existing.run(&["new", "suite", "PDF_forms", "--layout", "tasks"]).code, 0);
    assert_eq!(existing.run(&["check", "--deny-warnings"]).out, "no problems in 2 suites with 4 tests\n");
}

#[test]
fn the_dev_profile_is_written_unless_the_user_has_decided() {
    let setting = "[profile.dev.package.\"*\"]\ndebug = false\n";
    let package = self::package();
    assert_eq!(package.run(&["new", "suite"]).code, 0);
    assert!(read(&package, "Cargo.toml").ends_with(&format!("\n\n{setting}")), "{}", read(&package, "Cargo.toml"));
    assert_eq!(package.run(&["new", "suite", "second"]).code, 0);
    assert_eq!(read(&package, "Cargo.toml").matches("[profile").count(), 1, "it is written once");

    let package = self::package();
    assert_eq!(package.run(&["new", "suite", "--keep-debug-info"]).code, 0);
    assert!(!read(&package, "Cargo.toml").contains("profile"), "it is not wanted");

    let own = "\n[profile.dev]\ndebug = \"line-tables-only\" # mine\n";
    let package = self::package();
    package.write("Cargo.toml", &format!("{}{own}", read(&package, "Cargo.toml")));
    assert_eq!(package.run(&["new", "suite"]).code, 0);
    let manifest = read(&package, "Cargo.toml");
    assert!(manifest.contains(own) && manifest.matches("[profile").count() == 1, "{manifest}");

    // Cargo reads profiles of the root only.
    let root = "[workspace]\nmembers = [\"shop\"]\n";
    let workspace = Package::new(&[("Cargo.toml", root)]);
    workspace.write("shop/Cargo.toml", "[package]\nname = \"shop-agent\"\nedition = \"2024\"\n");
    workspace.write("shop/src/lib.rs", "");
    let output = workspace.run_in("shop", &["new", "suite"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(
        output.out.contains("Cargo.toml: dev profile without debug information of dependencies\n"),
        "{}",
        output.out
    );
    assert_eq!(read(&workspace, "Cargo.toml"), format!("{root}\n{setting}"));
    assert!(!read(&workspace, "shop/Cargo.toml").contains("profile"));

    let package = self::package();
    package.write(
        "Cargo.toml",
        "profile = { dev = { opt-level = 1 } }\n[package]\nname = \"shop-agent\"\nedition = \"2024\"\n",
    );
    let output = package.run(&["new", "suite"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("was not changed: its tables do not allow it"), "{}", output.err);
    assert!(output.err.contains(setting), "it says what to add: {}", output.err);
    assert!(read(&package, "Cargo.toml").contains("[dev-dependencies]"), "the rest is written");
}

#[test]
fn the_documented_workflow_is_the_one_that_new_writes() {
    let package = package();
    fs::create_dir(package.root().join(".git")).expect("a repository");
    assert_eq!(package.run(&["new", "ci"]).code, 0);
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim_end().to_owned()).collect()
    };
    let page = fs::read_to_string(evalsuite_tests::throwaway::workspace().join("docs/ci.md")).expect("the page");
    let (_, shown) = page.split_once("# .github/workflows/evals.yml\n").expect("the workflow");
    let (shown, _) = shown.split_once("```").expect("its end");
    assert_eq!(lines(&read(&package, ".github/workflows/evals.yml")), lines(shown));
}

#[test]
fn a_suite_gets_a_name_that_check_accepts() {
    let package = package();
    let output = package.run(&["new", "suite", "Shop"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("`Shop` is not a valid name of a suite of cases"), "{}", output.err);
    assert!(output.err.ends_with("\n  = help: write `shop`\n"), "{}", output.err);
    let output = package.run(&["new", "suite", "evalsuite"]);
    let message = "error: a suite cannot have the name of the crate `evalsuite`\n  = help: choose another name\n";
    assert_eq!((output.code, output.err.as_str()), (2, message));
    assert!(!package.root().join("suites").exists());
}

#[test]
fn a_suite_that_would_hide_a_crate_gets_another_module() {
    let names = [
        ("shop-agent", ", name = shop_agent_suite"),
        ("evalsuite-build", ""),
        ("serde", ", name = serde_suite"),
        ("orders-client", ", name = orders_client_suite"),
        ("std", ", name = std_suite"),
        ("refunds", ""),
    ];
    for (name, arguments) in names {
        let package = package();
        let manifest = "[package]\nname = \"shop-agent\"\nedition = \"2024\"\n\n[dependencies]\nserde = \"1\"\n\n\
                        [dev-dependencies]\norders-client = { path = \"../orders\" }\n";
        package.write("Cargo.toml", manifest);
        let output = package.run(&["new", "suite", name, "--layout", "cases"]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{name}: {}", output.out);
        let test = read(&package, &format!("tests/{}.rs", name.replace('-', "_")));
        let call = format!("include_eval_suite!(\"suites/{name}\"{arguments});\n");
        assert!(test.contains(&call), "expected {call:?} in\n{test}");
    }
}

#[test]
fn a_clone_beside_the_package_is_named_by_a_relative_path() {
    let package = package();
    package.write("agents/shop/Cargo.toml", "[package]\nname = \"shop\"\nedition = \"2024\"\n");
    package.write("agents/shop/src/lib.rs", "");
    package.write("evalsuite/runtime/Cargo.toml", "[package]\nname = \"evalsuite\"\n");
    let output =
        package.run_in("agents/shop", &["new", "suite", "basics", "--layout", "cases", "--crates", "../../evalsuite"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    let manifest = read(&package, "agents/shop/Cargo.toml");
    assert!(manifest.contains("evalsuite = { path = \"../../evalsuite/runtime\" }"), "{manifest}");
}

#[test]
fn files_that_are_there_are_not_overwritten_without_force() {
    let package = package();
    package.write("tests/shop.rs", "// mine\n");
    let manifest = read(&package, "Cargo.toml");
    let output = package.run(&["new", "suite", "shop"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    let expected =
        "error: tests/shop.rs is already there; nothing was written\n  = help: `--force` overwrites existing files\n";
    assert_eq!(output.err, expected);
    assert_eq!(read(&package, "tests/shop.rs"), "// mine\n");
    assert_eq!(read(&package, "Cargo.toml"), manifest);
    assert!(!package.root().join("suites").exists(), "all or nothing");
    let output = package.run(&["new", "suite", "shop", "--force"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("replaced tests/shop.rs\n"), "{}", output.out);
    assert!(read(&package, "tests/shop.rs").contains("include_eval_suite!(\"suites/shop\")"));
}

#[test]
fn a_second_suite_changes_neither_manifest_nor_build_script() {
    let package = package();
    package.write("build.rs", "fn main() {\n    println!(\"cargo::rerun-if-env-changed=X\");\n}\n");
    let output = package.run(&["new", "suite", "one"]);
    assert!(
        output.out.contains("changed build.rs: evalsuite_build::track(\"suites\"); (the build script now runs only"),
        "{}",
        output.out
    );
    let script = read(&package, "build.rs");
    assert!(script.starts_with("fn main() {\n    evalsuite_build::track(\"suites\");\n    println!"), "{script}");
    let output = package.run(&["new", "suite", "two"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(!output.out.contains("changed"), "{}", output.out);
    assert_eq!(read(&package, "build.rs"), script);
}

#[test]
fn nextest_and_the_workflow_are_added_on_request() {
    let package = package();
    fs::create_dir(package.root().join(".git")).expect("a repository");
    package.write(".config/nextest.toml", "# mine\n[profile.default]\nretries = 1\n");
    let output = package.run(&["new", "suite", "--ci"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("changed .config/nextest.toml: profile ci\n"), "{}", output.out);
    let profile =
        "\n[profile.ci]\nfail-fast = false\nretries = 0\nslow-timeout = { period = \"60s\", terminate-after = 10 }\n";
    assert_eq!(read(&package, ".config/nextest.toml"), format!("# mine\n[profile.default]\nretries = 1\n{profile}"));
    assert!(read(&package, ".github/workflows/evals.yml").contains("cargo nextest run --profile ci\n"));

    let suite = read(&package, "suites/basics/EVAL.yaml");
    let output = package.run(&["new", "suite", "basics", "--ci"]);
    assert_eq!((output.code, output.out.as_str()), (0, "\nsuites/basics already exists and was not changed.\n"));
    assert_eq!(package.run(&["new", "ci"]).out, "the workflow and the profile are up to date\n");
    fs::remove_dir_all(package.root().join(".github")).expect("the workflow");
    let output = package.run(&["new", "suite", "basics", "--ci"]);
    let created = "created .github/workflows/evals.yml\n\nsuites/basics already exists and was not changed.\n";
    assert_eq!((output.code, output.out.as_str()), (0, created), "{}", output.err);
    assert_eq!(read(&package, "suites/basics/EVAL.yaml"), suite);
    package.write(".github/workflows/evals.yml", "# mine\n");
    let output = package.run(&["new", "ci"]);
    assert_eq!(output.code, 2);
    assert!(output.err.starts_with("error: .github/workflows/evals.yml is already there;"), "{}", output.err);
    assert_eq!(package.run(&["new", "ci", "--force"]).out, "replaced .github/workflows/evals.yml\n");

    let workspace = Package::new(&[("Cargo.toml", "[workspace]\nmembers = [\"agents/*\"]\n")]);
    let output = workspace.run(&["new", "ci"]);
    let created = "created .config/nextest.toml\ncreated .github/workflows/evals.yml\n";
    assert_eq!((output.code, output.out.as_str()), (0, created), "{}", output.err);

    let other = self::package();
    let output = other.run(&["new", "suite", "--nextest"]);
    assert!(output.out.contains("created .config/nextest.toml\n"), "{}", output.out);
    assert_eq!(read(&other, ".config/nextest.toml"), profile.trim_start());
    assert!(!other.root().join(".github").exists());
}

#[test]
fn the_root_of_a_workspace_is_not_a_package() {
    let package = Package::new(&[("Cargo.toml", "[workspace]\nmembers = [\"agents/*\"]\n")]);
    let output = package.run(&["new"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.ends_with("has no package\n  = help: change to the directory of one of its members\n"),
        "{}",
        output.err
    );
}

#[test]
fn cases_are_added_in_the_layout_of_the_suite() {
    for (layout, file) in [("cases", "suites/basics/cases/late/case.yaml"), ("tasks", "suites/basics/tasks/late.json")]
    {
        let package = package();
        assert_eq!(package.run(&["new", "suite", "--layout", layout]).code, 0);
        let arguments = ["new", "case", "late", "--input", "Say: \"late\"", "--contains", "late"];
        let output = package.run(&arguments);
        assert_eq!((output.code, output.out), (0, format!("created {file}\n")), "{}", output.err);
        let judged =
            ["new", "case", "kind", "--input", "Be kind.", "--criteria", "Is kind: yes", "--suite", "suites/basics"];
        assert_eq!(package.run(&judged).code, 0);
        assert_eq!(package.run(&["check", "--deny-warnings"]).out, "no problems in 1 suite with 4 tests\n", "{layout}");
        assert_eq!(package.run(&arguments).code, 2, "the case is there");
    }
}

#[test]
fn a_case_is_added_to_the_case_directories_of_any_suite() {
    for suite_json in [None, Some(r#"{"name": "shop", "agent_name": "agent"}"#)] {
        let package = package();
        package.write("suites/shop/cases/refund/case.yaml", "input: Refund!\ncriteria: Refunds.\n");
        if let Some(text) = suite_json {
            package.write("suites/shop/suite.json", text);
        }
        let output = package.run(&["new", "case", "late", "--input", "Late!", "--contains", "sorry"]);
        let created = "created suites/shop/cases/late/case.yaml\n";
        assert_eq!((output.code, output.out.as_str()), (0, created), "{}", output.err);
    }
}

#[test]
fn a_case_that_would_break_the_suite_is_not_written() {
    let list = "tests:\n  - { id: refund, input: Refund!, assertions: [{ type: contains, value: sorry }] }\n";
    let own_id = "id: refund\ninput: Refund!\nassertions: [{ type: contains, value: sorry }]\n";
    let eval = r#"{ "evals": [{ "id": "refund", "prompt": "Refund!", "expectations": ["It refunds."] }] }"#;
    let skill = "---\nname: shop\ndescription: Refunds orders of the shop.\n---\nRefund.\n";
    let listed = ("suites/shop/EVAL.yaml", list);
    for (files, id, message) in [
        (&[listed][..], "refund", "suites/shop has a case `refund` already: suites/shop/EVAL.yaml:2:"),
        (&[listed], "late", "suites/shop lists its cases in `tests`, and does not read a directory of cases"),
        (
            &[("suites/shop/EVAL.yaml", "description: d\n"), ("suites/shop/cases/first/case.yaml", own_id)],
            "refund",
            "suites/shop has a case `refund` already: suites/shop/cases/first/case.yaml:1:",
        ),
        (
            &[("skills/shop/SKILL.md", skill), ("skills/shop/evals/evals.json", eval)],
            "refund",
            "skills/shop has a case `refund` already: skills/shop/evals/evals.json:1:",
        ),
    ] {
        let package = package();
        files.iter().for_each(|(path, text)| package.write(path, text));
        let before = package.run(&["list", "--format", "json"]).out;
        for force in [&[][..], &["--force"]] {
            let output =
                package.run(&[&["new", "case", id, "--input", "Hi", "--contains", "Hello"][..], force].concat());
            assert_eq!((output.code, output.out.as_str()), (2, ""), "{}", output.err);
            assert!(output.err.starts_with(&format!("error: {message}")), "{}", output.err);
            assert!(output.err.contains("\n  = help: "), "{}", output.err);
        }
        assert_eq!(package.run(&["list", "--format", "json"]).out, before, "{id}");
    }
    let package = package();
    package.write("suites/shop/EVAL.yaml", "tests: ./cases/\n");
    package.write("suites/shop/cases/first/case.yaml", own_id);
    let replaced = package.run(&["new", "case", "first", "--input", "Hi", "--contains", "Hello"]);
    assert!(replaced.code == 2 && replaced.err.contains("overwrites existing files"), "{}", replaced.err);
    let added = package.run(&["new", "case", "late", "--input", "Hi", "--contains", "Hello"]);
    assert_eq!(added.code, 0, "{}", added.err);
    let force = ["new", "case", "late", "--input", "Bye", "--contains", "Hello", "--force"];
    assert_eq!(package.run(&force).code, 0, "it is replaced");
    assert_eq!(package.run(&["check"]).out, "no problems in 1 suite with 2 tests\n");
}

#[test]
fn a_case_says_what_is_missing() {
    let package = package();
    let output = package.run(&["new", "case", "late"]);
    assert_eq!(output.code, 2);
    let expected = "error: the package has no suite\n  = help: write one: `cargo evalsuite new suite`\n";
    assert_eq!(output.err, expected);
    assert_eq!(package.run(&["new", "suite"]).code, 0);
    for (arguments, message) in [
        (&["late"][..], "error: `--input` is missing: prompt for the agent\n"),
        (
            &["a b", "--input", "x"],
            "error: `a b` is not a valid name: use letters, digits, `-` and `_`, and start with a letter\n",
        ),
        (&["late", "--suite", "src"], "error: src is not the directory of a suite\n"),
    ] {
        let output = package.run(&[&["new", "case"], arguments].concat());
        assert_eq!((output.code, output.err.as_str()), (2, message));
    }
}

#[test]
fn a_grader_joins_the_test_file() {
    let package = package();
    assert_eq!(package.run(&["new", "suite"]).code, 0);
    let output = package.run(&["new", "grader", "short-answer"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with("changed tests/basics.rs: grader short_answer\n"), "{}", output.out);
    let test = read(&package, "tests/basics.rs");
    assert!(test.contains("include_eval_suite!(\"suites/basics\", graders = [short_answer]);"), "{test}");
    assert!(test.contains("\nfn short_answer(evidence: &evalsuite::Evidence<'_>) -> evalsuite::Score {\n"), "{test}");
    package.write("suites/basics/cases/greeting/case.yaml", "input: Say hello.\nassertions:\n  - type: short_answer\n");
    assert_eq!(package.run(&["check", "--deny-warnings"]).out, "no problems in 1 suite with 2 tests\n");
    let output = package.run(&["new", "grader", "short_answer"]);
    assert_eq!(
        (output.code, output.err.as_str()),
        (2, "error: tests/basics.rs already has a function `short_answer`\n")
    );
    for (name, what) in [("type", "a keyword of Rust"), ("is-json", "a built-in type of graders")] {
        let output = package.run(&["new", "grader", name]);
        let message = format!("error: `{}` is {what}\n  = help: choose another name\n", name.replace('-', "_"));
        assert_eq!((output.code, output.err), (2, message));
    }
    package.write("tests/basics.rs", "");
    let output = package.run(&["new", "grader", "other"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.ends_with("= help: write the function, and add `graders = [other]` to the call\n"),
        "{}",
        output.err
    );
}

#[test]
fn a_command_becomes_the_agent_of_a_test_file_of_its_own() {
    let package = package();
    assert_eq!(package.run(&["new", "suite"]).code, 0);
    let output = package.run(&["new", "agent-cli", "--command", "my-agent \"{PROMPT_FILE}\" {OUTPUT_FILE}"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(
        output.out.starts_with(
            "created suites/basics/targets.yaml\ncreated tests/basics_cli.rs\n\
             changed Cargo.toml: feature cli-agents of evalsuite, feature sealed of evalsuite\n"
        ),
        "{}",
        output.out
    );
    assert!(read(&package, "Cargo.toml").contains(r#"features = ["cli-agents", "sealed"]"#));
    assert!(read(&package, "suites/basics/targets.yaml").contains("    sealed: auto\n"));
    assert!(
        read(&package, "suites/basics/targets.yaml").contains(r#"command: "my-agent \"{PROMPT_FILE}\" {OUTPUT_FILE}""#)
    );
    assert_eq!(package.run(&["check", "--deny-warnings"]).out, "no problems in 1 suite with 4 tests\n");
    assert_eq!(package.run(&["new", "agent-cli"]).code, 2, "the targets file is there");
    assert_eq!(package.run(&["new", "agent-cli", "--force"]).code, 0);
    assert_eq!(package.run(&["check", "--deny-warnings"]).code, 0, "the default command is valid");
}

#[test]
fn an_agent_of_the_agent_client_protocol_becomes_the_agent_of_a_test_file() {
    let package = package();
    assert_eq!(package.run(&["new", "suite"]).code, 0);
    assert_eq!(package.run(&["new", "agent-acp"]).code, 2, "there is no agent by default");
    let output = package.run(&["new", "agent-acp", "--command", "my-agent --acp"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(
        output.out.starts_with(
            "created suites/basics/targets.yaml\ncreated tests/basics_acp.rs\n\
             changed Cargo.toml: feature acp of evalsuite, feature sealed of evalsuite\n"
        ),
        "{}",
        output.out
    );
    assert!(read(&package, "tests/basics_acp.rs").contains("agent = \"acp\", name = basics_acp"));
    assert!(read(&package, "suites/basics/targets.yaml").contains("provider: acp\n    command: \"my-agent --acp\""));
    assert_eq!(package.run(&["check", "--deny-warnings"]).out, "no problems in 1 suite with 4 tests\n");
}

/// A suite that was converted, or written by hand.
#[test]
fn an_agent_of_any_suite_has_a_valid_module_and_the_crate_that_it_needs() {
    let package = package();
    package.write("suites/2024-cards.v2/EVAL.yaml", "tests:\n  - { id: a, input: hi, criteria: polite }\n");
    let output = package.run(&["new", "agent-cli"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("created tests/_2024_cards_v2_cli.rs\n"), "{}", output.out);
    assert!(output.out.contains("dev-dependency evalsuite, "), "{}", output.out);
    assert!(read(&package, "tests/_2024_cards_v2_cli.rs").contains("agent = \"cli\", name = _2024_cards_v2_cli);"));
    let manifest = read(&package, "Cargo.toml");
    assert!(manifest.contains(r#"features = ["cli-agents", "sealed"]"#), "{manifest}");
    let checked = package.run(&["check"]);
    assert_eq!(
        (checked.code, checked.out.contains("1 suite with 1 test")),
        (0, true),
        "{}{}",
        checked.out,
        checked.err
    );
}

#[test]
fn a_calibration_passes_check() {
    let package = package();
    assert_eq!(package.run(&["new", "suite"]).code, 0);
    let output = package.run(&["new", "calibration"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with("created suites/basics/calibration.yaml\n"), "{}", output.out);
    assert!(output.out.contains("changed Cargo.toml: feature grader-tests of evalsuite\n"), "{}", output.out);
    assert!(read(&package, "Cargo.toml").contains("features = [\"grader-tests\"]"));
    assert_eq!(package.run(&["check", "--deny-warnings"]).out, "no problems in 1 suite with 2 tests\n");
    assert_eq!(package.run(&["new", "calibration"]).code, 2, "the file is there");
}

#[test]
fn schemas_and_settings_of_the_editor_are_added() {
    let package = package();
    package.write(".vscode/settings.json", "{\n  // mine\n  \"editor.tabSize\": 2\n}\n");
    let output = package.run(&["new", "suite", "--editor"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    assert!(output.out.contains("created .evalsuite/schema/eval.json\n"), "{}", output.out);
    assert!(output.out.contains("changed .vscode/settings.json: yaml.schemas, json.schemas\n"), "{}", output.out);
    let settings = read(&package, ".vscode/settings.json");
    assert!(settings.contains("// mine") && settings.contains("./.evalsuite/schema/case.json"), "{settings}");
    let schema: evalsuite_schema::Value =
        evalsuite_schema::json::from_str(&read(&package, ".evalsuite/schema/eval.json")).expect("JSON");
    assert_eq!(schema["title"], "evalsuite: eval");
    let again = package.run(&["new", "editor"]);
    assert_eq!((again.code, again.out.as_str()), (0, "the schemas and .vscode/settings.json are up to date\n"));
    assert_eq!(package.run(&["check", "--deny-warnings"]).code, 0, "schemas are not files of a suite");

    package.write(".evalsuite/schema/case.json", "{}");
    let refused = package.run(&["new", "editor"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains(".evalsuite/schema/case.json is already there"), "{}", refused.err);
    assert!(package.run(&["new", "editor", "--force"]).out.starts_with("replaced .evalsuite/schema/case.json\n"));
}

#[test]
fn settings_that_are_not_understood_are_left_alone() {
    let package = package();
    package.write(".vscode/settings.json", "{ \"yaml.schemas\": ");
    let output = package.run(&["new", "editor"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.starts_with("note: .vscode/settings.json was not changed: "), "{}", output.err);
    assert!(output.err.contains("\"./.evalsuite/schema/eval.json\": "), "it says what to add: {}", output.err);
    assert_eq!(read(&package, ".vscode/settings.json"), "{ \"yaml.schemas\": ");
    let fresh = self::package();
    assert!(fresh.run(&["new", "editor"]).out.contains("created .vscode/settings.json\n"));
}

#[cfg(target_os = "linux")]
#[evalsuite_needs::needs(script)]
#[test]
fn what_is_missing_is_asked_on_a_terminal() {
    let package = package();
    let output = package.run_on_terminal("new suite", "shop\ntasks\nno\n", &[]);
    assert!(output.contains("Name of the suite [basics]: "), "{output}");
    assert!(output.contains("Layout: cases, tasks or skill [cases]: "), "{output}");
    let question = "Leave out debug information of dependencies, for smaller and faster builds: yes or no [yes]: ";
    assert!(output.contains(question), "{output}");
    assert!(package.root().join("suites/shop/suite.json").is_file(), "{output}");
    assert!(!read(&package, "Cargo.toml").contains("profile"), "the answer was no");
    let output = self::package().run_on_terminal("new grader", "\n\n", &[]);
    assert!(output.contains("the package has no suite"), "{output}");
}
