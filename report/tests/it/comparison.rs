//! Two runs compared.

use evalsuite_records::record::{CaseRecord, Status, TrialSummary};
use evalsuite_report::{
    ChangeKind, CompareOptions, Comparison, ComparisonUnit, ComparisonVerdict, RunData, SliceKey, SuiteComparison,
    pooled,
};
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
    assert!(refunds.p_value < 0.001 && refunds.noise > 0.0, "{refunds}");
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
        assert_eq!(suite.verdict, ComparisonVerdict::Unchanged, "flaky cases hide small changes: {suite}");
        assert_eq!((suite.difference, suite.differing, suite.p_value), (0.0, 0, 1.0));
    }
}

#[test]
fn a_skipped_case_does_not_reduce_the_others_to_their_first_trials() {
    let [base, mut run] = runs(&[[(1, 3), (2, 3)]; 20]);
    let skipped = &mut run.suites[0].cases[0].record;
    (skipped.outcome, skipped.completed, skipped.passed) = (Status::Skipped, 0, 0);
    (skipped.planned, skipped.truncated) = (3, true);
    skipped.trials.clear();
    let comparison = Comparison::new(&base, &run, &CompareOptions::new());
    let suite = &comparison.suites[0];
    assert!((suite.difference - 1.0 / 3.0).abs() < 1e-9, "the mean over all trials: {suite}");
    assert_eq!((suite.pairs, suite.missing), (19, 1), "{suite}");
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

/// Two runs of one suite and target with these cases: passed and ended trials in both.
fn runs(cases: &[[(u32, u32); 2]]) -> [RunData; 2] {
    let output = tempfile::tempdir().unwrap();
    let made = run_of(3 * cases.len().max(8), &output, "run-base", 0.9, 1);
    [0, 1].map(|side| {
        let mut data = made.clone();
        data.suites.truncate(1);
        data.suites[0].cases.truncate(cases.len());
        for (case, trials) in data.suites[0].cases.iter_mut().zip(cases) {
            let (passed, ended) = trials[side];
            let record = &mut case.record;
            (record.target, record.case_digest) = ("default".into(), record.case_id.clone());
            (record.passed, record.completed, record.errors) = (passed, ended, u32::from(ended == 0));
            record.outcome = match (passed, ended) {
                (_, 0) => Status::Error,
                (0, _) => Status::Failed,
                _ => Status::Passed,
            };
            record.mean = (ended > 0).then(|| f64::from(passed) / f64::from(ended));
            record.trials = (0..ended).map(|index| trial(index, index < passed)).collect();
        }
        data
    })
}

fn trial(index: u32, passes: bool) -> TrialSummary {
    let mut trial = TrialSummary::default();
    (trial.index, trial.score) = (index, Some(f64::from(u8::from(passes))));
    trial.outcome = if passes { Status::Passed } else { Status::Failed };
    trial
}

fn compared(cases: &[[(u32, u32); 2]]) -> SuiteComparison {
    let [base, run] = runs(cases);
    Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0)
}

fn kinds(suite: &SuiteComparison) -> Vec<ChangeKind> {
    suite.changes.iter().map(|change| change.kind).collect()
}

#[test]
fn a_case_that_broke_is_found_by_five_trials_and_not_by_one() {
    let with = |broken: [(u32, u32); 2]| {
        let (_, trials) = broken[0];
        compared(&[vec![[(trials, trials); 2]; 19], vec![broken]].concat())
    };
    let one = with([(1, 1), (0, 1)]);
    assert_eq!((one.verdict, kinds(&one)), (ComparisonVerdict::Unchanged, vec![ChangeKind::Changed]), "{one}");
    let five = with([(5, 5), (0, 5)]);
    assert_eq!((five.verdict, kinds(&five)), (ComparisonVerdict::Regressed, vec![ChangeKind::Regressed]), "{five}");
    assert!(five.changes[0].p_value.unwrap() < 0.005, "{five}");
    let better = with([(5, 5), (5, 5)]);
    assert_eq!((better.verdict, better.differing), (ComparisonVerdict::Same, 0), "{better}");
    let [run, base] = runs(&[vec![[(5, 5); 2]; 19], vec![[(5, 5), (0, 5)]]].concat());
    let improved = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!(improved.verdict, ComparisonVerdict::Improved, "{improved}");
}

