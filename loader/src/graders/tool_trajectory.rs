//! Rules of `tool-trajectory`.

use evalsuite_schema::diagnostics::Severity;
use evalsuite_schema::grader::{Args, ArgsMatch, ExpectedCall, GraderConfig, TrajectoryMode};
use evalsuite_schema::keys::{Keys, Written};
use evalsuite_schema::{Object, is_tool_named};

use super::{Constant, Family, Rules};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::paths::Scope;
use crate::fields::{Fields, label};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

pub(super) const FAMILY: Family = Family { rules: &[("tool-trajectory", tools)], constant };

fn tools(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let Rules { fields, parts, cx, .. } = rules;
    let mode = parts.get("mode").and_then(Written::word);
    let (minimums_entry, maximums_entry) = (fields.get("minimums"), fields.get("maximums"));
    let expected_entry = fields.get("expected");
    let shared = fields.get_renamed("args_match", d).map(|entry| args_match(entry, d));
    let minimums = minimums_entry.map_or(Some(Vec::new()), |entry| counts(entry, "minimum", d));
    let maximums = maximums_entry.map_or(Some(Vec::new()), |entry| counts(entry, "maximum", d));
    let expected = expected_entry.map_or(Some(Vec::new()), |entry| expected(&entry.value, mode, cx.scope, d));
    let Some(mode) = mode else { return };
    let before = d.len();
    let (needed, needed_entry, useless) = match mode {
        "any_order" => ("minimums", minimums_entry.or(maximums_entry), [expected_entry, None]),
        _ => ("expected", expected_entry, [minimums_entry, maximums_entry]),
    };
    for entry in useless.into_iter().flatten() {
        let message = format!("`{}` has no meaning with `mode: {mode}`", entry.key);
        let other = if mode == "any_order" { "in_order" } else { "any_order" };
        let help = format!("write `{needed}`, or `mode: {other}`");
        d.report(Code::SettingConflict, entry.key_span, message, help);
    }
    // What has no meaning was meant for it.
    if needed_entry.is_none() && d.len() == before {
        fields.missing(Code::MissingGraderSetting, needed, d);
    }
    if let ("in_order", Some(entry), Some([])) = (mode, expected_entry, expected.as_deref()) {
        let help = "add a call, or write `mode: exact` to say that no tool may be called";
        d.report(Code::MissingGraderSetting, entry.value.span, "`expected` is empty", help);
    }
    for (tool, maximum) in maximums.iter().flatten() {
        let entry = maximums_entry.and_then(|entry| entry.value.entry(tool));
        let minimum = minimums.iter().flatten().find(|(other, minimum)| other == tool && minimum > maximum);
        if let (Some(entry), Some((_, minimum))) = (entry, minimum) {
            let message = format!("the maximum of `{tool}` is {maximum}, and its minimum is {minimum}");
            d.report(Code::SettingConflict, entry.value.span, message, "write a maximum of at least the minimum");
        }
    }
    if let (Some(Some((ArgsMatch::Paths(paths), spans))), Some(calls)) = (&shared, &expected) {
        let nodes = expected_entry.and_then(|entry| entry.value.as_sequence()).unwrap_or_default();
        check_shared_paths(paths, spans, calls, nodes, d);
    }
    if d.len() > before {
        parts.mark_broken();
    }
    if let Some(matching) = shared {
        parts.make("args_match", matching.map(|(matching, _)| matching));
    }
    parts.make("minimums", minimums);
    parts.make("maximums", maximums);
    parts.make("expected", expected);
}

/// Checks the paths of a grader: each has to be in the arguments of a call, and each call with arguments has to have one. Otherwise nothing is
/// compared. Calls without arguments, or with paths of their own, do not use them.
fn check_shared_paths(paths: &[String], spans: &[Span], calls: &[ExpectedCall], nodes: &[Node], d: &mut Diagnostics) {
    let mut sharing: Vec<(&Object, &[String], &Node)> = Vec::new();
    for (call, node) in calls.iter().zip(nodes).filter(|(call, _)| call.args_match.is_none()) {
        if let Some(Args::Object(arguments)) = &call.args
            && !arguments.is_empty()
        {
            sharing.push((arguments, &call.ignore_args, node));
        }
    }
    if sharing.is_empty() {
        return;
    }
    for (path, span) in paths.iter().zip(spans) {
        if !sharing.iter().any(|(arguments, ignored, _)| is_compared(arguments, path, ignored)) {
            let message = format!("no call in `expected` has `args` with `{path}` that are compared");
            d.report(Code::SettingConflict, *span, message, "name a path that is in `args`, or write it there");
        }
    }
    for (arguments, ignored, node) in sharing {
        if !paths.iter().any(|path| is_compared(arguments, path, ignored)) {
            let message = "`args` of this call are not compared: none of the paths of `args_match` is in them";
            let help = "write `args_match` for this call, or delete its `args`";
            d.report(Code::SettingConflict, node.span, message, help);
        }
    }
}

