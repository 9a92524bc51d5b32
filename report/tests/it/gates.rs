//! Runs held against gates.

use evalsuite_records::record::{
    ProbeRecord, Reason, ReasonCode, ResultKind, Status, SuiteId, SuiteRecord, SuiteTest, TrialSummary,
};
use evalsuite_report::{
    Gate, GateOptions, GateReport, GateVerdict, Problem, RunData, SuiteData, check_gates, suite_gates,
};
use evalsuite_tests::synthetic_probe::synthetic_probe;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// A run of 40 cases, of which one in five failed; each trial cost 0.01 dollars and took a second.
fn run() -> RunData {
    let output = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 40, 1).write(output.path())).unwrap();
    for (index, case) in run.suites.iter_mut().flat_map(|suite| &mut suite.cases).enumerate() {
        let outcome = if index % 5 == 4 { Status::Failed } else { Status::Passed };
        case.record.outcome = outcome;
        case.record.reason = None;
        for trial in &mut case.record.trials {
            trial.outcome = outcome;
            trial.score = Some(if outcome == Status::Passed { 1.0 } else { 0.5 });
            (trial.cost_usd, trial.judge_cost_usd, trial.duration_ms) = (Some(0.0075), Some(0.0025), Some(1_000));
        }
    }
    run
}

fn report(run: &RunData, gates: &[&str]) -> GateReport {
    let gates: Vec<Gate> = gates.iter().map(|gate| gate.parse().unwrap()).collect();
    check_gates(run, &gates, GateOptions::new())
}

fn verdict(run: &RunData, gate: &str) -> GateVerdict {
    report(run, &[gate]).verdict()
}

/// The results of a gate, without the gate.
fn shown(run: &RunData, gate: &str) -> Vec<String> {
    let text = report(run, &[gate]).to_string();
    text.lines().filter(|line| !line.starts_with("note: ")).map(|line| line.replace(gate, "…")).collect()
}

#[test]
fn trials_that_ended_in_an_error_are_counted() {
    let mut run = run();
    let report = report(&run, &["pass_rate >= 80%"]);
    assert_eq!((report.trials, report.trial_errors), (39, 1), "{report}");
    assert!(report.to_string().ends_with("note: 1 of 39 trials ended in an error\n"), "{report}");
    for case in run.suites[0].cases.iter_mut().take(10) {
        case.record.outcome = Status::Error;
    }
    let report = shown(&run, "score >= 0");
    assert!(report[0].starts_with("undecided"), "what is not known meets nothing: {report:?}");
}

