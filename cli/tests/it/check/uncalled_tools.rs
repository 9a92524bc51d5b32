//! Tools that graders name, compared with those that the newest run called.

use std::fs;

use evalsuite_tests::synthetic_run::SyntheticRun;

use crate::package::Package;

#[test]
fn a_tool_that_no_agent_called_is_a_warning_after_a_run() {
    let suite = "tests:\n  - id: a\n    input: Hello\n    assertions:\n\
        \x20     - { type: tool-trajectory, mode: in_order, expected: [{ tool: find_ordr }, { tool: refund }] }\n\
        \x20     - { type: tool-trajectory, mode: any_order, maximums: { delete_order: 0, refnd: 0, \"drop_*\": 0 } }\n\
        \x20 - id: b\n    input: Hello\n    assertions:\n\
        \x20     - { type: tool-trajectory, mode: any_order, minimums: { escalate: 1 } }\n\
        \x20 - id: c\n    input: Hello\n    assertions:\n\
        \x20     - { type: tool-trajectory, mode: any_order, minimums: { escalate: 1, archive: 1 } }\n";
    let package = Package::new(&[("suites/x/EVAL.yaml", suite)]);
    let before = package.run_in_output(&["check", "--format", "short"]);
    assert_eq!((before.code, before.out.as_str()), (0, ""), "nothing is known before the first run");

    let run = SyntheticRun::new("run-1", 3, 1).write(&package.root().join("out"));
    let record = run.join("suites/refunds-00000000/suite.json");
    let text = fs::read_to_string(&record).expect("the record of the suite");
    let (path, package_directory) = ("\"path\": \"suites/x\"", "\"package_directory\": \".\"");
    let text = text.replace("\"path\": \"\"", path).replace("\"package_directory\": \"\"", package_directory);
    assert!(text.contains(path) && text.contains(package_directory), "{text}");
    fs::write(&record, text).expect("the record of the suite");
    let after = package.run_in_output(&["check", "--format", "short"]);
    let warning = |line: u32, tool: &str, help: &str| {
        format!(
            "suites/x/EVAL.yaml:{line}:9: warning[W029]: no agent called a tool `{tool}` in run run-1, and no other grader names it (help: {help})\n"
        )
    };
    let expected = [
        warning(5, "find_ordr", "did you mean `find_order`?"),
        warning(6, "refnd", "did you mean `refund`?"),
        warning(14, "archive", "agents called `find_order`, `read_policy` and `refund`"),
    ];
    assert_eq!((after.code, after.out), (0, expected.concat()));
}
