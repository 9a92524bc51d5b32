//! A conversation: the agent is called once per turn, and each reply is graded before the next turn, with the messages and reports so far.

#[cfg_attr(not(feature = "users"), path = "without_simulated_user.rs")]
pub(crate) mod simulated_user;

use std::time::Duration;

use evalsuite_records::record::{ReasonCode, Stage, Status, TurnRecord, Usage};
#[cfg(any(feature = "grader-tests", feature = "users"))]
use evalsuite_schema::SimulatedUser;
use evalsuite_schema::{Case, Conversation, Input, Message, OnTurnFailure, Role, Turn};

use self::simulated_user::check_user;
use crate::grade::scoring::{TrialScore, score_conversation};
use crate::model::agent_report::{Captured, Recording};
use crate::model::evidence::{Evidence, Facts, UnknownWork};
use crate::model::messages::{content_text, messages_of, role_blocks};
use crate::model::outcome::Outcome;
use crate::run::selection::{case_graders, turn_folder, turn_graders};
use crate::run::trial::called::{Called, agent_directory, call_agent};
use crate::run::trial::captured::{
    capture_workspace, changes_between, complete, evidence_facts, first_of_answer, interrupted, known_spending,
    unknown_work, write_agent_log,
};
use crate::run::trial::graded::{Graded, RecordedTurns, run_graders};
use crate::run::trial::prepared::Prepared;
use crate::run::trial::size_limits::HandedOver;
use crate::run::trial::trial_attempt::{EarlyEnd, guarded, whole_millis};
use crate::workspace::snapshot::{Snapshot, WorkspaceDiff};

/// Runs all turns, grades them, and grades the whole.
pub(crate) fn run_conversation(prepared: &Prepared<'_>, conversation: &Conversation, before: &Snapshot) -> Graded {
    let trial = prepared.trial;
    let so_far = ConversationSoFar::of(&prepared.case);
    let mut running = RunningConversation {
        prepared,
        before,
        so_far,
        handed_over: HandedOver::default(),
        recorded: RecordedTurns::default(),
        scores: TurnScores::of(conversation),
    };
    let ended = running.run_turns(conversation);
    write_agent_log(trial, &running.so_far.recording);
    let capture = || capture_workspace(trial, before, &before.take_later(&trial.workspace));
    let changes = trial.timed(|t| &mut t.capture_ms, capture);
    match ended.and(changes) {
        Ok(changes) => trial.timed(|t| &mut t.grading_ms, || running.conclude(conversation, changes)),
        Err(end) => {
            let decided =
                if end.outcome == Status::Skipped { running.despite_skip(conversation, end) } else { Err(end) };
            let decided = decided.map(|score| (Vec::new(), score));
            let RunningConversation { so_far, recorded, .. } = running;
            let unknown = so_far.unknown_work();
            let duration_ms = so_far.recording.outcome.duration_ms.unwrap_or_default();
            let captured = interrupted(so_far.recording, unknown, duration_ms);
            Graded { turns: recorded, ..Graded::of(trial, Some(captured), decided) }
        }
    }
}

/// A conversation while it runs.
struct RunningConversation<'t> {
    prepared: &'t Prepared<'t>,
    before: &'t Snapshot,
    so_far: ConversationSoFar,
    handed_over: HandedOver,
    recorded: RecordedTurns,
    scores: TurnScores,
}

/// The scores of the turns.
pub(crate) struct TurnScores {
    on_failure: OnTurnFailure,
    /// Of the turns that are graded, and of those that are not run.
    pub(crate) of_turns: Vec<TrialScore>,
    /// Whether no further turn is run.
    pub(crate) is_stopped: bool,
}

impl TurnScores {
    pub(crate) fn of(conversation: &Conversation) -> Self {
        Self { on_failure: conversation.on_turn_failure, of_turns: Vec::new(), is_stopped: false }
    }

    /// Adds the score of a turn, `None` if nothing grades it; that of one that is not run does not matter.
    pub(crate) fn add(&mut self, score: Option<TrialScore>) {
        if self.is_stopped {
            return self.of_turns.push(TrialScore::not_run());
        }
        let failed = score.as_ref().is_some_and(|score| matches!(shown_score(score).1, Status::Failed | Status::Error));
        self.is_stopped = failed && self.on_failure == OnTurnFailure::Stop;
        self.of_turns.extend(score);
    }
}

