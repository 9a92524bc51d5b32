//! `cargo evalsuite finish` and `merge` after real runs of `cargo nextest run --partition`, as on several machines.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_needs::needs;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, Records, suites};

const CASES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// `threshold` is a key that moved: a warning, which the record of the suite tells.
const EVAL_YAML: &str = "description: Cases for several machines.
workspace:
  hooks:
    before_all: echo \"$MACHINE\" > {{workspace_path}}/made
    after_all: { command: 'cat > /dev/null; echo $MACHINE >> \"$HOOK_LOG\"', timeout_ms: 20000 }
assert:
  - { type: contains, value: hello }
";

const CODE: &str = "
fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<evalsuite::Outcome, std::io::Error> {
    let made = std::fs::read_to_string(trial.workspace().join(\"made\"))?;
    assert_eq!(Some(made.trim()), std::env::var(\"MACHINE\").ok().as_deref());
    Ok(evalsuite::Outcome::from(trial.prompt()).with_cost_usd(0.25))
}

evalsuite::include_eval_suite!(\"suites/sharded\");

mod again {
    evalsuite::include_eval_suite!(\"suites/sharded\", agent = super::agent);
}
";

struct Sharded {
    package: Package,
    log: PathBuf,
}

impl Sharded {
    fn new() -> Self {
        let package = Package::new("sharded");
        package
            .write("build.rs", suites::BUILD_SCRIPT)
            .library("")
            .write("tests/evals.rs", CODE)
            .write("suites/sharded/EVAL.yaml", EVAL_YAML);
        for case in CASES {
            // The last one needs the first one, wherever that belongs.
            let depends_on = if case == "f" { "depends_on: [a]\n" } else { "" };
            package.write(&format!("suites/sharded/cases/{case}/case.yaml"), &format!("input: hello\n{depends_on}"));
        }
        let log = package.root().join("hooks.log");
        Self { package, log }
    }

    fn output(&self, machine: &str) -> PathBuf {
        self.package.records_directory().join(machine)
    }

    /// A call on one of the machines, each of which has records of its own.
    fn on(&self, machine: &str, call: Call) -> Call {
        call.env("MACHINE", machine)
            .env("HOOK_LOG", self.log.as_os_str())
            .env("EVALSUITE_OUTPUT", self.output(machine).as_os_str())
            .env("EVALSUITE_RUN_ID", "nightly")
    }

    fn evalsuite(&self, machine: &str, arguments: &[&str]) -> CommandOutput {
        let program = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &self.package);
        self.on(machine, program.args(arguments.iter().copied())).run()
    }

    fn partition(&self, machine: &str, part: &str) -> BTreeSet<String> {
        let call = self.package.cargo(["nextest", "run", "--partition", part]);
        self.on(machine, call).run().succeeds("every test of the partition passes");
        let own = Records::below(&self.output(machine)).cases();
        own_tests(&own)
    }

    fn merge(&self, into: &str) -> CommandOutput {
        let [one, two, into] = ["one", "two", into].map(|machine| self.output(machine).display().to_string());
        self.evalsuite("desk", &["merge", &one, &two, "--into", &into])
    }
}

/// Tests that were run because they were chosen.
fn own_tests(cases: &[Value]) -> BTreeSet<String> {
    let own = cases.iter().filter(|case| case["requested_by"].is_null());
    own.map(|case| text(&case["test_name"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    evalsuite_schema::json::from_str(&text).unwrap_or_else(|error| panic!("{} is not JSON: {error}", path.display()))
}

#[needs(nextest)]
#[test]
fn partitions_that_ran_on_several_machines_become_one_run() {
    let sharded = Sharded::new();
    let one = sharded.partition("one", "count:1/2");
    let two = sharded.partition("two", "count:2/2");
    let of_module = |module: &str| CASES.map(|case| format!("{module}sharded::{case}"));
    let all: BTreeSet<String> = of_module("").into_iter().chain(of_module("again::")).collect();
    assert_eq!((one.intersection(&two).count(), &one | &two), (0, all.clone()), "{one:?} {two:?}");
    assert_ne!(one.contains("sharded::a"), one.contains("again::sharded::a"), "which of them is the first depends");
    let records = |machine: &str| Records::below(&sharded.output(machine)).cases().len();
    let requested = records("one") + records("two") - all.len();
    assert!(requested > 0, "the first case ran where the last one needed it, too");

    // Hooks that are still owed need what lies on their machine.
    let early = sharded.merge("early").succeeds("the records are there");
    early.says_times("warning: the after_all hooks of suite `sharded` are pending in ", 2);
    early.says("`cargo evalsuite finish` on its machine, then merge");
    sharded.evalsuite("early", &["finish"]).succeeds("nothing is left to do here").says("no hooks were left to run");
    assert!(!sharded.log.exists(), "no hook runs on a machine that does not know it");

    for machine in ["one", "two"] {
        sharded.evalsuite(machine, &["finish", "--partial"]).succeeds("the hook runs").says("1 hook was run");
    }
    assert_eq!(fs::read_to_string(&sharded.log).expect("hooks ran"), "one\ntwo\n");
    let merged = sharded.merge("all").succeeds("the parts belong together");
    merged.says("merged 12 cases from 2 parts: ").is_silent_about("warning");
    sharded
        .evalsuite("all", &["finish"])
        .succeeds("the run is whole")
        .says("sharded (evals::sharded): 6 passed, 0 failed, 0 error")
        .says("sharded (evals::again::sharded): 6 passed, 0 failed, 0 error");

    let run = sharded.output("all").join("runs/nightly");
    let record = json(&run.join("run.json"));
    let suite = &record["suites"][0];
    assert_eq!(
        (&suite["tests"], &suite["before_all"], &suite["after_all"]),
        (&12.into(), &"done".into(), &"done".into())
    );
    assert_eq!(record["shards"].as_array().map(Vec::len), Some(2), "what each machine was stays known");
    let records = Records::below(&run);
    assert_eq!(own_tests(&records.cases()), all, "each case has the record of its own test");
    let spent = fs::read_to_string(run.join("spend.jsonl")).expect("a ledger");
    assert_eq!(spent.lines().count(), all.len() + requested, "what a case has cost on both machines was paid twice");
    let suite = json(&records.named("suite.json")[0]);
    assert_eq!(suite["tests"].as_array().map(Vec::len), Some(12));
    assert_eq!(suite["diagnostics"][0]["name"], "deprecated-key", "{suite:#}");
    assert!(text(&suite["diagnostics"][0]["message"]).starts_with("suites/sharded/EVAL.yaml:6:1: "), "{suite:#}");
}
