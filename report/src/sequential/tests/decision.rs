//! What records decide: which trials are compared, which looks follow, and what an earlier run adds.

use evalsuite_records::record::{CaseRecord, DecisionRecord, Status, TrialSummary};
use evalsuite_records::run_directory::CaseDirectoryName;

use crate::comparison::{CompareOptions, Comparison, pooled};
use crate::run_data::{CaseData, RunData, SuiteData};
use crate::sequential::{ChosenCase, DecisionOptions, DecisionVerdict, RunDecision, plan_decision, usual_trials};

/// A run in which each case has these trials: `P`, `F` or `E`.
fn run(id: &str, trials: &[&str]) -> RunData {
    let case = |(index, trials): (usize, &&str)| {
        let mut record = CaseRecord::new();
        (record.suite, record.target) = ("shop".to_owned(), "default".to_owned());
        record.case_id = format!("c{index:02}");
        record.completed = trials.chars().filter(|trial| *trial != 'E').count() as u32;
        record.outcome = if trials.is_empty() { Status::Skipped } else { Status::Passed };
        record.trials = trials.chars().map(trial).collect();
        let name = CaseDirectoryName::parse(&record.case_id);
        CaseData {
            name,
            directory: Default::default(),
            record,
            trials: Vec::new(),
            other_attempts: Vec::new(),
            of_runs: Vec::new(),
        }
    };
    let cases = trials.iter().enumerate().map(case).collect();
    let suites = vec![SuiteData { name: "shop".to_owned(), cases, ..SuiteData::default() }];
    RunData { run_id: id.to_owned(), suites, ..RunData::default() }
}

fn trial(outcome: char) -> TrialSummary {
    let mut trial = TrialSummary::default();
    (trial.outcome, trial.score) = match outcome {
        'P' => (Status::Passed, Some(1.0)),
        'F' => (Status::Failed, Some(0.0)),
        _ => (Status::Error, None),
    };
    trial
}

fn chosen(count: usize) -> Vec<ChosenCase> {
    (0..count).map(|index| ChosenCase::new("shop", "default", format!("c{index:02}"), 2)).collect()
}

fn plan(base: &RunData) -> DecisionRecord {
    plan_decision(base, "base", &chosen(base.suites[0].cases.len()), &DecisionOptions::new(0.2), None)
}

#[test]
fn the_next_look_needs_the_trials_that_are_missing() {
    let plan = plan(&run("base", &["PPPPPP"; 12]));
    assert_eq!((plan.suites[0].rounds, plan.suites[0].batches), (4, 1), "twice the two planned trials, not all six");
    let next = |trials: &[&str]| RunDecision::with(&plan, &run("run", trials)).suites[0].next.clone();
    let first = next(&[]).expect("there is a first round");
    assert_eq!((first.trials, first.cases.len()), (1, 12));
    let mut trials = ["P"; 12];
    trials[4] = "PP";
    let second = next(&trials).expect("nothing is decided");
    assert_eq!((second.trials, second.cases.len()), (2, 11));
    let decision = RunDecision::with(&plan, &run("run", &trials));
    assert_eq!((decision.trials, decision.verdict), (12, DecisionVerdict::Undecided), "half a round is not looked at");
    let done = RunDecision::with(&plan, &run("run", &["PPPP"; 12]));
    assert_eq!((done.verdict, done.trials, done.left), (DecisionVerdict::WithinMargin, 24, 48), "{done}");
    assert_eq!(done, RunDecision::with(&plan, &run("run", &["PP"; 12])), "trials after the decision do not count");
}

#[test]
fn a_case_that_cannot_be_compared_is_left_out_and_many_decide_nothing() {
    let plan = plan(&run("base", &["PPPP"; 12]));
    let mut trials = ["PPPP"; 12];
    trials[3] = "";
    let one = RunDecision::with(&plan, &run("run", &trials));
    assert_eq!(
        (one.verdict, one.suites[0].left_out.as_slice()),
        (DecisionVerdict::WithinMargin, &["c03".to_owned()][..])
    );
    trials[5] = "";
    assert_eq!(RunDecision::with(&plan, &run("run", &trials)).verdict, DecisionVerdict::Undecided);
    let errors = RunDecision::with(&plan, &run("run", &["EEEE"; 12]));
    assert_eq!((errors.verdict, errors.trials), (DecisionVerdict::Undecided, 12), "errors do not go on for ever");
}

#[test]
fn a_rerun_counts_what_came_before_and_uses_no_trial_of_the_base_twice() {
    let base = run("base", &["PFPFPP"; 12]);
    let options = DecisionOptions::new(0.02);
    let first_plan = plan_decision(&base, "base", &chosen(12), &options, None);
    let mut first_run = run("first", &["PFPF"; 12]);
    let first = RunDecision::with(&first_plan, &first_run);
    let again = plan_decision(&base, "base", &chosen(12), &options, Some((&first_plan, &first)));
    assert_eq!((again.continues.as_slice(), again.suites[0].used), (&["first".to_owned()][..], first.suites[0].used));
    assert_eq!(Some(again.suites[0].before), first.suites[0].log_e_values);
    assert_eq!(again.suites[0].cases[0].base, [1.0, 1.0], "four of six are used");
    let changed = run("base", &["PFPFPF"; 12]);
    let other = plan_decision(&changed, "base", &chosen(12), &options, Some((&first_plan, &first)));
    assert!(other.continues.is_empty() && other.suites[0].used == 0, "another base has other trials");
    first_run.suites[0].cases.clear();
    assert!(RunDecision::of(&first_run).is_none(), "without a plan there is no decision");
}

#[test]
fn of_a_base_whose_trials_end_early_only_the_first_one_counts() {
    let mut base = run("base", &["PPP"; 12]);
    base.suites[0].cases.iter_mut().for_each(|case| case.record.stops_early = true);
    let plan = plan(&base);
    assert_eq!((plan.suites[0].rounds, plan.suites[0].cases[0].base.len()), (1, 1));
    assert!(usual_trials(&plan.suites[0], 0.2) > 12, "one trial each is too few");
}

/// The trials of the other runs of a commit were compared with the first ones of the base, in place of those that the run had compared.
#[test]
fn a_run_decides_by_its_own_trials_also_where_others_are_counted_with_it() {
    let named = |id: &str, trials: &[&str]| {
        let mut run = run(id, trials);
        run.suites[0].cases.iter_mut().for_each(|case| case.record.run_id = id.to_owned());
        run
    };
    let mut decided = named("decided", &["FFFF"; 12]);
    let plan = plan(&run("base", &["PPPPPP"; 12]));
    decided.decision = Some(plan.clone());
    let alone = RunDecision::of(&decided).expect("it decides");
    assert_eq!(alone.verdict, DecisionVerdict::Regressed);
    let counted = pooled(vec![named("other", &["PPPP"; 12]), decided]);
    assert_eq!(counted.suites[0].cases[0].record.completed, 8, "both are counted");
    let comparison = Comparison::new(&run("base", &["PPPPPP"; 12]), &counted, &CompareOptions::new());
    assert_eq!(RunDecision::of(&counted), Some(alone.clone()));
    assert_eq!(comparison.decision, Some(alone));
}
