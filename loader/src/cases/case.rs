//! A case of the cases, combined and bare layouts: an item of `tests`, a `case.yaml`, a line of a JSONL file. Its metadata includes that of
//! its suite.

use std::collections::HashSet;
use std::sync::Arc;

use evalsuite_schema::{
    Case, Conversation, Input, Message, Object, PathRef, Requires, Strategy, SuiteKind, Trials, Value,
};

use super::workspace::{self, SettingsOwner};
use super::{execution, input, matrix};
use crate::diagnostic::{Code, Diagnostics, are_many, report_both};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields, values, vars};
use crate::graders::{CaseFacts, ParsedGrader, assertions, examples};
use crate::read::node::{Entry, Node};
use crate::source::Span;

/// What a suite gives to each of its cases.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defaults {
    pub(crate) kind: SuiteKind,
    pub(crate) messages: Vec<Message>,
    pub(crate) input_files: Vec<PathRef>,
    pub(crate) graders: Vec<ParsedGrader>,
    pub(crate) trials: Option<Trials>,
    pub(crate) threshold: Option<f64>,
    pub(crate) timeout_seconds: Option<f64>,
    pub(crate) target: Option<String>,
    /// Names of the target matrix; empty without one.
    pub(crate) targets: Vec<String>,
    pub(crate) requires: Requires,
    pub(crate) workspace: Option<workspace::WrittenWorkspace>,
    pub(crate) preprocessors: Vec<evalsuite_schema::grader::Preprocessor>,
    pub(crate) tags: Vec<String>,
    pub(crate) metadata: Object,
    /// Combined layout: every case needs `expected_output`.
    pub(crate) needs_reference: bool,
    /// About how many bytes each case gets copies of, and where they are written.
    pub(crate) size: Option<(usize, Span)>,
}

/// Where a case is, and what follows from that.
#[derive(Clone)]
pub(crate) struct CaseContext<'a> {
    pub(crate) scope: Scope<'a>,
    /// Name of the case directory.
    pub(crate) directory: Option<&'a str>,
    /// The case directory's `workspace/`.
    pub(crate) sibling_workspace: Option<PathRef>,
}

/// A case and the places that checks across cases point to.
#[derive(Debug)]
pub(crate) struct CheckedCase {
    /// Shared: a session returns the cases that have not changed again.
    pub(crate) case: Arc<Case>,
    pub(crate) span: Span,
    pub(crate) id_span: Span,
    pub(crate) dependencies: Vec<(String, Span)>,
    pub(crate) user_graders: Vec<(String, Span)>,
}

