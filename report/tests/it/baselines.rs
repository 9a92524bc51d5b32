//! Results that were accepted, and runs compared with them.

use std::collections::BTreeSet;

use evalsuite_records::record::{
    AcceptedAnswers, Baseline, CaseRecord, Rule, Status, SuiteId, SuiteRecord, SuiteTest, TrialSummary,
};
use evalsuite_report::baseline_as_run::{
    answer_pairs_with_accepted, read_accepted_answers, read_baseline, remove_other_targets,
};
use evalsuite_report::{
    Accepted, ChangeKind, CompareOptions, Comparison, ComparisonVerdict, Decision, RunData, SuiteData, accept,
    accept_answers, pooled, write_accepted_answers, write_baseline,
};
use evalsuite_schema::SuiteKind;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// A run of one suite, whose cases have as many trials passed of so many.
fn run(cases: &[(&str, u32, u32)]) -> RunData {
    run_named("run", cases)
}

/// The same, as the run with this id.
fn run_named(id: &str, cases: &[(&str, u32, u32)]) -> RunData {
    let output = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new(id, 60, 1).write(output.path())).unwrap();
    run.suites.truncate(1);
    let suite = &mut run.suites[0];
    suite.cases.truncate(cases.len());
    assert_eq!(suite.cases.len(), cases.len());
    let mut record = SuiteRecord::new();
    for (case, (id, passed, trials)) in suite.cases.iter_mut().zip(cases) {
        set(&mut case.record, id, *passed, *trials);
        case.trials.clear();
        record.tests.push(SuiteTest::new("evals", *id, *id));
    }
    suite.record = Some(record);
    run
}

fn set(record: &mut CaseRecord, id: &str, passed: u32, trials: u32) {
    record.case_id = id.to_owned();
    record.target = "default".to_owned();
    record.input_digest = format!("input of {id}");
    record.grader_digest = "graders".to_owned();
    record.case_digest = format!("case {id}");
    record.outcome = match (passed, trials) {
        (_, 0) => Status::Error,
        (0, _) => Status::Failed,
        _ => Status::Passed,
    };
    (record.passed, record.completed) = (passed, trials);
    record.trials = (0..trials)
        .map(|index| {
            let mut trial = TrialSummary::default();
            let passes = index < passed;
            trial.outcome = if passes { Status::Passed } else { Status::Failed };
            trial.score = Some(f64::from(u8::from(passes)));
            trial
        })
        .collect();
    record.mean = (trials > 0).then(|| f64::from(passed) / f64::from(trials));
}

fn suite(run: &RunData) -> &SuiteData {
    &run.suites[0]
}

fn accepted(run: &RunData, before: Option<&Baseline>, forced: &[&str]) -> Accepted {
    accept(run, suite(run), before, &forced.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>())
}

/// The trials of each case in a baseline.
fn trials(baseline: &Baseline) -> Vec<(&str, u32, u32)> {
    baseline.cases.iter().map(|case| (case.case.as_str(), case.passed, case.trials)).collect()
}

fn decisions(accepted: &Accepted) -> Vec<(&str, Decision)> {
    accepted.cases.iter().map(|case| (case.case.as_str(), case.decision)).collect()
}

const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

/// A project accepted a noisy run, and nine cases that the agent could do were expected to fail from then on.
#[test]
fn a_noisy_run_does_not_take_away_what_passed() {
    let good = run(&NAMES.map(|id| (id, 3, 3)));
    let baseline = accepted(&good, None, &[]).baseline;
    // A service was overloaded: some trials failed, some cases were cut off after one, some ended in errors.
    let noisy: Vec<(&str, u32, u32)> =
        NAMES.iter().enumerate().map(|(index, id)| (*id, 0, [1, 0, 1][index % 3])).collect();
    let again = accepted(&run_named("noisy", &noisy), Some(&baseline), &[]);
    let expected: Vec<_> = NAMES.iter().enumerate().map(|(index, id)| (*id, 3, [4, 3, 4][index % 3])).collect();
    assert_eq!(trials(&again.baseline), expected, "all nine still count as passing");
    let text = again.to_string();
    assert!(text.starts_with("refunds: 6 updated, 3 kept\n"), "{text}");
    assert!(text.contains("  updated    a @ default  3/3, now 0/1, together 3/4\n"), "{text}");
    assert!(text.contains("  kept       b @ default  3/3  (no result: error)\n"), "{text}");
    let kept = accepted(&run_named("kept", &NAMES.map(|id| (id, 0, 0))), Some(&baseline), &[]);
    assert!(!kept.is_changed() && kept.baseline == baseline);
}

#[test]
fn it_is_raised_and_lowered_with_a_reason() {
    let baseline = accepted(
        &run(&[
            ("fails", 0, 3),
            ("flaky", 1, 3),
            ("forced", 3, 3),
            ("lost", 3, 3),
            ("lucky", 0, 3),
            ("same", 1, 1),
            ("wobbly", 2, 5),
        ]),
        None,
        &[],
    )
    .baseline;
    let now = run_named(
        "next",
        &[
            ("fails", 3, 3),
            ("flaky", 3, 3),
            ("forced", 0, 1),
            ("lost", 0, 3),
            ("lucky", 1, 1),
            ("same", 1, 1),
            ("wobbly", 1, 1),
        ],
    );
    let after = accepted(&now, Some(&baseline), &["forced"]);
    let expected = [
        ("fails", Decision::Raised),
        ("flaky", Decision::Updated),
        ("forced", Decision::Lowered),
        ("lost", Decision::Lowered),
        ("lucky", Decision::Raised),
        ("same", Decision::Updated),
        ("wobbly", Decision::Updated),
    ];
    assert_eq!(decisions(&after), expected);
    let expected = [
        ("fails", 3, 3),
        ("flaky", 4, 6),
        ("forced", 0, 1),
        ("lost", 0, 3),
        ("lucky", 1, 4),
        ("same", 2, 2),
        ("wobbly", 3, 6),
    ];
    assert_eq!(trials(&after.baseline), expected, "where chance explains it, all trials count together");
    assert!(after.to_string().contains("  raised     lucky @ default  0/3, now 1/1, together 1/4\n"), "{after}");
    let again = accepted(&now, Some(&after.baseline), &[]);
    assert!(again.cases.iter().all(|case| case.decision == Decision::Unchanged), "a run counts once: {again}");
    let forced = accepted(&now, Some(&after.baseline), &["flaky"]);
    assert_eq!(trials(&forced.baseline)[1], ("flaky", 3, 3), "as the author says");
}

