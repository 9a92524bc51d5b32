//! Commands that measure an agent, on runs in which the test runner repeated failing cases until they passed.

use std::fs;
use std::path::Path;

use evalsuite_records::record::{CaseRecord, DecisionCase, DecisionRecord, DecisionSuite, Status, TrialRecord};
use evalsuite_schema::Value;
use evalsuite_schema::json::{FromJson, from_slice, to_string};
use evalsuite_tests::synthetic_run::SyntheticRun;
use fastrand::Rng;

use crate::baselines::package;
use crate::package::{Output, Package};

/// Attempts at a case: `retries = 3` of nextest.
const ATTEMPTS: u32 = 4;
const CASES: usize = 90;
const NOTE: &str = "repeated by the test runner; of each, the first attempt with a result counts";

fn read<T: FromJson>(file: &Path) -> T {
    from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Makes a run of an agent that passes with this probability. A case that fails runs again, at most so many times in total. Returns in how many
/// cases the first attempt passed, and in how many the last one.
fn write_run(package: &Package, id: &str, rate: f64, attempts: u32, random: &mut Rng) -> [usize; 2] {
    let mut synthetic = SyntheticRun::new(id, CASES, 1);
    synthetic.started_at = format!("2026-11-{:02}T00:00:00.000Z", id.len());
    let run = synthetic.write(&package.root().join("out"));
    let mut passed = [0; 2];
    for suite in fs::read_dir(run.join("suites")).unwrap() {
        let cases = fs::read_dir(suite.unwrap().path().join("cases")).unwrap();
        for case in cases.map(|case| case.unwrap().path()).collect::<Vec<_>>() {
            let key = case.file_name().unwrap().to_str().unwrap().to_owned();
            let [record, trial] = ["case.json", "trial-000/result.json"].map(|file| case.join(file));
            let (record, trial): (CaseRecord, TrialRecord) = (read(&record), read(&trial));
            for attempt in 1..=attempts {
                let (mut record, mut trial) = (record.clone(), trial.clone());
                let passes = random.f64() < rate;
                let (outcome, score) =
                    (if passes { Status::Passed } else { Status::Failed }, f64::from(u8::from(passes)));
                (trial.outcome, trial.score, trial.reason) = (outcome, Some(score), None);
                (record.trials[0].outcome, record.trials[0].score) = (outcome, Some(score));
                (record.outcome, record.score, record.mean, record.reason) = (outcome, Some(score), Some(score), None);
                (record.completed, record.passed, record.errors) = (1, u32::from(passes), 0);
                (record.runner_attempt, trial.runner_attempt) = (attempt, attempt);
                // All cases are of one target, and the same in both runs.
                (record.target, trial.target) = ("default".to_owned(), "default".to_owned());
                let digest = record.input_digest.clone();
                (record.case_digest, record.grader_digest) = (digest.clone(), digest);
                let name = if attempt > 1 { format!("{key}.attempt-{attempt}") } else { key.clone() };
                let directory = case.with_file_name(name);
                fs::create_dir_all(directory.join("trial-000")).unwrap();
                fs::write(directory.join("case.json"), to_string(&record).unwrap()).unwrap();
                fs::write(directory.join("trial-000/result.json"), to_string(&trial).unwrap()).unwrap();
                passed[0] += usize::from(passes && attempt == 1);
                if passes {
                    passed[1] += 1;
                    break;
                }
            }
        }
    }
    package.write("out/latest", id);
    passed
}

fn checked(output: Output, code: i32) -> String {
    assert_eq!((output.code, output.err.as_str()), (code, ""), "{}", output.out);
    output.out
}

#[test]
fn an_agent_is_measured_by_attempts_that_its_failures_did_not_choose() {
    let package = package();
    let mut random = Rng::with_seed(7);
    let [first, last] = write_run(&package, "run-1", 0.5, ATTEMPTS, &mut random);
    let share = |count: usize| count as f64 / CASES as f64;
    assert!((share(first) - 0.5).abs() < 0.1 && (share(last) - 0.94).abs() < 0.06, "{first} {last}");

    // The baseline.
    let accepted = checked(package.run_in_output(&["accept"]), 0);
    assert_eq!(accepted.matches(NOTE).count(), 3, "once for each suite: {accepted}");
    let mut lines: Vec<Value> = Vec::new();
    for file in fs::read_dir(package.root().join(".evalsuite/baselines")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        lines.extend(text.lines().skip(1).map(|line| evalsuite_schema::json::from_str(line).unwrap()));
    }
    let passed: u64 = lines.iter().filter_map(|line| line["passed"].as_u64()).sum();
    assert_eq!((lines.len(), passed), (CASES, first as u64), "one trial of each case");

    // What the run says of itself is its last attempts.
    let finished = package.run_in_output(&["finish", "--partial", "--format", "json"]);
    let finished = package.json("finish", &finished.out);
    let of_suites: u64 = (0..3).filter_map(|suite| finished["suites"][suite]["passed"].as_u64()).sum();
    assert_eq!(of_suites, last as u64);

    // Gates.
    let gate = |limit: f64, code: i32| {
        let gate = format!("pass_rate >= {limit}");
        let text = checked(package.run_in_output(&["gate", "--require", &gate]), code);
        assert!(text.contains(&format!("note: {} cases were {NOTE}", CASES - first)), "{text}");
    };
    gate(share(first), 0);
    gate(share(first) + 0.004, 1);
    let gates = package.run_in_output(&["gate", "--require", "pass_rate >= 90%", "--format", "json"]);
    let gates = package.json("gate", &gates.out);
    assert_eq!(gates["repeated_cases"].as_u64(), Some((CASES - first) as u64));

    // An agent that is the same, of whose cases none was repeated.
    let [plain, _] = write_run(&package, "run-22", 0.5, 1, &mut random);
    let diff = package.run_in_output(&["diff", "run-1", "run-22", "--format", "json"]);
    let comparison = package.json("diff", &diff.out);
    assert_eq!(comparison["repeated_cases"].as_u64(), Some((CASES - first) as u64));
    let sum = |side: &str| (0..3).filter_map(|suite| comparison["suites"][suite][side][0].as_u64()).sum::<u64>();
    assert_eq!([sum("base_passed"), sum("run_passed")], [first as u64, plain as u64], "{comparison}");
    let diff = package.run_in_output(&["diff", "run-1", "run-22"]);
    assert!(diff.out.contains(&format!("\n{} cases were {NOTE}\n", CASES - first)), "{}", diff.out);
    let markdown = package.run_in_output(&["diff", "run-1", "run-22", "--format", "markdown"]);
    assert!(markdown.out.contains(NOTE), "{}", markdown.out);

    // The same where the base is the baseline, and the run has retries.
    let [third, _] = write_run(&package, "run-333", 0.5, ATTEMPTS, &mut random);
    let diff = package.run_in_output(&["diff", "--baseline", "run-333", "--format", "json"]);
    let comparison = package.json("diff", &diff.out);
    let sum = |side: &str| (0..3).filter_map(|suite| comparison["suites"][suite][side][0].as_u64()).sum::<u64>();
    assert_eq!([sum("base_passed"), sum("run_passed")], [first as u64, third as u64], "{comparison}");

    // Health over these runs.
    let health = package.run_in_output(&["health", "--window", "1", "--format", "json"]);
    let health = package.json("health", &health.out);
    let mature: u64 = (0..3).filter_map(|suite| health["suites"][suite]["mature"].as_u64()).sum();
    assert_eq!((mature, health["repeated_cases"].as_u64()), (third as u64, Some((CASES - third) as u64)), "{health}");
}

#[test]
fn a_run_until_it_is_decided_compares_first_attempts() {
    let package = package();
    let mut random = Rng::with_seed(7);
    write_run(&package, "base", 0.9, 1, &mut random);
    let [first, _] = write_run(&package, "run", 0.4, ATTEMPTS, &mut random);
    // The plan that the command stores, for one suite.
    let mut plan = DecisionRecord::new();
    (plan.base, plan.margin) = ("base".to_owned(), 0.1);
    let mut suite = DecisionSuite::default();
    (suite.suite, suite.target, suite.level) = ("refunds".to_owned(), "default".to_owned(), 0.05);
    (suite.planned, suite.rounds, suite.batches) = (1, 1, 1);
    let root = package.root().join("out/runs/run/suites/refunds-00000000/cases");
    for case in fs::read_dir(root).unwrap().map(|case| case.unwrap().path()) {
        let record: CaseRecord = read(&case.join("case.json"));
        if record.runner_attempt == 1 {
            let mut case = DecisionCase::default();
            case.case_id.clone_from(&record.case_id);
            case.input.clone_from(&record.input_digest);
            case.graders.clone_from(&record.grader_digest);
            case.base = vec![0.9];
            suite.cases.push(case);
        }
    }
    plan.suites = vec![suite];
    package.write("out/runs/run/decision.json", &to_string(&plan).unwrap());
    let diff = package.run_in_output(&["diff", "base", "run", "--format", "json"]);
    let decision = &package.json("diff", &diff.out)["decision"];
    assert_eq!(decision["verdict"], Value::from("regressed"), "{decision}");
    assert_eq!(decision["repeated_cases"].as_u64(), Some((CASES - first) as u64));
}
