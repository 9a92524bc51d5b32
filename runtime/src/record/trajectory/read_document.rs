//! Reading a document: totals, model, and its steps as messages.

use std::collections::BTreeMap;

use evalsuite_records::record::Usage;
use evalsuite_schema::json::from_slice_with_unique_keys;
use evalsuite_schema::{Content, Message, Object, Role, ToolCall, Value};

use crate::model::evidence::is_partial;
use crate::model::messages::answer;
use crate::model::outcome::Outcome;
use crate::record::trajectory::document::{self, FORMS, Form, Node};
use crate::record::trajectory::{TrajectoryError, VERSION, extra};

/// Reads a document of any version up to the one that is written. The outcome has messages, unless the document states that it contains only
/// the answer.
pub(crate) fn read(json: &[u8]) -> Result<Outcome, TrajectoryError> {
    let value: Value = from_slice_with_unique_keys(json).map_err(TrajectoryError::json)?;
    let root = Node::root(&value);
    check_version(&root)?;
    let more = root.get("extra");
    let is_own = more.is_some_and(|more| more.value.get(extra::EVALSUITE).is_some());
    let reported = more.and_then(|more| more.value.get(extra::TRANSCRIPT_REPORTED)) != Some(&Value::Bool(false));

    let mut steps = StepReader::new(is_own);
    let list = root.required("steps")?;
    for (index, step) in list.items()?.enumerate() {
        steps.step(&step, index + 1)?;
    }
    let StepReader { messages, usage, cost, .. } = steps;
    // The totals of the document, or else the sums of its steps. Some of them have no sum.
    let mut used = usage.filter(|_| !is_partial(&messages, |message| message.usage.is_some()));
    let mut cost_usd = cost.filter(|_| !is_partial(&messages, |message| message.cost_usd.is_some()));
    if let Some(totals) = root.get("final_metrics") {
        totals.object()?;
        let names = ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"];
        used = self::usage(&totals, names, used)?.or(used);
        cost_usd = totals.get("total_cost_usd").map(|cost| cost.amount()).transpose()?.or(cost_usd);
    }
    Ok(Outcome {
        model: model(&root, &messages)?,
        text: (!reported).then(|| answer(&messages)),
        messages: reported.then_some(messages),
        usage: used,
        cost_usd,
        ..Outcome::default()
    })
}

fn check_version(root: &Node<'_>) -> Result<(), TrajectoryError> {
    let version = root.required("schema_version")?;
    let newest = VERSION.rsplit_once('.').and_then(|(_, minor)| minor.parse::<u32>().ok());
    let minor = version.text()?.strip_prefix("ATIF-v1.").and_then(|minor| minor.parse::<u32>().ok());
    match minor {
        Some(minor) if Some(minor) <= newest => Ok(()),
        _ => Err(version.unexpected(&format!("a version from `ATIF-v1.0` to `{VERSION}`"))),
    }
}

fn model(root: &Node<'_>, messages: &[Message]) -> Result<Option<String>, TrajectoryError> {
    let agent = root.required("agent")?;
    agent.object()?;
    match agent.get("model_name") {
        Some(name) => Ok(Some(name.text()?.to_owned())),
        None => Ok(messages.iter().rev().find_map(|message| message.model.clone())),
    }
}