#[test]
fn a_case_without_a_result_and_without_a_line_is_left_out() {
    let baseline = accepted(&run(&[("a", 1, 1)]), None, &[]).baseline;
    let both = accepted(&run_named("second", &[("a", 0, 0), ("b", 0, 0)]), Some(&baseline), &[]);
    let text = both.to_string();
    assert!(text.starts_with("refunds: 1 kept, 1 left out\n"), "{text}");
    assert!(text.contains("  kept       a @ default  1/1  (no result: error)\n"), "{text}");
    assert!(text.contains("  left out   b @ default  (no result: error)\n"), "{text}");
    assert!(!both.is_changed() && both.baseline == baseline);
    let first = accepted(&run(&[("a", 0, 0)]), None, &[]);
    assert_eq!(first.to_string(), "refunds: 1 left out\n  left out   a @ default  (no result: error)\n");
    assert!(!first.is_changed() && first.baseline.cases.is_empty());
}

/// Where the best results of all runs were kept, and compared with, an agent that had not changed was soon called worse.
#[test]
fn the_scores_of_the_last_run_are_compared_whatever_was_better_before() {
    let best = accepted(&run(&NAMES.map(|id| (id, 3, 3))), None, &[]).baseline;
    let usual = run_named("usual", &NAMES.map(|id| (id, 2, 3)));
    let baseline = accepted(&usual, Some(&best), &[]).baseline;
    assert!(
        baseline.cases.iter().all(|line| line.outcomes == "PPF" && (line.passed, line.trials) == (5, 6)),
        "{baseline:?}"
    );
    let again = run_named("again", &NAMES.map(|id| (id, 2, 3)));
    let compared = Comparison::with_baselines(&[baseline], &again, &CompareOptions::new());
    assert_eq!(compared.suites[0].difference, 0.0, "{compared}");
}

#[test]
fn cases_come_go_and_change() {
    let baseline = accepted(&run(&[("changed", 3, 3), ("filtered", 3, 3), ("removed", 3, 3)]), None, &[]).baseline;
    let mut now = run(&[("changed", 0, 1), ("new", 0, 1)]);
    now.suites[0].cases[0].record.grader_digest = "other".into();
    let mut raised = run(&[("changed", 0, 1)]);
    raised.suites[0].cases[0].record.threshold = 0.9;
    let redefined = accepted(&raised, Some(&baseline), &[]);
    assert_eq!(decisions(&redefined)[0], ("changed", Decision::Redefined), "other scores pass: {redefined}");
    let compared = Comparison::with_baselines(std::slice::from_ref(&baseline), &raised, &CompareOptions::new());
    assert_eq!(compared.suites[0].changes[0].kind, ChangeKind::Redefined, "{compared}");
    now.suites[0].record.as_mut().unwrap().tests.push(SuiteTest::new("evals", "filtered", "filtered"));
    let after = accepted(&now, Some(&baseline), &[]);
    let expected = [
        ("changed", Decision::Redefined),
        ("filtered", Decision::Kept),
        ("new", Decision::Added),
        ("removed", Decision::Removed),
    ];
    assert_eq!(decisions(&after), expected);
    assert_eq!(trials(&after.baseline), [("changed", 0, 1), ("filtered", 3, 3), ("new", 0, 1)]);
}

/// One trial passed, and another one broke.
#[test]
fn a_result_counts_once_whichever_runs_take_it_over() {
    let results = [("a", 1, 1), ("b", 0, 1)];
    let copied = |id: &str| {
        let mut run = run_named(id, &results);
        run.suites[0].cases.iter_mut().for_each(|case| case.record.reused_run = Some("first".to_owned()));
        run
    };
    let before = accepted(&copied("second"), None, &[]).baseline;
    assert_eq!(before.header.runs, ["first", "second"]);
    for run in [copied("third"), run_named("first", &results), copied("second")] {
        let again = accepted(&run, Some(&before), &[]);
        assert_eq!(decisions(&again), [("a", Decision::Unchanged), ("b", Decision::Unchanged)], "{}", run.run_id);
    }
    let other = accepted(&run_named("fourth", &results), Some(&before), &[]);
    assert_eq!(trials(&other.baseline), [("a", 2, 2), ("b", 0, 2)]);
}

/// Each accepted run replaces its own results: what is accepted again is what it would be if it had been accepted once.
#[test]
fn a_run_that_is_accepted_again_counts_as_if_it_had_been_accepted_once() {
    let base = accepted(&run_named("base", &[("a", 3, 3), ("b", 3, 3), ("c", 0, 3), ("d", 2, 3)]), None, &[]).baseline;
    // A trial fails, then more do: chance explains the first one alone.
    let small = run_named("grows", &[("a", 0, 1), ("b", 0, 0), ("c", 1, 1), ("d", 1, 1)]);
    let whole = run_named("grows", &[("a", 0, 6), ("b", 1, 2), ("c", 4, 4), ("d", 1, 2)]);
    let first = accepted(&small, Some(&base), &[]).baseline;
    assert_eq!(trials(&first), [("a", 3, 4), ("b", 3, 3), ("c", 1, 4), ("d", 3, 4)]);
    let grown = accepted(&whole, Some(&first), &[]);
    let once = accepted(&whole, Some(&base), &[]);
    assert_eq!(grown.baseline, once.baseline, "{grown}{once}");
    assert_eq!(trials(&grown.baseline), [("a", 0, 6), ("b", 4, 5), ("c", 4, 4), ("d", 3, 5)]);
    assert!(grown.to_string().contains("  lowered    a @ default  3/4, now 0/6\n"), "{grown}");
    // A trial of the run ran again in it.
    let other = run_named("grows", &[("a", 2, 2), ("b", 1, 2), ("c", 4, 4), ("d", 1, 2)]);
    let replaced = accepted(&other, Some(&grown.baseline), &[]);
    assert_eq!(replaced.baseline.cases, accepted(&other, Some(&base), &[]).baseline.cases, "{replaced}");
    let unchanged = [("b", Decision::Unchanged), ("c", Decision::Unchanged), ("d", Decision::Unchanged)];
    assert_eq!(decisions(&replaced)[1..], unchanged, "{replaced}");
    // What was forced stays so.
    let forced = accepted(&whole, Some(&replaced.baseline), &["b"]).baseline;
    assert_eq!(trials(&forced)[1], ("b", 1, 2));
    assert_eq!(trials(&accepted(&whole, Some(&forced), &[]).baseline)[1], ("b", 1, 2));
    // A new case, whose trials are all of this run.
    let new = accepted(&run_named("new", &[("e", 1, 1)]), None, &[]).baseline;
    assert_eq!(trials(&accepted(&run_named("new", &[("e", 1, 3)]), Some(&new), &[]).baseline), [("e", 1, 3)]);
}

