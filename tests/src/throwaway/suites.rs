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
        .library("")
        .write("tests/evals.rs", tests)
        .write(&format!("suites/{suite}/EVAL.yaml"), EVAL_YAML);
    package
}

/// A package with a suite `words` of so many cases `c00`, `c01` …, and an agent that passes a trial with the probability `RATE`, by a digest
/// of `SEED`, the case and the trial. The process dies at the trials in `BREAKS`, such as `c00:1,c03:0`.
pub fn package_with_random_agent(name: &str, cases: usize) -> Package {
    let package = Package::new(name);
    package
        .write("build.rs", BUILD_SCRIPT)
        .library(RANDOM_AGENT)
        .write("tests/evals.rs", &format!("use {name}::agent;\nevalsuite::include_eval_suite!(\"suites/words\");\n"))
        .write(
            "suites/words/suite.json",
            "{ \"name\": \"words\", \"agent_name\": \"agent\", \"kind\": \"regression\" }",
        );
    for case in 0..cases {
        let id = format!("c{case:02}");
        package.write(&format!("suites/words/tasks/{id}.json"), &task(&id, "?", "yes"));
    }
    package
}

const RANDOM_AGENT: &str = r#"
use std::hash::{DefaultHasher, Hash, Hasher};

pub fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, String> {
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    (set("SEED"), trial.case_id(), trial.index()).hash(&mut hasher);
    let drawn = (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64;
    if set("BREAKS").split(',').any(|at| at == format!("{}:{}", trial.case_id(), trial.index())) {
        std::process::abort();
    }
    Ok(if drawn < set("RATE").parse().map_err(|error| format!("{error}"))? { "yes" } else { "no" }.to_owned())
}
"#;
