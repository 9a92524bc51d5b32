//! Cases that are new or gone since the build: only a build changes which tests a program has.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_loader::{LoadedSuite, OtherCase, names};

use crate::model::suite::{EvalCase, EvalSuite};
use crate::platform::digest::file_key;
use crate::platform::notice;
use crate::record::run_directory::RunDirectory;

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
