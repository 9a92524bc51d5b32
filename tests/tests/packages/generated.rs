//! `evalsuite_build::generate` and the macro produce the same code.

use std::fs;
use std::path::PathBuf;

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Build, Call, Package, suites};

/// Prints both suites, and checks that they can be used.
const DUMP: &str = "
#[test]
fn dump() {
    println!(\"{:#?}\\n{:#?}\", by_task::evals(), by_case::evals());
    let typed: &'static evalsuite::EvalSuite = &by_task::SUITE;
    typed.decode().expect(\"the suite decodes\");
    let calibration = by_case::SUITE.decode_calibration().expect(\"it decodes\").expect(\"there is one\");
    assert_eq!(calibration.samples[0].output, \"worst \\u{202e} \\\"# 🦀\");
    by_case::SUITE.cases().iter().for_each(|case| drop(case.decode().expect(\"the case decodes\")));
}

pub fn polite(evidence: &evalsuite::Evidence<'_>) -> bool {
    !evidence.answer().is_empty()
}
";

fn package() -> Package {
    let package = Package::new("generated");
    package.add_generator();
    package
        .write(
            "build.rs",
            "fn main() {
                evalsuite_build::generate(\"suites/by_task\").agent(\"generated::agent\").graders([\"polite\"]).write();
                evalsuite_build::generate(\"suites/by_case\").write();
                evalsuite_build::generate(\"suites/by_case\").name(\"again\").ignore(\"twice\").no_agent().write();
            }\n",
        )
        .library(suites::AGENT)
        .write(
            "tests/by_macro.rs",
            &format!(
                "use generated::agent;
                evalsuite::include_eval_suite!(\"suites/by_task\", agent = generated::agent, graders = [polite]);
                evalsuite::include_eval_suite!(\"suites/by_case\");
                evalsuite::include_eval_suite!(\"suites/by_case\", name = again, ignore = \"twice\", agent = none);{DUMP}"
            ),
        )
        .write(
            "tests/by_file.rs",
            &format!(
                "use generated::agent;
                include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/by_task.rs\"));
                include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/by_case.rs\"));
                include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/again.rs\"));{DUMP}"
            ),
        );
    write_suites(&package, &[0, 1, 2, 3, 4, 5]);
    package
}

/// A calibration of a suite that has no judge.
const CALIBRATION: &str = "samples:
  - { id: one, input: Ünï, criteria: Is polite, output: \"worst \\u202e \\\"# 🦀\", human_score: 0 }
  - { id: two, input: q, criteria: Is polite, output: best, human_score: 1 }
";

/// Writes the files of both suites in the given order.
fn write_suites(package: &Package, order: &[usize]) {
    let polite = "{ \"id\": \"b\\u0007\u{202e} \\\"#\", \"description\": \"Ünïcode 🦀 and \\\\ escapes\", \"graders\": [{ \"name\": \"polite\" }] }";
    let files = [
        ("suites/by_task/tasks/z.json", suites::task("z", "hello", "hello")),
        ("suites/by_task/tasks/deep/a.json", polite.replace("\\u0007", "")),
        ("suites/by_case/cases/9 lives/case.yaml", suites::case("hello", "hello")),
        ("suites/by_case/cases/fn/case.yaml", suites::case("hello", "hello")),
        ("suites/by_case/cases/judge_calibration/case.yaml", suites::case("hello", "hello")),
        ("suites/by_case/calibration.yaml", CALIBRATION.to_owned()),
    ];
    package.write("suites/by_task/suite.json", suites::SUITE_JSON).write("suites/by_case/EVAL.yaml", suites::EVAL_YAML);
    for index in order {
        package.write(files[*index].0, &files[*index].1);
    }
}

/// What the test program prints about its suites, with its own name replaced.
fn dump(build: &Build, package: &Package, target: &str) -> String {
    let ran = Call::program(build.executable("test", target), package).args(["--exact", "dump", "--nocapture"]).run();
    let ran = ran.succeeds("the suites can be printed");
    let dump = ran.stdout.split_once("running 1 test\n").and_then(|(_, rest)| rest.rsplit_once("test dump ... ok"));
    let (dump, _) = dump.unwrap_or_else(|| panic!("expected one test\n{}", ran.transcript()));
    dump.replace(target, "PROGRAM")
}

fn files(build: &Build, package: &Package) -> Vec<(PathBuf, String)> {
    let out_dir = build.out_dir(package).join("evalsuite");
    let name = |name: &str| out_dir.join(name);
    ["by_task.rs", "by_case.rs", "again.rs"]
        .map(|file| (name(file), fs::read_to_string(name(file)).expect("the build script wrote the file")))
        .into()
}

#[slow(builds)]
#[test]
fn the_macro_and_the_generated_file_produce_the_same_suite_and_tests_every_time() {
    let package = package();
    let build = package.build([]).succeeds("both compile");
    let tests = build.tests(&package, "test", "by_macro");
    assert!(
        tests.contains("by_task::deep::a") && tests.contains("by_case::_9_lives") && tests.contains("by_case::fn_"),
        "{tests:?}"
    );
    assert_eq!(build.tests(&package, "test", "by_file"), tests, "the same tests");
    assert!(tests.contains("by_case::judge_calibration") && tests.contains("by_case::judge_calibration_"), "{tests:?}");
    assert!(!tests.iter().any(|test| test.starts_with("by_task::judge") || test.starts_with("again::")), "{tests:?}");
    let dumped = dump(&build, &package, "by_macro");
    assert!(dumped.contains("Ünïcode"), "{dumped}");
    // The debug output of agents and graders is their path.
    assert_eq!(dump(&build, &package, "by_file"), dumped, "the same suites, agents and graders");
    let ran = package.cargo(["test"]).run().succeeds("all cases pass");
    ran.says_times("test by_task::deep::a ... ok", 2).says_times("test by_case::suite_check ... ok", 2);
    ran.says_times("test by_case::judge_calibration ... ok", 2)
        .says_times("test by_case::judge_calibration_ ... ok", 2);
    ran.says_times("SKIPPED judge calibration of by_case: needs a judge", 2);

    // The same files, created in another order, as on another machine.
    let before = files(&build, &package);
    package.remove("suites");
    write_suites(&package, &[5, 3, 1, 2, 0, 4]);
    let again = package.build([]).succeeds("both compile");
    assert_eq!(files(&again, &package), before, "the generated text depends on the suite only");
    assert_eq!(dump(&again, &package, "by_macro"), dumped, "the macro's code depends on the suite only");

    // Generated code is for reading, too.
    let longest = before.iter().flat_map(|(_, text)| text.lines()).map(str::len).max().unwrap_or_default();
    assert!(longest < 2000, "the longest line of the generated code has {longest} bytes");

    package.write("suites/by_case/cases/added/case.yaml", &suites::case("hello", "hello"));
    let added = package.build([]).succeeds("an added case is seen");
    for target in ["by_macro", "by_file"] {
        assert!(added.tests(&package, "test", target).contains("by_case::added"), "{target} has the new case");
    }
}

/// A closure and a cast, with commas and `->` in their types.
const CLOSURE: &str =
    "|trial: &mut evalsuite::Trial<'_>| -> Result<String, std::io::Error> { Ok(trial.prompt().to_owned()) }";
const CAST: &str = "polite as fn(&evalsuite::Evidence<'_>) -> Result<bool, std::io::Error>";

#[slow(builds)]
#[test]
fn closures_and_casts_are_agents_and_graders() {
    let package = Package::new("expressions");
    package.add_generator();
    let polite = "pub fn polite(evidence: &evalsuite::Evidence<'_>) -> Result<bool, std::io::Error> {
        Ok(evidence.answer().contains(\"hello\"))
    }
    pub fn same<A, B>(answer: Result<A, B>) -> Result<A, B> { answer }\n";
    let arguments = format!(
        "agent = {CLOSURE}, graders = [{CAST}, \"short\" => |e: &evalsuite::Evidence<'_>| -> Result<bool, std::io::Error> {{ same::<bool, std::io::Error>(Ok(e.answer().len() < 9)) }}]"
    );
    package
        .write(
            "build.rs",
            &format!(
                "fn main() {{
                    evalsuite_build::generate(\"suites/by_task\")
                        .agent({CLOSURE:?})
                        .graders([{CAST:?}])
                        .grader(\"short\", \"|e: &evalsuite::Evidence<'_>| -> Result<bool, std::io::Error> {{ Ok(e.answer().len() < 9) }}\")
                        .write();
                }}\n"
            ),
        )
        .library(polite)
        .write(
            "tests/by_macro.rs",
            &format!("use expressions::*;\nevalsuite::include_eval_suite!(\"suites/by_task\", {arguments}, fixtures = off);\n"),
        )
        .write(
            "tests/by_file.rs",
            "use expressions::*;\ninclude!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/by_task.rs\"));\n",
        )
        .write("suites/by_task/suite.json", suites::SUITE_JSON);
    for grader in ["polite", "short"] {
        let contains = "{ \"name\": \"contains\", \"config\": { \"value\": \"hello\" } }";
        let task = suites::task(grader, "hello", "hello").replace(contains, &format!("{{ \"name\": {grader:?} }}"));
        package.write(&format!("suites/by_task/tasks/{grader}.json"), &task);
    }
    let ran = package.cargo(["test"]).run().succeeds("both compile, and all cases pass");
    ran.says_times("test by_task::polite ... ok", 2).says_times("test by_task::short ... ok", 2);
}

#[slow(builds)]
#[test]
fn mistakes_in_a_generated_suite_are_errors_of_the_build_script() {
    let package = Package::new("generated_broken");
    package.add_generator();
    package
        .write("build.rs", "fn main() { evalsuite_build::generate(\"suites/by_case\").graders([\"polite\"]).write(); }")
        .write(
            "src/lib.rs",
            &format!("{}include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/by_case.rs\"));", suites::AGENT),
        )
        .write("suites/by_case/EVAL.yaml", "execution: { treshold: 0.5 }\n")
        .write("suites/by_case/cases/first/case.yaml", "input: hello\nassertions:\n  - type: polit\n");
    let ran = package.cargo(["build"]).run().fails("the suite is broken");
    ran.says("E019 unknown-key").says("suites/by_case/EVAL.yaml:1:14").says("did you mean `threshold`?");
    ran.says("E050 unknown-grader").says("suites/by_case/cases/first/case.yaml:3:11").says("did you mean `polite`?");
    ran.is_silent_about("panicked");
    package
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/first/case.yaml", "input: hello\nassertions:\n  - type: polite\n");
    package.write(
        "src/lib.rs",
        &format!(
            "{}include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/by_case.rs\"));
            fn polite(_: &evalsuite::Evidence<'_>) -> bool {{ true }}",
            suites::AGENT
        ),
    );
    package.cargo(["test"]).run().succeeds("the suite is fixed").says("test by_case::first ... ok");
}