pub(crate) fn read(node: &Node, cx: CaseContext<'_>, defaults: &Defaults, d: &mut Diagnostics) -> Option<CheckedCase> {
    let scope = Scope { vars: vars::of(node), ..cx.scope };
    let node = &*vars::fill(node, scope, d);
    let object = if cx.directory.is_some() { Case::IN_FILE } else { Case::IN_LIST };
    let mut fields = Fields::new(node, object, d)?;
    if defaults.size.is_some_and(|(bytes, span)| !scope.shared.may_copy(bytes, span, d)) {
        return None;
    }
    if cx.directory.is_some() {
        fields = fields.at_top();
    }
    // Its cases are read without it.
    fields.get(matrix::KEY);
    let (id, id_span) = values::read_id(&mut fields, cx.directory, d);
    let mut parts = fields.parts(scope, d);
    let execution = fields.get("execution").map(|entry| execution::case(&entry.value, scope, d)).unwrap_or_default();
    let criteria = fields
        .get_renamed("criteria", d)
        .and_then(|entry| fields::text(&entry.value, &fields::label(entry), d).or(Some(String::new())));
    let expected_entry = fields.get("expected_output");
    let expected_output = expected_entry.map(|entry| input::read_expected_output(entry, scope, d)).unwrap_or_default();
    let (mut conversation, mut users_of_turns) = (None, Vec::new());
    let before = d.len();
    super::conversation::read(&mut conversation, &mut users_of_turns, &mut fields, scope, d);
    let turns_are_broken = d.len() > before;
    let is_conversation = conversation.is_some();
    if let (Some(entry), true) = (expected_entry, is_conversation) {
        let message = "`expected_output` has no meaning in a conversation";
        d.report(Code::ConversationMismatch, entry.key_span, message, "write it in a turn");
    }
    let shared = (!execution.skip_defaults).then_some(defaults);
    let messages = messages(&mut fields, shared, scope, d);

    let written = one_of(fields.get_renamed("assertions", d), execution.common.assertions, d);
    let mut graders: Vec<ParsedGrader> = Vec::new();
    if let Some(entry) = fields.get_replaced("rubrics", d) {
        graders.extend(assertions::rubrics_key(&entry.value, scope, d));
    }
    let before = d.len();
    if let Some(entry) = written {
        graders.extend(assertions::read(&entry.value, scope, d));
    }
    let assertions_are_broken = d.len() > before;
    evaluator(&mut fields, d);
    let examples = fields.get("examples");
    if let (Some(entry), true) = (examples, is_conversation) {
        let message = "`examples` has no meaning in a conversation, which is more than one answer";
        d.report(Code::ConversationMismatch, entry.key_span, message, "write it beside a grader of a turn");
    }
    let examples = examples.map(|entry| examples::read(entry, scope, d)).unwrap_or_default();
    let suite_graders = shared.map_or(&[][..], |shared| &shared.graders);
    vars::check_shared(suite_graders.iter().flat_map(|grader| &grader.notes.references), scope, d);
    let facts = CaseFacts {
        expected_output: &expected_output,
        reference_is_broken: expected_entry.is_some() && expected_output.is_empty(),
        has_criteria: criteria.is_some(),
        span: node.span,
        tasks_layout: false,
    };
    let mut user_graders: Vec<_> = assertions::user_graders(graders.iter().chain(suite_graders)).collect();
    user_graders.extend(users_of_turns);
    let has_graders = assertions_are_broken || !graders.is_empty() || !suite_graders.is_empty();
    let merged = assertions::merge(graders, suite_graders, &facts, d);
    let workspace_entry = fields.get("workspace");
    let mut own_workspace = workspace_entry.and_then(|entry| workspace::read(entry, SettingsOwner::Case, scope, d));
    if let (None, Some(template)) = (workspace_entry, cx.sibling_workspace) {
        own_workspace.get_or_insert_default().default_template(template);
    }
    let dependencies = dependencies(&mut fields, d);
    if fields.node.entry("input").is_none_or(|entry| entry.value.is_null())
        && !is_conversation
        && !fields.misspells(&["input"])
    {
        fields.missing(Code::MissingInput, "input", d);
    }
    let is_graded_by_turn = turns_are_broken || conversation.as_ref().is_some_and(Conversation::has_graded_turns);
    let gradable = has_graders || criteria.is_some() || expected_entry.is_some() || is_graded_by_turn;
    let is_without_graders = written.is_some_and(|entry| entry.value.as_sequence().is_some_and(<[Node]>::is_empty));
    if !gradable && is_without_graders {
        let message = "nothing grades the case: it is skipped when it runs";
        d.report(Code::UngradedCase, node.span, message, "add a grader to `assertions`, or `criteria`");
    } else if is_without_graders && let Some(entry) = written {
        let (what, help) = match suite_graders.len() {
            0 if criteria.is_none() => ("", ""),
            0 => ("a judge grades the answer by `criteria`", "delete it, or add graders"),
            1 => ("the suite's grader grades the case", OWN_GRADERS_ONLY),
            _ => ("the suite's graders grade the case", OWN_GRADERS_ONLY),
        };
        if !what.is_empty() {
            let message = format!("an empty list of {} has no effect: {what}", fields::label(entry));
            d.report(Code::NoEffect, entry.key_span, message, help);
        }
    } else if !gradable && !fields.misspells(&["assertions", "criteria", "expected_output", "turns"]) {
        let message = match is_conversation {
            true => "nothing to grade: the case has no `criteria` or `assertions`, and no turn has graders",
            false => "nothing to grade: the case has no `criteria`, `assertions` or `expected_output`",
        };
        d.report(Code::NothingToGrade, node.span, message, "add `criteria` or `assertions`");
    }
    fields.finish(d);

    if defaults.needs_reference && expected_entry.is_none() {
        let message = "the case has no `expected_output`, which the suite requires";
        let help = "add it, or relax `require_reference_solution` in suite.json";
        d.report(Code::MissingReferenceSolution, node.span, message, help);
    }
    let (target, targets) = targets(&execution, defaults, d);
    let trials = trials(&execution, defaults, d);
    // Before the end of a case without an id: it reports problems, too.
    let workspace = workspace::merge(defaults.workspace.as_ref(), own_workspace, d);
    let mut case = Case::new(id?, scope.files.location(node.span));
    case.dir = scope.roots.compiled(scope.dir);
    case.criteria = criteria.filter(|text| !text.is_empty());
    case.input = Input::Messages(messages);
    case.expected_output = expected_output;
    case.graders = merged;
    case.examples = examples;
    case.trials = trials;
    case.threshold = execution.common.threshold.or(defaults.threshold);
    case.timeout_seconds = execution.common.timeout_seconds.or(defaults.timeout_seconds);
    case.target = target;
    case.targets = targets;
    case.fill(&mut parts);
    let own_tags = std::mem::replace(&mut case.tags, defaults.tags.clone());
    execution::add_requirements(&mut case.tags, own_tags);
    case.metadata = merge_metadata(&defaults.metadata, case.metadata);
    case.requires = execution::merge_requirements(&defaults.requires, case.requires);
    case.depends_on = dependencies.iter().map(|(id, _)| id.clone()).collect();
    case.conversation =
        conversation.filter(|conversation| !conversation.turns.is_empty() || conversation.user.is_some());
    case.workspace = workspace;
    case.preprocessors = defaults.preprocessors.clone();
    Some(CheckedCase { case: case.into(), span: node.span, id_span, dependencies, user_graders })
}

