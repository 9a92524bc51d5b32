//! The steps of a run, as the caller of `Evals::run` is told.

use std::sync::{Arc, Mutex};

use evalsuite::record::Status;
use evalsuite::{Evals, Outcome, ProgressEvent, ProgressStep, RunOptions, Trial};
use evalsuite_schema::json::json;

use crate::common::{case_json, contains, run_with, suite};

#[test]
fn every_step_is_reported_in_order_with_scores_and_cost_so_far() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        case_json("a", json!([contains("hello"), contains("bye")]), json!({"trials": {"count": 2}})),
        case_json("b", json!([contains("hello")]), json!({"requires": {"env": ["EVALSUITE_TEST_NOT_SET"]}})),
    ];
    let agent = |trial: &mut Trial<'_>| {
        let text = ["hello", "hello, bye"][trial.index() as usize];
        anyhow::Ok(Outcome::new().with_text(text).with_cost_usd(0.25))
    };
    let evals = Evals::new(suite("cases", "capability", directory.path(), &cases)).with_agent(agent);
    let events = Arc::new(Mutex::new(Vec::<ProgressEvent>::new()));
    let seen = Arc::clone(&events);
    let options = RunOptions::new()
        .with_concurrency(std::num::NonZeroUsize::MIN)
        .with_progress(move |event| seen.lock().unwrap().push(event.clone()));
    assert_eq!(options, options.clone());
    run_with(&evals, directory.path(), options);
    let events = events.lock().unwrap();
    let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
    let (first, other) = lines.split_at(9);
    assert_eq!(
        first,
        [
            "x::a: started, 2 trials",
            "x::a: trial 1 of 2 started",
            "x::a: trial 1 of 2, grader contains-hello: 1.00",
            "x::a: trial 1 of 2, grader contains-bye: 0.00",
            "x::a: trial 1 of 2 failed, score 0.50, mean so far 0.50, 0.2500 USD",
            "x::a: trial 2 of 2 started",
            "x::a: trial 2 of 2, grader contains-hello: 1.00",
            "x::a: trial 2 of 2, grader contains-bye: 1.00",
            "x::a: trial 2 of 2 passed, score 1.00, mean so far 0.75, 0.5000 USD",
        ]
    );
    assert_eq!(other.len(), 2, "{other:?}");
    assert_eq!(other[0], "x::a: passed, score 1.00, 0.5000 USD");
    assert!(other[1].starts_with("x::b: skipped: environment variable EVALSUITE_TEST_NOT_SET"), "{other:?}");
    assert!(events.iter().all(|event| event.suite == "x" && event.target == "default"));
    assert!(matches!(
        events.last().map(|event| &event.step),
        Some(ProgressStep::CaseFinished { outcome: Status::Skipped, score: None, .. })
    ));
}
