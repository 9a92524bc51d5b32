//! Graders that pass, or fail, whatever the agent does. Such a grader is a mistake of its author.

use evalsuite_schema::Grader;
use evalsuite_schema::grader::{
    AnswerStep, Args, ArgsMatch, ExecutionMetrics, GraderConfig, ToolTrajectory, TrajectoryMode,
};
use evalsuite_schema::json::Value;
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::white_space::trim;

use crate::diagnostic::{Code, Diagnostics};
use crate::fields::control_character;
use crate::fields::pattern::constant_match;
use crate::read::node::Node;

/// What a grader always says, before `negate`.
struct Constant {
    passes: bool,
    /// The key that is to blame.
    key: &'static str,
    reason: String,
    help: String,
}

/// Reports a grader that cannot fail or cannot pass. `node`: the mapping with its settings.
pub(crate) fn check(grader: &Grader, node: &Node, d: &mut Diagnostics) {
    check_texts(grader, node, d);
    let Some(Constant { passes, key, reason, help }) =
        by_settings(&grader.config).or_else(|| by_transform(&grader.transform, &grader.config))
    else {
        return;
    };
    let can_lack_text = grader.transform.iter().any(|step| matches!(step, AnswerStep::Json(_)));
    let place = node.entry(key).map_or(node.span, |entry| entry.value.span);
    let inverted = if grader.negate { ", and `negate` inverts the result" } else { "" };
    match passes != grader.negate {
        // An answer without the text that `json` looks for fails.
        true if can_lack_text => {}
        true => d.report(Code::GraderCannotFail, place, format!("the grader cannot fail: {reason}{inverted}"), help),
        false => d.report(Code::GraderCannotPass, place, format!("the grader cannot pass: {reason}{inverted}"), help),
    }
}

fn by_settings(config: &GraderConfig) -> Option<Constant> {
    match config {
        GraderConfig::StartsWith(text) | GraderConfig::EndsWith(text) if trim(&text.value).is_empty() => {
            let verb = if matches!(config, GraderConfig::StartsWith(_)) { "starts" } else { "ends" };
            let reason = format!("white space around both texts is ignored, and every answer {verb} with nothing");
            let help = "write the text to look for; white space is found by `regex`, such as `'\\n\\z'`";
            Some(Constant { passes: true, key: "value", reason, help: help.to_owned() })
        }
        GraderConfig::Regex(regex) if !Syntax::Variable.is_in(&regex.value) => {
            let passes = constant_match(&regex.value, &regex.flags)?;
            let (reason, help) = match passes {
                true => ("the pattern matches every answer", "write a pattern that needs a character of the answer"),
                false => (
                    "the pattern matches no answer",
                    "write `\\$` for a dollar sign, `\\^` for `^`, or the flag `m` for `^` and `$` at lines",
                ),
            };
            Some(Constant { passes, key: "value", reason: reason.to_owned(), help: help.to_owned() })
        }
        GraderConfig::ToolTrajectory(trajectory) => of_trajectory(trajectory),
        GraderConfig::ExecutionMetrics(metrics) => of_metrics(metrics),
        GraderConfig::JsonSchema(schema) if is_unsatisfiable(&schema.schema) => Some(no_value()),
        GraderConfig::ContainsJson(found) => {
            let schema = &found.schema.as_ref()?.schema;
            if is_unsatisfiable(schema) {
                return Some(no_value());
            }
            let reason = "it looks for JSON objects, and the schema allows none".to_owned();
            let help = "write `type: json-schema` for an answer that is another value";
            excludes_objects(schema).then(|| Constant { passes: false, key: "schema", reason, help: help.to_owned() })
        }
        _ => None,
    }
}

fn no_value() -> Constant {
    let reason = "the schema allows no value".to_owned();
    Constant { passes: false, key: "schema", reason, help: "write what the value has to be".to_owned() }
}

fn of_trajectory(trajectory: &ToolTrajectory) -> Option<Constant> {
    let always = |key, reason: &str, help: &str| Constant {
        passes: true,
        key,
        reason: reason.to_owned(),
        help: help.to_owned(),
    };
    match trajectory.mode {
        TrajectoryMode::AnyOrder => {
            let needs_nothing = trajectory.minimums.iter().all(|(_, minimum)| *minimum == 0);
            let help =
                "write a minimum of at least 1, or `maximums`, such as `refund: 0` for a tool that must not be called";
            (needs_nothing && trajectory.maximums.is_empty())
                .then(|| always("minimums", "every tool is called at least 0 times", help))
        }
        TrajectoryMode::Subset => {
            let is_any = |args: &Option<Args>| matches!(args, None | Some(Args::Any));
            let ignores =
                |own: &Option<ArgsMatch>| *own.as_ref().unwrap_or(&trajectory.args_match) == ArgsMatch::Ignore;
            let mut expected = trajectory.expected.iter();
            let allows_all = expected.any(|call| {
                !call.tool.is_empty()
                    && call.tool.bytes().all(|byte| byte == b'*')
                    && (is_any(&call.args) || ignores(&call.args_match))
            });
            let help = "name the tools that may be called";
            allows_all.then(|| always("expected", "every call is an expected one, because `*` is any tool", help))
        }
        _ => None,
    }
}