/// What to write for a case without graders of its suite.
const OWN_GRADERS_ONLY: &str =
    "delete it; `execution: {skip_defaults: true}` leaves out what the suite gives its cases";

fn messages(fields: &mut Fields<'_>, shared: Option<&Defaults>, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Message> {
    let entry = fields.get("input");
    let files_entry = fields.get("input_files");
    let own_files = files_entry.map(|entry| input::files(entry, scope, d));
    let mut messages = shared.map(|shared| shared.messages.clone()).unwrap_or_default();
    let Some(entry) = entry else { return messages };
    let suite_files = shared.map_or(&[][..], |shared| &shared.input_files);
    let files = own_files.as_deref().unwrap_or(suite_files);
    messages.extend(input::read(entry, files, scope, d).into_iter().flatten());
    if entry.value.as_sequence().is_some_and(|items| !items.is_empty()) {
        if let Some(files) = files_entry {
            let message = "`input_files` needs a text `input`, found a list of messages";
            let help = "add parts of `type: file` to a message";
            d.report(Code::InputFilesWithMessages, files.key_span, message, help);
        } else if !suite_files.is_empty() {
            let message = "the suite's `input_files` need a text `input`, found a list of messages";
            let help = "add parts of `type: file` to a message, and `execution: {skip_defaults: true}`";
            d.report(Code::InputFilesWithMessages, entry.key_span, message, help);
        }
    }
    messages
}

/// Whichever of two entries exists; both are a conflict.
pub(crate) fn one_of<'n>(one: Option<&'n Entry>, other: Option<&'n Entry>, d: &mut Diagnostics) -> Option<&'n Entry> {
    if let (Some(one), Some(other)) = (one, other) {
        let message = format!("`{}` and `execution.{}` are one setting", one.key, other.key);
        let first = (one.key_span, format!("`{}` is here", one.key));
        report_both(Code::ConflictingKeys, (other.key_span, message), first, "keep `assertions` of the case", d);
    }
    one.or(other)
}

/// The old key `evaluator`, whose values are the default behaviour.
pub(crate) fn evaluator(fields: &mut Fields<'_>, d: &mut Diagnostics) {
    let Some(entry) = fields.get_replaced("evaluator", d) else { return };
    fields::word(&entry.value, "`evaluator`", &["llm-grader"], d);
}

