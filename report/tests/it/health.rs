//! The health of suites over several runs.

use evalsuite_records::record::{
    CalibrationRecord, CalibrationStatistics, GitState, GraderRecord, GraderState, JudgeRecord, Mode, ModelCalls,
    ProbeRecord, ProbedCase, Reason, ReasonCode, SampleRecord, Stage, Status, SuiteId, SuiteRecord, SuiteTest,
};
use evalsuite_report::{CaseHealth, Health, HealthOptions, RunData};
use evalsuite_schema::SuiteKind;
use evalsuite_schema::diagnostics::{Code, Diagnostic, Location};
use evalsuite_tests::synthetic_run::SyntheticRun;

/// A run of one suite and commit, whose cases have as many trials passed of so many, without graders.
fn run(commit: &str, cases: &[(&str, u32, u32)]) -> RunData {
    let output = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new(commit, 30, 1).write(output.path())).unwrap();
    run.record.as_mut().unwrap().git = Some(GitState::new(commit, commit.ends_with('+')));
    run.suites.truncate(1);
    let suite = &mut run.suites[0];
    suite.cases.truncate(cases.len());
    let mut record = SuiteRecord::new();
    for (case, (id, passed, trials)) in suite.cases.iter_mut().zip(cases) {
        case.record.case_id = (*id).to_owned();
        case.record.target = "default".to_owned();
        (case.record.input_digest, case.record.grader_digest) = ((*id).to_owned(), String::new());
        (case.record.passed, case.record.completed) = (*passed, *trials);
        case.trials.iter_mut().for_each(|trial| trial.record.graders.clear());
        record.tests.push(SuiteTest::new("evals", *id, *id));
    }
    suite.record = Some(record);
    run
}

fn health(runs: Vec<RunData>) -> Health {
    Health::of(runs, &HealthOptions::default())
}

fn ids(cases: &[CaseHealth]) -> Vec<&str> {
    cases.iter().map(|case| case.case.as_str()).collect()
}

#[test]
fn mature_cases_graduate_and_saturate_a_suite() {
    let cases: Vec<(String, u32, u32)> = (0..10).map(|index| (format!("case-{index}"), 3, 3)).collect();
    let mut of_run: Vec<(&str, u32, u32)> =
        cases.iter().map(|(id, passed, trials)| (id.as_str(), *passed, *trials)).collect();
    of_run[9].1 = 2;
    let mut window = vec![run("a", &of_run); 5];
    // Absence does not end a series, a bad run does.
    window[1].suites[0].cases[0].record.completed = 0;
    window.push(run("a", &[("case-0", 3, 3)]));
    window[2].suites[0].cases[1].record.passed = 1;
    let runs = |kind| {
        let mut runs = window.clone();
        runs.iter_mut().for_each(|run| run.suites[0].record.as_mut().unwrap().kind = kind);
        runs
    };
    let found = health(runs(SuiteKind::Capability));
    let suite = &found.suites[0];
    assert_eq!((suite.mature, suite.cases, suite.is_saturated), (9, 10, true));
    assert_eq!(suite.graduates.len(), 8, "{suite}");
    assert_eq!((suite.graduates[0].case.as_str(), suite.graduates[0].runs), ("case-0", 5));
    assert!(!ids(&suite.graduates).contains(&"case-1") && !ids(&suite.graduates).contains(&"case-9"));
    assert_eq!(suite.histogram, [0, 0, 0, 1, 1, 8]);
    assert_eq!(health(runs(SuiteKind::Regression)).suites[0].graduates, [], "they are there already");
    let mut options = HealthOptions::default();
    (options.mature, options.saturated, options.graduation_runs) = (0.6, 1.0, 6);
    let found = Health::of(runs(SuiteKind::Capability), &options);
    assert_eq!((found.suites[0].mature, found.suites[0].is_saturated), (10, true));
    assert_eq!(found.suites[0].graduates, [], "six runs in a row");
}

