//! evalsuite as a dynamic library: the same tests in a smaller program.

use evalsuite_needs::{needs, slow};
use evalsuite_tests::throwaway::{Package, suites};

/// Tests that use a dependency of evalsuite themselves, and macros and traits of both crates.
const TESTS: &str = "
use dynamic::echo;

evalsuite::include_eval_suite!(\"suites/echo\", graders = [own]);

#[derive(serde::Deserialize)]
struct Own { answer: String }

fn own(config: Own, evidence: &evalsuite::Evidence<'_>) -> evalsuite::Score {
    evalsuite::Score::from(evidence.answer() == config.answer)
}
";

const TASK: &str = r#"{ "id": "own", "description": "Is graded in Rust.", "input": { "content": "hello" },
  "graders": [{ "name": "own", "config": { "answer": "hello" } }, { "name": "regex", "config": { "value": "^hel+o$" } }] }"#;

fn package() -> Package {
    let package = Package::new("dynamic");
    let manifest = Package::manifest_with("dynamic", &[]).replace("/runtime\"", "/dynamic\"");
    let manifest = manifest.replace("evalsuite = {", "evalsuite = { package = \"evalsuite-dynamic\",");
    package
        .write("Cargo.toml", &format!("{manifest}\n[workspace]\n"))
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", suites::AGENT)
        .write("tests/evals.rs", TESTS)
        .write("suites/echo/suite.json", suites::SUITE_JSON)
        .write("suites/echo/tasks/good.json", &suites::task("good", "hello", "hello"))
        .write("suites/echo/tasks/bad.json", &suites::task("bad", "hello", "goodbye"))
        .write("suites/echo/tasks/own.json", TASK);
    package
}

#[slow(builds)]
#[needs(nextest, readelf)]
#[test]
fn tests_have_the_same_results_with_the_dynamic_library() {
    let package = package();
    let ran = package.cargo(["test", "--no-fail-fast"]).run().fails("one case fails");
    ran.says("test echo::good ... ok").says("test echo::own ... ok").says("test echo::suite_check ... ok");
    ran.says("test echo::bad ... FAILED").says("Output does not contain \"goodbye\"");
    let program = package.build(["--tests"]).executable("test", "evals");
    let size = std::fs::metadata(&program).expect("the test program").len();
    assert!(size < 10_000_000, "the test program has {size} bytes; expected evalsuite not to be linked into it");
    #[cfg(target_os = "linux")]
    binds_its_own_symbols(&program);
    let ran = package.cargo(["nextest", "run", "--no-fail-fast"]).run().fails("one case fails");
    ran.says("4 tests run: 3 passed, 1 failed");
}

/// No reference of the library to itself is looked up by its name when a test starts.
#[cfg(target_os = "linux")]
fn binds_its_own_symbols(program: &std::path::Path) {
    let is_library = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libevalsuite_dynamic") && name.ends_with(".so")
    };
    let beside = std::fs::read_dir(program.parent().expect("a directory")).expect("a readable directory");
    let library = beside.map(|entry| entry.expect("an entry").path()).find(is_library).expect("the library");
    let output = std::process::Command::new("readelf").arg("-d").arg(library).output().expect("readelf runs");
    let tags = String::from_utf8_lossy(&output.stdout);
    assert!(tags.contains("SYMBOLIC"), "{tags}");
}
