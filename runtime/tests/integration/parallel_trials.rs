//! Trials of one case at the same time: the same verdict and records as one after another.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use evalsuite::record::{CaseRecord, Mode, ReasonCode, Stage};
use evalsuite::{AgentError, CaseReport, Evals, Outcome, RunOptions, Status, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, only, run_with, suite_with};

const PLANNED: u32 = 5;

/// What the agent does in each of five trials, and how often it was called at the same time.
struct Scenario {
    does: [&'static str; PLANNED as usize],
    kind: &'static str,
    case: Value,
    suite: Value,
    run_all: bool,
}

impl Scenario {
    fn new(kind: &'static str, does: [&'static str; PLANNED as usize]) -> Self {
        Self { does, kind, case: json!({}), suite: json!({}), run_all: false }
    }

    fn options(&self, workers: u32) -> RunOptions {
        let workers = NonZeroUsize::new(workers as usize).unwrap();
        RunOptions::new().with_workers(workers).with_run_all(self.run_all)
    }

    /// Runs the case. With several workers, no trial ends before all of them have started, and the last one ends first.
    fn run(&self, directory: &Path, options: RunOptions, ends_backwards: bool) -> (CaseReport, u32) {
        let mut more = json!({"trials": {"count": PLANNED}});
        more.as_object_mut().unwrap().extend(self.case.as_object().unwrap().clone());
        if let Some(limit) = more.as_object_mut().unwrap().remove("cost_limit_usd") {
            more["trials"]["cost_limit_usd"] = limit;
        }
        let cases = [case_json("a", json!([contains("hello")]), more)];
        let calls = Arc::new(Calls::default());
        let (does, inner) = (self.does, Arc::clone(&calls));
        let agent = move |trial: &mut Trial<'_>| -> Result<Outcome, AgentError> {
            let _call = inner.begin(trial.index(), ends_backwards);
            let outcome = Outcome::new().with_cost_usd(0.1);
            match does[trial.index() as usize] {
                "panic" => panic!("a defect"),
                "skip" => Err(AgentError::skip("no access")),
                "break" => Err(AgentError::new("broken")),
                text => Ok(outcome.with_text(text)),
            }
        };
        let evals = Evals::new(suite_with("cases", self.kind, directory, &cases, self.suite.clone())).with_agent(agent);
        let report = run_with(&evals, directory, options);
        let most = calls.state.lock().unwrap().most;
        (only(&report).clone(), most)
    }

    /// The case one after another, and at the same time.
    #[track_caller]
    fn compare(&self) -> Compared {
        let (sequential, parallel) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (one, most) = self.run(sequential.path(), self.options(1), false);
        assert_eq!((most, one.record().surplus.len()), (1, 0), "one after another");
        let (other, most) = self.run(parallel.path(), self.options(PLANNED), true);
        assert_eq!(most, PLANNED, "all at the same time");
        assert_eq!(comparable(&one), comparable(&other), "{one}\n{other}");
        let surplus = other.record().surplus.iter().map(|trial| trial.index).collect();
        let ledger = fs::read_to_string(other.directory().ancestors().nth(4).unwrap().join("spend.jsonl")).unwrap();
        assert_eq!(ledger.lines().count(), PLANNED as usize, "what ran has its cost counted\n{ledger}");
        for trial in &other.record().surplus {
            assert!(other.directory().join(&trial.path).is_file(), "a surplus trial has its record");
        }
        Compared { record: one.record().clone(), surplus }
    }
}

struct Compared {
    record: CaseRecord,
    surplus: Vec<u32>,
}

/// The records of a case and of its trials that count, without times, ids and paths, and without what only parallel runs have.
fn comparable(report: &CaseReport) -> Value {
    let mut value = json!({"case": report.record(), "trials": report.trials()});
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for key in ["run_id", "started_at", "ended_at", "timings", "duration_ms", "surplus", "workspace"] {
                object.remove(key);
            }
            object.values_mut().for_each(strip);
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}

/// The calls of the agent that run.
#[derive(Default)]
struct Calls {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    begun: u32,
    running: u32,
    most: u32,
    ended: BTreeSet<u32>,
}

