//! The arguments of the macro: their effect on builds and runs.

use std::collections::BTreeSet;
use std::fs;

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Package, suites};

/// A package with a suite that gives a warning, used by the test program `evals`.
fn warned(name: &str, arguments: &str) -> Package {
    let package = Package::new(name);
    package.library(suites::AGENT);
    call(&package, arguments);
    package
        .write("suites/by_case/EVAL.yaml", "assert:\n  - { type: contains, value: hello }\n")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"));
    package
}

fn call(package: &Package, arguments: &str) {
    let name = package.name();
    let code = format!("use {name}::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\"{arguments});\n");
    package.write("tests/evals.rs", &code);
}

#[slow(builds)]
#[test]
fn a_warning_appears_once_can_be_allowed_and_can_fail_the_build() {
    let package = warned("warnings", "");
    let build = || package.build(["--test", "evals"]);

    let shown = build().succeeds("a warning fails no build");
    let warnings = shown.warnings("evals");
    assert_eq!(warnings.len(), 1, "expected the warning once\n{}", shown.transcript());
    let text = &warnings[0].rendered;
    for expected in [
        "W001 deprecated-key",
        "suites/by_case/EVAL.yaml:1:1",
        "rename it to `assertions`",
        "included at tests/evals.rs:2:32",
    ] {
        assert!(text.contains(expected), "expected {expected} in\n{text}");
    }

    let denied = package.cargo(["test", "--no-run", "--test", "evals"]).env("EVALSUITE_DENY_WARNINGS", "1").build();
    let denied = denied.fails("the variable makes warnings errors");
    assert!(denied.errors("evals")[0].message.contains("W001"), "{}", denied.transcript());
    let wrong = package.cargo(["test", "--no-run", "--test", "evals"]).env("EVALSUITE_DENY_WARNINGS", "yes").build();
    let wrong = wrong.fails("the variable is 0 or 1");
    assert!(wrong.transcript().contains("EVALSUITE_DENY_WARNINGS is `yes`"), "{}", wrong.transcript());
    build().succeeds("without the variable it is a warning again");

    call(&package, ", deny_warnings");
    let denied = build().fails("the argument makes warnings errors");
    assert_eq!(denied.errors("evals").len(), 1, "expected one error\n{}", denied.transcript());

    call(&package, ", deny_warnings, allow = [\"deprecated-key\"]");
    let allowed = build().succeeds("an allowed warning is not shown");
    assert_eq!(allowed.messages.len(), 0, "expected silence\n{}", allowed.transcript());

    call(&package, ", allow = [\"deprecatd-key\"]");
    let unknown = build().fails("a name that does not exist is an error");
    assert!(unknown.transcript().contains("did you mean `deprecated-key`?"), "{}", unknown.transcript());

    // With a build script, too, the macro alone shows the warnings.
    package.write("build.rs", suites::BUILD_SCRIPT);
    call(&package, "");
    std::thread::sleep(std::time::Duration::from_millis(100));
    let tracked = build().succeeds("a warning fails no build");
    assert_eq!(tracked.warnings("evals").len(), 1, "expected one warning\n{}", tracked.transcript());
    assert!(!tracked.output.stderr.contains("W001"), "expected silence of the build script\n{}", tracked.transcript());
    let denied = package.cargo(["test", "--no-run", "--test", "evals"]).env("EVALSUITE_DENY_WARNINGS", "1").build();
    assert!(
        denied.fails("the variable makes warnings errors").transcript().contains("[W001 deprecated-key]"),
        "expected the warning as an error"
    );
}

#[slow(builds)]
#[test]
fn tests_can_be_ignored_named_and_skipped() {
    let package = warned(
        "selected",
        ", name = kept, allow = [\"deprecated-key\"], ignore = \"needs a model\", require_env = [\"THROWAWAY_KEY\"], require_commands = [\"no-such-program\"]",
    );
    let ran = package.cargo(["test"]).run().succeeds("only the check runs");
    ran.says("test kept::first ... ignored, needs a model").says("test kept::suite_check ... ok");
    assert_eq!(package.records().results().len(), 0, "no trial was run");

    let ignored = || package.cargo(["test", "--test", "evals", "--", "--ignored"]);
    let ran = ignored().run().succeeds("a skipped case does not fail");
    ran.says("test kept::first ... ok").says("evalsuite: SKIPPED kept::first: ").says("THROWAWAY_KEY");
    let cases = package.records().cases();
    assert_eq!(cases.len(), 1, "the skipped case is recorded");
    assert_eq!((&cases[0]["outcome"], &cases[0]["reason"]["code"]), (&"skipped".into(), &"requirement_missing".into()));

    let ran = ignored().env("EVALSUITE_REQUIRE", "1").run().fails("skips are errors");
    ran.says("evaluation error (requirements/required)").says("THROWAWAY_KEY");
    let ran = ignored().env("THROWAWAY_KEY", "x").run().succeeds("a command is still missing");
    ran.says("SKIPPED").says("no-such-program").is_silent_about("THROWAWAY_KEY");
}

