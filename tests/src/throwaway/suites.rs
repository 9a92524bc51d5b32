//! Texts of small suites and of the agent they are for.

/// An agent that answers with what it was asked, under the names that suites of both layouts look for.
pub const AGENT: &str = "
pub fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok(trial.prompt().to_owned())
}

pub use agent as echo;
";

/// Tells cargo about `suites`.
pub const BUILD_SCRIPT: &str = "fn main() { evalsuite_build::track(\"suites\"); }\n";

/// `suite.json` of a suite for the agent `echo`.
pub const SUITE_JSON: &str = "{ \"name\": \"echo_tasks\", \"agent_name\": \"echo\" }\n";

/// `EVAL.yaml` of a suite with `cases/`.
pub const EVAL_YAML: &str = "description: Small cases.\n";

/// A task that asks for `asks` and expects an answer with `expects`.
pub fn task(id: &str, asks: &str, expects: &str) -> String {
    format!(
        "{{ \"id\": {id:?}, \"description\": \"Says it again.\", \"input\": {{ \"content\": {asks:?} }},\n  \
         \"graders\": [{{ \"name\": \"contains\", \"config\": {{ \"value\": {expects:?} }} }}] }}\n"
    )
}

/// A `case.yaml` that asks for `asks` and expects an answer with `expects`.
pub fn case(asks: &str, expects: &str) -> String {
    format!("input: {asks:?}\nassertions:\n  - {{ type: contains, value: {expects:?} }}\n")
}
