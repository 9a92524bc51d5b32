//! A suite that was loaded again, checked against the program as the macro checks it.

use evalsuite_loader::{Loaded, LoadedPart, LoadedSuite, Part, Request, registered_graders};
use evalsuite_schema::Requires;
use evalsuite_schema::diagnostics::{Diagnostic, Diagnostics, Severity, render};

use super::ReloadError;
use crate::model::evals::Evals;
use crate::model::suite::{EvalSuite, Origin};

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
