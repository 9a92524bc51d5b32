//! The run in time, as Chrome trace JSON.

use std::collections::BTreeMap;

use evalsuite_report::{Format, RunData};
use evalsuite_schema::Value;
use evalsuite_tests::synthetic_run::SyntheticRun;

fn events(run: &RunData) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let exported = Format::named("trace").expect("a format").write(run, file.path()).expect("a trace");
    assert_eq!(exported.problems, []);
    let text = std::fs::read(file.path()).expect("the trace");
    let mut document: Value = evalsuite_schema::json::from_slice(&text).expect("JSON");
    match document["traceEvents"].take() {
        Value::Array(events) => events,
        other => panic!("not a list: {other}"),
    }
}

fn run() -> (tempfile::TempDir, RunData) {
    let output = tempfile::tempdir().expect("a temporary directory");
    let directory = SyntheticRun::new("20261122T142550Z-000001", 30, 2).write(output.path());
    let run = RunData::read(directory).expect("the run can be read");
    (output, run)
}

fn of_category<'a>(events: &'a [Value], category: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["cat"] == category).collect()
}

#[test]
fn every_trial_is_a_slice_with_its_phases_calls_graders_and_judges() {
    let (_output, run) = run();
    let events = events(&run);
    let trials: Vec<_> = run
        .suites
        .iter()
        .flat_map(|suite| &suite.cases)
        .flat_map(|case| &case.trials)
        .map(|trial| &trial.record)
        .collect();
    assert_eq!(of_category(&events, "trial").len(), trials.len());
    let graders: usize = trials.iter().map(|trial| trial.graders.len()).sum();
    assert_eq!(of_category(&events, "grader").len(), graders);
    assert_eq!(of_category(&events, "judge").len() * 3, graders, "one of three graders asks a judge");
    assert!(of_category(&events, "tool").iter().any(|event| event["name"] == "refund" && event["dur"] == 1_904_000));
    assert!(of_category(&events, "phase").iter().any(|event| event["name"] == "setup" && event["dur"] == 38_000));
    let named = |name: &str| events.iter().filter(|event| event["ph"] == "M" && event["name"] == name).count();
    assert_eq!(named("process_name"), 6, "suites and targets");
    let first = of_category(&events, "trial").iter().filter_map(|event| event["ts"].as_u64()).min();
    assert_eq!(first, Some(0), "times are relative to the first trial");
}

#[test]
fn slices_of_a_thread_are_nested() {
    let (_output, run) = run();
    let events = events(&run);
    let mut threads: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let number = |key: &str| event[key].as_u64().expect("a whole number");
        let slice = (number("ts"), number("ts") + number("dur"));
        threads.entry(format!("{}/{}", event["pid"], event["tid"])).or_default().push(slice);
    }
    assert!(threads.len() > 6, "all trials of this run start at once, each on a thread of its own: {}", threads.len());
    for (thread, slices) in threads {
        for (index, (start, end)) in slices.iter().enumerate() {
            for (other_start, other_end) in &slices[index + 1..] {
                let is_apart = other_start >= end || other_end <= start;
                let is_inside = start <= other_start && other_end <= end;
                assert!(is_apart || is_inside, "{thread}: {start}..{end} and {other_start}..{other_end}");
            }
        }
    }
}

#[test]
fn trials_share_a_thread_where_they_follow_one_another() {
    let (_output, mut run) = run();
    let cases = run.suites[0].cases.iter_mut().filter(|case| case.record.target == "default");
    for (index, trial) in cases.flat_map(|case| &mut case.trials).enumerate() {
        trial.record.started_at = format!("2026-11-22T{:02}:00:00.000Z", index);
    }
    let events = events(&run);
    let threads: std::collections::BTreeSet<u64> = of_category(&events, "trial")
        .iter()
        .filter(|event| event["pid"] == 1)
        .filter_map(|event| event["tid"].as_u64())
        .collect();
    assert_eq!(threads, [1].into());
}
