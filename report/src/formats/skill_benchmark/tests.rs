//! The files of a made-up run, read again.

use evalsuite_records::record::{
    Assertion, CaseRecord, GraderRecord, GraderState, Status, TrialRecord, Usage, Verdict,
};
use evalsuite_records::run_directory::CaseDirectoryName;
use serde::de::DeserializeOwned;

use super::{Benchmark, Grading, Timing, *};

fn trial(case: &CaseRecord, index: u32, holds: [bool; 2]) -> TrialData {
    let mut record = TrialRecord::of_case(case);
    record.trial = index;
    record.outcome = if holds == [true; 2] { Status::Passed } else { Status::Failed };
    record.duration_ms = Some(1500);
    record.usage = Some(Usage::new(if case.target == WITH_SKILL { 900 } else { 400 }, 100));
    record.metadata.insert("name".to_owned(), "Simple form".into());
    let mut grader = GraderRecord::default();
    (grader.name, grader.state) = ("expectations".to_owned(), GraderState::Decided);
    grader.verdict = Some(if record.outcome == Status::Passed { Verdict::Pass } else { Verdict::Fail });
    let mut assertion = Assertion::new("Every field is filled.", holds[0]);
    assertion.evidence = Some("name: Ada".to_owned());
    grader.assertions = vec![assertion, Assertion::new("It is polite.", holds[1])];
    record.graders = vec![grader];
    TrialData { directory: format!("cases/x/trial-00{index}").into(), record }
}

fn case(id: &str, target: &str, trials: &[[bool; 2]]) -> CaseData {
    let mut record = CaseRecord::new();
    (record.suite, record.case_id, record.target) = ("pdf".to_owned(), id.to_owned(), target.to_owned());
    (record.layout, record.outcome) = (Layout::Skill, Status::Failed);
    let trials = (0..).zip(trials).map(|(index, holds)| trial(&record, index, *holds)).collect();
    let name = CaseDirectoryName::parse(id);
    CaseData { name, directory: id.into(), record, trials, other_attempts: Vec::new(), of_runs: Vec::new() }
}

fn run(cases: Vec<CaseData>) -> RunData {
    let suite = SuiteData { name: "pdf".to_owned(), cases, ..SuiteData::default() };
    RunData { suites: vec![suite], ..RunData::default() }
}

fn read<T: DeserializeOwned>(path: PathBuf) -> T {
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", path.display()))
}

#[test]
fn every_trial_has_its_grading_and_timing_and_the_arms_their_means() {
    let directory = tempfile::tempdir().unwrap();
    let both = [true, true];
    let run = run(vec![
        case("1", "with_skill", &[both, both]),
        case("1", "without_skill", &[[true, false], [false, false]]),
        case("2", "with_skill", &[[true, false]]),
        case("2", "without_skill", &[[true, false]]),
    ]);
    for iteration in ["iteration-1", "iteration-2"] {
        let exported = files(&run, directory.path()).unwrap();
        let root = directory.path().join(iteration);
        assert_eq!((exported.named, exported.problems.len()), (vec![root.join("benchmark.json")], 0));
        let grading: Grading = read(root.join("eval-simple-form/without_skill/run-1/grading.json"));
        let expected = &run.suites[0].cases[1].trials[0].record;
        assert_eq!(grading, Grading::of(expected), "what was written is what is read");
        assert_eq!((grading.summary.passed, grading.summary.total, grading.summary.pass_rate), (1, 2, 0.5));
        assert_eq!(grading.expectations[0].evidence, "name: Ada");
        // Both evals are called `Simple form`. One trial has no directory of its own.
        let timing: Timing = read(root.join("eval-simple-form-2/with_skill/timing.json"));
        assert_eq!((timing.total_tokens, timing.duration_ms), (Some(1000), Some(1500)));
        let Benchmark { run_summary } = read(root.join("benchmark.json"));
        let rate = |arm: &str| run_summary.arms[arm].pass_rate.unwrap();
        assert_eq!((rate("with_skill").mean, rate("without_skill").mean), (2.5 / 3.0, 1.0 / 3.0));
        assert!((rate("with_skill").stddev - 0.288_675).abs() < 1e-6);
        let delta = run_summary.delta.unwrap();
        assert_eq!((delta.pass_rate, delta.tokens, delta.time_seconds), (Some(0.5), Some(500.0), Some(0.0)));
    }
}

#[test]
fn an_error_is_not_a_failure_and_what_is_not_known_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let mut cases = vec![case("a/b", "default", &[[true, true]]), case("c", "default", &[[false, true]])];
    let broken = &mut cases[1].trials[0].record;
    (broken.outcome, broken.usage, broken.duration_ms) = (Status::Error, None, None);
    cases.iter_mut().for_each(|case| case.trials[0].record.metadata = Default::default());
    let exported = files(&run(cases), directory.path()).unwrap();
    assert_eq!(exported.problems.len(), 1);
    let root = directory.path().join("iteration-1");
    assert!(!root.join("eval-c/with_skill/grading.json").exists());
    assert_eq!(fs::read_to_string(root.join("eval-c/with_skill/timing.json")).unwrap(), "{}\n");
    let Benchmark { run_summary } = read(root.join("benchmark.json"));
    let arm = &run_summary.arms["with_skill"];
    assert_eq!((arm.pass_rate.unwrap().mean, run_summary.delta), (1.0, None));
    assert!(root.join("eval-a-b/with_skill/grading.json").is_file());
}

#[test]
fn a_run_without_skills_is_refused() {
    let mut other = case("1", "default", &[]);
    other.record.layout = Layout::Cases;
    let error = files(&run(vec![other]), Path::new("unused")).unwrap_err();
    assert!(error.to_string().contains("no evals of a skill"), "{error}");
}
