//! Graders of the tasks layout.

use evalsuite_schema::grader::{GraderConfig, TextValue};

use crate::diagnostic::Diagnostics;
use crate::graders::assertions;
use crate::graders::assertions::{CaseFacts, ParsedGrader};
use crate::source::Span;
use crate::tests::Package;

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
