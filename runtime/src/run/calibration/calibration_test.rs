//! The generated test that measures the judges of a suite.

use crate::model::evals::Evals;
use crate::run::selection::rerun;

/// Name of the generated test.
const TEST: &str = "judge_calibration";

/// Path of the generated test.
pub(crate) fn test_name(evals: &Evals) -> String {
    match evals.suite().module_path.split_once("::") {
        Some((_crate_name, module)) => format!("{module}::{TEST}"),
        None => TEST.to_owned(),
    }
}

/// The command that runs the generated test.
pub(crate) fn repeat(evals: &Evals) -> String {
    rerun::command(evals.suite().package, &test_name(evals))
}
