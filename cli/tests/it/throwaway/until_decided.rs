//! `cargo evalsuite run --until-decided`: rounds of trials of a real test program.

use std::path::Path;

use evalsuite_needs::{needs, slow};
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, suites};

const CASES: usize = 20;

struct Decided(Package);

impl Decided {
    /// A package with a run `base` of ten trials of each case.
    fn new(name: &str, base_trials: &str) -> Self {
        let package = suites::package_with_random_agent(name, CASES);
        for case in 0..CASES {
            let group = format!("\"metadata\": {{ \"group\": \"g{}\" }}, \"description\"", case / 2);
            let task = suites::task(&format!("c{case:02}"), "?", "yes").replace("\"description\"", &group);
            package.write(&format!("suites/words/tasks/c{case:02}.json"), &task);
        }
        let decided = Self(package);
        decided.package().records().clear();
        let base = decided
            .call(&["run"], "0.9", "base")
            .env("EVALSUITE_RUN_ID", "base")
            .env("EVALSUITE_TRIALS", base_trials)
            .env("EVALSUITE_RUN_ALL", "1")
            .run();
        base.says("words: ");
        decided
    }

    fn package(&self) -> &Package {
        &self.0
    }

    fn call(&self, arguments: &[&str], rate: &str, seed: &str) -> Call {
        Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &self.0)
            .args(["evalsuite"])
            .args(arguments.iter().copied())
            .with_cargo()
            .env("RATE", rate)
            .env("SEED", seed)
            .env("EVALSUITE_AGENT_DIGEST", format!("{rate} {seed}"))
    }

    /// A run in which the files plan five trials of each case, unless something else is said.
    fn run(&self, id: &str, rate: &str, arguments: &[&str]) -> Call {
        let words = ["run", "--until-decided", "--margin", "20%", "--base", "base"];
        let words: Vec<&str> = words.iter().chain(arguments).copied().collect();
        self.call(&words, rate, "run").env("EVALSUITE_RUN_ID", id).env("EVALSUITE_TRIALS", "5")
    }

    fn diff(&self, id: &str) -> CommandOutput {
        self.call(&["diff", "base", id, "--format", "json"], "0", "").run()
    }
}

