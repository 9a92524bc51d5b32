//! Rules about lists of which the reference keeps fewer elements: graders, criteria, parts.

use evalsuite_schema::json::{Value, json};

use super::{RuleContext, excuse, source_documents, text};
use crate::complaint;
use crate::difference::{Difference, between};

/// Our elements that the reference lacks, if it has all others in order. `None` if there are no such elements.
fn surplus(difference: &Difference) -> Option<Vec<&Value>> {
    let Some(Value::Array(ours)) = &difference.ours else { return None };
    let none = Vec::new();
    let expected = match &difference.expected {
        None => &none,
        Some(Value::Array(expected)) => expected,
        Some(_) => return None,
    };
    let mut expected = expected.iter().peekable();
    let mut found = Vec::new();
    for element in ours {
        if expected.next_if(|next| between(next, element).is_empty()).is_none() {
            found.push(element);
        }
    }
    (expected.next().is_none() && !found.is_empty()).then_some(found)
}

/// The rule that explains why we kept a grader or a criterion that the reference dropped with a complaint.
pub(super) fn dropped(difference: &Difference, cx: RuleContext<'_>) -> Option<&'static str> {
    let last = difference.path.rsplit('.').next().unwrap_or_default();
    if !matches!(last, "graders" | "assertions" | "rubrics" | "fields") {
        return None;
    }
    let surplus = surplus(difference)?;
    let named = |text: &str| {
        if last == "assertions" {
            return text.contains("composite");
        }
        let names = surplus.iter().flat_map(|element| [&element["type"], &element["name"], &element["id"]]);
        names.filter_map(Value::as_str).any(|name| text.contains(name)) || text.contains("ubric")
    };
    let complaints = complaint::all(cx.record);
    complaints.iter().filter(|complaint| named(&complaint.text)).find_map(|complaint| excuse(complaint, cx))
}

/// Deprecated spellings of `assertions` that we read and the reference ignores.
pub(super) fn old_spellings(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let is_turn = difference.path.starts_with("turns.");
    if !difference.path.ends_with("graders") {
        return false;
    }
    let case = cx.written_case().unwrap_or_default();
    let suite = cx.suite_file().unwrap_or_default();
    let turns: Vec<&Value> = case["turns"].as_array().into_iter().flatten().collect();
    let lists = if is_turn {
        turns.iter().flat_map(|turn| [&turn["assert"], &turn["evaluators"]]).collect()
    } else {
        vec![&suite["evaluators"], &case["execution"]["assertions"], &case["execution"]["assert"]]
    };
    let entries: Vec<&Value> = lists.into_iter().filter_map(Value::as_array).flatten().collect();
    let kind = |entry: &Value| match entry["type"].as_str().map(|name| name.replace('_', "-")) {
        None if is_turn && entry.is_string() => "strings".to_owned(),
        None => "llm-grader".to_owned(),
        Some(name) if name == "rubrics" || name == "rubric" => "llm-grader".to_owned(),
        Some(name) => name,
    };
    let known: Vec<String> = entries.into_iter().map(kind).collect();
    let fits = |element: &&Value| {
        let name = element.as_str().or(element["type"].as_str()).unwrap_or_default();
        known.iter().any(|known| known == name || name == "rubrics" && known == "llm-grader")
    };
    surplus(difference).is_some_and(|surplus| surplus.iter().all(fits))
}

/// A list other than of messages is kept as written; in the reference, strings become parts, files are read and other
/// scalars are dropped.
pub(super) fn reference_list(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let Some(Value::Array(written)) = cx.written_case().map(|case| case["expected_output"].clone()) else {
        return false;
    };
    if written.first().is_none_or(|first| first.get("role").is_some()) {
        return false;
    }
    let is_file = |item: &&Value| item["type"] == "file" || item["type"] == "image";
    let converted: Vec<Value> = written
        .iter()
        .filter_map(|item| match item {
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => Some(json!({ "type": "text", "value": text })),
            Value::Object(_) => Some(item.clone()),
            _ => None,
        })
        .collect();
    let pretty = |list: &[Value]| serde_json::to_string_pretty(list).ok();
    match difference.path.as_str() {
        "reference_answer" => {
            (text(&difference.expected) == pretty(&converted).as_deref() || written.iter().any(|item| is_file(&item)))
                && text(&difference.ours) == pretty(&written).as_deref()
        }
        "expected_output.0.content" => {
            let kept = |list: &[Value]| list.iter().filter(|item| !is_file(item)).cloned().collect::<Vec<_>>();
            let expected = difference.expected.as_ref().and_then(Value::as_array).map(|list| kept(list));
            expected == Some(kept(&converted)) && difference.ours == Some(Value::Array(written))
        }
        path => {
            let rest = path.strip_prefix("expected_output.0.content.").unwrap_or_default();
            let (index, inside) = rest.split_once('.').unwrap_or((rest, ""));
            index.parse::<usize>().is_ok_and(|index| {
                let there = written.get(index);
                let is_read = there.is_some_and(|item| is_file(&item));
                is_read
                    || inside.is_empty()
                        && difference.ours.as_ref() == there
                        && difference.expected.as_ref() == converted.get(index)
            })
        }
    }
}

/// An empty string among the parts of a message is a part; the reference drops it.
pub(super) fn empty_parts(difference: &Difference) -> bool {
    let without = |list: &Value| -> Option<Value> {
        let is_empty = |part: &&Value| **part == json!({ "type": "text", "value": "" });
        Some(list.as_array()?.iter().filter(|part| !is_empty(part)).cloned().collect())
    };
    match (difference.path.as_str(), &difference.expected, &difference.ours) {
        ("reference_answer", Some(Value::String(expected)), Some(Value::String(ours))) => {
            let parse = |text: &str| evalsuite_schema::json::from_str::<Value>(text).ok();
            parse(ours).and_then(|ours| without(&ours)) == parse(expected) && ours != expected
        }
        (path, Some(expected), Some(ours)) if path.ends_with(".content") => {
            without(ours).is_some_and(|kept| between(expected, &kept).is_empty())
        }
        _ => false,
    }
}

/// `timeout_seconds` of a command or a judge is its time limit; in the reference it is data like any other setting.
pub(super) fn limits(difference: &Difference) -> bool {
    let Some(rest) = difference.path.strip_prefix("graders.") else { return false };
    let (expected, ours) = (&difference.expected, &difference.ours);
    if rest.ends_with(".config.timeout_seconds") {
        return ours.is_none() && expected.is_some();
    }
    let Some(Value::Object(mut data)) = expected.clone() else { return false };
    rest.ends_with(".config") && data.remove("timeout_seconds").is_some() && data.is_empty() && ours.is_none()
}

/// `timeoutMs` of a workspace hook is its time limit, as in a target's hook.
pub(super) fn hook_limits(difference: &Difference, cx: RuleContext<'_>) -> bool {
    difference.path.starts_with("workspace.hooks.")
        && difference.path.ends_with(".timeout_ms")
        && difference.expected.is_none()
        && source_documents::any_mapping(cx.record, &|hook| {
            hook.get("timeoutMs").and_then(Value::as_f64) == difference.ours.as_ref().and_then(Value::as_f64)
        })
}
