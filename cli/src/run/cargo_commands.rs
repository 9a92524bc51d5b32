//! The commands that build and run tests: of which packages, and of the chosen tests alone. A test runner chooses tests by their paths,
//! which tests of other packages and of other test programs may have, too.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use evalsuite::tooling::SuiteDescription;
use evalsuite_schema::Value;

use super::suite_tests::{SuiteTests, TestKey};
use crate::arguments::Build;
use crate::platform::cargo_process::{self, Packages, metadata, packages};
use crate::platform::exit_status::{CliError, Result};
use crate::run::Run;

/// `cargo test` with the options of the build, without arguments for test programs.
pub(crate) fn cargo_test(build: &Build) -> Command {
    let mut cargo = cargo_process::cargo();
    cargo.arg("test");
    add_build_options(&mut cargo, build, "--profile");
    if build.tests.is_empty() && !build.lib {
        // All tests except those in documentation, which contain no cases.
        cargo.arg("--tests");
    }
    cargo
}

/// Which outputs are shown on a terminal although the test runner writes them to a pipe, so that it has to be told to use
/// colors.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Colors {
    pub(super) stdout: bool,
    pub(super) stderr: bool,
}

/// `cargo test` or `cargo nextest run` with the full names of tests.
pub(super) fn run_tests(command: &Run, tests: &[String], colors: Colors) -> Command {
    let (own, of_programs) = match command.arguments.iter().position(|argument| argument == "--") {
        Some(at) => (&command.arguments[..at], &command.arguments[at + 1..]),
        None => (command.arguments.as_slice(), [].as_slice()),
    };
    // A failed case does not end the run.
    let goes_on = |argument: &String| {
        ["--no-fail-fast", "--fail-fast", "--ff"].contains(&argument.as_str()) || argument.starts_with("--max-fail")
    };
    let more = if own.iter().any(goes_on) { None } else { Some("--no-fail-fast") };
    // Trials whose calls are recorded run one at a time: a test that waits for its turn would use up the time limit of the test runner.
    let runs_alone = |arguments: &[String], others: &[&str]| {
        let sets_threads = |argument: &String| others.iter().any(|option| argument.starts_with(option));
        (command.record || command.replay) && !arguments.iter().any(sets_threads)
    };
    let mut cargo;
    if command.nextest {
        cargo = cargo_process::cargo();
        cargo.args(["nextest", "run"]);
        add_build_options(&mut cargo, &command.build, "--cargo-profile");
        cargo.args(more).args(own);
        if runs_alone(own, &["--test-threads", "--jobs", "-j", "--no-capture", "--nocapture"]) {
            cargo.args(["--test-threads", "1"]);
        }
        if command.until_decided && !own.iter().any(|argument| argument.starts_with("--retries")) {
            // A trial that runs again because it failed would count twice.
            cargo.args(["--retries", "0"]);
        }
        for test in tests {
            cargo.args(["-E", &format!("test(={test})")]);
        }
        if !of_programs.is_empty() {
            cargo.arg("--").args(of_programs);
        }
    } else {
        cargo = cargo_test(&command.build);
        cargo.args(more).args(own).args(["--", "--exact"]).args(of_programs);
        if runs_alone(of_programs, &["--test-threads"]) {
            cargo.arg("--test-threads=1");
        }
        if colors.stdout && !of_programs.iter().any(|argument| argument.starts_with("--color")) {
            cargo.arg("--color=always");
        }
        cargo.args(tests);
    }
    if colors.stderr && env::var_os("CARGO_TERM_COLOR").is_none() {
        cargo.env("CARGO_TERM_COLOR", "always");
    }
    cargo
}

fn add_build_options(cargo: &mut Command, build: &Build, profile: &str) {
    for (option, values) in [("--package", &build.packages), ("--features", &build.features), ("--test", &build.tests)]
    {
        for value in values {
            cargo.args([option, value]);
        }
    }
    let flags = [
        ("--workspace", build.workspace),
        ("--all-features", build.all_features),
        ("--no-default-features", build.no_default_features),
        ("--release", build.release),
        ("--lib", build.lib),
    ];
    cargo.args(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag));
    if let Some(name) = &build.profile {
        cargo.args([profile, name]);
    }
}

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

/// Names of the packages that are evalsuite, also under another name.
const EVALSUITE: [&str; 2] = ["evalsuite", "evalsuite-dynamic"];

