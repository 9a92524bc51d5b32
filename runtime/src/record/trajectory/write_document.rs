//! Writing the transcript of a trial as a document.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::Usage;
use evalsuite_schema::{Message, Object, Role, ToolCall, Value, rfc3339};

use crate::platform::redaction::Redactor;
use crate::record::trajectory::document::{
    self, Agent, Call, CallOutput, DocumentExtra, Observation, Source, Step, TrajectoryDocument, TrialResult,
};
use crate::record::trajectory::document::{FORMS, Form};
use crate::record::trajectory::{VERSION, extra};

/// The transcript of a trial, its agent and its result.
pub(crate) struct DocumentParts<'a> {
    /// The run and case: `RUN/CASE_KEY`.
    pub(crate) session: String,
    /// Name of the trial's directory.
    pub(crate) trial: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) agent_version: &'a str,
    pub(crate) model: Option<&'a str>,
    /// The tools the agent could call, in the form models get them.
    pub(crate) tools: &'a [Value],
    /// `None` if it was not reported and there is only an answer.
    pub(crate) transcript: Option<&'a [Message]>,
    pub(crate) answer: &'a str,
    /// Index of the first message of every turn of a conversation; empty without one.
    pub(crate) turns: &'a [usize],
    /// Index of the first turn that a simulated user wrote.
    pub(crate) first_simulated_turn: Option<usize>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) result: TrialResult<'a>,
}

/// The document. Secrets are hidden in texts that are escaped here.
pub(crate) fn document<'d>(parts: &DocumentParts<'d>, redactor: &Redactor) -> TrajectoryDocument<'d> {
    let mut steps = Steps { redactor, done: Vec::new(), calls: BTreeMap::new(), ids: BTreeSet::new(), count: 0 };
    match parts.transcript {
        Some(transcript) => {
            for (index, message) in transcript.iter().enumerate() {
                let before = steps.done.len();
                steps.message(message);
                if let Some(turn) = parts.turns.iter().filter(|start| **start <= index).count().checked_sub(1) {
                    for step in &mut steps.done[before..] {
                        step.extra.insert(extra::TURN.to_owned(), turn.into());
                    }
                    let is_simulated = parts.first_simulated_turn.is_some_and(|first| first <= turn);
                    if let Some(step) =
                        steps.done.get_mut(before).filter(|_| is_simulated && parts.turns[turn] == index)
                    {
                        step.extra.insert(extra::SIMULATED.to_owned(), true.into());
                    }
                }
            }
        }
        None => {
            steps.push(Source::Agent, parts.answer.into());
        }
    }
    if steps.done.is_empty() {
        // An empty transcript: readers require a step, and no model was called.
        let step = steps.push(Source::Agent, "".into());
        step.llm_call_count = Some(0);
        step.extra.insert(extra::CONTINUES.to_owned(), true.into());
    }
    TrajectoryDocument {
        schema_version: VERSION,
        session_id: parts.session.clone(),
        trajectory_id: format!("{}/{}", parts.session, parts.trial),
        agent: Agent {
            name: parts.agent.to_owned(),
            version: parts.agent_version.to_owned(),
            model_name: parts.model.map(str::to_owned),
            tool_definitions: parts.tools.to_vec(),
        },
        final_metrics: metrics("total_", parts.usage, parts.cost_usd, Some(steps.done.len())),
        steps: steps.done,
        extra: DocumentExtra {
            evalsuite: parts.result.verdict(),
            reward: parts.result.reward(),
            transcript_reported: parts.transcript.is_none().then_some(false),
        },
    }
}

/// Tokens and cost of a message, or those of all `steps` with names that begin with `prefix`.
fn metrics(prefix: &str, usage: Option<Usage>, cost_usd: Option<f64>, steps: Option<usize>) -> Object {
    let mut metrics = Object::new();
    let mut set = |key: &str, value| set(&mut metrics, key, value);
    set(&format!("{prefix}prompt_tokens"), usage.map(|usage| usage.input.saturating_add(usage.cached).into()));
    set(&format!("{prefix}completion_tokens"), usage.map(|usage| usage.output.into()));
    set(&format!("{prefix}cached_tokens"), usage.map(|usage| usage.cached.into()));
    set(&format!("{prefix}cost_usd"), cost_usd.map(Value::from));
    set("total_steps", steps.map(Value::from));
    let reasoning = usage.map(|usage| usage.reasoning).filter(|tokens| *tokens > 0);
    let more = reasoning.map(|tokens| Object::from_iter([("reasoning_tokens".to_owned(), Value::from(tokens))]));
    set("extra", more.map(Value::from));
    metrics
}

