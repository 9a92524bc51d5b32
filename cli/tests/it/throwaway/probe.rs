//! `cargo evalsuite probe`, with real suites and cargo.

use std::{fs, thread};

use evalsuite_needs::slow;
use evalsuite_schema::Value;
use evalsuite_schema::json::from_str;
use evalsuite_tests::throwaway::{Call, CommandOutput, MORE_FEATURES, Package, read_json, suites};

const AGENT: &str = "pub async fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::io::Error> {
    panic!(\"no agent is called\")
}

pub async fn writes_nothing(_: &mut evalsuite::Trial<'_>) -> Result<String, std::io::Error> {
    Ok(\"nothing to do\".to_owned())
}
";

const TESTS: &str = "use evalsuite::Evidence;

fn is_polite(evidence: &Evidence<'_>) -> bool {
    evidence.answer().contains(\"please\")
}

evalsuite::include_eval_suite!(\"suites/shop\", agent = PACKAGE::agent, graders = [is_polite]);
fn is_anything(_: &Evidence<'_>) -> bool {
    true
}

fn is_untouched(evidence: &Evidence<'_>) -> bool {
    evidence.changes().created.is_empty()
}

evalsuite::include_eval_suite!(\"suites/card\", agent = PACKAGE::agent);
evalsuite::include_eval_suite!(
    \"suites/code\",
    agent = PACKAGE::writes_nothing,
    graders = [is_anything, is_untouched],
);
";

const SHOP: &str = "tests:
  - id: weak
    input: Refund 19.90, please
    expected_output: 19.90 is on its way.
    tags: [money]
    assertions: [{ type: contains, value: '19.90' }]
  - id: strong
    input: Refund 19.90, please
    expected_output: 19.90 is on its way.
    assertions: [{ type: equals, value: 19.90 is on its way. }]
  - id: in-rust
    input: Refund 19.90, please
    assertions: [{ type: is_polite }]
";

const CODE: &str = "execution: { trials: { count: 5 } }
tests:
  - id: saved
    input: Save it
    assertions: [{ type: equals, value: Saved. }, { type: is_anything }, { type: is_untouched }]
";

/// [`MORE_FEATURES`] without the feature that the command adds.
const WITHOUT_PROBE: &str = "evalsuite/judge,evalsuite/reload,evalsuite/users";

struct Probed(Package);

impl Probed {
    fn new(name: &str) -> Self {
        let package = Package::new(name);
        package
            .write("build.rs", suites::BUILD_SCRIPT)
            .library(AGENT)
            .write("tests/evals.rs", &TESTS.replace("PACKAGE", name))
            .write("suites/shop/EVAL.yaml", SHOP)
            .write("suites/code/EVAL.yaml", CODE)
            .write("suites/card/suite.json", suites::SUITE_JSON)
            .write("suites/card/tasks/hello.json", &suites::task("hello", "hello", "hello"));
        Self(package)
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.call(arguments).run()
    }

    fn call(&self, arguments: &[&str]) -> Call {
        Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &self.0)
            .args(["evalsuite", "probe", "-p", self.0.name(), "--features", WITHOUT_PROBE])
            .args(arguments.iter().copied())
            .in_directory(self.0.root())
            .with_cargo()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--format", "json"]].concat());
        let value: Value = from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let schema: Value = from_str(include_str!("../../../schemas/probe.schema.json")).unwrap();
        let validator = jsonschema::validator_for(&schema.into()).expect("a valid schema");
        let errors: Vec<String> = validator.iter_errors(&value.clone().into()).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{}", output.stdout);
        value
    }
}

fn cases(json: &Value) -> Vec<&str> {
    let suites = json["suites"].as_array().into_iter().flatten();
    let cases = suites.flat_map(|suite| suite["cases"].as_array().into_iter().flatten());
    cases.filter_map(|case| case["case_id"].as_str()).collect()
}

/// Each read the stored results, added its own, and wrote them: those of the other one were lost.
#[test]
fn probes_at_the_same_time_all_store_their_results() {
    let package = Package::new("probed_together");
    let case = |id: &str| format!("  - id: {id}\n    input: Hello\n    assertions: [{{ type: {id} }}]\n");
    let ids = ["one", "two", "three", "four"];
    let graders = ids.map(|id| format!("fn {id}(_: &evalsuite::Evidence<'_>) -> bool {{\n    slow()\n}}\n")).concat();
    let tests = format!(
        "evalsuite::include_eval_suite!(\"suites/shop\", agent = agent, graders = [{}]);

fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {{
    unreachable!(\"no agent is called\")
}}

/// Long enough that all probes have begun before the first one ends.
fn slow() -> bool {{
    std::thread::sleep(std::time::Duration::from_millis(300));
    true
}}

{graders}",
        ids.join(", ")
    );
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library("")
        .write("tests/evals.rs", &tests)
        .write("suites/shop/EVAL.yaml", &format!("tests:\n{}", ids.map(case).concat()));
    let probed = Probed(package);
    // The first call builds the tests.
    assert_eq!(cases(&probed.json(&["--case", "one"])), ["one"]);
    thread::scope(|scope| {
        let probes = ids.map(|id| scope.spawn(|| probed.run(&["--case", id])));
        for probe in probes {
            probe.join().unwrap().says("in 1 case");
        }
    });
    let directory = fs::read_dir(probed.0.root().join(".evalsuite/probe")).unwrap();
    let stored: Vec<Value> = directory.map(|file| read_json(&file.unwrap().path())).collect();
    let ids_of = |record: &Value| -> Vec<String> {
        let cases = record["cases"].as_array().unwrap();
        cases.iter().filter_map(|case| case["case_id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(stored.iter().map(ids_of).collect::<Vec<_>>(), [ids], "in the order of the suite");
}

/// No budget limited them, and no output said what they cost.
#[test]
fn calls_of_judges_are_counted_and_end_with_the_budget() {
    let package = Package::new("probed_judge");
    let tests = "evalsuite::include_eval_suite!(\"suites/shop\", agent = agent, judge = judge);

fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    unreachable!(\"no agent is called\")
}

fn judge(_: evalsuite::JudgeRequest) -> Result<evalsuite::JudgeReply, std::convert::Infallible> {
    Ok(evalsuite::JudgeReply::new(\"{\\\"score\\\": 0.9}\").with_cost_usd(0.01))
}
";
    package.write("build.rs", suites::BUILD_SCRIPT).library("").write("tests/evals.rs", tests).write(
        "suites/shop/EVAL.yaml",
        "tests:\n  - id: kind\n    input: Hello\n    assertions: [{ type: llm-grader, prompt: Is it kind? }]\n",
    );
    let probed = Probed(package);
    let json = probed.json(&["--judge"]);
    let calls = json["judge_calls"].as_u64().unwrap();
    assert!(calls > 3, "{json}");
    assert_eq!(json["judge_cost_usd"], 0.01 * calls as f64);
    fs::remove_dir_all(probed.0.root().join(".evalsuite")).unwrap();

    let limited = probed.call(&["--judge"]).env("EVALSUITE_BUDGET_USD", "0.03").run();
    limited.says("judges: 3 calls, 0.0300 USD\n").says(
        "not probed: `llm-grader` asks a judge, and the grading of made-up results has cost 0.0300 US dollars, and EVALSUITE_BUDGET_USD is 0.03: kind",
    );
}

/// The output that docs/probing.md shows.
fn documented_rates() -> &'static str {
    let (_, section) =
        include_str!("../../../../docs/probing.md").split_once("## Floor and ceiling").expect("the section");
    let (_, block) = section.split_once("```text\n").expect("a block of output");
    block.split_once("```").expect("its end").0
}

#[slow(builds)]
#[test]
fn weak_cases_and_graders_are_found_without_calling_the_agent() {
    let probed = Probed::new("probed");
    let output = probed.run(&["shop"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    for text in [
        "warning[W030 passes-without-work]: case `weak` passes without work, for `echo` (the prompt as the answer), `hedge`",
        "suites/shop/EVAL.yaml:6:18",
        "assertions: [{ type: contains, value: '19.90' }]",
        "help: the prompt itself contains `19.90`: a `tool-trajectory` or `equals` would distinguish",
        "case `in-rust` passes without work, for `echo`",
        documented_rates(),
    ] {
        assert!(output.stdout.contains(text), "expected {text} in\n{}\n{}", output.stdout, output.stderr);
    }
    assert!(!output.stdout.contains("strong"), "{}", output.stdout);
    // What is chosen, in both layouts.
    assert_eq!(cases(&probed.json(&["--tag", "money"])), ["weak"]);
    assert_eq!(cases(&probed.json(&["--case", "hello", "--case", "strong"])), ["hello", "strong"]);
    let some = probed.run(&[
        "suites/shop",
        "crad",
        "--case",
        "strong",
        "--case",
        "stong",
        "--tag",
        "money",
        "--tag",
        "x",
        "--case",
        "weak",
    ]);
    some.says("warning: no suite is `crad`\n");
    some.says("warning: no case has the id `stong`\n  = help: did you mean `strong`?\n");
    some.says("warning: no case has the tag `x`\n");
    let good = probed.run(&["suites/shop", "--case", "strong"]);
    assert_eq!(good.code, Some(0), "{good:?}");
    let nothing = probed.run(&["--case", "none"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.stderr.contains("there are the suites"), "{}", nothing.stderr);
    // The stored results have all cases, also after a probe of one.
    let directory = probed.0.root().join(".evalsuite/probe");
    let stored: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let shop =
        stored.iter().find(|file| file.to_string_lossy().contains("shop")).expect("the probe of the suite is stored");
    let record: Value = from_str(&fs::read_to_string(shop).unwrap()).unwrap();
    assert_eq!(record["schema"], "evalsuite.probe/1");
    let ids: Vec<&str> =
        record["cases"].as_array().unwrap().iter().filter_map(|case| case["case_id"].as_str()).collect();
    assert_eq!(ids, ["weak", "strong", "in-rust"]);
    assert_eq!((&record["floor"]["count"], &record["floor"]["probe"]), (&Value::from(2), &Value::from("echo")));
    // A case that was changed or removed since then no longer counts in a run.
    let rates = || {
        let run = probed.0.cargo(["test", "--test", "evals", "--", "shop::"]).run();
        assert!(run.stdout.contains("shop::suite_check ... ok"), "{run:?}");
        let records = probed.0.records();
        let record = read_json(records.named("suite.json").first().expect("the suite has a record"));
        records.clear();
        [record["probe"]["floor"]["count"].clone(), record["probe"]["floor"]["decided"].clone()]
    };
    assert_eq!(rates(), [Value::from(2), Value::from(3)]);
    let changed =
        SHOP.replace("id: in-rust\n    input: Refund 19.90, please", "id: in-rust\n    input: Refund 20.90, please");
    probed.0.write("suites/shop/EVAL.yaml", &changed);
    assert_eq!(rates(), [Value::from(1), Value::from(2)]);
    probed.0.write("suites/shop/EVAL.yaml", SHOP);
    // The test of the suite is red on request.
    let check = |setting: &str| {
        let features = ["--features", MORE_FEATURES];
        let test = probed
            .0
            .cargo([&["test", "--test", "evals"], &features[..], &["--", "--exact", "shop::suite_check"]].concat());
        test.env("EVALSUITE_PROBE", setting).run()
    };
    let denied = check("deny");
    assert_eq!(denied.code, Some(101), "{denied:?}");
    assert!(denied.stdout.contains("W030 passes-without-work"), "{}", denied.stdout);
    let warned = check("warn");
    assert_eq!(warned.code, Some(0), "{warned:?}");
    assert!(warned.stderr.contains("W030 passes-without-work"), "{}", warned.stderr);
    let without = probed.0.cargo(["test", "--test", "evals", "--", "--exact", "shop::suite_check"]);
    let without = without.env("EVALSUITE_PROBE", "deny").run();
    assert!(without.stdout.contains("EVALSUITE_PROBE needs the feature `probe` of evalsuite"), "{}", without.stdout);
    let invalid = check("1");
    assert!(invalid.stdout.contains("EVALSUITE_PROBE is `1`, not off, warn or deny"), "{}", invalid.stdout);
    recorded_trials_show_which_code_fails_nothing(&probed);
}

/// In the package of the other test, as each package takes a build.
fn recorded_trials_show_which_code_fails_nothing(probed: &Probed) {
    let before = probed.run(&["code"]);
    assert!(before.stdout.contains("code: 0 findings in 1 case"), "{before:?}");
    let run = probed.0.cargo(["test", "--test", "evals", "--", "code::saved"]).run();
    assert_eq!(run.code, Some(101), "{run:?}");
    let after = probed.run(&["code"]);
    for text in [
        "nothing fails `is_anything`: it passes all 6 results of the probe and 5 recorded trials",
        "or add an example that it has to fail",
        "code: 1 finding in 1 case",
    ] {
        assert!(after.stdout.contains(text), "expected {text} in\n{}\n{}", after.stdout, after.stderr);
    }
}
