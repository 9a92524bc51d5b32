//! Names of warnings that a caller does not want to see.

use evalsuite_schema::diagnostics::{Code, Severity, suggest};

/// Accepts cases with a docker workspace, which are skipped when they run.
pub(crate) const DOCKER: &str = "unsupported-docker";

/// Why `name` cannot be allowed; `None` if it can.
pub(crate) fn problem(name: &str) -> Option<String> {
    if name == DOCKER {
        return None;
    }
    match Code::from_name(name).map(Code::severity) {
        Some(Severity::Warning) => None,
        Some(Severity::Error) => Some(format!("`{name}` is an error: only warnings can be allowed")),
        None => {
            let warnings = Code::ALL.iter().filter(|code| code.severity() == Severity::Warning).map(|code| code.name());
            let known: Vec<&str> = warnings.chain([DOCKER]).collect();
            Some(format!("unknown diagnostic `{name}`; {}", suggest::did_you_mean_or_known(name, &known)))
        }
    }
}
