//! `llm-grader`, `rubrics` and `compare`.

use evalsuite_schema::grader::{Compare, ComparedWith, Criterion, GraderConfig, Operator, Prompt, ReferenceAnswer};

use super::{check, config};
use crate::tests::Package;

fn criteria(entry: &str) -> Vec<Criterion> {
    match config(entry) {
        GraderConfig::Rubrics(rubrics) => rubrics.criteria,
        GraderConfig::LlmGrader(grader) => grader.rubrics,
        other => panic!("{other:?}"),
    }
}

#[test]
fn criteria_are_text_or_mappings() {
    let found = criteria(
        "{type: rubrics, criteria: [one, {outcome: two, weight: 2}, {id: x, outcome: three, required: false}]}",
    );
    let ids: Vec<&str> = found.iter().map(|criterion| criterion.id.as_str()).collect();
    assert_eq!(ids, ["rubric-1", "rubric-2", "x"]);
    let required: Vec<bool> = found.iter().map(|criterion| criterion.required).collect();
    assert_eq!(required, [true, true, false]);
    assert_eq!(criteria("{type: llm-grader, rubrics: [one]}").len(), 1);
}

#[test]
fn a_criterion_says_how_the_answer_is_compared() {
    let found = criteria(
        "{type: rubrics, criteria: [one, {outcome: two, operator: correctness}, {outcome: three, operator: contradiction}]}",
    );
    let operators: Vec<Operator> = found.iter().map(|criterion| criterion.operator).collect();
    assert_eq!(operators, [Operator::Correctness, Operator::Correctness, Operator::Contradiction]);
}

#[test]
fn score_ranges_are_a_list_or_a_map() {
    let ranges = |entry: &str| -> Vec<(u8, u8, String)> {
        criteria(entry).remove(0).score_ranges.into_iter().map(|range| (range.low, range.high, range.outcome)).collect()
    };
    let expected = [(0, 4, "a".to_owned()), (5, 9, "b".to_owned()), (10, 10, "c".to_owned())];
    assert_eq!(ranges("{type: rubrics, criteria: [{score_ranges: {0: a, 10: c, 5: b}}]}"), expected);
    assert_eq!(
        ranges(
            "{type: rubrics, criteria: [{score_ranges: [{score_range: [0, 4.0], outcome: a},
            {score_range: [5, 9], outcome: b}, {score_range: [10, 10], outcome: c}]}]}"
        ),
        expected
    );
    let criterion = criteria("{type: rubrics, criteria: [{score_ranges: {0: a}, min_score: 0.5}]}").remove(0);
    assert_eq!((criterion.required, criterion.min_score, criterion.outcome), (false, Some(0.5), None));
}

#[test]
fn one_criterion_may_be_text() {
    let criteria = criteria("{type: rubrics, criteria: Names November}");
    let [criterion] = criteria.as_slice() else { panic!("{criteria:?}") };
    let expected = ("rubric-1", Some("Names November"), true);
    assert_eq!((criterion.id.as_str(), criterion.outcome.as_deref(), criterion.required), expected);
}

#[test]
fn bad_criteria_are_errors() {
    check(&[
        ("{type: rubrics}", &["1:3 E052 missing key `criteria` in `rubrics`"]),
        ("{type: rubrics, criteria: []}", &["1:29 E052 `criteria` is empty"]),
        ("{type: rubrics, criteria: 5}", &["1:29 E020 `criteria` must be a list, found a number"]),
        (
            "{type: rubrics, criteria: [{outcome: a, operator: contradicts}]}",
            &["1:53 E023 `operator` is `contradicts`, which is not one of `correctness` and `contradiction`"],
        ),
        (
            "{type: rubrics, criteria: [{score_ranges: {0: a}, operator: contradiction}]}",
            &["1:53 E028 `operator` has no meaning in a criterion without `outcome`"],
        ),
        ("{type: rubrics, criteria: ' '}", &["1:29 E022 a criterion is blank"]),
        ("{type: rubrics, criteria: [{id: x}]}", &["1:30 E055 a criterion has no `outcome`"]),
        (
            "{type: rubrics, criteria: ['', 5]}",
            &["1:30 E022 a criterion is blank", "1:34 E020 a criterion must be text or a mapping, found a number"],
        ),
        ("{type: rubrics, criteria: [{id: rubric-2, outcome: a}, b]}", &["1:58 E055 id `rubric-2` is given twice"]),
        ("{type: rubrics, criteria: [{outcome: a, weight: 0}]}", &["1:29 E061 every criterion has weight 0"]),
        ("{type: rubrics, criteria: [{outcome: a, weight: -1}, b]}", &["1:51 E060 `weight` is -1"]),
        (
            "{type: rubrics, criteria: [{outcome: a, min_score: 0.5}]}",
            &["1:43 E028 a minimum has no meaning where no criterion has `score_ranges`"],
        ),
        (
            "{type: rubrics, criteria: [{score_ranges: {0: a}, min_score: 1.1}]}",
            &["1:64 E055 `min_score` of a criterion is out of range"],
        ),
        (
            "{type: rubrics, criteria: [{score_ranges: {0: a}, required_min_score: 6}]}",
            &["1:53 W003 `required_min_score` is now `min_score`, a number from 0 to 1"],
        ),
        (
            "{type: rubrics, criteria: [{score_ranges: {0: a}, required_min_score: 11}]}",
            &["1:73 E055 `required_min_score` is not a whole number from 0 to 10"],
        ),
        (
            "{type: rubrics, criteria: [{score_ranges: {0: a}, min_score: 1, required_min_score: 6}]}",
            &["1:67 E025 `min_score` and `required_min_score` are one setting"],
        ),
        (
            "{type: rubrics, criteria: [{score_ranges: {0: a}, min_score: 0.6, required: false}]}",
            &["1:69 E028 `required: false` contradicts the minimum, below which the grader fails"],
        ),
        ("{type: rubrics, criteria: [{outcome: a, outcom: b}]}", &["1:43 E019 unknown key `outcom` in a criterion"]),
    ]);
}

