//! Lists of assertions, and what is reported about them.

use evalsuite_schema::grader::{Grader, GraderConfig, TextValue};
use evalsuite_schema::json::json;
use evalsuite_schema::{Content, Message, Role};

use crate::diagnostic::Diagnostics;
use crate::graders::tests::{check, graders};
use crate::graders::{CaseFacts, ParsedGrader, assertions};
use crate::source::{FileId, Span};
use crate::tests::Package;

fn names(package: &Package, yaml: &str) -> (Vec<String>, Vec<String>) {
    let (parsed, d) = package.read(yaml);
    let names = parsed.into_iter().filter(|parsed| !parsed.is_broken).map(|parsed| parsed.grader.name).collect();
    (names, package.lines(&d))
}

const NONE: &[&str] = &[];

#[test]
fn a_name_is_searched_from_the_nearest_directory_up() {
    let package = Package::new(&[
        (".agentv/templates/base.yaml", "assertions: [{type: contains, value: root}]"),
        (".agentv/templates/near.yaml", "assertions: [{type: contains, value: far}]"),
        ("suite/.agentv/templates/near.yaml", "assertions: [{type: contains, value: near}]"),
        ("suite/.evalsuite/templates/both.yml", "assertions: [{type: contains, value: own}]"),
        ("suite/.agentv/templates/both.yaml", "assertions: [{type: contains, value: other}]"),
    ]);
    let (found, problems) = names(&package, "[{include: base}, {include: near}, {include: both}]");
    assert_eq!(problems, NONE);
    assert_eq!(found, ["contains-root", "contains-near", "contains-own"]);
}

#[test]
fn strings_of_templates_join_the_list_around_them() {
    let package = Package::new(&[
        ("suite/.agentv/templates/a.yaml", "assertions: [{include: b}, A]"),
        ("suite/.agentv/templates/b.yaml", "assertions: [{include: c}, B]"),
        ("suite/.agentv/templates/c.yaml", "assertions: [{type: contains, value: deep}, C]"),
    ]);
    let (parsed, d) = package.read("[{include: a}]");
    assert_eq!(package.lines(&d), NONE);
    assert_eq!(
        parsed.iter().map(|parsed| parsed.grader.name.as_str()).collect::<Vec<_>>(),
        ["contains-deep", "rubrics"]
    );
    let GraderConfig::Rubrics(rubrics) = &parsed[1].grader.config else { panic!("another type") };
    let outcomes: Vec<_> = rubrics.criteria.iter().filter_map(|criterion| criterion.outcome.as_deref()).collect();
    assert_eq!(outcomes, ["C", "B", "A"]);
    assert_eq!(parsed[1].grader.location.file, "suite/.agentv/templates/c.yaml");
}

#[test]
fn paths_of_a_template_are_searched_from_its_directory() {
    let package = Package::new(&[
        ("suite/shared/t.yaml", "assertions: [{type: llm-grader, prompt: 'file://p.md'}, {include: ./u.yaml}]"),
        ("suite/shared/u.yaml", "assertions: [{type: equals, value: nested}]"),
        ("suite/shared/p.md", "{{ output }}"),
    ]);
    let (found, problems) = names(&package, "[{include: shared/t.yaml}]");
    assert_eq!(problems, NONE);
    assert_eq!(found, ["llm-grader", "equals-nested"]);
}

#[test]
fn a_circle_of_templates_is_an_error() {
    let package = Package::new(&[
        ("suite/.agentv/templates/a.yaml", "assertions: [{include: b}]"),
        ("suite/.agentv/templates/b.yaml", "assertions: [{include: a}]"),
        (
            "suite/c.yaml",
            "assertions: [{type: composite, aggregator: {type: weighted_average}, assertions: [{include: ./c.yaml}]}]",
        ),
    ]);
    let (_, problems) = names(&package, "[{include: a}, {include: ./c.yaml}]");
    assert_eq!(
        problems,
        [
            "b.yaml:1:24 E045 templates include each other: suite/.agentv/templates/a.yaml -> \
         suite/.agentv/templates/b.yaml -> suite/.agentv/templates/a.yaml",
            "c.yaml:1:93 E045 templates include each other: suite/c.yaml -> suite/c.yaml",
        ]
    );
}

#[test]
fn templates_nest_three_deep() {
    let package = Package::new(&[
        ("suite/a.yaml", "assertions: [{include: ./b.yaml}]"),
        ("suite/b.yaml", "assertions: [{include: ./c.yaml}]"),
        ("suite/c.yaml", "assertions: [{include: ./d.yaml}]"),
        ("suite/d.yaml", "assertions: [{type: is-json}]"),
    ]);
    assert_eq!(names(&package, "[{include: ./b.yaml}]"), (vec!["is-json".to_owned()], vec![]));
    let (_, problems) = names(&package, "[{include: ./a.yaml}]");
    assert_eq!(
        problems,
        ["c.yaml:1:24 E045 templates are included too deeply: suite/a.yaml -> suite/b.yaml -> \
                          suite/c.yaml -> suite/d.yaml"]
    );
}

