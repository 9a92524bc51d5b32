//! Lists of assertions in all their forms.

use evalsuite_schema::grader::{Grader, GraderConfig};

use crate::diagnostic::Diagnostics;
use crate::graders::assertions;
use crate::graders::tests::{check, graders};
use crate::tests::Package;

/// Ids, outcomes and whether they are required, of a grader made of strings.
fn criteria(grader: &Grader) -> Vec<(&str, &str, bool)> {
    let GraderConfig::Rubrics(rubrics) = &grader.config else { panic!("{grader:?} is not made of strings") };
    rubrics
        .criteria
        .iter()
        .map(|criterion| (criterion.id.as_str(), criterion.outcome.as_deref().unwrap_or_default(), criterion.required))
        .collect()
}

#[test]
fn strings_become_one_grader_in_the_place_of_the_first() {
    let found = graders("['  C1 ', {type: contains, value: x}, C2]");
    let names: Vec<&str> = found.iter().map(|grader| grader.name.as_str()).collect();
    assert_eq!(names, ["rubrics", "contains-x"]);
    assert_eq!(found[0].weight, 2.0);
    assert!(!found[0].required);
    assert_eq!(criteria(&found[0]), [("rubric-1", "C1", true), ("rubric-2", "C2", true)]);
    assert_eq!((found[0].location.line, found[0].location.column), (1, 2));

    let graders = graders("[{type: contains, value: x}, C1]");
    assert_eq!(graders[1].name, "rubrics");
}

#[test]
fn the_strings_of_a_turn_are_not_required() {
    let package = Package::new(&[]);
    let mut d = Diagnostics::new();
    let node = package.node("[nice, {type: contains, value: x}, short]");
    let (found, _) = assertions::turn(&node, "`assertions`", &[], package.scope(), &mut d);
    assert_eq!(package.lines(&d), Vec::<String>::new());
    assert_eq!((found[0].name.as_str(), found[0].weight), ("turn-rubrics", 1.0));
    assert_eq!(criteria(&found[0]), [("criterion-1", "nice", false), ("criterion-2", "short", false)]);
}

#[test]
fn entries_that_are_no_assertions_are_errors() {
    check(&[
        ("5", &["1:3 E020 an assertion must be text or a mapping, found a number"]),
        ("", &["1:3 E020 an assertion must be text or a mapping, found nothing"]),
        ("[]", &["1:3 E020 an assertion must be text or a mapping, found a list"]),
        ("'  '", &["1:3 E022 blank assertion"]),
        ("{}", &["1:3 E052 missing key `type` in an assertion"]),
        ("{tpye: contains, value: x}", &["1:4 E019 unknown key `tpye` in an assertion"]),
        ("{inclde: polite}", &["1:4 E019 unknown key `inclde` in an assertion"]),
        ("{type: 5}", &["1:10 E020 `type` must be text, found a number"]),
        ("{type: ''}", &["1:10 E022 `type` is blank"]),
        ("{type: '${{ T }}'}", &["1:10 E027 `type` cannot contain `${{ T }}`"]),
        ("{type: code-judge}", &["1:10 E051 type `code-judge` was removed"]),
        ("{type: llm_judge, prompt: x}", &["1:10 E051 type `llm_judge` was removed"]),
        ("{include: a, weight: 1}", &["1:16 E019 unknown key `weight` next to `include`"]),
        ("{include: a, type: contains, value: x}", &["1:4 E019 unknown key `include` in `contains`"]),
    ]);
    let package = Package::new(&[]);
    let (parsed, d) = package.read("text");
    assert_eq!(package.lines(&d), ["1:1 E020 `assertions` must be a list, found text"]);
    assert!(parsed[0].is_broken);
}

#[test]
fn other_types_belong_to_graders_in_rust() {
    let package = Package::new(&[]);
    let yaml = "
- {type: card_completion, config: {a: null}, weight: 2}
- {type: composite, assertions: [{type: tone}], aggregator: {type: weighted_average}}
- {type: Contains, value: x}
";
    let (parsed, d) = package.read(yaml);
    assert_eq!(package.lines(&d), ["4:20 E019 unknown key `value` in a grader"]);
    let GraderConfig::User { grader, config } = &parsed[0].grader.config else { panic!("another type") };
    assert_eq!((grader.as_str(), config.len()), ("card_completion", 1));
    let users: Vec<String> = assertions::user_graders(&parsed)
        .map(|(name, span)| format!("{name} {}:{}", span.start().line, span.start().column))
        .collect();
    assert_eq!(users, ["card_completion 2:10", "tone 3:41", "Contains 4:10"]);
}

#[test]
fn the_old_key_rubrics_becomes_one_grader() {
    let package = Package::new(&[]);
    let mut d = Diagnostics::new();
    let read = |yaml: &str, d: &mut Diagnostics| assertions::rubrics_key(&package.node(yaml), package.scope(), d);
    let parsed = read("[Plain, {outcome: Obj, weight: 2, required: false, id: o}]", &mut d).expect("a grader");
    assert_eq!((parsed.grader.name.as_str(), parsed.grader.weight), ("rubric", 1.0));
    assert_eq!(criteria(&parsed.grader), [("rubric-1", "Plain", true), ("o", "Obj", false)]);
    assert!(read("[]", &mut d).is_none());
    assert!(d.is_empty());
    assert!(read("text", &mut d).is_some_and(|parsed| parsed.is_broken));
    assert_eq!(package.lines(&d), ["1:1 E020 `rubrics` must be a list, found text"]);
}
