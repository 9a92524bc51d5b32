//! What cases have and tasks have not.

use evalsuite_loader::document::{self, Data};
use evalsuite_schema::json;

use super::*;
use crate::report::{Outcome, SourceEntry};

/// A suite with the settings and cases of an eval file.
fn draft(text: &str) -> SuiteDraft {
    let document = document::parse(text, Path::new("EVAL.yaml")).expect("YAML");
    let Data::Mapping(mut settings) = document.root.data else { panic!("not a mapping: {text}") };
    let at = settings.iter().position(|(key, _)| key == "tests").expect("cases");
    let (_, tests) = settings.remove(at);
    let cases = tests.items().expect("a list").iter().enumerate().map(|(index, case)| {
        let mut entries = case.entries().to_vec();
        let id = entries.iter().position(|(key, _)| key == "id").map(|at| entries.remove(at).1);
        let id = id.as_ref().and_then(Value::as_text).expect("an id").to_owned();
        (id, CaseDraft { entries, above: Vec::new(), place: Place::new("EVAL.yaml", 1, format!("tests[{index}]")) })
    });
    SuiteDraft { settings, cases: cases.collect(), ..SuiteDraft::default() }
}

#[test]
fn what_cases_have_and_tasks_have_not_is_named() {
    let text = "name: shop # a comment\ntags: [fast]\nexecution: { threshold: 0.9, workers: 2, trials: { count: 3, strategy: mean } }\n\
                assertions: [{ type: contains, value: x, weight: 2 }]\ntests:\n  \
                - { id: a, input: '${{ NAME }}', criteria: Greets, assertions: [Is polite, Is short, { include: y }], execution: { threshold: 0.5 } }\n  \
                - { id: b, input: [{ role: system, content: x }], expected_output: hi, execution: { skip_defaults: true } }\n  \
                - { id: c, turns: [{ input: x }], execution: { skip_defaults: true } }\n";
    let mut report = Report::default();
    let output = TaskWriter::write(draft(text), &mut report).expect("tasks");
    let has = |outcome: Outcome, entry: &str, reason: &str| {
        let is = |it: &&SourceEntry| {
            it.outcome == outcome && it.name == entry && it.reasons.iter().any(|it| it.contains(reason))
        };
        assert!(report.entries().iter().any(|it| is(&it)), "{entry}: {reason}\n{}", report);
    };
    has(Outcome::Approximated, "comments", "JSON has none");
    has(Outcome::Different, "tests[0].assertions[0]", "counts as one grader");
    has(Outcome::Different, "tests[0].input", "nothing is filled in");
    has(Outcome::Different, "tests[0].execution.threshold", "the threshold of the suite, 0.9");
    has(Outcome::Different, "tests[1].input", "the messages as data");
    has(Outcome::Approximated, "tests[1].expected_output", "it is in `text`");
    has(Outcome::Different, "assertions[0]", "all graders count alike");
    for entry in ["tags", "execution.workers", "execution.trials.strategy", "tests[2].turns"] {
        has(Outcome::Dropped, entry, "nothing like it");
    }
    has(Outcome::Dropped, "tests[0].assertions[2]", "no templates");
    has(Outcome::Dropped, "tests[2]", "nothing is left that grades it");
    let json = |path: &str| -> Json { json::from_slice(&output.files()[Path::new(path)]).unwrap() };
    let head = json!({"name": "shop", "agent_name": "agent", "kind": "capability", "task_pass_threshold": 0.9});
    assert_eq!(json("suite.json"), head);
    let a = json("tasks/a.json");
    assert_eq!((&a["description"], &a["trials_per_run"]), (&"Greets".into(), &3.into()));
    let graders = json!([
        {"name": "rubrics", "config": {"criteria": ["Is polite", "Is short"]}}, {"name": "contains", "config": {"value": "x"}},
    ]);
    assert_eq!(a["graders"], graders);
    assert_eq!(json("tasks/b.json")["graders"], json!([{"name": "llm-grader"}]));
    assert!(!output.files().contains_key(Path::new("tasks/c.json")));
}
