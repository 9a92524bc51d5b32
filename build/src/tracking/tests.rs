//! Tests of the instructions for tracked directories.

use std::path::Path;

#[cfg(unix)]
use evalsuite_schema::discovery::{Tree, directory_links};

use super::track;
use crate::tests::Fixture;

fn fixture() -> Fixture {
    let fixture = Fixture::new(&[]);
    std::fs::create_dir(fixture.path("suites/empty")).expect("a folder");
    fixture
}

fn lines(fixture: &Fixture, directory: impl AsRef<Path>) -> Vec<String> {
    fixture.lines(|package, instructions| track(directory.as_ref(), package, instructions))
}

/// The error that is the only instruction for `suites`.
#[cfg(unix)]
#[track_caller]
fn error(fixture: &Fixture) -> String {
    let lines = lines(fixture, "suites");
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines[0].strip_prefix("cargo::error=cannot track `suites`: ").expect("an error").to_owned()
}

#[cfg(unix)]
fn link(fixture: &Fixture, target: impl AsRef<Path>, path: &str) {
    let path = fixture.path(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::os::unix::fs::symlink(target, path).expect("a link");
}

#[test]
fn a_tracked_directory_is_watched_and_named_to_the_macro() {
    let fixture = fixture();
    let lines = lines(&fixture, "suites");
    assert_eq!(lines[0], "cargo::rerun-if-changed=suites");
    let variable = evalsuite_codegen::cargo_environment::TRACKED;
    assert!(lines[1].starts_with(&format!("cargo::rustc-env={variable}")), "{lines:?}");
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
fn a_missing_directory_is_a_warning_and_nothing_that_makes_every_build_a_full_one() {
    let fixture = fixture();
    for directory in ["missing", "suites/missing", "Cargo.toml/missing"] {
        let lines = lines(&fixture, directory);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let warning = format!("cargo::warning=`{directory}` is not tracked: it does not exist in ");
        assert!(lines[0].starts_with(&warning), "{lines:?}");
    }
}

#[test]
fn a_directory_that_would_make_every_build_a_full_one_is_refused() {
    let fixture = fixture();
    let table = [
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

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused_wherever_they_are() {
    let outside = tempfile::tempdir().expect("a temporary directory");
    let outside = outside.path().canonicalize().expect("a path");
    for path in ["suites/out", "suites/card_agent/tasks/deep/out"] {
        let fixture = fixture();
        link(&fixture, &outside, path);
        let error = error(&fixture);
        let start = format!("{} is a link to {}: ", fixture.path(path).display(), outside.display());
        assert!(error.starts_with(&start) && error.contains("outside of the package"), "{error}");
    }
    let fixture = fixture();
    link(&fixture, "../shared", "suites/shared");
    link(&fixture, &outside, "shared/out");
    let error = error(&fixture);
    assert!(error.contains("suites/shared/out is a link to "), "a link behind a link: {error}");
}

#[cfg(unix)]
#[test]
fn links_to_the_package_and_to_the_target_directory_are_refused() {
    let table = [
        ("/", "it contains cargo's target directory"),
        ("../..", "this is the whole package"),
        ("../../target/debug", "it contains cargo's target directory"),
    ];
    for (target, reason) in table {
        let fixture = fixture();
        link(&fixture, target, "suites/card_agent/link");
        let error = error(&fixture);
        assert!(error.contains(reason), "{target}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_double_at_every_level_are_refused() {
    let fixture = fixture();
    for level in 0..20 {
        for name in ["a", "b"] {
            link(&fixture, format!("../l{}", level + 1), &format!("suites/l{level}/{name}"));
        }
    }
    std::fs::create_dir_all(fixture.path("suites/l20")).expect("a folder");
    let error = error(&fixture);
    assert!(error.contains("more than 1,000 links to directories"), "{error}");
}

/// The loader refuses the same links, with the rules of another crate: this one has no dependencies.
#[cfg(unix)]
#[test]
fn the_loader_refuses_the_links_that_are_not_tracked() {
    for (target, path, is_refused) in [
        ("/", "suites/card_agent/out", true),
        ("/tmp", "suites/card_agent/tasks/deep/out", true),
        ("../..", "suites/card_agent/package", true),
        ("../../target", "suites/card_agent/target", true),
        ("../../shared", "suites/card_agent/shared", false),
        ("..", "suites/card_agent/loop", false),
        ("/etc/passwd", "suites/card_agent/file", false),
    ] {
        let fixture = fixture();
        std::fs::create_dir_all(fixture.path("shared")).expect("a folder");
        link(&fixture, target, path);
        let root = &fixture.package.root;
        let suites = fixture.path("suites");
        let found = directory_links(&suites, &Tree::read(&suites), root, &fixture.path("target"));
        assert_eq!(!found.is_empty(), is_refused, "{path} -> {target}: {found:?}");
        assert_eq!(lines(&fixture, "suites")[0].starts_with("cargo::error="), is_refused, "{path} -> {target}");
    }
}

#[cfg(unix)]
#[test]
fn links_inside_of_the_package_to_files_and_to_nothing_are_tracked() {
    let fixture = fixture();
    link(&fixture, "../shared", "suites/shared");
    link(&fixture, "..", "suites/card_agent/loop");
    link(&fixture, "../suites", "shared/back");
    link(&fixture, "/etc/passwd", "suites/file");
    link(&fixture, "/nowhere", "suites/broken");
    let lines = lines(&fixture, "suites");
    assert!(lines.len() == 2 && lines[0] == "cargo::rerun-if-changed=suites", "{lines:?}");
}
