//! A suite that was loaded again, checked against the program as the macro checks it, and put in place of compiled data. Cases that are new
//! or gone have no tests: only a build changes which tests a program has.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evalsuite_loader::{
    Loaded, LoadedCase, LoadedPart, LoadedSuite, OtherCase, Part, Request, names, registered_graders,
};
use evalsuite_schema::diagnostics::{Diagnostic, Diagnostics, Severity, render};
use evalsuite_schema::{Location, Requires, Value};

use super::ReloadError;
use crate::model::evals::Evals;
use crate::model::suite::{CompiledJson, EvalCase, EvalSuite, Origin};
use crate::platform::digest::{file_key, retain_entries};
use crate::platform::notice;
use crate::record::run_directory::RunDirectory;

/// The suite, whose cases keep their order: generated tests know them by it. A case that was not loaded is the compiled one.
pub(super) fn merge(
    built: &'static EvalSuite,
    loaded: &LoadedSuite,
    warnings: &Diagnostics,
) -> serde_json::Result<&'static EvalSuite> {
    let by_path: HashMap<String, &LoadedCase> =
        loaded.tests.iter().map(|test| (test.path.join("::"), &loaded.cases[test.case])).collect();
    let about = &loaded.suite;
    let mut is_same = true;
    let mut case = |built: &'static EvalCase| -> serde_json::Result<EvalCase> {
        let Some(loaded) = by_path.get(built.test_name) else { return Ok(EvalCase { ..*built }) };
        let json = evalsuite_schema::json::to_string(&*loaded.case)?;
        if json == built.json.text() {
            return Ok(EvalCase { ..*built });
        }
        is_same = false;
        Ok(eval_case(loaded, json, built.test_name, built.target))
    };
    let cases = built.cases.iter().map(&mut case).collect::<serde_json::Result<Vec<_>>>()?;
    let json = evalsuite_schema::json::to_string(about)?;
    if is_same && json == built.json.text() && warnings.is_empty() {
        return Ok(built);
    }
    let warnings = warnings.iter().map(|found| (found.code.name(), kept(&render::short(found))));
    let diagnostics: Vec<(&'static str, &'static str)> = built.diagnostics.iter().copied().chain(warnings).collect();
    let calibration = loaded.calibration.as_ref().map(evalsuite_schema::json::to_string).transpose()?;
    Ok(Box::leak(Box::new(EvalSuite {
        name: kept(&about.name),
        agent_name: about.agent_name.as_deref().map(kept),
        json: CompiledJson::Text(json.leak()),
        diagnostics: diagnostics.leak(),
        calibration: calibration.map(|text| &*text.leak()),
        cases: cases.leak(),
        ..*built
    })))
}

/// The suite without these cases.
pub(super) fn without(suite: &'static EvalSuite, gone: &[&EvalCase]) -> &'static EvalSuite {
    if gone.is_empty() {
        return suite;
    }
    let is_gone = |case: &EvalCase| gone.iter().any(|gone| gone.test_name == case.test_name);
    let cases = suite.cases.iter().filter(|case| !is_gone(case)).map(|case| EvalCase { ..*case });
    Box::leak(Box::new(EvalSuite { cases: cases.collect::<Vec<_>>().leak(), ..*suite }))
}

/// The suite with the loaded cases that it does not have behind its own: generated tests know those by their place.
pub(super) fn with_new_cases(
    merged: &'static EvalSuite,
    loaded: &LoadedSuite,
) -> serde_json::Result<&'static EvalSuite> {
    let known: BTreeSet<&str> = merged.cases.iter().map(|case| case.test_name).collect();
    let mut cases: Vec<EvalCase> = merged.cases.iter().map(|case| EvalCase { ..*case }).collect();
    for test in &loaded.tests {
        let path = test.path.join("::");
        if known.contains(path.as_str()) {
            continue;
        }
        let new = &loaded.cases[test.case];
        let json = evalsuite_schema::json::to_string(&*new.case)?;
        cases.push(eval_case(new, json, kept(&path), test.target.as_deref().map(kept)));
    }
    Ok(Box::leak(Box::new(EvalSuite { cases: cases.leak(), ..*merged })))
}

