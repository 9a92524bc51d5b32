//! A package that has evalsuite from another crate, which re-exports it.

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Package, suites};

const MANIFEST: &str = "[package]\nname = \"agent_behind_facade\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                        [dependencies]\ncompany_kit = { path = \"../company_kit\" }\n\n";

/// Paths in other scopes than the generated module's.
const BY_MACRO: &str = "
use agent_behind_facade::{agent, polite};
mod imported {
    use agent_behind_facade::{agent, polite};
    use company_kit::testing;
    company_kit::testing::evalsuite::include_eval_suite!(\"suites/by_case\", crate = testing::evalsuite, graders = [polite]);
}
company_kit::testing::evalsuite::include_eval_suite! {
    \"suites/by_case\",
    crate = ::company_kit::testing::evalsuite,
    agent = agent,
    graders = [polite],
}
mod no_agent {
    company_kit::testing::evalsuite::include_eval_suite!(\"suites/by_case\", crate = company_kit::testing::evalsuite, agent = none);
}
#[test]
fn the_suite_is_that_of_the_facade() {
    let suite: &company_kit::testing::evalsuite::EvalSuite = &no_agent::by_case::SUITE;
    assert_eq!(suite.cases().len(), 1);
}
";

#[slow(builds)]
#[test]
fn suites_are_included_where_a_facade_re_exports_evalsuite() {
    let package = Package::workspace("facade", &["company_kit", "agent"]);
    let manifest = Package::manifest("company_kit");
    let (facade, build_dependencies) = manifest.split_once("[build-dependencies]").expect("build-dependencies");
    package
        .write("company_kit/Cargo.toml", facade)
        .write("company_kit/src/lib.rs", "pub mod testing { pub use evalsuite; }\n")
        .write("agent/Cargo.toml", &format!("{MANIFEST}[build-dependencies]{build_dependencies}"))
        .write(
            "agent/build.rs",
            "fn main() {
                evalsuite_build::generate(\"suites/by_case\")
                    .crate_path(\"company_kit::testing::evalsuite\").graders([\"polite\"]).name(\"written\").write();
            }\n",
        )
        .write(
            "agent/src/lib.rs",
            "use company_kit::testing::evalsuite::{Evidence, Trial};
            pub fn agent(trial: &mut Trial<'_>) -> Result<String, std::convert::Infallible> { Ok(trial.prompt().to_owned()) }
            pub fn polite(evidence: &Evidence<'_>) -> bool { !evidence.answer().is_empty() }\n",
        )
        .write("agent/tests/by_macro.rs", BY_MACRO)
        .write(
            "agent/tests/by_file.rs",
            "use agent_behind_facade::{agent, polite};\ninclude!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/written.rs\"));\n",
        )
        .write("agent/suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write(
            "agent/suites/by_case/cases/first/case.yaml",
            "input: hello\nassertions:\n  - { type: contains, value: hello }\n  - { type: polite }\n",
        );
    let manifest = std::fs::read_to_string(package.root().join("agent/Cargo.toml")).expect("a manifest");
    package.write("agent/Cargo.toml", &manifest.replace("build\" }", "build\", features = [\"generate\"] }"));
    let ran = package.cargo(["test", "--package", "agent_behind_facade"]).run().succeeds("all cases pass");
    ran.says_times("test by_case::first ... ok", 1).says("test imported::by_case::first ... ok");
    ran.says("test written::first ... ok")
        .says("test the_suite_is_that_of_the_facade ... ok")
        .is_silent_about("warning");

    let wrong = BY_MACRO.replace("crate = ::company_kit::testing::evalsuite", "crate = ::company_kit::evalsuite");
    package.write("agent/tests/by_macro.rs", &wrong);
    let ran = package.cargo(["test", "--package", "agent_behind_facade"]).run().fails("there is no such path");
    ran.says("unresolved import `company_kit::evalsuite`").says("tests/by_macro.rs:");
}
