//! The compiled suite with reloaded data instead of compiled data.

use std::collections::{BTreeSet, HashMap};

use evalsuite_loader::{LoadedCase, LoadedSuite};
use evalsuite_schema::diagnostics::{Diagnostics, render};
use evalsuite_schema::{Location, Value};

use crate::model::compiled_json::CompiledJson;
use crate::model::suite::{EvalCase, EvalSuite};
use crate::platform::digest::retain_entries;

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
