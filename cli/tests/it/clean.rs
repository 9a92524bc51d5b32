//! `cargo evalsuite clean`, run as a program.

use std::fs;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::package::Package;
use evalsuite_schema::json::json;

/// A package with runs; the first one is the oldest.
fn package(runs: &[&str]) -> Package {
    let package = Package::new(&[]);
    let now = SystemTime::now();
    for (age, run) in runs.iter().rev().enumerate() {
        package.write(&format!("out/runs/{run}/suites/s/suite.json"), "{}");
        package.write(&format!("out/runs/{run}/locks/run.lock"), "");
        let lock = File::options().write(true).open(root(&package).join(run).join("locks/run.lock")).unwrap();
        lock.set_modified(now - Duration::from_secs(60 * age as u64)).unwrap();
    }
    package.write("out/latest", runs.last().unwrap());
    package
}

fn root(package: &Package) -> PathBuf {
    package.root().join("out/runs")
}

fn left(package: &Package) -> Vec<String> {
    let mut left: Vec<String> =
        fs::read_dir(root(package)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    left
}

#[test]
fn the_newest_runs_are_kept() {
    // Their ids say nothing about their age.
    let package = package(&["c", "a", "d", "b"]);
    let output = package.run_in_output(&["clean", "--keep", "2"]);
    assert_eq!((output.code, left(&package)), (0, vec!["b".to_owned(), "d".to_owned()]), "{}", output.err);
    assert!(
        output.out.ends_with(&format!("2 of 4 runs removed from {}\n", root(&package).display())),
        "{}",
        output.out
    );
    let latest = || fs::read_to_string(package.root().join("out/latest")).ok();
    assert_eq!(latest().as_deref(), Some("b"));
    fs::write(package.root().join("out/latest"), "gone").unwrap();
    assert_eq!(package.run_in_output(&["clean", "--keep", "1"]).code, 0);
    assert_eq!((left(&package), latest().as_deref()), (vec!["b".to_owned()], Some("b")));
    assert_eq!(package.run_in_output(&["clean", "--keep", "0"]).code, 0);
    assert_eq!((left(&package), latest()), (vec![], None));
}

#[test]
fn a_run_that_is_at_work_is_kept() {
    let package = package(&["old", "new"]);
    let lock = File::options().write(true).open(root(&package).join("old/locks/run.lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(package.run_in_output(&["clean", "--keep", "0"]).code, 0);
    assert_eq!(left(&package), ["old"]);
    assert_eq!(fs::read_to_string(package.root().join("out/latest")).unwrap(), "old");
}

#[cfg(unix)]
#[test]
fn what_an_agent_made_read_only_goes_too() {
    use std::os::unix::fs::PermissionsExt;
    let package = package(&["old", "new"]);
    let directory = root(&package).join("old/suites/s");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(package.run_in_output(&["clean", "--keep", "1"]).code, 0);
    assert_eq!(left(&package), ["new"]);
}

#[test]
fn how_many_to_keep_has_to_be_said() {
    let package = package(&["one"]);
    let output = package.run_in_output(&["clean"]);
    assert_eq!((output.code, left(&package).len()), (2, 1));
    assert!(output.err.contains("--keep"), "{}", output.err);
}

#[test]
fn what_was_removed_is_printed_as_json() {
    let package = package(&["old", "new"]);
    let output = package.run_in_output(&["clean", "--keep", "1", "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let cleaned = package.json("clean", &output.out);
    assert_eq!((&cleaned["removed"], &cleaned["kept"]), (&json!(["old"]), &json!(["new"])), "{cleaned}");
    assert_eq!(cleaned["directory"], root(&package).display().to_string());
}
