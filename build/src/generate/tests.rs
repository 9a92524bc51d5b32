//! Tests of generated files.

use super::Generator;
use crate::tests::{Fixture, TASK};

fn run(fixture: &Fixture, generator: Generator) -> Vec<String> {
    fixture.lines(|package, instructions| generator.run(package, instructions))
}

fn code(fixture: &Fixture, name: &str) -> String {
    let path = fixture.package.out_dir.join("evalsuite").join(format!("{name}.rs"));
    std::fs::read_to_string(path).expect("the generated file")
}

#[test]
fn a_suite_becomes_a_readable_file() {
    let task = |id: &str| TASK.replace("\"a\"", &format!("\"{id}\""));
    let fixture = Fixture::new(&[
        ("suites/card_agent/tasks/positive/25-invoice/task.json", &task("b")),
        ("suites/card_agent/tasks/positive/x.json", &task("c").replace("contains", "card-completion")),
    ]);
    let instructions = run(&fixture, Generator::new("suites/card_agent").graders(["my::card_completion"]));
    assert_eq!(instructions[0], "cargo::rerun-if-changed=suites/card_agent");
    assert!(instructions.iter().all(|line| !line.contains("error")), "{:?}", instructions);
    let code = code(&fixture, "card_agent");
    let tests = code.split_once("pub fn evals()").expect("evals").1;
    // The hash of the call.
    let (start, end) = tests.split_once("card_agent_").expect("the function that binds the suite");
    let tests = format!("{start}card_agent{}", end.trim_start_matches(|character: char| character.is_ascii_hexdigit()));
    assert_eq!(
        tests,
        " -> __evalsuite::Evals {
        super::include_eval_suite_belongs_outside_of_functions__card_agent(
            __evalsuite::Evals::new(&SUITE),
        )
    }
    #[cfg(test)]
    fn __run(case: usize) {
        __evalsuite::__private::run_case(evals, case)
    }
    #[test]
    fn a() {
        __run(0)
    }
    #[cfg(test)]
    mod positive {
        #[test]
        fn _25_invoice() {
            super::__run(1)
        }
        #[test]
        fn x() {
            super::__run(2)
        }
    }
    #[test]
    fn suite_check() {
        __evalsuite::__private::suite_check(evals)
    }
}
"
    );
    assert!(code.contains("needs_this_function_or_the_argument_agent__card_agent::card_agent,"), "{code}");
    assert!(code.contains(".with_grader(\"card_completion\", my::card_completion)"), "{code}");
    assert!(code.contains("sources: &[(\"tasks\", \"tasks\"), (\"file\", \"suite.json\")"), "{code}");
}

#[test]
fn every_option_reaches_the_code() {
    let fixture = Fixture::new(&[]);
    let generator = Generator::new("suites/card_agent")
        .agent("a::b")
        .name("other")
        .ignore("needs \"keys\"")
        .require_env(["KEY"])
        .require_commands(["git"])
        .record(["MODEL_URL"])
        .record_ignore(["/id"])
        .targets(["x", "y"])
        .target_agent("y", "a::c")
        .judge("a::d")
        .named_judge("strict", "a::e");
    let instructions = run(&fixture, generator);
    assert!(instructions.iter().all(|line| !line.contains("error")), "{:?}", instructions);
    let code = code(&fixture, "other");
    for part in [
        "pub mod other {",
        "#[ignore = \"needs \\\"keys\\\"\"]",
        "mod x {",
        "mod y {",
        "test_name: \"x::a\"",
        "target: __Some(\"y\")",
        "\"requires\":{\"env\":[\"KEY\"],\"commands\":[\"git\"]}",
    ] {
        // A long chain of calls is broken into lines.
        let without_space = |text: &str| text.split_whitespace().collect::<String>();
        assert!(without_space(&code).contains(&without_space(part)), "{part} is missing in\n{code}");
    }
    let calls = ".with_agent(a::b).with_target_agent(\"y\",a::c).with_named_judge(\"strict\",a::e).with_judge(a::d)\
        .with_recorded_urls([\"MODEL_URL\"])\
        .with_ignored_request_parts([\"/id\"])";
    assert!(code.split_whitespace().collect::<String>().contains(calls), "{calls} is missing in\n{code}");
    assert_eq!(code.matches("#[ignore").count(), 2, "suite_check is not a case");
}

