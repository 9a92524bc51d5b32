//! Agents that speak the Agent Client Protocol, in builds without the feature.

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Package, suites};

#[slow(builds)]
#[test]
fn such_agents_without_their_feature_are_compile_errors_that_name_it() {
    let package = Package::with_features("acp_missing", &["cli-agents"]);
    package
        .library("")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/EVAL.yaml", "name: by_case\n")
        .write(
            "targets.yaml",
            "targets:\n  - { name: default, use_target: acp }\n  - { name: acp, provider: acp, command: x }\n",
        );
    for (name, agent) in [("acp", "acp"), ("cli", "cli")] {
        let file = format!("tests/{name}.rs");
        package.write(&file, &format!("evalsuite::include_eval_suite!(\"suites/by_case\", agent = {agent:?});"));
        let build = package.build(["--test", name]).fails("a feature is missing");
        let errors = build.errors(name);
        assert_eq!(errors.len(), 1, "{name}: expected one error\n{}", build.transcript());
        let expected =
            "[E079 missing-feature] agents that speak the Agent Client Protocol need the feature `acp` of evalsuite";
        assert!(errors[0].rendered.contains(expected), "{name}: {}", errors[0].rendered);
        package.remove(&file);
    }
}
