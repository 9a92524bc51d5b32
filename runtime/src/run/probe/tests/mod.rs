//! Probes of suites in YAML, as the loader reads them.

mod code;

use std::fs;

use evalsuite_loader::{Request, load};
use evalsuite_records::record::{ProbeRecord, ProbedCase, ResultKind};
use evalsuite_schema::Case;

use crate::model::evals::Evals;
use crate::model::suite::loaded_suite;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::made_up::suite::MadeUpSuite;
use crate::run::probe::suite_probe::SuiteProbe;
use crate::run::settings::Settings;

/// Probes the suite of an eval file.
fn probe(yaml: &str) -> (Vec<Case>, ProbeRecord) {
    probe_again(yaml, None)
}

fn probe_again(yaml: &str, stored: Option<&ProbeRecord>) -> (Vec<Case>, ProbeRecord) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("EVAL.yaml"), yaml).unwrap();
    let loaded = load(&Request::new("EVAL.yaml", directory.path()));
    assert!(!loaded.diagnostics.has_errors(), "{:#?}", loaded.diagnostics);
    let loaded = loaded.suite.unwrap();
    let cases: Vec<Case> = loaded.cases.iter().map(|case| (*case.case).clone()).collect();
    let suite = loaded_suite(loaded.suite, cases.clone(), None, directory.path()).unwrap();
    let allowed = AllowedGraders { judges: false, commands: true };
    let made_up = MadeUpSuite::new(Evals::new(suite), &Settings::default(), allowed).unwrap();
    let probe = SuiteProbe { suite: &made_up, chosen: &|_| true, stored, output: None, on_case: &|| () };
    let record = probe.run().unwrap();
    assert!(made_up.end().is_empty());
    (cases, record)
}

fn codes(case: &ProbedCase) -> Vec<&'static str> {
    case.findings.iter().map(|finding| finding.code.name()).collect()
}

/// The cases of a suite in which not all is found that their metadata name.
fn missed(yaml: &str, fewest: usize) -> Vec<String> {
    let (cases, record) = probe(yaml);
    let mut missed = Vec::new();
    for (case, probed) in cases.iter().zip(&record.cases) {
        assert_eq!(probed.error, None, "{}", case.id);
        let expected = case.metadata.get("finding").and_then(|code| code.as_str()).unwrap();
        if !codes(probed).contains(&expected) {
            missed.push(format!("{}: expected {expected}, found {:?}: {probed:#?}", case.id, codes(probed)));
        }
    }
    assert!(cases.len() >= fewest, "expected more than {} cases", cases.len());
    missed
}

#[test]
fn weak_graders_of_all_types_are_found() {
    let mut missed = missed(include_str!("weak.yaml"), 40);
    if cfg!(feature = "json-schema") {
        missed.extend(self::missed(include_str!("weak_schemas.yaml"), 4));
    }
    assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
}

#[test]
fn every_finding_has_a_place_and_help() {
    let (_, record) = probe(include_str!("weak.yaml"));
    for finding in record.findings() {
        assert!(finding.place.as_ref().is_some_and(|place| place.start().is_some()), "{finding}");
        assert!(finding.help.is_some(), "{finding}");
    }
}

#[test]
fn nothing_is_found_where_graders_are_good_enough() {
    let schemas = cfg!(feature = "json-schema").then_some(include_str!("strong_schemas.yaml"));
    for yaml in [include_str!("strong.yaml")].into_iter().chain(schemas) {
        let (_, record) = probe(yaml);
        let found: Vec<String> = record.findings().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
        let ceiling = record.ceiling.unwrap();
        assert_eq!(ceiling.count, ceiling.decided);
    }
}

#[test]
fn graders_that_were_not_run_are_listed_and_decide_nothing() {
    let (_, record) = probe(include_str!("strong.yaml"));
    let case = |id: &str| record.cases.iter().find(|case| case.case_id == id).unwrap();
    let judged = case("judged");
    assert!(judged.results.iter().all(|result| result.passes.is_none()), "{:?}", judged.results);
    assert_eq!(judged.not_run[0].reason, "asks a judge");
    // The other grader fails it, whatever the judge would reply.
    let silent = case("judged-too").results_of(ResultKind::Silent).next().unwrap();
    assert_eq!(silent.passes, Some(false));
}

#[test]
fn unchanged_cases_are_not_probed_again() {
    let yaml = "name: s\ntests:\n- { id: a, input: Hi, assertions: [{ type: contains, value: e }] }\n\
                - { id: b, input: Hi, assertions: [{ type: equals, value: x }] }\n";
    let (_, mut first) = probe(yaml);
    assert_eq!(codes(&first.cases[0]), ["passes-without-work"]);
    // Results that no probe has show that they are used again.
    first.cases[1].results.clear();
    let moved = yaml.replace("tests:", "# moved\ntests:").replace("value: e", "value: f");
    let (_, second) = probe_again(&moved, Some(&first));
    assert_ne!(second.cases[0].digest, first.cases[0].digest, "it has changed");
    assert!(!second.cases[0].results.is_empty());
    assert_eq!(second.cases[1].results, []);
    assert_eq!(second.cases[1].location.line, first.cases[1].location.line + 1);
}

#[test]
fn a_grader_of_the_suite_is_reported_once_and_only_if_nothing_fails_it() {
    let suite = |pattern: &str| {
        format!(
            "name: s\nassertions: [{{ name: all, type: regex, value: '{pattern}' }}]\ntests:\n\
             - {{ id: a, input: Hi, assertions: [{{ type: equals, value: x, required: true }}] }}\n\
             - {{ id: b, input: Hi, assertions: [{{ type: equals, value: y, required: true }}] }}\n"
        )
    };
    let (_, record) = probe(&suite("^(?!zebra)"));
    let found: Vec<&str> = record.cases.iter().flat_map(codes).collect();
    assert_eq!(found, ["vacuous-grader"]);
    let (_, record) = probe(&suite("."));
    assert_eq!(record.findings().count(), 0, "an empty answer fails it");
}

#[test]
fn examples_count_as_results() {
    let yaml = "name: s\ntests:\n- id: a\n  input: Hi\n  assertions:\n  - { type: equals, value: x, required: true }\n\
                - PLACEHOLDER\n";
    let forbids = "  - { name: short, type: regex, value: '^(?!.*secret)', examples: { fail: [a secret] } }";
    let without = "  - { name: short, type: regex, value: '^(?!zebra)' }";
    let of = |grader: &str| probe(&yaml.replace("- PLACEHOLDER", grader)).1;
    assert_eq!(codes(&of(without).cases[0]), ["vacuous-grader"]);
    let record = of(forbids);
    assert_eq!(codes(&record.cases[0]), [""; 0]);
    let example = record.cases[0].results_of(ResultKind::Fail).next().unwrap();
    assert_eq!((example.passes, example.failed.as_slice()), (Some(false), ["short".to_owned()].as_slice()));
}