#[test]
fn noisy_cases_do_not_make_a_regression() {
    // Of 40 cases that pass half of the time, one or two come out 5/5 and then 0/5 in a tenth of all comparisons.
    let noisy = |index: u32| [(2 + index % 2, 5), (3 - index % 2, 5)];
    let cases: Vec<_> = (0..39).map(noisy).chain([[(5, 5), (0, 5)]]).collect();
    let suite = compared(&cases);
    assert_eq!(suite.verdict, ComparisonVerdict::Unchanged, "{suite}");
    assert!(!kinds(&suite).contains(&ChangeKind::Regressed), "{suite}");
}

#[test]
fn trials_that_repeat_a_failed_case_decide_it() {
    let cases = [vec![[(1, 1); 2]; 19], vec![[(1, 1), (0, 1)]]].concat();
    for (repeated, verdict) in [
        (vec![], ComparisonVerdict::Unchanged),
        (vec![false; 10], ComparisonVerdict::Regressed),
        (vec![false, false, true], ComparisonVerdict::Unchanged),
    ] {
        let [base, mut run] = runs(&cases);
        let record = &mut run.suites[0].cases[19].record;
        record.confirming = (1..).zip(&repeated).map(|(index, passes)| trial(index, *passes)).collect();
        let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
        assert_eq!(suite.verdict, verdict, "{suite}");
        let passed = repeated.iter().filter(|passes| **passes).count();
        let text = format!("  1/1 -> 0/1, repeated {passed}/{}", repeated.len());
        assert_eq!(suite.to_string().contains(&text), !repeated.is_empty(), "{suite}");
    }
}

/// A stricter threshold made every case of an unchanged agent a regression.
#[test]
fn outcomes_of_different_thresholds_are_not_compared() {
    let [base, mut run] = runs(&[[(5, 5), (0, 5)]; 8]);
    cases(&mut run).for_each(|record| record.threshold = 0.9);
    let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!(
        (suite.verdict, kinds(&suite)),
        (ComparisonVerdict::Undecided, vec![ChangeKind::Redefined; 8]),
        "{suite}"
    );
    // What has no result says nothing about thresholds.
    cases(&mut run).for_each(|record| record.trials.clear());
    let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!((suite.missing, kinds(&suite)), (8, vec![ChangeKind::Missing; 8]), "{suite}");
}

/// A run that stopped at the first passed trial was called better than one with all trials: 1/1 and 1/3 are one agent.
#[test]
fn only_first_trials_are_compared_where_trials_stop_early() {
    let [mut base, mut run] = runs(&[[(2, 5), (1, 1)]; 40]);
    for (index, (base, run)) in cases(&mut base).zip(cases(&mut run)).enumerate() {
        // Two of three trials pass, and the first one in both runs or in neither.
        let first = index % 3 > 0;
        base.trials = (0..5).map(|number| trial(number, !(index as u32 + number).is_multiple_of(3))).collect();
        base.passed = base.trials.iter().filter(|trial| trial.outcome == Status::Passed).count() as u32;
        run.stops_early = true;
        run.trials = if first { vec![trial(0, true)] } else { vec![trial(0, false), trial(1, true)] };
        (run.passed, run.completed) = (1, run.trials.len() as u32);
    }
    let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!(suite.first_trials, 40);
    assert_eq!(suite.verdict, ComparisonVerdict::Unchanged, "{suite}");
    assert!(suite.to_string().contains("only the first trial of 40 cases"), "{suite}");
    base.suites[0].cases.iter_mut().for_each(|case| case.record.stops_early = true);
    for (base, run) in cases(&mut base).zip(cases(&mut run)) {
        base.trials.clone_from(&run.trials);
        (base.passed, base.completed, base.mean) = (run.passed, run.completed, run.mean);
    }
    let same = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!((same.difference, same.verdict), (0.0, ComparisonVerdict::Unchanged), "{same}");
    assert_eq!(same.changes, [], "{same}");
    // Neither record has a mean score: planned trials did not run.
    base.suites[0].cases[1].record.trials.insert(0, trial(0, false));
    let one = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!((one.differing, kinds(&one)), (1, vec![ChangeKind::Changed]), "{one}");
    assert_eq!((one.changes[0].base_score, one.changes[0].run_score), (Some(0.0), Some(1.0)), "{one}");
}

