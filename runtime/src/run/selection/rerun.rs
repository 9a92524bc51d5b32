//! The command lines that run tests again.

use evalsuite_records::record::ModelCalls;

use crate::model::suite::EvalSuite;
use crate::record::model_calls::{MODEL_CALLS, ModelCallServer};

/// The command that runs a test again, with the test runner of this process.
pub(crate) fn command(package: &str, test: &str) -> String {
    let server = std::env::var(MODEL_CALLS).ok().and_then(|server| server.parse::<ModelCallServer>().ok());
    if let Some(ModelCallServer { calls, .. }) = server {
        let option = if calls == ModelCalls::Replayed { "--replay" } else { "--record" };
        format!("cargo evalsuite run {option} -p {package} {test}")
    } else if std::env::var_os("NEXTEST").is_some() {
        format!("cargo nextest run -p {package} -E 'test(={test})'")
    } else {
        format!("cargo test -p {package} -- --exact {test}")
    }
}

/// The command that runs all tests of a suite again, with the test runner of this process.
pub(crate) fn suite_command(suite: &EvalSuite) -> String {
    let runner = if std::env::var_os("NEXTEST").is_some() { "nextest run" } else { "test" };
    format!("cargo {runner} -p {} {}", suite.package, suite.path_of_test("")).trim_end().to_owned()
}