#[test]
fn agents_graders_and_judges_are_any_expressions() {
    let fixture = Fixture::new(&[(
        "suites/card_agent/tasks/b.json",
        &TASK.replace("\"a\"", "\"b\"").replace("contains", "polite"),
    )]);
    let closure = "|trial: &mut Trial<'_>| -> Result<String, Error<A, B>> { call::<C, D>(trial, 1) }";
    let cast = "a::polite as fn(&Evidence<'_>, u8) -> Result<bool, Error<A, B>>";
    let generator = || {
        Generator::new("suites/card_agent").agent(closure).graders([cast]).named_judge("strict", cast).judge(closure)
    };
    let instructions = run(&fixture, generator());
    assert!(instructions.iter().all(|line| !line.contains("error")), "{:?}", instructions);
    let first = code(&fixture, "card_agent");
    let flat = |text: &str| text.replace([' ', '\n', ','], "");
    let calls = format!(
        ".with_agent({closure}).with_grader(\"polite\", {cast}).with_named_judge(\"strict\", {cast}).with_judge({closure})"
    );
    assert!(flat(&first).contains(&flat(&calls)), "{first}");
    std::fs::remove_file(fixture.package.out_dir.join("evalsuite/card_agent.rs")).expect("the generated file");
    run(&fixture, generator());
    assert_eq!(code(&fixture, "card_agent"), first, "expanding twice gives the same text");
}

#[test]
fn expressions_that_are_not_rust_are_all_reported() {
    let fixture = Fixture::new(&[]);
    let generator = Generator::new("suites/card_agent").agent("a b").graders(["1 + 1"]).judge("(").name("my-suite");
    let lines = run(&fixture, generator).join("\n");
    for error in [
        "cargo::error=`a b` is not a Rust expression: ",
        "cargo::error=`1 + 1` is not the path of a grader; name it with `.grader(\"name\", …)`",
        "cargo::error=`(` is not a Rust expression: ",
        "cargo::error=`my-suite` is not a valid module name",
    ] {
        assert!(lines.contains(error), "{error} is missing in\n{lines}");
    }
}

#[test]
fn commands_that_may_judge_reach_the_code() {
    let fixture = Fixture::new(&[]);
    let generator = || Generator::new("suites/card_agent").agent("a::b").named_judge("strict", "a::c");
    run(&fixture, generator().default_judges(["strict", "kind"]).judge_confirm(4).runtime("a::handle()"));
    let named = ".with_named_judge(\"strict\", a::c).with_default_judges([\"strict\", \"kind\"]).with_judge_confirm(4)\
                 .with_runtime(a::handle()).with_command_judges()";
    let code_of_both = code(&fixture, "card_agent").split_whitespace().collect::<String>();
    assert!(code_of_both.contains(&named.replace(' ', "")), "{code_of_both}");
    run(&fixture, generator().default_judges(["strict"]));
    assert!(!code(&fixture, "card_agent").contains("with_command_judges"), "every judge is known");
}

#[test]
fn problems_fail_the_build_and_leave_the_same_compile_errors() {
    let fixture = Fixture::new(&[("suites/card_agent/tasks/b.json", "{}")]);
    let instructions = run(&fixture, Generator::new("suites/card_agent").graders(["regex", "a::b::", "c", "c"]));
    let code = code(&fixture, "card_agent");
    let errors = instructions.iter().filter(|line| line.starts_with("cargo::error=["));
    assert!(errors.clone().count() >= 4, "{:?}", instructions);
    for error in errors {
        let fact = error.trim_start_matches("cargo::error=").replace('"', "\\\"");
        assert!(code.contains(&fact), "{fact} is missing in\n{code}");
    }
    assert!(
        code.contains("::core::compile_error!") && code.contains("cases: &[]") && !code.contains("#[test]"),
        "{code}"
    );
}

#[test]
fn no_agent_means_no_tests() {
    let fixture = Fixture::new(&[]);
    run(&fixture, Generator::new("suites/card_agent").no_agent());
    let code = code(&fixture, "card_agent");
    assert!(!code.contains("#[test]") && !code.contains("fn evals") && code.contains("id: \"a\""), "{code}");
}

#[test]
fn commands_are_agents_like_others() {
    let fixture = Fixture::new(&[]);
    let generator = || Generator::new("suites/card_agent").cli_agents();
    let without = run(&fixture, generator());
    let warning = "cargo::warning=[W015 no-targets-file]";
    assert!(without.iter().any(|line| line.starts_with(warning)), "{:?}", without);
    assert!(code(&fixture, "card_agent").contains("::evalsuite::__cli_agents!"));

    let denied = run(&fixture, generator().deny_warnings());
    assert!(denied.iter().any(|line| line.starts_with("cargo::error=[W015")), "{:?}", denied);
    for quiet in [
        run(&fixture, generator().deny_warnings().allow(["no-targets-file"])),
        run(&fixture, generator().targets(["a"]).target_agent("a", "mine")),
        run(&fixture, generator().target_agent("default", "mine")),
    ] {
        assert!(quiet.iter().all(|line| !line.contains("W015")), "{:?}", quiet);
    }
    std::fs::write(fixture.package.root.join("targets.yaml"), "targets: []").expect("a targets file");
    assert!(run(&fixture, generator()).iter().all(|line| !line.contains("W015")), "there is one now");
}

