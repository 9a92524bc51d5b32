//! A task file.

use std::path::Path;

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Case, Input, PathRef, ReferenceSolution, SuiteJson, Task, Trials, Workspace};

use crate::cases::case::CheckedCase;
use crate::cases::workspace;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{PathKind, Scope};
use crate::fields::{self, Fields, id};
use crate::graders::assertions::CaseFacts;
use crate::graders::{assertions, examples};
use crate::read::node::{Entry, Node};

/// Reads the task of a suite with this `suite.json`, if that could be read.
pub(super) fn read(
    node: &Node,
    path: &Path,
    suite: Option<&SuiteJson>,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<CheckedCase> {
    let mut fields = Fields::new(node, Task::TABLE, d)?.at_top();
    fields.get("$schema");
    let (id, id_span) = id::read_task(&mut fields, d);
    let written: Task = fields.parts(scope, d).into_value_of_rest()?;
    let (input_entry, reference_entry) = (fields.get("input"), fields.get("reference_solution"));
    if suite.is_some_and(|suite| suite.require_reference_solution) && reference_entry.is_none() {
        let message = "the task has no `reference_solution`, which the suite requires";
        let help = "add it, or relax `require_reference_solution` in suite.json";
        d.report(Code::MissingReferenceSolution, node.span, message, help);
    }
    let graders = match fields.get("graders") {
        Some(entry) if entry.value.as_sequence().is_some_and(<[Node]>::is_empty) => {
            d.report(Code::NoGraders, entry.value.span, "`graders` is empty", "add a grader: `{\"name\": …}`");
            Vec::new()
        }
        Some(entry) => assertions::task_graders(&entry.value, scope, d),
        None => {
            fields.missing(Code::NoGraders, "graders", d);
            Vec::new()
        }
    };
    let examples = fields.get("examples").map(|entry| examples::read(entry, scope, d)).unwrap_or_default();
    fields.get("canary").and_then(|entry| fields::canary(entry, d));
    fields.finish(d);
    // The expected outcome is what graders compare an answer with.
    let reference = written.reference_solution.as_ref().map(ReferenceSolution::messages).unwrap_or_default();
    let has_outcome = |entry: &Entry| {
        let key = entry.value.entry("expected_outcome");
        entry.value.as_mapping().is_none() || key.is_some_and(|entry| !entry.value.is_null())
    };
    let facts = CaseFacts {
        expected_output: &reference,
        reference_is_broken: reference_entry.is_some_and(has_outcome) && reference.is_empty(),
        has_criteria: written.description.is_some(),
        span: node.span,
        tasks_layout: true,
    };
    let user_graders = assertions::user_graders(graders.iter()).collect();
    let graders = assertions::merge(graders, &[], &facts, d);
    let workspace = if scope.request.fixtures { fixtures(node, input_entry, path, scope, d) } else { None };
    let mut case = Case::new(id?, scope.files.location(node.span));
    case.dir = scope.roots.compiled(scope.dir);
    case.description = written.description;
    case.input = Input::Data(written.input);
    case.reference_solution = written.reference_solution;
    case.graders = graders;
    case.examples = examples;
    case.trials = Trials::new(written.trials_per_run.unwrap_or(1));
    case.threshold = suite.and_then(|suite| suite.task_pass_threshold);
    case.timeout_seconds = written.timeout_seconds;
    case.tags = written.tags;
    case.metadata = written.metadata;
    case.probe = written.probe.unwrap_or_default();
    case.workspace = workspace;
    Some(CheckedCase { case: case.into(), span: node.span, id_span, dependencies: Vec::new(), user_graders })
}

/// The workspace of a task: `input.fixture_dir`, else `workspace/` next to the file, on top of `input.base_fixture`.
fn fixtures(
    node: &Node,
    input: Option<&Entry>,
    path: &Path,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<Workspace> {
    let named = |key: &str, d: &mut Diagnostics| -> Option<Option<PathRef>> {
        let entry = input?.value.entry(key)?;
        // Only text names a fixture; anything else belongs to the agent.
        let text = entry.value.as_str()?;
        if text.trim().is_empty() {
            let message = format!("`{key}` is blank");
            d.report(Code::MissingFixture, entry.value.span, message, "name a directory, or delete it");
            return Some(None);
        }
        let expected = (Code::MissingFixture, PathKind::Directory);
        let found = scope.find_text(text, &entry.value, &format!("`{key}`"), expected, d);
        if let Some(found) = &found {
            workspace::check_links(&found.path, &entry.value, scope, d);
        }
        Some(found.map(|found| found.reference))
    };
    let base_fixture = named("base_fixture", d).flatten();
    let template = match named("fixture_dir", d) {
        Some(found) => found,
        None => sibling(path, input.map_or(node, |entry| &entry.value), scope, d),
    };
    if base_fixture.is_none() && template.is_none() {
        return None;
    }
    Some(Workspace { template, base_fixture, ..Workspace::default() })
}

fn sibling(path: &Path, node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<PathRef> {
    let directory = path.with_file_name("workspace");
    // A link out of the suite was reported where tasks were listed.
    let is_inside = directory.canonicalize().is_ok_and(|real| real.starts_with(&scope.roots.real_boundary));
    if !directory.is_dir() || !is_inside {
        return None;
    }
    workspace::check_links(&directory, node, scope, d);
    Some(PathRef::found("workspace", scope.roots.compiled(&directory)))
}