struct Steps<'r> {
    redactor: &'r Redactor,
    done: Vec<Step>,
    /// Step and written id of the latest call by its id.
    calls: BTreeMap<String, (usize, String)>,
    /// Written ids, each of one call.
    ids: BTreeSet<String>,
    /// Number of calls so far.
    count: usize,
}

impl Steps<'_> {
    fn push(&mut self, source: Source, message: Value) -> &mut Step {
        let last = self.done.len();
        self.done.push(Step { step_id: last + 1, source, message, ..Step::default() });
        &mut self.done[last]
    }

    fn message(&mut self, message: &Message) {
        match message.role {
            Role::Assistant => {
                speak(self.step(Source::Agent, message), message);
                self.calls(&message.tool_calls);
            }
            Role::System | Role::User => {
                let source = if message.role == Role::System { Source::System } else { Source::User };
                keep_foreign(&mut self.step(source, message).extra, message);
                self.continuation(&message.tool_calls);
            }
            Role::Tool => {
                self.answer(message);
                self.continuation(&message.tool_calls);
            }
        }
    }

    /// Adds a step with the fields that all steps have.
    fn step(&mut self, source: Source, message: &Message) -> &mut Step {
        let (text, form) = self.text(message);
        let step = self.push(source, text);
        step.timestamp = message.start_time.clone().filter(|time| rfc3339::parse(time).is_some());
        step.extra = form_extra(form);
        keep_common(&mut step.extra, message, step.timestamp.is_none());
        set(&mut step.extra, "tool_call_id", message.tool_call_id.as_deref().map(Value::from));
        step
    }

    /// The text of a step, and its form where a reader could not tell it.
    fn text(&self, message: &Message) -> (Value, Option<Form>) {
        let has_calls = message.role == Role::Assistant && !message.tool_calls.is_empty();
        match &message.content {
            None => ("".into(), (!has_calls).then_some(Form::Absent)),
            Some(content) => {
                let (value, form) = document::write_content(content, self.redactor);
                let looks_absent = has_calls && value.as_str() == Some("");
                (value, form.or(looks_absent.then_some(Form::Empty)))
            }
        }
    }

    /// Adds a step for the calls of a message whose role has no calls in ATIF.
    fn continuation(&mut self, calls: &[ToolCall]) {
        if !calls.is_empty() {
            self.push(Source::Agent, "".into()).extra.insert(extra::CONTINUES.to_owned(), true.into());
            self.calls(calls);
        }
    }

    /// Adds calls and their results to the last step.
    fn calls(&mut self, calls: &[ToolCall]) {
        let at = self.done.len() - 1;
        for call in calls {
            self.count += 1;
            let id = self.id(call.id.as_deref());
            if let Some(given) = &call.id {
                self.calls.insert(given.clone(), (at, id.clone()));
            }
            let result = call.output.as_ref().map(|output| {
                let (content, form) = output_text(output, self.redactor);
                CallOutput { source_call_id: Some(id.clone()), content: Some(content), extra: form_extra(form) }
            });
            let step = &mut self.done[at];
            step.observation.get_or_insert_default().results.extend(result);
            step.tool_calls.push(write_call(call, id));
        }
        let step = &mut self.done[at];
        step.observation = step.observation.take().filter(|observation| !observation.results.is_empty());
    }

    /// The given id if no other call has it, or else a new one.
    fn id(&mut self, given: Option<&str>) -> String {
        let mut id = given.filter(|id| !id.is_empty()).map_or_else(|| format!("call-{}", self.count), str::to_owned);
        let mut next = self.count;
        while !self.ids.insert(id.clone()) {
            id = format!("call-{next}");
            next += 1;
        }
        id
    }

    /// Adds the message of a tool as a result of the call it names, or else of the agent's last step.
    fn answer(&mut self, message: &Message) {
        let known = message.tool_call_id.as_ref().and_then(|id| self.calls.get(id)).cloned();
        let (step, id) = match known {
            Some((step, id)) => (Some(step), Some(id)),
            None => (self.done.iter().rposition(|step| step.source == Source::Agent), None),
        };
        let content = message.content.as_ref().map(|content| document::write_content(content, self.redactor));
        let (content, form) = content.unzip();
        let mut extra = form_extra(form.flatten());
        extra.insert(extra::MESSAGE.to_owned(), true.into());
        keep_common(&mut extra, message, true);
        keep_foreign(&mut extra, message);
        if let (None, Some(unknown)) = (&id, &message.tool_call_id) {
            extra.insert("tool_call_id".to_owned(), unknown.as_str().into());
        }
        let result = CallOutput { source_call_id: id, content, extra };
        let step = match step {
            Some(step) => &mut self.done[step],
            None => self.push(Source::System, "".into()),
        };
        step.observation.get_or_insert_with(Observation::default).results.push(result);
    }
}

