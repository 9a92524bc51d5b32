//! `cargo evalsuite accept` and `diff --baseline`, run as a program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use crate::package::Package;
use evalsuite_records::record::{CaseRecord, Status};
use evalsuite_schema::Value;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// The package of the made-up suites.
pub(crate) fn package() -> Package {
    let package = Package::new(&[]);
    package.write(
        "Cargo.toml",
        "[package]\nname = \"support-agent\"\nversion = \"0.4.2\"\nedition = \"2024\"\n[workspace]\n",
    );
    package.write("src/lib.rs", "");
    package
}

/// Writes a run in which every case passed or failed in so many trials.
fn write_run(package: &Package, id: &str, trials: u32, passes: bool) -> PathBuf {
    let directory = SyntheticRun::new(id, 30, trials).write(&package.root().join("out"));
    for file in records(&directory) {
        let mut record: CaseRecord = evalsuite_schema::json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let outcome = if passes { Status::Passed } else { Status::Failed };
        let score = f64::from(u8::from(passes));
        record.trials.iter_mut().for_each(|trial| (trial.outcome, trial.score) = (outcome, Some(score)));
        let count = u32::try_from(record.trials.len()).unwrap();
        (record.outcome, record.completed, record.errors) = (outcome, count, 0);
        (record.passed, record.mean) = (if passes { count } else { 0 }, Some(score));
        fs::write(&file, serde_json::to_vec(&record).unwrap()).unwrap();
    }
    package.write("out/latest", id);
    directory
}

/// The records of all cases.
fn records(run: &Path) -> Vec<PathBuf> {
    let below = |path: &Path| -> Vec<PathBuf> {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
    };
    let suites = below(&run.join("suites"));
    suites.iter().flat_map(|suite| below(&suite.join("cases"))).map(|case| case.join("case.json")).collect()
}

