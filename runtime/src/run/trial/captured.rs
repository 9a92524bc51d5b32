//! A trial whose results are captured: changes, answer, transcript and usage of the agent, for graders and the record.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::{ReasonCode, Stage, Usage};
use evalsuite_schema::{Content, Message, Part, PathRef, Role, Value};

use crate::model::agent_report::Recording;
use crate::model::evidence::{Evidence, Facts, UnknownWork, is_partial};
use crate::model::messages::{answer, content_text, named_files};
use crate::model::outcome::{Outcome, is_amount};
use crate::platform::excerpt::first_bytes;
use crate::run::budgets;
use crate::run::selection::ChosenAgent;
use crate::run::trial::called::Called;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt, whole_millis};
use crate::workspace::snapshot::{Snapshot, WorkspaceDiff};

/// Bytes of an answer that a record holds.
const ANSWER_LIMIT: usize = 64 * 1024;

/// As much of an answer as a record holds, and whether there is more of it.
pub(crate) fn first_of_answer(answer: &str) -> (String, bool) {
    let shown = first_bytes(answer, ANSWER_LIMIT);
    (shown.to_owned(), shown.len() < answer.len())
}

/// What is known of the work of an agent that was called.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) evidence: Evidence<'static>,
    /// Whether the agent gave an answer: that of its evidence may stand for none.
    pub(crate) has_answer: bool,
    /// Why it is not graded.
    pub(crate) end: Option<EarlyEnd>,
}

impl Captured {
    /// The answer as the record has it, and whether there is more of it.
    pub(crate) fn answer(&self) -> Option<(String, bool)> {
        self.has_answer.then(|| first_of_answer(self.evidence.answer()))
    }
}

/// Captures what one call of the agent left.
pub(crate) fn capture(prepared: &Prepared<'_>, before: &Snapshot, mut called: Called) -> Captured {
    let trial = prepared.trial;
    write_agent_log(trial, &called.recording);
    let changes = capture_workspace(trial, before, &called.after).unwrap_or_else(|end| {
        called.fail(end);
        WorkspaceDiff::default()
    });
    let Called { result, recording, notes, took, span, .. } = called;
    trial.add_notes(notes);
    let mut outcome = match result {
        Ok(outcome) => outcome,
        Err(end) => {
            let unknown = unknown_work(&recording.outcome, &recording, false);
            return Captured { end: Some(end), ..interrupted(recording, unknown, whole_millis(took) as f64) };
        }
    };
    prepared.write_evidence();
    outcome.model = outcome.model.or_else(|| recording.captured.model.clone());
    let is_reported = is_reported(&outcome, &recording);
    let mut facts = evidence_facts(prepared, outcome, &recording, took, span, changes, None);
    facts.tools = recording.captured.tools;
    let captured = complete(trial, facts);
    if let Some(missing) = recording.captured.missing.filter(|_| !is_reported) {
        trial.note("spans_not_seen", missing.message);
    }
    captured
}

/// The work of an agent that returned an outcome.
pub(crate) fn complete(trial: &TrialAttempt<'_>, facts: Facts) -> Captured {
    if facts.cost_usd.is_none() {
        trial.add_notes(budgets::without_effect(trial.plan));
    }
    Captured { evidence: Evidence::new(facts), has_answer: true, end: None }
}

/// The work of an agent that returned no outcome, or whose workspace cannot be read.
pub(crate) fn interrupted(recording: Recording, unknown: UnknownWork, duration_ms: f64) -> Captured {
    let (usage, cost_usd) = known_spending(&recording);
    let (answer, transcript) = assemble(&recording.outcome, &recording);
    let Outcome { text, state, model, metadata, .. } = recording.outcome;
    // What the agent said last before it ended, whether it returned it or not.
    let has_answer = text.is_some() || !answer.is_empty();
    let facts = Facts {
        answer,
        transcript,
        usage,
        cost_usd,
        unknown,
        duration_ms,
        state,
        model: model.or(recording.captured.model),
        agent_metadata: metadata,
        tools: recording.captured.tools,
        ..Facts::default()
    };
    Captured { evidence: Evidence::new(facts), has_answer, end: None }
}

