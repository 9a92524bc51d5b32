//! The gates in the files of suites.

use evalsuite_schema::gate::{Gate, GateError};

use crate::run_data::RunData;

/// The gates in the files of a run's suites, as they were when the run's tests were compiled. Each is about the cases of its suite.
///
/// # Errors
///
/// If a gate cannot be read: then another version of evalsuite has recorded it.
pub fn suite_gates(run: &RunData) -> Result<Vec<Gate>, GateError> {
    let mut gates = Vec::new();
    for suite in &run.suites {
        for text in suite.record.iter().flat_map(|record| &record.gates) {
            gates.push(text.parse::<Gate>()?.of_suite(&suite.name));
        }
    }
    Ok(gates)
}