fn baselines(package: &Package) -> Vec<(PathBuf, String)> {
    let mut files: Vec<PathBuf> = fs::read_dir(package.root().join(".evalsuite/baselines"))
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn a_baseline_per_suite_survives_a_noisy_run() {
    let package = package();
    write_run(&package, "good", 3, true);
    let output = package.run_in_output(&["accept"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    let written = baselines(&package);
    let names: Vec<String> =
        written.iter().map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names[0].starts_with("refunds-") && names[0].ends_with(".jsonl"), "{names:?}");
    assert!(output.out.contains("refunds: 10 added\n"), "{}", output.out);

    write_run(&package, "noisy", 1, false);
    let output = package.run_in_output(&["accept"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("refunds: 10 updated\n"), "{}", output.out);
    assert!(output.out.contains("refund-after-window @ default  3/3, now 0/1, together 3/4\n"), "{}", output.out);
    assert!(
        output.out.contains("  this run has regressed: its mean score is 1.000 below the one that it replaces\n"),
        "{}",
        output.out
    );
    let noisy = baselines(&package);
    assert!(noisy[0].1.contains("\"passed\":3,\"trials\":4,\"score\":0.0"), "its trials still passed: {}", noisy[0].1);
    let output = package.run_in_output(&["accept"]);
    assert!(output.out.contains("refunds: 10 unchanged\n"), "a run counts once: {}", output.out);
    assert_eq!(baselines(&package), noisy);

    let output = package.run_in_output(&["accept", "--force", "refund-after-window"]);
    assert!(
        output
            .out
            .contains("refunds: 1 lowered, 9 unchanged\n  lowered    refund-after-window @ default  3/4, now 0/1\n"),
        "{}",
        output.out
    );
    let changed: Vec<_> = baselines(&package).into_iter().zip(&noisy).filter(|(now, then)| now != *then).collect();
    assert_eq!(changed.len(), 1, "the other suites are as they were");
}

/// An earlier run that is accepted again replaces no scores, and was said to be below those that it replaces.
#[test]
fn a_run_that_replaces_nothing_is_not_below_what_it_replaces() {
    let package = package();
    for (id, passes) in [("good", true), ("bad", false), ("better", true)] {
        write_run(&package, id, 1, passes);
        let output = package.run_in_output(&["accept", id]);
        assert_eq!(output.out.contains("this run has regressed"), id == "bad", "{id}: {}", output.out);
    }
    let output = package.run_in_output(&["accept", "bad"]);
    assert!(output.out.contains("refunds: 10 unchanged\n"), "{}", output.out);
    assert!(!output.out.contains("this run has regressed"), "{}", output.out);
}

#[test]
fn a_run_is_compared_with_what_was_accepted() {
    let package = package();
    write_run(&package, "good", 3, true);
    let output = package.run_in_output(&["diff", "--baseline"]);
    assert_eq!(output.code, 2, "{}", output.out);
    assert_eq!(output.err, "error: no suite of the run has a baseline; `cargo evalsuite accept` creates one\n");
    assert_eq!(package.run_in_output(&["accept"]).code, 0);
    let output = package.run_in_output(&["diff", "--baseline"]);
    assert_eq!(output.code, 0, "equal results are the same, however few:\n{}{}", output.out, output.err);
    assert!(output.out.starts_with("good compared with the baseline\n"), "{}", output.out);
    assert!(output.out.contains("\nrefunds @ default: same\n"), "{}", output.out);
    write_run(&package, "badly", 3, false);
    let output = package.run_in_output(&["diff", "--baseline"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(
        output.out.contains("  regressed           refund-after-window  3/3 -> 0/3  1.00 -> 0.00"),
        "{}",
        output.out
    );
    assert_eq!(package.run_in_output(&["diff", "good", "--baseline"]).code, 0, "the run may be named");
}

#[test]
fn what_cannot_be_accepted_is_an_error() {
    let package = package();
    assert_eq!(package.run_in_output(&["accept"]).code, 2, "there is no run");
    let run = write_run(&package, "good", 1, true);
    let output = package.run_in_output(&["accept", "--force", "no-such-case"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.err, "error: run `good` has no case `no-such-case`: --force needs the id of a case\n");
    let output = package.run_in_output(&["accept", "--force", "refund-after-windw"]);
    assert!(output.err.contains("case\n  = help: did you mean `refund-after-window`"), "{}", output.err);
    let out = package.root().join("out").display().to_string();
    let output = package.run_with(&["accept"], &[("EVALSUITE_OUTPUT", &out), ("EVALSUITE_CONFIRM", "ten")]);
    assert_eq!((output.code, baselines(&package).len()), (2, 0), "{}", output.err);
    assert!(output.err.contains("EVALSUITE_CONFIRM is `ten`"), "{}", output.err);
    assert_eq!(package.run_in_output(&["accept"]).code, 0);
    let (file, text) = baselines(&package).remove(0);
    fs::write(&file, format!("{text}<<<<<<< ours\n")).unwrap();
    let output = package.run_in_output(&["accept"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains(".jsonl: line 12: a merge left a conflict here: keep"), "{}", output.err);
    fs::write(&file, text).unwrap();
    package.write("Cargo.toml", "[package]\nname = \"other\"\nversion = \"0.4.2\"\nedition = \"2024\"\n[workspace]\n");
    let output = package.run_in_output(&["accept"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.err, "error: package `support-agent` of suite `refunds` is not in this workspace\n");
    fs::remove_dir_all(run.join("suites")).unwrap();
    let output = package.run_in_output(&["accept"]);
    assert_eq!((output.code, output.err.as_str()), (2, "error: run `good` has no cases\n"));
}

/// Parts of a run are accepted as they end, or a run goes on after it was accepted.
#[test]
fn a_run_that_has_grown_replaces_what_was_accepted_of_it() {
    let package = package();
    write_run(&package, "before", 3, true);
    assert_eq!(package.run_in_output(&["accept"]).code, 0);
    let results = || -> Vec<([u64; 2], u64)> {
        let lines = baselines(&package);
        let lines = lines.iter().flat_map(|(_, text)| text.lines().skip(1));
        let results = lines.map(|line| {
            let line: Value = evalsuite_schema::json::from_str(line).unwrap();
            let counts = ["passed", "trials"].map(|count| line[count].as_u64().unwrap());
            (counts, line["outcomes"].as_str().unwrap().len() as u64)
        });
        results.collect()
    };
    let before = results();

    // One of ten cases of each suite, each with one trial.
    let run = write_run(&package, "grows", 1, true);
    let suites = fs::read_dir(run.join("suites")).unwrap().map(|suite| suite.unwrap().path());
    for suite in suites {
        let cases = fs::read_dir(suite.join("cases")).unwrap().map(|case| case.unwrap().path());
        cases.skip(1).for_each(|case| fs::remove_dir_all(case).unwrap());
    }
    let output = package.run_in_output(&["accept"]);
    assert!(output.out.contains("refunds: 1 updated, 9 kept\n"), "{}", output.out);
    let partial = baselines(&package);
    let output = package.run_in_output(&["accept"]);
    assert!(output.out.contains("refunds: 9 kept, 1 unchanged\n"), "{}", output.out);
    assert_eq!(baselines(&package), partial, "a run counts once");

    // All cases, each with two trials, one of which is the one that was accepted.
    write_run(&package, "grows", 2, true);
    let output = package.run_in_output(&["accept"]);
    assert!(output.out.contains("refunds: 10 updated\n"), "{}", output.out);
    let whole = results();
    assert!(whole.iter().filter(|(_, trials)| *trials == 2).count() > 25, "{whole:?}");
    for ((before, _), (counts, trials)) in before.iter().zip(&whole) {
        assert_eq!(*counts, before.map(|count| count + trials), "the trials of the first run, and those of this one");
    }
    let whole = baselines(&package);
    package.run_in_output(&["accept"]);
    assert_eq!(baselines(&package), whole, "a run counts once");

    // After another run was accepted, too.
    write_run(&package, "later", 1, true);
    package.run_in_output(&["accept"]);
    let later = baselines(&package);
    let output = package.run_in_output(&["accept", "grows"]);
    assert!(output.out.contains("refunds: 10 unchanged\n") && !output.out.contains("accepted after"), "{}", output.out);
    assert_eq!(baselines(&package), later);
    let before = results();
    write_run(&package, "grows", 4, true);
    let output = package.run_in_output(&["accept", "grows"]);
    assert!(output.out.contains("refunds: 10 updated\n"), "{}", output.out);
    let added: Vec<u64> =
        before.iter().zip(results()).map(|((before, _), (counts, _))| counts[1] - before[1]).collect();
    assert!(
        added.iter().filter(|added| **added == 2).count() > 25 && added.iter().all(|added| *added <= 2),
        "{added:?}"
    );

    // What it had added is not in a file of an older version.
    let (file, text) = baselines(&package).into_iter().find(|(_, text)| text.contains("refund-after-window")).unwrap();
    let lines: Vec<String> = text
        .lines()
        .map(|line| match (line.find(",\"added\":"), line.find("],\"input\"")) {
            (Some(start), Some(end)) => format!("{}{}", &line[..start], &line[end + 1..]),
            _ => line.to_owned(),
        })
        .collect();
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    write_run(&package, "grows", 5, true);
    let output = package.run_in_output(&["accept", "grows"]);
    let why = "refunds: 10 unchanged\n  unchanged  10 cases: run `later` was accepted after this one; the baseline does not record what this one had added, so its results could count twice: `--force CASE` replaces all results of a case with them\n";
    assert!(output.out.contains(why), "{}", output.out);
}

/// Runs grow and are accepted in turns: every trial counts, and counts once.
#[test]
fn many_runs_that_grow_in_turns_are_counted_with_all_their_trials() {
    let package = package();
    let runs = ["a", "b", "c", "d"];
    let mut trials = [0_u32; 4];
    // The trials of each case, by the run that has them.
    let mut ended: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for step in 0..16 {
        let which = (step * 3 + step / 5) % runs.len();
        trials[which] += u32::try_from(step % 2).unwrap() + u32::from(trials[which] == 0);
        for file in records(&write_run(&package, runs[which], trials[which], true)) {
            let record: CaseRecord = evalsuite_schema::json::from_slice(&fs::read(file).unwrap()).unwrap();
            ended.insert((record.case_id.clone(), runs[which]), record.completed.into());
        }
        let output = package.run_in_output(&["accept", runs[which]]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
        assert!(!output.out.contains("--force"), "step {step}: {}", output.out);
        let baselines = baselines(&package);
        let lines = baselines.iter().flat_map(|(_, text)| text.lines().skip(1));
        let lines: Vec<Value> = lines.map(|line| evalsuite_schema::json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 30);
        for line in lines {
            let of_case = ended.iter().filter(|((case, _), _)| line["case"] == **case);
            let sum: u64 = of_case.map(|(_, trials)| trials).sum();
            assert_eq!(
                (line["passed"].as_u64(), line["trials"].as_u64()),
                (Some(sum), Some(sum)),
                "step {step}: {line}"
            );
        }
    }
}

/// Each read the file, added its run, and wrote it: what another one had written between was lost.
#[test]
fn of_runs_that_are_accepted_at_the_same_time_all_are_in_the_baseline() {
    let package = package();
    let runs = ["a", "b", "c", "d", "e", "f"];
    runs.iter().for_each(|run| drop(write_run(&package, run, 2, true)));
    let accepted = thread::scope(|scope| {
        let accepting = runs.map(|run| scope.spawn(|| package.run_in_output(&["accept", run])));
        accepting.map(|accepted| accepted.join().expect("the thread ends"))
    });
    for output in accepted {
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    }
    let (_, text) = baselines(&package).remove(0);
    let lines: Vec<Value> = text.lines().map(|line| evalsuite_schema::json::from_str(line).unwrap()).collect();
    let mut accepted: Vec<&str> = lines[0]["runs"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    accepted.sort_unstable();
    assert_eq!(accepted, runs);
    assert!(lines[1..].iter().all(|line| line["trials"] == 12), "the trials of all runs: {text}");
    // The lock is not in the package, where it would be committed.
    let stored = fs::read_dir(package.root().join(".evalsuite")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(stored.collect::<Vec<_>>(), ["baselines"]);
}

#[test]
fn a_cargo_that_cannot_be_run_is_named() {
    let package = package();
    write_run(&package, "good", 3, true);
    let ran = package.run_with(&["accept"], &[("CARGO", "no-such-cargo"), ("EVALSUITE_OUTPUT", "out")]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.starts_with("error: cannot run `no-such-cargo`: "), "{}", ran.err);
}
