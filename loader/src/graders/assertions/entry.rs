//! One mapping of a list: what every grader has, then the settings of its type; and `graders` of a task.

use evalsuite_schema::Object;
use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::grader::common_keys::TaskGrader;
use evalsuite_schema::grader::{AnswerStep, BUILT_IN, Grader, GraderConfig, ObjectStep, StepWord, TABLES};

use super::{ParsedGrader, unread};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Edit, Fix};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields};
use crate::graders::{self, GraderContext, GraderNotes, Replacement, examples};
use crate::key_tables::{Keys, RUBRIC, RUST_GRADER, TASK_GRADER_KEYS, Table, range};
use crate::read::node::{Data, Entry, Node};

/// Types that are now called otherwise.
const REMOVED: &[(&str, &str)] = &[("code-judge", "code-grader"), ("llm-judge", "llm-grader")];

pub(super) fn read(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> ParsedGrader {
    try_read(node, cx, d).unwrap_or_else(|| ParsedGrader::broken(node, cx.scope))
}

fn try_read(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<ParsedGrader> {
    let Some(type_entry) = node.entry("type").filter(|entry| !entry.value.is_null()) else {
        no_type(node, d);
        return None;
    };
    let written = fields::literal_text(&type_entry.value, "`type`", d)?;
    let folded = written.replace('_', "-");
    if let Some((_, new)) = REMOVED.iter().find(|(old, _)| *old == folded) {
        let message = format!("type `{written}` was removed");
        return fields::reject(Code::RemovedGraderType, type_entry.value.span, message, format!("use `{new}`"), d);
    }
    let built_in = if folded == "rubric" {
        let help = "write `type: rubrics`, and `criteria` for `rubrics`";
        d.report(Code::DeprecatedKey, type_entry.value.span, "type `rubric` is now `rubrics`", help);
        Some(&RUBRIC)
    } else {
        graders::built_in(&folded)
    };

    let object = built_in.unwrap_or(RUST_GRADER);
    let mut fields = Fields::new(node, object, d)?;
    fields.get("type");
    let name = fields.get("name");
    let name_text = name.and_then(|entry| fields::literal_text(&entry.value, "`name`", d));
    fields.no_effect("id", d);
    let mut grader = unread(node, cx.scope);
    read_common(&mut grader, &mut fields, cx, d);
    let mut notes = GraderNotes::default();
    let config = match (built_in, replacement(&fields, &written)) {
        (Some(known), _) => {
            let config = graders::settings(known, &mut fields, cx, &mut notes, d);
            match known.is_open {
                true => fields.null_variables(d),
                false => fields.finish(d),
            }
            config
        }
        (None, Some(replacement)) => {
            let problem = Diagnostic::new(Code::UnknownGrader, format!("unknown grader `{written}`"));
            d.push(problem.at(type_entry.value.span).help(replacement.help(Some(node))).fix_if(replacement.fix(node)));
            None
        }
        (None, None) => {
            notes.users.push((written.clone(), type_entry.value.span));
            user(fields, &written, d)
        }
    };
    let name_is_broken = name.is_some() && name_text.is_none();
    let Some(config) = config.filter(|_| !name_is_broken) else {
        return Some(ParsedGrader { notes, ..ParsedGrader::broken(node, cx.scope) });
    };
    grader.name = name_text.unwrap_or_else(|| graders::automatic_name(&config, &written));
    grader.min_score = grader.min_score.or(notes.pass_mark);
    grader.config = config;
    graders::check_decision(&grader, node, d);
    Some(ParsedGrader { named: name.map(|entry| entry.value.span), notes, ..ParsedGrader::new(grader, node.span) })
}

fn no_type(node: &Node, d: &mut Diagnostics) {
    if let Some(include) = node.entry("include") {
        let others = node.as_mapping().unwrap_or_default().iter().filter(|entry| entry.key != include.key);
        for other in others.filter(|entry| !fields::is_own(&entry.key)) {
            let message = format!("unknown key `{}` next to `include`", other.key);
            d.report(Code::UnknownKey, other.key_span, message, "an include has no other keys");
        }
        return;
    }
    if let Some(problem) = type_as_key(node).or_else(|| misspelled_type(node)) {
        d.push(problem);
        return;
    }
    let place = node.entry("type").map_or(node.span, |entry| entry.key_span);
    let message = "missing key `type` in an assertion";
    d.report(Code::MissingGraderSetting, place, message, "add `type`, such as `contains` or `llm-grader`");
}

/// A key that may be meant to be `type` or `include`.
fn misspelled_type(node: &Node) -> Option<Diagnostic> {
    let names = ["type", "include"];
    let mut entries = node.as_mapping()?.iter().filter(|_| node.entry("type").is_none());
    let (entry, help) = entries.find_map(|entry| Some((entry, suggest::did_you_mean(&entry.key, names)?)))?;
    let problem = Diagnostic::new(Code::UnknownKey, format!("unknown key `{}` in an assertion", entry.key));
    let fix = suggest::certain(&entry.key, names).map(|meant| Fix::Replace(meant.to_owned()));
    Some(problem.at(entry.key_span).help(help).fix_if(fix))
}

/// A grader that is written as `contains: refund`.
fn type_as_key(node: &Node) -> Option<Diagnostic> {
    let entry = node.as_mapping()?.first()?;
    let table = graders::built_in(&entry.key)?;
    // A setting may have the name of a type.
    if node.entry("type").is_some() || TABLES.iter().any(|table| table.keys.iter().any(|key| key.name == entry.key)) {
        return None;
    }
    let (kind, value) = (entry.quoted_alike("type"), entry.quoted_alike("value"));
    let problem =
        Diagnostic::new(Code::MissingGraderSetting, format!("`{}` is a type of graders, not a key", entry.key));
    let problem = problem.at(entry.key_span);
    let all = node.as_mapping()?.iter().filter(|entry| graders::built_in(&entry.key).is_some());
    let items: Vec<String> = all.map(|entry| format!("`- type: {}`", entry.key)).collect();
    if items.len() > 1 {
        return Some(problem.help(format!("write an item of the list for each grader: {}", items.join(", "))));
    }
    if table.keys.iter().all(|key| key.name != "value") {
        return Some(problem.help(format!("write `type: {}`, and its settings next to it", table.id)));
    }
    let fix = entry.key_span.range.and_then(|(start, end)| {
        let separator = node.separator(start.column)?;
        let text = format!("{kind}: {}{separator}{value}", entry.quoted_alike(table.id));
        Some(Fix::Edits(vec![Edit::new(start, end, text)]))
    });
    Some(problem.help(format!("write `type: {}` and `value: {}`", table.id, entry.value.shown())).fix_if(fix))
}

/// How a type of another tool is written here, for a grader with settings that one in Rust cannot have.
fn replacement(fields: &Fields<'_>, written: &str) -> Option<Replacement> {
    fields.rest().next()?;
    Replacement::of(written)
}

/// Settings of a grader registered in Rust, which only the grader can check.
fn user(mut fields: Fields<'_>, written: &str, d: &mut Diagnostics) -> Option<GraderConfig> {
    let config = fields.read_or("config", Object::new(), fields::object, d)?;
    fields.null_variables(d);
    for entry in fields.rest() {
        // The key may be right and the type wrong.
        let meant = suggest::nearest(written, BUILT_IN.iter().copied());
        let (help, fix) = if meant.is_empty() {
            let near = suggest::did_you_mean(&entry.key, fields.known());
            let help = near.unwrap_or_else(|| {
                format!("`{written}` is not a built-in type: settings of a grader in Rust belong under `config`")
            });
            (help, fields.certain_key(entry))
        } else {
            let meant = suggest::quoted(&meant, "or");
            (format!("did you mean type {meant}? settings of a grader in Rust belong under `config`"), None)
        };
        let message = format!("unknown key `{}` in a grader", entry.key);
        d.push(Diagnostic::new(Code::UnknownKey, message).at(entry.key_span).help(help).fix_if(fix));
    }
    Some(GraderConfig::User { grader: written.to_owned(), config })
}

/// Reads what every grader has into `grader`.
fn read_common(grader: &mut Grader, fields: &mut Fields<'_>, cx: GraderContext<'_>, d: &mut Diagnostics) {
    grader.weight = fields.read("weight", graders::weight, d).unwrap_or(1.0);
    read_changes(grader, fields, cx, d);
    let mark = fields.get("min_score");
    if let Some(entry) = fields.get("required") {
        grader.required = required_value(entry, mark, &mut grader.min_score, d);
    }
    grader.examples = fields.get("examples").map(|entry| examples::read(entry, cx.scope, d)).unwrap_or_default();
}

/// Reads what changes the answer and the result of a grader.
fn read_changes(grader: &mut Grader, fields: &mut Fields<'_>, cx: GraderContext<'_>, d: &mut Diagnostics) {
    grader.min_score = fields.read("min_score", fields::pass_mark, d);
    grader.negate = fields.read("negate", fields::boolean, d).unwrap_or(false);
    grader.transform = transform(fields, cx, d);
}

/// `required`: a number is an old way to write a pass mark, too.
fn required_value(entry: &Entry, mark: Option<&Entry>, min_score: &mut Option<f64>, d: &mut Diagnostics) -> bool {
    let node = &entry.value;
    let Some(value) = node.as_f64().filter(|value| range::PASS_MARK.contains(*value)) else {
        return fields::boolean(node, "`required`", d).unwrap_or(false);
    };
    if let Some(mark) = mark {
        let problem = Diagnostic::new(Code::ConflictingKeys, "`required` as a number and `min_score` are one setting");
        d.push(problem.at(entry.key_span).related(mark.key_span, "`min_score` is here").help("write `required: true`"));
    } else {
        let message = format!("`required: {value}` is an old way to write a pass mark");
        d.report(Code::DeprecatedValue, node.span, message, format!("write `required: true` and `min_score: {value}`"));
        *min_score = Some(value);
    }
    true
}

/// Reads a list of `{name, config}`.
pub(crate) fn task_graders(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    let Some(items) = fields::list(node, "`graders`", d) else {
        return vec![ParsedGrader::broken(node, scope)];
    };
    items.iter().map(|item| grader(item, scope, d).unwrap_or_else(|| ParsedGrader::broken(item, scope))).collect()
}

fn grader(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<ParsedGrader> {
    let mut fields = Fields::new(node, TaskGrader::TABLE, d)?;
    let name_entry = fields.require("name", d);
    let config_entry = fields.get("config");
    let examples = fields.get("examples").map(|entry| examples::read(entry, scope, d)).unwrap_or_default();
    fields.finish(d);
    let name_entry = name_entry?;
    let name = fields::text(&name_entry.value, "`name`", d)?;
    let mut notes = GraderNotes::default();
    let mut grader = unread(node, scope);
    match graders::built_in(&name) {
        Some(known) => {
            let absent = Node { span: node.span, data: Data::Mapping(Vec::new()) };
            let settings = config_entry.map_or(&absent, |entry| &entry.value);
            grader.config = built_in(known, settings, &mut grader, &mut notes, GraderContext::new(scope), d)?;
            graders::check_decision(&grader, settings, d);
        }
        None => {
            notes.users.push((name.clone(), name_entry.value.span));
            let config = config_entry.map(|entry| fields::object(&entry.value, "`config`", d));
            grader.config =
                GraderConfig::User { grader: name.clone(), config: config.unwrap_or_else(|| Some(Object::new()))? };
        }
    }
    (grader.name, grader.examples) = (name, examples);
    Some(ParsedGrader { named: Some(name_entry.value.span), notes, ..ParsedGrader::new(grader, node.span) })
}

/// A built-in type; `settings` has both its settings and those of every grader.
fn built_in(
    known: &'static Table,
    settings: &Node,
    grader: &mut Grader,
    notes: &mut GraderNotes,
    cx: GraderContext<'_>,
    d: &mut Diagnostics,
) -> Option<GraderConfig> {
    let mut fields = Fields::new(settings, known, d)?.with_common(TASK_GRADER_KEYS);
    read_changes(grader, &mut fields, cx, d);
    let config = graders::settings(known, &mut fields, cx, notes, d);
    match known.is_open {
        true => fields.null_variables(d),
        false => fields.finish(d),
    }
    grader.min_score = grader.min_score.or(notes.pass_mark);
    config
}

/// The steps of `transform`, which change the answer before the grader sees it, in order; those with problems are left out.
fn transform(fields: &mut Fields<'_>, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<AnswerStep> {
    let Some(entry) = fields.get("transform") else { return Vec::new() };
    let steps = fields::list(&entry.value, "`transform`", d).unwrap_or_default();
    steps.iter().filter_map(|node| transform_step(node, cx, d)).collect()
}

fn transform_step(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<AnswerStep> {
    if node.as_mapping().is_some() {
        return json_or_replace(node, cx, d);
    }
    let word = fields::word(node, "a step of `transform`", StepWord::WORDS, d)?;
    StepWord::of_word(word).map(AnswerStep::from)
}

fn json_or_replace(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<AnswerStep> {
    let mut fields = Fields::new(node, ObjectStep::TABLE, d)?;
    let (json, replace, with) = (fields.get("json"), fields.get("replace"), fields.get("with"));
    let is_misspelt = fields.misspells(&["json", "replace"]);
    let parts = fields.parts(cx.scope, d);
    fields.finish(d);
    match (json, replace, with) {
        (Some(json), Some(replace), _) => {
            let help = "write two steps, in the order in which they are done";
            let problem = Diagnostic::new(Code::ConflictingKeys, "a step has either `json` or `replace`").help(help);
            d.push(problem.at(replace.key_span).related(json.key_span, "`json` is here"));
            return None;
        }
        (Some(_), None, Some(with)) => {
            let help = "delete it, or write `replace` for `json`";
            d.report(Code::SettingConflict, with.key_span, "`with` has no meaning with `json`", help);
            return None;
        }
        (None, None, _) if !is_misspelt => {
            let help = "add `json` for a value of an answer in JSON, or `replace` for a pattern";
            d.report(Code::MissingKey, node.span, "a step of `transform` has neither `json` nor `replace`", help);
        }
        _ => {}
    }
    let step: ObjectStep = parts.into_value()?;
    match (step.replace, replace) {
        (Some(pattern), Some(entry)) => {
            let is_pattern = graders::is_pattern(&pattern, "", &entry.value, cx, d);
            is_pattern.then(|| AnswerStep::Replace { replace: pattern, with: step.with.unwrap_or_default() })
        }
        _ => step.json.map(AnswerStep::Json),
    }
}
