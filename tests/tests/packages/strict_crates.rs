//! The macro in crates with strict lints, without a prelude, or of an older edition.

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Build, Package, suites};

/// Every lint group, and the lints outside of groups that check items.
const STRICT: &str = "#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub, unused_qualifications, non_ascii_idents, absolute_paths_not_starting_with_crate)]
#![warn(missing_debug_implementations, missing_copy_implementations, single_use_lifetimes, unused_results, let_underscore_drop)]
#![warn(elided_lifetimes_in_paths, redundant_lifetimes, variant_size_differences, unit_bindings)]
#![warn(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
//! A library.
";

fn package(name: &str, suite: &str) -> Package {
    let package = Package::new(name);
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write(&format!("suites/{suite}/suite.json"), suites::SUITE_JSON)
        .write(&format!("suites/{suite}/tasks/CamelCase/x__y.json"), &suites::task("upper", "hello", "hello"))
        .write(&format!("suites/{suite}/tasks/größe/naïve.json"), &suites::task("ünïcode", "hello", "hello"))
        .write(&format!("suites/{suite}/tasks/self/crate.json"), &suites::task("keywords", "hello", "hello"));
    package
}

#[slow(builds)]
#[test]
fn generated_code_triggers_no_lint_of_the_users_crate() {
    let package = package("strict", "By__Task");
    package
        .write("src/lib.rs", &format!("{STRICT}\nmod agent;\nmod suite;\n"))
        .write("src/agent.rs", suites::AGENT)
        .write("src/suite.rs", "use crate::agent::echo;\n\nevalsuite::include_eval_suite!(\"suites/By__Task\");\n");
    let build = package.build(["--lib"]).succeeds("lints are warnings here");
    has_no_lint_about_the_suite(&build);
    let tests = build.tests(&package, "lib", "strict");
    assert!(tests.contains("suite::By__Task::größe::naïve"), "expected names to keep their letters: {tests:?}");
    package.cargo(["test"]).run().succeeds("all cases pass").says("4 passed");

    if package.cargo(["clippy", "--version"]).run().success {
        let clippy = package.cargo(["clippy", "--all-targets"]).build().succeeds("lints are warnings here");
        let agents = clippy.messages.iter().filter(|message| message.rendered.contains("src/agent.rs")).count();
        assert!(agents > 0, "expected clippy to look at the code of the user\n{}", clippy.transcript());
        has_no_lint_about_the_suite(&clippy);
    }
}

#[slow(builds)]
#[test]
fn a_suite_with_every_argument_is_silent_where_lints_are_errors() {
    const ERRORS: &str = "//! Tests.
#![deny(warnings, missing_docs, unused, future_incompatible, nonstandard_style, let_underscore, unreachable_pub)]
#![deny(rust_2018_idioms, unused_qualifications, unused_results, single_use_lifetimes, missing_debug_implementations)]
#![deny(elided_lifetimes_in_paths, trivial_casts, trivial_numeric_casts, unused_lifetimes, unused_import_braces)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery, clippy::cargo)]
#![allow(clippy::cargo_common_metadata, clippy::multiple_crate_versions, reason = \"of the manifest\")]
";
    let package = package("denied", "by_task");
    package
        .write(
            "src/lib.rs",
            &format!(
                "{ERRORS}
use evalsuite::{{Evidence, Judge, JudgeError, JudgeReply, JudgeRequest, Score, Trial}};

/// Repeats.
///
/// # Errors
///
/// Never.
pub fn echo(trial: &mut Trial<'_>) -> Result<String, std::convert::Infallible> {{
    Ok(trial.prompt().to_owned())
}}

/// Passes.
pub fn passes(_: &Evidence<'_>) -> Score {{
    Score::pass()
}}

/// Agrees.
#[derive(Debug, Clone, Copy)]
pub struct Agrees;

impl Judge for Agrees {{
    async fn judge(&self, _: JudgeRequest) -> Result<JudgeReply, JudgeError> {{
        Ok(JudgeReply::new(\"yes\"))
    }}
}}
"
            ),
        )
        .write("suites/judged/EVAL.yaml", "assertions:\n  - { type: passes }\n  - { type: again }\n")
        .write("suites/judged/cases/first/case.yaml", &suites::case("hello", "hello"));
    let call = "agent = echo, graders = [passes, \"again\" => passes], judge = Agrees, judges = { \"strict\" => Agrees }, \
                judge_confirm = 0, name = judged, ignore = \"slow\"";
    package.write(
        "tests/evals.rs",
        &format!(
            "{ERRORS}
use denied::{{Agrees, echo, passes}};

evalsuite::include_eval_suite!(\"suites/judged\", {call});
evalsuite::include_eval_suite!(\"suites/by_task\", agents = {{ \"small\" => echo, \"large\" => echo }}, targets = [\"small\", \"large\"]);
"
        ),
    );
    package.build(["--all-targets"]).succeeds("the expansion is silent");
    if package.cargo(["clippy", "--version"]).run().success {
        package.cargo(["clippy", "--all-targets"]).build().succeeds("the expansion is silent");
    }
}

/// Fails the test if a lint points at the file with the macro call or at a file of the suite.
#[track_caller]
fn has_no_lint_about_the_suite(build: &Build) {
    let is_about = |text: &&str| {
        let place = text.lines().find(|line| line.trim_start().starts_with("--> "));
        place.is_some_and(|line| line.contains("src/suite.rs") || line.contains("suites/"))
    };
    let about: Vec<&str> = build.messages.iter().map(|message| message.rendered.as_str()).filter(is_about).collect();
    assert!(about.is_empty(), "expected no lint about generated code\n{}", about.join("\n"));
}

#[slow(builds)]
#[test]
fn generated_code_needs_no_prelude_and_no_newer_edition() {
    let package = package("bare_names", "by_task");
    let manifest = std::fs::read_to_string(package.root().join("Cargo.toml")).expect("a manifest");
    package.write("Cargo.toml", &manifest.replace("edition = \"2024\"", "edition = \"2018\"")).write(
        "src/lib.rs",
        "#![no_implicit_prelude]
        // Names that would shadow what generated code refers to.
        #[allow(dead_code)] enum Option { Some, None }
        #[allow(dead_code)] mod std {}
        #[allow(dead_code)] mod core {}
        #[allow(dead_code)] mod evalsuite {}
        #[allow(dead_code)] struct SUITE;
        #[allow(dead_code)] fn evals() {}

        pub fn echo(trial: &mut ::evalsuite::Trial<'_>) -> ::std::result::Result<::std::string::String, ::std::fmt::Error> {
            ::std::result::Result::Ok(::std::string::ToString::to_string(trial.prompt()))
        }

        ::evalsuite::include_eval_suite!(\"suites/by_task\");",
    );
    package.cargo(["test"]).run().succeeds("generated code depends on no name in scope").says("4 passed");
}