/// The directories of the packages of a workspace that `cargo test` in `directory` builds.
pub(super) fn tested(workspace: &Packages, build: &Build, directory: &Path) -> Vec<PathBuf> {
    let named = workspace.iter().filter(|(_, package)| build.packages.iter().any(|name| package["name"] == **name));
    let named: Vec<PathBuf> = named.map(|(directory, _)| directory.clone()).collect();
    let around = directory.ancestors().find(|directory| workspace.contains_key(*directory));
    match (around, named.is_empty()) {
        (_, false) => named,
        (Some(package), true) if !build.workspace => vec![package.to_owned()],
        _ => workspace.keys().cloned().collect(),
    }
}

/// A feature of evalsuite, as cargo calls it in the tested packages.
pub(crate) fn evalsuite_feature(build: &Build, feature: &str) -> Result<Vec<String>> {
    let workspace = packages(&metadata(Path::new("."))?);
    let mut features = BTreeSet::new();
    for directory in tested(&workspace, build, &env::current_dir()?) {
        for dependency in workspace[&directory]["dependencies"].as_array().into_iter().flatten() {
            let Some(package) = dependency["name"].as_str().filter(|name| EVALSUITE.contains(name)) else { continue };
            features.insert(format!("{}/{feature}", dependency["rename"].as_str().unwrap_or(package)));
        }
    }
    if features.is_empty() {
        return Err(CliError::with_help("no tested package depends on evalsuite", "`cargo add --dev evalsuite`"));
    }
    Ok(features.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use evalsuite::tooling::TestDescription;
    use evalsuite_records::record::SuiteId;
    use evalsuite_schema::json::json;

    use super::*;
    use crate::run::Run;
    use crate::run::chosen_tests::selected_tests;

    fn line(command: &Command) -> String {
        let words: Vec<&str> = command.get_args().filter_map(|argument| argument.to_str()).collect();
        words.join(" ")
    }

    #[test]
    fn both_runners_build_the_same_tests() {
        let build = Build {
            packages: vec!["shop".into()],
            features: vec!["a,b".into()],
            tests: vec!["evals".into()],
            profile: Some("fast".into()),
            ..Build::default()
        };
        let arguments = ["-j", "2", "--", "--nocapture"].map(str::to_owned).to_vec();
        let mut command = Run { build, arguments, ..Run::default() };
        let chosen = ["x::a".to_owned(), "x::suite_check".to_owned()];
        let built = "--package shop --features a,b --test evals";
        assert_eq!(
            line(&run_tests(&command, &chosen, Colors::default())),
            format!("test {built} --profile fast --no-fail-fast -j 2 -- --exact --nocapture x::a x::suite_check")
        );
        assert_eq!(line(&cargo_test(&command.build)), format!("test {built} --profile fast"));
        let colors = Colors { stdout: true, stderr: true };
        assert!(
            line(&run_tests(&command, &chosen, colors)).ends_with("--nocapture --color=always x::a x::suite_check")
        );
        let own = Run { arguments: ["--", "--color=never"].map(str::to_owned).to_vec(), ..command.clone() };
        assert!(line(&run_tests(&own, &chosen, colors)).ends_with("--exact --color=never x::a x::suite_check"));
        command.nextest = true;
        assert_eq!(
            line(&run_tests(&command, &chosen, Colors::default())),
            format!(
                "nextest run {built} --cargo-profile fast --no-fail-fast -j 2 -E test(=x::a) -E test(=x::suite_check) \
                 -- --nocapture"
            )
        );
        let recorded = Run { record: true, ..command.clone() };
        assert!(line(&run_tests(&recorded, &chosen, Colors::default())).contains(" -j 2 -E"), "the user's threads");
        command.arguments = vec!["--max-fail=3".into()];
        let replayed = Run { replay: true, ..command.clone() };
        let with_nextest = line(&run_tests(&replayed, &chosen, Colors::default()));
        assert!(with_nextest.contains(" --max-fail=3 --test-threads 1 -E"), "{with_nextest}");
        let with_cargo = line(&run_tests(&Run { nextest: false, ..replayed }, &chosen[..1], Colors::default()));
        assert!(with_cargo.ends_with(" -- --exact --test-threads=1 x::a"), "{with_cargo}");
        command.build = Build { workspace: true, release: true, all_features: true, ..Build::default() };
        assert_eq!(
            line(&run_tests(&command, &chosen[..1], Colors::default())),
            "nextest run --workspace --all-features --release --max-fail=3 -E test(=x::a)"
        );
        assert_eq!(line(&cargo_test(&command.build)), "test --workspace --all-features --release --tests");
    }

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
        let chosen = selected_tests(&Run::default(), &of_results).expect("tests are chosen");
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