#[test]
fn score_ranges_cover_zero_to_ten_once() {
    let check_ranges = |ranges: &str, expected: &[&str]| {
        let found = super::problems(&format!("{{type: rubrics, criteria: [{{id: m, score_ranges: {ranges}}}]}}"));
        assert_eq!(found, expected, "{ranges}");
    };
    check_ranges("{1: a}", &["1:53 E054 the first range starts at 1"]);
    check_ranges("{0: a, high: b}", &["1:59 E054 `high` is not a whole number from 0 to 10"]);
    check_ranges("{0: a, 11: b}", &["1:59 E054 `11` is not a whole number from 0 to 10"]);
    check_ranges("{}", &["1:52 E054 `score_ranges` is empty"]);
    check_ranges("[]", &["1:52 E054 scores 0-10 are not covered"]);
    check_ranges(
        "[{score_range: [0, 3], outcome: a}, {score_range: [7, 10], outcome: b}]",
        &["1:52 E054 scores 4-6 are not covered"],
    );
    check_ranges(
        "[{score_range: [0, 5], outcome: a}, {score_range: [5, 10], outcome: b}]",
        &["1:88 E054 score 5 is covered twice"],
    );
    for bounds in ["[4, 0]", "[0, 4.5]", "[0]", "[0, 11]", "0-10", "[-1, 10]"] {
        check_ranges(
            &format!("[{{score_range: {bounds}, outcome: a}}]"),
            &["1:67 E054 `score_range` is not two whole numbers from 0 to 10, the lower first"],
        );
    }
    check_ranges(
        "[{range: [0, 10], outcome: a}]",
        &["1:53 E054 a score range has no `score_range`", "1:54 E019 unknown key `range` in a score range"],
    );
    check_ranges("5", &["1:52 E020 `score_ranges` must be a list or a mapping, found a number"]);
}

#[test]
fn settings_of_a_judge_are_checked() {
    check(&[
        (
            "{type: llm-grader, prompt: p, temperature: 3}",
            &["1:46 E024 `temperature` is 3, which is not a number within 0..2"],
        ),
        (
            "{type: llm-grader, prompt: p, max_steps: 51}",
            &["1:44 E024 `max_steps` is 51, which is not a whole number from 1 to 50"],
        ),
        (
            "{type: llm-grader, prompt: p, confirm: 3}",
            &["1:42 E024 `confirm` is 3, which is not an even number within 0..10"],
        ),
        (
            "{type: rubrics, criteria: [a], confirm: 12}",
            &["1:43 E024 `confirm` is 12, which is not an even number within 0..10"],
        ),
        ("{type: llm-grader, prompt: p, confirm: no}", &["1:42 E020 `confirm` must be a number, found text"]),
        ("{type: llm-grader, prompt: p, confirm: 4}", &[]),
        ("{type: llm-grader, prompt: p, maxSteps: 5}", &["1:33 W001 `maxSteps` is now `max_steps`"]),
        ("{type: llm-grader, prompt: p, target: ''}", &["1:41 E022 `target` is blank"]),
        ("{type: llm-grader, prompt: p, extra: 1}", &["1:33 E019 unknown key `extra` in `llm-grader`"]),
        ("{type: llm-grader, prompt: ''}", &["1:30 E022 `prompt` is blank"]),
        ("{type: llm-grader, prompt: 5}", &["1:30 E020 `prompt` must be text or `{command: […]}`, found a number"]),
        ("{type: llm-grader, prompt: {command: 'sh mk.sh'}}", &["1:40 E020 `command` must be a list, found text"]),
        ("{type: llm-grader, prompt: ./judge.md}", &["1:30 W014 `./judge.md` is used as the text of the prompt"]),
        ("{type: llm-grader, prompt: 'file://missing.md'}", &["1:30 E018 `prompt`: file `missing.md` not found"]),
        (
            "{type: llm-grader, prompt: 'a {{ ouput }} {{ input_text }} ${{ KEY }}'}",
            &[
                "1:30 W001 `{{ input_text }}` is now `{{ input }}`",
                "1:30 W007 `{{ ouput }}` is not a variable of this prompt, and is left as it is",
            ],
        ),
    ]);
}

