//! What `cargo publish` would upload.

use std::collections::BTreeSet;
use std::fs;

use evalsuite_needs::slow;
use evalsuite_schema::Value;
use evalsuite_tests::source::workspace_root;
use evalsuite_tests::throwaway::Call;
use serde_json::json;

/// The published crates, each after those it depends on.
const PUBLISHED: [&str; 13] = [
    "evalsuite-derive",
    "evalsuite-schema",
    "evalsuite-loader",
    "evalsuite-codegen",
    "evalsuite-build",
    "evalsuite-macros",
    "evalsuite-records",
    "evalsuite",
    "evalsuite-statistics",
    "evalsuite-report",
    "evalsuite-convert",
    "evalsuite-dynamic",
    "cargo-evalsuite",
];

fn packages_of_workspace() -> Vec<Value> {
    let ran = Call::cargo_in_workspace().args(["metadata", "--no-deps", "--format-version", "1"]).run();
    let metadata: Value =
        evalsuite_schema::json::from_str(&ran.succeeds("cargo knows the workspace").stdout).expect("JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

#[test]
fn the_list_of_published_crates_is_complete() {
    let packages = packages_of_workspace();
    let names: BTreeSet<&str> = packages
        .iter()
        .filter(|package| package["publish"].is_null())
        .filter_map(|package| package["name"].as_str())
        .collect();
    assert_eq!(names, BTreeSet::from(PUBLISHED), "every other crate says `publish = false`");
}

/// Those of `evalsuite` that users ask for.
#[test]
fn the_dynamic_library_has_the_same_features() {
    let packages = packages_of_workspace();
    let features = |name: &str| -> BTreeSet<String> {
        let package = packages.iter().find(|package| package["name"] == *name).expect("a package of this name");
        package["features"].as_object().expect("features").iter().map(|(feature, _)| feature.to_string()).collect()
    };
    let mut of_users = features("evalsuite");
    // Parts of `grader-tests`, and of the command line.
    of_users.retain(|feature| !["calibration", "tooling"].contains(&feature.as_str()));
    assert_eq!(features("evalsuite-dynamic"), of_users);
}

#[test]
fn reports_compile_neither_the_runtime_nor_its_clients() {
    let tree = ["tree", "-p", "evalsuite-report", "--edges", "normal", "--all-features", "--prefix", "none"];
    let ran = Call::cargo_in_workspace().args(tree).run();
    let ran = ran.succeeds("cargo knows the dependencies");
    let names: BTreeSet<&str> = ran.stdout.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains("evalsuite-records"), "expected reports to read run directories: {names:?}");
    for name in ["evalsuite", "evalsuite-loader", "ureq", "tokio"] {
        assert!(!names.contains(name), "expected reports not to depend on {name}: {names:?}");
    }
}

/// Cargo refuses a lock that is outdated, with `--locked`, before any of the examples is built.
#[test]
fn the_lock_of_the_examples_with_libraries_has_the_dependencies_of_our_crates() {
    let lock = fs::read_to_string(workspace_root().join("examples/clients/Cargo.lock")).expect("the lock");
    let mut compared = 0;
    for package in packages_of_workspace() {
        let name = package["name"].as_str().expect("a name");
        let Some(locked) = lock.split("[[package]]").find(|locked| locked.contains(&format!("\nname = \"{name}\"\n")))
        else {
            continue;
        };
        let locked: BTreeSet<&str> =
            locked.lines().filter_map(|line| line.strip_prefix(" \"")?.split(['"', ' ']).next()).collect();
        let dependencies = package["dependencies"].as_array().expect("a list").iter();
        let dependencies = dependencies.filter(|dependency| dependency["kind"] != "dev");
        let names = |optional: bool| -> BTreeSet<&str> {
            let chosen = dependencies.clone().filter(|dependency| optional || dependency["optional"] == false);
            chosen.filter_map(|dependency| dependency["name"].as_str()).collect()
        };
        let (missing, other): (Vec<_>, Vec<_>) =
            (names(false).difference(&locked).copied().collect(), locked.difference(&names(true)).copied().collect());
        assert_eq!(
            (missing, other),
            (vec![], vec![]),
            "missing and other dependencies of {name}; run cargo in examples/clients"
        );
        compared += 1;
    }
    assert!(compared > 5, "expected the examples to depend on our crates");
}

/// A crate that macro and runtime use with different features is compiled once for each, and so is everything that depends on it.
#[test]
fn the_first_build_of_a_suite_compiles_each_crate_once() {
    let tree = ["tree", "--locked", "-p", "evalsuite", "--edges", "normal", "--duplicates", "--depth", "0"];
    let ran = Call::cargo_in_workspace().args(tree).run();
    let ran = ran.succeeds("cargo knows the dependencies");
    assert_eq!(ran.stdout.trim(), "", "expected no crate with two versions or two sets of features");
}

/// `tests/Cargo.toml` enables for macros and build scripts what tests enable for test programs.
#[test]
fn a_build_of_the_workspace_compiles_each_crate_once() {
    let tree = ["tree", "--locked", "--workspace", "--duplicates", "--depth", "0"];
    let ran = Call::cargo_in_workspace().args(tree).run().succeeds("cargo knows the dependencies");
    let mut seen = BTreeSet::new();
    let twice: Vec<&str> = ran.stdout.lines().filter(|line| !line.is_empty() && !seen.insert(*line)).collect();
    assert_eq!(
        twice, [""; 0],
        "expected each crate with one set of features; see `[build-dependencies]` in tests/Cargo.toml"
    );
}

/// `1.89` and `1.89.0` as numbers that can be compared.
fn numbers(version: &str) -> Vec<u64> {
    let mut numbers: Vec<u64> = version.split('.').map(|part| part.parse().expect("a version of Rust")).collect();
    numbers.resize(3, 0);
    numbers
}

#[test]
fn no_dependency_needs_a_newer_rust_than_evalsuite() {
    let versions = Call::cargo_in_workspace().args(["-vV"]).run();
    let versions = versions.succeeds("cargo knows its version");
    let host = versions.stdout.lines().find_map(|line| line.strip_prefix("host: ")).expect("a line with the host");
    // Without a platform, packages of other systems would be downloaded.
    let flags = ["metadata", "--locked", "--format-version", "1", "--filter-platform", host];
    let ran = Call::cargo_in_workspace().args(flags).run();
    let metadata: Value =
        evalsuite_schema::json::from_str(&ran.succeeds("cargo knows the packages").stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let versions: Vec<(&str, &str)> = packages
        .iter()
        .filter_map(|package| Some((package["name"].as_str()?, package["rust_version"].as_str()?)))
        .collect();
    let own = versions.iter().find(|(name, _)| *name == "evalsuite").expect("a `rust-version`").1;
    assert!(versions.len() > 100, "expected most packages to have a `rust-version`: {versions:?}");
    let newer: Vec<_> = versions.iter().filter(|(_, version)| numbers(version) > numbers(own)).collect();
    assert!(newer.is_empty(), "`rust-version` of evalsuite is {own}, and these dependencies need more: {newer:?}");
}

#[test]
fn docs_rs_shows_every_feature_and_says_which_one_an_item_needs() {
    let ran = Call::cargo_in_workspace().args(["metadata", "--no-deps", "--format-version", "1"]).run();
    let metadata: serde_json::Value =
        serde_json::from_str(&ran.succeeds("cargo knows the workspace").stdout).expect("JSON");
    for package in metadata["packages"].as_array().expect("a list of packages") {
        let name = package["name"].as_str().expect("a name");
        if !PUBLISHED.contains(&name) {
            continue;
        }
        let expected = json!({"all-features": true, "rustdoc-args": ["--cfg", "docsrs"]});
        assert_eq!(package["metadata"]["docs"]["rs"], expected, "{name}");
        let library = package["targets"].as_array().into_iter().flatten().find(|target| target["kind"][0] == "lib");
        let has_features = package["features"].as_object().is_some_and(|features| !features.is_empty());
        if let (Some(library), true) = (library, has_features) {
            let source = fs::read_to_string(library["src_path"].as_str().expect("a path")).expect("can be read");
            assert!(
                source.contains("#![cfg_attr(docsrs, feature(doc_cfg))]"),
                "{name} has features that docs do not show"
            );
        }
    }
}

#[slow(builds)]
#[test]
fn every_published_crate_can_be_packaged_with_its_licences_and_its_readme() {
    let flags = ["--no-verify", "--allow-dirty"];
    let packages = PUBLISHED.iter().flat_map(|name| ["-p", name]);
    let ran = Call::cargo_in_workspace().args(["package"]).args(packages).args(flags).run();
    ran.succeeds("the crates can be packaged").is_silent_about("warning");
    for name in PUBLISHED {
        let ran = Call::cargo_in_workspace().args(["package", "--list", "-p", name, "--allow-dirty"]).run();
        let ran = ran.succeeds("cargo lists the files");
        let files: BTreeSet<&str> = ran.stdout.lines().collect();
        for file in ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            assert!(files.contains(file), "expected {name} to contain {file}: {files:?}");
        }
        assert!(files.iter().any(|file| file.starts_with("src/")), "expected {name} to contain sources: {files:?}");
    }
}
