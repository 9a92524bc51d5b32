//! The records of a run.

use std::collections::BTreeSet;

use evalsuite_tests::throwaway::Package;

use super::OUTCOMES;

/// Fails the test unless every trial has one record with the documented fields and the right outcome.
#[track_caller]
pub(crate) fn are_complete(package: &Package, failed_again: &str) {
    let records = package.records();
    let results = records.results();
    for (test, id, outcome) in OUTCOMES {
        let of_case = records.of_case(id);
        let trials = if id == "every-other-trial" { 2 } else { 1 };
        if id != failed_again {
            assert_eq!(of_case.len(), trials, "records of {id}");
        }
        let last = of_case.last().expect("a record");
        assert_eq!(last["outcome"], outcome, "outcome of {id}: {last:#}");
        assert_eq!(last["test_name"], format!("by_task::{test}"), "test of {id}");
        assert_eq!(last["reason"].is_null(), outcome == "passed", "only what did not pass has a reason: {last:#}");
    }
    for result in &results {
        for (field, kind) in FIELDS {
            let value = result.get(field).unwrap_or_else(|| panic!("expected the field {field} in {result:#}"));
            let fits = match *kind {
                "string" => value.is_string(),
                "string?" => value.is_string() || value.is_null(),
                "number" => value.is_number(),
                "number?" => value.is_number() || value.is_null(),
                "object" => value.is_object(),
                "object?" => value.is_object() || value.is_null(),
                "list" => value.is_array(),
                "list?" => value.is_array() || value.is_null(),
                "bool" => value.is_boolean(),
                other => panic!("no kind {other}"),
            };
            assert!(fits, "expected {field} to be {kind}, it is {value}");
        }
        let names: BTreeSet<&str> = FIELDS.iter().map(|(field, _)| *field).collect();
        let more: Vec<&String> =
            result.as_object().expect("an object").keys().filter(|key| !names.contains(&***key)).collect();
        assert!(more.is_empty(), "fields that are not documented: {more:?}");
        assert_eq!(result["schema"], "evalsuite.trial/1");
    }
    let fails = &records.of_case("fails")[0];
    assert_eq!(
        fails["location"],
        evalsuite_schema::json::json!({"file": "suites/by_task/tasks/negative/fails.json", "line": 1, "column": 1})
    );
    assert_eq!((&fails["score"], &fails["threshold"], &fails["answer"]), (&0.5.into(), &1.0.into(), &"hello".into()));
    assert_eq!((&fails["failure_bucket"], &fails["layout"]), (&"manners".into(), &"tasks".into()));
    assert_eq!(fails["reason"]["code"], "threshold_not_met");
    let grader = &fails["graders"][1];
    assert_eq!(
        (&grader["name"], &grader["type"], &grader["verdict"]),
        (&"contains#2".into(), &"contains".into(), &"fail".into())
    );
    assert_eq!(grader["location"]["line"], 4, "the line of the assertion that failed");
    let codes = |id: &str| records.of_case(id)[0]["reason"]["code"].as_str().map(str::to_owned);
    assert_eq!(codes("agent-panics").as_deref(), Some("agent_panic"));
    assert_eq!(codes("agent-errs").as_deref(), Some("agent_error"));
    assert_eq!(codes("times-out").as_deref(), Some("timeout"));
    assert_eq!(codes("grader-panics").as_deref(), Some("grader_error"));
    assert_eq!(codes("agent-asks-to-skip").as_deref(), Some("skip_requested"));
}

/// Fields of `result.json` and their types; `?` marks fields that may be null.
const FIELDS: &[(&str, &str)] = &[
    ("schema", "string"),
    ("run_id", "string"),
    ("suite", "string"),
    ("suite_digest", "string"),
    ("layout", "string"),
    ("kind", "string"),
    ("case_id", "string"),
    ("case_key", "string"),
    ("case_digest", "string"),
    ("input_digest", "string"),
    ("grader_digest", "string"),
    ("test_name", "string"),
    ("target", "string"),
    ("agent", "string"),
    ("location", "object"),
    ("trial", "number"),
    ("trials_planned", "number"),
    ("attempt", "number"),
    ("runner_attempt", "number"),
    ("requested_by", "string?"),
    ("regraded_run", "string?"),
    ("mode", "string"),
    ("outcome", "string"),
    ("reason", "object?"),
    ("score", "number?"),
    ("threshold", "number"),
    ("started_at", "string"),
    ("ended_at", "string"),
    ("timings", "object"),
    ("duration_ms", "number"),
    ("usage", "object?"),
    ("judge_usage", "object?"),
    ("cost_usd", "number?"),
    ("judge_cost_usd", "number?"),
    ("model", "string?"),
    ("answer", "string?"),
    ("answer_truncated", "bool"),
    ("state", "object"),
    ("agent_metadata", "object"),
    ("graders", "list"),
    ("turns", "list?"),
    ("workspace", "object?"),
    ("hooks", "list"),
    ("notes", "list"),
    ("trajectory", "string?"),
    ("dependencies", "object"),
    ("metadata", "object"),
    ("tags", "list"),
    ("category", "string?"),
    ("conversation_id", "string?"),
    ("failure_bucket", "string?"),
    ("versions", "object"),
];