/// Numbers of calls by tool; `which` is "minimum" or "maximum".
fn counts(entry: &Entry, which: &str, d: &mut Diagnostics) -> Option<Vec<(String, u64)>> {
    let node = &entry.value;
    let Some(entries) = node.as_mapping() else {
        let message = format!("{} must be a mapping of tools to numbers, found {}", label(entry), node.kind());
        let help = format!("write a mapping of tools to numbers, such as `{}: {{ search: 1 }}`", entry.key);
        return fields::reject(Code::WrongType, node.span, message, help, d);
    };
    if entries.is_empty() {
        let message = format!("{} is empty", label(entry));
        return fields::reject(Code::MissingGraderSetting, node.span, message, "add a tool, such as `search: 1`", d);
    }
    fields::all(entries, |entry| {
        let what = format!("the {which} of `{}`", entry.key);
        let name = Node { span: entry.key_span, data: Data::String(entry.key.clone()) };
        fields::literal_text(&name, "the name of a tool", d)?;
        Some((entry.key.clone(), fields::integer(&entry.value, &what, 0, u64::MAX, d)?))
    })
}

fn expected(node: &Node, mode: Option<&str>, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Vec<ExpectedCall>> {
    let items = fields::list(node, "`expected`", d)?;
    fields::all(items, |item| call(item, mode, scope, d))
}

fn call(node: &Node, mode: Option<&str>, scope: Scope<'_>, d: &mut Diagnostics) -> Option<ExpectedCall> {
    let before = d.len();
    let mut fields = Fields::new(node, ExpectedCall::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    let args_entry = fields.get("args");
    let args = args_entry.and_then(|entry| args(&entry.value, d));
    let is_broken = args_entry.is_some() && args.is_none();
    let matching = fields.get_renamed("args_match", d).map(|entry| args_match(entry, d));
    let limit = fields.written(fields.key("max_duration_ms"));
    let ignored = fields.get("ignore_args").filter(|_| parts.get("ignore_args").is_some());
    fields.finish(d);
    let ignored_names = ignored.and_then(|entry| entry.value.as_sequence()).unwrap_or_default();
    let ignored_names: Vec<String> = ignored_names.iter().filter_map(Node::as_str).map(str::to_owned).collect();
    if let Some(entry) = ignored.filter(|_| !is_broken && !matches!(args, Some(Args::Object(_)))) {
        let message = format!("{} has no meaning without `args`", label(entry));
        d.report(Code::SettingConflict, entry.key_span, message, "write `args`, or delete the key");
    }
    if let (Some(entry), false) = (limit, matches!(mode, None | Some("in_order" | "exact"))) {
        let message = format!("`{}` has no meaning with `mode: {}`", entry.key, mode.unwrap_or_default());
        d.report(Code::SettingConflict, entry.key_span, message, "use `mode: in_order` or `mode: exact`");
    }
    if let Some(Some((ArgsMatch::Paths(paths), spans))) = &matching {
        for (path, span) in paths.iter().zip(spans) {
            let object = if let Some(Args::Object(object)) = &args { object } else { &Object::new() };
            let problem = match ArgsMatch::find(object, path) {
                _ if is_broken => continue,
                None => (
                    format!("`args` of this call have no `{path}`"),
                    "name a path that is in `args`, or write it there",
                ),
                Some(_) if is_compared(object, path, &ignored_names) => continue,
                Some(_) => (format!("`ignore_args` names `{path}`"), "delete it there, or the path here"),
            };
            d.report(Code::SettingConflict, *span, problem.0, problem.1);
        }
    }
    let mut problems = d.iter().skip(before);
    if problems.any(|problem| problem.severity() == Severity::Error) {
        parts.mark_broken();
    }
    if let Some(args) = args {
        parts.set("args", Written::made(args));
    }
    if let Some(matching) = matching {
        parts.make("args_match", matching.map(|(matching, _)| matching));
    }
    parts.into_value()
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
        Data::String(_) => return Some((args_word(node, &what, d)?, Vec::new())),
        _ => return fields::wrong_type(node, &what, "a word or a list of paths", d),
    };
    if items.is_empty() {
        let help = "name paths that have to be equal, or write `ignore`";
        return fields::reject(Code::MissingGraderSetting, node.span, format!("{what} is an empty list"), help, d);
    }
    let paths = fields::texts(node, &what, d)?;
    let spans = items.iter().map(|item| item.span).collect();
    (paths.len() == items.len()).then_some((ArgsMatch::Paths(paths), spans))
}

fn args_word(node: &Node, what: &str, d: &mut Diagnostics) -> Option<ArgsMatch> {
    Some(match fields::word(node, what, ArgsMatch::WORDS, d)? {
        "superset" => ArgsMatch::Superset,
        "subset" => ArgsMatch::Subset,
        "ignore" => ArgsMatch::Ignore,
        _ => ArgsMatch::Exact,
    })
}

/// Whether there is a value at a dotted path, whose first key is not ignored.
fn is_compared(object: &Object, path: &str, ignored: &[String]) -> bool {
    let first = if object.contains_key(path) { path } else { path.split_once('.').map_or(path, |(first, _)| first) };
    ArgsMatch::find(object, path).is_some() && !ignored.iter().any(|name| is_tool_named(first, name))
}

fn constant(config: &GraderConfig) -> Option<Constant> {
    let GraderConfig::ToolTrajectory(trajectory) = config else { return None };
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
