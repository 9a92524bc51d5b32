//! `evals/evals.json`: its evals, and its arms, which are targets with the skill, without it, and with an older copy.

use std::path::Path;

use evalsuite_schema::discovery::SKILL_FILE;
use evalsuite_schema::grader::{Criterion, GraderConfig, LlmGrader, Rubrics, SkillTrigger};
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{
    Case, Grader, Input, Message, OLD_SKILL, Object, OldSkill, PathRef, Role, SkillEval, SkillEvals, SkillExpectation,
    Target, Trials, Value, WITH_SKILL, WITHOUT_SKILL, Workspace, WorkspaceCopy,
};

use super::{SkillCases, skill_file};
use crate::cases::case::{self, CheckedCase};
use crate::cases::{target_skill, workspace};
use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields::paths::{self, FoundPath, PathKind, Scope};
use crate::fields::{self, Fields, values};
use crate::graders;
use crate::graders::{CaseFacts, ParsedGrader, assertions};
use crate::read;
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// What the file says.
#[derive(Debug)]
pub(super) struct EvalsFile {
    pub(super) skill_name: Option<(String, Span)>,
    pub(super) version: Option<String>,
    pub(super) metadata: Object,
    pub(super) canary: Option<String>,
    pub(super) arms: Vec<Arm>,
    /// The directories of the workspace that the skill is put into.
    pub(super) directories: Vec<String>,
    pub(super) trials: u32,
    /// The gates, as far as they can be read without the arms.
    pub(super) gates: Option<Entry>,
    /// The evals.
    pub(super) nodes: Vec<Node>,
}

pub(super) fn read(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<EvalsFile> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let mut root = read::parse_json(file, &text, d)?;
    let help = "write `{\"skill_name\": …, \"evals\": […]}`";
    let mut fields = Fields::of_root(&root, SkillEvals::TABLE, help, d)?;
    fields.get("$schema");
    let skill_name = fields.get("skill_name").and_then(|entry| {
        let name = fields::text(&entry.value, "`skill_name`", d)?;
        Some((name, entry.value.span))
    });
    let canary = fields.get("canary").and_then(|entry| fields::canary(entry, d));
    let arms = fields.get("arms").map(|entry| read_arms(entry, scope, d)).unwrap_or_default();
    let directories = fields.get("skill_directories").map(|entry| target_skill::directories(entry, d));
    let gates = fields.get("gates").cloned();
    let written: SkillEvals = fields.parts(scope, d).into_value_of_rest()?;
    let evals = fields.require("evals", d);
    let key = evals.filter(|entry| fields::list(&entry.value, "`evals`", d).is_some()).map(|entry| entry.key_span);
    fields.finish(d);
    let evals = key.and_then(|key| root.take_entry(key));
    let nodes = match evals.map(|entry| (entry.value.span, entry.value.data)) {
        Some((span, Data::Sequence(nodes))) if nodes.is_empty() => {
            d.report(Code::NoCases, span, "`evals` is empty", "add an eval: `{\"id\": 1, \"prompt\": …}`");
            nodes
        }
        Some((_, Data::Sequence(nodes))) => nodes,
        _ => Vec::new(),
    };
    let SkillEvals { version, metadata, trials, .. } = written;
    let directories = directories.unwrap_or_else(target_skill::usual_directories);
    Some(EvalsFile { skill_name, version, metadata, canary, arms, directories, trials, gates, nodes })
}

impl Default for EvalsFile {
    /// A file that could not be read.
    fn default() -> Self {
        Self {
            skill_name: None,
            version: None,
            metadata: Object::default(),
            canary: None,
            arms: Vec::new(),
            directories: target_skill::usual_directories(),
            trials: 1,
            gates: None,
            nodes: Vec::new(),
        }
    }
}

/// The id of an eval, if it is valid.
pub(super) fn id_of(node: &Node) -> Option<String> {
    match &node.entry("id")?.value.data {
        Data::Number(number) => Some(number.to_string()),
        Data::String(text) => Some(text.clone()),
        _ => None,
    }
}