/// Sets the fields that only an agent's step has. A step without a model call has neither metrics nor reasoning.
fn speak(step: &mut Step, message: &Message) {
    step.model_name.clone_from(&message.model);
    step.llm_call_count = message.llm_call_count;
    if message.llm_call_count == Some(0) {
        let mut silent = message.clone();
        (silent.model, silent.llm_call_count) = (None, None);
        keep_foreign(&mut step.extra, &silent);
    } else {
        step.reasoning_content.clone_from(&message.reasoning);
        step.metrics = metrics("", message.usage, message.cost_usd, None);
    }
}

fn set(object: &mut Object, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value);
    }
}

/// Adds to `extra` what has no field in any step.
fn keep_common(extra: &mut Object, message: &Message, with_start: bool) {
    let mut set = |key, value| set(extra, key, value);
    set("name", message.name.as_deref().map(Value::from));
    set("start_time", message.start_time.as_deref().filter(|_| with_start).map(Value::from));
    set("end_time", message.end_time.as_deref().map(Value::from));
    set("duration_ms", message.duration_ms.map(Value::from));
    set("metadata", message.metadata.clone());
}

/// Adds to `extra` what has a field only in an agent's step.
fn keep_foreign(extra: &mut Object, message: &Message) {
    let mut set = |key, value| set(extra, key, value);
    set("reasoning_content", message.reasoning.as_deref().map(Value::from));
    set("model_name", message.model.as_deref().map(Value::from));
    set("llm_call_count", message.llm_call_count.map(Value::from));
    let metrics = metrics("", message.usage, message.cost_usd, None);
    set("metrics", (!metrics.is_empty()).then(|| metrics.into()));
}

fn write_call(call: &ToolCall, id: String) -> Call {
    let (arguments, form) = match &call.input {
        None => (Object::new(), Some("absent")),
        Some(Value::Object(arguments)) => (arguments.clone(), None),
        Some(other) => (Object::from_iter([("value".to_owned(), other.clone())]), Some("value")),
    };
    let mut extra = Object::new();
    let mut set = |key, value| set(&mut extra, key, value);
    set(extra::ARGUMENTS, form.map(Value::from));
    set("given_id", call.id.as_deref().filter(|given| *given != id).map(Value::from));
    set("has_id", call.id.is_none().then(|| false.into()));
    set("start_time", call.start_time.as_deref().map(Value::from));
    set("end_time", call.end_time.as_deref().map(Value::from));
    set("duration_ms", call.duration_ms.map(Value::from));
    set("is_error", call.is_error.then(|| true.into()));
    Call { tool_call_id: id, function_name: call.tool.clone(), arguments, extra }
}

fn output_text(output: &Value, redactor: &Redactor) -> (Value, Option<Form>) {
    match output {
        Value::String(text) => (Value::String(text.clone()), None),
        other => (Value::String(document::as_text(other, redactor)), Some(Form::Json)),
    }
}

fn form_extra(form: Option<Form>) -> Object {
    let name = FORMS.iter().find(|(known, _)| Some(*known) == form).map(|(_, name)| *name);
    name.map(|name| (extra::CONTENT.to_owned(), Value::from(name))).into_iter().collect()
}
