//! Assertions about tool calls.

use evalsuite_loader::document::Value;
use evalsuite_schema::json::{Object, Value as Json, json};

use super::{CaseContext, Check, Grader, LOWEST_MARK, template};
use crate::yaml_writer::without_nulls;

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let value = check.value.as_ref().ok_or("it has no value")?;
    context.different_if(check.kind != "skill-used", check, "names of tools are case-sensitive");
    match check.kind {
        "trajectory:tool-used" => used(check, value, context),
        "trajectory:tool-sequence" => sequence(check, value),
        "trajectory:tool-args-match" => arguments(check, value, context),
        "trajectory:step-count" => count(check, value, context),
        "tool-call-f1" => names_as_a_set(check, value, context),
        _ => skills(check, value),
    }
}

fn pattern(value: &Value) -> Option<&str> {
    value.as_text().or_else(|| value.get("pattern").or_else(|| value.get("name")).and_then(Value::as_text))
}

fn texts(value: &Value) -> Option<Vec<String>> {
    match value.items() {
        Some(items) => items.iter().map(|item| pattern(item).map(str::to_owned)).collect(),
        None => value.as_text().map(|text| vec![text.to_owned()]),
    }
}

fn whole(value: Option<&Value>) -> Option<u64> {
    value.and_then(|value| value.to_json().as_u64())
}

/// How often each tool is called at least and at most; all of them have to hold.
fn counts(bounds: impl IntoIterator<Item = (String, Option<u64>, Option<u64>)>) -> Json {
    let (mut minimums, mut maximums) = (Object::new(), Object::new());
    for (tool, least, most) in bounds {
        minimums.extend(least.map(|least| (tool.clone(), json!(least))));
        maximums.extend(most.map(|most| (tool, json!(most))));
    }
    let [minimums, maximums] = [minimums, maximums].map(|bounds| (!bounds.is_empty()).then_some(bounds));
    without_nulls(json!({"type": "tool-trajectory", "mode": "any_order", "minimums": minimums, "maximums": maximums}))
}

/// A grader whose score is a share; it passes with 1 only, or negated with less.
fn share(settings: Json, is_negated: bool) -> Grader {
    let grader = Grader::new(settings).negated(is_negated);
    grader.graded(if is_negated { LOWEST_MARK } else { 1.0 })
}

fn used(check: &Check<'_>, value: &Value, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if let Some(tools) = texts(value) {
        if tools.is_empty() {
            return Err("it names no tool".to_owned());
        }
        let is_share = tools.len() > 1 && context.scores_decide;
        context.different_if(is_share, check, "the score is the share of the tools");
        // None of several tools is not the opposite of all of them.
        let bounds =
            tools.into_iter().map(|tool| if check.is_negated { (tool, None, Some(0)) } else { (tool, Some(1), None) });
        return Ok(share(counts(bounds), false));
    }
    let tool = pattern(value).ok_or("it names no tool")?;
    let (least, most) = (whole(value.get("min")), whole(value.get("max")));
    Ok(share(counts([(tool.to_owned(), Some(least.unwrap_or(1)), most)]), check.is_negated))
}

fn sequence(check: &Check<'_>, value: &Value) -> Result<Grader, String> {
    let steps = value.items().or_else(|| value.get("steps").and_then(Value::items)).ok_or("it has no steps")?;
    let mode = value.get("mode").and_then(Value::as_text).unwrap_or("in_order");
    if !matches!(mode, "in_order" | "exact") || steps.is_empty() {
        return Err("it has no steps, or a mode that is not known".to_owned());
    }
    let mut expected = Vec::new();
    for step in steps {
        if step.get("type").and_then(Value::as_text).is_some_and(|kind| kind != "tool") {
            return Err("a step is not a tool call".to_owned());
        }
        expected.push(json!({"tool": pattern(step).ok_or("a step names no tool")?}));
    }
    Ok(share(json!({"type": "tool-trajectory", "mode": mode, "expected": expected}), check.is_negated))
}

