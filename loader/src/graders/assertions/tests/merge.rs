//! Graders of a suite and of its cases together.

use evalsuite_schema::grader::{Grader, GraderConfig};
use evalsuite_schema::json::json;
use evalsuite_schema::{Content, Message, Role};

use crate::diagnostic::Diagnostics;
use crate::graders::assertions;
use crate::graders::assertions::CaseFacts;
use crate::source::{FileId, Span};
use crate::tests::Package;

const NONE: &[&str] = &[];

struct Merged {
    graders: Vec<Grader>,
    problems: Vec<String>,
}

impl Merged {
    fn names(&self) -> Vec<&str> {
        self.graders.iter().map(|grader| grader.name.as_str()).collect()
    }
}

fn merge_with(case: &str, suite: &str, expected_output: &[Message], has_criteria: bool) -> Merged {
    let package = Package::new(&[]);
    let mut d = Diagnostics::new();
    let case = assertions::read(&package.node(case), package.scope(), &mut d);
    let suite = assertions::read(&package.node(suite), package.scope(), &mut d);
    let span = Span::whole(file(&package));
    let facts = CaseFacts { expected_output, reference_is_broken: false, has_criteria, span, tasks_layout: false };
    let graders = assertions::merge(case, &suite, &facts, &mut d);
    Merged { graders, problems: package.lines(&d) }
}

fn file(package: &Package) -> FileId {
    package.files.add(&package.path().join("case.yaml"))
}

fn merge(case: &str, suite: &str) -> Merged {
    merge_with(case, suite, &[], true)
}

fn object(value: evalsuite_schema::Value) -> Vec<Message> {
    vec![Message::new(Role::Assistant, Content::Data(value))]
}

#[test]
fn the_suite_comes_after_the_case() {
    let merged = merge("[C1, {type: is-json}]", "[{type: equals, value: s}, S1]");
    assert_eq!(merged.names(), ["rubrics", "is-json", "equals-s", "rubrics#2"]);
    assert_eq!(merged.problems, NONE);
}

#[test]
fn a_repeated_name_gets_a_number() {
    let merged = merge(
        "[{type: is-json, name: a}, {type: is-json, name: a}, {type: is-json}, {type: is-json}, {type: is-json, name: 'a#2'}]",
        "[{type: is-json, name: a}]",
    );
    assert_eq!(merged.names(), ["a", "a#3", "is-json", "is-json#2", "a#2", "a#4"]);
    assert_eq!(merged.problems, ["1:24 W011 name `a` is used again", "1:50 W011 name `a` is used again"]);
}

#[test]
fn some_weight_is_needed() {
    assert_eq!(merge("[{type: is-json, weight: 0}]", "[{type: equals, value: a}]").problems, NONE);
    assert_eq!(
        merge("[{type: is-json, weight: 0}]", "[]").problems,
        ["1:2 E061 every grader of the case has weight 0"]
    );
    assert_eq!(
        merge("[]", "[{type: is-json, weight: 0}]").problems,
        ["case.yaml:1:1 E061 every grader of the case has weight 0",]
    );
    assert_eq!(
        merge("[{type: is-json, weight: 0}, {type: contains}]", "[]").problems,
        ["1:30 E052 missing key `value` in `contains`",]
    );
}

#[test]
fn a_judge_needs_something_to_judge_by() {
    let judge = "[{type: llm-grader}]";
    assert_eq!(merge_with(judge, "[]", &[], true).problems, NONE);
    assert_eq!(merge_with(judge, "[]", &object(json!({"a": 1})), false).problems, NONE);
    assert_eq!(
        merge_with("[{type: llm-grader, rubrics: [r]}, {type: llm-grader, prompt: p}]", "[]", &[], false).problems,
        NONE
    );
    assert_eq!(merge_with(judge, "[]", &[], false).problems, ["1:2 E052 the `llm-grader` has nothing to judge by"]);
    assert_eq!(
        merge_with("[{type: is-json}]", judge, &[], false).problems,
        ["case.yaml:1:1 E052 the suite's `llm-grader` has nothing to judge this case by",]
    );
    let nested = "[{type: composite, assertions: [{type: llm-grader}], aggregator: {type: weighted_average}}]";
    assert_eq!(merge_with(nested, "[]", &[], false).problems, ["1:33 E052 the `llm-grader` has nothing to judge by"]);
}

#[test]
fn a_comparison_needs_an_answer_to_compare_with() {
    let grader = "[{type: compare, criteria: friendly}]";
    let reference = vec![Message::text(Role::Assistant, "On its way.")];
    assert_eq!(merge_with(grader, "[]", &reference, false).problems, NONE);
    assert_eq!(merge_with("[{type: compare, reference: a}]", "[]", &[], false).problems, NONE);
    assert_eq!(
        merge_with(grader, "[]", &[], true).problems,
        ["1:2 E052 the `compare` grader has nothing to compare with"]
    );
    assert_eq!(
        merge_with("[{type: is-json}]", grader, &[], true).problems,
        ["case.yaml:1:1 E052 the suite's `compare` grader has nothing to compare this case with"]
    );
}

#[test]
fn fields_are_in_the_reference() {
    let grader = "[{type: field-accuracy, fields: [{path: 'a[1].b', match: exact}, {path: totl, match: exact}]}]";
    let reference = object(json!({"a": [1, {"b": 2}], "total": null}));
    assert_eq!(merge_with(grader, "[]", &reference, true).problems, ["1:73 E057 `totl` is not in `expected_output`"]);

    let suite = merge_with("[]", grader, &reference, true);
    assert_eq!(suite.problems, NONE);
    let GraderConfig::FieldAccuracy(accuracy) = &suite.graders[0].config else { panic!("another type") };
    let paths: Vec<&str> = accuracy.fields.iter().map(|field| field.path.as_str()).collect();
    assert_eq!(paths, ["a[1].b"]);
}

#[test]
fn a_reference_has_to_be_an_object() {
    let grader = "[{type: field-accuracy, fields: [{path: a, match: exact}]}]";
    let text = |text: &str| vec![Message::text(Role::Assistant, text)];
    for fitting in [r#"{"a": 1}"#, "```json\n{\"a\":1}\n```", r#"result {"a":1} end"#] {
        assert_eq!(merge_with(grader, "[]", &text(fitting), true).problems, NONE, "{fitting}");
    }
    let problem = ["1:2 E057 the case has no `expected_output` with fields to compare with"];
    for unfit in ["plain", "5", "[1]"] {
        assert_eq!(merge_with(grader, "[]", &text(unfit), true).problems, problem, "{unfit}");
    }
    assert_eq!(merge_with(grader, "[]", &[], true).problems, problem);
    assert_eq!(merge_with(grader, "[]", &text("${{ REFERENCE }}"), true).problems, NONE);
    assert_eq!(
        merge_with("[]", grader, &[], true).problems,
        ["case.yaml:1:1 E057 the case has no `expected_output` with fields, which a grader of the suite compares",]
    );
}
