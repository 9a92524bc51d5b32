//! The simulated user of a conversation.

use evalsuite_schema::json::{FromJson, ToJson};

use super::{GraderRecord, SealRecord};

/// The simulated user of a trial. What it cost is in [`TrialRecord::user_cost_usd`](super::TrialRecord::user_cost_usd).
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(fill)]
#[non_exhaustive]
pub struct UserRecord {
    /// Name of the judge or function that wrote its turns.
    pub name: String,
    /// Model that wrote them, as reported.
    #[json(default, skip_if = "Option::is_none")]
    pub model: Option<String>,
    /// Number of turns it wrote.
    pub turns: u32,
    /// Number of calls, with those that were repeated.
    pub attempts: u32,
    /// Why the conversation ended; `None` if the trial ended in an error before.
    #[json(default, skip_if = "Option::is_none")]
    pub ended: Option<UserEnd>,
    /// What it said when it ended the conversation. The agent did not get it.
    #[json(default, skip_if = "Option::is_none")]
    pub last_words: Option<String>,
    /// Files with its replies, relative to the trial directory.
    #[json(default, skip_if = "Vec::is_empty")]
    pub replies: Vec<String>,
    /// What became of the seal of the command that wrote its turns; `None` if none was started.
    #[json(default, skip_if = "Option::is_none")]
    pub sealed: Option<SealRecord>,
    /// Whether it stayed in its role; `None` if no grader said so.
    #[json(default, skip_if = "Option::is_none")]
    pub in_role: Option<bool>,
    /// Results of its graders, in order.
    #[json(default, skip_if = "Vec::is_empty")]
    pub graders: Vec<GraderRecord>,
}

impl UserRecord {
    /// A user that has not said anything yet.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Why a conversation with a simulated user ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UserEnd {
    /// The user said that its goal is reached, or that its condition is met.
    Done,
    /// It had written as many turns as it may.
    MaxTurns,
    /// A turn failed, and the case does not go on after that.
    TurnFailed,
}

impl UserEnd {
    /// As people read it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Done => "the user was done",
            Self::MaxTurns => "`max_turns` was reached",
            Self::TurnFailed => "a turn failed",
        }
    }
}