fn arguments(check: &Check<'_>, value: &Value, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let tool = pattern(value).ok_or("it names no tool")?;
    let args = value.get("args").or_else(|| value.get("arguments")).ok_or("it has no arguments")?.to_json();
    let Json::Object(entries) = &args else { return Err("its arguments are not an object".to_owned()) };
    let is_exact = value.get("mode").and_then(Value::as_text) == Some("exact");
    let is_nested = !is_exact && entries.values().any(|value| value.is_object() || value.is_array());
    context.different_if(is_nested, check, "arguments inside arguments have to be equal");
    let has_defaults = value.get("defaults").is_some();
    context.different_if(has_defaults, check, "an argument with its default value counts as given");
    let filled = entries.iter().map(|(key, value)| Ok((key.clone(), filled(value, context)?)));
    let args: Object = filled.collect::<Result<_, String>>()?;
    let call = without_nulls(json!({
        "tool": tool,
        "args": args,
        "args_match": if is_exact { "exact" } else { "superset" },
        "ignore_args": value.get("ignore").and_then(texts),
    }));
    Ok(share(json!({"type": "tool-trajectory", "mode": "superset", "expected": [call]}), check.is_negated))
}

fn filled(value: &Json, context: &CaseContext<'_>) -> Result<Json, String> {
    match value {
        Json::String(text) => Ok(json!(template::render(text, context.variables)?.text)),
        other => Ok(other.clone()),
    }
}

fn count(check: &Check<'_>, value: &Value, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let kinds = value.get("type").and_then(texts).unwrap_or_default();
    if kinds.iter().any(|kind| kind != "tool") {
        return Err(format!("steps of type {} are not recorded, tool calls are", kinds.join(" and ")));
    }
    context.different_if(kinds.is_empty(), check, "tool calls are counted, where every step is");
    let (least, most) = (whole(value.get("min")), whole(value.get("max")));
    if least.is_none() && most.is_none() {
        return Err("it has neither `min` nor `max`".to_owned());
    }
    let settings = match pattern(value) {
        Some(tool) => counts([(tool.to_owned(), least, most)]),
        None => without_nulls(json!({"type": "execution-metrics", "min_tool_calls": least, "max_tool_calls": most})),
    };
    Ok(share(settings, check.is_negated))
}

fn names_as_a_set(check: &Check<'_>, value: &Value, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if check.threshold.is_some_and(|threshold| threshold < 1.0) || context.scores_decide || check.is_negated {
        return Err("there is no F1 of tool calls, only all or nothing".to_owned());
    }
    context.different(check, "calls are those of the transcript, not those in the text of the answer");
    let tools = match value.items() {
        Some(_) => texts(value).ok_or("it names no tool")?,
        None => crate::promptfoo::values::comma_list(value.as_text().unwrap_or_default()).0,
    };
    if tools.is_empty() {
        return Err("it names no tool".to_owned());
    }
    let allowed: Vec<Json> = tools.iter().map(|tool| json!({"tool": tool})).collect();
    let mut needed = counts(tools.into_iter().map(|tool| (tool, Some(1), None)));
    needed["name"] = json!("needed");
    let allowed = json!({"type": "tool-trajectory", "name": "allowed", "mode": "subset", "expected": allowed});
    Ok(Grader::composite(json!([needed, allowed])).graded(1.0))
}

fn skills(check: &Check<'_>, value: &Value) -> Result<Grader, String> {
    if value.get("min").is_some() || value.get("max").is_some() || value.get("pattern").is_some() {
        return Err("uses of a skill are not counted, and names cannot be patterns".to_owned());
    }
    let names = texts(value).or_else(|| pattern(value).map(|name| vec![name.to_owned()])).ok_or("it names no skill")?;
    let skill = |name: &String| json!({"type": "skill-trigger", "skill": name, "should_trigger": !check.is_negated});
    match &names[..] {
        [] => Err("it names no skill".to_owned()),
        [name] => Ok(Grader::new(skill(name))),
        _ => {
            let named = names.iter().map(|name| {
                let mut entry = skill(name);
                entry["name"] = json!(name);
                entry
            });
            Ok(Grader::composite(named.collect::<Json>()).graded(1.0))
        }
    }
}