#[test]
fn errors_that_were_results_are_shown_first_and_no_success() {
    let cases = [vec![[(3, 3); 2]; 45], vec![[(3, 3), (0, 0)]; 5]].concat();
    let [base, run] = runs(&cases);
    let of = |errors: usize| {
        let mut options = CompareOptions::new();
        options.allowed_errors = errors;
        Comparison::new(&base, &run, &options).suites.remove(0)
    };
    let suite = of(0);
    assert_eq!((suite.verdict, suite.errors, suite.pairs), (ComparisonVerdict::Undecided, 5, 45), "{suite}");
    assert!(kinds(&suite).iter().all(|kind| *kind == ChangeKind::Error), "{suite}");
    assert!(suite.to_string().lines().nth(1).unwrap().starts_with("  errors   5 cases end in an error"), "{suite}");
    assert_eq!((of(4).verdict, of(5).verdict), (ComparisonVerdict::Undecided, ComparisonVerdict::Same));
}

/// The same cases, of which some had as many trials in error besides: index, side and number.
fn with_errors(cases: &[[(u32, u32); 2]], errors: &[(usize, usize, u32)]) -> [RunData; 2] {
    let mut sides = runs(cases);
    for (index, side, count) in errors {
        let record = &mut sides[*side].suites[0].cases[*index].record;
        (record.errors, record.outcome) = (*count, Status::Error);
    }
    sides
}

#[test]
fn a_few_errors_leave_a_verdict_that_is_the_same_whether_the_trials_failed_or_passed() {
    let of = |cases: &[[(u32, u32); 2]], errors: &[(usize, usize, u32)]| {
        let [base, run] = with_errors(cases, errors);
        Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0)
    };
    let fine = of(&[vec![[(3, 3); 2]; 29], vec![[(3, 3), (2, 2)]]].concat(), &[(29, 1, 1)]);
    assert_eq!(fine.verdict, ComparisonVerdict::Unchanged, "{fine}");
    let line = "  errors   1 case ends in an error, and had a result before; 1 trial: the verdict is the same whether it failed or passed";
    assert_eq!(fine.to_string().lines().nth(1), Some(line));
    let broken = of(&[vec![[(5, 5); 2]; 29], vec![[(5, 5), (0, 4)]]].concat(), &[(29, 1, 1), (3, 1, 1)]);
    assert_eq!(broken.verdict, ComparisonVerdict::Regressed, "{broken}");
    assert_eq!(kinds(&broken), [ChangeKind::Error, ChangeKind::Regressed], "{broken}");
    // Half of them hidden by errors, the others worse by too little.
    let hidden = of(&[vec![[(5, 5); 2]; 29], vec![[(5, 5), (0, 1)]]].concat(), &[(29, 1, 4)]);
    assert_eq!((hidden.verdict, kinds(&hidden)), (ComparisonVerdict::Undecided, vec![ChangeKind::Error]), "{hidden}");
    assert!(
        hidden.to_string().contains("4 trials: regressed if they failed, no evidence of a change if they passed"),
        "{hidden}"
    );
    // What passed or failed in the base is not known either.
    let in_base = |run: (u32, u32)| of(&[vec![[(3, 3); 2]; 29], vec![[(0, 0), run]]].concat(), &[(29, 0, 3)]);
    assert_eq!(in_base((0, 3)).verdict, ComparisonVerdict::Undecided, "it may have broken");
    assert_eq!(in_base((3, 3)).verdict, ComparisonVerdict::Unchanged, "it has not broken");
}

#[test]
fn tolerated_errors_are_left_out() {
    let cases = [vec![[(3, 3); 2]; 29], vec![[(3, 3), (2, 2)]]].concat();
    let [base, mut run] = with_errors(&cases, &[(29, 1, 1)]);
    let record = &mut run.suites[0].cases[29].record;
    (record.tolerated_errors, record.outcome) = (1, Status::Passed);
    let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!((suite.verdict, suite.unknown), (ComparisonVerdict::Same, None), "{suite}");
}