#[test]
fn a_gate_on_a_rate_says_how_often_it_is_wrong() {
    let notes = |gates: &[&str]| {
        let text = report(&run(), gates).to_string();
        text.lines()
            .skip(gates.len())
            .filter(|line| !line.ends_with("in an error"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let expected = ["note: interval 0.65-0.90; at 0.78, 47% of runs meet it; at 0.82, 29% miss it"];
    assert_eq!(notes(&["pass_rate >= 80%"]), expected);
    assert_eq!(notes(&["lower(pass_rate) >= 0.65", "score >= 0.9"]), [""; 0]);
    assert_eq!(notes(&["pass_rate >= 50%"]), [""; 0], "the interval is above it");
    let few = "missed     …  0.652  40 cases  (no result of so few meets it; 73 cases are needed)";
    assert_eq!(shown(&run(), "lower(pass_rate) >= 95%"), [few]);
    let per = report(&run(), &["pass_rate >= 70% per bucket"]).to_string();
    assert_eq!(per.matches("note: interval").count(), 1, "of the smallest group: {per}");
}

#[test]
fn every_measure_is_held_against_its_limit() {
    let run = run();
    let expected = [
        ("pass_rate >= 80%", "met        …  0.800  40 cases"),
        ("pass_rate > 0.8", "missed     …  0.800  40 cases"),
        ("lower(pass_rate) >= 0.8", "missed     …  0.652  40 cases"),
        ("lower(pass_rate) >= 0.65", "met        …  0.652  40 cases"),
        ("score >= 0.9", "met        …  0.900  40 cases"),
        ("cost <= $0.40", "met        …  $0.4000  40 cases"),
        ("cost < 0.4", "missed     …  $0.4000  40 cases"),
        ("time <= 40s", "met        …  40.0 s  40 cases"),
        ("p95(time) <= 999ms", "missed     …  1.0 s  40 cases"),
        ("p50(time) <= 1s", "met        …  1.0 s  40 cases"),
    ];
    for (gate, result) in expected {
        assert_eq!(shown(&run, gate), [result], "{gate}");
    }
}

/// A run in which every trial has these values.
fn run_with(score: f64, cost_usd: f64, duration_ms: u64) -> RunData {
    let mut run = run();
    for trial in run.suites.iter_mut().flat_map(|suite| &mut suite.cases).flat_map(|case| &mut case.record.trials) {
        (trial.score, trial.cost_usd, trial.judge_cost_usd) = (Some(score), Some(cost_usd), None);
        trial.duration_ms = Some(duration_ms);
    }
    run
}

#[test]
fn sums_and_means_of_decimals_meet_their_limit() {
    // In binary, sums and means of these are off by a little.
    for score in [0.95, 0.7, 0.1, 0.85, 1.0 / 3.0] {
        let run = run_with(score, 0.1, 100);
        let gate = format!("score >= {score}");
        assert_eq!(verdict(&run, &gate), GateVerdict::Met, "{gate}");
        assert_eq!(verdict(&run, &format!("score > {score}")), GateVerdict::Missed);
        assert_eq!(verdict(&run, &format!("score >= {}", score + 1e-11)), GateVerdict::Missed);
        assert_eq!(report(&run, &[&gate]).results[0].value, Some(score));
        assert_eq!(report(&run, &["cost <= 4"]).results[0].value, Some(4.0));
        assert_eq!((verdict(&run, "cost <= 4"), verdict(&run, "cost < 4")), (GateVerdict::Met, GateVerdict::Missed));
        assert_eq!(
            (verdict(&run, "time <= 4s"), verdict(&run, "p95(time) <= 100ms")),
            (GateVerdict::Met, GateVerdict::Met)
        );
        assert_eq!(verdict(&run, "p95(time) < 100ms"), GateVerdict::Missed);
    }
}

#[test]
fn a_shown_value_is_on_its_side_of_the_limit() {
    let run = run_with(0.89996, 0.1000001, 1_001);
    let expected = [
        ("score >= 0.9", "missed     …  0.89996  40 cases"),
        ("score >= 0.89", "met        …  0.900  40 cases"),
        ("cost <= $4", "missed     …  $4.000004  40 cases"),
        ("time <= 40s", "missed     …  40.04 s  40 cases"),
        ("p50(time) <= 1s", "missed     …  1.001 s  40 cases"),
    ];
    for (gate, result) in expected {
        assert_eq!(shown(&run, gate), [result], "{gate}");
    }
}

#[test]
fn gates_are_about_suites_targets_buckets_tags_and_metadata() {
    let run = run();
    let counts = ["suite:refunds", "target:small", "bucket:refund", "tag:nightly", "metadata.language:de"]
        .map(|selected| report(&run, &[&format!("{selected} pass_rate > 0")]).results[0].cases);
    let total = 40;
    assert!(counts.iter().all(|count| *count > 0 && *count <= total), "{counts:?}");
    assert_eq!(counts[3], total, "every case has the tag");
    let both = report(&run, &["suite:refunds bucket:refund pass_rate > 0"]).results[0].cases;
    assert!(both > 0 && both < counts[0].min(counts[2]), "{both}");
    let suites = report(&run, &["pass_rate >= 0.5 per suite"]);
    let slices: Vec<&str> = suites.results.iter().filter_map(|result| result.slice.as_deref()).collect();
    assert_eq!(slices, ["suite:refunds", "suite:repair", "suite:scheduling"]);
    let languages = report(&run, &["score >= 1 per metadata.language"]);
    assert_eq!((languages.results.len(), languages.verdict()), (4, GateVerdict::Missed));
}

#[test]
fn nothing_is_never_green() {
    let mut run = run();
    assert_eq!(shown(&run, "suite:other pass_rate >= 0"), ["undecided  …  0 cases  (no case matches)"]);
    assert_eq!(verdict(&run, "pass_rate >= 0 per metadata.unknown"), GateVerdict::Undecided);
    assert_eq!(report(&run, &[]).verdict(), GateVerdict::Undecided);
    run.suites.clear();
    assert_eq!(verdict(&run, "cost <= 10"), GateVerdict::Undecided);
}

#[test]
fn torn_records_and_running_tests_are_never_green() {
    let mut run = run();
    run.in_use = true;
    assert_eq!(
        shown(&run, "pass_rate >= 0.5"),
        ["undecided  …  0.800  40 cases  (tests of the run are still running)"]
    );
    let mut selected = GateOptions::new();
    selected.only_selected = true;
    let verdict_of = |gate: &str| check_gates(&run, &[gate.parse().unwrap()], selected).verdict();
    assert_eq!(verdict_of("pass_rate >= 0.9"), GateVerdict::Undecided, "others may pass");
    assert_eq!(verdict_of("cost <= 0.1"), GateVerdict::Missed, "it can only grow");
    let output = tempfile::tempdir().unwrap();
    let directory = SyntheticRun::new("torn", 9, 1).write(output.path());
    std::fs::write(directory.join("run.json"), "{").unwrap();
    let run = RunData::read(directory).unwrap();
    assert!(matches!(run.problems.as_slice(), [Problem { .. }]));
    let result = report(&run, &["pass_rate >= 0"]).results.remove(0);
    assert_eq!(result.verdict, GateVerdict::Undecided);
    assert!(result.why.as_deref().is_some_and(|why| why.starts_with("run.json EOF")), "{result}");
}

#[test]
fn missing_results_are_never_green() {
    let mut run = run();
    for case in run.suites[0].cases.iter_mut().take(5) {
        case.record.outcome = Status::Skipped;
    }
    assert_eq!(
        shown(&run, "pass_rate >= 0.5"),
        [format!("undecided  …  {:.3}  35 cases  (5 of 40 cases have no result)", 28.0 / 35.0)]
    );
    let mut run = self::run();
    run.suites[0].record.as_mut().unwrap().tests.push(SuiteTest::new("evals", "refunds::lost", "lost"));
    let expected =
        "undecided  …  0.800  40 cases  (1 case did not run; with --selected, only cases that ran are counted)";
    assert_eq!(shown(&run, "pass_rate >= 0.5"), [expected]);
    assert_eq!(verdict(&run, "suite:repair pass_rate >= 0.5"), GateVerdict::Met, "of another suite");
    // That of a suite whose test program died before its first test.
    let lost = run.suites[0].record.as_mut().unwrap().tests.pop().unwrap();
    let mut record = SuiteRecord::new();
    record.tests.push(lost);
    run.without_records.push(SuiteData { record: Some(record), ..SuiteData::default() });
    assert_eq!(shown(&run, "pass_rate >= 0.5"), [expected]);
    assert_eq!(verdict(&run, "suite:repair pass_rate >= 0.5"), GateVerdict::Met, "of another suite");
    let gate: Gate = "pass_rate >= 0.5".parse().unwrap();
    let mut selected = GateOptions::new();
    selected.only_selected = true;
    assert_eq!(check_gates(&run, std::slice::from_ref(&gate), selected).verdict(), GateVerdict::Met);
    for case in run.suites[1].cases.iter_mut().take(8) {
        case.record.outcome = Status::Skipped;
        let code = ReasonCode::Filtered;
        case.record.reason = Some(Reason::new(evalsuite_records::record::Stage::Select, code, "not selected"));
    }
    assert_eq!(check_gates(&run, std::slice::from_ref(&gate), selected).verdict(), GateVerdict::Met);
    assert_eq!(check_gates(&run, &[gate], GateOptions::new()).verdict(), GateVerdict::Undecided);
}

/// Ten cases of a hundred ran and failed: the others may pass.
#[test]
fn a_gate_is_missed_only_if_no_missing_result_could_meet_it() {
    let mut run = run();
    let mut lose = |count: usize| {
        let tests = &mut run.suites[0].record.as_mut().unwrap().tests;
        tests.retain(|test| !test.case_id.starts_with("lost"));
        tests.extend((0..count).map(|index| {
            let id = format!("lost-{index}");
            SuiteTest::new("evals", format!("refunds::{id}"), id)
        }));
        run.clone()
    };
    // 32 of 40 cases passed: 80 %.
    let fraction = |run: &RunData, gate: &str| (verdict(run, gate), report(run, &[gate]).results[0].why.is_some());
    for (gate, least) in [("pass_rate >= 90%", 40), ("pass_rate > 90%", 41), ("lower(pass_rate) >= 90%", 113)] {
        assert_eq!(fraction(&lose(0), gate).0, GateVerdict::Missed, "{gate}");
        assert_eq!(fraction(&lose(least - 1), gate), (GateVerdict::Missed, true), "{gate}");
        assert_eq!(fraction(&lose(least), gate), (GateVerdict::Undecided, true), "{gate}");
        let selected = check_gates(&lose(least), &[gate.parse().unwrap()], {
            let mut selected = GateOptions::new();
            selected.only_selected = true;
            selected
        });
        assert_eq!(selected.verdict(), GateVerdict::Missed, "{gate}: of what ran, nothing is missing");
    }
    let score = report(&lose(0), &["score >= 0"]).results[0].value.unwrap();
    let limit = format!("score >= {}", (score * 40.0 + 10.0) / 50.0);
    assert_eq!([lose(9), lose(10)].map(|run| verdict(&run, &limit)), [GateVerdict::Missed, GateVerdict::Undecided]);
    for (gate, of_missing) in [
        ("cost <= $0.01", GateVerdict::Missed),
        ("time <= 1ms", GateVerdict::Missed),
        ("p50(time) <= 1ms", GateVerdict::Undecided),
        ("p95(time) <= 1ms", GateVerdict::Undecided),
    ] {
        assert_eq!(verdict(&lose(0), gate), GateVerdict::Missed, "{gate}");
        assert_eq!(verdict(&lose(1), gate), of_missing, "{gate}");
    }
    for result in report(&lose(40), &["pass_rate >= 90% per target", "pass_rate >= 90% per bucket"]).results {
        assert_ne!(result.verdict, GateVerdict::Missed, "a missing case may be of any group: {result}");
    }
}

#[test]
fn times_that_are_not_known_may_be_short() {
    let mut run = run();
    let mut forget = |count: usize| {
        let trials = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).map(|case| &mut case.record.trials[0]);
        trials.take(count).for_each(|trial| trial.duration_ms = None);
        run.clone()
    };
    assert_eq!(verdict(&forget(19), "p50(time) <= 1ms"), GateVerdict::Missed);
    assert_eq!(verdict(&forget(20), "p50(time) <= 1ms"), GateVerdict::Undecided);
    assert_eq!(verdict(&forget(20), "p95(time) <= 1ms"), GateVerdict::Missed);
}

#[test]
fn a_record_that_cannot_be_read_may_be_of_a_pass() {
    let output = tempfile::tempdir().unwrap();
    let directory = SyntheticRun::new("torn", 30, 1).write(output.path());
    let run = RunData::read(&directory).unwrap();
    let count = |outcomes: &[Status]| {
        let cases = run.suites.iter().flat_map(|suite| &suite.cases);
        cases.filter(|case| outcomes.contains(&case.record.outcome)).count() as f64
    };
    let best = count(&[Status::Passed, Status::Skipped])
        / count(&[Status::Passed, Status::Skipped, Status::Failed, Status::Error]);
    let [below, at] = [best - 0.01, best].map(|rate| format!("pass_rate > {rate}"));
    let passed = run.suites[0].cases.iter().find(|case| case.record.outcome == Status::Passed).unwrap();
    std::fs::write(directory.join(&passed.directory).join("case.json"), "{").unwrap();
    let run = RunData::read(&directory).unwrap();
    assert_eq!(verdict(&run, &below), GateVerdict::Undecided, "{}", report(&run, &[&below]));
    assert_eq!(verdict(&run, &at), GateVerdict::Missed, "{}", report(&run, &[&at]));
    // Without the list of tests, it is not known how many are missing.
    std::fs::remove_file(run.suites[0].directory.join("suite.json")).unwrap();
    let run = RunData::read(&directory).unwrap();
    assert_eq!(verdict(&run, &at), GateVerdict::Undecided, "{}", report(&run, &[&at]));
}

/// What a case is about is in the records of its trials, and a case that was skipped before it ran has none.
#[test]
fn a_case_without_a_trial_may_be_of_any_slice() {
    let mut run = run();
    for case in run.suites[0].cases.iter_mut().take(2) {
        case.record.outcome = Status::Skipped;
        case.trials.clear();
    }
    assert_eq!(verdict(&run, "pass_rate >= 0.5"), GateVerdict::Met, "two of forty");
    let slice = report(&run, &["suite:refunds tag:gpu-free pass_rate >= 0"]).results.remove(0);
    let why = format!("2 of {} cases have no result; 2 of them may be others", slice.cases + 2);
    assert_eq!((slice.verdict, slice.why), (GateVerdict::Undecided, Some(why)));
    for result in report(&run, &["suite:refunds pass_rate >= 0 per bucket"]).results {
        assert_eq!(result.verdict, GateVerdict::Undecided, "{result}");
    }
    assert_eq!(verdict(&run, "suite:repair pass_rate >= 0 per bucket"), GateVerdict::Met, "of another suite");
    for case in run.suites[0].cases.iter_mut().take(2) {
        let stage = evalsuite_records::record::Stage::Select;
        case.record.reason = Some(Reason::new(stage, ReasonCode::Filtered, "not selected"));
    }
    let gate: Gate = "pass_rate >= 0 per bucket".parse().unwrap();
    let mut selected = GateOptions::new();
    selected.only_selected = true;
    assert_eq!(check_gates(&run, std::slice::from_ref(&gate), selected).verdict(), GateVerdict::Met);
    assert_eq!(check_gates(&run, &[gate], GateOptions::new()).verdict(), GateVerdict::Undecided);
}

#[test]
fn a_cost_that_is_partly_known_is_not_within_a_limit() {
    let mut run = run();
    run.suites[0].cases[0].record.trials[0].cost_usd = None;
    assert_eq!(shown(&run, "cost <= 1"), ["undecided  …  $0.3925  40 cases  (the cost of 1 trial is not known)"]);
    assert_eq!(verdict(&run, "cost <= 0.1"), GateVerdict::Missed, "what is known is too much already");
    for case in run.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        case.record.trials.iter_mut().for_each(|trial| {
            (trial.score, trial.cost_usd, trial.judge_cost_usd) = (None, None, None);
        });
    }
    assert_eq!(verdict(&run, "cost <= 1"), GateVerdict::Undecided);
    assert_eq!(verdict(&run, "score >= 0"), GateVerdict::Undecided);
}

#[test]
fn a_cost_without_that_of_a_repeated_attempt_or_a_judge_is_not_within_a_limit() {
    let whole = run();
    assert_eq!(verdict(&whole, "cost <= 1"), GateVerdict::Met);
    let with = |change: fn(&mut TrialSummary)| {
        let mut run = whole.clone();
        let record = &mut run.suites[0].cases[0].record;
        let mut attempt = record.trials[0].clone();
        (attempt.cost_usd, attempt.judge_cost_usd) = (None, None);
        change(&mut attempt);
        record.retried.push(attempt);
        verdict(&run, "cost <= 1")
    };
    assert_eq!(with(|_| ()), GateVerdict::Met, "its agent was not called");
    assert_eq!(with(|attempt| attempt.unknown_costs.agent = true), GateVerdict::Undecided);
    assert_eq!(with(|attempt| attempt.unknown_costs.judges = true), GateVerdict::Undecided);
    assert_eq!(with(|attempt| attempt.unknown_costs.user = true), GateVerdict::Undecided);
    assert_eq!(with(|attempt| attempt.cost_usd = Some(1.0)), GateVerdict::Missed);
    let mut judged = whole.clone();
    judged.suites[0].cases[0].record.trials[0].unknown_costs.judges = true;
    let why = "undecided  …  $0.4000  40 cases  (the cost of 1 trial is not known)";
    assert_eq!(shown(&judged, "cost <= 1"), [why]);
    for case in judged.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        case.record.trials.iter_mut().for_each(|trial| (trial.cost_usd, trial.judge_cost_usd) = (None, Some(1.0)));
    }
    assert_eq!(verdict(&judged, "cost <= 1"), GateVerdict::Missed, "the judges alone are too expensive");
}

