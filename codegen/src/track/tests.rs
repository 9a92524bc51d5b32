//! Tests of the instructions for tracked directories.

use std::path::Path;

use super::Tracker;
use crate::fixture::Fixture;

fn fixture() -> Fixture {
    let fixture = Fixture::new(&[]);
    std::fs::create_dir(fixture.path("suites/empty")).expect("a folder");
    fixture
}

fn lines(fixture: &Fixture, directory: impl AsRef<Path>) -> Vec<String> {
    Tracker::new(directory.as_ref()).instructions(&fixture.package).lines().to_vec()
}

#[test]
fn a_tracked_directory_is_watched_and_named_to_the_macro() {
    let fixture = fixture();
    let lines = lines(&fixture, "suites");
    assert_eq!(lines[0], "cargo::rerun-if-changed=suites");
    assert!(lines[1].starts_with("cargo::rustc-env=EVALSUITE_TRACKED_"), "{lines:?}");
    assert!(lines[1].ends_with(&format!("={}", fixture.package.root.join("suites").display())), "{lines:?}");
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn each_directory_gets_a_variable_of_its_own() {
    let fixture = fixture();
    let variable = |lines: Vec<String>| lines[1].split('=').nth(1).map(str::to_owned);
    assert_ne!(variable(lines(&fixture, "suites")), variable(lines(&fixture, "suites/empty")));
}

#[test]
fn a_directory_that_would_make_every_build_a_full_one_is_refused() {
    let fixture = fixture();
    let table = [
        ("missing", "cannot track `missing`: it does not exist"),
        (".", "cannot track `.`: this is the whole package"),
        ("suites/..", "cannot track `suites/..`: this is the whole package"),
        ("..", "cannot track `..`: it contains cargo's target directory"),
        ("target", "cannot track `target`: it contains cargo's target directory"),
        ("a\nb", "cannot track `a"),
    ];
    for (directory, start) in table {
        let lines = lines(&fixture, directory);
        let error = lines[0].strip_prefix("cargo::error=").expect("an error");
        assert!(error.starts_with(start), "for {directory:?}: {lines:?}");
        assert!(lines.iter().all(|line| line.starts_with("cargo::error=")), "for {directory:?}: {lines:?}");
    }
}

#[test]
fn an_unknown_name_in_allow_is_an_error() {
    let fixture = fixture();
    let instructions = Tracker::new("suites").allow(["no-efect"]).instructions(&fixture.package);
    assert!(instructions.lines()[0].contains("unknown diagnostic `no-efect`"), "{:?}", instructions.lines());
}
