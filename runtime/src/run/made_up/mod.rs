//! Grades made-up results of an agent with the real graders of a case. No agent is called, and nothing is written to the directory of a
//! run: what graders need of the file system is in a temporary directory.

pub(crate) mod bounded_grading;
mod conversation;
pub(crate) mod grader_examples;
pub(crate) mod grading;
pub(crate) mod suite;
#[cfg(test)]
mod tests;

use evalsuite_records::record::{GraderRecord, Status, TurnRecord};
use evalsuite_schema::{Message, Role, ToolCall};

use self::bounded_grading::{Bounded, NotRun};
use crate::grade::scoring::TrialScore;
use crate::model::agent_report::Recording;
use crate::model::outcome::Outcome;
use crate::run::trial::captured::{assemble, cost, unknown_work, usage};

/// What an agent might have done.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MadeUpResult {
    /// A reply for each call of the agent: one, or one per turn of a conversation. A turn without one gets an empty reply.
    pub(crate) replies: Vec<MadeUpReply>,
    /// The files that it changed in its workspace: their paths relative to it, with `/` separators, and new texts; `None`: removed.
    pub(crate) files: Vec<(String, Option<String>)>,
    /// Whether it also spoiled its workspace: no file in it is as it was, and one is new.
    pub(crate) spoils_workspace: bool,
}

impl MadeUpResult {
    /// Replies of an agent that changed no files.
    pub(crate) fn new(replies: Vec<MadeUpReply>) -> Self {
        Self { replies, ..Self::default() }
    }

    fn changes_files(&self) -> bool {
        self.spoils_workspace || !self.files.is_empty()
    }
}

/// The reply to one call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MadeUpReply {
    pub(crate) answer: String,
    /// The complete transcript of the call: a tool call that is not in it was not made.
    pub(crate) messages: Vec<Message>,
    /// What the agent reported. A reply without it took no time, no tokens and no money.
    pub(crate) reported: Option<Outcome>,
}

impl MadeUpReply {
    /// An answer after calls of tools, which all return nothing.
    pub(crate) fn new(answer: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        let answer = answer.into();
        let mut messages = Vec::new();
        if !calls.is_empty() {
            messages.push(calls.into_iter().fold(Message::empty(Role::Assistant), Message::with_tool_call));
        }
        if !answer.is_empty() {
            messages.push(Message::text(Role::Assistant, answer.clone()));
        }
        Self { answer, messages, reported: None }
    }
}

impl From<Outcome> for MadeUpReply {
    fn from(mut outcome: Outcome) -> Self {
        let nothing_else = Recording::default();
        let unknown = unknown_work(&outcome, &nothing_else, false);
        let (answer, transcript) = assemble(&outcome, &nothing_else);
        outcome.usage = usage(&outcome, &nothing_else, transcript.as_deref()).filter(|_| unknown.tokens.is_none());
        outcome.cost_usd = cost(&outcome, &nothing_else, transcript.as_deref()).filter(|_| unknown.cost.is_none());
        outcome.messages = transcript;
        Self { answer, messages: Vec::new(), reported: Some(outcome) }
    }
}

/// What the graders of a case say about a made-up result.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "probe"), expect(dead_code, reason = "only probes read all of it"))]
pub(crate) struct GradedResult {
    /// Whether the trial passes; `None` if that depends on graders that were not run.
    pub(crate) passes: Option<bool>,
    /// The score, 0 to 1; `None` if it depends on graders that were not run, or if nothing is decided.
    pub(crate) score: Option<f64>,
    /// Results of the graders of the case. One that depends on graders that were not run is undecided.
    pub(crate) graders: Vec<GraderRecord>,
    /// Turns of a conversation. All of them are graded, also those that a trial would not reach.
    pub(crate) turns: Option<Vec<TurnRecord>>,
    /// The graders that were not run.
    pub(crate) not_run: Vec<NotRun>,
    /// Outcome and score if all graders that were not run fail.
    pub(crate) worst: (Status, Option<f64>),
}

impl GradedResult {
    /// What is known of a result with these worst and best scores.
    fn between(
        [low, high]: [TrialScore; 2],
        graders: Vec<Bounded>,
        turns: Option<Vec<TurnRecord>>,
        not_run: Vec<NotRun>,
    ) -> Self {
        Self {
            passes: (low.outcome == high.outcome).then_some(low.outcome == Status::Passed),
            score: low.score.filter(|_| low.score == high.score),
            graders: graders.into_iter().map(Bounded::shown).collect(),
            turns,
            not_run,
            worst: (low.outcome, low.score),
        }
    }
}