#[test]
fn missing_and_malformed_templates_are_errors() {
    let package = Package::new(&[
        ("suite/list.yaml", "- {type: is-json}"),
        ("suite/old.yaml", "assert: [{type: is-json}]"),
        ("suite/text.yaml", "assertions: text"),
        ("suite/broken.yaml", "assertions: ["),
        ("suite/.evalsuite/templates/polite.yaml", "assertions: []"),
    ]);
    let yaml = "
- {include: polit}
- {include: ./missing.yaml}
- {include: ./list.yaml}
- {include: ./old.yaml}
- {include: ./text.yaml}
- {include: '${{ NAME }}'}
- {include: ../../out.yaml}
";
    let (found, problems) = names(&package, yaml);
    assert_eq!(found, NONE);
    assert_eq!(
        problems,
        [
            "2:13 E044 template `polit` not found",
            "3:13 E044 `include`: file `./missing.yaml` not found",
            "7:13 E027 `include` cannot contain `${{ NAME }}`",
            "8:13 E017 `include`: `../../out.yaml` leaves the package",
            "list.yaml:1:1 E043 expected a template, found a list",
            "old.yaml:1:1 E019 unknown key `assert` in a template",
            "old.yaml:1:1 E043 the template has no `assertions`",
            "text.yaml:1:13 E043 `assertions` of a template must be a list, found text",
        ]
    );
    let (_, broken) = names(&package, "[{include: ./broken.yaml}]");
    assert!(broken[0].contains("E003"), "{broken:?}");
}

#[test]
fn the_schema_of_a_template_is_for_editors() {
    let package = Package::new(&[("suite/any.yaml", "$schema: 5\nassertions: [{type: is-json}]")]);
    assert_eq!(names(&package, "[{include: ./any.yaml}]"), (vec!["is-json".to_owned()], Vec::new()));
}

#[test]
fn a_template_is_read_once() {
    let package = Package::new(&[("suite/t.yaml", "assertions: [{type: contains}]")]);
    let (_, first) = package.read("[{include: ./t.yaml}]");
    let (_, second) = package.read("[{include: ./t.yaml}]");
    let span = |d: &crate::diagnostic::Diagnostics| d.iter().next().map(|problem| problem.place);
    assert_eq!(span(&first), span(&second), "the same problem has the same place");
}

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

fn read(json: &str) -> (Vec<ParsedGrader>, Vec<String>) {
    let package = Package::tasks(&[]);
    let mut d = Diagnostics::new();
    let parsed = assertions::task_graders(&package.node(json), package.scope(), &mut d);
    (parsed, package.lines(&d))
}

#[test]
fn built_in_types_read_their_settings_from_the_config() {
    let (parsed, problems) = read(
        r#"[{"name": "contains", "config": {"value": "x", "negate": true, "min_score": 0.5}},
            {"name": "is_json"}, {"name": "card_completion", "config": {"a": null}}, {"name": "tone"}]"#,
    );
    assert_eq!(problems, Vec::<String>::new());
    let first = &parsed[0].grader;
    assert_eq!(first.config, GraderConfig::Contains(TextValue { value: "x".into() }));
    assert_eq!((first.name.as_str(), first.negate, first.min_score), ("contains", true, Some(0.5)));
    assert_eq!((parsed[1].grader.name.as_str(), &parsed[1].grader.config), ("is_json", &GraderConfig::IsJson));
    assert!(matches!(&parsed[2].grader.config, GraderConfig::User { grader, .. } if grader == "card_completion"));
    let users: Vec<String> = assertions::user_graders(&parsed).map(|(name, _)| name).collect();
    assert_eq!(users, ["card_completion", "tone"]);
}

#[test]
fn a_name_may_be_used_again() {
    let (parsed, _) = read(r#"[{"name": "a"}, {"name": "a", "config": {"x": 1}}]"#);
    let package = Package::tasks(&[]);
    let mut d = Diagnostics::new();
    let span = Span::whole(package.files.add(&package.path()));
    let facts =
        CaseFacts { expected_output: &[], reference_is_broken: false, has_criteria: true, span, tasks_layout: true };
    let graders = assertions::merge(parsed, &[], &facts, &mut d);
    assert!(d.is_empty());
    assert_eq!(graders.iter().map(|grader| grader.name.as_str()).collect::<Vec<_>>(), ["a", "a#2"]);
}

#[test]
fn bad_entries_are_errors() {
    let (parsed, problems) = read(
        r#"[5, {}, {"name": 1}, {"name": "contains"}, {"name": "contains", "config": {"value": "x", "weight": 2}},
{"name": "tone", "config": [1]}, {"name": "tone", "weight": 1}, {"name": "regex", "config": {"value": "${{ X }}("}}]"#,
    );
    assert_eq!(
        problems,
        [
            "1:18 E020 `name` must be text, found a number",
            "1:2 E020 a grader must be a mapping, found a number",
            "1:22 E052 missing key `value` in `contains`",
            "1:5 E021 missing key `name` in a grader",
            "1:90 E019 unknown key `weight` in `contains`",
            "2:103 E053 the pattern does not compile: opening parenthesis without closing parenthesis at offset 8",
            "2:28 E020 `config` must be a mapping, found a list",
            "2:51 E019 unknown key `weight` in a grader",
        ]
    );
    assert_eq!(parsed.iter().filter(|parsed| parsed.is_broken).count(), 6);
}