struct Call<'c> {
    calls: &'c Calls,
    index: u32,
}

impl Calls {
    fn begin(&self, index: u32, ends_backwards: bool) -> Call<'_> {
        let mut state = self.state.lock().unwrap();
        state.running += 1;
        state.most = state.most.max(state.running);
        state.begun += 1;
        self.changed.notify_all();
        let follows =
            |state: &State| state.begun == PLANNED && (index + 1 == PLANNED || state.ended.contains(&(index + 1)));
        while ends_backwards && !follows(&state) {
            state = self.changed.wait(state).unwrap();
        }
        Call { calls: self, index }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut state = self.calls.state.lock().unwrap();
        state.running -= 1;
        state.ended.insert(self.index);
        self.calls.changed.notify_all();
    }
}

#[test]
fn all_trials_count_where_all_are_needed() {
    let passed = Scenario::new("regression", ["hello"; 5]).compare();
    assert_eq!((passed.record.outcome, passed.record.trials.len()), (Status::Passed, 5));
    assert_eq!(passed.surplus, [] as [u32; 0]);
    let failed = Scenario::new("capability", ["no"; 5]).compare();
    assert_eq!((failed.record.outcome, failed.surplus.len()), (Status::Failed, 0));
}

#[test]
fn trials_beyond_an_early_stop_are_surplus() {
    let failed = Scenario::new("regression", ["hello", "no", "hello", "no", "hello"]).compare();
    assert_eq!((failed.record.outcome, failed.record.trials.len()), (Status::Failed, 2));
    assert!(failed.record.truncated);
    assert_eq!(failed.surplus, [2, 3, 4]);
    let passed = Scenario::new("capability", ["no", "no", "hello", "no", "no"]).compare();
    assert_eq!((passed.record.outcome, passed.record.passed), (Status::Passed, 1));
    assert_eq!(passed.surplus, [3, 4]);
    let all = Scenario { run_all: true, ..Scenario::new("capability", ["hello", "break", "no", "hello", "no"]) };
    assert_eq!(all.compare().surplus, [] as [u32; 0]);
}

#[test]
fn a_budget_ends_a_case_where_it_would_have_ended_it() {
    // 0.1 + 0.1 + 0.1 is not 0.3, and not the same number as 0.1 * 5 - 0.1 - 0.1.
    let scenario = |kind| Scenario { suite: json!({"budget_usd": 0.3}), ..Scenario::new(kind, ["hello"; 5]) };
    let spent = scenario("regression").compare();
    assert_eq!((spent.record.outcome, spent.record.trials.len()), (Status::Error, 3));
    let message = &spent.record.reason.as_ref().unwrap().message;
    assert_eq!(message, "the suite has cost 0.3000 US dollars, and `execution.budget_usd` is 0.3");
    assert_eq!(spent.surplus, [3, 4]);
    let enough = Scenario { run_all: true, ..scenario("capability") }.compare();
    assert_eq!((enough.record.outcome, enough.record.cost_limited), (Status::Passed, true));
    assert_eq!(enough.surplus, [3, 4]);
    let limited = Scenario { case: json!({"cost_limit_usd": 0.2}), ..Scenario::new("regression", ["hello"; 5]) };
    let limited = limited.compare();
    assert_eq!((limited.record.trials.len(), limited.surplus.len()), (2, 3));
}

#[test]
fn a_panic_or_a_skip_of_one_trial_ends_the_case_alike() {
    let panicked = Scenario::new("regression", ["hello", "panic", "hello", "panic", "hello"]).compare();
    assert_eq!((panicked.record.outcome, panicked.record.errors), (Status::Error, 1));
    assert_eq!(panicked.surplus, [2, 3, 4]);
    let skipped = Scenario::new("regression", ["hello", "skip", "hello", "no", "hello"]).compare();
    assert_eq!((skipped.record.outcome, skipped.record.trials.len()), (Status::Error, 2));
    assert_eq!(skipped.surplus, [2, 3, 4]);
}

