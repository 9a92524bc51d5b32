//! The output of failing tests.

use evalsuite_tests::throwaway::{CommandOutput, Package};

/// The output of a failing test, with the run directory as `RUN` and without the hashes in names.
#[track_caller]
fn section(ran: &CommandOutput, package: &Package, test: &str) -> String {
    let start = format!("---- by_task::{test} stdout ----\n");
    let found = ran.stdout.split_once(&start).and_then(|(_, rest)| rest.split_once("\n\n").or(Some((rest, ""))));
    let (section, _) = found.unwrap_or_else(|| panic!("expected {test} to have an output\n{}", ran.transcript()));
    let run = package.records_directory().join("runs").join(&package.records().runs()[0]);
    let words = section.replace(&*run.to_string_lossy(), "RUN");
    let is_hash = |text: &str| text.len() == 8 && text.chars().all(|c| c.is_ascii_hexdigit());
    let parts = words.split('/').map(|part| match part.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) => name,
        _ => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[track_caller]
fn prints(ran: &CommandOutput, package: &Package, test: &str, expected: &str) {
    let section = section(ran, package, test);
    // The message of a panic comes first.
    assert!(section.contains(expected), "expected for {test}:\n{expected}\n--- it is\n{section}");
}

/// Fails the test unless the output has what it takes to fix each case without opening another file: id, place, score and
/// threshold, a line for each grader that failed with its place and values, the answer, the trials, the record, and the command
/// that repeats the case.
pub(crate) fn explains_every_failure(ran: &CommandOutput, package: &Package) {
    let record = |case: &str, trial: usize, test: &str| {
        format!(
            "  record: RUN/suites/echo_tasks/cases/{case}/trial-00{trial}/result.json\n  \
             repeat: cargo test -p outcomes -- --exact by_task::{test}"
        )
    };
    let table = [
        (
            "negative::fails",
            "evaluation failed: fails (echo_tasks)  score 0.50 < 1.00
  ✗ contains#2: Output does not contain \"goodbye\"  suites/by_task/tasks/negative/fails.json:4:5
      actual: hello
  1 of 2 graders passed
",
            record("fails", 0, "negative::fails"),
        ),
        (
            "positive::every_other",
            "evaluation failed: every-other-trial (echo_tasks)  score 0.00 < 1.00
  trial 2 of 4  failed  0.00
    ✗ contains: Output does not contain \"hello\"  suites/by_task/tasks/positive/every_other.json:3:5
        actual: goodbye
  trials: 1 of 2 passed (all have to pass); 2 of 4 planned were not needed
",
            record("every-other-trial", 1, "positive::every_other"),
        ),
        (
            "errors::agent_panics",
            "evaluation error (agent/agent_panic): agent-panics (echo_tasks)  the agent panicked: the agent fell over
  suites/by_task/tasks/errors/agent_panics.json:1:1
",
            record("agent-panics", 0, "errors::agent_panics"),
        ),
        (
            "errors::agent_errs",
            "evaluation error (agent/agent_error): agent-errs (echo_tasks)  no answer today\n",
            record("agent-errs", 0, "errors::agent_errs"),
        ),
        (
            "errors::times_out",
            "evaluation error (agent/timeout): times-out (echo_tasks)  the agent did not end within 0.2 s\n",
            record("times-out", 0, "errors::times_out"),
        ),
        (
            "errors::grader_panics",
            "evaluation error (grading/grader_error): grader-panics (echo_tasks)  grader `panics`: the grader panicked: the grader fell over
  ERR panics  suites/by_task/tasks/errors/grader_panics.json:4:5
  1 of 2 graders passed
  answer: hello
",
            record("grader-panics", 0, "errors::grader_panics"),
        ),
    ];
    for (test, head, end) in table {
        prints(ran, package, test, head);
        prints(ran, package, test, &end);
    }
    let long = section(ran, package, "negative::long");
    assert!(long.contains("      actual: word word") && long.contains('…'), "expected the start of the answer\n{long}");
    assert!(long.len() < 2500, "expected a long answer to be shortened\n{long}");
}
