//! From a request to a checked suite.

mod loaded;
mod session;
mod suite_files;

use std::collections::HashMap;
use std::path::Path;

use evalsuite_schema::{Calibration, Kind, Layout as SuiteLayout, Suite};

use crate::cases::case::Defaults;
use crate::cases::sources::{CaseSource, CaseSources};
use crate::cases::{CaseFiles, PlacedCase, ReadCases, sources, task};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, resolve};
use crate::fields::paths;
use crate::fields::paths::{Roots, Scope};
use crate::fields::shared_files::SharedFiles;
use crate::request::{OtherCase, Part, Request};
use crate::source::{Files, Span};
use crate::suite::entry::{Entry, Layout};
use crate::suite::{cross_check, entry, eval_file, linked_directories, suite_json, unused_files};
use crate::{calibration, names};

pub use loaded::{GraderUse, Loaded, LoadedCase, LoadedPart, LoadedSuite, Test};
pub use session::{CasePlace, Session};
pub use suite_files::{SuiteFiles, suite_digest};

/// Reads and checks the suite that `request` names. Never panics, and never stops at the first problem.
pub fn load(request: &Request) -> Loaded {
    load_with_others(request).loaded
}

/// Reads and checks some cases of the suite that `request` names, with what they share.
pub fn load_part(request: &Request, part: Part) -> LoadedPart {
    load_with_others(&Request { part: Some(part), threads: 1, ..request.clone() })
}

fn load_with_others(request: &Request) -> LoadedPart {
    let files = Files::new(&request.workspace_root).with_texts(&request.texts);
    let mut d = Diagnostics::new();
    let (mut user_graders, mut others) = (Vec::new(), Vec::new());
    let suite = entry::find(request, &files, &mut d).and_then(|entry| {
        let suite = read(&entry, request, &files, (&mut user_graders, &mut others), &mut d);
        let links = linked_directories::find(&entry.roots, request, &files, &[&d]);
        d.append(links);
        suite
    });
    let diagnostics = resolve(d, &files);
    let suite = suite.filter(|_| !diagnostics.has_errors());
    LoadedPart { loaded: Loaded { suite, user_graders, diagnostics, files }, others }
}

/// What the files of a suite say without its cases.
#[derive(Debug)]
struct Outline {
    /// `None` if the file of the suite has errors.
    suite: Option<Suite>,
    cases: CaseFiles,
    watched: Vec<(String, String)>,
    /// Where the suite's own settings are.
    place: Span,
}

fn read(
    entry: &Entry,
    request: &Request,
    files: &Files,
    (user_graders, others): (&mut Vec<GraderUse>, &mut Vec<OtherCase>),
    d: &mut Diagnostics,
) -> Option<LoadedSuite> {
    let (roots, shared) = (&entry.roots, SharedFiles::default());
    let scope = Scope { request, roots, files, shared: &shared, dir: &roots.suite_root };
    let outline = outline(entry, scope, d)?;
    let ReadCases { cases, others: left_out } = outline.cases.read(scope, d);
    *others = left_out;
    let (mut suite, calibration) = check_together(entry, &outline, &cases, scope, d)?;
    let has_unread_files = request.part.is_none() && unused_files::report(&outline.watched, &cases, scope, d);
    let read = suite_files::read(files, roots);
    suite.digest = suite_digest(&read);
    *user_graders = graders_used(&cases);
    let (module, tests) = (names::segment(&entry.stem), tests(&suite, &cases));
    let cases = cases.into_iter().map(PlacedCase::into_loaded).collect();
    let sources = outline.watched;
    Some(LoadedSuite { suite, module, sources, cases, tests, calibration, files: read, has_unread_files })
}

fn outline(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    match &entry.layout {
        Layout::Tasks { suite_json } => Some(tasks(suite_json, scope, d)),
        Layout::Combined { suite_json } => Some(combined(suite_json, scope, d)),
        Layout::Cases { eval_file } => cases_layout(eval_file, scope, d),
        Layout::Directories => Some(bare(entry, None, scope, d)),
        Layout::Lines { file } => Some(bare(entry, Some(file), scope, d)),
    }
}