fn json(text: &str) -> Value {
    let start = text.find('{').unwrap_or_else(|| panic!("no JSON in {text}"));
    evalsuite_schema::json::from_str(&text[start..]).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Verdict and number of trials.
fn decision(value: &Value) -> (String, u64) {
    let decision = &value["decision"];
    (decision["verdict"].as_str().unwrap_or_default().to_owned(), decision["trials"].as_u64().unwrap_or_default())
}

#[test]
fn a_run_ends_as_soon_as_it_is_decided() {
    let decided = Decided::new("decided_soon", "10");
    let same = decided.run("same", "0.9", &["--format", "json"]).run();
    assert_eq!(same.code, Some(0), "{}", same.transcript());
    let result = json(&same.stdout);
    let (verdict, trials) = decision(&result);
    assert!(verdict == "within_margin" && (20..100).contains(&trials), "{result}");
    assert!(result["comparison"].is_null(), "a comparison that does not know of the looks: {result}");
    // The first call of the test runner starts all of them: of a run that breaks off, the others are missing.
    let chosen =
        json(&std::fs::read_to_string(decided.package().records_directory().join("runs/same/chosen.json")).unwrap());
    let tests =
        chosen["tests"]["decided_soon"].as_object().unwrap().values().flat_map(|tests| tests.as_array().unwrap());
    assert_eq!(tests.count(), CASES, "{chosen}");
    let records = decided.package().records().cases();
    let planned: Vec<u64> =
        records.iter().filter(|case| case["run_id"] == "same").filter_map(|case| case["completed"].as_u64()).collect();
    assert_eq!(planned.iter().sum::<u64>(), trials, "no trial ran that was not looked at: {planned:?}");

    let worse = decided.run("worse", "0.4", &[]).run();
    assert_eq!(worse.code, Some(1), "{}", worse.transcript());
    worse.says("until decided: regressed after ").says("a rerun of this agent adds nothing: it is decided");
    let diff = decided.diff("worse");
    assert_eq!(diff.code, Some(1), "{}", diff.transcript());
    assert_eq!(decision(&json(&diff.stdout)).0, "regressed");
    let again = decided.run("again", "0.4", &[]).run();
    assert_eq!(again.code, Some(1), "a rerun of a regressed agent stays red\n{}", again.transcript());
    again.says("regressed by the earlier run of this agent, `worse`");

    for (format, shown) in [("junit", "value=\"regressed\""), ("markdown", "regressed after")] {
        let file = decided.package().root().join(format).display().to_string();
        let flag = format!("--{format}");
        decided.call(&["report", "worse", &flag, &file], "0", "").run().succeeds("a report");
        let written = std::fs::read_to_string(&file).expect("a report");
        assert!(written.contains(shown), "{written}");
    }
}

#[test]
fn correlated_trials_cannot_be_added_until_a_run_is_decided() {
    let package = suites::package_with_random_agent("decided_correlated", 0);
    std::fs::remove_file(package.root().join("suites/words/suite.json")).expect("there is a suite");
    let suite = "name: words\nkind: regression\nexecution:\n  trials: {count: 2, correlated: true}\ntests:\n  - id: c03\n    input: \"?\"\n    assertions:\n      - {type: contains, value: \"yes\"}\n";
    package.write("suites/words/EVAL.yaml", suite);
    let decided = Decided(package);
    let refused = decided.run("refused", "0.9", &[]).run();
    assert_eq!(refused.code, Some(2), "{}", refused.transcript());
    refused
        .says("the trials of `c03` in words are correlated, and more of them tell nothing more")
        .says("run it without --until-decided, or delete `correlated` in its `trials`");
}

#[test]
fn a_run_that_cannot_be_decided_says_what_a_rerun_adds() {
    let decided = Decided::new("decided_never", "4");
    let first = decided.run("first", "0.9", &["--margin", "5%", "--trials", "1"]).run();
    assert_eq!(first.code, Some(2), "`--margin` is given twice\n{}", first.transcript());
    let words = ["run", "--until-decided", "--margin", "0.05", "--base", "base"];
    let run = |id: &str| decided.call(&words, "0.9", "run").env("EVALSUITE_RUN_ID", id).run();
    let first = run("first");
    assert_eq!(first.code, Some(4), "{}", first.transcript());
    first
        .says("are probably too few to decide")
        .says("undecided after 40 trials, 20 more than the 20 planned, at most 40");
    first.says("a rerun of this agent continues with 40 trials of run `base` that are left");
    let second = run("second");
    assert_eq!(second.code, Some(4), "{}", second.transcript());
    second
        .says("run `first` of this agent used a part of run `base`")
        .says("counted with the earlier run of this agent, `first`");
    second.says("a rerun of this agent adds nothing: no trial of run `base` is left to compare with");
    let third = run("third");
    assert_eq!(third.code, Some(4), "{}", third.transcript());
    third.says("undecided after 0 trials");
}

#[slow(builds)]
#[needs(nextest)]
#[test]
fn the_verdict_is_the_same_however_the_run_is_executed() {
    let decided = Decided::new("decided_same", "10");
    let retries = "[profile.default]\nretries = 2\n[[profile.default.overrides]]\nfilter = \"all()\"\nretries = 3\n";
    decided.package().write(".config/nextest.toml", retries);
    let base = decided.package().records_directory().join("runs/base").display().to_string();
    let output = |part: &str| decided.package().records_directory().join(part);
    // In directories of their own: a run of the same agent beside them would continue.
    let call = |directory: &str, arguments: &[&str]| {
        let words = ["run", "--until-decided", "--margin", "20%", "--base", &base];
        let words: Vec<&str> = words.iter().chain(arguments).copied().collect();
        decided
            .call(&words, "0.7", "run")
            .env("EVALSUITE_RUN_ID", "shards")
            .env("EVALSUITE_TRIALS", "5")
            .env("EVALSUITE_OUTPUT", output(directory).as_os_str())
    };
    let decision_in = |directory: &str, arguments: &[&str]| {
        let words: Vec<&str> = arguments.iter().chain(&["--format", "json"]).copied().collect();
        decision(&json(&call(directory, &words).run().stdout))
    };
    let mut found = vec![decision_in("one", &[]), decision_in("nextest", &["--nextest"])];

    // The process of two cases dies in the second round.
    call("broken", &["--nextest"]).env("BREAKS", "c03:1,c11:1").run();
    found.push(decision_in("broken", &["--nextest"]));

    for (machine, part) in [("m1", "count:1/2"), ("m2", "count:2/2")] {
        let part = call(machine, &["--nextest", "--", "--partition", part]).run();
        part.succeeds("a part decides nothing").says("`cargo evalsuite merge`");
    }
    let [m1, m2, into] = ["m1", "m2", "merged"].map(|part| output(part).display().to_string());
    decided.call(&["merge", &m1, &m2, "--into", &into], "0", "").run().succeeds("the parts belong together");
    assert!(Path::new(&into).join("runs/shards/decision.json").is_file(), "the plan is that of all parts");
    found.push(decision_in("merged", &[]));
    assert!(found.iter().all(|other| *other == found[0]) && found[0].1 > 0, "{found:?}");
    let repeated = decided.package().records().named("case.json");
    let is_repeated = |file: &&std::path::PathBuf| file.display().to_string().contains(".attempt-");
    assert_eq!(repeated.iter().find(is_repeated), None, "nextest repeats no test, whatever its configuration says");
}

#[test]
fn clusters_and_a_fixed_number_of_trials() {
    let decided = Decided::new("decided_fixed", "10");
    let fixed = decided.run("fixed", "0.4", &["--trials", "6", "--format", "json"]).run();
    assert_eq!(fixed.code, Some(1), "{}", fixed.transcript());
    let result = json(&fixed.stdout);
    assert!(result["decision"]["fixed"] == true && decision(&result).1 < 120, "{result}");
    let clusters = decided.run("clusters", "0.4", &["--cluster-by", "group", "--format", "json"]).run();
    assert_eq!(clusters.code, Some(1), "{}", clusters.transcript());
    let refused = |id: &str, rate: &str, arguments: &[&str], why: &str| {
        let run = decided.run(id, rate, arguments).run();
        assert_eq!(run.code, Some(2), "{}", run.transcript());
        run.says(why);
    };
    refused("clusters", "0.9", &["--cluster-by", "group"], " was started with another agent");
    let with_trials = ["--cluster-by", "group", "--trials", "6"];
    refused("clusters", "0.4", &with_trials, " was started with another base, margin, cluster or number of trials");
    let unknown = decided.run("unknown", "0.4", &["--cluster-by", "topic"]).run();
    assert_eq!(unknown.code, Some(2), "{}", unknown.transcript());
    unknown.says("no selected case has `topic` in its metadata");
    let without = decided.call(&["run", "--until-decided"], "0.4", "run").run();
    assert_eq!(without.code, Some(2), "nothing is promised without a margin\n{}", without.transcript());
}