#[test]
fn a_case_whose_trials_are_missing_after_a_skip_is_an_error_with_the_reason_of_the_skip() {
    let skips = |kind, strategy: &str, errors: u32, does| {
        let case = json!({"trials": {"count": PLANNED, "strategy": strategy, "errors": errors}});
        let scenario = Scenario { case, ..Scenario::new(kind, does) };
        let directory = tempfile::tempdir().unwrap();
        let (case, _) = scenario.run(directory.path(), scenario.options(1).with_run_all(true), false);
        let record = case.record();
        let reason = record.reason.clone().map(|reason| (reason.stage, reason.code, reason.message));
        (record.outcome, record.ends_early(), reason)
    };
    let missing = |trial: u32| {
        let message =
            format!("trial {trial} of 5 was skipped, and the trials before it do not decide the case: no access");
        (Status::Error, false, Some((Stage::Agent, ReasonCode::SkipRequested, message)))
    };
    assert_eq!(skips("regression", "pass_at_k", 0, ["hello", "skip", "hello", "hello", "hello"]), missing(2));
    assert_eq!(skips("regression", "mean", 0, ["hello", "hello", "hello", "hello", "skip"]), missing(5));
    assert_eq!(skips("capability", "pass_at_k", 0, ["no", "no", "skip", "hello", "hello"]), missing(3));
    // Not the error, which is tolerated.
    assert_eq!(skips("regression", "pass_at_k", 1, ["hello", "break", "skip", "hello", "hello"]), missing(3));
    assert_eq!(
        skips("capability", "pass_at_k", 0, ["hello", "skip", "hello", "hello", "hello"]),
        (Status::Passed, false, None)
    );
    assert_eq!(skips("regression", "pass_at_k", 0, ["no", "skip", "hello", "hello", "hello"]).0, Status::Failed);
    assert_eq!(skips("regression", "pass_at_k", 0, ["skip", "hello", "hello", "hello", "hello"]).0, Status::Skipped);
}

#[test]
fn the_summary_has_the_cost_of_surplus_trials_and_not_their_results() {
    let directory = tempfile::tempdir().unwrap();
    let scenario = Scenario::new("regression", ["hello", "no", "hello", "hello", "hello"]);
    let (case, _) = scenario.run(directory.path(), scenario.options(PLANNED), true);
    let run = case.directory().ancestors().nth(4).unwrap();
    let summary = evalsuite_records::summary::summarize_run(run).unwrap();
    let target = &summary.suites[0].targets[0];
    assert_eq!((target.trials.passed, target.trials.failed), (1, 1));
    assert!((target.cost_usd.unwrap() - 0.5).abs() < 1e-9, "{:?}", target.cost_usd);

    // Only what counted is graded again.
    let options = scenario.options(PLANNED).with_regrade(&case.record().run_id);
    let (again, _) = scenario.run(directory.path(), options, true);
    assert_eq!((again.record().planned, again.trials().len()), (5, 2));
}

#[test]
fn trials_that_share_a_workspace_or_are_recorded_run_one_after_another() {
    let shared = json!({"workspace": {"isolation": "shared"}});
    let directory = tempfile::tempdir().unwrap();
    let scenario = Scenario { case: shared.clone(), suite: shared, ..Scenario::new("regression", ["hello"; 5]) };
    let (case, most) = scenario.run(directory.path(), scenario.options(PLANNED), false);
    assert_eq!((case.status(), most), (Status::Passed, 1), "{case}");

    let scenario = Scenario::new("regression", ["hello", "no", "hello", "hello", "hello"]);
    let cassettes = directory.path().join("cassettes");
    let options = scenario.options(PLANNED).with_mode(Mode::Record).with_cassettes(&cassettes);
    let (case, most) = scenario.run(directory.path(), options, false);
    assert_eq!((case.trials().len(), most), (2, 1));
    // Replays may run at the same time: each reads a file of its own.
    let options = scenario.options(PLANNED).with_mode(Mode::Replay).with_cassettes(&cassettes);
    let (case, most) = scenario.run(directory.path(), options, false);
    assert_eq!((case.status(), case.trials().len(), most), (Status::Failed, 2, 0), "{case}");
}