#[test]
fn percentiles_of_few_times_are_not_within_a_limit() {
    let mut run = run();
    let trials = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).map(|case| &mut case.record.trials[0]);
    trials.take(4).for_each(|trial| trial.duration_ms = None);
    assert_eq!(verdict(&run, "p95(time) <= 1h"), GateVerdict::Met, "a tenth is missing");
    run.suites[0].cases[4].record.trials[0].duration_ms = None;
    for gate in ["p50(time) <= 1h", "p95(time) <= 1h"] {
        let result = report(&run, &[gate]).results.remove(0);
        assert_eq!(result.why.as_deref(), Some("the time of 5 trials is not known"), "{result}");
        assert_eq!(result.verdict, GateVerdict::Undecided);
    }
}

#[test]
fn times_are_those_of_the_trials_that_count_and_costs_those_of_all() {
    let mut run = run();
    let record = &mut run.suites[0].cases[0].record;
    let mut repeated = record.trials[0].clone();
    (repeated.cost_usd, repeated.duration_ms) = (Some(1.0), Some(60_000));
    (record.confirming, record.surplus) = (vec![repeated.clone(); 10], vec![repeated; 10]);
    for gate in ["time <= 40s", "p50(time) <= 1s", "p95(time) <= 1s", "cost <= 21"] {
        assert_eq!(verdict(&run, gate), GateVerdict::Met, "{gate}");
    }
    assert_eq!(verdict(&run, "cost <= 20"), GateVerdict::Missed);
}

