//! Assertions that a model judges.

use evalsuite_loader::document::Value;
use evalsuite_schema::json::json;

use super::{CaseContext, Check, Grader};

/// What promptfoo's `g-eval` passes from on.
const G_EVAL: f64 = 0.7;

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    context.different(check, "your judge decides, with the prompt of evalsuite");
    let text = text(check);
    let text = text.trim();
    match check.kind {
        "llm-rubric" | "agent-rubric" => {
            if check.kind == "agent-rubric" {
                context.different(check, "the judge does not act, it reads the answer, tool calls and file changes");
            }
            let text = if text.is_empty() { "The answer is good" } else { text };
            match check.threshold {
                Some(threshold) if threshold > 0.0 => score(check, text, threshold, context),
                _ => Ok(rubric(check, text)),
            }
        }
        "g-eval" => score(check, text, check.threshold.unwrap_or(G_EVAL), context),
        "answer-relevance" => {
            context.different(check, "the judge rates relevance, where embeddings of questions are compared");
            score(check, "The answer is relevant to the question", check.threshold.unwrap_or(0.0), context)
        }
        _ if text.is_empty() => Err("it has no value".to_owned()),
        "model-graded-closedqa" => Ok(rubric(check, text)),
        "factuality" | "model-graded-factuality" => {
            Ok(rubric(check, &format!("Does not contradict the facts of this reference: {text}")))
        }
        "trajectory:goal-success" => Ok(rubric(check, &format!("The agent reached this goal: {text}"))),
        _ => {
            context.different(check, "the judge compares the meaning, where embeddings are compared with a threshold");
            Ok(rubric(check, &format!("Means the same as: {text}")))
        }
    }
}

/// The text to judge by; a list becomes alternatives or steps.
fn text(check: &Check<'_>) -> String {
    let Some(value) = &check.value else { return String::new() };
    if let Some(goal) = value.get("goal") {
        return goal.as_text().unwrap_or_default().to_owned();
    }
    match value.items() {
        Some(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_text).collect();
            texts.join(if check.kind == "g-eval" { "\n" } else { "\nor: " })
        }
        None => check.text().unwrap_or_default(),
    }
}

/// A criterion that is satisfied or not.
fn rubric(check: &Check<'_>, text: &str) -> Grader {
    Grader::new(json!({"type": "rubrics", "criteria": [text]})).negated(check.is_negated)
}

/// A score that passes from a mark on.
fn score(check: &Check<'_>, text: &str, threshold: f64, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if check.is_negated {
        context.different(check, "it passes if the judge says that the criterion is not satisfied");
        return Ok(rubric(check, text));
    }
    if threshold > 1.0 {
        return Err("its threshold is above 1, so it never passes".to_owned());
    }
    let grader = Grader::new(json!({"type": "llm-grader", "prompt": text}));
    Ok(match threshold > 0.0 {
        true => grader.graded(threshold),
        false => Grader { can_fail: false, is_graded: true, ..grader },
    })
}