/// The errors of all runs were compared with the number that a single run tolerates.
#[test]
fn runs_that_are_counted_together_tolerate_as_many_errors_each() {
    let with = |errors: [u32; 2]| {
        let [base, run] = runs(&[[(2, 2); 2]; 30]);
        let run_with = |(id, errors): (&str, u32)| {
            let mut run = run.clone();
            run.run_id = id.to_owned();
            cases(&mut run).for_each(|record| record.run_id = id.to_owned());
            let record = &mut run.suites[0].cases[29].record;
            (record.errors, record.tolerated_errors) = (errors, 1);
            run
        };
        let together = pooled(["first", "second"].into_iter().zip(errors).map(run_with).collect());
        Comparison::new(&base, &together, &CompareOptions::new()).suites.remove(0)
    };
    let tolerated = with([1, 1]);
    assert_eq!((tolerated.verdict, tolerated.unknown), (ComparisonVerdict::Same, None), "{tolerated}");
    let exceeded = with([2, 0]);
    assert_eq!(exceeded.unknown.map(|unknown| unknown.trials), Some(2), "{exceeded}");
}

#[test]
fn one_broken_case_of_thirty_stable_ones_is_found_from_three_trials_on() {
    for trials in [3, 4, 5, 10] {
        let found = compared(&[vec![[(trials, trials); 2]; 29], vec![[(trials, trials), (0, trials)]]].concat());
        assert_eq!(
            (found.verdict, kinds(&found)),
            (ComparisonVerdict::Regressed, vec![ChangeKind::Regressed]),
            "{found}"
        );
        assert_eq!(found.unit, ComparisonUnit::Trial);
    }
    let two = compared(&[vec![[(3, 3); 2]; 28], vec![[(3, 3), (0, 3)]; 2]].concat());
    assert_eq!(kinds(&two), [ChangeKind::Regressed; 2], "{two}");
    let fewer = compared(&[vec![[(2, 2); 2]; 29], vec![[(2, 2), (0, 2)]]].concat());
    assert_eq!(fewer.verdict, ComparisonVerdict::Unchanged, "1 in 16: {fewer}");
}

#[test]
fn trials_of_a_run_that_resemble_each_other_count_as_one() {
    // With a cache: 12 cases came out worse, 6 better.
    let cached = [vec![[(3, 3); 2]; 12], vec![[(3, 3), (0, 3)]; 12], vec![[(0, 3), (3, 3)]; 6]].concat();
    let found = compared(&cached);
    assert_eq!((found.verdict, found.unit), (ComparisonVerdict::Unchanged, ComparisonUnit::Case), "{found}");
    assert!(kinds(&found).iter().all(|kind| *kind == ChangeKind::Changed), "{found}");
    assert!(
        found.to_string().contains(
            "\n  unit     each case counts as one: its trials within one run resemble each other (p < 0.001)\n"
        ),
        "{found}"
    );
    let [base, run] = runs(&cached);
    let of = |unit: ComparisonUnit| {
        let mut options = CompareOptions::new();
        options.unit = Some(unit);
        Comparison::new(&base, &run, &options)
    };
    let by_trial = of(ComparisonUnit::Trial);
    assert_eq!(by_trial.verdict(), ComparisonVerdict::Regressed, "{by_trial}");
    let by_case = of(ComparisonUnit::Case);
    assert!(by_case.to_string().contains("  unit     each case counts as one: as requested\n"), "{by_case}");
    assert!(by_case.markdown().contains("- unit: each case counts as one: as requested\n"), "{}", by_case.markdown());
    // All that changed became worse, so many that each may count as one.
    let worse = compared(&[vec![[(3, 3); 2]; 12], vec![[(3, 3), (0, 3)]; 12]].concat());
    assert_eq!(worse.verdict, ComparisonVerdict::Regressed, "{worse}");
    // Trials that differ as much within a run as between the runs.
    let noisy = compared(&[[(2, 3), (1, 3)]; 10].iter().chain(&[[(1, 3), (2, 3)]; 10]).copied().collect::<Vec<_>>());
    assert_eq!((noisy.verdict, noisy.unit), (ComparisonVerdict::Unchanged, ComparisonUnit::Trial), "{noisy}");
}

