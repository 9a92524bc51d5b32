//! Suites of the same name: in two packages, in two directories of one package, and included several times.

use std::fs;
use std::path::PathBuf;

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, files_below, suites};
use serde_json::Value;

/// An agent of which the variable `BROKEN` says in which packages, in which cases of packages, or with which names it gives no answer.
const LIB: &str = r#"
pub fn named(name: &str, trial: &evalsuite::Trial<'_>) -> String {
    let broken = std::env::var("BROKEN").unwrap_or_default();
    let case = format!("{name}:{}", trial.case_id());
    if broken.split(' ').any(|word| word == name || word == case) { String::new() } else { trial.prompt().to_owned() }
}

pub fn echo(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok(named(env!("CARGO_PKG_NAME").rsplit('_').next().unwrap_or_default(), trial))
}

pub fn fast(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok(named("fast", trial))
}

pub fn slow(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok(named("slow", trial))
}
"#;

const CASES: usize = 9;

fn evalsuite(package: &Package, arguments: &[&str]) -> CommandOutput {
    let call = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), package);
    call.args(["evalsuite"]).args(arguments.iter().copied()).with_cargo().run()
}

fn add_suite(package: &Package, directory: &str) {
    package.write(&format!("{directory}/EVAL.yaml"), &format!("{}gates: [pass_rate >= 50%]\n", suites::EVAL_YAML));
    for number in 0..CASES {
        package.write(&format!("{directory}/cases/case-{number}/case.yaml"), &suites::case("hello", "hello"));
    }
}

/// A workspace with the packages `a` and `b`, each with a suite `shop`.
fn workspace(name: &str) -> Package {
    let package = Package::workspace(name, &["a", "b"]);
    for member in ["a", "b"] {
        let at = |path: &str| format!("{member}/{path}");
        let crate_name = format!("{}_{member}", package.name());
        package.write(&at("Cargo.toml"), &Package::manifest(&crate_name)).write(&at("src/lib.rs"), LIB).write(
            &at("tests/evals.rs"),
            &format!("use {crate_name}::echo;\nevalsuite::include_eval_suite!(\"suites/shop\", agent = echo);\n"),
        );
        add_suite(&package, &at("suites/shop"));
    }
    package
}

fn test(package: &Package, id: &str, broken: &str) -> CommandOutput {
    package
        .cargo(["test", "--workspace", "--no-fail-fast"])
        .env("EVALSUITE_RUN_ID", id)
        .env("EVALSUITE_CONFIRM", "0")
        .env("BROKEN", broken)
        .run()
}

fn json(output: &CommandOutput) -> Value {
    serde_json::from_str(&output.stdout).expect("JSON")
}