#[test]
fn a_result_that_a_run_got_after_it_was_accepted_is_added() {
    let base = accepted(&run_named("base", &[("a", 3, 3), ("b", 3, 3)]), None, &[]).baseline;
    let first = accepted(&run_named("grows", &[("a", 1, 1), ("b", 0, 0)]), Some(&base), &[]).baseline;
    let whole = run_named("grows", &[("a", 1, 1), ("b", 1, 1)]);
    assert_eq!(trials(&accepted(&whole, Some(&first), &[]).baseline), [("a", 4, 4), ("b", 4, 4)]);
    let later = accepted(&run_named("later", &[("a", 0, 0), ("b", 1, 1)]), Some(&first), &[]).baseline;
    let again = accepted(&whole, Some(&later), &[]);
    assert_eq!(trials(&again.baseline), [("a", 4, 4), ("b", 5, 5)], "{again}");
    assert_eq!(again.baseline.cases[1].run, "later", "the sample is that of the last run");
    let once_more = accepted(&whole, Some(&again.baseline), &[]);
    assert!(!once_more.is_changed() && once_more.cases.iter().all(|case| case.why_kept.is_none()), "{once_more}");
}

/// Whatever the order in which runs are accepted that grow and end: all trials of all runs count, each once.
#[test]
fn runs_that_grow_after_later_ones_were_accepted_lose_nothing_and_count_once() {
    // By run: the result of two cases at first, and later. All of them are as likely as each other.
    type Results = [[(u32, u32); 2]; 3];
    let runs: [(&str, Results); 4] = [
        ("one", [[(2, 3), (0, 0)], [(4, 6), (2, 3)], [(5, 8), (2, 3)]]),
        ("two", [[(0, 0), (2, 3)], [(2, 4), (3, 5)], [(3, 5), (3, 5)]]),
        ("three", [[(1, 2), (1, 2)], [(1, 2), (2, 3)], [(3, 4), (4, 6)]]),
        ("four", [[(0, 0), (0, 0)], [(0, 0), (2, 2)], [(1, 2), (2, 3)]]),
    ];
    let stages_of = runs.map(|(id, results)| results.map(|[a, b]| run_named(id, &[("a", a.0, a.1), ("b", b.0, b.1)])));
    let mut random = 1_u64;
    for _ in 0..40 {
        let mut baseline: Option<Baseline> = None;
        let mut stages = [0_usize; 4];
        let mut last = Vec::new();
        for _ in 0..12 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let which = (random >> 33) as usize % runs.len();
            // A run is accepted again as it is, or after it has grown.
            let stage = (stages[which] + (random >> 40) as usize % 2).clamp(1, 3);
            stages[which] = stage;
            last.push((runs[which].0, stage));
            let accepted = accepted(&stages_of[which][stage - 1], baseline.as_ref(), &[]);
            assert!(accepted.cases.iter().all(|case| case.decision != Decision::Lowered), "{last:?}: {accepted}");
            baseline = Some(Baseline::parse(&accepted.baseline.to_text()).unwrap());
        }
        let sum = |case: usize| {
            let of_runs = runs.iter().zip(stages).filter(|(_, stage)| *stage > 0);
            of_runs.fold((0, 0), |(passed, all), ((_, results), stage)| {
                let (more, trials) = results[stage - 1][case];
                (passed + more, all + trials)
            })
        };
        let expected = [("a", sum(0)), ("b", sum(1))].map(|(id, (passed, all))| (id, passed, all));
        let expected: Vec<_> = expected.into_iter().filter(|(.., all)| *all > 0).collect();
        assert_eq!(trials(baseline.as_ref().unwrap()), expected, "{last:?}: {baseline:?}");
    }
}

#[test]
fn results_of_runs_before_a_change_do_not_count_again() {
    let first = accepted(&run_named("first", &[("a", 0, 3), ("b", 3, 3)]), None, &[]).baseline;
    let raised = accepted(&run_named("raised", &[("a", 3, 3), ("b", 3, 3)]), Some(&first), &["b"]).baseline;
    assert_eq!(trials(&raised), [("a", 3, 3), ("b", 3, 3)]);
    let grown = run_named("first", &[("a", 0, 4), ("b", 4, 4)]);
    // What came before the raise counts again if the run that raised the case has another result.
    let again = accepted(&grown, Some(&raised), &[]);
    assert_eq!(trials(&again.baseline), [("a", 3, 3), ("b", 3, 3)], "{again}");
    let other = run_named("raised", &[("a", 1, 3), ("b", 3, 3)]);
    assert_eq!(trials(&accepted(&other, Some(&again.baseline), &[]).baseline), [("a", 1, 7), ("b", 3, 3)]);
    // After another run, what was replaced is over.
    let next = accepted(&run_named("next", &[("a", 1, 1), ("b", 1, 1)]), Some(&again.baseline), &[]).baseline;
    let late = accepted(&grown, Some(&next), &[]);
    assert_eq!(trials(&late.baseline), [("a", 4, 4), ("b", 4, 4)], "{late}");
    assert!(late.to_string().contains("  unchanged  2 cases: run `next` was accepted after this one"), "{late}");
}