#[test]
fn a_run_counts_as_one_trial_of_each_case_if_its_trials_are_correlated() {
    let declared = |pairs: &[[(u32, u32); 2]]| {
        let [mut base, mut run] = runs(pairs);
        cases(&mut base).chain(cases(&mut run)).for_each(|record| record.correlated = true);
        Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0)
    };
    // Ten trials with one seed: two cases came out otherwise in all of them.
    let seeded = [vec![[(10, 10); 2]; 28], vec![[(10, 10), (0, 10)]; 2]].concat();
    assert_eq!(compared(&seeded).verdict, ComparisonVerdict::Regressed);
    let found = declared(&seeded);
    assert_eq!((found.verdict, found.unit), (ComparisonVerdict::Unchanged, ComparisonUnit::Case), "{found}");
    assert!(found.is_correlated && kinds(&found) == [ChangeKind::Changed; 2], "{found}");
    assert!(
        found.to_string().contains("each case counts as one: its trials are correlated, as the suite says\n"),
        "{found}"
    );
    let worse = declared(&[vec![[(3, 3); 2]; 12], vec![[(3, 3), (0, 3)]; 12]].concat());
    assert_eq!(worse.verdict, ComparisonVerdict::Regressed, "{worse}");
}

#[test]
fn a_torn_record_in_the_base_is_a_missing_result() {
    let [mut base, run] = runs(&[[(1, 1); 2]; 8]);
    let torn = base.suites[0].cases.remove(3);
    let file = format!("suites/refunds/cases/{}/case.json", torn.record.case_key);
    let output = tempfile::tempdir().unwrap();
    let mut problem = run_with_a_torn_record(&output).problems.remove(0);
    problem.file = file;
    base.problems.push(problem);
    let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!((suite.missing, kinds(&suite)), (1, vec![ChangeKind::Missing]), "{suite}");
}

/// The trials of a case whose record could not be read were compared as if they were its result.
#[test]
fn a_torn_record_in_the_run_is_a_missing_result() {
    let [base, mut run] = runs(&[[(1, 1); 2]; 8]);
    let record = &mut run.suites[0].cases[3].record;
    record.outcome = Status::Error;
    let file = format!("suites/refunds/cases/{}/case.json", record.case_key);
    let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!(suite.unknown.map(|unknown| unknown.trials), Some(1), "how it ended is not known: {suite}");
    let output = tempfile::tempdir().unwrap();
    let mut problem = run_with_a_torn_record(&output).problems.remove(0);
    problem.file = file;
    run.problems.push(problem);
    let suite = Comparison::new(&base, &run, &CompareOptions::new()).suites.remove(0);
    assert_eq!((suite.missing, suite.errors, kinds(&suite)), (1, 1, vec![ChangeKind::Error]), "{suite}");
    assert_eq!(suite.verdict, ComparisonVerdict::Undecided, "more than a tenth is missing: {suite}");
}

fn run_with_a_torn_record(output: &tempfile::TempDir) -> RunData {
    let directory = SyntheticRun::new("torn", 3, 1).write(output.path());
    std::fs::write(directory.join("run.json"), "{").unwrap();
    RunData::read(directory).unwrap()
}