impl RunningConversation<'_> {
    fn run_turns(&mut self, conversation: &Conversation) -> Result<(), EarlyEnd> {
        for (index, turn) in (0_u32..).zip(&conversation.turns) {
            self.run_recorded_turn(index, turn, conversation.window_size, false)?;
        }
        conversation.user.as_ref().map_or(Ok(()), |user| self.run_user_turns(conversation, user))
    }

    /// Runs a turn, and adds its record however it ends. `is_simulated`: a simulated user wrote it.
    fn run_recorded_turn(
        &mut self,
        index: u32,
        turn: &Turn,
        window: Option<u32>,
        is_simulated: bool,
    ) -> Result<(), EarlyEnd> {
        let mut record = turn_not_run(index, turn);
        record.simulated = is_simulated;
        let ended = guarded(|| self.run_turn(turn, window, &mut record)).map_err(|mut end| {
            (record.outcome, record.score) = (end.outcome, None);
            end.reason.message = format!("turn {}: {}", index + 1, end.reason.message);
            end
        });
        self.recorded.turns.get_or_insert_default().push(record);
        ended
    }

    /// Calls the agent and grades its reply, unless an earlier turn has ended the conversation.
    fn run_turn(&mut self, turn: &Turn, window: Option<u32>, record: &mut TurnRecord) -> Result<(), EarlyEnd> {
        if self.scores.is_stopped {
            self.scores.add(None);
            return Ok(());
        }
        let (prepared, index) = (self.prepared, record.index);
        let trial = prepared.trial;
        let input = Input::Messages(self.so_far.window(&turn.input, window));
        // Graders of the turn before may have changed the workspace.
        let taken = (index > 0).then(|| Snapshot::take(&trial.workspace));
        let before = taken.as_ref().map_or(Ok(self.before), Result::as_ref);
        let called = trial.timed(|t| &mut t.agent_ms, || call_agent(prepared, &input, Some(index), before))?;
        let facts = self.capture_turn(turn, index, called)?;
        prepared.write_evidence();
        trial.timed(|t| &mut t.grading_ms, || self.grade_turn(turn, facts, record));
        Ok(())
    }

    /// How a conversation ends in which the agent asks to skip a turn. A skip does not hide that an earlier turn failed: a guard that broke has
    /// decided the trial, and anything else that failed might have.
    fn despite_skip(&self, conversation: &Conversation, skipped: EarlyEnd) -> Result<TrialScore, EarlyEnd> {
        let threshold = self.prepared.trial.plan.standard.threshold;
        let so_far = score_conversation(conversation.aggregation, &self.scores.of_turns, None, threshold);
        if so_far.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::RequiredGraderFailed) {
            return Ok(so_far);
        }
        match self.scores.of_turns.iter().any(|score| matches!(shown_score(score).1, Status::Failed | Status::Error)) {
            true => {
                let message = format!("{}; an earlier turn had failed", skipped.reason.message);
                Err(EarlyEnd::error(Stage::Agent, ReasonCode::SkipRequested, message))
            }
            false => Err(skipped),
        }
    }

    /// What graders of the turn see.
    fn capture_turn(&mut self, turn: &Turn, index: u32, mut called: Called) -> Result<Facts, EarlyEnd> {
        let prepared = self.prepared;
        let changes = match turn_graders(turn, &prepared.case).is_empty() {
            true => Ok(WorkspaceDiff::default()),
            false => changes_between(self.before, &called.after),
        };
        let changes = changes.unwrap_or_else(|end| {
            called.fail(end);
            WorkspaceDiff::default()
        });
        let Called { result, recording, notes, took, span, .. } = called;
        prepared.trial.add_notes(notes);
        self.so_far.recording.log.push_str(&recording.log);
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(end) => {
                self.so_far.add_unfinished(recording, took);
                return Err(end);
            }
        };
        self.so_far.add_report(&outcome, &recording.captured);
        let reported = Some(&mut self.so_far.reported);
        let mut facts = evidence_facts(prepared, outcome, &recording, took, span, changes, reported);
        let directory = agent_directory(prepared, Some(index));
        let all = &mut self.so_far.recording;
        if let Some(problem) = self.handed_over.add(&directory, &prepared.trial.plan.redactor, &facts, all) {
            self.so_far.add_spending(facts.usage, facts.cost_usd, facts.duration_ms);
            let message = format!("the agent handed over {problem}");
            return Err(EarlyEnd::error(Stage::Agent, ReasonCode::AgentError, message));
        }
        self.so_far.describe_turn(turn, &mut facts);
        Ok(facts)
    }

    fn grade_turn(&mut self, turn: &Turn, facts: Facts, record: &mut TurnRecord) {
        let prepared = self.prepared;
        self.so_far.add(&turn.input, &facts);
        record.answer = Some(first_of_answer(&facts.answer).0);
        let graders = turn_graders(turn, &prepared.case);
        if graders.is_empty() {
            // Nothing says whether the reply is good: the turn does not count.
            record.score = None;
            return;
        }
        record.graders = run_graders(prepared, &Evidence::new(facts), &graders, Some(&turn_folder(record.index)));
        let mut score = prepared.trial.plan.score(&record.graders);
        (record.score, record.outcome) = shown_score(&score);
        if let Some(reason) = &mut score.reason {
            reason.message = format!("turn {}: {}", record.index + 1, reason.message);
        }
        self.scores.add(Some(score));
    }

    /// Grades the whole and decides the trial.
    fn conclude(self, conversation: &Conversation, changes: WorkspaceDiff) -> Graded {
        let Self { prepared, mut so_far, scores, mut recorded, .. } = self;
        let (trial, plan) = (prepared.trial, prepared.trial.plan);
        let (outcome, span) = (so_far.outcome(), so_far.span.take().unwrap_or_default());
        let mut facts = evidence_facts(prepared, outcome, &Recording::default(), Duration::ZERO, span, changes, None);
        so_far.describe_whole(&mut facts);
        let captured = complete(trial, facts);
        let graded = guarded(|| {
            let user = conversation.user.as_ref();
            let in_role = user.map_or(Ok(()), |user| check_user(prepared, user, &mut recorded));
            in_role.inspect_err(|_| prepared.add_judge_replies())?;
            let graders = run_graders(prepared, &captured.evidence, &case_graders(&prepared.case), None);
            let whole = (!graders.is_empty()).then(|| plan.score(&graders));
            prepared.add_judge_replies();
            let threshold = plan.standard.threshold;
            let score = score_conversation(conversation.aggregation, &scores.of_turns, whole, threshold);
            Ok((graders, score))
        });
        Graded { turns: recorded, ..Graded::of(trial, Some(captured), graded) }
    }
}

