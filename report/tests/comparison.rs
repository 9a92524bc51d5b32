//! Two runs compared.

use evalsuite_report::{ChangeKind, CompareOptions, Comparison, ComparisonVerdict, RunData};
use evalsuite_schema::record::{CaseOutcome, CaseRecord};
use evalsuite_tests::synthetic_run::SyntheticRun;

/// A run of the made-up suites in which agents have this skill.
fn run(output: &tempfile::TempDir, id: &str, skill: f64, trials: u32) -> RunData {
    run_of(60, output, id, skill, trials)
}

fn run_of(cases: usize, output: &tempfile::TempDir, id: &str, skill: f64, trials: u32) -> RunData {
    let mut synthetic = SyntheticRun::new(id, cases, trials);
    synthetic.skill = skill;
    RunData::read(synthetic.write(output.path())).expect("the run can be read")
}

fn cases(run: &mut RunData) -> impl Iterator<Item = &mut CaseRecord> {
    run.suites.iter_mut().flat_map(|suite| &mut suite.cases).map(|case| &mut case.record)
}

#[test]
fn a_worse_agent_regresses_and_a_better_one_improves() {
    let output = tempfile::tempdir().unwrap();
    let (good, bad) = (run(&output, "run-good", 0.95, 3), run(&output, "run-bads", 0.3, 3));
    let worse = Comparison::new(&good, &bad, &CompareOptions::new());
    assert_eq!(worse.verdict(), ComparisonVerdict::Regressed, "{worse}");
    let refunds = &worse.suites.iter().find(|suite| suite.suite == "refunds" && suite.target == "default").unwrap();
    let (lower, upper) = refunds.interval.unwrap();
    assert!(lower < refunds.difference && refunds.difference < upper && upper < 0.0, "{refunds}");
    assert!(refunds.p_value < 0.01, "{refunds}");
    let better = Comparison::new(&bad, &good, &CompareOptions::new());
    let refunds = better.suites.iter().find(|suite| suite.suite == "refunds" && suite.target == "default").unwrap();
    assert_eq!(refunds.verdict, ComparisonVerdict::Improved, "{refunds}");
}

#[test]
fn a_run_compared_with_itself_has_not_changed() {
    let output = tempfile::tempdir().unwrap();
    let good = run(&output, "run-good", 0.9, 3);
    let comparison = Comparison::new(&good, &good, &CompareOptions::new());
    for suite in comparison.suites.iter().filter(|suite| suite.target == "default") {
        assert_eq!(suite.verdict, ComparisonVerdict::Unchanged, "{suite}");
        assert_eq!((suite.difference, suite.differing, suite.p_value), (0.0, 0, 1.0));
    }
}

#[test]
fn cases_that_mean_something_else_are_not_compared() {
    let output = tempfile::tempdir().unwrap();
    let (base, mut now) = (run(&output, "run-base", 0.9, 1), run(&output, "run-next", 0.9, 1));
    let mut changed = Vec::new();
    for record in cases(&mut now).filter(|record| record.suite == "refunds" && record.target == "default").take(3) {
        record.case_digest = "other".into();
        record.grader_digest = "other".into();
        changed.push(record.case_id.clone());
    }
    let comparison = Comparison::new(&base, &now, &CompareOptions::new());
    let suite = comparison.suites.iter().find(|suite| suite.suite == "refunds" && suite.target == "default").unwrap();
    for id in changed {
        let change = suite.changes.iter().find(|change| change.case_id == id).unwrap();
        assert_eq!(change.kind, ChangeKind::Redefined, "{id}");
    }
}

#[test]
fn one_trial_changes_five_regress() {
    let output = tempfile::tempdir().unwrap();
    for (trials, expected) in [(1, ChangeKind::Changed), (5, ChangeKind::Regressed)] {
        let (mut base, mut now) =
            (run_of(6, &output, "run-base", 0.9, trials), run_of(6, &output, "run-next", 0.9, trials));
        let id = cases(&mut base).next().unwrap().case_id.clone();
        for (data, passes) in [(&mut base, true), (&mut now, false)] {
            let record = cases(data).find(|record| record.case_id == id).unwrap();
            record.passed = if passes { trials } else { 0 };
            record.completed = trials;
            record.outcome = if passes { CaseOutcome::Passed } else { CaseOutcome::Failed };
            record.mean = Some(f64::from(u8::from(passes)));
            record.trials.iter_mut().for_each(|trial| trial.score = Some(f64::from(u8::from(passes))));
        }
        let comparison = Comparison::new(&base, &now, &CompareOptions::new());
        let change = comparison.suites.iter().flat_map(|suite| &suite.changes).find(|change| change.case_id == id);
        assert_eq!(change.unwrap().kind, expected, "{trials} trials");
    }
}

#[test]
fn too_little_to_compare_is_undecided() {
    let output = tempfile::tempdir().unwrap();
    let (base, mut now) = (run(&output, "run-base", 0.9, 1), run(&output, "run-next", 0.9, 1));
    for (index, record) in cases(&mut now).enumerate() {
        if index % 4 == 0 {
            record.completed = 0;
            record.outcome = CaseOutcome::Error;
        }
    }
    let comparison = Comparison::new(&base, &now, &CompareOptions::new());
    for suite in comparison.suites.iter().filter(|suite| suite.target == "default") {
        assert_eq!(suite.verdict, ComparisonVerdict::Undecided, "{suite}");
        assert!(suite.missing > 0);
    }
    let nothing = Comparison::new(&RunData::default(), &RunData::default(), &CompareOptions::new());
    assert_eq!(nothing.verdict(), ComparisonVerdict::Undecided);
}

#[test]
fn a_margin_has_to_be_shown() {
    let output = tempfile::tempdir().unwrap();
    let good = run(&output, "run-good", 0.9, 3);
    let slightly = run(&output, "run-less", 0.9, 3);
    let of = |margin: f64| {
        let options = CompareOptions::new().with_margin(margin);
        let comparison = Comparison::new(&good, &slightly, &options);
        let suite = comparison.suites.into_iter().find(|suite| suite.suite == "repair" && suite.target == "default");
        suite.unwrap()
    };
    let (lower, upper) = of(0.9).interval.expect("enough cases");
    assert!(lower < 0.0 && upper > 0.0, "neither better nor worse: {lower} {upper}");
    assert_eq!(of(-lower + 0.01).verdict, ComparisonVerdict::Unchanged);
    let strict = of(-lower - 0.001);
    let expected = match strict.visible_effect {
        Some(visible) if visible > -lower - 0.001 => ComparisonVerdict::Undecided,
        _ => ComparisonVerdict::Regressed,
    };
    assert_eq!(strict.verdict, expected, "{strict}");
}