/// Three cases, two of them flaky: not all that could be said is worth a failed build.
#[test]
fn a_small_suite_is_the_same_or_undecided() {
    let same = compared(&[[(3, 3); 2], [(0, 3); 2], [(3, 3); 2]]);
    assert_eq!((same.verdict, same.to_string().contains(": same\n")), (ComparisonVerdict::Same, true), "{same}");
    let noisy = compared(&[[(2, 3); 2], [(0, 3); 2], [(3, 3); 2]]);
    assert_eq!(noisy.verdict, ComparisonVerdict::Undecided, "{noisy}");
    let broken = compared(&[[(5, 5), (0, 5)], [(5, 5); 2], [(5, 5); 2]]);
    assert_eq!(broken.verdict, ComparisonVerdict::Regressed, "{broken}");
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

fn with_margin(margin: f64) -> CompareOptions {
    let mut options = CompareOptions::new();
    options.margin = Some(margin);
    options
}

#[test]
fn a_margin_has_to_be_shown() {
    let output = tempfile::tempdir().unwrap();
    let good = run(&output, "run-good", 0.9, 3);
    let slightly = run(&output, "run-less", 0.9, 3);
    let of = |margin: f64| {
        let comparison = Comparison::new(&good, &slightly, &with_margin(margin));
        let suite = comparison.suites.into_iter().find(|suite| suite.suite == "repair" && suite.target == "default");
        suite.unwrap()
    };
    let (lower, upper) = of(0.9).interval.expect("enough cases");
    assert!(lower < 0.0 && upper > 0.0, "neither better nor worse: {lower} {upper}");
    assert_eq!(of(-lower + 0.01).verdict, ComparisonVerdict::Unchanged);
    assert_eq!(of(-lower - 0.001).verdict, ComparisonVerdict::Undecided);
    // Rounding noise does not decide.
    for margin in [-lower, (-lower).next_up(), (-lower).next_down()] {
        assert_eq!(of(margin).verdict, ComparisonVerdict::Undecided, "{margin} of {lower}");
    }
    // Six equal pairs are no proof that one of a thousand is not lost.
    let [base, run] = runs(&[[(1, 1); 2]; 6]);
    let strict = Comparison::new(&base, &run, &with_margin(0.001));
    assert_eq!(strict.verdict(), ComparisonVerdict::Undecided, "{strict}");
    let [base, run] = runs(&[[(5, 5), (0, 5)]; 30]);
    let lost = Comparison::new(&base, &run, &with_margin(0.5));
    assert_eq!(lost.verdict(), ComparisonVerdict::Regressed, "{lost}");
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
            record.trials = vec![trial(0, !fails)];
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
    assert!(de.adjusted_p > de.p_value, "one of {gating}: {suite}");
    assert_eq!(slice("ja").verdict, ComparisonVerdict::Unchanged, "{suite}");
    assert_eq!(comparison.verdict(), ComparisonVerdict::Regressed);
    assert!(suite.to_string().contains("  metadata.language:de: regressed  -1.000 [-1.000, -0."), "{suite}");
}

#[test]
fn a_case_that_has_a_tag_twice_counts_once_in_its_slice() {
    let compared = |repeated: &[&str]| {
        let mut runs = runs(&[vec![[(2, 2), (1, 2)]; 3], vec![[(1, 2), (2, 2)]; 5]].concat());
        let cases = runs.iter_mut().flat_map(|run| run.suites[0].cases.iter_mut().enumerate());
        for (index, case) in cases {
            let tags = if index < 3 { repeated } else { &["tea"] };
            for trial in &mut case.trials {
                trial.record.tags = tags.iter().map(|tag| (*tag).into()).collect();
            }
        }
        let comparison = Comparison::new(&runs[0], &runs[1], &CompareOptions::new().with_slices_by(SliceKey::Tag));
        comparison.suites[0].slices[0].p_value
    };
    assert_eq!(compared(&["tea", "tea"]), compared(&["tea"]));
}

#[test]
fn a_comparison_of_several_suites_needs_more_evidence_in_each() {
    // Five of ten cases failed: alone, p is 0.031.
    let [mut base, mut run] = runs(&[vec![[(1, 1); 2]; 5], vec![[(1, 1), (0, 1)]; 5]].concat());
    let one = Comparison::new(&base, &run, &CompareOptions::new());
    assert_eq!(one.verdict(), ComparisonVerdict::Regressed, "{one}");
    let add = |data: &mut RunData, name: &str, passes: bool| {
        let mut other = data.suites[0].clone();
        other.name = name.into();
        (other.id.name, other.id.path) = (name.into(), format!("suites/{name}"));
        for (index, case) in other.cases.iter_mut().enumerate() {
            case.record.suite = name.into();
            case.record.trials = vec![trial(0, passes || index > 0)];
        }
        data.suites.push(other);
    };
    // Where nothing varies, there is nothing to be wrong about.
    add(&mut base, "stable", true);
    add(&mut run, "stable", true);
    let stable = Comparison::new(&base, &run, &CompareOptions::new());
    assert_eq!(stable.suites[0].verdict, ComparisonVerdict::Regressed, "{stable}");
    add(&mut base, "varies", true);
    add(&mut run, "varies", false);
    let both = Comparison::new(&base, &run, &CompareOptions::new());
    assert_eq!(both.suites[0].verdict, ComparisonVerdict::Unchanged, "{both}");
    assert!(both.to_string().contains(" (a change from 0.022 down)"), "{both}");
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
