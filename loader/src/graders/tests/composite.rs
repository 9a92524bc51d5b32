//! `composite`.

use evalsuite_schema::grader::{Aggregator, GraderConfig, ResultSource};

use super::{check, config};

#[test]
fn members_are_assertions_of_any_kind() {
    let entry = "{type: composite, assertions: [polite, {type: equals, value: x, weight: 2, negate: true}, short],
        aggregator: {type: weighted_average, weights: {rubrics: 3}}}";
    let GraderConfig::Composite(composite) = config(entry) else { panic!("another type") };
    let names: Vec<&str> = composite.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["rubrics", "equals-x"]);
    assert!(composite.members[1].negate);
    assert_eq!(composite.aggregator, Aggregator::WeightedAverage { weights: vec![("rubrics".into(), 3.0)] });
}

#[test]
fn aggregators_have_their_own_keys() {
    let member = "assertions: [{type: is-json}]";
    let with = |aggregator: &str| config(&format!("{{type: composite, {member}, aggregator: {aggregator}}}"));
    let aggregator = |config| match config {
        GraderConfig::Composite(composite) => composite.aggregator,
        other => panic!("{other:?}"),
    };
    assert_eq!(aggregator(with("{type: threshold, threshold: 0.5}")), Aggregator::Threshold { threshold: 0.5 });
    let command = |text| match aggregator(with(text)) {
        Aggregator::CodeGrader { result, .. } => result,
        other => panic!("{other:?}"),
    };
    assert_eq!(command("{type: code_grader, path: 'exit 4'}"), ResultSource::Output);
    assert_eq!(command("{type: code-grader, command: make, result: status}"), ResultSource::Status);
    let judge = aggregator(with("{type: llm-grader, prompt: '{{EVALUATOR_RESULTS_JSON}}', model: m}"));
    assert!(matches!(judge, Aggregator::LlmGrader { prompt: Some(_), model: Some(_) }));
    check(&[
        ("{type: composite, assertions: [{type: is-json}]}", &["1:3 E052 missing key `aggregator` in `composite`"]),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {}}",
            &["1:64 E052 missing key `type` in `aggregator`"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {type: average}}",
            &["1:71 E056 `average` is not a way to aggregate"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {type: threshold}}",
            &["1:64 E052 missing key `threshold` in `aggregator`"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], min_score: 0.5, aggregator: {type: threshold, threshold: 1}}",
            &["1:98 E028 a composite has either `min_score` or `aggregator.threshold`"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, threshold: 1}}",
            &["1:89 E028 `threshold` has no meaning with `type: weighted_average`"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, result: status}}",
            &["1:89 E028 `result` has no meaning with `type: weighted_average`"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {type: code-grader, command: make, result: exit}}",
            &["1:107 E023 `result` is `exit`, which is not one of `output` and `status`"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, weights: {fmt: 1, is-json: -1}}}",
            &["1:116 E060 the weight of `is-json` is -1", "1:99 E056 `weights` names `fmt`, members are `is-json`"],
        ),
        (
            "{type: composite, assertions: [{type: is-json, weight: 0}], aggregator: {type: weighted_average}}",
            &["1:3 E061 every member has weight 0"],
        ),
        (
            "{type: composite, assertions: [{type: is-json, weight: 0}], aggregator: {type: threshold, threshold: 0.5}}",
            &["1:3 E061 every member has weight 0"],
        ),
        (
            "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, weights: {is-json: 0}}}",
            &["1:3 E061 every member has weight 0"],
        ),
        (
            "{type: composite, assertions: [{type: is-json, weight: 0}], aggregator: {type: weighted_average, weights: {is-json: 1}}}",
            &[],
        ),
    ]);
}

#[test]
fn members_need_names_of_their_own() {
    check(&[
        ("{type: composite, aggregator: {type: weighted_average}}", &["1:3 E056 a composite has no members"]),
        (
            "{type: composite, assertions: [], aggregator: {type: weighted_average}}",
            &["1:33 E056 a composite has no members"],
        ),
        (
            "{type: composite, assertions: [{type: equals, value: a}, {type: equals, value: a}], aggregator: {type: weighted_average}}",
            &["1:60 E056 two members of the composite are named `equals-a`"],
        ),
        (
            "{type: composite, assertions: [{type: contains}, {type: equals, value: a}], aggregator: {type: weighted_average, weights: {x: 1}}}",
            &["1:34 E052 missing key `value` in `contains`"],
        ),
    ]);
}

#[test]
fn composites_nest_four_deep() {
    let nested = |depth: usize| {
        (0..depth).fold("{type: is-json}".to_owned(), |inner, _| {
            format!("{{type: composite, assertions: [{inner}], aggregator: {{type: weighted_average}}}}")
        })
    };
    config(&nested(4));
    assert_eq!(super::problems(&nested(5)), ["1:127 E056 composites are nested deeper than 4"]);
}
