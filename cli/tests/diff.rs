//! `cargo evalsuite diff`, run as a program.

mod package;

use std::time::{Duration, SystemTime};

use evalsuite_tests::synthetic_run::SyntheticRun;
use package::Package;

/// Writes a run that began some minutes ago.
fn write_run(package: &Package, id: &str, skill: f64, minutes: u64) {
    let mut run = SyntheticRun::new(id, 60, 2);
    run.skill = skill;
    let directory = run.write(&package.root().join("out"));
    let lock = directory.join("locks/run.lock");
    std::fs::write(&lock, "").expect("a lock file");
    let time = SystemTime::now() - Duration::from_secs(60 * minutes);
    std::fs::File::options().write(true).open(&lock).and_then(|file| file.set_modified(time)).expect("a time");
    std::fs::write(package.root().join("out/latest"), id).expect("the newest run");
}

#[test]
fn the_newest_run_is_compared_with_the_one_before() {
    let package = Package::new(&[]);
    write_run(&package, "a-run", 0.2, 30);
    write_run(&package, "b-good", 0.95, 20);
    write_run(&package, "c-badly", 0.3, 10);
    let output = package.run_in_output(&["diff"]);
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    assert!(output.out.starts_with("c-badly compared with b-good\n"), "{}", output.out);
    assert!(output.out.contains("\nrefunds @ default: regressed\n  passed   "), "{}", output.out);
    let output = package.run_in_output(&["diff", "b-good", "b-good"]);
    assert_eq!(output.code, 4, "the targets with few cases are undecided:\n{}", output.out);
    assert!(output.out.contains("\nrefunds @ default: no evidence of a change\n"), "{}", output.out);
}

#[test]
fn a_run_that_does_not_exist_is_named() {
    let package = Package::new(&[]);
    write_run(&package, "a-run", 0.9, 1);
    let output = package.run_in_output(&["diff", "nothing"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.starts_with("error: there is no run `nothing` in "), "{}", output.err);
    let output = package.run_in_output(&["diff"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.err, "error: no earlier run has cases in common with `a-run`\n");
}