#[test]
fn cases_that_were_skipped_in_every_run_are_listed_with_the_reason() {
    let skipped = |run: &mut RunData, case: usize, code: ReasonCode, message: &str| {
        let record = &mut run.suites[0].cases[case].record;
        record.outcome = Status::Skipped;
        record.reason = Some(Reason::new(Stage::Requirements, code, message));
    };
    let cases = [("judged", 0, 0), ("late", 0, 0), ("other-target", 0, 0), ("runs", 3, 3), ("broke", 0, 0)];
    let mut runs = vec![run("a", &cases), run("b", &cases), run("c", &cases)];
    for run in &mut runs {
        skipped(run, 0, ReasonCode::RequirementMissing, &format!("needs a judge, in {}", run.run_id));
        skipped(run, 2, ReasonCode::Filtered, "target `small` is not selected by EVALSUITE_TARGET");
    }
    // It had a result once, and the last one broke once.
    skipped(&mut runs[0], 1, ReasonCode::RequirementMissing, "no key");
    let late = &mut runs[1].suites[0].cases[1].record;
    (late.passed, late.completed) = (1, 3);
    skipped(&mut runs[1], 4, ReasonCode::RequirementMissing, "no key");
    let found = health(runs.clone());
    let suite = &found.suites[0];
    assert_eq!((suite.cases, suite.without_result), (2, 1), "{suite}");
    let listed: Vec<(&str, usize, &str)> =
        suite.skipped.iter().map(|it| (it.case.as_str(), it.runs, it.reason.as_str())).collect();
    assert_eq!(listed, [("judged", 3, "needs a judge, in a")], "{suite}");
    let text = suite.to_string();
    let row = text.lines().find(|line| line.starts_with("  judged ")).unwrap_or_default();
    assert!(text.contains("  skipped in every run  runs ") && row.ends_with("3  needs a judge, in a"), "{text}");
    // A suite of which nothing ran is not left out.
    let mut none = run("d", &cases[..1]);
    skipped(&mut none, 0, ReasonCode::RequirementMissing, "needs a judge");
    let found = health(vec![none]);
    assert_eq!((found.suites.len(), found.suites[0].cases, found.suites[0].skipped.len()), (1, 0, 1));
}

#[test]
fn broken_cases_never_pass_in_ten_trials() {
    let cases = [("never", 0, 4), ("seldom", 1, 4), ("gone", 0, 9)];
    let mut runs = vec![run("a", &cases), run("b", &cases), run("c", &cases)];
    assert_eq!(ids(&health(runs[..2].to_vec()).suites[0].broken), ["gone"], "eight trials are too few");
    assert_eq!(ids(&health(runs.clone()).suites[0].broken), ["gone", "never"]);
    let mut again = runs[..2].to_vec();
    again.push(runs[1].clone());
    again[0].suites[0].cases[0].record.reused_run = Some("b".to_owned());
    again[0].suites[0].cases[2].record.reused_run = Some("b".to_owned());
    assert_eq!(ids(&health(again).suites[0].broken), ["gone"], "what a run has taken over does not count again");
    // A case that has left the suite, and one with other graders.
    runs[0].suites[0].cases.truncate(2);
    runs[0].suites[0].record.as_mut().unwrap().tests.truncate(2);
    runs[0].suites[0].cases[0].record.grader_digest = "other".to_owned();
    assert_eq!(health(runs).suites[0].broken, []);
}

/// A recorded trial that was replayed ten times was ten trials, and its case broken.
#[test]
fn trials_in_which_the_agent_was_not_called_do_not_count_again() {
    let with = |mode: Mode, calls: Option<ModelCalls>, passed: u32| {
        let mut run = run("a", &[("x", passed, 2)]);
        for trial in &mut run.suites[0].cases[0].trials {
            (trial.record.mode, trial.record.model_calls) = (mode, calls);
        }
        run
    };
    for (mode, calls) in [(Mode::Replay, None), (Mode::Regrade, None), (Mode::Live, Some(ModelCalls::Replayed))] {
        let runs = |passed| vec![with(mode, calls, passed); 10].into_iter().chain([with(Mode::Live, None, passed)]);
        let suite = Health::of(runs(0), &HealthOptions::default()).suites.remove(0);
        assert_eq!(ids(&suite.broken), [""; 0], "{mode:?} {calls:?}: {suite}");
        let suite = Health::of(runs(2), &HealthOptions::default()).suites.remove(0);
        assert_eq!((suite.mature, ids(&suite.graduates)), (1, vec![]), "{mode:?} {calls:?}: {suite}");
    }
    let recorded = vec![with(Mode::Record, Some(ModelCalls::Recorded), 2); 5];
    assert_eq!(ids(&health(recorded).suites[0].graduates), ["x"], "the agent was called");
}

