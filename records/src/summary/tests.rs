//! Tests of summaries.

use crate::record::{GraderRecord, JudgeRecord, Reason, Stage, TrialSummary, TurnRecord, UserRecord};
use crate::summary::*;

#[test]
fn percentiles_are_durations_that_occurred() {
    let spread = spans((1..=20).rev().collect());
    assert_eq!((spread.total, spread.p50, spread.p95), (210, Some(10), Some(19)));
    let one = spans(vec![7]);
    assert_eq!((one.total, one.p50, one.p95), (7, Some(7), Some(7)));
    assert_eq!(spans(Vec::new()), Durations::default());
    assert_eq!(spans(vec![u64::MAX, 1]).total, u64::MAX);
}

#[test]
fn the_users_of_trials_are_counted() {
    let trial = |in_role: Option<bool>, code: Option<ReasonCode>| {
        let mut trial = TrialRecord::new();
        let mut user = UserRecord::new();
        user.in_role = in_role;
        (trial.user, trial.reason) = (Some(user), code.map(|code| Reason::new(Stage::User, code, "why")));
        trial
    };
    let trials = [
        trial(Some(true), None),
        trial(Some(false), Some(ReasonCode::UserLeftRole)),
        trial(None, Some(ReasonCode::UserError)),
        TrialRecord::new(),
    ];
    let counted = users(&trials.iter().collect::<Vec<_>>());
    assert_eq!((counted.trials, counted.graded, counted.left_role, counted.failed), (3, 2, 1, 1));
}

#[test]
fn a_grader_of_turns_counts_once_per_turn() {
    let grader = |value: Option<f64>| {
        let state = if value.is_some() { GraderState::Decided } else { GraderState::Undecided };
        GraderRecord { name: "tone".to_owned(), state, value, ..GraderRecord::default() }
    };
    let turn = |value: Option<f64>| TurnRecord { graders: vec![grader(value)], ..TurnRecord::default() };
    let mut trial = TrialRecord::new();
    trial.turns = Some(vec![turn(Some(1.0)), turn(Some(0.5)), turn(None)]);
    let mut record = CaseRecord::new();
    record.trials = vec![TrialSummary::default()];
    let (trials, metadata) = ([trial], Object::new());
    let means = grader_means(&[SummedCase { record: &record, trials: &trials, metadata: &metadata }]);
    let tone = means["tone"];
    assert_eq!((tone.mean, tone.decided, tone.undecided, tone.errors), (Some(0.75), 2, 1, 0));
}

#[test]
fn a_skipped_case_is_in_no_rate() {
    let mut rate = PassRate::default();
    count_in(&mut rate, Status::Skipped);
    assert_eq!(rate, PassRate::default());
    for outcome in [Status::Passed, Status::Failed, Status::Error, Status::Passed] {
        count_in(&mut rate, outcome);
    }
    assert_eq!((rate.rate, rate.passed, rate.cases), (Some(0.5), 2, 4));
}

#[test]
fn a_skipped_case_does_not_hide_the_chances_of_the_others() {
    let record = |outcome, completed, passed| {
        let mut record = CaseRecord::new();
        (record.outcome, record.planned, record.completed, record.passed) = (outcome, 2, completed, passed);
        record.truncated = completed < 2;
        record.pass_at_k = [(2, Some(1.0))].into();
        record
    };
    let estimates = |cases: &[CaseRecord]| {
        let metadata = Object::new();
        let summed: Vec<SummedCase<'_>> =
            cases.iter().map(|record| SummedCase { record, trials: &[], metadata: &metadata }).collect();
        over_cases(&summed, pass_hat_k)
    };
    let flaky = || record(Status::Passed, 2, 1);
    let whole = estimates(&[flaky()]);
    assert_eq!(whole.get(&2).map(|estimate| (estimate.value, estimate.cases)), Some((0.0, 1)));
    assert_eq!(estimates(&[flaky(), record(Status::Skipped, 0, 0)]), whole);
    assert_eq!(estimates(&[flaky(), record(Status::Passed, 1, 1)]), BTreeMap::new(), "one was cut off");
}

#[test]
fn only_plain_values_make_groups() {
    assert_eq!(group(&Value::from("a")).as_deref(), Some("a"));
    assert_eq!(group(&Value::from(3)).as_deref(), Some("3"));
    assert_eq!(group(&Value::from(true)).as_deref(), Some("true"));
    assert_eq!(group(&Value::Null), None);
    assert_eq!(group(&evalsuite_schema::json::json!({"a": 1})), None);
}

#[test]
fn what_nobody_reported_is_not_zero() {
    assert_eq!(total(std::iter::empty()), None);
    assert_eq!(total([0.25, 0.5].into_iter()), Some(0.75));
    assert_eq!(total_usage(std::iter::empty()), None);
    assert_eq!(total_usage([Usage::new(1, 2), Usage::new(3, 4)].into_iter()), Some(Usage::new(4, 6)));
}