/// Files of older versions do not tell what runs have added.
#[test]
fn what_a_run_has_added_to_a_baseline_of_an_older_version_is_not_known() {
    let older = |baseline: Baseline| {
        let mut older = baseline;
        older.cases.iter_mut().for_each(|case| case.added.clear());
        older
    };
    let first = older(accepted(&run_named("first", &[("a", 3, 3)]), None, &[]).baseline);
    let second = accepted(&run_named("second", &[("a", 2, 2)]), Some(&first), &[]).baseline;
    let grown = run_named("first", &[("a", 4, 4)]);
    assert_eq!(trials(&accepted(&grown, Some(&second), &[]).baseline), [("a", 6, 6)], "the first run is known");
    let unknown = accepted(&grown, Some(&older(second.clone())), &[]);
    assert_eq!(trials(&unknown.baseline), [("a", 5, 5)], "{unknown}");
    assert!(unknown.to_string().contains("`--force CASE` replaces all results of a case with them"), "{unknown}");
    let third = accepted(&run_named("third", &[("a", 1, 1)]), Some(&older(second)), &[]).baseline;
    assert_eq!(trials(&accepted(&grown, Some(&third), &[]).baseline), [("a", 6, 6)]);
    let third_grown = accepted(&run_named("third", &[("a", 2, 2)]), Some(&third), &[]).baseline;
    assert_eq!(trials(&third_grown), [("a", 7, 7)]);
}

/// The header knows the last runs: an older one looked as if it had never been accepted, and its trials were added once more.
#[test]
fn a_run_that_was_accepted_before_all_known_ones_does_not_count_again() {
    let any = run(&[("a", 1, 1)]);
    let at = |id: &str, minute: usize| {
        let mut run = any.clone();
        (run.run_id, run.suites[0].cases[0].record.run_id) = (id.to_owned(), id.to_owned());
        run.record.as_mut().unwrap().started_at = format!("2026-11-22T10:{minute:02}:00.000Z");
        run
    };
    let of_minute = |minute: usize| at(&format!("run-{minute:02}"), minute);
    let accept_next =
        |before: Option<Baseline>, minute: usize| Some(accepted(&of_minute(minute), before.as_ref(), &[]).baseline);
    let baseline = (0..60).fold(None, accept_next).unwrap();
    assert_eq!(trials(&baseline), [("a", 60, 60)]);
    let again = (0..60).fold(Some(baseline.clone()), accept_next).unwrap();
    assert_eq!(trials(&again), [("a", 60, 60)], "all runs are accepted once more");
    let first = accepted(&of_minute(0), Some(&baseline), &[]);
    assert!(first.to_string().contains("`--force CASE` replaces all results of a case with them"), "{first}");
    // A run that ended later than one that was accepted before it.
    let late = accepted(&at("run-58-late", 58), Some(&baseline), &[]);
    assert_eq!(trials(&late.baseline), [("a", 61, 61)]);
}

#[test]
fn a_run_is_the_same_in_a_directory_of_another_name() {
    let mut run = run_named("first", &[("a", 1, 1)]);
    run.run_id = "artifact".to_owned();
    let before = accepted(&run, None, &[]).baseline;
    assert_eq!(decisions(&accepted(&run, Some(&before), &[])), [("a", Decision::Unchanged)]);
}

/// Of two branches, each accepted its runs. The last run of the other one does not know the cases of this one.
#[test]
fn an_older_run_neither_removes_nor_redefines_cases() {
    let of_day = |id: &str, day: u32, cases: &[(&str, u32, u32)]| {
        let mut run = run_named(id, cases);
        run.record.as_mut().unwrap().started_at = format!("2026-11-{day:02}T00:00:00.000Z");
        run
    };
    let newer = accepted(&of_day("newer", 9, &[("a", 1, 1), ("b", 1, 1), ("new", 1, 1)]), None, &[]).baseline;
    let mut older = of_day("older", 8, &[("a", 1, 1), ("b", 1, 1)]);
    older.suites[0].cases[1].record.input_digest = "the input of then".to_owned();
    let after = accepted(&older, Some(&newer), &[]);
    assert_eq!(trials(&after.baseline), [("a", 2, 2), ("b", 1, 1), ("new", 1, 1)], "{after}");
    let text = after.to_string();
    for line in [
        "  kept       b @ default  1/1  (another input, graders, threshold or strategy in this run, which is older than the baseline)\n",
        "  kept       new @ default  1/1  (not in the suite of this run, which is older than the baseline)\n",
    ] {
        assert!(text.replace("1/1, now 1/1", "1/1").contains(line), "{line} is missing in {text}");
    }
    assert_eq!(after.baseline.header.date, "2026-11-09T00:00:00.000Z", "of the newest run");
    assert_eq!(decisions(&accepted(&older, Some(&newer), &["b"]))[1], ("b", Decision::Redefined));
    let newest = of_day("newest", 10, &[("a", 1, 1), ("b", 1, 1)]);
    assert_eq!(decisions(&accepted(&newest, Some(&after.baseline), &[]))[2], ("new", Decision::Removed));
    // Files of older versions have the day only.
    let mut of_day_only = newer.clone();
    of_day_only.header.date = "2026-11-09".to_owned();
    assert_eq!(decisions(&accepted(&older, Some(&of_day_only), &[]))[2], ("new", Decision::Kept));
}