/// The record of a turn to which the agent has not replied.
pub(crate) fn turn_not_run(index: u32, turn: &Turn) -> TurnRecord {
    let mut record = TurnRecord::default();
    record.index = index;
    record.input = turn.input.content.as_ref().map(content_text).unwrap_or_default();
    (record.score, record.outcome) = (Some(0.0), Status::Skipped);
    record
}

/// The score and outcome of a turn in its record: a turn in which no grader decided is skipped.
pub(crate) fn shown_score(score: &TrialScore) -> (Option<f64>, Status) {
    match &score.reason {
        Some(reason) if reason.code == ReasonCode::NothingDecided => (None, Status::Skipped),
        _ => (score.score, score.outcome),
    }
}

/// A conversation so far.
#[derive(Default)]
pub(crate) struct ConversationSoFar {
    /// The messages of the case before the first turn, then what the user said and what the agent answered.
    pub(crate) messages: Vec<Message>,
    /// What the agent reported and recorded in finished turns and an interrupted one. Its sums are of the turns that reported a summand.
    pub(crate) recording: Recording,
    /// Whether a turn did not report its tokens.
    lacks_usage: bool,
    /// Whether a turn did not report its cost.
    lacks_cost: bool,
    /// Whether a turn did not report its messages; then the transcript is incomplete.
    lacks_messages: bool,
    /// What is not known of the first turn of which something is not.
    unknown: UnknownWork,
    /// The messages that the agent reported last, with its history if it has kept one.
    reported: Vec<Message>,
    transcript: Vec<Message>,
    /// Index of the first message of each turn.
    starts: Vec<usize>,
    /// Index of the first turn that a simulated user wrote.
    pub(crate) first_simulated: Option<usize>,
    /// When the first turn began and the last one ended.
    pub(crate) span: Option<(String, String)>,
}

impl ConversationSoFar {
    /// A conversation before its first turn.
    pub(crate) fn of(case: &Case) -> Self {
        Self { messages: messages_of(&case.input).to_vec(), ..Self::default() }
    }

    /// What the agent gets: all system messages and the last `window` pairs of other messages, then `now`.
    pub(crate) fn window(&self, now: &Message, window: Option<u32>) -> Vec<Message> {
        let others = self.messages.iter().filter(|message| message.role != Role::System).count();
        let kept = window.map_or(usize::MAX, |pairs| 2 * pairs as usize);
        let mut left_out = others.saturating_sub(kept);
        let stays = |message: &&Message| {
            if message.role == Role::System || left_out == 0 {
                return true;
            }
            left_out -= 1;
            false
        };
        self.messages.iter().filter(stays).chain([now]).cloned().collect()
    }

