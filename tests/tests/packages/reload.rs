//! Cases that change after the build, run by the program of that build.

use std::path::{Path, PathBuf};

use evalsuite_needs::slow;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, CommandOutput, MORE_FEATURES, Package, suites};

const TESTS: &str = "
use std::convert::Infallible;

use evalsuite::{Evidence, Trial};

fn agent(trial: &mut Trial<'_>) -> Result<String, Infallible> {
    let note = std::fs::read_to_string(trial.workspace().join(\"note.txt\")).unwrap_or_default();
    Ok(format!(\"{} {note}\", trial.prompt()))
}

use agent as echo;

fn is_short(evidence: &Evidence<'_>) -> bool {
    evidence.answer().len() < 200
}

evalsuite::include_eval_suite!(\"suites/by_task\");
evalsuite::include_eval_suite!(\"suites/by_case\", graders = [is_short], require_env = [\"PATH\"], allow = [\"unused-file\"]);
evalsuite::include_eval_suite!(\"suites/flat\", targets = [\"one\", \"two\"]);
evalsuite::include_eval_suite!(\"suites/lines.jsonl\");
include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/written.rs\"));
";

const BUILD_SCRIPT: &str = "
fn main() {
    evalsuite_build::track(\"suites\");
    evalsuite_build::generate(\"written\").agent(\"agent\").write();
}
";

const FEATURE: [&str; 4] = ["--test", "evals", "--features", MORE_FEATURES];

fn by_case(asks: &str, expects: &str) -> String {
    format!("{}  - include: polite\n  - type: is-short\n", suites::case(asks, expects))
}

fn each(expects: &str) -> String {
    format!("matrix: {{ word: [hello, howdy] }}\n{}", suites::case("{{ word }}", expects))
}

fn flat(first: &str, second: &str) -> String {
    let case = |id: &str, expects: &str| {
        format!("  - id: {id}\n    input: hello\n    assertions: [{{ type: contains, value: {expects:?} }}]\n")
    };
    format!("name: flat\ntests:\n{}{}", case("one-a", first), case("two-b", second))
}

fn line(id: &str, expects: &str) -> String {
    format!(
        "{{\"id\": {id:?}, \"input\": \"hello\", \"assertions\": [{{\"type\": \"contains\", \"value\": {expects:?}}}]}}\n"
    )
}

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .add_generator()
        .write("build.rs", BUILD_SCRIPT)
        .library("")
        .write("tests/evals.rs", TESTS)
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"))
        .write("suites/by_task/tasks/deep/one.json", &suites::task("one", "hello", "hello"))
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/.evalsuite/templates/polite.yaml", "assertions:\n  - { type: contains, value: hello }\n")
        .write("suites/by_case/cases/first/case.yaml", &by_case("hello", "hello"))
        .write("suites/by_case/cases/first/workspace/note.txt", "before")
        .write("suites/by_case/cases/second/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/cases/each/case.yaml", &each("h"))
        .write("suites/flat/EVAL.yaml", &flat("hello", "hello"))
        .write("suites/lines.jsonl", &[line("a", "hello"), line("b", "hello")].concat())
        .write("written/EVAL.yaml", suites::EVAL_YAML)
        .write("written/cases/only/case.yaml", &suites::case("hello", "hello"));
    package
}

/// Runs one test of a program that was built before, and reads its case record.
fn reloaded(program: &Path, package: &Package, test: &str) -> CommandOutput {
    package.records().clear();
    Call::program(program, package).args(["--exact", test]).env("EVALSUITE_RELOAD", "1").run()
}

fn program(package: &Package) -> PathBuf {
    package.build(FEATURE).succeeds("the package is valid").executable("test", "evals")
}

/// What a record says about the case and its trials, without times and the run.
fn record(package: &Package) -> (Value, Vec<Value>) {
    let [mut case] = <[Value; 1]>::try_from(package.records().cases()).expect("one case ran");
    let mut trials = package.records().results();
    for record in trials.iter_mut().chain([&mut case]) {
        let object = record.as_object_mut().expect("a record");
        object.retain(|key, _| {
            key.contains("digest")
                || ["case_id", "test_name", "outcome", "location", "graders", "tags"].contains(&key.as_str())
        });
        let graders = object.get_mut("graders").and_then(Value::as_array_mut);
        for grader in graders.into_iter().flatten().filter_map(Value::as_object_mut) {
            grader.remove("duration_ms");
        }
    }
    (case, trials)
}

#[slow(builds)]
#[test]
fn a_changed_case_runs_as_after_a_build_of_it() {
    let package = package("reloading");
    let before = program(&package);
    let unchanged = reloaded(&before, &package, "by_case::first").succeeds("nothing has changed");
    unchanged.is_silent_about("RELOADED");

    package
        .write("suites/by_task/tasks/deep/one.json", &suites::task("one", "good morning", "morning"))
        .write(
            "suites/by_case/.evalsuite/templates/polite.yaml",
            "assertions:\n  - { type: contains, value: goodbye }\n",
        )
        .write("suites/by_case/cases/first/case.yaml", &by_case("goodbye", "after"))
        .write("suites/by_case/cases/first/workspace/note.txt", "after")
        .write("suites/by_case/cases/each/case.yaml", &each("ello"))
        .write("suites/flat/EVAL.yaml", &flat("hello", "absent"))
        .write("suites/lines.jsonl", &[line("a", "hello"), line("b", "absent")].concat())
        .write("written/EVAL.yaml", "description: Small cases.\ntags: [small]\nexecution:\n  threshold: 0.25\n")
        .write("written/cases/only/case.yaml", &suites::case("hello", "absent"));
    let changed = [
        ("by_task::deep::one", true),
        ("by_case::first", true),
        ("by_case::each_hello", true),
        ("by_case::each_howdy", false),
        ("flat::two::two_b", false),
        ("lines::b", false),
        ("written::only", false),
    ];
    let unchanged = [("by_task::top", true), ("by_case::second", true), ("flat::one::one_a", true), ("lines::a", true)];
    let tests: Vec<(&str, bool, bool)> = (changed.iter().map(|(test, passes)| (*test, *passes, true)))
        .chain(unchanged.iter().map(|(test, passes)| (*test, *passes, false)))
        .collect();
    let mut records = Vec::new();
    for (test, passes, is_changed) in &tests {
        let ran = reloaded(&before, &package, test);
        assert_eq!(ran.success, *passes, "{}", ran.transcript());
        ran.says_times(&format!("RELOADED {test}: "), usize::from(*is_changed));
        records.push(record(&package));
    }
    let after = program(&package);
    assert_ne!(after.metadata().expect("a program").modified().ok(), None);
    for ((test, passes, _), reloaded) in tests.iter().zip(records) {
        package.records().clear();
        let ran = Call::program(&after, &package).args(["--exact", test]).run();
        assert_eq!(ran.success, *passes, "{}", ran.transcript());
        assert_eq!(record(&package), reloaded, "{test}: the record of a build, and that of the same text reloaded");
    }
}

#[slow(builds)]
#[test]
fn a_malformed_case_fails_its_own_test_with_what_the_compiler_would_show() {
    let package = package("reloading-errors");
    let built = program(&package);
    package.write("suites/by_case/cases/first/case.yaml", &by_case("hello", "hello").replace("is-short", "is-shrt"));
    package.write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello").replace("graders", "gradrs"));
    let grader = reloaded(&built, &package, "by_case::first").fails("the grader is not registered");
    grader.says("error[E050 unknown-grader]: unknown grader `is-shrt`").says("did you mean `is_short`?");
    grader.says(" --> suites/by_case/cases/first/case.yaml:5:");
    let key = reloaded(&built, &package, "by_task::top").fails("the key is unknown");
    key.says("unknown key `gradrs`").says(" --> suites/by_task/tasks/top.json:2:");
    reloaded(&built, &package, "by_case::second").succeeds("another case is not wrong");
    let compiled = package.build(FEATURE).fails("the same text is malformed");
    let shown = compiled.transcript();
    for line in
        grader.text().lines().chain(key.text().lines()).filter(|line| line.contains('|') || line.contains("-->"))
    {
        assert!(shown.contains(line.trim_end()), "{line} is not shown by the compiler:\n{shown}");
    }
    // In one process, too: those that are not wrong run.
    package.records().clear();
    let all = Call::program(&built, &package).env("EVALSUITE_RELOAD", "1").run().fails("two cases are malformed");
    all.says("test by_case::second ... ok").says("test flat::two::two_b ... ok").says("test by_task::top ... FAILED");
    all.says("test by_case::suite_check ... FAILED");
}

#[slow(builds)]
#[test]
fn new_cases_and_cases_that_are_gone_are_named_once_and_need_a_build() {
    let package = package("reloading-new");
    let built = program(&package);
    package
        .write("suites/by_case/cases/third/case.yaml", &suites::case("hello", "hello"))
        .remove("suites/by_case/cases/second")
        .write("suites/lines.jsonl", &[line("a", "hello"), line("c", "hello")].concat());
    let first = reloaded(&built, &package, "by_case::first").succeeds("it is still there");
    first.says_times("NOT BUILT YET: new cases of `suites/by_case`: third", 1);
    first.says_times("STILL BUILT: cases that are gone of `suites/by_case`: second", 1);
    reloaded(&built, &package, "lines::a").says("new cases of `suites`: c");
    let gone = reloaded(&built, &package, "lines::b").fails("its case is gone");
    gone.says("`suites` has no case for the test `lines::b` any more\nhelp: build again");
    reloaded(&built, &package, "by_case::second").fails("its case is gone").says("help: build again");
    package.records().clear();
    let all = Call::program(&built, &package).env("EVALSUITE_RELOAD", "1").run().fails("cases are gone");
    all.says_times("NOT BUILT YET: new cases of `suites/by_case`: third", 1);
}

const EVALS_RUN: &str = "
use std::task::{Context, Poll, Waker};

fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok(trial.prompt().to_owned())
}

evalsuite::include_eval_suite!(\"suites/many\");

#[test]
fn run() {
    let options = match std::env::var(\"TEST_FILTER\") {
        Ok(filter) => evalsuite::RunOptions::new().with_filter(filter),
        Err(_) => evalsuite::RunOptions::new(),
    };
    let evals = many::evals();
    let mut run = std::pin::pin!(evals.run(&options));
    let mut context = Context::from_waker(Waker::noop());
    let report = loop {
        if let Poll::Ready(report) = run.as_mut().poll(&mut context) {
            break report.unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    for case in report.cases() {
        println!(\"RAN {} as {}\", case.case().test_name(), case.case().id());
    }
    assert!(report.is_success(), \"{report}\");
}
";

/// More cases than a process loads one by one.
#[slow(builds)]
#[test]
fn cases_that_are_gone_do_not_run_in_a_process_that_runs_many() {
    let package = Package::new("reloading-many");
    package
        .add_generator()
        .write("build.rs", "fn main() { evalsuite_build::track(\"suites\"); }\n")
        .library("")
        .write("tests/evals.rs", EVALS_RUN)
        .write("suites/many/EVAL.yaml", suites::EVAL_YAML);
    for case in 'a'..='n' {
        package.write(&format!("suites/many/cases/case-{case}/case.yaml"), &suites::case("hello", "hello"));
    }
    let built = program(&package);
    reloaded(&built, &package, "run").succeeds("nothing has changed").is_silent_about("any more");
    let renamed = format!("id: renamed\n{}", suites::case("hello", "hello"));
    package
        .remove("suites/many/cases/case-m")
        .write("suites/many/cases/case-z/case.yaml", &suites::case("hello", "hello"))
        .write("suites/many/cases/case-b/case.yaml", &renamed);

    let ran = reloaded(&built, &package, "run").fails("a case is gone");
    ran.says("`suites/many` has no case for the test `many::case_m` any more\nhelp: build again");
    ran.says_times("NOT BUILT YET: new cases of `suites/many`: case_z", 1);
    ran.says_times("STILL BUILT: cases that are gone of `suites/many`: case_m", 1);
    ran.says("RAN case_a as case-a").says("RAN case_b as renamed").is_silent_about("RAN case_m");
    package.records().clear();
    let filtered = Call::program(&built, &package)
        .args(["--exact", "run"])
        .env("EVALSUITE_RELOAD", "1")
        .env("TEST_FILTER", "case_a")
        .run()
        .succeeds("the case that is gone is not wanted");
    filtered.is_silent_about("any more");

    package.records().clear();
    let all = ["--test-threads=1", "--skip", "run", "many::"];
    let tests = Call::program(&built, &package).args(all).env("EVALSUITE_RELOAD", "1").run();
    tests.fails("a case is gone").says("test many::case_m ... FAILED").says("test many::case_n ... ok");
}

#[slow(builds)]
#[test]
fn another_id_is_checked_against_the_other_cases() {
    let package = package("reloading-ids");
    let built = program(&package);
    let with_id = |id: &str| format!("id: {id}\n{}", suites::case("hello", "hello"));
    package.write("suites/by_case/cases/second/case.yaml", &with_id("first"));
    let twice = reloaded(&built, &package, "by_case::second").fails("the id is taken");
    twice.says("duplicate-id").says("id `first` also at");
    package.write("suites/by_case/cases/second/case.yaml", &with_id("renamed"));
    reloaded(&built, &package, "by_case::second").succeeds("the id is free");
    assert_eq!(package.records().of_case("renamed").len(), 1);
    package.write("suites/by_case/cases/second/case.yaml", &format!("depends_on: [frist]\n{}", suites::case("a", "a")));
    let unknown = reloaded(&built, &package, "by_case::second").fails("it depends on nothing");
    unknown.says("`depends_on` names `frist`").says("did you mean `first`?");
}

#[slow(builds)]
#[test]
fn criteria_that_nothing_judges_any_more_are_reported_as_by_a_build() {
    let package = package("reloading-criteria");
    let with_criteria = |rest: &str| format!("criteria: Is polite.\n{}{rest}", suites::case("hello", "hello"));
    package.write("suites/by_case/cases/second/case.yaml", &with_criteria("  - type: is-short\n"));
    let built = program(&package);
    package.write("suites/by_case/cases/second/case.yaml", &with_criteria(""));
    let ran = reloaded(&built, &package, "by_case::second").succeeds("it is a warning");
    ran.says("`criteria` of case `second` are documentation only: no grader judges them");
}

#[slow(builds)]
#[test]
fn without_the_feature_the_variable_is_an_error_that_says_how_to_get_it() {
    let package = package("reloading-featureless");
    let built = package.build(["--test", "evals"]).succeeds("the package is valid").executable("test", "evals");
    for test in ["by_case::first", "by_case::suite_check"] {
        let error = reloaded(&built, &package, test).fails("nothing can be reloaded");
        error.says("built without its feature `reload`").says("features = [\"reload\"]");
    }
}
