//! `expected.run` of `loader.jsonl`: which cases of a suite run, are skipped, or fail, if cases depend on others.
//!
//! If a result differs from the recorded one, it has to be the one that `decide` computes from the recorded results of the
//! cases that ran: a second implementation of the rules for dependencies, written from their description alone.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite::record::{ReasonCode, Status};
use evalsuite::{AgentError, Content, Outcome, RunOptions, Trial};
use evalsuite_conformance::comparison;
use evalsuite_conformance::record::Record;
use evalsuite_schema::json::{Value, json};

use crate::graders::RecordCheck;
use crate::replay::{self, CaseRun};
use crate::stub_judge::StubJudge;

/// Names of the rules about dependencies.
pub const RULES: &[&str] = &["unmet-dependency-is-no-error", "failed-dependency-is-unmet", "judge-failure-is-an-error"];

/// What a case ended with: an error or an unmet dependency has a code, and no score.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CaseResult {
    outcome: Status,
    code: Option<ReasonCode>,
    score: Option<f64>,
    /// Whether the agent was called.
    was_called: bool,
}

/// Runs a record and explains every difference.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn check(record: &Record) -> Result<RecordCheck, String> {
    let run = &record.expected()["run"];
    let called = Arc::new(Mutex::new(BTreeSet::new()));
    let calls = Arc::clone(&called);
    let agent = move |trial: &mut Trial<'_>| {
        calls.lock().unwrap_or_else(PoisonError::into_inner).insert(trial.case_id().to_owned());
        let prompt = match trial.messages().last().and_then(|message| message.content.as_ref()) {
            Some(Content::Text(text)) => text.as_str(),
            _ => "",
        };
        match prompt {
            prompt if prompt.starts_with("FAIL") => Err(AgentError::new("sut down")),
            prompt if prompt.starts_with("BAD") => Ok(Outcome::new().with_text("wrong")),
            _ => Ok(Outcome::new().with_text("the answer")),
        }
    };
    let judge = StubJudge::of(&json!({ "judge_reply": "garbage" }));
    let mut options = RunOptions::new().with_concurrency(NonZeroUsize::MIN);
    if let Some(id) = record.json["filter"].as_str().filter(|pattern| is_id(pattern)) {
        options = options.with_filter(id);
    }
    let replay = replay::run_with_judge(record, options, agent, judge.as_ref())?;
    let called = called.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut checked = RecordCheck::default();
    let (is_refused, is_refused_there) = (!replay.refused.is_empty(), run["error"].is_string());
    if is_refused || is_refused_there {
        checked.unexplained = comparison::check(record)?.unexplained;
        checked.rules.extend((is_refused != is_refused_there).then_some("decided-at-load-time"));
        // The checks of loads compare what is refused. What is selected runs, and what it depends on does.
        let tests = if !is_refused { list(record.expected(), "tests") } else { &[] };
        let wanted = tests.iter().flat_map(|test| list(test, "depends_on").iter().chain([&test["id"]]));
        let missing: Vec<&Value> = wanted.filter(|id| !called.contains(id.as_str().unwrap_or_default())).collect();
        checked.unexplained.extend((!missing.is_empty()).then(|| format!("{missing:?} did not run")));
        return Ok(checked);
    }
    for recorded in list(run, "results") {
        let id = recorded["test_id"].as_str().unwrap_or_default();
        let Some(ran) = replay.cases.iter().find(|ran| ran.case.case_id == id) else {
            checked.unexplained.push(format!("case {id} did not run"));
            continue;
        };
        let (theirs, own) = (recorded_result(recorded), decide(record, recorded));
        let ours = own_result(ran, called.contains(id));
        if !is_possible(record, recorded) {
            checked
                .unexplained
                .push(format!("case {id}: recorded {recorded}, which does not follow from its dependencies"));
        }
        match rule(theirs, own) {
            _ if ours != own => {
                checked.unexplained.push(format!("case {id}: computed {own:?}, ours {ours:?}\n{}", ran.shown));
            }
            Ok(rule) => checked.rules.extend(rule),
            Err(()) => checked.unexplained.push(format!("case {id}: recorded {theirs:?}, ours {ours:?}")),
        }
    }
    let extra = replay.cases.len().saturating_sub(list(run, "results").len());
    checked.unexplained.extend((extra > 0).then(|| format!("{extra} cases ran that the record does not have")));
    Ok(checked)
}

/// Whether a filter is an id, not a pattern.
fn is_id(filter: &str) -> bool {
    filter.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

fn own_result(ran: &CaseRun, was_called: bool) -> CaseResult {
    let (outcome, code) = (ran.case.outcome, ran.case.reason.as_ref().map(|reason| reason.code));
    // The code of a failure says which rule of the case failed, which the record does not say.
    let code = code.filter(|code| outcome != Status::Failed || *code == ReasonCode::DependencyFailed);
    CaseResult { outcome, code, score: ran.case.score, was_called }
}

fn recorded_result(recorded: &Value) -> CaseResult {
    let error = |code, was_called| CaseResult { outcome: Status::Error, code: Some(code), score: None, was_called };
    let score = recorded["score"].as_f64();
    match (recorded["execution_status"].as_str(), recorded["failure_reason"].as_str()) {
        (Some("ok"), _) => CaseResult { outcome: Status::Passed, code: None, score, was_called: true },
        (Some("quality_failure"), _) => CaseResult { outcome: Status::Failed, code: None, score, was_called: true },
        (_, Some("dependency_failed")) => error(ReasonCode::DependencyFailed, false),
        (_, Some("evaluator_error")) => error(ReasonCode::JudgeError, true),
        _ => error(ReasonCode::AgentError, true),
    }
}

/// The case of a result.
fn test_of<'a>(record: &'a Record, recorded: &Value) -> &'a Value {
    let mut tests = list(record.expected(), "tests").iter();
    tests.find(|test| test["id"] == recorded["test_id"]).unwrap_or(&Value::Null)
}