fn of_metrics(metrics: &ExecutionMetrics) -> Option<Constant> {
    let least = [metrics.min_tool_calls, metrics.min_llm_calls];
    let all_else =
        ExecutionMetrics { min_tool_calls: None, min_llm_calls: None, exploration_tolerance: None, ..metrics.clone() };
    let needs_nothing = least.iter().any(Option::is_some) && least.iter().flatten().all(|least| *least == 0.0);
    (needs_nothing && all_else == ExecutionMetrics::default()).then(|| Constant {
        passes: true,
        key: "",
        reason: "every number of calls is at least 0".to_owned(),
        help: "write a minimum of at least 1, or a maximum".to_owned(),
    })
}

/// Whether a schema has keywords that some drafts ignore, because it refers to another one.
fn has_reference(schema: &Value) -> bool {
    schema.get("$ref").is_some()
}

/// Whether a schema is `false`, or the opposite of one that allows everything.
fn is_unsatisfiable(schema: &Value) -> bool {
    let allows_all =
        |schema: &Value| *schema == Value::Bool(true) || schema.as_object().is_some_and(|keys| keys.is_empty());
    *schema == Value::Bool(false)
        || !has_reference(schema) && schema.get("not").is_some_and(allows_all)
        || !has_reference(schema)
            && schema.get("allOf").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_unsatisfiable))
}

/// Whether a schema allows only values that are not objects.
fn excludes_objects(schema: &Value) -> bool {
    if has_reference(schema) {
        return false;
    }
    let by_type = match schema.get("type") {
        Some(Value::String(name)) => name != "object",
        Some(Value::Array(names)) => names.iter().all(|name| name.as_str() != Some("object")),
        _ => false,
    };
    let by_values =
        schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.iter().all(|one| !one.is_object()));
    by_type || by_values || schema.get("const").is_some_and(|value| !value.is_object())
}

/// A text with letters that `transform` removes from the answer.
fn by_transform(steps: &[AnswerStep], config: &GraderConfig) -> Option<Constant> {
    let last = steps.iter().rev().find(|step| !matches!(step, AnswerStep::Trim))?;
    let (is_gone, letters): (fn(char) -> bool, _) = match last {
        AnswerStep::Lowercase => (|letter| !letter.to_lowercase().eq([letter]), ["upper", "lower"]),
        AnswerStep::Uppercase => (|letter| !letter.to_uppercase().eq([letter]), ["lower", "upper"]),
        _ => return None,
    };
    let gone = |text: &String| text.chars().find(|letter| is_gone(*letter)).filter(|_| !Syntax::Variable.is_in(text));
    let letter = match config {
        GraderConfig::Contains(text)
        | GraderConfig::Equals(text)
        | GraderConfig::StartsWith(text)
        | GraderConfig::EndsWith(text) => gone(&text.value),
        GraderConfig::ContainsAll(texts) => texts.value.iter().find_map(gone),
        GraderConfig::ContainsAny(texts) => texts.value.iter().map(gone).min().flatten(),
        _ => None,
    }?;
    let reason = format!("`transform` leaves no {} case letter in the answer, and `value` has `{letter}`", letters[0]);
    Some(Constant { passes: false, key: "value", reason, help: format!("write `value` in {} case", letters[1]) })
}

/// Reports texts to look for that cannot be meant as they are: blank ones where blanks are ignored, and control characters.
fn check_texts(grader: &Grader, node: &Node, d: &mut Diagnostics) {
    let blank = match &grader.config {
        GraderConfig::Equals(text) => trim(&text.value).is_empty(),
        GraderConfig::Similar(similar) => similar.value.as_ref().is_some_and(|text| trim(text).is_empty()),
        GraderConfig::Contains(_)
        | GraderConfig::ContainsAny(_)
        | GraderConfig::ContainsAll(_)
        | GraderConfig::Icontains(_)
        | GraderConfig::IcontainsAny(_)
        | GraderConfig::IcontainsAll(_)
        | GraderConfig::StartsWith(_)
        | GraderConfig::EndsWith(_) => false,
        _ => return,
    };
    let Some(entry) = node.entry("value") else { return };
    if blank {
        let help = "write the text; an answer that has to be empty is `type: regex` with `'\\A\\s*\\z'`";
        d.report(
            Code::BlankValue,
            entry.value.span,
            "`value` is blank, and blanks around both texts are ignored",
            help,
        );
    }
    for text in entry.value.as_sequence().unwrap_or(std::slice::from_ref(&entry.value)) {
        control_character(text, "`value`", d);
    }
}