#[slow(builds)]
#[test]
fn a_matrix_has_a_module_for_each_target_and_each_target_can_have_its_own_agent() {
    let package = warned("matrix", "");
    package.write("suites/by_case/EVAL.yaml", suites::EVAL_YAML);
    package.write(
        "tests/evals.rs",
        "use matrix::agent;
        fn other(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::fmt::Error> { Ok(format!(\"I am {}\", trial.target())) }
        evalsuite::include_eval_suite!(\"suites/by_case\", targets = [\"small\", \"large-2\"], agents = { \"large-2\" => other });",
    );
    let build = package.build(["--test", "evals"]).succeeds("the matrix compiles");
    let expected = ["by_case::small::first", "by_case::large_2::first", "by_case::suite_check"].map(str::to_owned);
    assert_eq!(build.tests(&package, "test", "evals"), BTreeSet::from(expected));
    let ran = package.cargo(["test", "--no-fail-fast"]).run().fails("the agent of one target gives another answer");
    ran.says("test by_case::small::first ... ok").says("test by_case::large_2::first ... FAILED").says("I am large-2");
    let ran = package.cargo(["test"]).env("EVALSUITE_TARGET", "small").run().succeeds("the other target is skipped");
    ran.says("evalsuite: SKIPPED by_case::large_2::first");
    let ran = package.cargo(["test"]).env("EVALSUITE_TARGET", "smal").run().fails("there is no such target");
    ran.says("EVALSUITE_TARGET names `smal`, which is not a target of suite `by_case`; did you mean `small`?");
    ran.says("help: its targets are `large-2` and `small`");

    call(&package, ", targets = [\"small\"], agents = { \"smal\" => agent }");
    let build = package.build(["--test", "evals"]).fails("there is no such target");
    assert!(build.transcript().contains("did you mean `small`?"), "{}", build.transcript());
}

#[slow(builds)]
#[test]
fn unknown_and_unused_graders_are_reported_with_their_places() {
    let package = warned("graders", ", graders = [polite, kind_words]");
    package.write("suites/by_case/EVAL.yaml", suites::EVAL_YAML).write(
        "suites/by_case/cases/first/case.yaml",
        "input: hello\nassertions:\n  - type: kind-words\n  - type: polit\n",
    );
    let graders = "
        fn polite(_: &evalsuite::Evidence<'_>) -> bool { true }
        #[derive(serde::Deserialize)] struct Config { words: Vec<String> }
        fn kind_words(config: Config, evidence: &evalsuite::Evidence<'_>) -> bool {
            config.words.iter().all(|word| evidence.answer().contains(word.as_str()))
        }";
    let write = |arguments: &str| {
        package.write(
            "tests/evals.rs",
            &format!("use graders::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\"{arguments});{graders}"),
        );
    };
    let build = || package.build(["--test", "evals"]);

    write(", graders = [polite, kind_words]");
    let unknown = build().fails("a grader is misspelt");
    let errors = unknown.errors("evals");
    assert_eq!(errors.len(), 1, "expected one error\n{}", unknown.transcript());
    for expected in
        ["E050 unknown-grader", "suites/by_case/cases/first/case.yaml:4:11", "did you mean `polite`?", "`kind_words`"]
    {
        assert!(errors[0].message.contains(expected), "expected {expected} in\n{}", errors[0].rendered);
    }

    package.write(
        "suites/by_case/cases/first/case.yaml",
        "input: hello\nassertions:\n  - { type: kind-words, config: { words: [hello] } }\n",
    );
    let unused = build().succeeds("an unused grader is a warning");
    let warnings: Vec<&str> = unused.warnings("evals").iter().map(|warning| warning.message.as_str()).collect();
    assert!(
        warnings
            .iter()
            .any(|text| text.contains("grader `polite` is registered, but no case of `suites/by_case` uses it")),
        "expected a warning about the unused grader\n{}",
        unused.transcript()
    );

    write(", graders = [polite, kind_words, \"regex\" => polite, \"kind-words\" => polite]");
    let registered = build().fails("names that are taken are errors");
    assert_eq!(registered.errors("evals").len(), 2, "expected an error per name\n{}", registered.transcript());
    assert!(registered.transcript().matches("E063").count() >= 2, "{}", registered.transcript());

    write(", graders = [kind_words], allow = [\"unused-grader\"]");
    package.cargo(["test"]).run().succeeds("the config fits").says("test by_case::first ... ok");
    package.write(
        "suites/by_case/cases/first/case.yaml",
        "input: hello\nassertions:\n  - { type: kind-words, config: { wrods: [hello] } }\n",
    );
    let ran = package.cargo(["test", "--no-fail-fast"]).run().fails("the config does not fit");
    ran.says("test by_case::suite_check ... FAILED")
        .says("error[E074 grader-config-rejected]: grader `kind-words` rejects its config: ");
    ran.says("missing field `words`").says(" --> suites/by_case/cases/first/case.yaml:3:5");
}

#[slow(builds)]
#[test]
fn async_code_runs_on_the_runtime_of_the_program() {
    let package = Package::new("own_runtime");
    let manifest = fs::read_to_string(package.root().join("Cargo.toml")).expect("every package has a manifest");
    let tokio =
        "[dependencies]\ntokio = { version = \"1\", default-features = false, features = [\"rt-multi-thread\"] }\n";
    package
        .write("Cargo.toml", &manifest.replace("[dependencies]\n", tokio))
        .library("")
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "mine"))
        .write(
            "tests/evals.rs",
            "use std::sync::LazyLock;
            use tokio::runtime::{Builder, Runtime};
            static RUNTIME: LazyLock<Runtime> =
                LazyLock::new(|| Builder::new_multi_thread().thread_name(\"mine\").build().unwrap());
            async fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, tokio::task::JoinError> {
                tokio::spawn(async { std::thread::current().name().unwrap_or_default().to_owned() }).await
            }
            evalsuite::include_eval_suite!(\"suites/by_case\", runtime = RUNTIME.handle().clone());\n",
        );
    package
        .cargo(["test", "--test", "evals"])
        .run()
        .succeeds("the agent's task runs on a thread of the program's runtime");
    let tests = "evalsuite::include_eval_suite!(\"suites/by_case\", runtime = 4, agent = none);\n";
    package.write("tests/evals.rs", tests);
    package.build(["--test", "evals"]).succeeds("a suite without tests has no runtime");
}
