//! How the macro finds the agent, and the compile error if it finds none.

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Package, suites};

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .library("")
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"));
    package
}

#[slow(builds)]
#[test]
fn the_agent_is_the_function_named_by_the_suite() {
    let package = package("by_name");
    package
        .write("suites/by_task/suite.json", "{ \"name\": \"named\", \"agent_name\": \"card-agent\" }")
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write(
            "tests/evals.rs",
            "use evalsuite::{Outcome, Trial, include_eval_suite};
            include_eval_suite!(\"suites/by_task\");
            include_eval_suite!(\"suites/by_case\");
            include_eval_suite!(\"suites/by_case\", agent = none, name = only_suite);
            include_eval_suite!(\"suites/by_case\", agent = Typed { answer: \"hello\" }, name = typed);
            async fn card_agent(trial: &mut Trial<'_>) -> Result<Outcome, String> { Ok(trial.prompt().into()) }
            fn agent(_: &mut Trial<'_>) -> Result<&'static str, Box<dyn std::error::Error>> { Ok(\"hello\") }
            struct Typed { answer: &'static str }
            impl evalsuite::Agent for Typed {
                async fn run(&self, _: &mut Trial<'_>) -> Result<Outcome, evalsuite::AgentError> { Ok(self.answer.into()) }
            }",
        );
    let build = package.build(["--test", "evals"]).succeeds("the agents are found");
    assert!(
        build.tests(&package, "test", "evals").iter().all(|name| !name.starts_with("only_suite")),
        "no agent, no tests"
    );
    let ran = package.cargo(["test"]).run().succeeds("the agents answer");
    for name in ["by_task::top", "by_case::first", "typed::first"] {
        ran.says(&format!("test {name} ... ok"));
    }
}

#[slow(builds)]
#[test]
fn a_missing_or_unsuitable_agent_is_one_compile_error_that_says_what_an_agent_is() {
    let package = package("no_agent");
    let table = [
        (
            "missing",
            "",
            "",
            &[
                "cannot find the agent: this file has no function `echo`",
                "help: write it: `async fn echo(trial: &mut Trial<'_>) -> Result<String, BoxError>`",
                "--> tests/missing.rs:1:32",
            ][..],
        ),
        (
            "other_name",
            "",
            "fn respond(_: &mut evalsuite::Trial<'_>) -> Result<String, String> { Err(String::new()) }",
            &["this file has no function `echo`", "help: here is `respond`: write `agent = respond`"],
        ),
        (
            "missing_with_glob",
            "",
            "mod agents {}\nuse agents::*;",
            &[
                "cannot find value `echo` in module `include_eval_suite_needs_this_function_or_the_argument_agent__by_task`",
            ],
        ),
        ("number", ", agent = 5", "", &["expected a path", "as agent, found `5`"]),
        (
            "other_function",
            ", agent = String::new",
            "",
            &["is not an agent", "an agent is `async fn(&mut Trial<'_>) -> Result<String, E>`"],
        ),
        (
            "arguments",
            "",
            "fn echo(_: &str) -> Result<String, String> { Err(String::new()) }",
            &["is not an agent", "an agent is `async fn(&mut Trial<'_>) -> Result<String, E>`"],
        ),
        (
            "result",
            "",
            "fn echo(_: &mut evalsuite::Trial<'_>) -> u8 { 5 }",
            &["is not an agent", "an agent is `async fn(&mut Trial<'_>) -> Result<String, E>`"],
        ),
        (
            "result_of_future",
            "",
            "async fn echo(_: &mut evalsuite::Trial<'_>) -> String { String::new() }",
            &["is not an agent", "an agent is `async fn(&mut Trial<'_>) -> Result<String, E>`"],
        ),
    ];
    for (name, arguments, code, expected) in table {
        let file = format!("tests/{name}.rs");
        package.write(&file, &format!("evalsuite::include_eval_suite!(\"suites/by_task\"{arguments});\n{code}\n"));
        let build = package.build(["--test", name]).fails("there is no agent");
        let errors = build.errors(name);
        assert_eq!(errors.len(), 1, "{name}: expected one error\n{}", build.transcript());
        assert!(
            !errors[0].rendered.contains("CliAgents"),
            "{name}: commands are not what the author meant\n{}",
            errors[0].rendered
        );
        for text in expected {
            assert!(errors[0].rendered.contains(text), "{name}: expected {text:?} in\n{}", errors[0].rendered);
        }

        package.remove(&file);
    }
}
