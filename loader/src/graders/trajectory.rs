//! `tool-trajectory` and `skill-trigger`.

use evalsuite_schema::Value;
use evalsuite_schema::grader::{Args, ArgsMatch, ExpectedCall, SkillTrigger, ToolTrajectory, TrajectoryMode};

use super::require;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::{Fields, label};
use crate::keys::grader::trajectory::{ARGS_MATCHES, EXPECTED_CALL, MODES};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

pub(super) fn skill(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<SkillTrigger> {
    let should_trigger = fields.read_or("should_trigger", true, fields::boolean, d);
    let skill = require(fields, "skill", d).and_then(|entry| fields::text(&entry.value, "`skill`", d));
    Some(SkillTrigger { skill: skill?, should_trigger: should_trigger? })
}

pub(super) fn tools(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<ToolTrajectory> {
    let mode_entry = require(fields, "mode", d);
    let mode = mode_entry.and_then(|entry| fields::choice(&entry.value, "`mode`", MODES, d));
    let (minimums_entry, maximums_entry) = (fields.get("minimums"), fields.get("maximums"));
    let expected_entry = fields.get("expected");
    let args_match = match fields.get_renamed("args_match", d) {
        Some(entry) => args_match(entry, d).map(|(matching, _)| matching),
        None => Some(ArgsMatch::default()),
    };
    let minimums = minimums_entry.map_or(Some(Vec::new()), |entry| counts(entry, "minimum", d));
    let maximums = maximums_entry.map_or(Some(Vec::new()), |entry| counts(entry, "maximum", d));
    let expected = expected_entry.map_or(Some(Vec::new()), |entry| expected(&entry.value, mode, d));
    let mode = mode?;
    let before = d.len();
    let (needed, needed_entry, useless) = match mode {
        TrajectoryMode::AnyOrder => ("minimums", minimums_entry.or(maximums_entry), [expected_entry, None]),
        _ => ("expected", expected_entry, [minimums_entry, maximums_entry]),
    };
    for entry in useless.into_iter().flatten() {
        let message = format!("`{}` has no meaning with `mode: {}`", entry.key, word(mode));
        d.report(Code::SettingConflict, entry.key_span, message, format!("use `{needed}`"));
    }
    if needed_entry.is_none() {
        fields.missing(Code::MissingGraderSetting, needed, d);
    }
    if let (TrajectoryMode::InOrder, Some(entry), Some([])) = (mode, expected_entry, expected.as_deref()) {
        let help = "add a call, or write `mode: exact` to say that no tool may be called";
        d.report(Code::MissingGraderSetting, entry.value.span, "`expected` is empty", help);
    }
    let (minimums, maximums) = (minimums?, maximums?);
    for (tool, maximum) in &maximums {
        let entry = maximums_entry.and_then(|entry| entry.value.entry(tool));
        let minimum = minimums.iter().find(|(other, minimum)| other == tool && minimum > maximum);
        if let (Some(entry), Some((_, minimum))) = (entry, minimum) {
            let message = format!("the maximum of `{tool}` is {maximum}, and its minimum is {minimum}");
            d.report(Code::SettingConflict, entry.value.span, message, "write a maximum of at least the minimum");
        }
    }
    if d.len() > before {
        return None;
    }
    Some(ToolTrajectory { mode, minimums, maximums, expected: expected?, args_match: args_match? })
}

fn word(mode: TrajectoryMode) -> &'static str {
    MODES.iter().find(|(_, known)| *known == mode).map_or("", |(word, _)| word)
}

/// Numbers of calls by tool; `which` is "minimum" or "maximum".
fn counts(entry: &Entry, which: &str, d: &mut Diagnostics) -> Option<Vec<(String, u64)>> {
    let node = &entry.value;
    let Some(entries) = node.as_mapping() else {
        return fields::wrong_type(node, &label(entry), "a mapping of tools to numbers", d);
    };
    if entries.is_empty() {
        return fields::reject(
            Code::MissingGraderSetting,
            node.span,
            format!("{} is empty", label(entry)),
            "add a tool, such as `search: 1`",
            d,
        );
    }
    let read = |entry: &Entry, d: &mut Diagnostics| {
        let what = format!("the {which} of `{}`", entry.key);
        Some((entry.key.clone(), fields::integer(&entry.value, &what, 0, u64::MAX, d)?))
    };
    let counts: Vec<_> = entries.iter().filter_map(|entry| read(entry, d)).collect();
    (counts.len() == entries.len()).then_some(counts)
}

fn expected(node: &Node, mode: Option<TrajectoryMode>, d: &mut Diagnostics) -> Option<Vec<ExpectedCall>> {
    let items = fields::list(node, "`expected`", d)?;
    let calls: Vec<_> = items.iter().filter_map(|item| call(item, mode, d)).collect();
    (calls.len() == items.len()).then_some(calls)
}

fn call(node: &Node, mode: Option<TrajectoryMode>, d: &mut Diagnostics) -> Option<ExpectedCall> {
    let before = d.len();
    let mut fields = Fields::new(node, &EXPECTED_CALL, d)?;
    let tool = require(&mut fields, "tool", d).and_then(|entry| fields::text(&entry.value, "`tool`", d));
    let args_entry = fields.get("args");
    let args = args_entry.and_then(|entry| args(&entry.value, d));
    let matching = fields.get_renamed("args_match", d).and_then(|entry| args_match(entry, d));
    let ignored_entry = fields.get("ignore_args");
    let ignore_args = ignored_entry.map_or(Some(Vec::new()), |entry| {
        let is_broken = args_entry.is_some() && args.is_none();
        ignored_arguments(entry, is_broken || matches!(args, Some(Args::Object(_))), d)
    });
    let limit = fields.get_renamed("max_duration_ms", d);
    let max_duration_ms = limit.and_then(|entry| fields::not_negative(&entry.value, &label(entry), d));
    fields.no_effect("input", d);
    fields.no_effect("output", d);
    fields.finish(d);
    let has_limits = matches!(mode, None | Some(TrajectoryMode::InOrder | TrajectoryMode::Exact));
    if let (Some(entry), false) = (limit, has_limits) {
        d.report(
            Code::SettingConflict,
            entry.key_span,
            format!("`{}` has no meaning with `mode: {}`", entry.key, mode.map_or("", word)),
            "use `mode: in_order` or `mode: exact`",
        );
    }
    if let Some((ArgsMatch::Paths(paths), spans)) = &matching {
        for (path, span) in paths.iter().zip(spans) {
            let found = matches!(&args, Some(Args::Object(object)) if has_path(object, path));
            let is_broken = args_entry.is_some() && args.is_none();
            if !found && !is_broken {
                let message = format!("`args` of this call have no `{path}`");
                d.report(Code::SettingConflict, *span, message, "name a path that is in `args`, or write it there");
            }
        }
    }
    let is_valid =
        !d.iter().skip(before).any(|diagnostic| diagnostic.severity() == evalsuite_schema::diagnostic::Severity::Error);
    if !is_valid {
        return None;
    }
    let args_match = matching.map(|(matching, _)| matching);
    Some(ExpectedCall { tool: tool?, args, args_match, ignore_args: ignore_args?, max_duration_ms })
}

/// Names of arguments that are not compared.
fn ignored_arguments(entry: &Entry, has_arguments: bool, d: &mut Diagnostics) -> Option<Vec<String>> {
    let (node, what) = (&entry.value, label(entry));
    let names = fields::texts(node, &what, d)?;
    if names.is_empty() && node.as_sequence().is_some_and(<[Node]>::is_empty) {
        let help = "name arguments that are not compared, or delete the key";
        return fields::reject(Code::MissingGraderSetting, node.span, format!("{what} is an empty list"), help, d);
    }
    if !has_arguments {
        let message = format!("{what} has no meaning without `args`");
        return fields::reject(Code::SettingConflict, entry.key_span, message, "write `args`, or delete the key", d);
    }
    Some(names)
}

fn args(node: &Node, d: &mut Diagnostics) -> Option<Args> {
    match &node.data {
        Data::String(word) if word == "any" => Some(Args::Any),
        Data::Mapping(_) => fields::object(node, "`args`", d).map(Args::Object),
        _ => fields::wrong_type(node, "`args`", "a mapping or `any`", d),
    }
}

/// How arguments are compared, and where its paths are written.
fn args_match(entry: &Entry, d: &mut Diagnostics) -> Option<(ArgsMatch, Vec<Span>)> {
    let (node, what) = (&entry.value, label(entry));
    let items = match &node.data {
        Data::Sequence(items) => items,
        Data::String(_) => return Some((fields::choice(node, &what, ARGS_MATCHES, d)?, Vec::new())),
        _ => {
            return fields::wrong_type(node, &what, "a word or a list of paths", d);
        }
    };
    if items.is_empty() {
        let help = "name paths that have to be equal, or write `ignore`";
        return fields::reject(Code::MissingGraderSetting, node.span, format!("{what} is an empty list"), help, d);
    }
    let paths = fields::texts(node, &what, d)?;
    let spans = items.iter().map(|item| item.span).collect();
    (paths.len() == items.len()).then_some((ArgsMatch::Paths(paths), spans))
}

/// Whether there is a value at a dotted path; a key with dots in it counts, too.
fn has_path(object: &evalsuite_schema::Object, path: &str) -> bool {
    if object.contains_key(path) {
        return true;
    }
    let mut parts = path.split('.');
    let Some(mut value) = parts.next().and_then(|first| object.get(first)) else { return false };
    for part in parts {
        let next = match value {
            Value::Object(object) => object.get(part),
            Value::Array(items) => {
                let index = part.parse().ok().filter(|index: &usize| index.to_string() == part);
                index.and_then(|index| items.get(index))
            }
            _ => None,
        };
        let Some(next) = next else { return false };
        value = next;
    }
    true
}
