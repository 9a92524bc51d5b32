//! `EVALSUITE_RELOAD`: suites and cases that changed since the build, loaded again in this process.

mod merged_suite;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use evalsuite_loader::{Part, SuiteFiles, suite_digest};
use evalsuite_schema::diagnostics::render;
use evalsuite_schema::digest::parse_hexadecimal;

use self::merged_suite::{CheckedPart, CheckedSuite};
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::suite_description::NewCase;
use crate::model::evals::Evals;
use crate::model::suite::{EvalCase, EvalSuite, Origin};
use crate::model::suite_location::SuiteLocation;
use crate::platform::errors::text_error;
use crate::platform::notice;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

text_error! {
    /// Why a suite cannot be loaded again.
    ReloadError
}

impl From<ReloadError> for RunError {
    fn from(error: ReloadError) -> Self {
        Self::new(RunErrorKind::Suite, error.to_string())
    }
}

/// The suite with a case as its files are now, if `EVALSUITE_RELOAD` asks for that.
pub(crate) fn for_case(
    evals: Evals,
    case: &'static EvalCase,
    settings: &Settings,
    run: &RunDirectory,
) -> Result<Evals, ReloadError> {
    if settings.reload { reloaded_for_case(evals, case, run) } else { Ok(evals) }
}

/// The suite with all its cases as their files are now, if `EVALSUITE_RELOAD` asks for that. Cases that are gone are left out.
pub(crate) fn whole_suite(evals: Evals, settings: &Settings) -> Result<Evals, ReloadError> {
    if settings.reload { Ok(reloaded_suite(evals, None)?.0) } else { Ok(evals) }
}

/// The same for a run, which lists the cases that are new or gone, and the errors of those of the `wanted` cases that are gone.
pub(crate) fn whole_suite_of_run(
    evals: Evals,
    settings: &Settings,
    run: &RunDirectory,
    wanted: impl Fn(&Evals, &EvalCase) -> bool,
) -> Result<(Evals, Vec<String>), ReloadError> {
    if !settings.reload {
        return Ok((evals, Vec::new()));
    }
    let built = evals.clone();
    let (evals, gone) = reloaded_suite(evals, Some(run))?;
    let wanted = gone.into_iter().filter(|case| wanted(&built, case));
    Ok((evals, wanted.map(|case| is_gone(built.suite(), case)).collect()))
}

/// The error of a test whose case is gone.
fn is_gone(built: &EvalSuite, case: &EvalCase) -> String {
    format!("`{}` has no case for the test `{}` any more\nhelp: build again", built.root, built.test_path(case))
}

/// After this many cases a process loads the whole suite.
const PARTS: usize = 8;

/// How long before a program was written its suite may have been read.
const LONGEST_BUILD: Duration = Duration::from_secs(60);

/// What this process has loaded of a suite.
struct Progress {
    built: &'static EvalSuite,
    parts: usize,
    whole: Option<Whole>,
}

