//! Names of diagnostics that a caller wants to be silent about.

use evalsuite_schema::diagnostic::{Code, Severity};

use super::suggest;

/// Lets cases with a docker workspace compile; they are skipped.
pub const DOCKER: &str = "unsupported-docker";

/// What is wrong with `name` as a diagnostic to be silent about.
pub fn problem(name: &str) -> Option<String> {
    if name == DOCKER {
        return None;
    }
    match Code::from_name(name).map(Code::severity) {
        Some(Severity::Warning) => None,
        Some(Severity::Error) => Some(format!("`{name}` is an error: only warnings can be allowed")),
        None => {
            let warnings = Code::ALL.iter().filter(|code| code.severity() == Severity::Warning).map(|code| code.name());
            let known: Vec<&str> = warnings.chain([DOCKER]).collect();
            Some(suggest::unknown("diagnostic", name, &known))
        }
    }
}
