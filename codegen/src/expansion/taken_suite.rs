//! The first phase: the suite of a binding, loaded or from the cache.

use std::path::PathBuf;

use evalsuite_diagnostics::Code;
use evalsuite_loader::source::Files;
use evalsuite_loader::{Loaded, LoadedSuite, registered_graders};
use evalsuite_schema::Requires;

use super::{Reports, module_name, requires, suite_request};
use crate::cache::{Cache, CachedSuite};
use crate::embed::Embedded;
use crate::statics::Body;
use crate::suite_facts::SuiteFacts;
use crate::{binding, embed};

/// A suite as it was taken, before the binding is checked against it.
pub(super) struct TakenSuite {
    /// The name that the suite gives its module.
    pub(super) module: String,
    /// What the suite says; `None` if it cannot be used.
    pub(super) facts: Option<SuiteFacts>,
    /// The suite as code; empty for a check.
    pub(super) body: Body,
    pub(super) embedded: Embedded,
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
pub(super) fn take(purpose: Purpose, reports: &mut Reports<'_>) -> TakenSuite {
    let request = suite_request(reports.binding, reports.context);
    let location = reports.context.cache.as_ref().filter(|_| requires(reports.binding) == Requires::default());
    let cache = location.and_then(|location| Cache::of(location, &request));
    let registered = registered(reports);
    // Other graders than the registered ones are problems with places, which take the loaded suite.
    let agrees = |suite: &CachedSuite| {
        registered.as_deref().is_none_or(|registered| registered_graders::agree(registered, &suite.graders))
    };
    let found = cache.as_ref().and_then(Cache::find);
    let outdated = cache.as_ref().filter(|_| found.is_none());
    if let Some(suite) = found.filter(agrees) {
        return of_cached(suite, reports);
    }
    let loaded = evalsuite_loader::load(&request);
    match outdated.and_then(|cache| cache.store(&loaded)).filter(agrees) {
        Some(suite) => of_cached(suite, reports),
        None => of_loaded(loaded, purpose, reports),
    }
}

/// The graders of the binding, if it lists all. A list with a mistake in it does not show which graders are missing.
fn registered(reports: &Reports<'_>) -> Option<Vec<String>> {
    let is_listed = reports.context.all_graders_listed && reports.binding.has_tests() && reports.is_valid;
    is_listed.then(|| binding::names(&reports.binding.graders))
}

fn of_cached(suite: CachedSuite, reports: &mut Reports<'_>) -> TakenSuite {
    let embed = reports.binding.embed;
    reports.add_all(suite.warnings.into_iter().filter(|warning| embed || warning.code != Code::NotEmbedded));
    TakenSuite {
        module: suite.module,
        facts: Some(suite.facts),
        body: suite.body,
        embedded: if embed { suite.embedded } else { Embedded::Off },
        loaded: None,
        files: suite.files,
    }
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
        module: module_name::of_entry(entry),
        facts: None,
        body: Body::empty(),
        embedded: Embedded::Off,
        loaded: None,
        files: files.all().into_iter().filter(|file| file.digest.is_some()).map(|file| file.path).collect(),
    };
    let Some(mut suite) = suite else { return taken };
    taken.module.clone_from(&suite.module);
    let unused = registered.map(|registered| registered_graders::unused(&registered, &user_graders, entry));
    reports.add_all(unused.into_iter().flatten());
    suite.require(&requires(reports.binding));
    match taken.write(&suite, &files, purpose, reports) {
        Ok(()) => taken.facts = Some(SuiteFacts::new(&suite)),
        Err(error) => reports.add_error(format!("the suite cannot be written as JSON: {error}")),
    }
    taken.loaded = Some(suite);
    taken
}

impl TakenSuite {
    /// Writes the suite as code, and takes the files that it embeds. A check only looks at these files.
    fn write(
        &mut self,
        suite: &LoadedSuite,
        files: &Files,
        purpose: Purpose,
        reports: &mut Reports<'_>,
    ) -> serde_json::Result<()> {
        match purpose {
            Purpose::Code => {
                self.body = Body::new(suite)?;
                self.embedded = embedded(&self.body.json(), suite, files, reports);
            }
            Purpose::Check if reports.binding.embed => {
                let named = suite.cases.iter().filter(|loaded| !loaded.stands_alone);
                let cases = named.map(|loaded| serde_json::to_string(&*loaded.case));
                let texts: Vec<String> =
                    cases.chain([serde_json::to_string(&suite.suite)]).collect::<serde_json::Result<_>>()?;
                self.embedded = embedded(&texts, suite, files, reports);
            }
            Purpose::Check => {}
        }
        Ok(())
    }
}

fn embedded(texts: &[impl AsRef<str>], suite: &LoadedSuite, files: &Files, reports: &mut Reports<'_>) -> Embedded {
    if !reports.binding.embed || reports.has_errors() {
        return Embedded::Off;
    }
    embed::gather(texts, suite, &reports.context.request, files).map_or_else(
        |problem| {
            reports.add(*problem);
            Embedded::Off
        },
        Embedded::Files,
    )
}
