//! A new built-in grader needs edits in three files, as CONTRIBUTING says; the checks, the schemas and the runs follow.

use std::fs;
use std::path::PathBuf;

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Call, Package, files_below, suites, workspace};

const MANIFEST: &str = r#"
[package]
name = "agent"
version = "0.1.0"
edition = "2024"

[dependencies]
evalsuite = { path = "../runtime" }

[dev-dependencies]
evalsuite-loader = { path = "../loader", features = ["documents"] }
"#;

const SETTINGS: &str = r#"
/// The answer has at most `max` words.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct MaxWords {
    /// Most words of a passing answer.
    #[key(Integer(1, u64::MAX), "200", required, unit = "words")]
    pub max: u64,
}

impl GraderSettings for MaxWords {}
"#;

const ROW: &str = r#"
            MaxWords(MaxWords) = "max-words", Code, text_graders::max_words, r"{ type: max-words, max: 200 }";
"#;

const GRADING: &str = r#"
pub(crate) fn max_words(config: &evalsuite_schema::grader::MaxWords, answer: &str) -> Score {
    let words = answer.split_whitespace().count() as u64;
    Score::from(words <= config.max).with_assertion(Assertion::new(format!("Output has {words} words"), words <= config.max))
}
"#;

const SUITE: &str = "tests:
  - { id: short, input: one two three, assertions: [{ type: max-words, max: 3 }] }
  - { id: long, input: one two three four, assertions: [{ type: max-words, max: 3 }] }
";

const TESTS: &str = r#"
evalsuite::include_eval_suite!("suites/words", agent = agent::agent);

#[test]
fn schema() {
    println!("{}", evalsuite_loader::key_tables::json_schema("case").unwrap());
}
"#;

#[slow(builds)]
#[test]
fn a_new_grader_touches_three_files() {
    let package = Package::workspace("new-grader", &[]);
    copy_workspace(&package);
    edit(&package, "schema/src/grader/text_graders.rs", |text| format!("{text}{SETTINGS}"));
    edit(&package, "schema/src/grader/mod.rs", |text| {
        let text = insert_after(text, "pub use text_graders::{", "MaxWords, ");
        insert_after(&text, "$generate! {", ROW)
    });
    edit(&package, "runtime/src/grade/text_graders.rs", |text| format!("{text}{GRADING}"));
    package
        .write("agent/Cargo.toml", MANIFEST)
        .write("agent/src/lib.rs", suites::AGENT)
        .write("agent/suites/words/EVAL.yaml", SUITE)
        .write("agent/tests/evals.rs", TESTS);

    let build = package.build(["-p", "agent"]).succeeds("the workspace with a new grader is built");
    let tests =
        || Call::program(build.executable("test", "evals"), &package).in_directory(&package.root().join("agent"));
    tests().args(["short"]).run().succeeds("three words pass");
    tests().args(["long"]).run().fails("four words fail").says("Output has 4 words");

    tests()
        .args(["schema", "--nocapture"])
        .run()
        .succeeds("the schema is printed")
        .says("Most words of a passing answer.");

    package.write("agent/suites/words/EVAL.yaml", &SUITE.replacen("max: 3", "max: 0", 1));
    let checked = package.cargo(["test", "--no-run", "-p", "agent"]).run().fails("`max` is at least 1");
    checked.says("E024").says("EVAL.yaml:2:").says("`max` is 0");
}

/// Copies the workspace, so that the grader is added to a copy.
fn copy_workspace(package: &Package) {
    let entries =
        fs::read_dir(workspace()).expect("the workspace can be read").map(|entry| entry.expect("readable").path());
    let is_source = |path: &PathBuf| path.is_dir() && !path.ends_with("target") && !path.ends_with(".git");
    for file in entries.filter(is_source).flat_map(|folder| files_below(&folder)).filter(|path| path.is_file()) {
        let copy = package.root().join(file.strip_prefix(workspace()).expect("a file of the workspace"));
        fs::create_dir_all(copy.parent().expect("a file has a folder")).expect("the folder can be made");
        fs::copy(&file, copy).unwrap_or_else(|error| panic!("cannot copy {}: {error}", file.display()));
    }
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).expect("the workspace has a manifest");
    // Optimised crates would take most of the time.
    let (manifest, _) = manifest.split_once("\n[profile.").expect("profiles come last");
    package.write("Cargo.toml", &insert_after(manifest, "\nmembers = [", "\"agent\", "));
}

fn edit(package: &Package, path: &str, edited: impl Fn(&str) -> String) {
    let text = fs::read_to_string(package.root().join(path)).expect("the file was copied");
    package.write(path, &edited(&text));
}

/// The text with `new` after the only occurrence of `place`.
fn insert_after(text: &str, place: &str, new: &str) -> String {
    let (before, after) = text.split_once(place).unwrap_or_else(|| panic!("expected `{place}`"));
    assert!(!after.contains(place), "expected `{place}` once");
    format!("{before}{place}{new}{after}")
}
