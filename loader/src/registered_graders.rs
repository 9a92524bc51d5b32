//! Graders of a program against those that the suite's files name.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::Location;
use evalsuite_schema::diagnostics::{Code, Diagnostic, Diagnostics, Fix};
use evalsuite_schema::grader::BUILT_IN;
use evalsuite_schema::sorting::map;

use crate::graders::Replacement;
use crate::load::GraderUse;
use crate::names;
use crate::source::Files;
use evalsuite_schema::diagnostics::suggest;

/// A grader's or judge's name as it is compared: `-` and `_` are the same.
pub fn folded(name: &str) -> String {
    name.replace('_', "-")
}

fn all_folded(names: impl IntoIterator<Item = impl AsRef<str>>) -> BTreeSet<String> {
    names.into_iter().map(|name| folded(name.as_ref())).collect()
}

/// Whether every used grader is registered and every registered one is used.
pub fn agree(registered: &[String], used: &[String]) -> bool {
    all_folded(registered) == all_folded(used)
}

/// An error for every name of a grader that is not registered, with all places that use it. The first one says how to register them all.
pub fn unknown(registered: &[String], uses: &[GraderUse], files: &Files) -> Diagnostics {
    let folded_names = all_folded(registered);
    let unknown: Vec<&GraderUse> = uses.iter().filter(|grader| !folded_names.contains(&folded(&grader.name))).collect();
    let known = || registered.iter().map(String::as_str).chain(BUILT_IN.iter().copied());
    let meant = |name: &str| replaced(name).or_else(|| suggest::did_you_mean(name, known()));
    let certain = |name: &str| if replaced(name).is_some() { None } else { suggest::certain(name, known()) };
    let fix = |name: &str| certain(name).map(|meant| Fix::Replace(meant.to_owned()));
    let missing: BTreeSet<&str> =
        unknown.iter().map(|grader| grader.name.as_str()).filter(|name| meant(name).is_none()).collect();
    let problem = |grader: &&GraderUse| {
        let problem = Diagnostic::new(Code::UnknownGrader, format!("unknown grader `{}`", grader.name));
        let help = meant(&grader.name).map(|meant| with_registered(meant, registered));
        problem.at(files.locate(grader.span)).help_if(help).fix_if(fix(&grader.name))
    };
    let mut diagnostics: Diagnostics = unknown.iter().map(problem).collect();
    diagnostics.sort();
    let mut registration = (!missing.is_empty()).then(|| registration(registered, &missing));
    let with_help = |diagnostic: Diagnostic| match diagnostic.help {
        Some(_) => diagnostic,
        None => diagnostic.help_if(registration.take()),
    };
    diagnostics.grouped().into_iter().map(with_help).collect()
}

/// How a type of another tool, or `not-contains` and the like, is written.
fn replaced(name: &str) -> Option<String> {
    Some(Replacement::of(name)?.help(None))
}

/// A line per grader that is not built in, with its first place and what was probably meant: what can be said where no
/// program is known that registers graders.
pub fn unchecked(uses: &[GraderUse], files: &Files) -> Vec<String> {
    let mut first: BTreeMap<&str, Location> = BTreeMap::new();
    for grader in uses {
        first.entry(&grader.name).or_insert_with(|| files.location(grader.span));
    }
    let meant = |name: &str| replaced(name).or_else(|| suggest::did_you_mean(name, BUILT_IN.iter().copied()));
    let line = |(name, place): (&str, Location)| {
        let meant = meant(name).map(|meant| format!(": {meant}")).unwrap_or_default();
        format!("`{name}` ({}:{}:{}){meant}", place.file, place.line, place.column)
    };
    first.into_iter().map(line).collect()
}

fn with_registered(meant: String, registered: &[String]) -> String {
    let own: Vec<&str> = registered.iter().map(String::as_str).collect();
    if own.is_empty() { meant } else { format!("{meant} registered: {}", suggest::listed(&own)) }
}

