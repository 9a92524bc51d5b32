//! Graders of text.

use evalsuite_schema::grader::{AnswerStep, GraderConfig, Regex, Similar, TextList, TextValue};

use super::{check, config, graders};

#[test]
fn texts_are_kept_as_written() {
    assert_eq!(config("{type: contains, value: ' '}"), GraderConfig::Contains(TextValue { value: " ".into() }));
    assert_eq!(
        config("{type: icontains_any, value: [a, ' B ']}"),
        GraderConfig::IcontainsAny(TextList { value: vec!["a".into(), " B ".into()] })
    );
    assert_eq!(config("{type: is_json}"), GraderConfig::IsJson);
}

#[test]
fn names_are_made_of_type_and_value() {
    let yaml = "
- {type: contains, value: abc}
- {type: contains-any, value: [a, b]}
- {type: icontains_all, value: [x]}
- {type: starts-with, value: ' s '}
- {type: ends-with, value: e}
- {type: equals, value: '42'}
- {type: regex, value: abcdefghijklmnopqrstuvwxyz0123456789}
- {type: regex, value: ééééééééééééééééééééééééééééééééé}
- {type: is-json}
- {type: skill-trigger, skill: csv}
- {type: word_count}
- {type: equals, value: x, name: mine}
";
    let names: Vec<String> = graders(yaml).into_iter().map(|grader| grader.name).collect();
    assert_eq!(
        names,
        [
            "contains-abc",
            "contains-any-2",
            "icontains-all-1",
            "starts-with- s ",
            "ends-with-e",
            "equals-42",
            "regex-abcdefghijklmnopqrstuvwxyz0123",
            "regex-éééééééééééééééééééééééééééééé",
            "is-json",
            "skill-trigger-csv",
            "word_count",
            "mine",
        ]
    );
}

#[test]
fn bad_values_are_errors() {
    check(&[
        ("{type: contains}", &["1:3 E052 missing key `value` in `contains`"]),
        ("{type: contains, value: null}", &["1:20 E052 `value` in `contains` is null"]),
        ("{type: contains, value: ''}", &["1:27 E022 `value` is empty"]),
        ("{type: contains, value: 5}", &["1:27 E020 `value` must be text, found a number"]),
        ("{type: contains-all, value: a}", &["1:31 E020 `value` must be a list, found text"]),
        ("{type: contains-any, value: []}", &["1:31 E022 `value` is an empty list"]),
        (
            "{type: contains-any, value: [a, 5, '']}",
            &[
                "1:35 E020 an element of `value` must be text, found a number",
                "1:38 E022 an element of `value` is empty",
            ],
        ),
        ("{type: is-json, value: x}", &["1:19 E019 unknown key `value` in `is-json`"]),
    ]);
}

#[test]
fn flags_that_mean_nothing_are_left_out() {
    let regex = |value: &str, flags: &str| GraderConfig::Regex(Regex { value: value.into(), flags: flags.into() });
    assert_eq!(config("{type: regex, value: 'a.c', flags: smi}"), regex("a.c", "smi"));
    check(&[(
        "{type: regex, value: a, flags: gi}",
        &["1:34 W005 flag `g` has no effect: one match anywhere is enough"],
    )]);
}

#[test]
fn patterns_and_flags_are_checked() {
    check(&[
        (
            "{type: regex, value: '('}",
            &["1:24 E053 the pattern does not compile: opening parenthesis without closing parenthesis at offset 0"],
        ),
        (
            "{type: regex, value: a, flags: iiv}",
            &["1:34 E053 flag `i` is given twice", "1:34 E053 flag `v` is not known"],
        ),
        (
            "{type: regex, value: 'a b ( # c', flags: x}",
            &["1:24 E053 the pattern does not compile: opening parenthesis without closing parenthesis at offset 4"],
        ),
        (
            "{type: regex, value: '${{ PATTERN }}('}",
            &["1:24 W010 the pattern is known only at run time, because it is interpolated"],
        ),
    ]);
}