/// A loaded case, whose data is `json`, as that of a test.
fn eval_case(loaded: &LoadedCase, json: String, test_name: &'static str, target: Option<&'static str>) -> EvalCase {
    let LoadedCase { case, source, .. } = loaded;
    let tags: Vec<&'static str> = case.tags.iter().map(|tag| kept(tag)).collect();
    EvalCase {
        id: kept(&case.id),
        test_name,
        file: kept(&case.location.file),
        line: case.location.line,
        column: case.location.column,
        source: kept(source),
        target,
        tags: tags.leak(),
        json: CompiledJson::Text(json.leak()),
    }
}

/// The text for the rest of the program, as that of compiled suites.
fn kept(text: &str) -> &'static str {
    text.to_owned().leak()
}

/// Whether two cases in JSON differ in more than where they are written.
pub(super) fn differ(built: &str, now: &str) -> bool {
    let is_location = |value: &Value| evalsuite_schema::json::from_value::<Location>(value.clone()).is_ok();
    let without_locations = |json: &str| {
        let mut case: Value = evalsuite_schema::json::from_str(json).ok()?;
        retain_entries(&mut case, &|key, value| key != "location" || !is_location(value));
        Some(case)
    };
    built != now && without_locations(built) != without_locations(now)
}

/// A suite without errors, or a part of it.
pub(super) struct CheckedSuite {
    pub(super) suite: LoadedSuite,
    /// The warnings that the build did not have.
    pub(super) new_warnings: Diagnostics,
}

/// A part of a suite without errors.
pub(super) struct CheckedPart {
    pub(super) checked: CheckedSuite,
    pub(super) part: LoadedPart,
}

/// The suite as its files are now.
pub(super) fn whole(evals: &Evals, origin: &Origin) -> Result<CheckedSuite, ReloadError> {
    let loaded = evalsuite_loader::load(&request(evals.suite(), origin));
    let unused = registered_graders::unused(&evals.registry().names(), &loaded.user_graders, origin.entry);
    let unused = unused.into_iter().filter(|_| origin.lists_graders && loaded.suite.is_some());
    check(&loaded, unused, evals, origin)
}

/// The part of the suite as its files are now.
pub(super) fn part(evals: &Evals, origin: &Origin, part: Part) -> Result<CheckedPart, ReloadError> {
    let part = evalsuite_loader::load_part(&request(evals.suite(), origin), part);
    let checked = check(&part.loaded, None, evals, origin)?;
    Ok(CheckedPart { checked, part })
}