/// Tokens under these names: prompt, completion, and prompt tokens from a cache. A name that is missing has the number of `steps`; without
/// one, the tokens are not known.
pub(crate) fn usage(
    node: &Node<'_>,
    [prompt, completion, cached]: [&'static str; 3],
    steps: Option<Usage>,
) -> Result<Option<Usage>, TrajectoryError> {
    let count = |name| node.get(name).map(|count| count.count()).transpose();
    let (prompt_count, completion_count, cached_count) = (count(prompt)?, count(completion)?, count(cached)?);
    let of_steps = steps.filter(|_| prompt_count.is_none());
    let cached_count = cached_count.or(of_steps.map(|steps| steps.cached)).unwrap_or(0);
    let prompt_count = prompt_count.or(of_steps.map(|steps| steps.input.saturating_add(steps.cached)));
    let completion_count = completion_count.or(steps.map(|steps| steps.output));
    let input = match prompt_count.map(|prompt_count| prompt_count.checked_sub(cached_count)) {
        Some(None) => {
            return Err(TrajectoryError::new(format!(
                "`{cached}` of {} is {cached_count}, more than its `{prompt}`, which includes it",
                node.shown_path()
            )));
        }
        input => input.flatten(),
    };
    let (Some(input), Some(output)) = (input, completion_count) else { return Ok(None) };
    let reasoning = node.value.get("extra").and_then(|extra| extra.get("reasoning_tokens")).and_then(Value::as_u64);
    let usage = Usage::new(input, output).with_cached(cached_count);
    Ok(Some(usage.with_reasoning(reasoning.unwrap_or(0))))
}

/// Keys of `extra` that are fields of a message. Other keys are metadata.
const KNOWN: [&str; 15] = [
    extra::CONTENT,
    extra::CONTINUES,
    extra::MESSAGE,
    extra::SIMULATED,
    extra::TURN,
    "name",
    "start_time",
    "end_time",
    "duration_ms",
    "metadata",
    "tool_call_id",
    "reasoning_content",
    "model_name",
    "llm_call_count",
    "metrics",
];

/// The messages and totals of the steps read so far.
pub(crate) struct StepReader {
    /// Whether evalsuite wrote the document, so that `extra` has the meaning it gives it.
    is_own: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<f64>,
    /// Index of the message and position of every call of the current step.
    calls: BTreeMap<String, (usize, usize)>,
}

impl StepReader {
    pub(crate) fn new(is_own: bool) -> Self {
        Self { is_own, messages: Vec::new(), usage: None, cost: None, calls: BTreeMap::new() }
    }

    pub(crate) fn step(&mut self, node: &Node<'_>, number: usize) -> Result<(), TrajectoryError> {
        let id = node.required("step_id")?;
        if usize::try_from(id.count()?) != Ok(number) {
            return Err(id.unexpected(&format!("{number}: steps are numbered from 1")));
        }
        let source = node.required("source")?;
        let role = match source.text()? {
            "system" => Role::System,
            "user" => Role::User,
            "agent" => Role::Assistant,
            _ => return Err(source.unexpected("`system`, `user` or `agent`")),
        };
        if role != Role::Assistant {
            check_agent_keys(node)?;
        }
        let (calls, ids) = read_calls(node)?;
        let mut message = self.message(node, role, calls)?;
        if node.value.get("is_copied_context") == Some(&Value::Bool(true)) {
            // It is from another trajectory, where its call of a model is counted.
            (message.usage, message.cost_usd) = (None, None);
            message.llm_call_count = (role == Role::Assistant).then_some(0);
        }
        self.count(&message);
        self.calls.clear();
        let observed = node.get("observation");
        if self.flag(node, extra::CONTINUES) {
            // An empty transcript has a step that continues no message.
            if let Some(before) = self.messages.last_mut() {
                let first = before.tool_calls.len();
                before.tool_calls.extend(message.tool_calls);
                self.register_calls(ids, first);
            }
        } else if !(observed.is_some() && is_only_observation(&message, node)) {
            self.messages.push(message);
            self.register_calls(ids, 0);
        }
        if let Some(observed) = observed {
            for result in observed.required("results")?.items()? {
                self.result(&result)?;
            }
        }
        Ok(())
    }

    /// Registers the calls of the last message from a position on. Of several calls with an id, the first counts.
    fn register_calls(&mut self, ids: Vec<String>, first: usize) {
        let message = self.messages.len() - 1;
        for (index, id) in ids.into_iter().enumerate() {
            self.calls.entry(id).or_insert((message, first + index));
        }
    }

    fn count(&mut self, message: &Message) {
        if let Some(usage) = message.usage {
            *self.usage.get_or_insert_default() += usage;
        }
        if let Some(cost) = message.cost_usd {
            *self.cost.get_or_insert(0.0) += cost;
        }
    }

    fn message(&self, node: &Node<'_>, role: Role, calls: Vec<ToolCall>) -> Result<Message, TrajectoryError> {
        let mut message = Message::empty(role);
        message.tool_calls = calls;
        let form = form(node);
        let content = document::read_content(&node.required("message")?, form)?;
        let is_absent = match form {
            Some(Form::Absent) => true,
            Some(_) => false,
            None => content == Content::Text(String::new()) && !message.tool_calls.is_empty(),
        };
        message.content = (!is_absent).then_some(content);
        message.start_time = text_of(node, "timestamp")?;
        message.reasoning = text_of(node, "reasoning_content")?;
        message.model = text_of(node, "model_name")?;
        message.llm_call_count = node.get("llm_call_count").map(|count| count.count()).transpose()?;
        if let Some(metrics) = node.get("metrics") {
            self.metrics(&metrics, &mut message)?;
        }
        self.fill_from_extra(&mut message, node)?;
        Ok(message)
    }

    fn metrics(&self, node: &Node<'_>, message: &mut Message) -> Result<(), TrajectoryError> {
        node.object()?;
        message.usage = usage(node, ["prompt_tokens", "completion_tokens", "cached_tokens"], None)?;
        message.cost_usd = node.get("cost_usd").map(|cost| cost.amount()).transpose()?;
        Ok(())
    }

    /// Takes fields of the message from `extra` where it does not have them.
    fn fill_from_extra(&self, message: &mut Message, node: &Node<'_>) -> Result<(), TrajectoryError> {
        let Some(node) = node.get("extra") else { return Ok(()) };
        let extra = node.object()?;
        message.name = string(extra, "name");
        message.start_time = message.start_time.take().or_else(|| string(extra, "start_time"));
        message.end_time = string(extra, "end_time");
        message.duration_ms = number(extra, "duration_ms");
        message.tool_call_id = string(extra, "tool_call_id");
        message.metadata = match extra.get("metadata") {
            Some(metadata) => Some(metadata.clone()),
            None => unknown(extra),
        };
        if self.is_own {
            message.reasoning = message.reasoning.take().or_else(|| string(extra, "reasoning_content"));
            message.model = message.model.take().or_else(|| string(extra, "model_name"));
            message.llm_call_count =
                message.llm_call_count.or_else(|| extra.get("llm_call_count").and_then(Value::as_u64));
            if let Some(metrics) = node.get("metrics") {
                self.metrics(&metrics, message)?;
            }
        }
        Ok(())
    }

    fn flag(&self, node: &Node<'_>, key: &str) -> bool {
        self.is_own && node.value.get("extra").and_then(|extra| extra.get(key)) == Some(&Value::Bool(true))
    }

    /// Adds a result to its call, or else as a message of a tool.
    fn result(&mut self, node: &Node<'_>) -> Result<(), TrajectoryError> {
        node.object()?;
        let mut message = Message::empty(Role::Tool);
        message.content =
            node.get("content").map(|content| document::read_content(&content, form(node))).transpose()?;
        self.fill_from_extra(&mut message, node)?;
        if let Some(id) = node.get("source_call_id") {
            let written = id.text()?;
            let Some((at, index)) = self.calls.get(written).copied() else {
                if self.calls.is_empty() {
                    message.tool_call_id = Some(written.to_owned());
                    self.messages.push(message);
                    return Ok(());
                }
                return Err(id.unexpected("the `tool_call_id` of a call of the same step"));
            };
            let by_message = self.flag(node, extra::MESSAGE);
            let call = &mut self.messages[at].tool_calls[index];
            let is_error = node.value.get("extra").and_then(|extra| extra.get("is_error"));
            call.is_error |= is_error == Some(&Value::Bool(true));
            if call.output.is_none() && !by_message {
                call.output = message.content.map(|content| output(content, node));
                return Ok(());
            }
            message.tool_call_id.clone_from(&call.id);
        }
        self.messages.push(message);
        Ok(())
    }
}

/// The output of a call: data, text, or the parts unchanged.
fn output(content: Content, node: &Node<'_>) -> Value {
    match content {
        Content::Text(text) => Value::String(text),
        Content::Data(data) => data,
        Content::Parts(_) => node.value.get("content").cloned().unwrap_or_default(),
    }
}

/// Whether a step of the system or user is empty except for an observation.
fn is_only_observation(message: &Message, node: &Node<'_>) -> bool {
    message.role != Role::Assistant && form(node).is_none() && message.content == Some(Content::Text(String::new()))
}

/// Checks that a step that is not the agent's has no keys of an agent's step.
fn check_agent_keys(node: &Node<'_>) -> Result<(), TrajectoryError> {
    let keys = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];
    match keys.into_iter().find(|key| node.get(key).is_some()) {
        Some(key) => {
            Err(TrajectoryError::new(format!("{} has `{key}`, which only an agent's step has", node.shown_path())))
        }
        None => Ok(()),
    }
}

