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
    usage: Sum<Usage>,
    cost_usd: Sum<f64>,
    duration_ms: f64,
    /// When the first turn began and the last one ended.
    pub(crate) span: Option<(String, String)>,
    state: Object,
    metadata: Object,
    model: Option<String>,
}

/// A sum that is known only if all its summands are.
#[derive(Default)]
struct Sum<T> {
    /// The sum of the summands that are known.
    known: Option<T>,
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
    pub(crate) fn add_report(&mut self, outcome: &Outcome, captured: &Captured) {
        self.state.extend(outcome.state.clone());
        self.metadata.extend(outcome.metadata.clone());
        self.model = outcome.model.as_ref().or(captured.model.as_ref()).cloned().or(self.model.take());
        if !captured.tools.is_empty() {
            self.recording.captured.tools.clone_from(&captured.tools);
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
        self.add_report(&recording.outcome, &recording.captured);
        let captured = recording.captured.messages.filter(|_| recording.messages.is_empty());
        self.recording.messages.extend(recording.messages.into_iter().chain(captured.unwrap_or_default()));
        self.duration_ms += whole_millis(took) as f64;
    }

    /// What is known of a conversation that was interrupted, and how long it took in milliseconds.
    pub(crate) fn until_interrupted(self) -> (Recording, f64) {
        let mut recording = self.recording;
        recording.outcome = Outcome {
            state: self.state,
            usage: self.usage.known,
            cost_usd: self.cost_usd.known,
            model: self.model,
            metadata: self.metadata,
            ..Outcome::default()
        };
        (recording, self.duration_ms)
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
