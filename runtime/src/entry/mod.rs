//! Entry points of generated tests, programs and the command line.

pub(crate) mod calibrate;
pub(crate) mod evals_run;
pub(crate) mod failure_text;
pub(crate) mod grader_examples;
pub(crate) mod long_cases;
mod missing_features;
pub(crate) mod new_cases;
pub(crate) mod notices;
#[cfg(feature = "probe")]
pub(crate) mod probe;
pub(crate) mod reload;
pub(crate) mod run_error;
pub(crate) mod run_options;
pub(crate) mod suite_check;
pub(crate) mod suite_description;
pub(crate) mod test_entry;
#[cfg(feature = "tooling")]
pub(crate) mod tooling;

#[cfg(not(feature = "probe"))]
mod no_probe {
    //! Without the feature there are no probes.

    use evalsuite_diagnostics::Diagnostic;

    use super::run_error::RunError;
    use crate::model::evals::Evals;

    /// `cargo evalsuite probe`, which asks for a reply, enables the feature.
    pub(super) fn reply_if_asked(_: &Evals) -> Result<bool, RunError> {
        Ok(false)
    }

    pub(super) fn findings(_: &Evals) -> Result<(Vec<Diagnostic>, Vec<String>), RunError> {
        let message = "EVALSUITE_PROBE needs the feature `probe` of evalsuite: `cargo test --features evalsuite/probe`";
        Err(RunError::setting(message))
    }
}
