//! Includes of templates.

use evalsuite_schema::grader::GraderConfig;

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
