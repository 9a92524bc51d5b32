//! The generated test that grades the examples of a suite.

use std::panic::catch_unwind;
use std::path::Path;
use std::time::Duration;

use evalsuite::{EvalSuite, Evals, Evidence, GradedOutcome, Message, Outcome, Role, ToolCall, Usage, Verdict};
use evalsuite_schema::Value;
use evalsuite_schema::json::json;

use crate::common::{case_json, contains, grader, suite};

fn example(line: u32, answer: &str) -> Value {
    json!({"location": {"file": "suites/x/tasks/a.json", "line": line, "column": 9}, "answer": answer})
}

fn with_examples(mut grader: Value, pass: &[Value], fail: &[Value]) -> Value {
    grader["examples"] = json!({"pass": pass, "fail": fail});
    grader
}

/// The suite of one case with graders of its own.
fn of(graders: Value, more: Value) -> &'static EvalSuite {
    suite("tasks", "mixed", Path::new("/"), &[case_json("a", graders, more)])
}

fn short(evidence: &Evidence<'_>) -> bool {
    evidence.answer().len() < 10
}

#[test]
fn examples_with_the_right_verdicts_pass() {
    evalsuite::__private::grader_examples(|| {
        let short = grader("short", 9, json!({"user": {"grader": "short"}}));
        let graders = json!([
            with_examples(contains("hello"), &[example(20, "hello")], &[example(21, "good bye")]),
            with_examples(short, &[example(22, "brief")], &[example(23, "long-winded")]),
        ]);
        let more = json!({"examples": {"pass": [example(24, "hello")], "fail": [example(25, "hello, dear friend")]}});
        Evals::new(of(graders, more)).with_grader("short", self::short)
    });
}

#[test]
fn an_example_with_the_wrong_verdict_is_named_with_its_line() {
    let result = catch_unwind(|| {
        evalsuite::__private::grader_examples(|| {
            let graders =
                json!([with_examples(contains("hello"), &[example(20, "good bye")], &[example(21, "hello there")])]);
            Evals::new(of(graders, json!({})))
        });
    });
    let text = *result.unwrap_err().downcast::<String>().unwrap();
    let expected = "evaluation failed: 2 of 2 examples of x\n\
                    suites/x/tasks/a.json:20:9: the example should pass, and grader `contains-hello` of case `a` fails it\n  ";
    assert!(text.starts_with(expected), "{text}");
    let second =
        "\nsuites/x/tasks/a.json:21:9: the example should fail, and grader `contains-hello` of case `a` passes it";
    assert!(text.ends_with(second), "{text}");
}

#[test]
fn a_grader_that_the_program_does_not_have_fails_its_examples() {
    let result = catch_unwind(|| {
        evalsuite::__private::grader_examples(|| {
            let unknown = grader("short", 9, json!({"user": {"grader": "short"}}));
            Evals::new(of(json!([with_examples(unknown, &[example(20, "x")], &[])]), json!({})))
        });
    });
    let text = *result.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("is not decided by grader `short` of case `a`: `short` needs the grader `short`"), "{text}");
}

#[test]
fn an_example_that_asks_a_judge_is_skipped_without_one() {
    evalsuite::__private::grader_examples(|| {
        let judge = grader("judge", 9, json!({"llm-grader": {}}));
        Evals::new(of(json!([with_examples(judge, &[example(20, "x")], &[])]), json!({})))
    });
}

#[test]
fn a_judge_grades_the_examples_of_its_graders() {
    fn judge(request: evalsuite::JudgeRequest) -> Result<String, std::io::Error> {
        let score = u8::from(request.user().contains("kind words"));
        Ok(format!("{{\"score\": {score}, \"assertions\": []}}"))
    }
    evalsuite::__private::grader_examples(|| {
        let grader = grader("judge", 9, json!({"llm-grader": {}}));
        let graders = json!([with_examples(grader, &[example(20, "kind words")], &[example(21, "nothing")])]);
        Evals::new(of(graders, json!({"criteria": "Is polite"}))).with_judge(judge)
    });
}