#[test]
fn a_case_is_flaky_on_one_commit() {
    let flaky = |runs| health(runs).suites.remove(0).flaky;
    assert_eq!(flaky(vec![run("b", &[("x", 1, 1)]), run("a", &[("x", 0, 1)])]), [], "the commit may have fixed it");
    let found = flaky(vec![run("b", &[("x", 1, 1)]), run("a", &[("x", 0, 1)]), run("b", &[("x", 0, 1)])]);
    assert_eq!((found[0].passed, found[0].trials, found[0].runs, found[0].commit.as_deref()), (1, 2, 2, Some("b")));
    let mut edited = vec![run("b+", &[("x", 1, 1)]), run("b+", &[("x", 0, 1)])];
    edited[1].run_id = "earlier".to_owned();
    assert_eq!(flaky(edited), [], "files differed from the commit, so the agent may have, too");
    assert_eq!(flaky(vec![run("b+", &[("x", 1, 2)])])[0].commit, None, "one run is of one state");
}

/// The same with a judged answer per case: whether the grader decided, and the value.
fn judged(commit: &str, model: &str, values: &[Option<f64>]) -> RunData {
    let ids: Vec<String> = (0..values.len()).map(|index| format!("case-{index}")).collect();
    let cases: Vec<(&str, u32, u32)> = ids.iter().map(|id| (id.as_str(), 1, 1)).collect();
    let mut run = run(commit, &cases);
    for (case, value) in run.suites[0].cases.iter_mut().zip(values) {
        let mut judge = JudgeRecord::default();
        (judge.name, judge.model) = ("strict".to_owned(), Some(model.to_owned()));
        judge.prompt_sha256.clone_from(&case.record.case_id);
        let mut grader = GraderRecord::default();
        (grader.name, grader.value, grader.judge) = ("tone".to_owned(), *value, Some(judge));
        grader.state = if value.is_some() { GraderState::Decided } else { GraderState::Undecided };
        let mut outer = GraderRecord::default();
        (outer.name, outer.state, outer.members) = ("all".to_owned(), GraderState::Error, vec![grader]);
        case.trials[0].record.graders = vec![outer];
    }
    run
}

#[test]
fn graders_that_never_decide_are_named() {
    let found = health(vec![judged("b", "m", &[None, None]), judged("a", "m", &[None])]);
    let lines: Vec<String> = found.undecided_graders.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["refunds: all  0 undecided, 3 errors", "refunds: all/tone  3 undecided, 0 errors"]);
    let found = health(vec![judged("b", "m", &[None, None]), judged("a", "m", &[Some(0.5)])]);
    assert_eq!(found.undecided_graders.len(), 1, "one decision is enough");
}

#[test]
fn a_judge_drifts_if_equal_prompts_get_other_values() {
    let (old, new) = ([Some(0.9); 6], [Some(0.7); 6]);
    let steady = health(vec![judged("b", "m", &old), judged("a", "m", &old)]).judges.remove(0);
    assert_eq!((steady.prompts, steady.difference, steady.is_drifting), (6, 0.0, false));
    let found = health(vec![judged("c", "m", &new), judged("b", "m", &old), judged("a", "m", &old)]);
    assert!(found.judges[0].is_drifting && found.judges[0].p_value < 0.05);
    assert!(
        found
            .to_string()
            .ends_with("\njudges that have drifted\n  refunds: strict  -0.200 on 6 equal prompts, p 0.031\n"),
        "{found}"
    );
    let few = health(vec![judged("b", "m", &new[..5]), judged("a", "m", &old[..5])]).judges.remove(0);
    assert!(!few.is_drifting, "five are not enough");
    let noise: Vec<Option<f64>> = (0..6).map(|index| Some(if index % 2 == 0 { 0.8 } else { 1.0 })).collect();
    assert!(!health(vec![judged("b", "m", &noise), judged("a", "m", &old)]).judges[0].is_drifting, "both ways");
    let found = health(vec![judged("b", "m2", &old), judged("a", "m1", &old)]);
    assert!(found.to_string().contains("refunds: strict  model m1 -> m2  +0.000 on 6 equal prompts"), "{found}");
}