/// A suite that was loaded as a whole.
#[derive(Clone)]
struct Whole {
    suite: &'static EvalSuite,
    /// The compiled cases that it does not have any more.
    gone: Arc<[&'static EvalCase]>,
}

static PROGRESS: Mutex<Vec<Progress>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<Progress>> {
    PROGRESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The suite with a case, and those it depends on, as their files are now.
fn reloaded_for_case(evals: Evals, case: &'static EvalCase, run: &RunDirectory) -> Result<Evals, ReloadError> {
    let built = evals.suite();
    let origin = origin(built)?;
    let now = match known_whole(&evals, origin, run)? {
        Some(whole) if whole.gone.iter().any(|gone| gone.test_name == case.test_name) => {
            return Err(ReloadError(is_gone(built, case)));
        }
        Some(whole) => whole.suite,
        None => part(&evals, origin, case, run)?,
    };
    let changed = now.cases.iter().find(|now| now.test_name == case.test_name);
    if changed.is_some_and(|now| merged_suite::differ(case.json.text(), now.json.text())) {
        notice::say(&format!("RELOADED {}: {} changed since the build", built.test_path(case), case.file));
    }
    Ok(bound(evals, now))
}

/// The suite with the compiled cases that it still has, as their files are now, and those that are gone. With a run, cases that are new
/// or gone are listed in it.
fn reloaded_suite(evals: Evals, run: Option<&RunDirectory>) -> Result<(Evals, Vec<&'static EvalCase>), ReloadError> {
    let built = evals.suite();
    let checked = merged_suite::whole(&evals, origin(built)?)?;
    if let Some(run) = run {
        merged_suite::announce(built, &checked.suite, &[], run);
    }
    let gone = merged_suite::gone(built, &checked.suite);
    let now = merged_suite::without(merged(&evals, &checked)?, &gone);
    Ok((bound(evals, now), gone))
}

/// The suite with cases that the build does not have behind the others. Only their files are read, unless they depend on other cases.
pub(crate) fn with_new_cases(evals: Evals, new: &[NewCase]) -> Result<Evals, ReloadError> {
    let built = evals.suite();
    let origin = origin(built)?;
    let sources = new.iter().map(|case| case.source.clone()).filter(|source| !source.is_empty()).collect();
    let part = Part { sources, ids: new.iter().map(|case| case.id.clone()).collect() };
    let mut found = merged_suite::part(&evals, origin, part)?;
    let read = &found.checked.suite;
    let is_read = |case: &NewCase| read.tests.iter().any(|test| test.path.join("::") == case.path);
    let is_alone = new.iter().all(is_read) && read.cases.iter().all(|loaded| loaded.case.depends_on.is_empty());
    let checked = if is_alone {
        found.checked.suite.suite.digest = suite_digest(&files(built, origin, &found));
        found.checked
    } else {
        merged_suite::whole(&evals, origin)?
    };
    let now = merged_suite::with_new_cases(merged(&evals, &checked)?, &checked.suite).map_err(not_json)?;
    Ok(bound(evals, now))
}

fn origin(suite: &EvalSuite) -> Result<&'static Origin, ReloadError> {
    suite.origin.ok_or_else(|| {
        ReloadError(format!(
            "the suite `{}` was not built by `include_eval_suite!` or `generate`, so EVALSUITE_RELOAD cannot read it again",
            suite.name
        ))
    })
}

/// A changed case may be the first to ask a judge that is a command.
fn bound(mut evals: Evals, suite: &'static EvalSuite) -> Evals {
    evals.suite = suite;
    evals.with_command_judges()
}

/// The whole suite, if this process has asked for many of its cases. With an error in it each case is loaded by itself: other cases
/// are not wrong.
fn known_whole(evals: &Evals, origin: &Origin, run: &RunDirectory) -> Result<Option<Whole>, ReloadError> {
    let built = evals.suite();
    let mut all = lock();
    let index = all.iter().position(|known| std::ptr::eq(known.built, built)).unwrap_or_else(|| {
        all.push(Progress { built, parts: 0, whole: None });
        all.len() - 1
    });
    let progress = &mut all[index];
    progress.parts += 1;
    if progress.parts == PARTS + 1
        && let Ok(checked) = merged_suite::whole(evals, origin)
    {
        merged_suite::announce(built, &checked.suite, &[], run);
        let gone = merged_suite::gone(built, &checked.suite).into();
        progress.whole = Some(Whole { suite: merged(evals, &checked)?, gone });
    }
    Ok(progress.whole.clone())
}

fn merged(evals: &Evals, checked: &CheckedSuite) -> Result<&'static EvalSuite, ReloadError> {
    for warning in &checked.new_warnings {
        notice::say(&render::text(warning, render::Style::Plain));
    }
    merged_suite::merge(evals.suite(), &checked.suite, &checked.new_warnings).map_err(not_json)
}

fn not_json(error: serde_json::Error) -> ReloadError {
    ReloadError(format!("the suite cannot be written as JSON: {error}"))
}

