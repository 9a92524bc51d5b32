//! Two runs compared.

use evalsuite_report::{ChangeKind, CompareOptions, Comparison, ComparisonVerdict, RunData, SliceKey};
use evalsuite_schema::record::{CaseRecord, Status};
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
            record.outcome = if passes { Status::Passed } else { Status::Failed };
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
            record.outcome = Status::Error;
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

/// Two runs of one suite and target, equal but for the cases whose language fails in the second.
fn run_with_failing_language(language: &str) -> [RunData; 2] {
    let output = tempfile::tempdir().unwrap();
    let mut runs = ["run-base", "run-next"].map(|id| run_of(180, &output, id, 0.9, 1));
    for (index, data) in runs.iter_mut().enumerate() {
        data.suites.truncate(1);
        for case in &mut data.suites[0].cases {
            let fails =
                index == 1 && case.trials.first().is_some_and(|trial| trial.record.metadata["language"] == language);
            let record = &mut case.record;
            record.target = "default".into();
            (record.completed, record.passed) = (1, u32::from(!fails));
            (record.case_digest, record.outcome) = (record.case_id.clone(), Status::Passed);
            record.trials.iter_mut().for_each(|trial| trial.score = Some(if fails { 0.0 } else { 1.0 }));
        }
    }
    runs
}

#[test]
fn a_slice_that_regresses_is_found_and_the_number_of_slices_counts() {
    let [base, run] = run_with_failing_language("de");
    let options =
        CompareOptions::new().with_slices_by(SliceKey::Metadata("language".into())).with_slices_by(SliceKey::Bucket);
    let comparison = Comparison::new(&base, &run, &options);
    let suite = &comparison.suites[0];
    let slice = |value: &str| suite.slices.iter().find(|slice| slice.value == value).unwrap();
    let de = slice("de");
    assert_eq!((de.key.as_str(), de.difference, de.verdict), ("metadata.language", -1.0, ComparisonVerdict::Regressed));
    let gating = suite.slices.iter().filter(|slice| slice.pairs >= 6).count();
    assert!(gating > 4, "{suite}");
    assert!((de.adjusted_p - (de.p_value * gating as f64).min(1.0)).abs() < 1e-9, "the smallest of {gating}: {suite}");
    assert_eq!(slice("ja").verdict, ComparisonVerdict::Unchanged, "{suite}");
    assert_eq!(comparison.verdict(), ComparisonVerdict::Regressed);
    assert!(
        suite.to_string().contains("  metadata.language:de: regressed  -1.000 [-1.000, -1.000]  p 0.000"),
        "{suite}"
    );
}

#[test]
fn a_comparison_of_several_suites_needs_more_evidence_in_each() {
    let output = tempfile::tempdir().unwrap();
    let (mut base, mut now) = (run_of(60, &output, "run-base", 0.9, 1), run_of(60, &output, "run-next", 0.9, 1));
    // In each of two suites six cases failed: alone, p is 0.031.
    for (data, fails) in [(&mut base, false), (&mut now, true)] {
        data.suites.truncate(2);
        for case in data.suites.iter_mut().flat_map(|suite| suite.cases.iter_mut().take(10).enumerate()) {
            let (index, record) = (case.0, &mut case.1.record);
            let score = if fails && index < 6 { 0.0 } else { 1.0 };
            (record.target, record.completed, record.case_digest) = ("default".into(), 1, record.case_id.clone());
            record.trials.iter_mut().for_each(|trial| trial.score = Some(score));
        }
        data.suites.iter_mut().for_each(|suite| suite.cases.truncate(10));
    }
    let both = Comparison::new(&base, &now, &CompareOptions::new());
    for suite in &both.suites {
        assert_eq!((suite.p_value, suite.adjusted_p), (0.03125, 0.0625), "{suite}");
        assert_eq!(suite.verdict, ComparisonVerdict::Unchanged, "{suite}");
    }
    assert!(both.to_string().contains("p 0.031 (0.062 adjusted)"), "{both}");
    for data in [&mut base, &mut now] {
        data.suites.truncate(1);
    }
    let one = Comparison::new(&base, &now, &CompareOptions::new());
    assert_eq!(one.verdict(), ComparisonVerdict::Regressed, "{one}");
}

#[test]
fn cases_that_were_not_chosen_are_not_missing() {
    let output = tempfile::tempdir().unwrap();
    let (base, mut now) = (run(&output, "run-base", 0.9, 1), run(&output, "run-next", 0.9, 1));
    now.suites.truncate(1);
    now.suites[0].cases.truncate(8);
    let all = Comparison::new(&base, &now, &CompareOptions::new());
    assert!(all.suites.len() > 2 && all.suites.iter().any(|suite| suite.missing > 0));
    let chosen = Comparison::new(&base, &now, &CompareOptions::new().with_only_cases_of_run());
    assert!(chosen.suites.iter().all(|suite| suite.suite == "refunds" && suite.missing == 0), "{chosen}");
    assert!(chosen.suites.iter().flat_map(|suite| &suite.changes).all(|change| change.kind != ChangeKind::Removed));
}