    /// Adds what graders of a turn get of its request.
    pub(crate) fn describe_turn(&self, turn: &Turn, facts: &mut Facts) {
        facts.input = Some(Input::Messages(self.window(&turn.input, None)));
        facts.expected_output.clone_from(&turn.expected_output);
        facts.is_conversation = true;
        facts.first_simulated_turn = self.first_simulated;
    }

    /// Adds what graders of the whole get of its turns: all messages in order, if every turn reported its own.
    pub(crate) fn describe_whole(self, facts: &mut Facts) {
        facts.unknown = self.unknown_work();
        facts.input = Some(Input::Messages(self.messages));
        facts.is_conversation = true;
        facts.tools = self.recording.captured.tools;
        facts.first_simulated_turn = self.first_simulated;
        (facts.transcript, facts.turns) = match self.lacks_messages {
            true => (None, Vec::new()),
            false => (Some(self.transcript), self.starts),
        };
    }

    /// Adds the data that the agent reported in addition to its reply; a later report of the same key replaces an earlier one.
    pub(crate) fn add_report(&mut self, reported: &Outcome, captured: &Captured) {
        let outcome = &mut self.recording.outcome;
        outcome.state.extend(reported.state.clone());
        outcome.metadata.extend(reported.metadata.clone());
        outcome.model = reported.model.as_ref().or(captured.model.as_ref()).cloned().or(outcome.model.take());
        if !captured.tools.is_empty() {
            self.recording.captured.tools.clone_from(&captured.tools);
        }
    }

    /// Adds a turn to which the agent has replied.
    pub(crate) fn add(&mut self, input: &Message, facts: &Facts) {
        self.messages.extend([input.clone(), Message::text(Role::Assistant, &facts.answer)]);
        self.starts.push(self.transcript.len());
        let reported = facts.transcript.as_deref().unwrap_or_default();
        let text = |message: &Message| message.content.as_ref().map(content_text);
        let is_in = |messages: &[Message], one: &Message| {
            messages.iter().any(|message| message.role == one.role && text(message) == text(one))
        };
        // The spans of a call have what the user said, and in every turn the same instructions.
        if !is_in(reported, input) {
            self.transcript.push(input.clone());
        }
        for message in reported {
            if message.role != Role::System || !is_in(&self.transcript, message) {
                self.transcript.push(message.clone());
            }
        }
        self.recording.messages.extend(reported.iter().cloned());
        self.lacks_messages |= facts.transcript.is_none();
        let UnknownWork { calls, model_calls, known_tools, tokens, cost } = &facts.unknown;
        self.unknown.calls = self.unknown.calls.take().or_else(|| calls.clone());
        self.unknown.model_calls = self.unknown.model_calls.take().or_else(|| model_calls.clone());
        // Turns may start different servers.
        if let Some(known) = known_tools {
            self.unknown.known_tools.get_or_insert_default().extend(known.iter().cloned());
        }
        self.unknown.tokens = self.unknown.tokens.take().or_else(|| tokens.clone());
        self.unknown.cost = self.unknown.cost.take().or_else(|| cost.clone());
        self.add_spending(facts.usage, facts.cost_usd, facts.duration_ms);
        let started = self.span.take().map_or_else(|| facts.started_at.clone(), |(started, _)| started);
        self.span = Some((started, facts.ended_at.clone()));
    }

    /// Adds a turn in which the agent failed.
    pub(crate) fn add_unfinished(&mut self, recording: Recording, took: Duration) {
        let (usage, cost_usd) = known_spending(&recording);
        let UnknownWork { tokens, cost, .. } = unknown_work(&recording.outcome, &recording, false);
        self.unknown.tokens = self.unknown.tokens.take().or(tokens);
        self.unknown.cost = self.unknown.cost.take().or(cost);
        self.add_spending(usage, cost_usd, whole_millis(took) as f64);
        self.add_report(&recording.outcome, &recording.captured);
        let captured = recording.captured.messages.filter(|_| recording.messages.is_empty());
        self.recording.messages.extend(recording.messages.into_iter().chain(captured.unwrap_or_default()));
        self.recording.files.extend(recording.files);
        self.recording.messages.extend(recording.outcome.text.map(|text| Message::text(Role::Assistant, text)));
    }