/// A suite had a matrix of targets, and has none now: no run has results of these targets any more.
#[test]
fn results_of_other_targets_are_not_missing() {
    let as_target = |id: &str, target: &str, cases: &[(&str, u32, u32)]| {
        let mut run = run_named(id, cases);
        run.suites[0].cases.iter_mut().for_each(|case| case.record.target = target.to_owned());
        run
    };
    let small = accepted(&as_target("first", "small", &NAMES.map(|id| (id, 1, 1))), None, &[]).baseline;
    let run = as_target("second", "large", &NAMES.map(|id| (id, 1, 1)));
    let both = accepted(&run, Some(&small), &[]);
    assert!(both.to_string().contains("  kept       a @ small  1/1  (ran as another target)\n"), "{both}");
    let mut compared = both.baseline.clone();
    assert_eq!(remove_other_targets(&mut compared, suite(&run)), BTreeSet::from(["small".to_owned()]));
    let compared = Comparison::with_baselines(&[compared], &run, &CompareOptions::new());
    assert_eq!(compared.verdict(), ComparisonVerdict::Same, "{compared}");
    // A case that did not run may have been of any target, and one of a matrix is missing.
    let mut fewer = run.clone();
    fewer.suites[0].cases.remove(0);
    let left = |run: &RunData| {
        let mut baseline = both.baseline.clone();
        remove_other_targets(&mut baseline, suite(run));
        baseline.cases.iter().filter(|line| line.target == "small").count()
    };
    assert_eq!((left(&run), left(&fewer)), (0, 1));
    let tests = &mut fewer.suites[0].record.as_mut().unwrap().tests;
    tests.iter_mut().for_each(|test| test.target = Some("small".to_owned()));
    assert_eq!(left(&fewer), NAMES.len());
}

#[test]
fn a_case_that_ended_in_an_error_has_no_result() {
    let baseline = accepted(&run(&[("a", 0, 1), ("b", 1, 1)]), None, &[]).baseline;
    let mut now = run_named("next", &[("a", 1, 1), ("b", 0, 2), ("c", 1, 1)]);
    now.suites[0].cases.iter_mut().for_each(|case| case.record.outcome = Status::Error);
    let after = accepted(&now, Some(&baseline), &[]);
    assert_eq!(decisions(&after), [("a", Decision::Kept), ("b", Decision::Kept), ("c", Decision::LeftOut)], "{after}");
    assert_eq!(trials(&after.baseline), [("a", 0, 1), ("b", 1, 1)]);
}

#[test]
fn a_file_is_what_was_written_and_names_the_line_of_a_mistake() {
    let directory = tempfile::tempdir().unwrap();
    let file = evalsuite_records::baseline::baseline_file(directory.path(), &SuiteId::new("refunds"));
    assert_eq!(read_baseline(&file).unwrap(), None);
    let baseline = accepted(&run(&[("a", 2, 3), ("b", 1, 1)]), None, &[]).baseline;
    write_baseline(&file, &baseline).unwrap();
    assert_eq!(read_baseline(&file).unwrap(), Some(baseline.clone()));
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"schema":"evalsuite.baseline/1","suite":"refunds","commit":"557ca363dbbc35a2553be0b859cffd5dbd5b0fec","date":"2026-11-22T14:25:50.464Z","runs":["run"],"version":"0.1.0"}"#
    );
    assert_eq!(
        lines[1],
        r#"{"case":"a","target":"default","passed":2,"trials":3,"score":0.6667,"spread":0.5774,"outcomes":"PPF","scores":[1.0,1.0,0.0],"run":"run","added":[{"run":"run","passed":2,"trials":3}],"input":"input of a","graders":"graders","threshold":0.8}"#
    );
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing else is left behind");
    std::fs::write(&file, text.replace("\"b\"", "\"a\"")).unwrap();
    let error = read_baseline(&file).unwrap_err().to_string();
    assert!(error.ends_with(".jsonl: line 3: case `a` with target `default` is in line 2, too"), "{error}");
}

#[test]
fn correlated_trials_of_a_run_are_accepted_as_one() {
    let of = |id: &str, passed: u32| {
        let mut run = run_named(id, &[("a", passed, 3)]);
        run.suites[0].cases[0].record.correlated = true;
        run
    };
    let first = accepted(&of("first", 3), None, &[]).baseline;
    let line = |baseline: &Baseline| {
        let line = &baseline.cases[0];
        (line.passed, line.trials, line.outcomes.clone(), line.score)
    };
    assert_eq!(line(&first), (1, 1, "P".to_owned(), Some(1.0)));
    let second = accepted(&of("second", 3), Some(&first), &[]).baseline;
    assert_eq!(line(&second), (2, 2, "P".to_owned(), Some(1.0)));
    let same = Comparison::with_baselines(&[second], &of("third", 0), &CompareOptions::new()).suites.remove(0);
    assert_eq!(same.verdict, ComparisonVerdict::Undecided, "three trials in one run say as much as one: {same}");
    let independent = Comparison::with_baselines(
        &[accepted(&run(&NAMES.map(|id| (id, 3, 3))), None, &[]).baseline],
        &run(&[&[("a", 0, 3)], &NAMES.map(|id| (id, 3, 3))[1..]].concat()),
        &CompareOptions::new(),
    );
    assert_eq!(independent.verdict(), ComparisonVerdict::Regressed, "{independent}");
}

#[test]
fn the_judges_of_a_case_are_in_its_line() {
    let output = tempfile::tempdir().unwrap();
    let run = RunData::read(SyntheticRun::new("run", 12, 2).write(output.path())).unwrap();
    let after = accepted(&run, None, &[]);
    let judged = after.baseline.cases.iter().filter(|case| !case.judges.is_empty()).count();
    assert!(judged > 0, "{}", after.baseline.to_text());
}

