//! Features of crates that an agent has only in its tests.

use std::fs;

use evalsuite_tests::throwaway::{Call, Package, suites, workspace};

/// A package whose agent has `regex` without tables of Unicode, and evalsuite with some features.
fn package(name: &str, features: &str) -> Package {
    let package = Package::new(name);
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nregex = {{ version = \"1\", default-features = false, features = [\"std\"] }}\n\n\
         [dev-dependencies]\nevalsuite = {{ path = {:?}, features = [{features}] }}\n",
        workspace().join("runtime"),
    );
    package
        .write("Cargo.toml", &manifest)
        .write("src/lib.rs", "")
        .write("suites/words/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/words/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/words\", agent = none);\n");
    package
}

fn check(package: &Package, arguments: &str) -> String {
    let line = format!("{} evalsuite check {arguments}", assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display());
    let call = Call::program("sh", package).with_cargo().args(["-c", &line]);
    call.in_directory(package.root()).run().succeeds("the suite is valid").stderr.clone()
}

#[test]
fn check_names_the_features_that_tests_add_to_crates_of_the_agent() {
    let same = package("same_features", "");
    same.cargo(["tree"]).run().succeeds("the lock file is up to date");
    assert_eq!(check(&same, ""), "", "the default features add nothing to `regex`");

    let other = package("other_features", "\"unicode-patterns\"");
    other.cargo(["tree"]).run().succeeds("the lock file is up to date");
    let note = check(&other, "");
    let origin = "(from the feature `unicode-patterns` of `evalsuite`)";
    for line in [
        "note: in its tests, `other_features` runs with features of crates that `cargo build` leaves out, and may behave differently:\n",
        "  regex-automata: unicode, unicode-age, unicode-bool, unicode-case, unicode-gencat, 4 more ",
        &format!("  regex-syntax: unicode, unicode-age, unicode-bool, unicode-case, unicode-gencat, 3 more {origin}\n"),
    ] {
        assert!(note.contains(line), "expected {line:?} in\n{note}");
    }
    assert!(!note.contains("memchr"), "features that only add API are not named\n{note}");
    assert_eq!(check(&other, "--format short"), "");

    fs::remove_file(other.root().join("Cargo.lock")).expect("the lock file");
    assert_eq!(check(&other, ""), "", "without a lock file, cargo would have to choose versions");
}
