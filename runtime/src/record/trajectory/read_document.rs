//! Reading a document: messages, totals and model.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::from_slice_with_unique_keys;
use evalsuite_schema::{Message, Role, Value};

use crate::model::messages::answer;
use crate::model::outcome::Outcome;
use crate::record::trajectory::document_node::Node;
use crate::record::trajectory::read_steps::StepReader;
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
    let StepReader { mut messages, usage: mut used, cost: mut cost_usd, .. } = steps;
    if !is_own {
        count_calls(&mut messages);
    }
    // The totals of the document, or else the sums of its steps.
    if let Some(totals) = root.get("final_metrics") {
        totals.object()?;
        let names = ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"];
        used = usage(&totals, names)?.or(used);
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

/// If some steps state their number of model calls, a step that does not is one call.
fn count_calls(messages: &mut [Message]) {
    if messages.iter().any(|message| message.llm_call_count.is_some()) {
        for message in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
            message.llm_call_count.get_or_insert(1);
        }
    }
}

/// Tokens under these names: prompt, completion, and prompt tokens from a cache.
pub(crate) fn usage(
    node: &Node<'_>,
    [prompt, completion, cached]: [&'static str; 3],
) -> Result<Option<Usage>, TrajectoryError> {
    let count = |name| node.get(name).map(|count| count.count()).transpose();
    let (prompt_count, completion_count, cached_count) = (count(prompt)?, count(completion)?, count(cached)?);
    if prompt_count.is_none() && completion_count.is_none() {
        return Ok(None);
    }
    let cached_count = cached_count.unwrap_or(0);
    let Some(input) = prompt_count.unwrap_or(cached_count).checked_sub(cached_count) else {
        return Err(TrajectoryError::new(format!(
            "`{cached}` of {} is {cached_count}, more than its `{prompt}`, which includes it",
            node.shown_path()
        )));
    };
    let reasoning = node.value.get("extra").and_then(|extra| extra.get("reasoning_tokens")).and_then(Value::as_u64);
    let usage = Usage::new(input, completion_count.unwrap_or(0)).with_cached(cached_count);
    Ok(Some(usage.with_reasoning(reasoning.unwrap_or(0))))
}
