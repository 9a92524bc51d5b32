//! No simulated users: the feature `users` is not enabled.

use evalsuite_records::record::{ReasonCode, Stage};
use evalsuite_schema::{Conversation, SimulatedUser};

use crate::run::trial::conversation::RunningConversation;
use crate::run::trial::graded::RecordedTurns;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::EarlyEnd;

impl RunningConversation<'_> {
    #[allow(clippy::unused_self, reason = "as with the feature")]
    pub(super) fn run_user_turns(&mut self, _: &Conversation, _: &SimulatedUser) -> Result<(), EarlyEnd> {
        let message = "simulated users need the feature `users` of evalsuite";
        Err(EarlyEnd::error(Stage::User, ReasonCode::Unsupported, message))
    }
}

#[allow(clippy::unnecessary_wraps, reason = "as with the feature")]
pub(super) fn check_user(_: &Prepared<'_>, _: &SimulatedUser, _: &mut RecordedTurns) -> Result<(), EarlyEnd> {
    Ok(())
}
