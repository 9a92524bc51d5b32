//! `cargo evalsuite lift`, its gate and the files of the guide, run as programs on runs with arms.

use std::fs;
use std::path::Path;

use evalsuite_records::record::{
    Assertion, CaseRecord, GraderRecord, GraderState, RunRecord, Status, SuiteRecord, SuiteRun, SuiteTest, TrialRecord,
    TrialSummary, Usage, Verdict,
};
use evalsuite_schema::json::{ToJson, to_string};
use evalsuite_schema::{Layout, Value};

use crate::package::Package;

/// Writes a run of `cases` evals in two arms. `outcome` says how an eval ended in an arm: whether its two expectations hold; `None` is an
/// error.
fn write_run(output: &Path, reference: &str, cases: usize, outcome: impl Fn(bool, usize) -> Option<[bool; 2]>) {
    let run = output.join("runs/a-run");
    let mut suite = SuiteRecord::new();
    suite.name = "csv".to_owned();
    for number in 0..cases {
        for arm in ["with_skill", reference] {
            let mut case = CaseRecord::new();
            (case.run_id, case.suite, case.layout) = ("a-run".to_owned(), "csv".to_owned(), Layout::Skill);
            (case.case_id, case.target) = (format!("eval-{number}"), arm.to_owned());
            case.case_key = format!("eval-{number}-{arm}-0000");
            case.test_name = format!("csv::{arm}::eval_{number}");
            case.case_digest = format!("{number:064x}");
            case.reference_arm = arm == reference;
            (case.planned, case.runner_attempt) = (1, 1);
            let mut trial = TrialRecord::of_case(&case);
            trial.duration_ms = Some(2000);
            trial.usage = Some(Usage::new(if arm == "with_skill" { 300 } else { 100 }, 0));
            match outcome(arm == "with_skill", number) {
                None => (trial.outcome, case.outcome, case.errors) = (Status::Error, Status::Error, 1),
                Some(holds) => {
                    let passes = holds == [true; 2];
                    trial.outcome = if passes { Status::Passed } else { Status::Failed };
                    trial.score = Some(holds.iter().filter(|holds| **holds).count() as f64 / 2.0);
                    let mut grader = GraderRecord::default();
                    (grader.name, grader.state) = ("expectations".to_owned(), GraderState::Decided);
                    grader.verdict = Some(if passes { Verdict::Pass } else { Verdict::Fail });
                    grader.assertions =
                        vec![Assertion::new("It is right", holds[0]), Assertion::new("It is short", holds[1])];
                    trial.graders = vec![grader];
                    (case.outcome, case.completed, case.passed) = (trial.outcome, 1, u32::from(passes));
                }
            }
            case.trials = vec![TrialSummary::new(&trial, "trial-000/result.json")];
            suite.tests.push(SuiteTest::new("csv", &case.test_name, &case.case_id));
            let directory = run.join("suites/csv/cases").join(&case.case_key);
            write(&directory.join("case.json"), &case);
            write(&directory.join("trial-000/result.json"), &trial);
        }
    }
    write(&run.join("suites/csv/suite.json"), &suite);
    let mut record = RunRecord::new();
    (record.run_id, record.started_at) = ("a-run".to_owned(), "2026-11-22T14:25:50.464Z".to_owned());
    record.suites = vec![SuiteRun::new("csv", "csv", 1)];
    write(&run.join("run.json"), &record);
    fs::write(output.join("latest"), "a-run").unwrap();
}

fn write(path: &Path, record: &dyn ToJson) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, to_string(record).unwrap()).unwrap();
}

fn package(reference: &str, cases: usize, outcome: impl Fn(bool, usize) -> Option<[bool; 2]>) -> Package {
    let package = Package::new(&[]);
    write_run(&package.root().join("out"), reference, cases, outcome);
    package
}

/// The skill makes the answer right; it is short anyway.
fn helps(with_skill: bool, _: usize) -> Option<[bool; 2]> {
    Some([with_skill, true])
}