/// Writes what the agent logged next to the record.
pub(crate) fn write_agent_log(trial: &TrialAttempt<'_>, recording: &Recording) {
    if !recording.log.is_empty() {
        trial.write_text("log.txt", &recording.log);
    }
}

/// What the agent changed in the workspace, for the record and for graders; the patch is written next to the record.
pub(crate) fn capture_workspace(
    trial: &TrialAttempt<'_>,
    before: &Snapshot,
    after: &io::Result<Snapshot>,
) -> Result<WorkspaceDiff, EarlyEnd> {
    let changes = changes_between(before, after);
    if let Ok(changes) = &changes {
        let has_patch = !changes.diff.is_empty() && trial.write_text("diff.patch", &changes.diff);
        let mut journal = trial.journal.borrow_mut();
        let record = journal.workspace.get_or_insert_default();
        record.patch = has_patch.then(|| "diff.patch".to_owned());
        record.created.clone_from(&changes.files.created);
        record.modified.clone_from(&changes.files.modified);
        record.deleted.clone_from(&changes.files.deleted);
        record.snippets.clone_from(&changes.snippets);
    }
    for (when, snapshot) in [("before", Some(before)), ("after", after.as_ref().ok())] {
        if let Some(left_out) = snapshot.map(Snapshot::left_out).filter(|left_out| !left_out.is_empty()) {
            trial.note("workspace_left_out", format!("of the workspace {when} the agent's work, {left_out}"));
        }
    }
    changes
}

/// What changed in the workspace.
pub(crate) fn changes_between(before: &Snapshot, after: &io::Result<Snapshot>) -> Result<WorkspaceDiff, EarlyEnd> {
    match after {
        Ok(after) => Ok(WorkspaceDiff::between(before, after)),
        Err(error) => {
            let message = format!("the workspace cannot be read: {error}");
            Err(EarlyEnd::error(Stage::Capture, ReasonCode::WorkspaceError, message))
        }
    }
}

/// What graders see. `reported`: what the agent has reported in the turn before, which it may report again; then, what it reports now.
pub(crate) fn evidence_facts(
    prepared: &Prepared<'_>,
    outcome: Outcome,
    recording: &Recording,
    took: Duration,
    (started_at, ended_at): (String, String),
    changes: WorkspaceDiff,
    reported: Option<&mut Vec<Message>>,
) -> Facts {
    let Prepared { trial, case, .. } = prepared;
    let plan = trial.plan;
    let (answer, mut transcript) = assemble(&outcome, recording);
    if let (Some(transcript), Some(before)) = (&mut transcript, reported) {
        leave_out_history(transcript, outcome.messages.as_deref().or_else(|| recording.transcript()), before);
    }
    let is_rust = matches!(plan.agent, ChosenAgent::Rust(_));
    let unknown = unknown_work(&outcome, recording, is_rust);
    Facts {
        tags: plan.tags(),
        trial: trial.index,
        answer,
        // A part is not the sum.
        usage: usage(&outcome, recording, transcript.as_deref()).filter(|_| unknown.tokens.is_none()),
        cost_usd: cost(&outcome, recording, transcript.as_deref()).filter(|_| unknown.cost.is_none()),
        unknown,
        transcript,
        duration_ms: outcome.duration_ms.unwrap_or_else(|| whole_millis(took) as f64),
        started_at,
        ended_at,
        state: outcome.state,
        files: prepared.answer_files(),
        model: outcome.model,
        agent_metadata: outcome.metadata,
        changes: changes.files,
        diff: changes.diff,
        dependencies: Arc::clone(&plan.dependencies),
        recorder: Some(prepared.recorder.clone()),
        ..Facts::of_case(case, &plan.identity.target)
    }
}

/// Why the calls of an agent in Rust are not known.
#[cfg(feature = "capture")]
const NO_CALLS: &str = "the agent's calls are not known: it recorded none (`trial.tool_call`, `trial.recorder()`, or \
                        `trial.transcript_complete` if there are none), and made no `tracing` spans of models or tools that could \
                        be taken for them (`gen_ai.*`)";