#[test]
fn a_case_that_was_skipped_in_one_arm_is_a_pair_without_a_result() {
    let output = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 120, 1).write(output.path())).unwrap();
    run.suites.truncate(1);
    run.suites[0].record.as_mut().unwrap().tests.clear();
    let cases = &mut run.suites[0].cases;
    cases.retain(|case| case.record.target == "default");
    cases.truncate(20);
    assert_eq!(cases.len(), 20);
    let mut with_skill = cases.clone();
    for (arm, cases) in [("without_skill", &mut *cases), ("with_skill", &mut with_skill)] {
        let outcome = if arm == "with_skill" { Status::Passed } else { Status::Failed };
        for record in cases.iter_mut().map(|case| &mut case.record) {
            (record.target, record.outcome, record.reason) = (arm.to_owned(), outcome, None);
            (record.completed, record.errors) = (1, 0);
            for trial in &mut record.trials {
                trial.outcome = outcome;
                trial.score = Some(if outcome == Status::Passed { 1.0 } else { 0.0 });
            }
        }
    }
    cases.extend(with_skill);
    assert_eq!(verdict(&run, "lift > 0"), GateVerdict::Met, "{}", report(&run, &["lift > 0"]));
    for case in run.suites[0].cases.iter_mut().take(3) {
        (case.record.outcome, case.record.completed) = (Status::Skipped, 0);
        case.record.trials.clear();
        case.trials.clear();
    }
    let result = report(&run, &["lift > 0"]).results.remove(0);
    assert_eq!(result.verdict, GateVerdict::Undecided, "{result}");
    assert_eq!(result.why.as_deref(), Some("3 of 20 cases have no result in one of the arms"));
}

