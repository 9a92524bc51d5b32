//! The calls of the test runner that run the chosen tests and no others. A test runner chooses tests by their paths, which tests of other
//! packages and of other test programs may have, too.

use std::collections::BTreeSet;
use std::path::Path;

use evalsuite::tooling::SuiteDescription;
use evalsuite_schema::Value;

use super::chosen_tests::SuiteTests;
use super::progress::TestKey;
use crate::arguments::Build;
use crate::platform::cargo_process::{Packages, metadata, packages};
use crate::platform::cli_error::Result;

/// The tests of a call, and what it builds.
pub(super) type ExactCall = (Build, SuiteTests);

/// One call, unless it would run a test that was not chosen: then one per package, or per test program.
pub(super) fn exact_calls(build: &Build, chosen: &SuiteTests, suites: &[SuiteDescription]) -> Result<Vec<ExactCall>> {
    let known: BTreeSet<TestKey> = suites.iter().flat_map(tests_of).collect();
    if is_exact(chosen, &known) {
        return Ok(vec![(build.clone(), chosen.clone())]);
    }
    let workspace = packages(&metadata(Path::new("."))?);
    Ok(calls_of_packages(build, chosen, &known, &workspace))
}

fn calls_of_packages(
    build: &Build,
    chosen: &SuiteTests,
    known: &BTreeSet<TestKey>,
    workspace: &Packages,
) -> Vec<ExactCall> {
    let mut calls = Vec::new();
    for (package, tests) in chosen.by(|test| test.package.clone()) {
        let of_package: BTreeSet<TestKey> = known.iter().filter(|test| test.package == package).cloned().collect();
        let build = Build { workspace: false, packages: vec![package.clone()], ..build.clone() };
        if is_exact(&tests, &of_package) {
            calls.push((build, tests));
            continue;
        }
        let targets = workspace.values().filter(|found| found["name"] == *package);
        let targets: Vec<&Value> =
            targets.flat_map(|found| found["targets"].as_array().into_iter().flatten()).collect();
        let of_programs = tests.by(|test| test.program().to_owned()).into_iter();
        calls.extend(of_programs.map(|(program, tests)| (of_program(&build, &program, &targets), tests)));
    }
    calls
}

/// Whether a call with the paths of the chosen tests runs no other one of the known tests.
fn is_exact(chosen: &SuiteTests, known: &BTreeSet<TestKey>) -> bool {
    let own: BTreeSet<&TestKey> = chosen.keys().collect();
    let paths: BTreeSet<&str> = own.iter().map(|test| test.test.as_str()).collect();
    known.iter().all(|test| own.contains(test) || !paths.contains(test.test.as_str()))
}

fn tests_of(suite: &SuiteDescription) -> impl Iterator<Item = TestKey> {
    let paths = suite.tests.iter().map(|test| &test.test).chain([&suite.check]);
    paths.map(|path| TestKey::new(&suite.id, path))
}

/// The build of the test program whose crate has this name. It is a test or the library: cargo has no option for a single other one that
/// both test runners have.
fn of_program(build: &Build, program: &str, targets: &[&Value]) -> Build {
    let is_it = |target: &&&Value| target["name"].as_str().is_some_and(|name| name.replace('-', "_") == program);
    let mut build = build.clone();
    for target in targets.iter().filter(is_it) {
        let is_kind = |kind: &str| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|it| it == kind));
        if is_kind("test") {
            (build.lib, build.tests) = (false, target["name"].as_str().map(str::to_owned).into_iter().collect());
        } else if is_kind("lib") {
            (build.lib, build.tests) = (true, Vec::new());
        }
    }
    build
}

#[cfg(test)]
mod tests {
    use evalsuite::tooling::TestDescription;
    use evalsuite_records::record::SuiteId;
    use evalsuite_schema::json::json;

    use super::*;
    use crate::run::Run;
    use crate::run::chosen_tests::choose_tests;

    fn suite(package: &str, module: &str, cases: &[&str]) -> SuiteDescription {
        let path = module.split_once("::").map_or(module, |(_, path)| path);
        let tests = cases.iter().map(|id| TestDescription {
            test: format!("{path}::{id}"),
            case_id: (*id).to_owned(),
            ..TestDescription::default()
        });
        let mut id = SuiteId::new("shop");
        (id.package, id.module) = (package.to_owned(), module.to_owned());
        SuiteDescription {
            suite: format!("{package}/shop"),
            check: format!("{path}::suite_check"),
            id,
            tests: tests.collect(),
            ..SuiteDescription::default()
        }
    }

    /// What is built and run if these are the chosen cases of the suites.
    fn calls(suites: &[SuiteDescription], chosen: &[&[&str]]) -> Vec<String> {
        let mut of_results = suites.to_vec();
        for (suite, chosen) in of_results.iter_mut().zip(chosen) {
            suite.tests.retain(|test| chosen.contains(&test.case_id.as_str()));
        }
        let chosen = choose_tests(&Run::default(), &of_results).expect("tests are chosen");
        let known: BTreeSet<TestKey> = suites.iter().flat_map(tests_of).collect();
        let build = Build { workspace: true, ..Build::default() };
        let targets = json!([{"name": "a", "kind": ["lib"]}, {"name": "eval-s", "kind": ["test"]}, {"name": "other", "kind": ["test"]}]);
        let workspace = Packages::from([("a".into(), json!({"name": "a", "targets": targets}))]);
        let calls = match is_exact(&chosen, &known) {
            true => vec![(build, chosen)],
            false => calls_of_packages(&build, &chosen, &known, &workspace),
        };
        let shown = |(build, tests): &ExactCall| {
            let what = if build.workspace { "workspace".to_owned() } else { build.packages.join(" ") };
            let programs = if build.lib { "lib".to_owned() } else { build.tests.join(" ") };
            format!("{what} {programs}: {}", tests.tests().join(" "))
        };
        calls.iter().map(shown).collect()
    }

    #[test]
    fn a_test_of_another_package_with_the_same_path_does_not_run() {
        let suites = [suite("a", "evals::shop", &["x", "y"]), suite("b", "evals::shop", &["x", "y"])];
        assert_eq!(
            calls(&suites, &[&["x"], &["y"]]),
            ["a : shop::suite_check shop::x", "b : shop::suite_check shop::y"]
        );
        assert_eq!(calls(&suites, &[&["x"], &[]]), ["a : shop::suite_check shop::x"]);
        assert_eq!(calls(&suites, &[&["x", "y"], &["x", "y"]]), ["workspace : shop::suite_check shop::x shop::y"]);
        let others = [suite("a", "evals::shop", &["x"]), suite("b", "evals::card", &["x"])];
        assert_eq!(calls(&others, &[&["x"], &[]]), ["workspace : shop::suite_check shop::x"]);
    }

    #[test]
    fn a_test_of_another_program_with_the_same_path_does_not_run() {
        let suites = [
            suite("a", "eval_s::shop", &["x", "y"]),
            suite("a", "other::shop", &["x", "y"]),
            suite("a", "a::shop", &["x", "y"]),
        ];
        assert_eq!(
            calls(&suites, &[&["x"], &["y"], &["y"]]),
            [
                "a lib: shop::suite_check shop::y",
                "a eval-s: shop::suite_check shop::x",
                "a other: shop::suite_check shop::y"
            ]
        );
    }
}