/// Two trials of an unchanged agent that passes seven of ten times made 16 of 20 comparisons a regression.
#[test]
fn two_failed_trials_are_no_regression_and_five_are() {
    let compare = |trials: u32, now: (u32, u32)| {
        let baseline = accepted(&run(&NAMES.map(|id| (id, trials, trials))), None, &[]).baseline;
        let mut cases = NAMES.map(|id| (id, trials, trials));
        cases[0] = ("a", now.0, now.1);
        let mut compared = Comparison::with_baselines(&[baseline], &run(&cases), &CompareOptions::new());
        assert_eq!(compared.suites.len(), 1);
        compared.suites.remove(0)
    };
    let same = compare(3, (3, 3));
    assert_eq!((same.verdict, same.changes.len()), (ComparisonVerdict::Same, 0), "{same}");
    let twice = compare(2, (0, 2));
    assert_eq!((twice.verdict, twice.changes[0].kind), (ComparisonVerdict::Unchanged, ChangeKind::Changed), "{twice}");
    let thrice = compare(3, (0, 3));
    assert_eq!(thrice.changes[0].kind, ChangeKind::Regressed, "eight other cases never fail: {thrice}");
    let often = compare(5, (0, 5));
    assert_eq!(
        (often.verdict, often.changes[0].kind),
        (ComparisonVerdict::Regressed, ChangeKind::Regressed),
        "{often}"
    );
}

/// Records of such cases have no mean score, and baselines have one.
#[test]
fn the_results_of_trials_that_stop_early_are_the_same_as_in_their_baseline() {
    let mut run = run(&NAMES.map(|id| (id, 1, 1)));
    for case in &mut run.suites[0].cases {
        (case.record.stops_early, case.record.truncated, case.record.mean) = (true, true, None);
    }
    let baseline = accepted(&run, None, &[]).baseline;
    let compared = Comparison::with_baselines(&[baseline], &run, &CompareOptions::new());
    assert_eq!((compared.verdict(), compared.suites[0].changes.len()), (ComparisonVerdict::Same, 0), "{compared}");
}

/// A case that failed in the accepted run counted as passed in it, where a trial had.
#[test]
fn the_cases_that_passed_in_the_accepted_run_are_counted_as_their_rules_decide() {
    use Rule::{Any, ConfidenceInterval, Every, Mean};
    let cases = [("all", 3, 3), ("most", 2, 3), ("some", 1, 3), ("none", 0, 3)];
    let passed = |kind, rule, threshold| {
        let decided = |id: &str| {
            let mut run = run_named(id, &cases);
            for case in &mut run.suites[0].cases {
                let record = &mut case.record;
                (record.kind, record.rule, record.threshold) = (kind, rule, threshold);
                let passes = match rule {
                    Any => record.passed > 0,
                    Every => record.passed == 3,
                    Mean => record.mean >= Some(threshold),
                    ConfidenceInterval => record.passed == 3 && threshold < 0.292,
                };
                record.outcome = if passes { Status::Passed } else { Status::Failed };
            }
            run
        };
        let baseline = accepted(&decided("first"), None, &[]).baseline;
        let compared = Comparison::with_baselines(&[baseline], &decided("second"), &CompareOptions::new());
        let suite = &compared.suites[0];
        assert_eq!(suite.base_passed, suite.run_passed, "{kind:?} {rule:?} {threshold}: the same results\n{suite}");
        suite.base_passed
    };
    assert_eq!(passed(SuiteKind::Capability, Any, 0.8), (3, 4));
    assert_eq!(passed(SuiteKind::Regression, Every, 0.8), (1, 4));
    assert_eq!(passed(SuiteKind::Regression, Mean, 0.6), (2, 4));
    assert_eq!(passed(SuiteKind::Capability, Mean, 0.8), (1, 4));
    assert_eq!(passed(SuiteKind::Mixed, ConfidenceInterval, 0.29), (1, 4));
    assert_eq!(passed(SuiteKind::Mixed, ConfidenceInterval, 0.8), (0, 4));
}

#[test]
fn a_case_that_is_not_in_the_run_is_decided_as_its_suite_decides() {
    let of = |id: &str, cases: &[(&str, u32, u32)]| {
        let mut run = run_named(id, cases);
        run.suites[0].cases.iter_mut().for_each(|case| {
            (case.record.kind, case.record.rule) = (SuiteKind::Regression, Rule::Every);
        });
        run.suites[0].record.as_mut().unwrap().kind = SuiteKind::Regression;
        run
    };
    let baseline = accepted(&of("first", &[("a", 3, 3), ("b", 1, 2), ("c", 2, 2)]), None, &[]).baseline;
    let compared = Comparison::with_baselines(&[baseline], &of("second", &[("a", 3, 3)]), &CompareOptions::new());
    assert_eq!(compared.suites[0].base_passed, (2, 3), "{compared}");
}

/// One of three trials passed its threshold, and the mean did: the case passed, and its trials did not count as one that seldom passes.
#[test]
fn a_run_of_a_case_whose_trials_decide_by_their_mean_counts_once() {
    let of = |id: &str, outcome| {
        let mut run = run_named(id, &[("a", 1, 3)]);
        let record = &mut run.suites[0].cases[0].record;
        (record.kind, record.rule, record.threshold, record.outcome) =
            (SuiteKind::Capability, Rule::Mean, 0.3, outcome);
        run
    };
    let first = accepted(&of("first", Status::Passed), None, &[]).baseline;
    assert_eq!((trials(&first), first.cases[0].outcomes.as_str()), (vec![("a", 1, 1)], "PFF"));
    let second = accepted(&of("second", Status::Passed), Some(&first), &[]);
    assert_eq!(trials(&second.baseline), [("a", 2, 2)], "{second}");
    let third = accepted(&of("third", Status::Failed), Some(&second.baseline), &[]);
    assert!(third.to_string().contains("updated    a @ default  2/2, now 0/1, together 2/3\n"), "{third}");
    let compared = Comparison::with_baselines(&[second.baseline], &of("third", Status::Failed), &CompareOptions::new());
    let change = &compared.suites[0].changes[0];
    assert_eq!((change.kind, change.base, change.run), (ChangeKind::Changed, (2, 2), (0, 1)), "{compared}");
}

