//! The first phase: the suite of a binding, loaded or from the cache.

use std::path::PathBuf;

use evalsuite_loader::source::Files;
use evalsuite_loader::{Loaded, LoadedSuite, names, registered_graders};
use evalsuite_schema::Requires;
use evalsuite_schema::diagnostics::Code;

use super::{Reports, SuiteCode, requires, suite_request};
use crate::binding::{self, Problem};
use crate::cache::{Cache, StoredSuite};
use crate::embed::{self, Embedded};
use crate::statics::Body;
use crate::suite_facts::SuiteFacts;

/// A suite as it was taken.
pub(super) struct TakenSuite {
    /// Name of the module.
    pub(super) module: String,
    /// The suite as code, whose body is empty for a check.
    pub(super) code: SuiteCode,
    /// The suite, if it does not come from the cache.
    pub(super) loaded: Option<LoadedSuite>,
    /// Every file that was read.
    pub(super) files: Vec<PathBuf>,
}

/// What a suite is loaded for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// To be written as code.
    Code,
    /// To find out what is wrong with it.
    Check,
}

/// Takes the suite of a binding from the cache, or loads it.
pub(super) fn take(reports: &mut Reports<'_>) -> TakenSuite {
    let request = suite_request(reports.binding, reports.context);
    let location = reports.context.cache.as_ref().filter(|_| requires(reports.binding) == Requires::default());
    let cache = location.and_then(|location| Cache::of(location, &request));
    let registered = registered(reports);
    // Other graders than the registered ones are problems with places, which take the loaded suite.
    let agrees = |suite: &StoredSuite| {
        registered.as_deref().is_none_or(|registered| registered_graders::agree(registered, &suite.record.graders))
    };
    let found = cache.as_ref().and_then(Cache::find);
    let outdated = cache.as_ref().filter(|_| found.is_none());
    if let Some(suite) = found.filter(agrees) {
        return of_cached(suite, reports);
    }
    let loaded = evalsuite_loader::load(&request);
    match outdated.and_then(|cache| cache.store(&loaded)).filter(agrees) {
        Some(suite) => of_cached(suite, reports),
        None => of_loaded(loaded, Purpose::Code, reports),
    }
}

/// The graders of the binding, if it lists all. A list with a mistake in it does not show which graders are missing.
fn registered(reports: &Reports<'_>) -> Option<Vec<String>> {
    let is_listed = reports.context.all_graders_listed && reports.binding.has_tests() && reports.is_valid;
    is_listed.then(|| binding::names(&reports.binding.graders))
}

fn of_cached(suite: StoredSuite, reports: &mut Reports<'_>) -> TakenSuite {
    let files = suite.files();
    let StoredSuite { record, body, .. } = suite;
    let embed = reports.binding.embed;
    reports.add_all(record.warnings.into_iter().filter(|warning| embed || warning.code != Code::NotEmbedded));
    let embedded = record.embedded.filter(|_| embed);
    let code = SuiteCode { facts: Some(record.facts), body, embedded, feature_errors: Vec::new() };
    TakenSuite { module: record.module, code, loaded: None, files }
}

/// A suite that was loaded as [`suite_request`] asks for it.
pub(super) fn of_loaded(loaded: Loaded, purpose: Purpose, reports: &mut Reports<'_>) -> TakenSuite {
    let Loaded { suite, user_graders, mut diagnostics, files, .. } = loaded;
    let entry = &reports.context.request.entry;
    let registered = registered(reports);
    if let Some(registered) = &registered {
        diagnostics.append(registered_graders::unknown(registered, &user_graders, &files));
        diagnostics.sort();
    }
    reports.add_all(diagnostics.grouped());
    let mut taken = TakenSuite {
        module: module_of_entry(entry),
        code: SuiteCode::empty(),
        loaded: None,
        files: files.all().into_iter().filter(|file| file.digest.is_some()).map(|file| file.path).collect(),
    };
    let Some(mut suite) = suite else { return taken };
    taken.module.clone_from(&suite.module);
    let unused = registered.map(|registered| registered_graders::unused(&registered, &user_graders, entry));
    reports.add_all(unused.into_iter().flatten());
    suite.require(&requires(reports.binding));
    match code_of(&suite, &files, purpose, reports) {
        Ok(code) => taken.code = code,
        Err(error) => {
            let message = format!("the suite cannot be written as JSON: {error}");
            reports.problems.push(Problem::argument(reports.binding.span(), message));
        }
    }
    taken.loaded = Some(suite);
    taken
}

/// The suite as code, with the files that it embeds. A check only looks at these files.
fn code_of(
    suite: &LoadedSuite,
    files: &Files,
    purpose: Purpose,
    reports: &mut Reports<'_>,
) -> serde_json::Result<SuiteCode> {
    let mut code = SuiteCode { facts: Some(SuiteFacts::new(suite)), ..SuiteCode::empty() };
    match purpose {
        Purpose::Code => {
            code.body = Body::new(suite)?;
            code.embedded = embedded(&code.body.json(), &suite.suite.root, files, reports);
        }
        Purpose::Check if reports.binding.embed => {
            let named = suite.cases.iter().filter(|loaded| !loaded.stands_alone);
            let cases = named.map(|loaded| evalsuite_schema::json::to_string(&*loaded.case));
            let texts: Vec<String> =
                cases.chain([evalsuite_schema::json::to_string(&suite.suite)]).collect::<serde_json::Result<_>>()?;
            code.embedded = embedded(&texts, &suite.suite.root, files, reports);
        }
        Purpose::Check => {}
    }
    Ok(code)
}

fn embedded(texts: &[impl AsRef<str>], root: &str, files: &Files, reports: &mut Reports<'_>) -> Option<Embedded> {
    if !reports.binding.embed || reports.has_errors() {
        return None;
    }
    match embed::gather(texts, root, &reports.context.request, files) {
        Ok(files) => Some(Embedded { archive: None, files }),
        Err(problem) => {
            reports.add(*problem);
            None
        }
    }
}

/// The name for an entry path, where the suite says nothing else: its last component without extension.
fn module_of_entry(entry: &str) -> String {
    let last = entry.trim_end_matches('/').rsplit('/').next().unwrap_or(entry);
    let stem = match last.rsplit_once('.') {
        Some((stem, "jsonl" | "yaml" | "yml" | "json")) => stem.strip_suffix(".eval").unwrap_or(stem),
        _ => last,
    };
    names::segment(stem)
}