#[cfg(not(feature = "capture"))]
const NO_CALLS: &str = "the agent's calls are not known: record each with `trial.tool_call` or `trial.recorder()`, or call \
                        `trial.transcript_complete` if there are none; calls that are `tracing` spans (`gen_ai.*`) are seen with \
                        `features = [\"capture\"]` of evalsuite";

/// Why the calls of models are not known of an agent whose MCP servers show its calls of tools.
const NO_MODEL_CALLS: &str = "the agent's calls of models are not known: it reports no messages, and its MCP servers only show its calls \
                              of tools";

/// Why the sums of spans are not known.
const PARTIAL_TOKENS: &str = "the tokens are not known: some spans of model calls have them (`gen_ai.usage.*`), and others do not; a client \
    that streams may have to ask for them, or report the total with `trial.usage`";
const PARTIAL_COST: &str = "the cost is not known: some spans of model calls have it (`gen_ai.usage.cost`), and others do not; report the \
    total with `trial.cost_usd`";

/// Why the sums of messages are not known.
const PARTIAL_TOKENS_OF_MESSAGES: &str = "the tokens are not known: some messages of the assistant have them (`usage`), and others do not; \
    report those of each call of a model, or the total";
const PARTIAL_COST_OF_MESSAGES: &str = "the cost is not known: some messages of the assistant have it (`cost_usd`), and others do not; \
    report that of each call of a model, or the total";

/// Why the tokens of an agent over ACP are not known.
const UNCLEAR_TOKENS: &str = "the tokens are not known: after the first turn, the agent reported numbers that can be those of the turn, or \
    those of the session so far, as the protocol says; write which they are as `tokens: turn` or `tokens: session` of its target";

/// The answer, and the messages if the agent reported them, or the answer has files.
pub(crate) fn assemble(outcome: &Outcome, recording: &Recording) -> (String, Option<Vec<Message>>) {
    let reported = outcome.messages.as_deref().or_else(|| recording.transcript());
    let without_messages = (!recording.files.is_empty()).then_some([].as_slice());
    let Some(mut transcript) = reported.or(without_messages).map(<[Message]>::to_vec) else {
        return (outcome.text.clone().unwrap_or_default(), None);
    };
    if let Some(text) = &outcome.text
        && (transcript.is_empty() || answer(&transcript) != *text)
    {
        end_with(&mut transcript, text);
    }
    add_files(&mut transcript, &recording.files);
    answer_calls(&mut transcript);
    (answer(&transcript), Some(transcript))
}

/// Leaves out what the agent has reported `before`, in the turn before, if it has kept its history and has `reported` all of it again, and remembers
/// what it reports now. A call without an id may be a new one, and so may a message without calls.
fn leave_out_history(transcript: &mut Vec<Message>, reported: Option<&[Message]>, before: &mut Vec<Message>) {
    let reported = reported.unwrap_or_default();
    let mut calls = before.iter().flat_map(|message| &message.tool_calls).peekable();
    let is_followed_by_user = reported.get(before.len()).is_some_and(|message| message.role == Role::User);
    let is_known = (calls.peek().is_some() || is_followed_by_user) && calls.all(|call| call.id.is_some());
    let is_repeated = is_known && reported.starts_with(before);
    let is_continued = transcript.iter().skip(before.len()).any(|message| message.role == Role::Assistant);
    let count = std::mem::replace(before, reported.to_vec()).len();
    if is_repeated && is_continued {
        transcript.drain(..count);
    }
}

