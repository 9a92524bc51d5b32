//! Files of small suites, and their agent.

use super::Package;

/// An agent that answers with its prompt, under the default names of suites of both layouts.
pub const AGENT: &str = "
pub fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok(trial.prompt().to_owned())
}

pub use agent as echo;
";

/// A build script that tracks `suites`.
pub const BUILD_SCRIPT: &str = "fn main() { evalsuite_build::track(\"suites\"); }\n";

/// `suite.json` of a suite for the agent `echo`.
pub const SUITE_JSON: &str = "{ \"name\": \"echo_tasks\", \"agent_name\": \"echo\" }\n";

/// `EVAL.yaml` of a suite with `cases/`.
pub const EVAL_YAML: &str = "description: Small cases.\n";

/// A task whose prompt is `asks` and whose answer has to contain `expects`.
pub fn task(id: &str, asks: &str, expects: &str) -> String {
    format!(
        "{{ \"id\": {id:?}, \"description\": \"Says it again.\", \"input\": {{ \"content\": {asks:?} }},\n  \
         \"graders\": [{{ \"name\": \"contains\", \"config\": {{ \"value\": {expects:?} }} }}] }}\n"
    )
}

/// A `case.yaml` whose prompt is `asks` and whose answer has to contain `expects`.
pub fn case(asks: &str, expects: &str) -> String {
    format!("input: {asks:?}\nassertions:\n  - {{ type: contains, value: {expects:?} }}\n")
}

/// A package with a tracked suite of the given name, without cases, and with the test file `tests/evals.rs`.
pub fn package_with_suite(package: &str, suite: &str, tests: &str) -> Package {
    let package = Package::new(package);
    package
        .write("build.rs", BUILD_SCRIPT)
        .write("src/lib.rs", "")
        .write("tests/evals.rs", tests)
        .write(&format!("suites/{suite}/EVAL.yaml"), EVAL_YAML);
    package
}