#[test]
fn an_example_that_no_grader_decides_has_no_verdict() {
    fn unsure(_: &Evidence<'_>) -> Option<bool> {
        None
    }
    let result = catch_unwind(|| {
        evalsuite::__private::grader_examples(|| {
            let unsure_grader = grader("unsure", 9, json!({"user": {"grader": "unsure"}}));
            let more = json!({"examples": {"pass": [example(20, "hello")], "fail": [example(21, "hello")]}});
            Evals::new(of(json!([unsure_grader]), more)).with_grader("unsure", unsure)
        });
    });
    let text = *result.unwrap_err().downcast::<String>().unwrap();
    assert!(text.starts_with("evaluation failed: 2 of 2 examples of x\n"), "{text}");
    for line in [20, 21] {
        let expected = format!("a.json:{line}:9: the example is not decided by case `a`: ");
        assert!(text.contains(&expected), "{text}");
    }
}

/// A suite whose case has a grader of the answer, one of tool calls, and a limit.
fn refunds() -> Evals {
    let calls = json!({"tool-trajectory": {"mode": "any_order", "minimums": [["refund", 1]]}});
    let graders = json!([
        contains("19.90"),
        grader("calls", 9, calls),
        grader("latency", 10, json!({"latency": {"threshold": 500.0}}))
    ]);
    Evals::new(of(graders, json!({})))
}

fn grade(evals: &Evals, outcome: Outcome) -> GradedOutcome {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(evals.grade("a", outcome)).unwrap()
}

fn with_calls(tools: &[&str]) -> Outcome {
    let call = |message: Message, tool: &&str| message.with_tool_call(ToolCall::new(*tool));
    let message = tools.iter().fold(Message::empty(Role::Assistant), call);
    Outcome::from("19.90 EUR").with_messages(vec![message]).with_duration(Duration::from_millis(400))
}

#[test]
fn an_outcome_is_graded_without_an_agent() {
    let evals = refunds();
    let passed = grade(&evals, with_calls(&["refund"]));
    assert_eq!((passed.verdict(), passed.score(), passed.unresolved()), (Some(Verdict::Pass), Some(1.0), &[][..]));
    let names: Vec<&str> = passed.graders().iter().map(|grader| grader.name.as_str()).collect();
    assert_eq!(names, ["contains-19.90", "calls", "latency"]);
    let failed = grade(&evals, with_calls(&["lookup"]));
    assert_eq!((failed.verdict(), failed.graders()[1].verdict), (Some(Verdict::Fail), Some(Verdict::Fail)));
}

#[test]
fn members_see_what_the_transform_of_their_composite_makes_of_an_answer() {
    let member = grader("answer", 10, json!({"equals": {"value": "19.90"}}));
    let aggregator = json!({"threshold": {"threshold": 1.0}});
    let mut all = grader("all", 9, json!({"composite": {"members": [member], "aggregator": aggregator}}));
    all["transform"] = json!([{"json": "total"}]);
    let evals = Evals::new(of(json!([all]), json!({})));
    for (answer, verdict) in [("{\"total\": \"19.90\"}", Verdict::Pass), ("19.90", Verdict::Fail)] {
        assert_eq!(grade(&evals, Outcome::from(answer)).verdict(), Some(verdict), "{answer}");
    }
}

#[test]
fn what_an_outcome_does_not_report_is_no_verdict() {
    let evals = refunds();
    let open = grade(&evals, Outcome::from("19.90 EUR"));
    assert_eq!((open.verdict(), open.score()), (None, None));
    let reasons = open.unresolved();
    assert!(reasons[0].starts_with("grader `calls` has no result: the agent reported no calls"), "{reasons:?}");
    assert_eq!(reasons[1], "grader `latency` has no result: the duration of the agent is not known");

    let limit = grader("tokens", 9, json!({"token-usage": {"max_total": 100}}));
    let evals = Evals::new(of(json!([limit]), json!({})));
    let said = || Message::text(Role::Assistant, "19.90 EUR");
    let paid = || said().with_usage(Usage::new(10, 5));
    let graded = |messages| grade(&evals, Outcome::new().with_messages(messages)).verdict();
    assert_eq!(graded(vec![paid(), paid()]), Some(Verdict::Pass));
    assert_eq!(graded(vec![paid(), said()]), None, "the tokens of some messages are not the total");
}

#[test]
fn an_outcome_of_no_case_and_an_invalid_one_are_errors() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error =
        |case: &str, outcome: Outcome| runtime.block_on(refunds().grade(case, outcome)).unwrap_err().to_string();
    assert_eq!(error("b", Outcome::from("hello")), "case `b` of suite `x` does not exist");
    let negative = Outcome::from("hello").with_cost_usd(-1.0);
    assert_eq!(error("a", negative), "the agent reported a cost that is not a number of at least 0");
}