#[test]
fn a_prompt_file_is_read_and_checked() {
    let package = Package::new(&[
        ("suite/good.md", "Is it polite?\n{{output}}"),
        ("suite/odd.md", "é\n  {{ nope }} {{ expected_output }}"),
        ("suite/silent.md", "{{ input }}"),
        ("suite/empty.md", ""),
    ]);
    let yaml = "
- {type: llm-grader, prompt: 'file://good.md'}
- {type: llm-grader, prompt: 'file://odd.md'}
- {type: llm-grader, prompt: 'file://silent.md'}
- {type: llm-grader, prompt: 'file://empty.md'}
";
    let (parsed, d) = package.read(yaml);
    let GraderConfig::LlmGrader(grader) = &parsed[0].grader.config else { panic!("another type") };
    let Some(Prompt::File { file, text }) = &grader.prompt else { panic!("not a file: {:?}", grader.prompt) };
    assert_eq!((file.path.as_str(), text.as_str()), ("suite/good.md", "Is it polite?\n{{output}}"));
    assert_eq!(
        package.lines(&d),
        [
            "5:30 W008 `suite/empty.md` is empty",
            "empty.md:1:1 E059 the template never shows the answer",
            "odd.md:2:3 W007 `{{ nope }}` is not a variable of this prompt, and is left as it is",
            "silent.md:1:1 E059 the template never shows the answer",
        ]
    );
}

#[test]
fn the_old_type_rubric_is_read() {
    let package = Package::new(&[]);
    let (parsed, d) = package.read("[{type: rubric, rubrics: [a]}]");
    assert_eq!(package.lines(&d), ["1:9 W001 type `rubric` is now `rubrics`"]);
    assert_eq!(parsed[0].grader.name, "rubric");
    assert!(matches!(&parsed[0].grader.config, GraderConfig::Rubrics(rubrics) if rubrics.criteria.len() == 1));
}

#[test]
fn a_comparison_has_an_answer_to_compare_with() {
    let GraderConfig::Compare(found) = config("{type: compare, reference: On its way., criteria: Is friendly}") else {
        panic!("another type");
    };
    let expected = Compare {
        reference: Some(ReferenceAnswer::Text("On its way.".to_owned())),
        criteria: Some("Is friendly".to_owned()),
        ..Compare::default()
    };
    assert_eq!(found, expected);
    let GraderConfig::Compare(found) = config("{type: compare, against: baseline}") else { panic!("another type") };
    assert_eq!(found, Compare { against: ComparedWith::Baseline, ..Compare::default() });
    let package = Package::new(&[("suite/good.md", "19.90 is on its way.\n"), ("suite/empty.md", "")]);
    let yaml = "
- {type: compare, reference: 'file://good.md'}
- {type: compare, reference: 'file://empty.md'}
";
    let (parsed, d) = package.read(yaml);
    let GraderConfig::Compare(Compare { reference: Some(reference), .. }) = &parsed[0].grader.config else {
        panic!("{:?}", parsed[0].grader.config);
    };
    assert_eq!(reference.text(), "19.90 is on its way.\n");
    assert_eq!(package.lines(&d), ["3:30 W008 `suite/empty.md` is empty"]);
}

#[test]
fn settings_of_a_comparison_are_checked() {
    check(&[
        ("{type: compare, reference: ''}", &["1:30 E022 `reference` is blank"]),
        ("{type: compare, reference: 5}", &["1:30 E020 `reference` must be text, found a number"]),
        ("{type: compare, reference: a, criteria: ' '}", &["1:43 E022 `criteria` is blank"]),
        ("{type: compare, reference: 'file://missing.md'}", &["1:30 E018 `reference`: file `missing.md` not found"]),
        ("{type: compare, reference: ./good.md}", &["1:30 W014 `./good.md` is used as the text of the reference"]),
        (
            "{type: compare, reference: a, temperature: 3}",
            &["1:46 E024 `temperature` is 3, which is not a number within 0..2"],
        ),
        ("{type: compare, reference: a, prompt: b}", &["1:33 E019 unknown key `prompt` in `compare`"]),
        (
            "{type: compare, reference: a, against: baseline}",
            &["1:19 E028 `reference` has no effect beside `against: baseline`"],
        ),
        (
            "{type: compare, against: base}",
            &["1:28 E023 `against` is `base`, which is not one of `reference` and `baseline`"],
        ),
    ]);
}