fn baselines(package: &Package, member: &str) -> Vec<PathBuf> {
    let directory = package.root().join(member).join(".evalsuite/baselines");
    let mut files: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Verdict by suite of a comparison.
fn verdicts(comparison: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let suites = comparison["suites"].as_array().expect("a list");
    suites.iter().map(|suite| (text(&suite["suite"]), text(&suite["verdict"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, verdict)| ((*name).to_owned(), (*verdict).to_owned())).collect()
}

/// `--exact` of the test runners takes a path, which tests of both packages have.
#[slow(builds)]
#[test]
fn only_the_failed_one_of_two_tests_with_the_same_path_runs_again() {
    let package = workspace("same_paths");
    test(&package, "first", "a:case-1 b:case-2").fails("one case of each package is broken");
    let again = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &package)
        .args(["evalsuite", "run", "--workspace", "--failed"])
        .env("EVALSUITE_RUN_ID", "second")
        .with_cargo()
        .run();
    again.succeeds("both cases pass now");
    let files = files_below(&package.records_directory().join("runs/second/suites"));
    let records = files.iter().filter(|file| file.ends_with("case.json")).map(|file| fs::read(file).expect("a file"));
    let ids = records.map(|text| serde_json::from_slice::<Value>(&text).expect("JSON")["case_id"].to_string());
    let mut ran: Vec<String> = ids.collect();
    ran.sort();
    assert_eq!(ran, ["\"case-1\"", "\"case-2\""], "one case of each package");
}

#[slow(builds)]
#[test]
fn suites_of_two_packages_are_two() {
    let package = workspace("same_names");
    let name = package.name();
    let [a, b] = ["a", "b"].map(|member| format!("{name}_{member}/shop"));
    test(&package, "first", "").succeeds("everything passes");
    let finished = evalsuite(&package, &["finish", "first"]).succeeds("it is summed up");
    finished.says(&format!("{a}: {CASES} passed")).says(&format!("{b}: {CASES} passed"));

    let accepted = evalsuite(&package, &["accept", "first"]).succeeds("both are accepted");
    accepted.says(&format!("{a}: {CASES} added")).says(&format!("{b}: {CASES} added"));
    assert_eq!((baselines(&package, "a").len(), baselines(&package, "b").len()), (1, 1));

    test(&package, "second", "b").fails("the agent of b is broken");
    for arguments in
        [&["diff", "first", "second", "--format", "json"][..], &["diff", "second", "--baseline", "--format", "json"]]
    {
        let compared = json(&evalsuite(&package, arguments).fails("b is worse"));
        assert_eq!(verdicts(&compared), pairs(&[(&a, "same"), (&b, "regressed")]), "{arguments:?}");
    }
    let gated = evalsuite(&package, &["gate", "second"]).fails("b misses its gate");
    gated.says(&format!("suite:{a} pass_rate >= 50%")).says(&format!("suite:{b} pass_rate >= 50%"));
    evalsuite(&package, &["gate", "second", "--require", &format!("suite:{a} pass_rate >= 99%")]).fails("b's own gate");

    evalsuite(&package, &["finish", "second"]).succeeds("it is summed up");
    let summary: Value = serde_json::from_slice(
        &fs::read(package.records_directory().join("runs/second/summary.json")).expect("a file"),
    )
    .expect("JSON");
    let suites = summary["suites"].as_array().expect("a list");
    let rates: Vec<_> = suites
        .iter()
        .map(|suite| (suite["suite"].as_str().expect("a name"), suite["targets"][0]["case_pass_rate"].as_f64()))
        .collect();
    assert_eq!(rates, [(a.as_str(), Some(1.0)), (b.as_str(), Some(0.0))]);
    assert_eq!(suites[0]["id"]["path"], "suites/shop");
    assert_eq!(suites[1]["id"]["package_directory"], "b");

    let listed = json(&evalsuite(&package, &["list", "--runs", "--format", "json"]).succeeds("a list"));
    let rows = listed["runs"][0]["suites"].as_array().expect("a list");
    let rows: Vec<_> =
        rows.iter().map(|row| (row["suite"].as_str().expect("a name"), row["passed"].as_u64())).collect();
    assert_eq!(rows, [(a.as_str(), Some(CASES as u64)), (b.as_str(), Some(0))]);
    let listed = json(&evalsuite(&package, &["list", "--format", "json"]).succeeds("a list"));
    let listed: Vec<_> =
        listed["suites"].as_array().expect("a list").iter().map(|suite| suite["name"].as_str()).collect();
    assert_eq!(listed, [Some(a.as_str()), Some(b.as_str())]);

    let out = package.root();
    for (flag, file) in [("--junit", "junit.xml"), ("--markdown", "report.md")] {
        let path = out.join(file);
        evalsuite(&package, &["report", "second", flag, path.to_str().expect("UTF-8")]).succeeds(flag);
        let text = fs::read_to_string(&path).expect("a file").replace("\\", "");
        assert!(text.contains(&a) && text.contains(&b), "{flag} names both suites");
    }

    // A run of one package has one suite `shop`, which is still that of its package.
    package.cargo(["test", "-p", &format!("{name}_b")]).env("EVALSUITE_RUN_ID", "third").run().succeeds("b is well");
    let compared = json(&evalsuite(&package, &["diff", "second", "third", "--format", "json"]));
    let found = verdicts(&compared);
    assert!(found.contains(&("shop".to_owned(), "improved".to_owned())), "{found:?}");
    assert!(found.iter().any(|(suite, _)| *suite == a), "{found:?}");
    let health = evalsuite(&package, &["health", "shop"]).succeeds("of both suites");
    health.says("shop @ default").says(&format!("{a} @ default"));
}

#[slow(builds)]
#[test]
fn a_suite_that_several_modules_include_has_results_for_each() {
    let package = Package::new("included_for_agents");
    package
        .library(LIB)
        .write("tests/agents.rs", "use included_for_agents::{fast, slow};\nmod one { use super::fast; evalsuite::include_eval_suite!(\"suites/shop\", agent = fast); }\nmod two { use super::slow; evalsuite::include_eval_suite!(\"suites/shop\", agent = slow, name = others); }\n")
        .write("tests/evals.rs", "use included_for_agents::fast;\nevalsuite::include_eval_suite!(\"suites/shop\", agent = fast);\n");
    add_suite(&package, "suites/shop");
    let [fast, slow, other] =
        ["agents::one::shop", "agents::two::others", "evals::shop"].map(|module| format!("shop ({module})"));
    test(&package, "first", "").succeeds("everything passes");
    let accepted = evalsuite(&package, &["accept", "first"]).succeeds("all are accepted");
    for suite in [&fast, &slow, &other] {
        accepted.says(&format!("{suite}: {CASES} added"));
    }
    assert_eq!(baselines(&package, "").len(), 3, "each has a baseline of its own");
    evalsuite(&package, &["accept", "first"]).succeeds("nothing is new").says(&format!("{slow}: {CASES} unchanged"));

    test(&package, "second", "slow").fails("one agent is broken");
    let expected = pairs(&[(&fast, "same"), (&slow, "regressed"), (&other, "same")]);
    for arguments in
        [&["diff", "first", "second", "--format", "json"][..], &["diff", "second", "--baseline", "--format", "json"]]
    {
        let compared = json(&evalsuite(&package, arguments).fails("one is worse"));
        assert_eq!(verdicts(&compared), expected, "{arguments:?}");
    }
    let finished = evalsuite(&package, &["finish", "second"]).succeeds("it is summed up");
    finished.says(&format!("{slow}: 0 passed, {CASES} failed")).says(&format!("{fast}: {CASES} passed"));
    let listed = json(&evalsuite(&package, &["list", "--runs", "--format", "json"]).succeeds("a list"));
    let rows = listed["runs"][0]["suites"].as_array().expect("a list");
    assert_eq!(rows.len(), 3, "{rows:?}");

    // Only one of them runs, and is compared with its own results.
    let call = package
        .cargo(["test", "--test", "agents", "two"])
        .env("EVALSUITE_RUN_ID", "third")
        .env("BROKEN", "slow")
        .env("EVALSUITE_CONFIRM", "0");
    call.run().fails("it is still broken");
    let compared = json(&evalsuite(&package, &["diff", "second", "third", "--format", "json"]));
    assert!(verdicts(&compared).contains(&("shop".to_owned(), "same".to_owned())), "{:?}", verdicts(&compared));
}

#[slow(builds)]
#[test]
fn two_suites_of_a_package_may_have_one_name() {
    let package = Package::new("two_shops");
    package.library(LIB);
    for (test, directory, agent) in [("evals", "suites/shop", "fast"), ("more", "more/shop", "slow")] {
        add_suite(&package, directory);
        package.write(
            &format!("tests/{test}.rs"),
            &format!("use two_shops::{agent};\nevalsuite::include_eval_suite!({directory:?}, agent = {agent});\n"),
        );
    }
    let [more, shop] = ["more", "suites"].map(|parent| format!("two_shops/{parent}/shop"));
    test(&package, "first", "").succeeds("everything passes");
    let accepted = evalsuite(&package, &["accept", "first"]).succeeds("both are accepted");
    accepted.says(&format!("{more}: {CASES} added")).says(&format!("{shop}: {CASES} added"));
    let files = baselines(&package, "");
    assert_eq!(files.len(), 2, "{files:?}");
    test(&package, "second", "slow").fails("one is broken");
    let compared =
        json(&evalsuite(&package, &["diff", "second", "--baseline", "--format", "json"]).fails("it is worse"));
    assert_eq!(verdicts(&compared), pairs(&[(&more, "regressed"), (&shop, "same")]));
}

#[slow(builds)]
#[test]
fn a_suite_stays_the_same_when_its_package_is_renamed_or_its_directory_moved() {
    let package = workspace("renamed_names");
    let name = package.name().to_owned();
    test(&package, "first", "").succeeds("everything passes");
    evalsuite(&package, &["accept", "first"]).succeeds("both are accepted");
    // `a` is a package of another name; the suite of `b` is in another directory.
    package
        .write("a/Cargo.toml", &Package::manifest(&format!("{name}_agent")))
        .write(
            "a/tests/evals.rs",
            &format!("use {name}_agent::echo;\nevalsuite::include_eval_suite!(\"suites/shop\", agent = echo);\n"),
        )
        .write(
            "b/tests/evals.rs",
            &format!("use {name}_b::echo;\nevalsuite::include_eval_suite!(\"evals/shop\", agent = echo);\n"),
        )
        .rename("b/suites", "b/evals");
    test(&package, "second", "agent").fails("the renamed agent is broken");
    let expected = pairs(&[(&format!("{name}_agent/shop"), "regressed"), (&format!("{name}_b/shop"), "same")]);
    for arguments in
        [&["diff", "first", "second", "--format", "json"][..], &["diff", "second", "--baseline", "--format", "json"]]
    {
        let compared = json(&evalsuite(&package, arguments).fails("one is worse"));
        assert_eq!(verdicts(&compared), expected, "{arguments:?}");
    }
    // The run before the change is accepted into the packages as they are now.
    evalsuite(&package, &["accept", "first"]).succeeds("nothing is new").says(&format!("{CASES} unchanged"));
}

#[slow(builds)]
#[test]
fn run_chooses_the_suite_of_one_package() {
    let package = workspace("chosen_names");
    let name = package.name().to_owned();
    let ran = evalsuite(&package, &["run", &format!("{name}_b/shop"), "--workspace"]).succeeds("b passes");
    ran.says(&format!("shop: {CASES} passed"));
    let cases = package.records().cases();
    assert_eq!(cases.len(), CASES, "only the cases of b ran");
    assert!(cases.iter().all(|case| case["location"]["file"].as_str().is_some_and(|file| file.starts_with("b/"))));
}

#[slow(builds)]
#[test]
fn records_of_older_versions_are_those_of_their_package() {
    let package = workspace("older_names");
    let name = package.name().to_owned();
    test(&package, "first", "").succeeds("everything passes");
    // As older versions wrote the records of one package.
    let run = package.records_directory().join("runs/first");
    let other = |file: &PathBuf| {
        let suite: Value = read_json(file);
        suite["package_directory"] == "a"
    };
    let suites = files_below(&run).into_iter().filter(|file| file.ends_with("suite.json"));
    for suite in suites.filter(other).collect::<Vec<_>>() {
        fs::remove_dir_all(suite.parent().expect("a directory")).expect("removed");
    }
    for file in files_below(&run).into_iter().filter(|file| file.extension().is_some_and(|it| it == "json")) {
        let mut record: Value = read_json(&file);
        for part in ["/tests/0", "/suites/0", ""] {
            let Some(Value::Object(fields)) = record.pointer_mut(part) else { continue };
            for key in ["module", "path", "package_directory", "directory"] {
                fields.remove(key);
            }
        }
        if file.ends_with("suite.json") {
            record["tests"]
                .as_array_mut()
                .expect("tests")
                .iter_mut()
                .for_each(|test| drop(test.as_object_mut().expect("a test").remove("module")));
            record.as_object_mut().expect("a record").remove("package");
        }
        if file.ends_with("run.json") {
            record["suites"].as_array_mut().expect("suites").retain(|suite| suite["package"] == format!("{name}_b"));
        }
        fs::write(&file, record.to_string()).expect("written");
    }
    test(&package, "second", "b").fails("the agent of b is broken");
    let compared = json(&evalsuite(&package, &["diff", "first", "second", "--format", "json"]).fails("b is worse"));
    let found = verdicts(&compared);
    assert!(found.contains(&(format!("{name}_b/shop"), "regressed".to_owned())), "{found:?}");
    assert!(found.contains(&(format!("{name}_a/shop"), "undecided".to_owned())), "{found:?}");
    evalsuite(&package, &["finish", "first"]).succeeds("it can be summed up").says(&format!("shop: {CASES} passed"));
}

fn read_json(file: &PathBuf) -> Value {
    serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON")
}