    pub(crate) fn add_spending(&mut self, usage: Option<Usage>, cost_usd: Option<f64>, duration_ms: f64) {
        match usage {
            Some(usage) => self.recording.usage(usage),
            None => self.lacks_usage = true,
        }
        match cost_usd {
            Some(cost) => self.recording.cost_usd(cost),
            None => self.lacks_cost = true,
        }
        *self.recording.outcome.duration_ms.get_or_insert_default() += duration_ms;
    }

    /// The conversation as one outcome. Its sums are those of the turns that reported a summand.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome { text: Some(role_blocks(&self.messages)), ..self.recording.outcome.clone() }
    }

    /// What is not known of its turns. Sums are known only if all their summands are.
    fn unknown_work(&self) -> UnknownWork {
        let outcome = &self.recording.outcome;
        let mut unknown = self.unknown.clone();
        if self.lacks_usage && outcome.usage.is_some() {
            unknown.tokens.get_or_insert_with(|| "the tokens are not known: a turn did not report its own".to_owned());
        }
        if self.lacks_cost && outcome.cost_usd.is_some() {
            unknown.cost.get_or_insert_with(|| "the cost is not known: a turn did not report its own".to_owned());
        }
        unknown
    }
}

/// What graders of a simulated user see in place of the case: its role is the input. What the case expects is expected of the agent.
#[cfg(any(feature = "grader-tests", feature = "users"))]
pub(crate) fn describe_user(user: &SimulatedUser, facts: &mut Facts) {
    facts.input = Some(Input::Messages(vec![Message::text(Role::User, role(user))]));
    (facts.criteria, facts.description, facts.reference_solution) = (None, None, None);
    facts.expected_output.clear();
}

/// What judges read of the role.
#[cfg(any(feature = "grader-tests", feature = "users"))]
fn role(user: &SimulatedUser) -> String {
    let mut text = "A simulated user plays a person who talks with an AI agent. The answer is what the person says, turn by turn; what \
                    the agent says is not shown. It is the user that is graded, not the agent. Its role:"
        .to_owned();
    let parts = [
        ("function", &user.name),
        ("persona", &user.persona),
        ("goal", &user.goal),
        ("ends the conversation when", &user.stops_when),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            text.push_str(&format!("\n\n{name}: {part}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Location;

    use super::*;

    #[test]
    fn the_transcript_has_each_message_once_though_the_agent_reports_its_input() {
        let said = |role, text: &str| Message::text(role, text);
        let mut so_far = ConversationSoFar::default();
        for (asked, answered) in [("one", "first"), ("two", "second"), ("two", "again")] {
            let messages = vec![said(Role::System, "brief"), said(Role::User, asked), said(Role::Assistant, answered)];
            let facts = Facts { answer: answered.to_owned(), transcript: Some(messages), ..Facts::default() };
            so_far.add(&said(Role::User, asked), &facts);
        }
        let facts = Facts { transcript: Some(vec![said(Role::Assistant, "third")]), ..Facts::default() };
        so_far.add(&said(Role::User, "three"), &facts);
        assert_eq!(
            role_blocks(&so_far.transcript).replace("\n\n", " | "),
            "system: brief | user: one | assistant: first | user: two | assistant: second | user: two | assistant: again \
             | user: three | assistant: third"
        );
        assert_eq!(so_far.starts, [0, 3, 5, 7]);
    }

    #[test]
    fn the_window_has_the_system_messages_and_the_last_pairs() {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        let user = |text: &str| Message::text(Role::User, text);
        case.input = Input::Messages(vec![Message::text(Role::System, "brief"), user("before")]);
        let mut so_far = ConversationSoFar::of(&case);
        let texts = |messages: Vec<Message>| role_blocks(&messages).replace("\n\n", " | ");
        let answered = |text: &str| Facts { answer: text.to_owned(), ..Facts::default() };
        assert_eq!(texts(so_far.window(&user("one"), Some(1))), "system: brief | user: before | user: one");
        so_far.add(&user("one"), &answered("first"));
        so_far.add(&user("two"), &answered("second"));
        assert_eq!(
            texts(so_far.window(&user("three"), Some(1))),
            "system: brief | user: two | assistant: second | user: three"
        );
        assert_eq!(
            texts(so_far.window(&user("three"), None)),
            "system: brief | user: before | user: one | assistant: first | user: two | assistant: second | user: three"
        );
        assert_eq!(
            texts(so_far.messages),
            "system: brief | user: before | user: one | assistant: first | user: two | assistant: second"
        );
    }
}
