//! The totals of the turns of a conversation.

use std::time::Duration;

use evalsuite_records::record::Usage;
use evalsuite_schema::{Message, Object};

use crate::model::captured_spans::Captured;
use crate::model::evidence::{Facts, UnknownWork};
use crate::model::messages::role_blocks;
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::run::trial::conversation::conversation_history::ConversationHistory;
use crate::run::trial::trial_attempt::whole_millis;

/// The turns of a conversation together.
#[derive(Default)]
pub(crate) struct ConversationTotals {
    /// What finished turns and an interrupted one recorded.
    pub(crate) recording: Recording,
    /// Whether a turn did not report its messages; then the transcript is incomplete.
    is_unreported: bool,
    /// What is not known of the first turn of which something is not.
    pub(crate) unknown: UnknownWork,
    transcript: Vec<Message>,
    /// Index of the first message of each turn.
    starts: Vec<usize>,
    pub(crate) usage: Sum<Usage>,
    pub(crate) cost_usd: Sum<f64>,
    duration_ms: f64,
    took: Duration,
    /// When the first turn began and the last one ended.
    pub(crate) span: Option<(String, String)>,
    state: Object,
    metadata: Object,
    model: Option<String>,
}

/// A sum that is known only if all its summands are.
#[derive(Default)]
pub(crate) struct Sum<T> {
    /// The sum of the summands that are known.
    pub(crate) known: Option<T>,
    is_incomplete: bool,
}

impl<T: Copy + std::ops::AddAssign> Sum<T> {
    fn add(&mut self, summand: Option<T>) {
        match (summand, &mut self.known) {
            (None, _) => self.is_incomplete = true,
            (Some(summand), Some(known)) => *known += summand,
            (Some(summand), None) => self.known = Some(summand),
        }
    }

    fn get(&self) -> Option<T> {
        self.known.filter(|_| !self.is_incomplete)
    }
}

impl ConversationTotals {
    /// Adds the data that the agent reported in addition to its reply; a later report of the same key replaces an earlier one.
    pub(crate) fn add_report(&mut self, outcome: Outcome, captured: Captured) {
        self.state.extend(outcome.state);
        self.metadata.extend(outcome.metadata);
        self.model = outcome.model.or(captured.model).or(self.model.take());
        if !captured.tools.is_empty() {
            self.recording.captured.tools = captured.tools;
        }
    }

    /// Adds a turn to which the agent has replied.
    pub(crate) fn add(&mut self, input: &Message, facts: &Facts) {
        self.starts.push(self.transcript.len());
        self.transcript.push(input.clone());
        match &facts.transcript {
            Some(messages) => {
                self.transcript.extend(messages.iter().cloned());
                self.recording.messages.extend(messages.iter().cloned());
            }
            None => self.is_unreported = true,
        }
        let UnknownWork { calls, spending } = &facts.unknown;
        self.unknown.calls = self.unknown.calls.take().or_else(|| calls.clone());
        self.unknown.spending = self.unknown.spending.take().or_else(|| spending.clone());
        self.usage.add(facts.usage);
        self.cost_usd.add(facts.cost_usd);
        self.duration_ms += facts.duration_ms;
        let started = self.span.take().map_or_else(|| facts.started_at.clone(), |(started, _)| started);
        self.span = Some((started, facts.ended_at.clone()));
    }

    /// Adds a turn in which the agent failed.
    pub(crate) fn add_unfinished(&mut self, recording: Recording, took: Duration) {
        self.usage.add(recording.known_usage());
        self.cost_usd.add(recording.known_cost());
        self.add_report(recording.outcome, recording.captured.clone());
        let captured = recording.captured.messages.filter(|_| recording.messages.is_empty());
        self.recording.messages.extend(recording.messages.into_iter().chain(captured.unwrap_or_default()));
        self.took += took;
    }

    /// Duration of all turns in milliseconds.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "durations are at least 0, and a float that is too large saturates"
    )]
    pub(crate) fn known_duration_ms(&self) -> u64 {
        whole_millis(self.took).saturating_add(self.duration_ms.round() as u64)
    }

    /// The conversation as one outcome.
    pub(crate) fn outcome(&mut self, history: &ConversationHistory) -> Outcome {
        Outcome {
            text: Some(role_blocks(&history.0)),
            messages: None,
            state: std::mem::take(&mut self.state),
            usage: self.usage.get(),
            cost_usd: self.cost_usd.get(),
            duration_ms: Some(self.duration_ms),
            model: self.model.take(),
            metadata: std::mem::take(&mut self.metadata),
        }
    }

    /// All messages in order, if every turn reported its own, and the index of the first message of each turn.
    pub(crate) fn transcript(self) -> (Option<Vec<Message>>, Vec<usize>) {
        if self.is_unreported { (None, Vec::new()) } else { (Some(self.transcript), self.starts) }
    }
}
