//! Rates of judged graders, corrected by the calibration of their judges.

use evalsuite_records::record::{CalibrationRecord, GraderRecord, GraderState, JudgeRecord, SampleRecord, Verdict};
use evalsuite_report::{Format, RunData, judged_rates};
use evalsuite_tests::synthetic_run::SyntheticRun;

/// The run in a format.
fn in_format(name: &str, run: &RunData) -> String {
    let format = Format::named(name).expect("a format");
    format.text(run).expect("it can be written").expect("one text")
}

/// A result of the grader `tone` by a judge.
fn tone(judge: &str, passes: bool) -> GraderRecord {
    let mut grader = GraderRecord::default();
    (grader.name, grader.state) = ("tone".to_owned(), GraderState::Decided);
    (grader.value, grader.verdict) = (Some(f64::from(u8::from(passes))), Some(Verdict::from_passed(passes)));
    let mut record = JudgeRecord::default();
    record.name = judge.to_owned();
    grader.judge = Some(record);
    grader
}

/// Ten cases with two trials each, of which the judge lets both pass in eight and one in one; and ten rated answers, all of which it
/// lets pass, and people seven.
fn run() -> RunData {
    let output = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 40, 2).write(output.path())).unwrap();
    run.suites.truncate(1);
    let suite = &mut run.suites[0];
    suite.cases.truncate(10);
    for (index, case) in suite.cases.iter_mut().enumerate() {
        case.record.target = "default".to_owned();
        let first = case.trials[0].clone();
        case.trials.resize(2, first);
        for (trial, data) in case.trials.iter_mut().enumerate() {
            data.record.graders = vec![tone("strict", index < 8 || (index, trial) == (8, 0))];
        }
    }
    let mut calibration = CalibrationRecord::new();
    (calibration.judges, calibration.threshold) = (vec!["strict".to_owned()], 0.8);
    for index in 0..10 {
        let mut sample = SampleRecord::default();
        (sample.human_score, sample.judge_score) = (if index < 7 { 0.9 } else { 0.2 }, Some(1.0));
        sample.grader = Some(tone("strict", true));
        calibration.samples.push(sample);
    }
    suite.calibration = Some(calibration);
    run
}

#[test]
fn the_rate_of_a_judge_is_shown_beside_the_corrected_one() {
    let run = run();
    let rates = judged_rates(&run);
    let [rate] = rates.as_slice() else { panic!("{rates:?}") };
    assert!((rate.judge_rate - 0.85).abs() < 1e-12 && (rate.corrected_rate - 0.7).abs() < 1e-12, "{rate:?}");
    // The judge lets all rated answers pass, so it is no guide: the rate is that of people, and λ is 0.
    assert!(rate.lower < 0.4 && rate.upper > 0.9, "ten answers say little: {rate:?}");
    let text = rate.to_string();
    let start = "refunds @ default: tone  judge 0.85 over 10 cases, corrected 0.70 [";
    assert!(text.starts_with(start) && text.ends_with("] with 10 rated answers"), "{text}");
    let shown = in_format("markdown", &run);
    assert!(shown.contains("### Judged graders, corrected by calibration\n\n- refunds \\@ default: tone"), "{shown}");
}

#[test]
fn only_the_same_question_to_the_same_judge_corrects_a_rate() {
    let mut other = run();
    other.suites[0].calibration.as_mut().unwrap().judges = vec!["lenient".to_owned()];
    assert_eq!(judged_rates(&other), []);
    let mut other = run();
    for sample in &mut other.suites[0].calibration.as_mut().unwrap().samples {
        sample.grader.as_mut().unwrap().name = "facts".to_owned();
    }
    assert_eq!(judged_rates(&other), []);
    assert!(!in_format("markdown", &other).contains("corrected"));
    let mut none = run();
    none.suites[0].calibration = None;
    assert_eq!(judged_rates(&none), []);
}