#[test]
fn the_gates_of_a_suite_are_about_its_cases() {
    let mut run = run();
    assert_eq!(suite_gates(&run), Ok(Vec::new()));
    let repair = run.suites.iter_mut().find(|suite| suite.name == "repair").unwrap();
    repair.record.as_mut().unwrap().gates = vec!["pass_rate >= 90% per target".into(), "cost <= 2".into()];
    let gates = suite_gates(&run).unwrap();
    let texts: Vec<String> = gates.iter().map(Gate::to_string).collect();
    assert_eq!(texts, ["suite:repair pass_rate >= 90% per target", "suite:repair cost <= 2"]);
    let cases = run.suites.iter().find(|suite| suite.name == "repair").unwrap().cases.len();
    assert_eq!(check_gates(&run, &gates, GateOptions::new()).results.last().unwrap().cases, cases);
}

#[test]
fn a_suite_whose_gates_are_not_known_is_never_green() {
    let mut run = run();
    run.suites[0].record = None;
    let result = report(&run, &["suite:repair pass_rate >= 0"]).results.remove(0);
    assert_eq!(result.verdict, GateVerdict::Undecided);
    assert_eq!(result.why.as_deref(), Some("suite.json of suite `refunds` is missing"));
}

/// A probe of a suite of four cases, of which as many pass for an agent that does nothing.
fn probe(suite: &str, passed: usize) -> ProbeRecord {
    synthetic_probe(&SuiteId::new(suite), (0..4).map(|index| [(ResultKind::Silent, index < passed)]))
}

#[test]
fn a_pass_rate_is_held_against_the_floor() {
    let run = run();
    let unknown = report(&run, &["suite:repair pass_rate >= floor + 20%"]).results.remove(0);
    assert_eq!((unknown.verdict, unknown.limit, unknown.floor), (GateVerdict::Undecided, None, None));
    assert_eq!(unknown.why.as_deref(), Some("the floor of suite `repair` is not known: run `cargo evalsuite probe`"));
    let run = run.with_probes(&[probe("repair", 2), probe("refunds", 1), probe("scheduling", 1)]);
    let known = |gate: &str| report(&run, &[gate]).results.remove(0);
    let repair = known("suite:repair pass_rate >= floor + 20%");
    assert_eq!((repair.limit, repair.floor), (Some(0.7), Some(0.5)));
    assert_eq!(repair.verdict, GateVerdict::Met, "{repair}");
    assert!(repair.to_string().ends_with("cases  floor 0.500"), "{repair}");
    assert_eq!(known("suite:repair pass_rate > floor + 40%").verdict, GateVerdict::Missed);
    let all = known("pass_rate >= floor").floor.unwrap();
    assert!(0.25 < all && all < 0.5, "the floors of the suites, by their cases: {all}");
}