/// The calls of a step, and their ids as they are written.
fn read_calls(node: &Node<'_>) -> Result<(Vec<ToolCall>, Vec<String>), TrajectoryError> {
    let (mut calls, mut ids) = (Vec::new(), Vec::new());
    let Some(list) = node.get("tool_calls") else { return Ok((calls, ids)) };
    for item in list.items()? {
        let mut call = ToolCall::new(item.required("function_name")?.text()?);
        let id = item.required("tool_call_id")?.text()?;
        let arguments = item.required("arguments")?;
        arguments.object()?;
        let no_extra = Object::new();
        let extra = item.get("extra").map(|extra| extra.object()).transpose()?.unwrap_or(&no_extra);
        call.input = match extra.get(extra::ARGUMENTS).and_then(Value::as_str) {
            Some("absent") => None,
            Some("value") => Some(arguments.value.get("value").cloned().unwrap_or_default()),
            _ => Some(arguments.value.clone()),
        };
        call.id = match extra.get("has_id") {
            Some(Value::Bool(false)) => None,
            _ => Some(string(extra, "given_id").unwrap_or_else(|| id.to_owned())),
        };
        call.start_time = string(extra, "start_time");
        call.end_time = string(extra, "end_time");
        call.duration_ms = number(extra, "duration_ms");
        call.is_error = extra.get("is_error") == Some(&Value::Bool(true));
        calls.push(call);
        ids.push(id.to_owned());
    }
    Ok((calls, ids))
}

fn text_of(node: &Node<'_>, key: &'static str) -> Result<Option<String>, TrajectoryError> {
    node.get(key).map(|text| text.text().map(str::to_owned)).transpose()
}

fn form(node: &Node<'_>) -> Option<Form> {
    let name = node.value.get("extra")?.get(extra::CONTENT)?.as_str()?;
    FORMS.into_iter().find(|(_, known)| *known == name).map(|(form, _)| form)
}

fn string(object: &Object, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn number(object: &Object, key: &str) -> Option<f64> {
    object.get(key).and_then(Value::as_f64)
}

fn unknown(extra: &Object) -> Option<Value> {
    let rest: Object = extra
        .iter()
        .filter(|(key, _)| !KNOWN.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!rest.is_empty()).then_some(Value::Object(rest))
}