/// Makes recorded files parts of the message that is the answer, unless it names them.
fn add_files(transcript: &mut Vec<Message>, files: &[PathRef]) {
    let is_answer = |message: &Message| message.role == Role::Assistant && message.content.is_some();
    let at = transcript.iter().rposition(is_answer);
    let named: Vec<&PathRef> = at.map(|at| named_files([&transcript[at]])).unwrap_or_default();
    let mut parts: Vec<Part> = Vec::new();
    for file in files.iter().filter(|file| named.iter().all(|named| named.path != file.path)) {
        let part = Part::File(file.clone());
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    if parts.is_empty() {
        return;
    }
    let Some(at) = at else {
        // No model has said this.
        let mut message = Message::new(Role::Assistant, Content::Parts(parts));
        message.llm_call_count = Some(0);
        return transcript.push(message);
    };
    let content = &mut transcript[at].content;
    match content {
        Some(Content::Parts(of_answer)) => of_answer.append(&mut parts),
        other => {
            let text = other.as_ref().map(content_text).map(Part::Text);
            *other = Some(Content::Parts(text.into_iter().chain(parts).collect()));
        }
    }
}

/// The answer is the last message. A span without the content of the model's message may have reported this very message.
fn end_with(transcript: &mut Vec<Message>, text: &str) {
    let counted = transcript.iter().any(|message| message.llm_call_count.is_some());
    match transcript.last_mut() {
        Some(Message {
            role: Role::Assistant, content: content @ None, tool_calls, llm_call_count: Some(_), ..
        }) if tool_calls.is_empty() => {
            *content = Some(Content::Text(text.to_owned()));
        }
        _ => {
            // The agent made this text of the model's answers, without another call of the model.
            let llm_call_count = counted.then_some(0);
            let mut last = Message::text(Role::Assistant, text);
            last.llm_call_count = llm_call_count;
            transcript.push(last);
        }
    }
}

/// Tokens as the agent reported them: as a total, else message by message, else in its spans.
pub(crate) fn usage(outcome: &Outcome, recording: &Recording, transcript: Option<&[Message]>) -> Option<Usage> {
    let add = |mut sum: Usage, usage| {
        sum += usage;
        sum
    };
    let summed = || transcript?.iter().filter_map(|message| message.usage).reduce(add);
    outcome.usage.or_else(summed).or(recording.captured.usage)
}

/// Cost as the agent reported it: as a total, else message by message, else in its spans.
pub(crate) fn cost(outcome: &Outcome, recording: &Recording, transcript: Option<&[Message]>) -> Option<f64> {
    let summed = || transcript?.iter().filter_map(|message| message.cost_usd).reduce(|sum, cost| sum + cost);
    outcome.cost_usd.or_else(summed).or(recording.captured.cost_usd)
}

/// Tokens and cost of a call that ended in an error, as far as they are known. A cost that is not a valid number is not.
pub(crate) fn known_spending(recording: &Recording) -> (Option<Usage>, Option<f64>) {
    let (outcome, transcript) = (&recording.outcome, recording.transcript());
    let cost = cost(outcome, recording, transcript).filter(|cost| is_amount(*cost));
    (usage(outcome, recording, transcript), cost.or(recording.captured.cost_usd))
}

/// Whether the agent reported its messages itself, so that its spans do not matter.
pub(crate) fn is_reported(outcome: &Outcome, recording: &Recording) -> bool {
    outcome.messages.is_some() || recording.has_messages()
}

/// What is not known of an agent's work. `is_rust`: its spans are looked for.
pub(crate) fn unknown_work(outcome: &Outcome, recording: &Recording, is_rust: bool) -> UnknownWork {
    let captured = &recording.captured;
    let missing = captured.missing.as_ref();
    let reports_messages = is_reported(outcome, recording);
    let has_spans = captured.messages.is_some();
    let calls = missing.filter(|missing| !reports_messages && (!has_spans || missing.lacks_calls));
    let nothing = is_rust && !reports_messages && !has_spans;
    let own = outcome.messages.as_deref().or_else(|| recording.has_messages().then_some(&*recording.messages));
    let own = own.unwrap_or_default();
    // Of a number that the agent reports itself, whether only some of its messages have it.
    let own_number = |has_total: bool, is_known: fn(&Message) -> bool| match has_total {
        true => Some(false),
        false => own.iter().any(is_known).then(|| is_partial(own, is_known)),
    };
    let own_tokens = own_number(outcome.usage.is_some(), |message| message.usage.is_some());
    let own_cost = own_number(outcome.cost_usd.is_some(), |message| message.cost_usd.is_some());
    let of_spans = |lacks: bool, why: &str| {
        let missing = missing.filter(|missing| missing.lacks_spending);
        let hidden = missing.map(|missing| format!("tokens and cost are not known: {}", missing.message));
        hidden.or_else(|| lacks.then(|| why.to_owned()))
    };
    let unclear = captured.has_unclear_tokens.then(|| UNCLEAR_TOKENS.to_owned());
    let why = calls.map(|missing| &missing.message).or(captured.seen.as_ref().filter(|_| nothing));
    let servers = captured.servers.as_ref();
    let unseen = servers.filter(|_| !reports_messages);
    let calls = why.map_or_else(|| nothing.then(|| NO_CALLS.to_owned()), |why| Some(format!("{NO_CALLS}; {why}")));
    UnknownWork {
        calls: calls.or_else(|| servers?.missing.clone()),
        model_calls: unseen.map(|_| NO_MODEL_CALLS.to_owned()),
        known_tools: unseen.filter(|servers| !servers.are_all).map(|servers| servers.tools.clone()),
        tokens: match own_tokens {
            Some(is_partial) => is_partial.then(|| PARTIAL_TOKENS_OF_MESSAGES.to_owned()),
            None => unclear.or_else(|| of_spans(captured.lacks_tokens, PARTIAL_TOKENS)),
        },
        cost: match own_cost {
            Some(is_partial) => is_partial.then(|| PARTIAL_COST_OF_MESSAGES.to_owned()),
            None => of_spans(captured.lacks_cost, PARTIAL_COST),
        },
    }
}

/// A message of a tool is the output of the call that it names. Of several calls with one id, those made last before the messages have them, in
/// order: some models begin again with the same ids in every message.
fn answer_calls(transcript: &mut [Message]) {
    let mut unanswered: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    let mut at = 0;
    while at < transcript.len() {
        for (index, call) in transcript[at].tool_calls.iter().enumerate() {
            if let Some(id) = &call.id {
                unanswered.entry(id.clone()).or_default().push((at, index));
            }
        }
        let calls_again = |message: &Message| !message.tool_calls.is_empty();
        let end = transcript[at + 1..].iter().position(calls_again).map_or(transcript.len(), |next| at + 1 + next);
        let mut outputs: BTreeMap<String, Vec<Option<Value>>> = BTreeMap::new();
        for message in transcript[at..end].iter().filter(|message| message.role == Role::Tool) {
            if let Some(id) = &message.tool_call_id {
                let output = message.content.as_ref().map(|content| match content {
                    Content::Data(value) => value.clone(),
                    content => Value::String(content_text(content)),
                });
                outputs.entry(id.clone()).or_default().push(output);
            }
        }
        for (id, outputs) in outputs {
            let Some(calls) = unanswered.get_mut(&id) else { continue };
            let answered = calls.split_off(calls.len().saturating_sub(outputs.len()));
            for ((called, index), output) in answered.into_iter().zip(outputs) {
                if let Some(output) = output {
                    transcript[called].tool_calls[index].output.get_or_insert(output);
                }
            }
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::ToolCall;

    use super::*;
    use crate::model::agent_report::{Captured, MissingSpans};

    #[test]
    fn a_bare_answer_reports_no_transcript() {
        assert_eq!(assemble(&Outcome::from("x"), &Recording::default()), ("x".into(), None));
        let complete = Recording { complete: true, ..Recording::default() };
        let (answer, transcript) = assemble(&Outcome::from("x"), &complete);
        assert_eq!((answer.as_str(), transcript.unwrap().len()), ("x", 1));
    }

    #[test]
    fn a_returned_text_ends_a_recorded_transcript() {
        let mut recording = Recording::default();
        recording.tool_call(ToolCall::new("read"));
        let (answer, transcript) = assemble(&Outcome::from("done"), &recording);
        let transcript = transcript.unwrap();
        assert_eq!((answer.as_str(), transcript.len()), ("done", 2));
        assert_eq!(transcript[0].tool_calls.len(), 1);
        recording.messages.push(Message::text(Role::Assistant, "done"));
        assert_eq!(assemble(&Outcome::from("done"), &recording).1.unwrap().len(), 2);
    }

    #[test]
    fn recorded_files_are_parts_of_the_answer_and_report_no_calls() {
        let file = || PathRef::new("report.md");
        let parts = |texts: &[&str]| {
            let texts = texts.iter().map(|text| Part::Text((*text).to_owned()));
            Content::Parts(texts.chain([Part::File(file())]).collect())
        };
        let recording = Recording { files: vec![file(), file()], ..Recording::default() };
        let (answer, transcript) = assemble(&Outcome::from("done"), &recording);
        let [message] = transcript.as_deref().unwrap() else { panic!("{transcript:?}") };
        assert_eq!((answer.as_str(), message.content.as_ref()), ("done", Some(&parts(&["done"]))));
        assert!(unknown_work(&Outcome::from("done"), &recording, true).calls.is_some());
        // Without an answer, they are one. Messages keep their parts, and a file that is named is not added again.
        let (answer, transcript) = assemble(&Outcome::new(), &recording);
        assert_eq!((answer.as_str(), &transcript.unwrap()[0].content), ("", &Some(parts(&[]))));
        let returned = Message::new(Role::Assistant, parts(&["a", "b"]));
        let outcome =
            Outcome::new().with_messages(vec![returned.clone(), Message::tool_result("x", Content::Text("y".into()))]);
        assert_eq!(assemble(&outcome, &recording).1.unwrap()[0], returned);
        let captured =
            Captured { messages: Some(vec![Message::text(Role::Assistant, "of a span")]), ..Captured::default() };
        let spans = Recording { captured, ..recording };
        assert_eq!(assemble(&Outcome::new(), &spans).1.unwrap()[0].content, Some(parts(&["of a span"])));
        assert!(!is_reported(&Outcome::new(), &spans), "the calls of the spans count");
    }

    #[test]
    fn a_message_of_a_tool_is_the_output_of_its_call() {
        let mut call = Message::empty(Role::Assistant);
        call.tool_calls.push(ToolCall::new("read").with_id("a"));
        let result = Message::tool_result("a", Content::Text("42".into()));
        let outcome = Outcome::new().with_text("done").with_messages(vec![call, result]);
        let transcript = assemble(&outcome, &Recording::default()).1.unwrap();
        assert_eq!(transcript[0].tool_calls[0].output, Some("42".into()));
        assert_eq!(transcript.len(), 3);
    }

    #[test]
    fn outputs_of_calls_with_one_id_are_in_the_order_of_the_calls() {
        let calls = |ids: &[&str]| {
            let call = |message: Message, id: &&str| message.with_tool_call(ToolCall::new("read").with_id(*id));
            ids.iter().fold(Message::empty(Role::Assistant), call)
        };
        let result = |id: &str, text: &str| Message::tool_result(id, Content::Text(text.to_owned()));
        let outputs = |messages: Vec<Message>| -> Vec<String> {
            let outcome = Outcome::new().with_messages(messages);
            let transcript = assemble(&outcome, &Recording::default()).1.unwrap();
            let calls = transcript.iter().flat_map(|message| &message.tool_calls);
            calls
                .map(|call| call.output.as_ref().map_or_else(String::new, |output| output.as_str().unwrap().into()))
                .collect()
        };
        let parallel = vec![calls(&["a", "a", "b"]), result("a", "1"), result("b", "2"), result("a", "3")];
        assert_eq!(outputs(parallel), ["1", "3", "2"]);
        let again = vec![calls(&["a"]), result("a", "1"), calls(&["a"]), result("a", "2"), result("a", "more")];
        assert_eq!(outputs(again), ["1", "2"]);
        let unanswered = vec![calls(&["a"]), calls(&["a"]), result("a", "2"), calls(&["a"]), result("x", "3")];
        assert_eq!(outputs(unanswered), ["", "2", ""]);
    }

    #[test]
    fn tokens_and_cost_of_messages_add_up_where_no_total_is_reported() {
        let mut message = Message::text(Role::Assistant, "x");
        (message.usage, message.cost_usd) = (Some(Usage::new(3, 1).with_cached(2)), Some(0.25));
        let outcome = Outcome::new();
        let transcript = [message.clone(), Message::text(Role::User, "y"), message];
        let sum = usage(&outcome, &Recording::default(), Some(&transcript));
        assert_eq!(sum, Some(Usage::new(6, 2).with_cached(4)));
        assert_eq!(cost(&outcome, &Recording::default(), Some(&transcript)), Some(0.5));
        let reported = Outcome::new().with_usage(Usage::new(1, 1)).with_cost_usd(1.0);
        assert_eq!(usage(&reported, &Recording::default(), Some(&transcript)), Some(Usage::new(1, 1)));
        assert_eq!(cost(&reported, &Recording::default(), Some(&transcript)), Some(1.0));
        assert_eq!(
            (usage(&outcome, &Recording::default(), None), cost(&outcome, &Recording::default(), None)),
            (None, None)
        );
    }

    #[test]
    fn sums_of_spans_that_are_not_complete_are_not_known_unless_the_agent_reports_its_own() {
        let unknown = |outcome: &Outcome, recording: &Recording| {
            let unknown = unknown_work(outcome, recording, true);
            (unknown.tokens.is_some(), unknown.cost.is_some())
        };
        let mut recording = Recording::default();
        recording.tool_call(ToolCall::new("read"));
        assert_eq!(unknown(&Outcome::new(), &recording), (false, false));
        let captured = Captured { lacks_tokens: true, usage: Some(Usage::new(1, 1)), ..Captured::default() };
        let partial = Recording { captured, ..recording.clone() };
        assert_eq!(unknown(&Outcome::new(), &partial), (true, false));
        assert_eq!(unknown(&Outcome::new().with_usage(Usage::new(2, 2)), &partial), (false, false));
        let mut said = Message::text(Role::Assistant, "x");
        said.usage = Some(Usage::new(2, 2));
        assert_eq!(unknown(&Outcome::new().with_messages(vec![said]), &partial), (false, false));
        // Messages of models that do not all have a number have no sum.
        let mut paid = Message::text(Role::Assistant, "x");
        (paid.usage, paid.cost_usd) = (Some(Usage::new(2, 2)), Some(0.5));
        let mut not_of_model = Message::text(Role::Assistant, "of the program");
        not_of_model.llm_call_count = Some(0);
        let user = Message::text(Role::User, "y");
        let all = vec![user, paid.clone(), not_of_model];
        let some = [all.clone(), vec![Message::text(Role::Assistant, "z")]].concat();
        assert_eq!(unknown(&Outcome::new().with_messages(all), &partial), (false, false));
        assert_eq!(unknown(&Outcome::new().with_messages(some.clone()), &Recording::default()), (true, true));
        let with_total = Outcome::new().with_messages(some).with_usage(Usage::new(9, 9));
        assert_eq!(unknown(&with_total, &partial), (false, true));
        let recorded = Recording { messages: vec![Message::text(Role::Assistant, "z"), paid], ..Recording::default() };
        assert_eq!(unknown(&Outcome::new(), &recorded), (true, true));
        // Messages without tokens say nothing about spans of models that may be missing.
        let missing = Some(MissingSpans::unassigned(&["chat"]));
        let unassigned = Recording { captured: Captured { missing, ..Captured::default() }, ..recording };
        assert_eq!(unknown(&Outcome::new(), &unassigned), (true, true));
        assert_eq!(unknown(&Outcome::new().with_cost_usd(1.0), &unassigned), (true, false));
    }

    #[test]
    fn returned_messages_replace_recorded_ones() {
        let mut recording = Recording::default();
        recording.tool_call(ToolCall::new("read"));
        let outcome = Outcome::new().with_messages(vec![Message::text(Role::Assistant, "other")]);
        let (answer, transcript) = assemble(&outcome, &recording);
        assert_eq!((answer.as_str(), transcript.unwrap().len()), ("other", 1));
    }
}