/// What to write into the macro so that all `missing` graders are registered.
fn registration(registered: &[String], missing: &BTreeSet<&str>) -> String {
    let element = |name: &&str| {
        let function = names::segment(&name.replace('-', "_"));
        let element =
            if folded(&function) == folded(name) { function.clone() } else { format!("\"{name}\" => {function}") };
        (function, element)
    };
    let elements = map(missing.iter().map(element));
    let elements = elements.into_values().collect::<Vec<_>>().join(", ");
    if registered.is_empty() {
        format!("register the graders of the suite: `graders = [{elements}]`")
    } else {
        format!("add to the argument `graders`: `{elements}`")
    }
}

/// A warning for every registered grader that no case uses.
pub fn unused(registered: &[String], uses: &[GraderUse], entry: &str) -> Vec<Diagnostic> {
    let used: BTreeSet<&str> = uses.iter().map(|grader| grader.name.as_str()).collect();
    let folded_names = all_folded(&used);
    let names: Vec<&str> = used.into_iter().collect();
    let help = match names.as_slice() {
        [] => "its files name built-in graders only".to_owned(),
        names => format!("its files name {}", suggest::listed(names)),
    };
    let problem = |name: &String| {
        let message = format!("grader `{name}` is registered, but no case of `{entry}` uses it");
        Diagnostic::new(Code::UnusedGrader, message).help(&help)
    };
    registered.iter().filter(|name| !folded_names.contains(&folded(name))).map(problem).collect()
}

/// An error, for a program without the feature `json-schema` of evalsuite, about graders that need it.
pub fn without_json_schema(graders: &BTreeSet<Location>) -> Option<Diagnostic> {
    let problem = |location: &Location| missing_feature("graders with a JSON Schema", "json-schema").at(location);
    graders.iter().map(problem).collect::<Diagnostics>().grouped().into_iter().next()
}

/// An error, for a program without the feature `patterns` of evalsuite, about graders that need it.
pub fn without_patterns(graders: &BTreeSet<Location>) -> Option<Diagnostic> {
    let problem = |location: &Location| missing_feature("graders with patterns", "patterns").at(location);
    graders.iter().map(problem).collect::<Diagnostics>().grouped().into_iter().next()
}

/// An error, for a program without the feature `unicode-patterns` of evalsuite, about graders that need it.
pub fn without_unicode_patterns(graders: &BTreeSet<Location>) -> Option<Diagnostic> {
    let what = "patterns with classes of Unicode (`\\d`, `\\w`, `\\s`, `\\b`, `\\p`), or that ignore case,";
    let problem = |location: &Location| {
        let problem = missing_feature(what, "unicode-patterns").at(location);
        let help =
            problem.help.clone().map(|help| format!("{help}; a list of characters, such as `[0-9]`, needs no feature"));
        problem.help_if(help)
    };
    graders.iter().map(problem).collect::<Diagnostics>().grouped().into_iter().next()
}

/// An error, for a program without the feature `grader-tests` of evalsuite, about examples and a calibration, which need it.
pub fn without_grader_tests(examples: &BTreeSet<Location>, calibration: Option<&Location>) -> Option<Diagnostic> {
    let problem = |what| move |location: &Location| missing_feature(what, "grader-tests").at(location);
    let calibration = calibration.map(problem("calibrations of judges"));
    calibration.or_else(|| {
        examples.iter().map(problem("examples of results")).collect::<Diagnostics>().grouped().into_iter().next()
    })
}

/// An error, for a program without the feature `sealed` of evalsuite, about commands that are to be sealed.
pub fn without_sealed(places: &BTreeSet<Location>) -> Option<Diagnostic> {
    let problem = |place: &Location| missing_feature("commands with `sealed`", "sealed").at(place);
    places.iter().map(problem).collect::<Diagnostics>().grouped().into_iter().next()
}

/// An error about `what`, for a program without a feature of evalsuite that it needs.
pub fn missing_feature(what: &str, feature: &str) -> Diagnostic {
    let help = format!("`cargo add evalsuite --features {feature}`, with `--dev` if it is a dev-dependency");
    Diagnostic::new(Code::MissingFeature, format!("{what} need the feature `{feature}` of evalsuite")).help(help)
}