#[test]
fn trials_without_a_known_cost_are_counted_beside_those_with_one() {
    let trial = |cost: Option<f64>, judge: Option<Option<f64>>| {
        let mut trial = TrialRecord::new();
        trial.cost_usd = cost;
        if let Some(judge) = judge {
            let judge_record = JudgeRecord { cost_usd: judge, ..JudgeRecord::default() };
            let inner = GraderRecord { judge: Some(judge_record), ..GraderRecord::default() };
            let outer = GraderRecord { members: vec![inner], ..GraderRecord::default() };
            (trial.graders, trial.judge_cost_usd) = (vec![outer], judge);
        }
        trial
    };
    let of = |trials: &[TrialRecord], surplus: &[Option<f64>], retried: &[TrialRecord]| {
        let mut record = CaseRecord::new();
        let summary = |trial| TrialSummary::new(trial, String::new());
        record.trials = trials.iter().map(summary).collect();
        let uncounted = |cost: &Option<f64>| TrialSummary { cost_usd: *cost, ..TrialSummary::default() };
        record.surplus = surplus.iter().map(uncounted).collect();
        record.retried = retried.iter().map(summary).collect();
        let metadata = Object::new();
        summarise("default", &[SummedCase { record: &record, trials, metadata: &metadata }]).unknown_costs
    };
    let counts = |unknown: UnknownCosts| [unknown.trials, unknown.agent, unknown.judges, unknown.users];
    let none = [trial(None, Some(None)), trial(None, None)];
    assert_eq!(counts(of(&none, &[None], &[])), [0; 4], "nothing is shown");
    let known = [trial(Some(0.1), None), trial(Some(0.1), None)];
    assert_eq!(counts(of(&known, &[Some(0.1)], &[])), [0; 4], "all is known");
    assert_eq!(counts(of(&[trial(Some(0.1), None), trial(None, None)], &[None], &[])), [3, 2, 0, 0]);
    let judged = [trial(None, Some(Some(0.1))), trial(None, Some(None)), trial(None, None)];
    assert_eq!(counts(of(&judged, &[], &[])), [3, 0, 1, 0], "one asked a judge that did not tell");
    let mut in_part = trial(None, Some(Some(0.1)));
    in_part.graders.push(GraderRecord { judge: Some(JudgeRecord::default()), ..GraderRecord::default() });
    assert_eq!(counts(of(&[in_part], &[], &[])), [1, 0, 1, 0], "one of two judges did not tell");
    let mut some_calls = trial(Some(0.1), Some(Some(0.1)));
    some_calls.cost_partial = true;
    some_calls.graders[0].members[0].judge.as_mut().unwrap().unknown_costs = 1;
    let mut user = UserRecord::new();
    user.unknown_costs = 1;
    (some_calls.user, some_calls.user_cost_usd) = (Some(user), Some(0.1));
    assert_eq!(counts(of(&[some_calls], &[], &[])), [1, 1, 1, 1], "each has told the cost of some calls only");
    let before_the_agent = trial(None, None);
    let mut stopped = trial(None, None);
    stopped.duration_ms = Some(5);
    let retried = [before_the_agent, stopped];
    assert_eq!(counts(of(&known, &[], &retried)), [4, 1, 0, 0], "an agent was called in one of two repeated attempts");
}

#[test]
fn trials_without_known_tokens_are_counted_beside_those_with_them() {
    let trial = |usage: Option<Usage>, judge: Option<Usage>| {
        let mut trial = TrialRecord::new();
        let asked = JudgeRecord { usage: judge, cost_usd: Some(0.1), ..JudgeRecord::default() };
        trial.graders = vec![GraderRecord { judge: Some(asked), ..GraderRecord::default() }];
        (trial.usage, trial.judge_usage, trial.judge_cost_usd) = (usage, judge, Some(0.1));
        trial
    };
    let (some, metadata) = (Some(Usage::new(1, 2)), Object::new());
    for (trials, expected) in [
        (vec![trial(some, some), trial(some, some)], [0; 4]),
        (vec![trial(None, None), trial(None, None)], [0; 4]),
        (vec![trial(some, some), trial(None, some), trial(None, None)], [3, 2, 1, 0]),
    ] {
        let mut record = CaseRecord::new();
        record.trials = trials.iter().map(|trial| TrialSummary::new(trial, String::new())).collect();
        let case = SummedCase { record: &record, trials: &trials, metadata: &metadata };
        let found = summarise("default", &[case]).unknown_tokens;
        assert_eq!([found.trials, found.agent, found.judges, found.users], expected);
    }
}
