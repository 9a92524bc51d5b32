//! Code of a `transform` in JavaScript, as steps that graders execute themselves.

use evalsuite_schema::grader::AnswerStep;

/// Calls that become a step.
const CALLS: &[(&str, AnswerStep)] = &[
    (".trim()", AnswerStep::Trim),
    (".toLowerCase()", AnswerStep::Lowercase),
    (".toUpperCase()", AnswerStep::Uppercase),
];

/// Spellings of the answer as text.
const ANSWER: &[&str] = &["output", "String(output)", "output.toString()", "`${output}`"];

/// The steps of one transform after another; `None` if steps cannot do what one of them does.
pub(super) fn steps(codes: &[String]) -> Option<Vec<AnswerStep>> {
    let mut all = Vec::new();
    for code in codes {
        let code = code.trim().trim_end_matches(';').trim_end();
        let is_value = matches!(all.last(), Some(AnswerStep::Json(_)));
        match (code.strip_prefix("output").and_then(path), all.last_mut()) {
            (Some(more), Some(AnswerStep::Json(before))) => *before = joined(before, &more),
            // What is not text has no such methods.
            _ if is_value => return None,
            _ => all.extend(of_text(code)?),
        }
    }
    Some(all)
}

/// The steps of code whose `output` is text.
fn of_text(code: &str) -> Option<Vec<AnswerStep>> {
    if ANSWER.contains(&code) {
        return Some(Vec::new());
    }
    for (call, step) in CALLS {
        if let Some(before) = code.strip_suffix(call) {
            let mut steps = of_text(before.strip_suffix('?').unwrap_or(before))?;
            let is_text = !matches!(steps.last(), Some(AnswerStep::Json(_)));
            return is_text.then(|| {
                steps.push(step.clone());
                steps
            });
        }
    }
    let parsed = code.strip_prefix("JSON.parse(")?;
    let end = closing(parsed)?;
    let mut steps = of_text(parsed[..end].trim())?;
    if matches!(steps.last(), Some(AnswerStep::Json(_))) {
        return None;
    }
    steps.push(AnswerStep::Json(path(&parsed[end + 1..])?));
    Some(steps)
}

/// The place of the bracket that closes one before the text. Code with quotes is not looked at.
fn closing(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in code.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            '\'' | '"' | '`' | '/' => return None,
            _ => {}
        }
    }
    None
}

/// The path of `.order.items[0]["name"]`.
fn path(mut code: &str) -> Option<String> {
    let mut steps: Vec<&str> = Vec::new();
    while !code.is_empty() {
        code = code.strip_prefix("?.").map_or(code, |rest| if rest.starts_with('[') { rest } else { &code[1..] });
        let (step, rest) = if let Some(name) = code.strip_prefix('.') {
            let end = name.find(|c: char| !(c.is_alphanumeric() || "_$".contains(c))).unwrap_or(name.len());
            name.split_at(end)
        } else {
            let (inside, rest) = code.strip_prefix('[')?.split_once(']')?;
            let quote = inside.chars().next().filter(|first| "'\"".contains(*first));
            let name = match quote {
                Some(quote) => inside.strip_prefix(quote)?.strip_suffix(quote)?,
                None => Some(inside).filter(|index| index.parse::<usize>().is_ok())?,
            };
            (name, rest)
        };
        // The length of a list or text is not one of its values; a call follows a name.
        let is_key = !step.is_empty() && step != "length" && !step.contains(['.', '\\', '\'', '"']);
        if !is_key || rest.starts_with('(') {
            return None;
        }
        steps.push(step);
        code = rest;
    }
    Some(steps.join("."))
}

fn joined(before: &str, more: &str) -> String {
    [before, more].into_iter().filter(|path| !path.is_empty()).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn calls_and_paths_become_steps_and_other_code_does_not() {
        for (codes, expected) in [
            (vec!["output"], json!([])),
            (vec!["output.trim();"], json!(["trim"])),
            (vec!["output?.trim().toLowerCase()"], json!(["trim", "lowercase"])),
            (vec!["JSON.parse(output)"], json!([{"json": ""}])),
            (vec!["JSON.parse(output.trim()).order.items[0]?.name"], json!(["trim", {"json": "order.items.0.name"}])),
            (vec!["JSON.parse(output)['a b']"], json!([{"json": "a b"}])),
            (vec!["JSON.parse(output)", "output.city"], json!([{"json": "city"}])),
            (vec!["JSON.parse(output).a", "output"], json!([{"json": "a"}])),
            (vec!["output.city"], json!(null)),
            (vec!["JSON.parse(output).items.length"], json!(null)),
            (vec!["JSON.parse(output).name.trim()"], json!(null)),
            (vec!["JSON.parse(output)", "output.trim()"], json!(null)),
            (vec!["JSON.parse(output.replace(/`/g, ''))"], json!(null)),
            (vec!["output.split('\n')[0]"], json!(null)),
            (vec!["JSON.parse(output)['a.b']"], json!(null)),
        ] {
            let codes: Vec<String> = codes.into_iter().map(str::to_owned).collect();
            assert_eq!(json!(steps(&codes)), expected, "{codes:?}");
        }
    }
}
