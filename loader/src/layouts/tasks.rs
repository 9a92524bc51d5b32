//! `suite.json` with a JSON file per task below `tasks/`.

use std::path::{Path, PathBuf};

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Case, Input, Layout, PathRef, ReferenceSolution, SuiteJson, Task, Trials, Workspace};

use super::{Outline, SuiteEntry, read_suite_json};
use crate::cases::case::CheckedCase;
use crate::cases::{CaseFiles, PlacedCase, ReadCases, is_mapping, sources, takes_file, workspace};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{self, PathKind, Scope};
use crate::fields::{self, Fields, values};
use crate::graders::{CaseFacts, assertions, examples};
use crate::read::node::{Entry, Node};
use crate::source::Span;
use crate::{names, read};

/// The directory of tasks; the case of its letters matters.
pub(super) const DIRECTORY: &str = "tasks";

/// Name of the file that gives its directory's name to the test.
const TASK_FILE: &str = "task.json";

pub(super) fn outline(entry: &SuiteEntry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let path = entry.file.as_deref()?;
    let json = read_suite_json(path, Layout::Tasks, scope, d);
    let root = &scope.roots.suite_root;
    let listing = evalsuite_schema::discovery::list(root, root, "tasks", DIRECTORY);
    sources::report(&listing, root, None, scope, d);
    if listing.files.is_empty() && listing.problems.is_empty() {
        let directory = root.join(DIRECTORY);
        let message = format!("no task in `{}`", scope.files.shown(&directory));
        d.report(Code::NoCases, Span::whole(scope.files.add(&directory)), message, "add a JSON file per task");
    }
    let (suite, json) = json.unzip();
    Some(Outline {
        suite,
        cases: Box::new(TaskFiles { files: listing.files, json }),
        watched: vec![("tasks".to_owned(), DIRECTORY.to_owned())],
        place: Span::whole(scope.files.add(path)),
    })
}

/// The files of tasks, relative to the suite root.
#[derive(Debug)]
struct TaskFiles {
    files: Vec<String>,
    json: Option<SuiteJson>,
}

impl TaskFiles {
    fn read_file(&self, source: &str, scope: Scope<'_>, d: &mut Diagnostics) -> Option<PlacedCase> {
        let path = scope.roots.suite_root.join(source);
        let (id, text) = read::read_text(&path, scope.files, d)?;
        let root = read::parse_json(id, &text, d)?;
        if !is_mapping(&root, "a task file contains one task", d) {
            return None;
        }
        let scope = scope.at(path.parent().unwrap_or(scope.dir));
        let before = paths::lookups();
        let checked = read_task(&root, &path, self.json.as_ref(), scope, d)?;
        let stands_alone = checked.case.workspace.is_none() && paths::lookups() == before;
        let (folders, function) = test_of(source);
        Some(PlacedCase { checked, source: source.to_owned(), folders, function, stands_alone })
    }
}

impl CaseFiles for TaskFiles {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn read_one(&self, index: usize, scope: Scope<'_>, read: &mut ReadCases, d: &mut Diagnostics) {
        let source = &self.files[index];
        if takes_file(source, scope.request) {
            read.cases.extend(self.read_file(source, scope, d));
        } else {
            let (folders, function) = test_of(source);
            read.leave_out(source, folders.into_iter().chain([function]).collect::<Vec<_>>().join("::"), false);
        }
    }

    fn path(&self, index: usize, suite_root: &Path) -> Option<PathBuf> {
        Some(suite_root.join(&self.files[index]))
    }
}

/// Modules and function of the test of a task file.
fn test_of(source: &str) -> (Vec<String>, String) {
    let mut folders: Vec<&str> = source.split('/').skip(1).collect();
    let file = folders.pop().unwrap_or_default();
    let function = match file {
        TASK_FILE => folders.pop().unwrap_or("task"),
        name => &name[..name.len() - ".json".len()],
    };
    (folders.into_iter().map(names::segment).collect(), names::segment(function))
}

/// Reads the task of a suite with this `suite.json`, if that could be read.
fn read_task(
    node: &Node,
    path: &Path,
    suite: Option<&SuiteJson>,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<CheckedCase> {
    let mut fields = Fields::new(node, Task::TABLE, d)?.at_top();
    fields.get("$schema");
    let (id, id_span) = values::read_task(&mut fields, d);
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