/// Of three runs of a commit, all of which failed, one counted.
#[test]
fn runs_of_such_a_case_that_are_counted_together_count_once_each() {
    let by_mean = |id: &str, cases: &[(&str, u32, u32)]| {
        let mut run = run_named(id, cases);
        for case in &mut run.suites[0].cases {
            (case.record.rule, case.record.run_id) = (Rule::Mean, id.to_owned());
        }
        run
    };
    let good = NAMES.map(|id| (id, 3, 3));
    let accept_next = |before: Option<Baseline>, run: usize| {
        Some(accepted(&by_mean(&format!("good-{run}"), &good), before.as_ref(), &[]).baseline)
    };
    let baseline = (0..5).fold(None, accept_next).unwrap();
    assert_eq!(trials(&baseline)[0], ("a", 5, 5));
    let bad = [&[("a", 0, 3)], &good[1..]].concat();
    let of_runs = |ids: &[&str]| {
        let run = pooled(ids.iter().map(|id| by_mean(id, &bad)).collect());
        Comparison::with_baselines(std::slice::from_ref(&baseline), &run, &CompareOptions::new()).suites.remove(0)
    };
    let (one, three) = (of_runs(&["one"]), of_runs(&["one", "two", "three"]));
    assert_eq!((one.changes[0].kind, one.changes[0].run), (ChangeKind::Changed, (0, 1)), "{one}");
    assert_eq!((three.changes[0].kind, three.changes[0].run), (ChangeKind::Regressed, (0, 3)), "{three}");
}

/// Runs were added to trials: a case that had passed in 9 of 10 trials passed "in 10 of 11".
#[test]
fn a_case_counts_anew_after_its_trials_decide_it_in_another_way() {
    let of = |id: &str, rule, correlated| {
        let mut run = run_named(id, &[("a", 2, 3)]);
        let record = &mut run.suites[0].cases[0].record;
        (record.kind, record.rule, record.correlated, record.threshold) =
            (SuiteKind::Capability, rule, correlated, 0.5);
        run
    };
    let one_by_one = accepted(&of("first", Rule::Any, false), None, &[]).baseline;
    let text = one_by_one.to_text();
    assert!(!text.contains("counts_runs") && Baseline::parse(&text).unwrap() == one_by_one, "{text}");
    let every = accepted(&of("every", Rule::Every, false), Some(&one_by_one), &[]);
    assert_eq!((trials(&every.baseline), decisions(&every)), (vec![("a", 4, 6)], vec![("a", Decision::Updated)]));
    for (rule, correlated) in [(Rule::Mean, false), (Rule::ConfidenceInterval, false), (Rule::Any, true)] {
        let switched = of("second", rule, correlated);
        let by_run = accepted(&switched, Some(&one_by_one), &[]);
        let expected = (vec![("a", 1, 1)], vec![("a", Decision::Redefined)]);
        assert_eq!((trials(&by_run.baseline), decisions(&by_run)), expected, "{rule:?}");
        assert_eq!(Baseline::parse(&by_run.baseline.to_text()).unwrap(), by_run.baseline);
        let back = accepted(&of("third", Rule::Any, false), Some(&by_run.baseline), &[]);
        assert_eq!(trials(&back.baseline), [("a", 2, 3)], "{back}");
        let compared = Comparison::with_baselines(std::slice::from_ref(&one_by_one), &switched, &CompareOptions::new());
        assert_eq!(compared.suites[0].changes[0].kind, ChangeKind::Redefined, "{compared}");
        let compared = Comparison::with_baselines(&[by_run.baseline], &switched, &CompareOptions::new());
        assert_eq!(compared.suites[0].changes, [], "{compared}");
    }
}

#[test]
fn a_flaky_case_is_quarantined_until_it_fails_completely() {
    let mut cases = NAMES.map(|id| (id, 10, 10));
    cases[0] = ("a", 7, 10);
    let baseline = accepted(&run(&cases), None, &[]).baseline;
    for (passed, verdict, kind) in [
        (4, ComparisonVerdict::Unchanged, ChangeKind::Quarantined),
        (0, ComparisonVerdict::Regressed, ChangeKind::Regressed),
    ] {
        cases[0] = ("a", passed, 10);
        let of = std::slice::from_ref(&baseline);
        let compared = Comparison::with_baselines(of, &run(&cases), &CompareOptions::new());
        let suite = &compared.suites[0];
        assert_eq!((suite.verdict, suite.changes[0].kind), (verdict, kind), "{suite}");
    }
}

#[test]
fn trials_that_repeat_a_case_are_evidence_for_its_line() {
    let before = accepted(&run(&[("flaky", 2, 3), ("fails", 0, 3), ("passes", 1, 1)]), None, &[]).baseline;
    let mut now = run_named("next", &[("flaky", 1, 1), ("fails", 1, 1), ("passes", 0, 1)]);
    for (case, passes) in now.suites[0].cases.iter_mut().zip([true, true, false]) {
        let mut trial = case.record.trials[0].clone();
        trial.outcome = if passes { Status::Passed } else { Status::Failed };
        case.record.confirming = vec![trial; 2];
        case.record.stops_early = true;
    }
    let after = accepted(&now, Some(&before), &[]);
    assert_eq!(trials(&after.baseline), [("fails", 3, 3), ("flaky", 5, 6), ("passes", 1, 4)], "{after}");
    assert!(after.baseline.cases.iter().all(|line| line.outcomes.len() == 1 && line.stops_early), "{after:?}");
}

#[test]
fn a_baseline_of_an_older_version_is_read() {
    let text = r#"{"schema":"evalsuite.baseline/1","suite":"refunds","commit":null,"date":"2026-11-22","version":"0.1.0"}
{"case":"a","target":"default","passed":5,"trials":5,"score":1.0,"spread":0.0,"input":"input of a","graders":"graders"}
"#;
    let baseline = Baseline::parse(text).unwrap();
    let compared = Comparison::with_baselines(&[baseline], &run(&[("a", 0, 5)]), &CompareOptions::new());
    assert_eq!(compared.verdict(), ComparisonVerdict::Regressed, "{compared}");
}

#[test]
fn a_run_is_equal_to_its_own_baseline_though_its_scores_are_rounded() {
    let run = run(&NAMES.map(|id| (id, 2, 3)));
    let baseline = accepted(&run, None, &[]).baseline;
    assert_eq!(baseline.cases[0].score, Some(0.6667), "a little more than two thirds");
    let comparison = Comparison::with_baselines(&[baseline], &run, &CompareOptions::new());
    let suite = &comparison.suites[0];
    assert_eq!((suite.differing, suite.difference), (0, 0.0), "{comparison}");
    assert!(
        suite.interval.is_some_and(|(lower, upper)| lower < -0.1 && upper > 0.1),
        "nine cases are few: {comparison}"
    );
    assert_eq!(comparison.verdict(), ComparisonVerdict::Unchanged, "{comparison}");
}