/// The recorded results of what a case depends on.
fn dependencies<'a>(record: &'a Record, test: &'a Value) -> impl Iterator<Item = &'a Value> {
    let results = list(&record.expected()["run"], "results");
    list(test, "depends_on").iter().filter_map(move |id| results.iter().find(|it| it["test_id"] == *id))
}

/// The result of a case: a dependency is met if it passed; otherwise the case says what becomes of it. What runs has its recorded result,
/// except that an implicit judge that cannot be read scores 0 in the reference.
fn decide(record: &Record, recorded: &Value) -> CaseResult {
    let test = test_of(record, recorded);
    let is_unmet = dependencies(record, test).any(|dependency| decide(record, dependency).outcome != Status::Passed);
    let unmet =
        |outcome| CaseResult { outcome, code: Some(ReasonCode::DependencyFailed), score: None, was_called: false };
    match test["on_dependency_failure"].as_str() {
        Some("fail") if is_unmet => unmet(Status::Failed),
        None | Some("skip") if is_unmet => unmet(Status::Skipped),
        _ => {
            let theirs = recorded_result(recorded);
            let is_unread = test["graders"].is_null() && theirs.outcome == Status::Failed;
            let error =
                CaseResult { outcome: Status::Error, code: Some(ReasonCode::JudgeError), score: None, ..theirs };
            if is_unread { error } else { theirs }
        }
    }
}

/// Whether a recorded result is one of the reference: errors score 0, and only an error of a dependency keeps a case from running.
fn is_possible(record: &Record, recorded: &Value) -> bool {
    let (test, theirs) = (test_of(record, recorded), recorded_result(recorded));
    let is_unmet = dependencies(record, test).any(|it| recorded_result(it).outcome == Status::Error);
    let is_held_back = is_unmet && test["on_dependency_failure"] != "run";
    let is_error = theirs.outcome == Status::Error;
    let has_passed = theirs.outcome == Status::Passed;
    (theirs.code == Some(ReasonCode::DependencyFailed)) == is_held_back
        && (!is_error || recorded["score"] == 0)
        && (is_error || (recorded["score"].as_f64() >= test["threshold"].as_f64().or(Some(0.8))) == has_passed)
        && is_error == recorded["failure_reason"].is_string()
}

/// The rule that explains a difference, if there is one.
fn rule(theirs: CaseResult, own: CaseResult) -> Result<Option<&'static str>, ()> {
    let is_unmet = |result: CaseResult| result.code == Some(ReasonCode::DependencyFailed);
    match () {
        () if theirs == own => Ok(None),
        () if is_unmet(theirs) && is_unmet(own) => Ok(Some("unmet-dependency-is-no-error")),
        () if is_unmet(own) => Ok(Some("failed-dependency-is-unmet")),
        () if own.code == Some(ReasonCode::JudgeError) => Ok(Some("judge-failure-is-an-error")),
        () => Err(()),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Two cases, of which the second depends on the first, and their recorded results.
    fn record(first: &str, second: &str, results: [Value; 2]) -> Record {
        let contains = json!([{ "type": "contains", "value": "answer" }]);
        let mut tests = [json!({ "id": "a", "input": first }), json!({ "id": "b", "input": "q", "depends_on": ["a"] })];
        if !second.is_empty() {
            tests[1]["on_dependency_failure"] = json!(second);
        }
        for test in &mut tests {
            test["assertions"] = contains.clone();
        }
        let files = json!({ "EVAL.yaml": json!({ "tests": tests }).to_string() });
        for test in &mut tests {
            test["graders"] = contains.clone();
        }
        let run = json!({ "results": results });
        let json = json!({ "files": files, "expected": { "tests": tests, "suite": {}, "warnings": [], "run": run } });
        Record { id: "own-001".to_owned(), eval: Some("EVAL.yaml".to_owned()), env: BTreeMap::new(), json }
    }

    fn ok(id: &str) -> Value {
        json!({ "test_id": id, "score": 1, "execution_status": "ok" })
    }

    fn failed(id: &str) -> Value {
        json!({ "test_id": id, "score": 0, "execution_status": "quality_failure" })
    }

    fn not_run(id: &str) -> Value {
        json!({ "test_id": id, "score": 0, "execution_status": "execution_error", "failure_reason": "dependency_failed" })
    }

    fn rules(record: &Record) -> Vec<&'static str> {
        let checked = check(record).unwrap();
        assert!(checked.unexplained.is_empty(), "{:?}", checked.unexplained);
        checked.rules.into_iter().collect()
    }

    #[test]
    fn a_failed_dependency_keeps_its_dependents_from_running() {
        for on_failure in ["", "skip", "fail"] {
            assert_eq!(rules(&record("BAD", on_failure, [failed("a"), ok("b")])), ["failed-dependency-is-unmet"]);
        }
        assert!(rules(&record("BAD", "run", [failed("a"), ok("b")])).is_empty());
        assert!(rules(&record("q", "", [ok("a"), ok("b")])).is_empty());
    }

    #[test]
    fn a_false_result_is_found() {
        for falsified in
            [[ok("a"), not_run("b")], [failed("a"), ok("b")], [ok("a"), failed("b")], [not_run("a"), ok("b")]]
        {
            let checked = check(&record("q", "", falsified.clone())).unwrap();
            assert!(!checked.unexplained.is_empty(), "{falsified:?}");
        }
        assert!(!check(&record("BAD", "run", [failed("a"), not_run("b")])).unwrap().unexplained.is_empty());
    }
}
