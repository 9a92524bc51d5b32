//! Graders of the turns of a conversation, which reports show like those of the whole.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::Cursor;
use std::mem;

use evalsuite_records::record::{CalibrationRecord, GraderRecord, GraderState, SampleRecord, TurnRecord};
use evalsuite_report::{
    Health, HealthOptions, InspectFormat, InspectLog, RunData, accept, inspect_logs, judged_rates, judges_of, otel,
};
use evalsuite_schema::Value;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// A run, and the same run with every grader in one of two turns.
fn runs() -> [RunData; 2] {
    let output = tempfile::tempdir().expect("a temporary directory");
    let whole = RunData::read(SyntheticRun::new("run-1", 12, 2).write(output.path())).expect("a run");
    let mut by_turn = whole.clone();
    let trials = by_turn.suites.iter_mut().flat_map(|suite| &mut suite.cases).flat_map(|case| &mut case.trials);
    for trial in trials {
        let mut turns = [TurnRecord::default(), TurnRecord::default()];
        let mut graders = mem::take(&mut trial.record.graders);
        turns[1].graders = graders.split_off(graders.len() / 2);
        turns[0].graders = graders;
        trial.record.turns = Some(turns.into());
    }
    [whole, by_turn]
}

fn assert_same<T: PartialEq + Debug>(what: &str, of: impl Fn(&RunData) -> T) {
    let [whole, by_turn] = runs().map(|run| of(&run));
    assert_eq!(by_turn, whole, "{what}");
}

#[test]
fn graders_of_turns_are_in_the_formats_of_other_programs() {
    assert_same("spans and events", |run| {
        let (mut traces, mut logs) = (Vec::new(), Vec::new());
        otel(run, &mut traces, &mut logs).expect("data");
        let text = String::from_utf8(logs).expect("text");
        assert!(text.contains("\"stringValue\":\"tone\""), "the events have graders");
        (String::from_utf8(traces).expect("text"), text)
    });
    assert_same("scores of Inspect", |run| {
        let log = |log: &InspectLog<'_>| {
            let mut out = Cursor::new(Vec::new());
            log.write(InspectFormat::Json, &mut out).expect("a log");
            let log: Value = evalsuite_schema::json::from_slice(&out.into_inner()).expect("JSON");
            let samples = log["samples"].as_array().expect("a list").iter().map(|sample| sample["scores"].clone());
            (samples.collect::<Vec<_>>(), log["results"].clone(), log["eval"]["scorers"].clone())
        };
        inspect_logs(run).iter().map(log).collect::<Vec<_>>()
    });
}

#[test]
fn judges_of_turns_are_known() {
    assert_same("rates corrected by a calibration", |run| {
        let mut run = run.clone();
        let mut calibration = CalibrationRecord::new();
        (calibration.judges, calibration.threshold) = (vec!["judge-large".to_owned()], 0.7);
        for score in [0.9, 0.9, 0.2, 0.8] {
            let (mut sample, mut grader) = (SampleRecord::default(), GraderRecord::default());
            grader.name = "tone".to_owned();
            (sample.human_score, sample.judge_score, sample.grader) = (score, Some(0.9), Some(grader));
            calibration.samples.push(sample);
        }
        run.suites[0].calibration = Some(calibration);
        let rates = judged_rates(&run);
        assert!(!rates.is_empty(), "`tone` has a rate");
        rates
    });
    assert_same("the judge that answers are compared by", |run| {
        let judges = judges_of(run);
        assert_eq!(judges, ["judge-large"]);
        judges
    });
    assert_same("the judges of a baseline", |run| {
        let accepted = accept(run, &run.suites[0], None, &BTreeSet::new());
        assert!(accepted.baseline.cases.iter().any(|case| !case.judges.is_empty()));
        accepted.baseline
    });
    assert_same("graders and judges over several runs", |run| {
        let mut run = run.clone();
        let trials = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).flat_map(|case| &mut case.trials);
        for trial in trials {
            let of_turns = trial.record.turns.iter_mut().flatten().flat_map(|turn| &mut turn.graders);
            let tones = trial.record.graders.iter_mut().chain(of_turns).filter(|grader| grader.name == "tone");
            tones.for_each(|tone| (tone.state, tone.value) = (GraderState::Undecided, None));
        }
        let health = Health::of(vec![run], &HealthOptions::default());
        assert!(!health.undecided_graders.is_empty(), "a grader decides nothing");
        health.to_string()
    });
}