#[test]
fn a_suite_without_a_file_is_a_warning_and_a_compile_error() {
    let fixture = Fixture::new(&[]);
    for entry in ["suites/card_agnt", "missing/card_agnt"] {
        let lines = run(&fixture, Generator::new(entry));
        assert!(lines.iter().any(|line| line.starts_with("cargo::warning=[E010 entry-not-found]")), "{lines:?}");
        assert!(lines.iter().all(|line| !line.starts_with("cargo::error=")), "{lines:?}");
        assert!(code(&fixture, "card_agnt").contains("::core::compile_error!"));
    }
    let lines = run(&fixture, Generator::new("missing/card_agnt"));
    let message = "without instructions cargo runs the script again when the suite appears";
    assert!(lines.iter().all(|line| !line.starts_with("cargo::rerun-if")), "{message}: {lines:?}");
}

#[test]
fn evalsuite_is_found_where_the_caller_says() {
    let fixture = Fixture::new(&[]);
    run(&fixture, Generator::new("suites/card_agent").crate_path("facade::reexported::evalsuite"));
    let code = code(&fixture, "card_agent");
    assert!(code.contains("use facade::reexported::evalsuite as __evalsuite_of_card_agent;"), "{code}");
    assert!(code.contains("use super::__evalsuite_of_card_agent as __evalsuite;"), "{code}");
    assert!(!code.contains("::evalsuite::"), "{code}");
    let lines = run(&fixture, Generator::new("suites/card_agent").crate_path("a b"));
    assert!(lines.iter().any(|line| line.starts_with("cargo::error=`a b` is not the path of a crate: ")), "{lines:?}");
}

#[test]
fn an_agent_for_an_unknown_target_is_an_error() {
    let fixture = Fixture::new(&[]);
    let instructions = run(&fixture, Generator::new("suites/card_agent").targets(["codex"]).target_agent("codx", "a"));
    assert!(instructions.iter().any(|line| line.contains("unknown target `codx`")), "{:?}", instructions);
}

#[test]
fn the_same_code_is_not_written_again() {
    let fixture = Fixture::new(&[]);
    run(&fixture, Generator::new("suites/card_agent"));
    let path = fixture.package.out_dir.join("evalsuite/card_agent.rs");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::open(&path).expect("a file").set_modified(old).expect("a time");
    run(&fixture, Generator::new("suites/card_agent"));
    assert_eq!(std::fs::metadata(&path).expect("a file").modified().expect("a time"), old);
}

/// Samples of a case with a judge, which the fixture does not have.
const CALIBRATION: &str = "minimum: { kappa: 0.5 }\nsamples:\n  - { id: one, input: q, criteria: c, output: worst, human_score: 0 }\n  \
                           - { id: two, input: q, criteria: c, output: 'a \"# b', human_score: 1 }\n";

const CALL: &str = "    #[test]
    fn judge_calibration() {
        __evalsuite::__private::judge_calibration(evals)
    }
";

#[test]
fn a_calibration_becomes_one_test_of_the_suite() {
    let task = |id: &str| TASK.replace("\"a\"", &format!("\"{id}\""));
    let fixture = Fixture::new(&[
        ("suites/card_agent/calibration.yaml", CALIBRATION),
        ("suites/card_agent/tasks/judge_calibration.json", &task("b")),
        ("suites/card_agent/tasks/judge_calibration/c.json", &task("c")),
    ]);
    let generator = || Generator::new("suites/card_agent").agent("mine");
    let code_of = |generator: Generator| {
        let instructions = run(&fixture, generator);
        assert!(instructions.iter().all(|line| !line.contains("error")), "{:?}", instructions);
        code(&fixture, "card_agent")
    };
    let plain = code_of(generator());
    assert_eq!(plain.matches(CALL).count(), 1, "{plain}");
    for part in ["    fn judge_calibration_() {", "    mod judge_calibration_ {", "\"kappa\":0.5", "\n{\"id\":\"two\""]
    {
        assert!(plain.contains(part), "{part} is missing in\n{plain}");
    }
    let matrix = code_of(generator().targets(["x", "y"]));
    assert_eq!(matrix.matches(CALL).count(), 1, "one for all targets\n{matrix}");
    assert!(matrix.contains("    mod x {"), "{matrix}");
    let ignored = code_of(generator().ignore("later"));
    let call = CALL.replace("#[test]\n", "#[test]\n    #[ignore = \"later\"]\n");
    assert_eq!(ignored.matches(&call).count(), 1, "{ignored}");
    let unbound = code_of(generator().no_agent());
    assert!(
        !unbound.contains("#[test]") && unbound.contains("\"kappa\":0.5"),
        "it can be used, and is no test\n{unbound}"
    );
}

#[test]
fn a_calibration_with_problems_leaves_no_test() {
    let fixture = Fixture::new(&[("suites/card_agent/calibration.yaml", "samples:\n  - { id: one }\n")]);
    let instructions = run(&fixture, Generator::new("suites/card_agent"));
    for error in ["cargo::error=[E078 too-few-samples]", "cargo::error=[E021 missing-key]"] {
        assert!(instructions.iter().any(|line| line.starts_with(error)), "{:?}", instructions);
    }
    let code = code(&fixture, "card_agent");
    assert!(code.contains("calibration: ::core::option::Option::None") && !code.contains("#[test]"), "{code}");
}
