//! What a simulated user that is a function gets.

use std::sync::Arc;

use evalsuite_schema::{Message, Object, Role, SimulatedUser};

use crate::model::messages::content_text;
use crate::platform::accessors::getters;

/// What a simulated user that is a function gets: its role, and the conversation so far.
///
/// ```
/// use evalsuite::{UserReply, UserRequest};
///
/// fn customer(request: UserRequest) -> Result<UserReply, std::fmt::Error> {
///     let patience = request.config().get("patience").and_then(|value| value.as_u64()).unwrap_or(3);
///     Ok(match u64::from(request.turn()) {
///         turn if turn > patience => UserReply::done(),
///         1 => UserReply::new(request.goal().unwrap_or("Hello?")),
///         _ => UserReply::new(format!("You said {:?}. And now?", request.answer())),
///     })
/// }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct UserRequest {
    pub(crate) user: Arc<SimulatedUser>,
    pub(crate) messages: Arc<[Message]>,
    /// Number of the turn of the user, from 1.
    pub(crate) turn: u32,
    pub(crate) case_id: String,
    pub(crate) trial: u32,
}

getters! {
    impl UserRequest {
        /// Who the user is, if the case says so.
        pub fn persona(self) -> Option<&str> { self.user.persona.as_deref() }

        /// What the user wants, if the case says so.
        pub fn goal(self) -> Option<&str> { self.user.goal.as_deref() }

        /// What ends the conversation besides the goal, if the case says so.
        pub fn stops_when(self) -> Option<&str> { self.user.stops_when.as_deref() }

        /// Most turns that the user writes.
        pub fn max_turns(self) -> u32 { self.user.max_turns }

        /// The `config` of the user in the case.
        pub fn config(self) -> &Object { &self.user.config }

        /// What the user and the agent said so far, in order; without what only the agent is told.
        pub fn messages(self) -> &[Message] { &self.messages }

        /// Number of the turn that the user writes now, from 1.
        pub fn turn(self) -> u32 { self.turn }

        /// Id of the case.
        pub fn case_id(self) -> &str { &self.case_id }

        /// Index of the trial, from 0.
        pub fn trial(self) -> u32 { self.trial }
    }
}

impl UserRequest {
    /// What the agent said last; empty if it has not said anything yet.
    pub fn answer(&self) -> String {
        let last = self.messages.iter().rev().find(|message| message.role == Role::Assistant);
        last.and_then(|message| message.content.as_ref()).map(content_text).unwrap_or_default()
    }
}