/// A run with a calibration of 40 samples, of which the judge judges these otherwise than the person.
fn calibrated(commit: &str, samples: &str, judges: &[&str], wrong: std::ops::Range<usize>) -> RunData {
    let mut run = run(commit, &[("x", 1, 1)]);
    let mut calibration = CalibrationRecord::new();
    calibration.judges = judges.iter().map(|judge| (*judge).to_owned()).collect();
    (calibration.prompt_sha256, calibration.threshold) = (samples.to_owned(), 0.5);
    let mut statistics = CalibrationStatistics::default();
    statistics.kappa = 1.0 - wrong.len() as f64 / 20.0;
    calibration.statistics = Some(statistics);
    let sample = |index: usize| {
        let mut sample = SampleRecord::default();
        sample.id = format!("sample-{index}");
        sample.human_score = (index % 2) as f64;
        sample.judge_score = Some(if wrong.contains(&index) { 1.0 - sample.human_score } else { sample.human_score });
        sample
    };
    calibration.samples = (0..40).map(sample).collect();
    run.suites[0].calibration = Some(calibration);
    run
}

#[test]
fn a_judge_drifts_if_it_agrees_less_with_people_than_chance_explains() {
    let of = |samples: [&str; 2], old: std::ops::Range<usize>, new: std::ops::Range<usize>| {
        health(vec![calibrated("b", samples[1], &["strict"], new), calibrated("a", samples[0], &["strict"], old)])
    };
    let found = of(["s"; 2], 0..2, 0..8);
    assert!(found.to_string().contains("  refunds: strict  κ 0.90 -> 0.60, p 0.016\n"), "{found}");
    let [few, other_ones, better, other] =
        [of(["s"; 2], 0..2, 0..6), of(["s"; 2], 0..8, 4..14), of(["s"; 2], 0..12, 0..2), of(["s", "t"], 0..0, 0..12)]
            .map(|found| found.judges[0].clone());
    assert!(!few.is_drifting, "four of forty samples: {few:?}");
    assert!(!other_ones.is_drifting, "it changes its mind both ways: {other_ones:?}");
    assert!(!better.is_drifting && better.kappa_p_value == Some(1.0), "{better:?}");
    assert_eq!((other.kappa, other.is_drifting), (None, false), "other samples");
}

#[test]
fn p_values_are_adjusted_for_all_judges() {
    let judges = |wrong: [std::ops::Range<usize>; 2]| {
        let [old, new] = wrong;
        let judges = ["a", "b", "c", "d"];
        health(vec![calibrated("b", "s", &judges, new), calibrated("a", "s", &judges, old)]).judges
    };
    let drifting = |wrong| judges(wrong).iter().filter(|judge| judge.is_drifting).count();
    assert_eq!(drifting([0..2, 0..8]), 0, "0.016 four times is more than 0.05");
    assert_eq!(drifting([0..2, 0..12]), 4);
}

#[test]
fn graders_that_nothing_fails_or_passes_are_named_by_the_probe() {
    let finding = |code, line, message: &str| Diagnostic::new(code, message).at(Location::new("EVAL.yaml", line, 5));
    let mut case = ProbedCase::default();
    case.findings = vec![
        finding(Code::VacuousGrader, 3, "nothing fails `short`"),
        finding(Code::ImpossibleGrader, 4, "nothing passes `total`"),
        finding(Code::PassesWithoutWork, 5, "case `a` passes without work"),
    ];
    let probe = |suite: &str| {
        let mut probe = ProbeRecord::new();
        (probe.suite, probe.cases) = (SuiteId::new(suite), vec![case.clone()]);
        probe
    };
    let found = health(vec![run("a", &[("x", 1, 1)])]).with_probes(&[probe("refunds"), probe("other")]);
    assert_eq!(found.probes.len(), 1, "the other suite has no results");
    let text = found.to_string();
    let expected = "\ngraders that nothing fails\n  EVAL.yaml:3:5: nothing fails `short`\n\n\
                    graders that nothing passes\n  EVAL.yaml:4:5: nothing passes `total`\n";
    assert!(text.ends_with(expected), "{text}");
}