#[test]
fn a_transform_is_a_list_of_words_and_objects() {
    let grader =
        graders("[{type: is-json, transform: [trim, {json: a.0}, {replace: 'a+', with: '${1}'}, {replace: b}]}]");
    let replace = |replace: &str, with: &str| AnswerStep::Replace { replace: replace.into(), with: with.into() };
    let steps = [AnswerStep::Trim, AnswerStep::Json("a.0".into()), replace("a+", "${1}"), replace("b", "")];
    assert_eq!(grader[0].transform, steps);
    let written = evalsuite_schema::json::json!(grader[0].transform);
    assert_eq!(
        written.to_string(),
        r#"["trim",{"json":"a.0"},{"replace":"a+","with":"${1}"},{"replace":"b","with":""}]"#
    );
    assert_eq!(serde_json::from_str::<Vec<AnswerStep>>(&written.to_string()).unwrap(), steps);
    check(&[
        (
            "{type: is-json, transform: [{replace: '(', with: x}]}",
            &["1:41 E053 the pattern does not compile: opening parenthesis without closing parenthesis at offset 0"],
        ),
        (
            "{type: is-json, transform: [{replace: '${{ P }}'}]}",
            &["1:41 W010 the pattern is known only at run time, because it is interpolated"],
        ),
    ]);
}

#[test]
fn common_keys_are_checked_for_every_type() {
    let grader =
        graders("[{type: equals, value: x, weight: 0.5, required: true, min_score: 1, negate: true}]").remove(0);
    assert_eq!((grader.weight, grader.required, grader.min_score, grader.negate), (0.5, true, Some(1.0), true));
    check(&[
        ("{type: equals, value: x, weight: -1}", &["1:36 E060 `weight` is -1"]),
        ("{type: equals, value: x, weight: '2'}", &["1:36 E060 `weight` is text"]),
        (
            "{type: equals, value: x, min_score: 0}",
            &["1:39 E024 `min_score` is 0, which is not a number greater than 0 and at most 1"],
        ),
        ("{type: equals, value: x, required: 0.7}", &["1:38 W003 `required: 0.7` is an old way to write a pass mark"]),
        ("{type: equals, value: x, required: 2}", &["1:38 E020 `required` must be `true` or `false`, found a number"]),
        (
            "{type: equals, value: x, required: 0.7, min_score: 0.7}",
            &["1:28 E025 `required` as a number and `min_score` are one setting"],
        ),
        ("{type: equals, value: x, negate: 'yes'}", &["1:36 E020 `negate` must be `true` or `false`, found text"]),
        ("{type: equals, value: x, name: ''}", &["1:34 E022 `name` is blank"]),
        ("{type: equals, value: x, name: '${{ N }}'}", &["1:34 E027 `name` cannot contain `${{ N }}`"]),
        ("{type: equals, value: x, treshold: 1}", &["1:28 E019 unknown key `treshold` in `equals`"]),
    ]);
    let old = {
        let package = crate::tests::Package::new(&[]);
        package.read("[{type: equals, value: x, required: 0.7}]").0.remove(0).grader
    };
    assert_eq!((old.required, old.min_score), (true, Some(0.7)));
}

#[test]
fn the_threshold_of_similar_is_the_pass_mark() {
    let grader = graders("[{type: similar, value: a b, threshold: 0.9, ignore_case: true}]").remove(0);
    assert_eq!((grader.name.as_str(), grader.min_score), ("similar", Some(0.9)));
    assert_eq!(
        grader.config,
        GraderConfig::Similar(Similar { value: Some("a b".into()), ignore_case: true, max_distance: None })
    );
    let GraderConfig::Similar(distance) = config("{type: similar, value: a, max_distance: 0}") else {
        panic!("similar")
    };
    assert_eq!(distance.max_distance, Some(0));
    assert_eq!(graders("[{type: similar, min_score: 0.5}]").remove(0).min_score, Some(0.5));
    check(&[
        ("{type: similar, value: ''}", &["1:26 E022 `value` is empty"]),
        ("{type: similar, value: [a]}", &["1:26 E020 `value` must be text, found a list"]),
        (
            "{type: similar, value: a, ignore_case: 1}",
            &["1:42 E020 `ignore_case` must be `true` or `false`, found a number"],
        ),
        (
            "{type: similar, value: a, threshold: 0}",
            &["1:40 E024 `threshold` is 0, which is not a number greater than 0 and at most 1"],
        ),
        (
            "{type: similar, value: a, threshold: 0.5, min_score: 0.5}",
            &["1:29 E025 `min_score` and `threshold` are one setting"],
        ),
        (
            "{type: similar, value: a, max_distance: 3, threshold: 0.5}",
            &["1:46 E028 `threshold` has no meaning with `max_distance`"],
        ),
        (
            "{type: similar, value: a, max_distance: -1}",
            &["1:43 E024 `max_distance` is -1, which is not a whole number of at least 0"],
        ),
        ("{type: similar, value: a, treshold: 1}", &["1:29 E019 unknown key `treshold` in `similar`"]),
    ]);
}