/// The ids of `depends_on`, each once, and where they are.
fn dependencies(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Vec<(String, Span)> {
    let mut dependencies: Vec<(String, Span)> = Vec::new();
    let mut seen = HashSet::new();
    let depends_on = fields.get("depends_on");
    let nodes = depends_on.and_then(|entry| fields::list(&entry.value, "`depends_on`", d)).unwrap_or_default();
    for node in nodes {
        if let Some(id) = fields::literal_text(node, "an id in `depends_on`", d)
            && seen.insert(id.clone())
        {
            dependencies.push((id, node.span));
        }
    }
    if let (Some(entry), None) = (fields.get("on_dependency_failure"), depends_on) {
        let message = "`on_dependency_failure` has no effect without `depends_on`";
        d.report(Code::NoEffect, entry.key_span, message, "delete it, or add `depends_on`");
    }
    dependencies
}

/// The target of a case, or its part of the matrix.
fn targets(execution: &execution::Case<'_>, defaults: &Defaults, d: &mut Diagnostics) -> (Option<String>, Vec<String>) {
    let names = || defaults.targets.iter().map(String::as_str);
    // One name is faster found in the list, many are in a set.
    let set: Option<HashSet<&str>> = (execution.targets.len() > 8).then(|| names().collect());
    let mut check = |name: &str, span: Span| {
        if set.as_ref().map_or_else(|| names().any(|known| known == name), |set| set.contains(name)) {
            return true;
        }
        let help = if defaults.targets.is_empty() || are_many(d) {
            "list the targets in `execution.targets` of the suite".to_owned()
        } else {
            evalsuite_schema::diagnostics::suggest::did_you_mean_or_known(name, &names().collect::<Vec<_>>())
        };
        let message = format!("target `{name}` is not in `execution.targets` of the suite");
        d.report(Code::InvalidTarget, span, message, help);
        false
    };
    let mut selected = Vec::new();
    let mut seen = HashSet::new();
    for (name, span) in &execution.targets {
        if check(name, *span) && seen.insert(name) {
            selected.push(name.clone());
        }
    }
    match &execution.common.target {
        Some((name, span)) if !defaults.targets.is_empty() => {
            if check(name, *span) {
                selected = vec![name.clone()];
            }
            (None, selected)
        }
        Some((name, _)) => (Some(name.clone()), selected),
        None => (defaults.target.clone(), selected),
    }
}

fn trials(execution: &execution::Case<'_>, defaults: &Defaults, d: &mut Diagnostics) -> Trials {
    if let (Some(trials), Some(span)) = (&execution.common.trials, execution.common.strategy_span) {
        check_strategy(trials, span, defaults.kind, d);
    }
    execution.common.trials.clone().or_else(|| defaults.trials.clone()).unwrap_or_default()
}

/// One passed trial cannot be enough where every trial has to pass, and an interval cannot be computed from trials that are not independent.
pub(crate) fn check_strategy(trials: &Trials, span: Span, kind: SuiteKind, d: &mut Diagnostics) {
    if trials.strategy == Some(Strategy::PassAtK) && kind != SuiteKind::Capability {
        let message = "`strategy: pass_at_k` contradicts the suite's kind, which asks every trial to pass";
        d.report(Code::SettingConflict, span, message, "delete `strategy`, or make the suite `kind: capability`");
    }
    if trials.strategy == Some(Strategy::ConfidenceInterval) && trials.correlated {
        let message = "`strategy: confidence_interval` contradicts `correlated: true`: trials that resemble each other have no interval";
        d.report(Code::SettingConflict, span, message, "write `strategy: mean`, or delete `correlated`");
    }
}

const GOVERNANCE: &str = "governance";

/// The metadata of every case of a suite: its `metadata`, and its `governance` under that name.
pub(crate) fn of_suite(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Object {
    let written = fields.get("metadata");
    let mut metadata = written.and_then(|entry| fields::object(&entry.value, "`metadata`", d)).unwrap_or_default();
    let Some(entry) = fields.get(GOVERNANCE) else { return metadata };
    if let Some(other) = written.and_then(|metadata| metadata.value.entry(GOVERNANCE)) {
        let message = "`governance` and `metadata.governance` are one setting";
        let other = (other.key_span, "`metadata.governance` is here");
        report_both(Code::ConflictingKeys, (entry.key_span, message), other, "keep `governance`", d);
    }
    if let Some(governance) = fields::object(&entry.value, "`governance`", d) {
        metadata.insert(GOVERNANCE.to_owned(), Value::Object(governance));
    }
    metadata
}

/// The metadata of a case and its suite: mappings are merged, lists are joined without repeats, the suite's elements first,
/// and of two other values the case's holds.
pub(crate) fn merge_metadata(suite: &Object, mut case: Object) -> Object {
    for (key, shared) in suite {
        match (case.get_mut(key), shared) {
            (None, _) => {
                case.insert(key.clone(), shared.clone());
            }
            (Some(Value::Object(own)), Value::Object(shared)) => *own = merge_metadata(shared, std::mem::take(own)),
            (Some(Value::Array(own)), Value::Array(shared)) => *own = join(shared, own),
            (Some(_), _) => {}
        }
    }
    case
}

fn join(first: &[Value], second: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    first.iter().chain(second).filter(|value| seen.insert(*value)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::{Value, json};

    use super::merge_metadata;

    fn merged(suite: Value, case: Value) -> Value {
        let (Value::Object(suite), Value::Object(case)) = (suite, case) else { panic!("metadata is a mapping") };
        Value::Object(merge_metadata(&suite, case))
    }

    #[test]
    fn mappings_are_merged_and_lists_joined_without_repeats() {
        let suite = json!({"governance": {"controls": ["A-1", "A-2"], "owner": "shop", "risk": {"tier": "low"}}});
        let case = json!({"bucket": "refunds", "governance": {"controls": ["B-1", "A-2", "B-1"], "risk": {"note": 3}}});
        assert_eq!(
            merged(suite, case),
            json!({
                "bucket": "refunds",
                "governance": {"controls": ["A-1", "A-2", "B-1"], "risk": {"note": 3, "tier": "low"}, "owner": "shop"},
            })
        );
    }

    #[test]
    fn a_value_of_the_case_holds() {
        let suite = json!({"owner": "shop", "tier": ["low"], "area": {"a": 1}, "since": 2024});
        let case = json!({"owner": null, "tier": "high", "area": ["b"], "since": 2025});
        assert_eq!(merged(suite, case.clone()), case);
    }
}
