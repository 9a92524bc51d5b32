//! Why a trial ends before grading.

use std::panic::{AssertUnwindSafe, catch_unwind};

use evalsuite_records::record::{Reason, ReasonCode, Stage, Status};

use crate::model::interpolation::Unresolved;
use crate::platform::isolated_call::panic_message;
use crate::run::selection::requirements;
use crate::run::trial::trial_attempt::TrialAttempt;

/// The outcome of a trial that ends before its graders, and the reason.
#[derive(Debug, Clone)]
pub(crate) struct EarlyEnd {
    pub(crate) outcome: Status,
    pub(crate) reason: Reason,
}

impl EarlyEnd {
    pub(crate) fn error(stage: Stage, code: ReasonCode, message: impl Into<String>) -> Self {
        Reason::new(stage, code, message).into()
    }

    /// Ends a trial that its graders have not decided.
    pub(crate) fn end(self, trial: &TrialAttempt<'_>) {
        let record = &mut *trial.record.borrow_mut();
        (record.outcome, record.reason) = (self.outcome, Some(self.reason));
        requirements::refuse_skip(trial.plan.settings, &mut record.outcome, &mut record.reason);
    }
}

/// The trial ends in an error.
impl From<Reason> for EarlyEnd {
    fn from(reason: Reason) -> Self {
        Self { outcome: Status::Error, reason }
    }
}

impl From<Unresolved> for EarlyEnd {
    fn from(unresolved: Unresolved) -> Self {
        Reason::new(Stage::Setup, ReasonCode::VariableUnset, unresolved.message)
            .with_location(unresolved.location)
            .into()
    }
}

/// Runs a phase of a trial. Agents, graders and judges panic on threads of their own, so a panic here is a defect of this
/// crate. The trial ends early then, as after an error, and still has its hooks and its record.
pub(crate) fn guarded<T>(phase: impl FnOnce() -> Result<T, EarlyEnd>) -> Result<T, EarlyEnd> {
    catch_unwind(AssertUnwindSafe(phase)).unwrap_or_else(|panic| {
        let message = format!("evalsuite panicked; this is a defect of evalsuite: {}", panic_message(&*panic));
        Err(EarlyEnd::error(Stage::Teardown, ReasonCode::ProcessDied, message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_a_phase_as_an_error_does() {
        let end = guarded::<()>(|| std::panic::resume_unwind(Box::new("index out of bounds"))).unwrap_err();
        assert_eq!((end.outcome, end.reason.stage), (Status::Error, Stage::Teardown));
        assert!(end.reason.message.ends_with("a defect of evalsuite: index out of bounds"), "{}", end.reason.message);
        assert!(guarded(|| Ok(())).is_ok());
    }
}