/// A case with those it depends on. What concerns several cases takes the whole suite.
fn part(
    evals: &Evals,
    origin: &Origin,
    case: &'static EvalCase,
    run: &RunDirectory,
) -> Result<&'static EvalSuite, ReloadError> {
    let built = evals.suite();
    let mut wanted = vec![case];
    let mut found = load(evals, origin, &wanted)?;
    while let Some(more) = dependency(built, &found, &wanted) {
        wanted.push(more);
        found = load(evals, origin, &wanted)?;
    }
    let is_there = |path: &str| found.checked.suite.tests.iter().any(|test| test.path.join("::") == path);
    let needs_all =
        !is_there(case.test_name) || concerns_others(built, &found) || drops_a_file(built, &wanted, origin, &found);
    if needs_all {
        let checked = merged_suite::whole(evals, origin)?;
        merged_suite::announce(built, &checked.suite, &[], run);
        if merged_suite::gone(built, &checked.suite).iter().any(|gone| gone.test_name == case.test_name) {
            return Err(ReloadError(is_gone(built, case)));
        }
        return merged(evals, &checked);
    }
    merged_suite::announce(built, &found.checked.suite, &found.part.others, run);
    found.checked.suite.suite.digest = suite_digest(&files(built, origin, &found));
    merged(evals, &found.checked)
}

fn load(evals: &Evals, origin: &Origin, wanted: &[&EvalCase]) -> Result<CheckedPart, ReloadError> {
    let (alone, shared): (Vec<&EvalCase>, Vec<&EvalCase>) = wanted.iter().partition(|case| !case.source.is_empty());
    // A file that a pattern found may hold several cases.
    let ids = shared.iter().chain(&alone).map(|case| case.id.to_owned()).collect();
    let sources = alone.iter().map(|case| case.source.to_owned()).collect();
    merged_suite::part(evals, origin, Part { sources, ids })
}

/// A compiled case that a loaded one depends on and that is not loaded.
fn dependency(built: &'static EvalSuite, found: &CheckedPart, wanted: &[&EvalCase]) -> Option<&'static EvalCase> {
    let ids: BTreeSet<&str> =
        found.checked.suite.cases.iter().flat_map(|loaded| &loaded.case.depends_on).map(String::as_str).collect();
    built.cases.iter().find(|case| ids.contains(case.id) && wanted.iter().all(|known| known.id != case.id))
}

/// Whether the other cases decide if a case is valid that differs from the compiled one.
fn concerns_others(built: &EvalSuite, found: &CheckedPart) -> bool {
    found.checked.suite.tests.iter().any(|test| {
        let path = test.path.join("::");
        let compiled = built.cases.iter().find(|case| case.test_name == path).and_then(|case| case.decode().ok());
        compiled.is_none_or(|compiled| !found.checked.suite.cases[test.case].may_replace(&compiled))
    })
}

/// Whether a case may have been the only one that names a file of the compiled suite.
fn drops_a_file(built: &EvalSuite, wanted: &[&EvalCase], origin: &Origin, found: &CheckedPart) -> bool {
    let sources: BTreeSet<&str> = built.cases.iter().map(|case| case.source).collect();
    let paths = origin.files.lines().filter_map(|line| Some(line.split_once(' ')?.1));
    let mut unread = paths.filter(|path| !sources.contains(path) && !found.checked.suite.files.contains_key(*path));
    unread.any(|path| {
        let name = path.rsplit('/').next().unwrap_or_default();
        wanted.iter().any(|case| case.json.text().contains(name))
    })
}

/// The files of the whole suite as they are now.
fn files(built: &EvalSuite, origin: &Origin, found: &CheckedPart) -> SuiteFiles {
    let cases: BTreeSet<&str> =
        built.cases.iter().map(|case| case.source).filter(|source| !source.is_empty()).collect();
    let program = std::env::current_exe().and_then(|path| path.metadata()).and_then(|data| data.modified());
    let since = program.unwrap_or(SystemTime::UNIX_EPOCH).checked_sub(LONGEST_BUILD);
    let since = since.unwrap_or(SystemTime::UNIX_EPOCH);
    found.part.files_since(parse_files(origin.files), &cases, Path::new(&SuiteLocation::of(built).suite_dir), since)
}

fn parse_files(text: &str) -> SuiteFiles {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(hex, path)| Some((path.to_owned(), parse_hexadecimal(hex)?)))
        .collect()
}