pub(super) fn read_eval(
    node: &Node,
    shared: &SkillCases,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<CheckedCase> {
    let mut fields = Fields::new(node, SkillEval::TABLE, d)?;
    let id_entry = fields.require("id", d);
    let id = id_entry.and_then(|entry| match &entry.value.data {
        Data::Number(number) => Some(number.to_string()),
        _ => values::of_text(&entry.value, d),
    });
    let prompt = match fields.get("prompt") {
        Some(entry) => fields::text(&entry.value, "`prompt`", d),
        None => {
            fields.missing(Code::MissingInput, "prompt", d);
            None
        }
    };
    let written: SkillEval = fields.parts(scope, d).into_value_of_rest()?;
    let files = fields.get("files").map(|entry| copies(entry, scope, d)).unwrap_or_default();
    let list = fields.get_renamed("expectations", d);
    let expectations = list.map_or(Some(Vec::new()), |entry| expectations(entry, scope, d));
    let spans = Spans {
        eval: node.span,
        expectations: list.map(|entry| entry.value.span),
        should_trigger: fields.get("should_trigger").map(|entry| entry.value.span),
        expected_output: fields.get("expected_output").map(|entry| entry.value.span),
    };
    let is_misspelled = fields.misspells(&["expectations", "assertions", "expected_output", "should_trigger"]);
    fields.finish(d);
    let graders = graders_of(&written, expectations?, &spans, &shared.skill, scope);
    let is_empty_list = list.and_then(|entry| entry.value.as_sequence()).is_some_and(<[Node]>::is_empty);
    // Whether something is written that would grade the eval if it had no problem.
    let is_graded =
        list.is_some() && !is_empty_list || spans.should_trigger.is_some() || spans.expected_output.is_some();
    if !is_graded && !is_misspelled {
        ungraded(node.span, is_empty_list, d);
    }
    let facts = CaseFacts {
        expected_output: &[],
        reference_is_broken: false,
        has_criteria: written.expected_output.is_some(),
        span: node.span,
        tasks_layout: false,
    };
    let graders = assertions::merge(graders, &[], &facts, d);
    let mut case = Case::new(id?, scope.files.location(node.span));
    case.dir = scope.roots.compiled(&scope.roots.eval_dir);
    case.input = Input::Messages(vec![Message::text(Role::User, prompt?)]);
    case.criteria = written.expected_output;
    case.graders = graders;
    case.timeout_seconds = written.timeout;
    case.metadata = case::merge_metadata(&shared.metadata, written.metadata);
    for (key, value) in [
        ("name", written.name.map(Value::String)),
        ("description", written.description.map(Value::String)),
        ("category", written.category.map(Value::String)),
        ("tags", (!written.tags.is_empty()).then(|| written.tags.into())),
    ] {
        if let (Some(value), None) = (value, case.metadata.get(key)) {
            case.metadata.insert(key.to_owned(), value);
        }
    }
    case.trials = Trials::new(shared.trials);
    // Whether the skill is used can only be seen where it is.
    if spans.should_trigger.is_some() {
        case.targets.clone_from(&shared.with_skill);
    }
    let copies = shared.copies.iter().cloned().chain(files).collect();
    case.workspace = Some(Workspace { copies, ..Workspace::default() });
    let id_span = id_entry.map_or(node.span, |entry| entry.value.span);
    Some(CheckedCase {
        case: case.into(),
        span: node.span,
        id_span,
        dependencies: Vec::new(),
        user_graders: Vec::new(),
    })
}

/// Where an eval says how it is graded.
struct Spans {
    eval: Span,
    expectations: Option<Span>,
    should_trigger: Option<Span>,
    expected_output: Option<Span>,
}

/// The expectations as criteria. `None`: a problem was reported.
fn expectations(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Vec<Criterion>> {
    let label = fields::label(entry);
    let nodes = fields::list(&entry.value, &label, d)?;
    let read: Vec<_> = nodes
        .iter()
        .zip(1..)
        .map(|(node, position)| {
            let (text, name) = expectation(node, &label, scope, d)?;
            let (id, span) = name.unwrap_or_else(|| (format!("expectation-{position}"), node.span));
            Some((graders::plain_criterion(id, text, true), span))
        })
        .collect();
    let read: Vec<(Criterion, Span)> = read.into_iter().collect::<Option<_>>()?;
    let ids = read.iter().map(|(criterion, span)| (criterion.id.as_str(), *span));
    graders::have_own_ids(ids, d).then(|| read.into_iter().map(|(criterion, _)| criterion).collect())
}

/// The text of an expectation, and its name with the place of the name.
fn expectation(
    node: &Node,
    label: &str,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<(String, Option<(String, Span)>)> {
    if node.as_mapping().is_none() {
        return Some((fields::text(node, &format!("an element of {label}"), d)?, None));
    }
    let mut fields = Fields::new(node, SkillExpectation::TABLE, d)?;
    let written: Option<SkillExpectation> = fields.parts(scope, d).into_value_of_rest();
    let span = fields.written(fields.key("name")).map_or(node.span, |entry| entry.value.span);
    fields.finish(d);
    let written = written?;
    Some((written.text, written.name.map(|name| (name, span))))
}

/// The expectations, else the description of a good answer; and whether the skill is used.
fn graders_of(
    written: &SkillEval,
    criteria: Vec<Criterion>,
    spans: &Spans,
    skill: &str,
    scope: Scope<'_>,
) -> Vec<ParsedGrader> {
    let grader = |name: &str, span: Option<Span>, config| {
        let span = span.unwrap_or(spans.eval);
        ParsedGrader::new(Grader::new(name, scope.files.location(span), config), span)
    };
    let mut graders = Vec::new();
    if !criteria.is_empty() {
        let config = GraderConfig::Rubrics(Rubrics { criteria, ..Rubrics::default() });
        graders.push(grader("expectations", spans.expectations, config));
    } else if written.expected_output.is_some() {
        let config = GraderConfig::LlmGrader(LlmGrader::default());
        graders.push(grader("expected-output", spans.expected_output, config));
    }
    if let Some(should_trigger) = written.should_trigger {
        let config = GraderConfig::SkillTrigger(SkillTrigger { skill: skill.to_owned(), should_trigger });
        graders.push(grader("skill-trigger", spans.should_trigger, config));
    }
    graders
}

fn ungraded(eval: Span, is_empty_list: bool, d: &mut Diagnostics) {
    let help = "add `expectations` or `expected_output`";
    if is_empty_list {
        d.report(Code::UngradedCase, eval, "nothing grades the case: it is skipped when it runs", help);
    } else {
        let message = "nothing to grade: the eval has no `expectations`, `expected_output` or `should_trigger`";
        d.report(Code::NothingToGrade, eval, message, help);
    }
}

/// The files of an eval, in the workspace under the path that is written.
fn copies(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<WorkspaceCopy> {
    let mut copies: Vec<WorkspaceCopy> = Vec::new();
    for node in fields::list(&entry.value, "`files`", d).unwrap_or_default() {
        let Some(found) = scope.find(node, "`files`", PathKind::Any, d) else { continue };
        if found.path.is_dir() {
            workspace::check_links(&found.path, node, scope, d);
        }
        let written = paths::normalize(found.reference.written.trim().as_ref());
        // A path that leads out of a directory and back would do so in the workspace, too.
        let to = match written.starts_with("..") {
            true => scope.roots.in_suite(&found.path),
            false => written.to_string_lossy().replace('\\', "/"),
        };
        copies.push(WorkspaceCopy { from: found.reference, to, without: Vec::new() });
    }
    copies
}

/// The entry of a targets file whose command is the agent of every arm.
const DEFAULT_TARGET: &str = "default";

/// An arm, where it is written.
#[derive(Debug)]
pub(super) struct Arm {
    /// The name of its target.
    pub(super) name: &'static str,
    old_skill: Option<FoundPath>,
    span: Span,
}

/// The arms that are listed, each once.
fn read_arms(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Arm> {
    let Some(nodes) = fields::list(&entry.value, "`arms`", d) else { return Vec::new() };
    let mut arms: Vec<Arm> = Vec::new();
    let mut is_complete = true;
    for node in nodes {
        let Some(arm) = arm(node, scope, d) else {
            is_complete = false;
            continue;
        };
        match arms.iter().find(|known| known.name == arm.name) {
            Some(first) => {
                let message = format!("arm `{}` is listed twice", arm.name);
                report_both(Code::InvalidTarget, (arm.span, message), (first.span, "first here"), "keep one", d);
            }
            None => arms.push(arm),
        }
    }
    let has_skill = arms.iter().any(|arm| arm.name == WITH_SKILL);
    if is_complete && (!has_skill || arms.len() < 2) {
        let message = "`arms` compares nothing: it needs `with_skill` and another arm";
        let help = "write `[\"with_skill\", \"without_skill\"]`, or delete the key";
        d.report(Code::InvalidTarget, entry.value.span, message, help);
    }
    arms
}

fn arm(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Arm> {
    let known = |name: &'static str| Some(Arm { name, old_skill: None, span: node.span });
    match node.as_str() {
        Some(WITH_SKILL) => known(WITH_SKILL),
        Some(WITHOUT_SKILL) => known(WITHOUT_SKILL),
        Some(other) => {
            let message = format!("unknown arm `{other}`");
            let help = "write `\"with_skill\"`, `\"without_skill\"` or `{\"old_skill\": PATH}`";
            fields::reject(Code::InvalidTarget, node.span, message, help, d)
        }
        None => {
            let mut fields = Fields::new(node, OldSkill::TABLE, d)?;
            let found = fields.require("old_skill", d).and_then(|entry| old_skill(&entry.value, scope, d));
            fields.finish(d);
            Some(Arm { name: OLD_SKILL, old_skill: Some(found?), span: node.span })
        }
    }
}

fn old_skill(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<FoundPath> {
    let found = scope.find(node, "`old_skill`", PathKind::Directory, d)?;
    let written = &found.reference.written;
    let mut invalid = |message: String, help: &str| fields::reject(Code::InvalidTarget, node.span, message, help, d);
    if scope.roots.suite_root.starts_with(&found.path) {
        let message = format!("`{written}` is the directory of the skill itself");
        return invalid(message, "name a copy of an older version, such as `evals/old-skill`");
    }
    if !found.path.join(SKILL_FILE).is_file() {
        let message = format!("`{written}` is not a skill: it has no `{SKILL_FILE}`");
        return invalid(message, "copy the whole directory of the older version");
    }
    workspace::check_links(&found.path, node, scope, d);
    Some(found)
}

/// The targets of the arms of a skill: all of them call the agent of the suite.
pub(super) fn targets_of(
    arms: &[Arm],
    (name, skill): (&str, &PathRef),
    directories: &[String],
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Vec<Target> {
    let mut without = target_skill::without(scope.roots.suite_root == scope.request.package_root);
    // The older copy is not a part of the skill.
    without.extend(arms.iter().filter_map(|arm| Some(scope.roots.in_suite(&arm.old_skill.as_ref()?.path))));
    let target = |arm: &Arm| {
        let mut target = Target::new(arm.name);
        target.use_target = Some(DEFAULT_TARGET.to_owned());
        target.skill = match &arm.old_skill {
            None if arm.name == WITHOUT_SKILL => Vec::new(),
            None => target_skill::copies(skill, name, directories, &without),
            Some(old) => {
                check_name(old, name, arm.span, scope, d);
                target_skill::copies(&old.reference, name, directories, &target_skill::without(false))
            }
        };
        target
    };
    arms.iter().map(target).collect()
}

/// The older copy is put where the skill would be, and agents load a skill only from a directory with its name.
fn check_name(old: &FoundPath, name: &str, span: Span, scope: Scope<'_>, d: &mut Diagnostics) {
    let Some(old_name) = skill_file::read_name(&old.path.join(SKILL_FILE), scope, d) else { return };
    if old_name != name {
        let message = format!("`{}` is skill `{old_name}`, not an older copy of `{name}`", old.reference.written);
        d.report(Code::InvalidTarget, span, message, format!("write `name: {name}` in its `{SKILL_FILE}`"));
    }
}
