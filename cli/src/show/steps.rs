//! The steps of an ATIF document as text.

use evalsuite_report::content_text;
use evalsuite_schema::Value;

use super::{add_facts, add_indented};

/// Adds all steps, or the one with this number, counted from 1.
pub(super) fn add(text: &mut String, document: &Value, only: Option<usize>) -> Result<(), String> {
    let steps = document["steps"].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(step) = only.filter(|step| !(1..=steps.len()).contains(step)) {
        return Err(format!("there is no step {step}: the transcript has {}", steps.len()));
    }
    for (index, step) in steps.iter().enumerate() {
        if only.is_none_or(|only| only == index + 1) {
            add_step(text, index + 1, step);
        }
    }
    Ok(())
}

fn add_step(text: &mut String, number: usize, step: &Value) {
    let source = step["source"].as_str().unwrap_or("unknown");
    let simulated = if step["extra"]["simulated"] == true { " (simulated)" } else { "" };
    text.push_str(&format!("\nstep {number}  {source}{simulated}\n"));
    if let Some(thoughts) = step["reasoning_content"].as_str() {
        add_indented(text, "  | ", thoughts);
    }
    add_indented(text, "  ", &content_text(&step["message"]));
    let results = step["observation"]["results"].as_array().map_or(&[][..], Vec::as_slice);
    for call in step["tool_calls"].as_array().into_iter().flatten() {
        let name = call["function_name"].as_str().unwrap_or("unknown");
        text.push_str(&format!("  → {name} {}\n", call["arguments"]));
        let id = &call["tool_call_id"];
        for result in results.iter().filter(|result| result["source_call_id"] == *id) {
            add_indented(text, "  ← ", &content_text(&result["content"]));
        }
    }
    // Of calls that are not in this step.
    for result in results.iter().filter(|result| result["source_call_id"].is_null()) {
        add_indented(text, "  ← ", &content_text(&result["content"]));
    }
}

/// Adds tokens and cost of the whole transcript, as far as the document has them.
pub(super) fn add_metrics(text: &mut String, document: &Value) {
    let metrics = &document["final_metrics"];
    let number = |key: &str| metrics[key].as_f64();
    let tokens = [("total_prompt_tokens", "input"), ("total_completion_tokens", "output")];
    let tokens = tokens.iter().filter_map(|(key, what)| Some(format!("{} {what}", number(key)?)));
    let tokens: Vec<String> = tokens.collect();
    let tokens = (!tokens.is_empty()).then(|| tokens.join(", "));
    let cost = number("total_cost_usd").map(|usd| format!("{usd:.4} USD"));
    add_facts(text, &[("tokens", tokens), ("cost", cost)]);
}

/// Whether a step of the agent has this text.
pub(super) fn says(document: &Value, answer: &str) -> bool {
    let steps = document["steps"].as_array().into_iter().flatten();
    let mut of_agent = steps.filter(|step| step["source"] == "agent");
    of_agent.any(|step| content_text(&step["message"]).trim() == answer.trim())
}