#[test]
fn a_lift_has_its_interval_its_costs_and_the_expectations_that_say_nothing() {
    let package = package("without_skill", 10, helps);
    let output = package.run_in_output(&["lift"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    let expected = "\
csv: lift of the skill, compared with without_skill: 10 cases in both
  mean       without_skill  with_skill  difference   95 % interval      p
  pass rate           0.00        1.00       +1.00  +0.29 to +1.00  0.001
  score               0.50        1.00       +0.50  +0.01 to +0.70  0.001
  tokens               100         300        +200               –      –
  seconds             2.00        2.00       +0.00               –      –
  10 expectations hold in every trial of both arms, which says nothing about the skill
    eval-0: It is short
";
    assert!(output.out.starts_with(expected), "{}", output.out);
    let output = package.run_in_output(&["lift", "a-run", "--format", "json"]);
    let json = package.json("lift", &output.out);
    let lift = &json["lifts"][0];
    assert_eq!(lift["pass_rate"]["difference"].as_f64(), Some(1.0));
    assert_eq!(lift["reference"], Value::from("without_skill"));
    assert_eq!(lift["always_passed"][9]["text"], Value::from("It is short"));
    // The same numbers as those of a comparison of the two targets.
    let diff = package.run_in_output(&[
        "diff",
        "a-run",
        "a-run",
        "--targets",
        "without_skill",
        "with_skill",
        "--format",
        "json",
    ]);
    let suite = &package.json("diff", &diff.out)["suites"][0];
    for field in ["difference", "interval", "p_value"] {
        assert_eq!(suite[field], lift["score"][field], "{field}");
    }
    let report = package.run_in_output(&["report"]);
    assert!(report.out.contains("\ncsv: lift of the skill, compared with without_skill"), "{}", report.out);
}

/// A cost that lacks some calls counted as known, and nothing said that the tokens of trials are missing.
#[test]
fn what_a_trial_used_is_the_mean_of_those_for_which_it_is_known() {
    let package = package("without_skill", 10, helps);
    for number in 0..10 {
        for (arm, cost) in [("without_skill", 0.25), ("with_skill", 0.5)] {
            let file =
                package.root().join(format!("out/runs/a-run/suites/csv/cases/eval-{number}-{arm}-0000/case.json"));
            let mut record: CaseRecord = evalsuite_schema::json::from_slice(&fs::read(&file).unwrap()).unwrap();
            let trial = &mut record.trials[0];
            (trial.cost_usd, trial.unknown_costs.agent) = (Some(cost), false);
            if arm == "with_skill" && number < 3 {
                (trial.cost_usd, trial.unknown_costs.agent) = (Some(0.01), true);
                (trial.usage, trial.unknown_tokens.agent) = (Some(Usage::new(1, 0)).filter(|_| number > 0), true);
            }
            write(&file, &record);
        }
    }
    let output = package.run_in_output(&["lift"]);
    for line in [
        "  tokens               100         300        +200               –      –\n",
        "  USD               0.2500      0.5000     +0.2500               –      –\n",
        "  the tokens of with_skill are the mean of 7 of 10 trials: those of the others are not known\n",
        "  the cost of with_skill is the mean of 7 of 10 trials: that of the others is not known\n",
    ] {
        assert!(output.out.contains(line), "{line}\n{}", output.out);
    }
    let json = package.json("lift", &package.run_in_output(&["lift", "--format", "json"]).out);
    let arm = &json["lifts"][0]["arms"][1];
    assert_eq!((&arm["trials"], &arm["costed_trials"], &arm["metered_trials"]), (&10.into(), &7.into(), &7.into()));
}

#[test]
fn a_gate_on_the_lift_is_about_the_lower_end_of_its_interval() {
    let gate = |package: &Package, gate: &str| {
        let output = package.run_in_output(&["gate", "--require", gate]);
        (output.code, output.out)
    };
    let package_of_ten = package("without_skill", 10, helps);
    let (code, out) = gate(&package_of_ten, "lift > 0");
    assert_eq!(code, 0, "{out}");
    assert!(out.starts_with("met        lift > 0  0.29"), "{out}");
    assert!(out.contains("difference +1.00, +0.29 to +1.00"), "{out}");
    assert_eq!(gate(&package_of_ten, "lift > 30%").0, 1);
    let (code, out) = gate(&package_of_ten, "target:old_skill lift > 0");
    assert_eq!(code, 4, "no case ran as this target\n{out}");
    let json = package_of_ten.run_in_output(&["gate", "--require", "lift > 0", "--format", "json"]);
    assert_eq!(package_of_ten.json("gate", &json.out)["results"][0]["difference"].as_f64(), Some(1.0));

    let (code, out) = gate(&package("without_skill", 10, |_, number| Some([number % 2 == 0, true])), "lift > 0");
    assert_eq!(code, 1, "a skill without an effect\n{out}");
    let (code, out) = gate(&package("without_skill", 5, helps), "lift > 0");
    assert_eq!(code, 4, "{out}");
    assert!(out.contains("(5 cases have a result as `with_skill` and as `without_skill`; 6 are needed)"), "{out}");
    // Without the skill, the trials that ended in an error may have passed.
    let breaks =
        |with_skill: bool, number: usize| if number < 2 && !with_skill { None } else { helps(with_skill, number) };
    let (code, out) = gate(&package("without_skill", 24, breaks), "lift > 60%");
    assert_eq!(code, 4, "{out}");
    let (code, out) = gate(&package("old_skill", 10, helps), "lift > 0");
    assert_eq!(code, 0, "the only other arm is the one that is compared with\n{out}");
}

#[test]
fn the_files_of_the_guide_are_written_next_to_those_before() {
    let package = package("without_skill", 3, helps);
    for iteration in 1..=2 {
        let output = package.run_in_output(&["report", "--skill-benchmark", "bench"]);
        let file = format!("bench/iteration-{iteration}/benchmark.json");
        assert_eq!((output.code, output.out.trim()), (0, file.as_str()), "{}", output.err);
        let text = fs::read_to_string(package.root().join(&file)).unwrap();
        let benchmark: Value = evalsuite_schema::json::from_str(&text).unwrap();
        assert_eq!(benchmark["run_summary"]["delta"]["pass_rate"].as_f64(), Some(0.5), "{text}");
        let grading =
            package.root().join(format!("bench/iteration-{iteration}/eval-eval-1/without_skill/grading.json"));
        assert!(grading.is_file());
    }
}

#[test]
fn a_run_without_arms_has_no_lift() {
    let package = package("other", 3, helps);
    let output = package.run_in_output(&["lift"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.contains("has no case of target `with_skill` and of `without_skill` or `old_skill`"),
        "{}",
        output.err
    );
    let output = package.run_in_output(&["gate", "--require", "lift > 0"]);
    assert_eq!(output.code, 4, "{}", output.out);
    assert!(!package.run_in_output(&["report"]).out.contains("lift of the skill"));
}