/// Checks the cases against each other and against the suite, and reads the calibration.
fn check_together(
    entry: &Entry,
    outline: &Outline,
    cases: &[PlacedCase],
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<(Suite, Option<Calibration>)> {
    let (mut suite, place) = (outline.suite.clone()?, outline.place);
    let Scope { request, roots, files, .. } = scope;
    if cases.len() > cross_check::MAX_CASES {
        d.report(
            Code::LimitExceeded,
            Span::whole(files.add(&roots.suite_root)),
            format!("{} cases in one suite, more than {}", cases.len(), cross_check::MAX_CASES),
            "split the suite",
        );
    }
    let is_whole = request.part.is_none();
    if is_whole {
        cross_check::check(cases, files, d);
    }
    matrix(&mut suite, request, roots, files, d);
    cross_check::unique_targets(&suite, place, d);
    let test_count = count_tests(&suite, cases);
    if test_count > MAX_TESTS {
        let message = format!("{test_count} tests in one suite, more than {MAX_TESTS}");
        d.report(Code::LimitExceeded, place, message, "list fewer targets, or split the suite");
        return None;
    }
    if !is_whole {
        return Some((suite, None));
    }
    cross_check::unjudged_criteria(cases, place, d);
    let calibration = calibration(entry, cases, scope, d);
    Some((suite, calibration))
}

fn graders_used(cases: &[PlacedCase]) -> Vec<GraderUse> {
    let mut used: Vec<GraderUse> = Vec::new();
    for (name, span) in cases.iter().flat_map(|case| &case.checked.user_graders) {
        // A suite's grader is used by every case, and written once.
        if used.iter().rev().take(8).all(|known| known.span != *span || known.name != *name) {
            used.push(GraderUse { name: name.clone(), span: *span });
        }
    }
    used
}

/// The calibration of the suite's judges.
fn calibration(entry: &Entry, cases: &[PlacedCase], scope: Scope<'_>, d: &mut Diagnostics) -> Option<Calibration> {
    let own = match &entry.layout {
        Layout::Cases { eval_file: file } | Layout::Lines { file } => Some(paths::file_name(file)),
        Layout::Tasks { .. } | Layout::Combined { .. } | Layout::Directories => None,
    };
    let path = calibration::find(&entry.roots.suite_root, own.as_deref(), scope, d)?;
    let all = (!d.has_errors()).then(|| cases.iter().map(|placed| &*placed.checked.case));
    calibration::read(&path, all, scope, d)
}

impl PlacedCase {
    fn into_loaded(self) -> LoadedCase {
        LoadedCase {
            case: self.checked.case,
            source: self.source,
            span: self.checked.span,
            folders: self.folders,
            function: self.function,
            user_graders: self.checked.user_graders.into_iter().map(|(name, _)| name).collect(),
            stands_alone: self.stands_alone,
        }
    }
}

fn tasks(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Outline {
    let json = suite_json::read(path, SuiteLayout::Tasks, scope, d);
    let root = &scope.roots.suite_root;
    let listing = evalsuite_discovery::list(root, root, "tasks", "tasks");
    sources::report(&listing, root, None, scope, d);
    if listing.files.is_empty() && listing.problems.is_empty() {
        let directory = root.join("tasks");
        let shown = scope.files.shown(&directory);
        d.report(
            Code::NoCases,
            Span::whole(scope.files.add(&directory)),
            format!("no task in `{shown}`"),
            "add a JSON file per task",
        );
    }
    let rules = task::TaskRules {
        needs_reference: json.as_ref().is_some_and(|(_, written)| written.require_reference_solution),
        threshold: json.as_ref().and_then(|(_, written)| written.task_pass_threshold),
    };
    Outline {
        suite: json.map(|(suite, _)| suite),
        cases: CaseFiles::Tasks { files: listing.files, rules },
        watched: vec![("tasks".to_owned(), "tasks".to_owned())],
        place: Span::whole(scope.files.add(path)),
    }
}

fn combined(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Outline {
    let json = suite_json::read(path, SuiteLayout::Combined, scope, d);
    // The kind of an unreadable suite file is unknown: every strategy may be right.
    let mut defaults = Defaults::new(json.as_ref().map_or(Kind::Capability, |(suite, _)| suite.kind));
    if let Some((_, written)) = &json {
        defaults.threshold = written.task_pass_threshold;
        defaults.needs_reference = written.require_reference_solution;
    }
    let directory = scope.roots.suite_root.join("cases");
    let mut sources = CaseSources::default();
    sources::directory(&directory, Span::whole(scope.files.add(&directory)), scope, &mut sources, d);
    let place = Span::whole(scope.files.add(path));
    outline_of(json.map(|(suite, _)| suite), sources, defaults, place)
}

fn cases_layout(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let mut root = eval_file::parse(path, scope, d)?;
    let (mut eval, tests) = eval_file::read(&root, path, scope, d)?;
    eval.defaults.targets.extend(scope.request.targets.iter().cloned());
    let tests = tests.map(|entry| entry.key_span).and_then(|key| root.take_entry(key));
    let sources = match tests {
        Some(entry) => {
            let place = entry.value.span;
            let sources = sources::read(entry, scope, d);
            // Other eval files may share the directory with the one whose cases these are.
            if paths::file_stem(path).eq_ignore_ascii_case("eval") {
                sources::check_directory(place, &sources, scope, d);
            }
            sources
        }
        None => {
            let directory = scope.roots.suite_root.join("cases");
            let mut sources = CaseSources::default();
            if directory.is_dir() {
                sources::directory(&directory, Span::whole(scope.files.add(&directory)), scope, &mut sources, d);
            } else {
                eval_file::missing_tests(&root, d);
            }
            sources
        }
    };
    Some(outline_of(Some(eval.suite), sources, eval.defaults, eval.targets_span))
}

fn bare(entry: &Entry, lines: Option<&Path>, scope: Scope<'_>, d: &mut Diagnostics) -> Outline {
    let mut defaults = Defaults::new(Kind::Capability);
    defaults.targets.clone_from(&scope.request.targets);
    let root = &scope.roots.suite_root;
    let place = Span::whole(scope.files.add(lines.unwrap_or(root)));
    let mut sources = CaseSources::default();
    match lines {
        Some(file) => {
            sources.list.push(CaseSource::List { file: file.to_path_buf(), source: String::new(), span: place })
        }
        None => sources::directory(root, place, scope, &mut sources, d),
    }
    let suite = suite_json::empty(entry.stem.clone(), SuiteLayout::Bare, place, scope.roots, scope.files);
    outline_of(Some(suite), sources, defaults, place)
}

fn outline_of(suite: Option<Suite>, sources: CaseSources, defaults: Defaults, place: Span) -> Outline {
    let cases = CaseFiles::Sources { list: sources.list, defaults: Box::new(defaults) };
    Outline { suite, cases, watched: sources.watched, place }
}

/// The matrix named by the request, for a suite whose files have none.
fn matrix(suite: &mut Suite, request: &Request, roots: &Roots, files: &Files, d: &mut Diagnostics) {
    if request.targets.is_empty() {
        return;
    }
    if !suite.targets.is_empty() {
        d.push(
            Diagnostic::new(Code::ConflictingKeys, "the files of the suite and the macro both list targets")
                .at(Span::whole(files.add(&roots.suite_root)))
                .help("keep `execution.targets`, or the macro's `targets`"),
        );
        return;
    }
    for name in &request.targets {
        if suite.targets.iter().any(|target| target.name == *name) {
            let message = format!("target `{name}` is listed twice");
            d.report(Code::InvalidTarget, Span::whole(files.add(&roots.suite_root)), message, "keep one");
        } else {
            let (name, hooks) = (name.clone(), evalsuite_schema::Hooks::default());
            suite.targets.push(evalsuite_schema::Target { name, use_target: None, hooks });
        }
    }
}

/// Maximum number of tests of one suite: every case with a few targets.
const MAX_TESTS: usize = 10 * cross_check::MAX_CASES;

fn count_tests(suite: &Suite, cases: &[PlacedCase]) -> usize {
    let of_case = |case: &PlacedCase| match case.checked.case.targets.len() {
        0 => suite.targets.len().max(1),
        chosen => chosen,
    };
    cases.iter().map(of_case).sum()
}

/// One test per case, or one per target and case.
fn tests(suite: &Suite, cases: &[PlacedCase]) -> Vec<Test> {
    let path = |prefix: Option<&str>, case: &PlacedCase| {
        let mut path: Vec<String> = prefix.map(names::segment).into_iter().collect();
        path.extend(case.folders.iter().cloned());
        path.push(case.function.clone());
        path
    };
    if suite.targets.is_empty() {
        let test = |(index, case)| Test { case: index, target: None, path: path(None, case) };
        return cases.iter().enumerate().map(test).collect();
    }
    let index: HashMap<&str, usize> =
        suite.targets.iter().enumerate().map(|(index, target)| (target.name.as_str(), index)).collect();
    let mut of_targets: Vec<Vec<usize>> = vec![Vec::new(); suite.targets.len()];
    for (number, case) in cases.iter().enumerate() {
        let chosen = &case.checked.case.targets;
        if chosen.is_empty() {
            of_targets.iter_mut().for_each(|cases| cases.push(number));
        }
        for target in chosen.iter().filter_map(|name| index.get(name.as_str())) {
            of_targets[*target].push(number);
        }
    }
    let of_target = |(target, numbers): (&evalsuite_schema::Target, Vec<usize>)| {
        let test = |number: usize| Test {
            case: number,
            target: Some(target.name.clone()),
            path: path(Some(&target.name), &cases[number]),
        };
        numbers.into_iter().map(test).collect::<Vec<_>>()
    };
    suite.targets.iter().zip(of_targets).flat_map(of_target).collect()
}
