//! `cargo evalsuite run`, with real suites, cargo and nextest.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use evalsuite_needs::{needs, slow};
use evalsuite_records::file_lock::FileLock;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, suites};
use hmac_sha256::Hash;
use walkdir::WalkDir;

const SHOP: &str = "description: Refunds.
tags: [fast, money]
workspace:
  hooks:
    before_all: echo before_all >> \"$HOOK_LOG\"
    after_all: { command: 'cat > /dev/null; echo after_all >> \"$HOOK_LOG\"', timeout_ms: 20000 }
assertions:
  - { type: contains, value: please }
";

/// Two suites in one program, one of them under another name, and one in the library; and a test of another kind.
const TESTS: &str = "
use PACKAGE::agent;
evalsuite::include_eval_suite!(\"suites/shop\", agent = agent);
evalsuite::include_eval_suite!(\"suites/card\", agent = agent, name = greetings);

#[test]
fn is_no_evaluation() {
    panic!(\"this test is not chosen\");
}
";

struct Chosen {
    package: Package,
    log: PathBuf,
}

impl Chosen {
    fn new(name: &str) -> Self {
        let package = Package::new(name);
        let bucket = suites::task("hello", "hello", "hello")
            .replace("\"description\"", "\"metadata\": { \"failure_bucket\": \"manners\" }, \"description\"");
        package
            .write("build.rs", suites::BUILD_SCRIPT)
            .write(
                "src/lib.rs",
                &format!("{}\n#[cfg(test)]\nevalsuite::include_eval_suite!(\"suites/shop\");\n", suites::AGENT),
            )
            .write("tests/evals.rs", &TESTS.replace("PACKAGE", name))
            .write("suites/shop/EVAL.yaml", SHOP)
            .write("suites/shop/cases/small/case.yaml", "input: small refund, please\n")
            .write("suites/shop/cases/large/case.yaml", "input: large refund, please\n")
            .write("suites/shop/cases/rude/case.yaml", "input: large refund, now\n")
            .write("suites/shop/cases/judged/case.yaml", "input: refund, please\nassertions: [It is polite.]\n")
            .write("suites/card/suite.json", suites::SUITE_JSON)
            .write("suites/card/tasks/hello.json", &bucket)
            .write("suites/card/tasks/suite_check/inner.json", &suites::task("inner", "hello", "hello"));
        let log = package.root().join("hooks.log");
        Self { package, log }
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.package.records().clear();
        self.run_again(arguments)
    }

    /// The same, with the records of earlier runs.
    fn run_again(&self, arguments: &[&str]) -> CommandOutput {
        self.run_with(arguments, &[])
    }

    /// The same, with these variables.
    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        self.call(&[&["run", "-p", self.package.name()], arguments].concat(), variables)
    }

    /// A command of the command line.
    fn call(&self, arguments: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        let _ = fs::remove_file(&self.log);
        let call = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &self.package);
        // Where records go, relative to where the command is called.
        let output = self.package.records_directory().strip_prefix(self.parent()).expect("it lies beside").to_owned();
        let call = variables.iter().fold(call, |call, (name, value)| call.env(name, value));
        call.args(["evalsuite"])
            .args(arguments.iter().copied())
            .in_directory(self.package.root())
            .with_cargo()
            .env("EVALSUITE_OUTPUT", PathBuf::from("../..").join(output))
            .env("HOOK_LOG", self.log.as_os_str())
            .env("CI", "true")
            .run()
    }

    /// The directory of all throw-away packages and their records.
    fn parent(&self) -> PathBuf {
        let directory = self.package.root().ancestors().nth(2).expect("packages lie in a folder of the target");
        directory.to_owned()
    }

    /// What was evaluated: tests with their outcomes.
    fn cases(&self) -> BTreeSet<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let cases = self.package.records().cases();
        cases.iter().map(|case| (text(&case["test_name"]), text(&case["outcome"]))).collect()
    }

    fn hooks(&self) -> Vec<String> {
        fs::read_to_string(&self.log).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

fn set(cases: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    cases.iter().map(|(test, outcome)| ((*test).to_owned(), (*outcome).to_owned())).collect()
}

#[test]
fn chosen_cases_run_as_one_run_that_is_ended_and_summed_up() {
    let chosen = Chosen::new("chosen");
    let ran = chosen.run(&["--tag", "fast", "--tag", "other"]);
    assert_eq!(ran.code, Some(1), "a case failed\n{}", ran.transcript());
    let shop = set(&[
        ("shop::judged", "skipped"),
        ("shop::large", "passed"),
        ("shop::rude", "failed"),
        ("shop::small", "passed"),
    ]);
    assert_eq!(chosen.cases(), shop, "of the library and of the tests\n{}", ran.transcript());
    assert_eq!(chosen.package.records().cases().len(), 8, "each of them has its records");
    assert_eq!(chosen.package.records().runs().len(), 1, "all test programs are one run");
    assert_eq!(chosen.hooks(), ["before_all", "after_all"], "{}", ran.transcript());
    ran.says("] shop::rude: failed, score 0.00").says("evalsuite: [8/8] shop::");
    ran.says("1 hook was run").says("summary.json");
    ran.says("shop (chosen::shop): 2 passed, 1 failed, 0 error, 1 skipped");
    ran.says(
        "  skipped  judged: needs a judge\n    help: add `judge = …` to the suite's macro, or set EVALSUITE_JUDGE",
    );
    ran.says("warning: 2 cases were skipped and count as passed; EVALSUITE_REQUIRE=1 turns skipped cases into errors");
    ran.says("  target   passed  failed  skipped  score").says("  grader").says("  contains");
    ran.is_silent_about("is_no_evaluation").says("test shop::suite_check ... ok");

    let ran = chosen.run(&["--exclude-tag", "fast"]).succeeds("the other suite passes");
    assert_eq!(
        chosen.cases(),
        set(&[("greetings::hello", "passed"), ("greetings::suite_check_::inner", "passed")]),
        "{}",
        ran.transcript()
    );
    ran.is_silent_about("no hooks were left to run").says("echo_tasks: 2 passed");

    let ran = chosen.run(&["--bucket", "manners", "--test", "evals", "--", "--", "--nocapture"]);
    ran.succeeds("the case passes").says("evaluation passed: hello (echo_tasks)  score 1.00");
    assert_eq!(chosen.cases(), set(&[("greetings::hello", "passed")]));

    let ran = chosen.run(&["--tag", "slow"]);
    assert_eq!((ran.code, chosen.cases().len()), (Some(2), 0), "{}", ran.transcript());
    ran.says("none of 10 cases is selected").says("the tags `fast`, `money`; the buckets `manners`");
    assert_eq!(chosen.run(&["--profile", "x", "--release"]).code, Some(2));

    chosen.package.write("tests/evals.rs", "fn broken( {}");
    let ran = chosen.run(&["small"]);
    assert_eq!(ran.code, Some(2), "what cannot be built cannot be run\n{}", ran.transcript());
    assert_eq!(chosen.package.records().runs(), [] as [&str; 0]);
}

/// The gates of a suite whose two cases pass, then what the run prints of them and its exit code.
const GATES: [(&str, &str, i32); 3] = [
    ("pass_rate >= 90%", "met        suite:shop pass_rate >= 90%  1.000  2 cases\n", 0),
    ("lower(pass_rate) >= 90%", "missed     suite:shop lower(pass_rate) >= 90%  0.342  2 cases", 1),
    ("cost <= $1", "undecided  suite:shop cost <= $1  2 cases  (the cost of 2 trials is not known)\n", 4),
];

/// A package with a suite of two cases, both of which pass.
fn small_package(name: &str) -> Chosen {
    let chosen = Chosen { package: Package::new(name), log: PathBuf::new() };
    chosen
        .package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(suites::AGENT)
        .write(
            "tests/evals.rs",
            &format!("use {name}::agent;\nevalsuite::include_eval_suite!(\"suites/shop\", agent = agent);\n"),
        )
        .write("suites/shop/EVAL.yaml", "assertions: [{ type: contains, value: please }]\n")
        .write("suites/shop/cases/small/case.yaml", "input: small refund, please\n")
        .write("suites/shop/cases/large/case.yaml", "input: large refund, please\n");
    chosen
}

#[slow(builds)]
#[test]
fn cases_are_chosen_by_what_has_changed_and_by_their_last_results() {
    let chosen = small_package("chosen_changed");
    chosen.run(&[]).succeeds("both cases pass");
    // The cases of the newest run that ran in it, and those whose results are of an earlier run.
    let ran = || {
        let newest = chosen.package.records().newest_run();
        let cases = chosen.package.records().cases();
        let of_newest = cases.iter().filter(|case| case["run_id"] == newest.as_str());
        let (ran, reused): (Vec<&Value>, Vec<&Value>) = of_newest.partition(|case| case["reused_run"].is_null());
        let ids = |cases: Vec<&Value>| {
            let ids: BTreeSet<String> = cases.iter().map(|case| case["case_id"].as_str().unwrap().to_owned()).collect();
            ids.into_iter().collect::<Vec<_>>().join(" ")
        };
        (ids(ran), ids(reused))
    };
    let is = |expected: (&str, &str), output: &CommandOutput| {
        assert_eq!(ran(), (expected.0.to_owned(), expected.1.to_owned()), "{}", output.transcript());
    };
    let output = chosen.run_again(&["--changed"]);
    is(("", "large small"), &output);
    output.says("shop: 2 passed, 0 failed").says("  reused   2 unchanged cases of earlier runs");
    chosen.package.write("suites/shop/cases/small/case.yaml", "input: small refund, now\n");
    is(("small", "large"), &chosen.run_again(&["--changed"]).fails("it says no `please`"));
    is(("small", ""), &chosen.run_again(&["--failed"]).fails("it fails again"));
    chosen.package.write("suites/shop/cases/small/case.yaml", "input: small refund, please\n");
    is(("", "large small"), &chosen.run_again(&["--changed"]).succeeds("the first run has both results"));
    chosen.package.write("suites/shop/terms.txt", "Within 30 days.");
    is(("large small", ""), &chosen.run_again(&["--changed"]).succeeds("a file that all cases may use is new"));
    chosen.package.write("src/lib.rs", &format!("{}// changed\n", suites::AGENT));
    is(("large small", ""), &chosen.run_again(&["--changed"]).succeeds("the agent has changed"));
    // What is included, wherever it is.
    let with_prompt = format!("{}const _: &str = include_str!(\"../.prompts/system.md\");\n", suites::AGENT);
    chosen.package.write(".prompts/system.md", "Be kind.").write("src/lib.rs", &with_prompt);
    is(("large small", ""), &chosen.run_again(&["--changed"]).succeeds("the agent includes a prompt"));
    is(("", "large small"), &chosen.run_again(&["--changed"]).succeeds("nothing has changed"));
    chosen.package.write(".prompts/system.md", "Be short.");
    is(("large small", ""), &chosen.run_again(&["--changed"]).succeeds("the prompt has changed"));
    let none = chosen.run_again(&["--failed"]);
    assert_eq!(none.code, Some(2), "{}", none.transcript());
    none.says("error: the last result of every selected case is a pass");
    chosen.run_again(&["--flaky", "3"]).says("error: no selected case is flaky");
    let run = chosen.package.records().newest_run();
    let is_newest = |path: &PathBuf| path.components().any(|part| part.as_os_str() == run.as_str());
    let newest = chosen.package.records().named("case.json").into_iter().rfind(is_newest).expect("a record");
    let mut flaky: Value = evalsuite_schema::json::from_str(&fs::read_to_string(&newest).unwrap()).unwrap();
    flaky["completed"] = 2.into();
    fs::write(&newest, flaky.to_string()).unwrap();
    let output = chosen.run_again(&["--flaky", "3"]).succeeds("it passes");
    is((flaky["case_id"].as_str().unwrap(), ""), &output);
}

#[test]
fn a_run_is_compared_with_one_of_its_agent_only_if_they_have_a_case_in_common() {
    let chosen = small_package("chosen_compared");
    chosen.run(&["small"]).succeeds("it passes");
    let first = chosen.package.records().newest_run();
    let other = chosen.run_again(&["large"]).succeeds("it passes");
    assert!(!other.transcript().contains("compared with"), "no run has this case\n{}", other.transcript());
    let again = chosen.run_again(&["small"]).succeeds("it passes");
    again.says(&format!("note: compared with run `{first}` of the same commit")).says("shop @ default: same");
}

#[test]
fn a_case_whose_variable_has_another_value_has_changed() {
    let chosen = small_package("chosen_variables");
    let small = "input: ${{ SHOP_AMOUNT }} refund, please\n";
    chosen.package.write("suites/shop/cases/small/case.yaml", small);
    let run = |amount: &str, outcome: &str| {
        let output = chosen.run_with(&["--changed"], &[("SHOP_AMOUNT", amount)]).succeeds("both say please");
        output.says(outcome);
    };
    let _ = fs::remove_dir_all(chosen.package.records_directory());
    run("forty-two", "shop: 2 passed, 0 failed, 0 error, 0 skipped\n  target");
    run("forty-two", "  reused   2 unchanged cases of earlier runs");
    run("forty-three", "  reused   1 unchanged case of earlier runs");
    run("forty-two", "  reused   2 unchanged cases of earlier runs");
    // Neither the values nor digests that can be compared with those of other values are in the records.
    let plain =
        |value: &str| -> String { Hash::hash(value.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect() };
    let objects = ["forty-two", "forty-three"].map(|amount| format!("{{\"SHOP_AMOUNT\":\"{amount}\"}}"));
    let values = objects.iter().map(String::as_str).chain(["forty-two", "forty-three"]);
    let hidden: Vec<String> = values.flat_map(|value| [value.to_owned(), plain(value)]).collect();
    let key = fs::read_to_string(chosen.package.records_directory().join(".digest-key")).expect("the key");
    let mut files = 0;
    for entry in WalkDir::new(chosen.package.records_directory().join("runs")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
            let found = hidden.iter().chain([&key]).find(|hidden| text.contains(hidden.as_str()));
            assert_eq!(found, None, "{}", entry.path().display());
            files += 1;
        }
    }
    assert!(files > 20, "{files} files");
}

#[test]
fn a_case_whose_judge_has_a_variable_with_another_value_has_changed() {
    let chosen = small_package("chosen_judge_variables");
    let judge = r#"targets: [{ name: kind, provider: cli, command: "echo '{\"score\": ${{ JUDGE_SCORE }}}' > {OUTPUT_FILE}" }]"#;
    chosen.package.write(".evalsuite/targets.yaml", judge);
    let judged =
        "input: small refund, please\nassertions: [{ type: llm-grader, prompt: Is it polite?, target: kind }]\n";
    chosen.package.write("suites/shop/cases/small/case.yaml", judged);
    let run = |score: &str, outcome: &str| {
        let output = chosen.run_with(&["--changed"], &[("JUDGE_SCORE", score)]).succeeds("the judge likes it");
        output.says(outcome);
    };
    let _ = fs::remove_dir_all(chosen.package.records_directory());
    run("0.9", "shop: 2 passed, 0 failed, 0 error, 0 skipped\n  target");
    run("0.9", "  reused   2 unchanged cases of earlier runs");
    run("0.95", "  reused   1 unchanged case of earlier runs");
}

#[test]
fn a_run_ends_with_the_gates_of_its_suites() {
    let chosen = small_package("chosen_gates");
    for (gate, printed, code) in GATES {
        let suite = format!("gates: [{gate:?}]\nassertions: [{{ type: contains, value: please }}]\n");
        chosen.package.write("suites/shop/EVAL.yaml", &suite);
        let ran = chosen.run(&["--test", "evals"]);
        ran.says(printed);
        assert_eq!(ran.code, Some(code), "{}", ran.transcript());
    }
    let unchecked = "unchecked  suite:shop cost <= $1  (some tests of the suite were not selected)\n";
    chosen.run(&["--test", "evals", "small"]).succeeds("its gates are about the whole suite").says(unchecked);
    let ran = chosen.run(&["--test", "evals", "--", "--", "--skip", "shop::large"]);
    assert_eq!(ran.code, Some(4), "{}", ran.transcript());
    ran.says("(1 case did not run;");
}

/// Test runners count as passed what ends with status 0.
#[test]
fn a_program_that_ends_before_its_tests_fails_the_run() {
    let chosen = small_package("chosen_exits");
    let exits = "fn exits(_: &mut evalsuite::Trial<'_>) -> Result<String, evalsuite::AgentError> {
        std::thread::spawn(|| std::process::exit(0)).join().expect(\"the program has ended\")
    }\n";
    let include = "evalsuite::include_eval_suite!(\"suites/shop\", agent = exits);\n";
    chosen.package.write("tests/evals.rs", &format!("{exits}{include}"));
    let ran = chosen.run(&["--format", "json", "small"]);
    assert_eq!(ran.code, Some(1), "{}", ran.transcript());
    let result = crate::package::Package::new(&[]).json("run", &ran.stdout);
    assert_eq!((&result["tests_passed"], &result["run"]["suites"][0]["error"]), (&true.into(), &1.into()), "{result}");
    let regraded = chosen.call(&["regrade"], &[]).fails("there is nothing to grade");
    regraded.is_silent_about("evaluation passed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_hook_that_fails_after_the_tests_fails_the_run() {
    let chosen = small_package("chosen_hook");
    let suite =
        "workspace: { hooks: { after_all: { command: 'exit 3' } } }\nassertions: [{ type: contains, value: please }]\n";
    chosen.package.write("suites/shop/EVAL.yaml", suite);
    let ran = chosen.run(&["small"]);
    assert_eq!(ran.code, Some(1), "{}", ran.transcript());
    ran.says("test shop::small ... ok").says("error: ");
}

#[test]
fn without_a_result_no_case_has_passed_and_a_name_that_no_case_has_is_reported() {
    let chosen = small_package("chosen_results");
    let fails = |arguments: &[&str], message: &str| {
        let ran = chosen.run_again(arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.transcript());
        ran.says(message);
    };
    chosen.package.records().clear();
    fails(&["--failed"], "error: no selected case has a result in ");
    fails(&["--failed", "smal-l"], "error: none of 2 cases is selected\n  = help: did you mean `small`?");
    fails(&["--flaky", "3", "smal-l"], "error: none of 2 cases is selected\n  = help: did you mean `small`?");
    let ran = chosen.run_again(&["small", "lrage", "--exclude-tag", "slow"]).succeeds("one case passes");
    ran.says("warning: no case has the tag `slow`\n");
    ran.says("warning: no id and no test name contains `lrage`\n  = help: did you mean `large`?\n");
    ran.says("shop: 1 passed");
    fails(&["--failed"], "error: no selected case has failed: 1 case has no result in ");
    fails(&["--failed", "small"], "error: the last result of every selected case is a pass");
}

#[test]
fn after_an_abort_the_chosen_tests_that_did_not_start_are_named() {
    let chosen = small_package("chosen_aborted");
    let aborts =
        "fn aborts(_: &mut evalsuite::Trial<'_>) -> Result<String, evalsuite::AgentError> { std::process::abort() }\n";
    let include = "evalsuite::include_eval_suite!(\"suites/shop\", agent = aborts);\n";
    chosen
        .package
        .write("tests/evals.rs", &format!("{aborts}{include}"))
        .write("suites/shop/cases/unchosen/case.yaml", "input: no refund, please\n");
    let ran = chosen.run(&["shop::large", "shop::small", "--", "--", "--test-threads=1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.transcript());
    ran.says("shop: 0 passed, 0 failed, 1 error")
        .says("shop: 1 test not started: shop::small\n")
        .is_silent_about("unchosen");
}

/// A case that the configuration of nextest leaves out did not run, and the command succeeded.
#[needs(nextest)]
#[test]
fn a_chosen_test_that_the_test_runner_leaves_out_is_no_success() {
    let chosen = small_package("chosen_left_out");
    chosen.package.write(".config/nextest.toml", "[profile.default]\ndefault-filter = \"not test(small)\"\n");
    let ran = chosen.run(&["--nextest", "--test", "evals", "small"]);
    assert_eq!(ran.code, Some(4), "no case ran\n{}", ran.transcript());
    ran.says("shop: 1 test not started: shop::small\n");
    let ran = chosen.run_again(&["--nextest", "--test", "evals"]);
    assert_eq!(ran.code, Some(4), "{}", ran.transcript());
    ran.says("shop: 1 passed, 0 failed").says("shop: 1 test not started: shop::small\n");
    let finished = chosen.call(&["finish"], &[]);
    assert_eq!(finished.code, Some(4), "{}", finished.transcript());
    finished.says("shop: 1 test not started: shop::small\n");
    chosen.run_again(&["--nextest", "--test", "evals", "large"]).succeeds("the case passes");
    let part = ["--nextest", "--test", "evals", "--", "--partition", "count:1/1"];
    chosen.run_again(&part).succeeds("which tests other machines run is not known");
}

#[test]
fn the_result_is_printed_as_json() {
    let chosen = small_package("chosen_json");
    let suite = "gates: [pass_rate >= 90%]\nassertions: [{ type: contains, value: please }]\n";
    chosen.package.write("suites/shop/EVAL.yaml", suite);
    chosen.run(&["--test", "evals"]).succeeds("both cases pass");
    let ran = chosen.run_again(&["--test", "evals", "--format", "json"]).succeeds("both cases pass");
    let result = crate::package::Package::new(&[]).json("run", &ran.stdout);
    assert_eq!((&result["tests_passed"], &result["run"]["suites"][0]["passed"]), (&true.into(), &2.into()), "{result}");
    assert_eq!(result["comparison"]["schema"], "evalsuite.comparison/1");
    assert_eq!(result["gates"]["results"][0]["verdict"], "met", "{result}");
    assert!(ran.stderr.contains("test shop::small ... ok"), "{}", ran.transcript());
    let ran = chosen.run_again(&["--test", "evals", "--format", "json", "small"]).succeeds("the case passes");
    let result = crate::package::Package::new(&[]).json("run", &ran.stdout);
    assert_eq!(result["unchecked_gates"], evalsuite_schema::json::json!(["suite:shop pass_rate >= 90%"]));
    let not_started = &result["run"]["suites"][0]["not_started"];
    assert_eq!(not_started, &evalsuite_schema::json::json!([]), "the other test was not chosen");
    let run_of = |agent| {
        let variables = [("EVALSUITE_RUN_ID", "goes-on"), ("EVALSUITE_AGENT_DIGEST", agent)];
        chosen.run_with(&["--test", "evals", "small"], &variables).succeeds("the case passes")
    };
    let warning = "runs/goes-on was started with another agent, and will have results of both";
    run_of("one").is_silent_about("another agent");
    run_of("one").is_silent_about("another agent");
    run_of("two").says(warning);
    let finished = chosen.call(&["finish"], &[]).succeeds("nothing is missing of what was chosen");
    finished.says("shop: 1 passed").is_silent_about("not started").is_silent_about("not chosen");
}

/// The first of two commands that ran tests in one run at the same time failed, because tests of the other one were still running.
#[test]
fn a_run_is_summarized_when_the_last_command_that_runs_tests_in_it_ends() {
    let chosen = small_package("chosen_shared");
    let suite = "gates: [pass_rate >= 90%]\nassertions: [{ type: contains, value: please }]\n";
    chosen.package.write("suites/shop/EVAL.yaml", suite);
    let run = chosen.package.records_directory().join("runs/shared");
    let other = run.join("suites/other/cases/a-12345678/trial-000");
    fs::create_dir_all(&other).unwrap();
    let started = r#"{"schema": "evalsuite.started/1", "run_id": "shared", "suite": "other", "case_id": "a", "target": "default", "trial": 0, "pid": 1, "lock": "locks/other.a-12345678.lock", "started_at": "2026-01-04T09:15:00Z"}"#;
    fs::write(other.join("started.json"), started).unwrap();
    let test_of_another_command = FileLock::acquire(&run.join("locks/other.a-12345678.lock")).unwrap();
    let shared = || chosen.run_with(&["--test", "evals"], &[("EVALSUITE_RUN_ID", "shared")]);
    let note =
        "note: tests of another command are still running in run `shared`, which is summarized when they have ended";
    let met = "met        suite:shop pass_rate >= 90%";
    shared().succeeds("its own tests pass, and its gates are about them").says(note).says(met);
    let mut suites =
        fs::read_dir(run.join("suites")).unwrap().map(|suite| suite.unwrap().file_name().into_string().unwrap());
    let shop = suites.find(|suite| suite.starts_with("shop")).unwrap();
    let test_of_the_suite = FileLock::acquire(&run.join(format!("locks/{shop}.another-12345678.lock"))).unwrap();
    let undecided = shared();
    assert_eq!(undecided.code, Some(4), "{}", undecided.transcript());
    undecided.says("tests of the run are still running");
    drop(test_of_the_suite);
    assert!(!run.join("summary.json").exists());

    drop(test_of_another_command);
    fs::remove_dir_all(run.join("suites/other")).unwrap();
    shared().succeeds("it is the last one").says("shop: 2 passed").is_silent_about("another command");
    assert!(run.join("summary.json").exists());
}

#[needs(nextest)]
#[test]
fn nextest_runs_the_same_cases() {
    let chosen = Chosen::new("chosen_nextest");
    let ran = chosen.run(&["--nextest", "--test", "evals", "rude", "hello"]);
    assert_eq!(ran.code, Some(1), "a case failed\n{}", ran.transcript());
    assert_eq!(chosen.cases(), set(&[("greetings::hello", "passed"), ("shop::rude", "failed")]));
    assert_eq!(chosen.hooks(), ["before_all", "after_all"], "{}", ran.transcript());
    ran.says("4 tests run: 3 passed, 1 failed").says("shop: 0 passed, 1 failed").says("echo_tasks: 1 passed");
    let ran = chosen.run(&["--nextest", "--lib", "small", "--", "--retries", "1"]).succeeds("the case passes");
    ran.says("2 tests run: 2 passed").says("shop: 1 passed").says("evalsuite: [1/1] shop::small: passed, score 1.00");
}

#[cfg(target_os = "linux")]
#[needs(script)]
#[test]
fn progress_is_live_on_a_terminal() {
    let chosen = Chosen::new("chosen_live");
    let run = |color: &str| {
        let command = format!(
            "'{}' evalsuite run --test evals hello small",
            assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display()
        );
        Call::on_terminal(&command, &chosen.package)
            .with_cargo()
            .without_env("CARGO_TERM_COLOR")
            .without_env("CI")
            .env("NO_COLOR", color)
            .env("HOOK_LOG", chosen.log.as_os_str())
            .run()
            .succeeds("both cases pass")
    };
    let ran = run("");
    // Shown, and replaced: the cursor moves.
    ran.says("2/2 cases: 2 passed, 0 failed, 0 error, 0 skipped").says("\u{1b}[2K").is_silent_about("evalsuite: [");
    // The output of the tests stays as it is, with its colors.
    ran.says("test shop::small ... \u{1b}[").says("shop: 1 passed, 0 failed, 0 error, 0 skipped");
    let ran = run("1");
    ran.says("2/2 cases: ").says("test shop::small ... ok").is_silent_about("\u{1b}[3");
}