/// The same with a trial each, whose answer starts with the text; its outcome is that of the trial.
fn answered(cases: &[(&str, u32, u32)], text: &str) -> RunData {
    // The text is the id of the run, too.
    let made = RunData::read(SyntheticRun::new("run", 60, 1).write(tempfile::tempdir().unwrap().path())).unwrap();
    let trial = made.suites[0].cases[0].trials[0].clone();
    let mut run = run_named(text.split_whitespace().next().unwrap(), cases);
    for case in &mut run.suites[0].cases {
        for (index, summary) in case.record.trials.iter().enumerate() {
            let mut trial = trial.clone();
            trial.record.outcome = summary.outcome;
            trial.record.answer = Some(format!("{text} {index}"));
            case.trials.push(trial);
        }
    }
    run
}

/// Case and answer of each accepted answer.
fn texts(answers: &AcceptedAnswers) -> Vec<(&str, &str)> {
    answers.answers.iter().map(|answer| (answer.case.as_str(), answer.answer.as_str())).collect()
}

#[test]
fn an_answer_is_replaced_only_with_its_line_of_the_baseline() {
    let first = answered(&[("fails", 0, 2), ("gone", 1, 1), ("kept", 3, 3), ("lowered", 4, 4), ("same", 3, 3)], "old");
    let before = accepted(&first, None, &[]);
    let answers = accept_answers(suite(&first), &before, None);
    assert_eq!(texts(&answers), [("gone", "old 0"), ("kept", "old 0"), ("lowered", "old 0"), ("same", "old 0")]);
    let mut next =
        answered(&[("fails", 2, 2), ("kept", 1, 3), ("lowered", 0, 4), ("same", 3, 3), ("more", 1, 1)], "new");
    next.suites[0].cases[1].trials.rotate_right(1);
    let after = accepted(&next, Some(&before.baseline), &[]);
    let replaced = accept_answers(suite(&next), &after, Some(&answers));
    assert_eq!(texts(&replaced), [("fails", "new 0"), ("kept", "old 0"), ("more", "new 0"), ("same", "old 0")]);
    let mut of_other_input = answers.clone();
    of_other_input.answers.iter_mut().for_each(|answer| answer.input = "other".to_owned());
    let replaced = accept_answers(suite(&next), &after, Some(&of_other_input));
    assert_eq!(replaced.find("same", "default").unwrap().answer, "new 0", "it is not the answer to this input");
    let flaky = answered(&[("flaky", 1, 2)], "new");
    let mut failed_first = flaky.clone();
    failed_first.suites[0].cases[0].trials.reverse();
    let found = accept_answers(suite(&failed_first), &accepted(&failed_first, None, &[]), None);
    assert_eq!(texts(&found), [("flaky", "new 0")], "the answer of a trial that failed is not accepted");
    let mut long = answered(&[("long", 2, 2)], "new");
    for expected in [&[("long", "new 1")][..], &[]] {
        let trials = &mut long.suites[0].cases[0].trials;
        trials.iter_mut().find(|trial| !trial.record.answer_truncated).unwrap().record.answer_truncated = true;
        let found = accept_answers(suite(&long), &accepted(&long, None, &[]), None);
        assert_eq!(texts(&found), expected, "the beginning of an answer is another one");
    }
}

#[test]
fn accepted_answers_are_paired_with_those_of_a_run() {
    let first = answered(&[("a", 1, 1), ("b", 1, 1), ("c", 1, 1), ("d", 1, 1), ("fails", 0, 1)], "old");
    let before = accepted(&first, None, &[]);
    let mut answers = accept_answers(suite(&first), &before, None);
    answers.answers.retain(|answer| answer.case != "b");
    answers.answers[1].input = "other".to_owned();
    let mut next = answered(&[("a", 1, 1), ("b", 1, 1), ("c", 1, 1), ("d", 1, 1), ("fails", 0, 1)], "new");
    next.suites[0].cases[3].record.grader_digest = "other".to_owned();
    let pairs = answer_pairs_with_accepted(&[before.baseline], &[answers], &next, None, &CompareOptions::new());
    let found: Vec<_> = pairs.iter().map(|pair| (pair.case_id.as_str(), pair.answers[0].as_deref())).collect();
    assert_eq!(
        found,
        [("a", Some("old 0")), ("b", None), ("c", None)],
        "d is defined differently, the last one failed"
    );
    assert!(pairs.iter().all(|pair| pair.answers[1].as_deref() == Some("new 0")));
    let why = pairs[1].why_no_base.as_deref().unwrap();
    assert!(why.contains("`cargo evalsuite accept --answers`"), "{why}");
}

#[test]
fn accepted_answers_are_read_as_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = evalsuite_records::baseline::accepted_answers_file(directory.path(), &SuiteId::new("refunds"));
    assert_ne!(file, evalsuite_records::baseline::baseline_file(directory.path(), &SuiteId::new("refunds")));
    assert_eq!(read_accepted_answers(&file).unwrap(), None);
    let run = answered(&[("a", 1, 1)], "two\nlines");
    let answers = accept_answers(suite(&run), &accepted(&run, None, &[]), None);
    write_accepted_answers(&file, &answers).unwrap();
    assert_eq!(read_accepted_answers(&file).unwrap(), Some(answers));
    std::fs::write(&file, "{}\n").unwrap();
    let error = read_accepted_answers(&file).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: line 1: ", file.display())), "{error}");
    std::fs::File::create(&file).unwrap().set_len((256 << 20) + 1).unwrap();
    let error = read_accepted_answers(&file).unwrap_err().to_string();
    assert!(error.ends_with("it has 268435457 bytes, more than 268435456"), "{error}");
}