fn request(suite: &EvalSuite, origin: &Origin) -> Request {
    let root = suite.package_root();
    let mut request = Request::new(origin.entry, &root);
    request.source_dir = origin.source_dir.map(|directory| root.join(directory));
    request.targets = owned(origin.targets);
    request.fixtures = origin.fixtures;
    request.allow_docker = origin.allow_docker;
    request
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn check(
    loaded: &Loaded,
    unused_graders: impl IntoIterator<Item = Diagnostic>,
    evals: &Evals,
    origin: &Origin,
) -> Result<CheckedSuite, ReloadError> {
    let mut diagnostics = loaded.diagnostics.clone();
    if origin.lists_graders {
        let registered = evals.registry().names();
        diagnostics.append(registered_graders::unknown(&registered, &loaded.user_graders, &loaded.files));
        let missing_features = loaded.suite.as_ref().into_iter().flat_map(missing_features);
        missing_features.chain(unused_graders).for_each(|problem| diagnostics.push(problem));
        diagnostics.sort();
    }
    diagnostics.retain(|found| found.severity() == Severity::Error || !origin.allow.contains(&found.code.name()));
    let is_denied = origin.deny_warnings && !diagnostics.is_empty();
    match &loaded.suite {
        Some(suite) if !diagnostics.has_errors() && !is_denied => {
            let mut suite = suite.clone();
            suite.require(&Requires { env: owned(origin.require_env), commands: owned(origin.require_commands) });
            diagnostics.retain(|found| is_new(found, evals.suite()));
            Ok(CheckedSuite { suite, new_warnings: diagnostics })
        }
        _ => {
            let denied = if diagnostics.has_errors() { "" } else { "; `deny_warnings` makes warnings errors" };
            let report = render::report(&diagnostics, render::Style::Plain) + denied;
            Err(ReloadError(format!("`{}` changed since the build\n\n{report}", origin.entry)))
        }
    }
}

/// The errors about graders of features that this program does not have.
fn missing_features(suite: &LoadedSuite) -> impl Iterator<Item = Diagnostic> {
    let json_schema =
        (!cfg!(feature = "json-schema")).then(|| registered_graders::without_json_schema(&suite.json_schemas()));
    let patterns = (!cfg!(feature = "patterns")).then(|| registered_graders::without_patterns(&suite.patterns()));
    let unicode_patterns = (!cfg!(feature = "unicode-patterns"))
        .then(|| registered_graders::without_unicode_patterns(&suite.unicode_patterns()));
    let calibration = suite.calibration.as_ref().map(|calibration| &calibration.location);
    let grader_tests = (!cfg!(feature = "grader-tests"))
        .then(|| registered_graders::without_grader_tests(&suite.examples(), calibration));
    let sealed = (!cfg!(feature = "sealed")).then(|| registered_graders::without_sealed(&suite.seals()));
    [json_schema, patterns, unicode_patterns, grader_tests, sealed].into_iter().flatten().flatten()
}

/// Whether a warning was not shown when the suite was built.
fn is_new(found: &Diagnostic, built: &EvalSuite) -> bool {
    let text = render::short(found);
    built.diagnostics.iter().all(|(_, known)| *known != text)
}

/// Most cases of each kind that are named.
const SHOWN: usize = 10;

/// A line each about new cases and about cases that are gone.
fn lines(built: &EvalSuite, loaded: &LoadedSuite, others: &[OtherCase]) -> Vec<String> {
    let of_loaded = |case: &evalsuite_loader::LoadedCase| {
        case.folders.iter().chain([&case.function]).cloned().collect::<Vec<_>>().join("::")
    };
    let mut compiled: BTreeSet<String> = BTreeSet::new();
    let mut by_source: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in built.cases {
        let path = path_of(case.test_name, case.target);
        by_source.entry(case.source).or_default().push(path.clone());
        compiled.insert(path);
    }
    // What a file that was not read holds now is not known: its cases are not compared.
    let of_other = |other: &OtherCase| match by_source.get(other.source.as_str()) {
        Some(paths) if other.may_be_several => paths.clone(),
        _ => vec![other.path.clone()],
    };
    let now: BTreeSet<String> = loaded.cases.iter().map(of_loaded).chain(others.iter().flat_map(of_other)).collect();
    let line = |what: &str, paths: Vec<&String>| {
        let shown: Vec<&str> = paths.iter().take(SHOWN).map(|path| path.as_str()).collect();
        let rest = paths.len().checked_sub(SHOWN).filter(|rest| *rest > 0);
        let rest = rest.map(|rest| format!(" and {rest} more")).unwrap_or_default();
        (!paths.is_empty()).then(|| format!("{} of `{}`: {}{rest}", what, built.root, shown.join(", ")))
    };
    let new = line("NOT BUILT YET: new cases", now.difference(&compiled).collect());
    let gone = line("STILL BUILT: cases that are gone", compiled.difference(&now).collect());
    new.into_iter().chain(gone).collect()
}

/// The compiled cases without a test in a suite that was loaded as a whole.
pub(super) fn gone(built: &EvalSuite, loaded: &LoadedSuite) -> Vec<&'static EvalCase> {
    let tests: BTreeSet<String> = loaded.tests.iter().map(|test| test.path.join("::")).collect();
    built.cases.iter().filter(|case| !tests.contains(case.test_name)).collect()
}

/// Path of a case below the module of its target.
fn path_of(test_name: &str, target: Option<&str>) -> String {
    let module = target.map(|target| format!("{}::", names::segment(target)));
    module.and_then(|module| test_name.strip_prefix(&module)).unwrap_or(test_name).to_owned()
}

/// Says, once in a run, which cases need a build.
pub(super) fn announce(built: &EvalSuite, loaded: &LoadedSuite, others: &[OtherCase], run: &RunDirectory) {
    let lines = lines(built, loaded, others);
    if !lines.is_empty() && run.mark(&format!("reload-{}", file_key(built.root))) {
        lines.iter().for_each(|line| notice::say(line));
    }
}
