//! Calibrations next to a suite, and the problems reported in them.

use evalsuite_schema::grader::GraderConfig;
use evalsuite_schema::{Bar, Calibration, Content};
use tempfile::TempDir;

use super::SampleContext;
use crate::diagnostic::Diagnostics;
use crate::read::MAX_TOTAL;
use crate::source::Position;
use crate::tests::Package;
use crate::{Loaded, Request, load};

const SUITE: &str = "\
name: shop
tests:
  - {id: refund, criteria: Be polite, input: Refund 5, expected_output: Done}
  - {id: plain, input: Hi, assertions: [{type: contains, value: x}]}
  - id: many
    input: Hi
    assertions:
      - {type: llm-grader, name: tone, prompt: 'Is it polite?', negate: true, weight: 3}
      - type: composite
        assertions: [{type: rubrics, name: facts, criteria: [right]}, {type: is-json}]
        aggregator: {type: weighted_average}
  - {id: talk, mode: conversation, turns: [{input: Hi, assertions: [polite]}]}
";

/// Loads the suite with a calibration and other files next to it.
fn loaded(name: &str, calibration: &str, files: &[(&str, &str)]) -> (TempDir, Loaded) {
    let package = TempDir::new().unwrap();
    let suite = package.path().join("suite");
    std::fs::create_dir(&suite).unwrap();
    let own = [("EVAL.yaml", SUITE), (name, calibration)];
    for (name, text) in own.iter().chain(files) {
        std::fs::write(suite.join(name), text).unwrap();
    }
    let mut request = Request::new("suite", package.path());
    request.workspace_root = package.path().to_owned();
    let loaded = load(&request);
    (package, loaded)
}

/// A calibration without problems.
#[track_caller]
fn read(calibration: &str, files: &[(&str, &str)]) -> Calibration {
    let (_package, loaded) = loaded("calibration.yaml", calibration, files);
    let problems = lines(&loaded);
    loaded.suite.unwrap_or_else(|| panic!("{problems:?}")).calibration.unwrap()
}

fn lines(loaded: &Loaded) -> Vec<String> {
    let line = |problem: &evalsuite_schema::diagnostics::Diagnostic| {
        let place = problem.place.as_ref().expect("problems of files have a place");
        let start = place.start().unwrap_or(Position::START);
        let file = place.file.rsplit('/').next().unwrap_or_default();
        format!("{file}:{}:{} {} {}", start.line, start.column, problem.code.as_str(), problem.message)
    };
    loaded.diagnostics.iter().map(line).collect()
}

#[track_caller]
fn problems(calibration: &str, expected: &[&str]) {
    let (_package, loaded) = loaded("calibration.yaml", calibration, &[]);
    let found: Vec<String> = lines(&loaded);
    let expected: Vec<String> = expected.iter().map(|line| format!("calibration.yaml:{line}")).collect();
    assert_eq!(found, expected, "{calibration}");
}

const GOOD: &str = "  - {id: x, input: a, criteria: c, output: b, human_score: 1}\n";

#[test]
fn a_calibration_contains_answers_and_requirements() {
    let calibration = read(
        "minimum: {kappa: 0.6, spearman: 0.7, pearson: -1, agreement: 0.8}\nmaximum: {mae: 0.2}\ntolerance: 0.1\n\
         threshold: 0.5\nsamples:\n\
         \x20 - {id: a, case: refund, output: '', human_score: 0, rationale: nothing}\n\
         \x20 - {id: b, input: [{role: user, content: q}], expected_output: e, output: o, human_score: 0.9}\n",
        &[],
    );
    assert_eq!(
        calibration.bar,
        Bar { kappa: Some(0.6), spearman: Some(0.7), pearson: Some(-1.0), agreement: Some(0.8), mae: Some(0.2) }
    );
    assert_eq!((calibration.tolerance, calibration.threshold), (0.1, 0.5));
    let [a, b] = calibration.samples.as_slice() else { panic!("two samples") };
    assert_eq!((a.id.as_str(), a.output.as_str(), a.human_score), ("a", "", 0.0));
    assert_eq!((a.case.id.as_str(), a.case.criteria.as_deref()), ("refund", Some("Be polite")));
    assert_eq!((a.location.line, a.rationale.as_deref()), (6, Some("nothing")));
    assert_eq!((b.case.id.as_str(), b.case.expected_output.len()), ("b", 1));
    for sample in [a, b] {
        assert!(matches!(sample.case.graders[0].config, GraderConfig::LlmGrader(_)));
        assert_eq!(sample.case.graders.len(), 1);
    }
    let back: Calibration = evalsuite_schema::json::from_str(&serde_json::to_string(&calibration).unwrap()).unwrap();
    assert_eq!(back, calibration);
}

#[test]
fn without_settings_there_are_defaults_and_no_requirements() {
    let calibration = read(&format!("samples:\n{GOOD}{}", GOOD.replace("id: x", "id: y")), &[]);
    assert_eq!((calibration.tolerance, calibration.threshold), (0.15, 0.8));
    assert!(!calibration.bar.is_set());
}

#[test]
fn only_the_named_grader_of_the_case_is_used() {
    let calibration = read(
        "samples:\n  - {id: a, case: many, grader: tone, output: o, human_score: 0}\n\
         \x20 - {id: b, case: many, grader: facts, output: o, human_score: 1}\n",
        &[],
    );
    let graders: Vec<_> = calibration.samples.iter().map(|sample| &sample.case.graders[0]).collect();
    assert_eq!((graders[0].name.as_str(), graders[0].negate, graders[0].weight), ("tone", false, 1.0));
    assert!(matches!(graders[1].config, GraderConfig::Rubrics(_)));
}

#[test]
fn one_grader_serves_the_samples_that_name_no_case() {
    let calibration = read(
        "grader: {type: rubrics, criteria: [polite, {outcome: right, weight: 2}]}\nsamples:\n\
         \x20 - {id: a, input: q, output: o, human_score: 0}\n  - {id: b, case: refund, output: o, human_score: 1}\n",
        &[],
    );
    let [a, b] = calibration.samples.as_slice() else { panic!("two samples") };
    let GraderConfig::Rubrics(rubrics) = &a.case.graders[0].config else { panic!("{:?}", a.case.graders) };
    assert_eq!(rubrics.criteria.len(), 2);
    assert!(matches!(b.case.graders[0].config, GraderConfig::LlmGrader(_)), "the case has its own");
}

#[test]
fn samples_can_lie_in_a_file_of_their_own() {
    let line = |id: &str| {
        format!(
            "{{\"id\": \"{id}\", \"human_score\": 0.5, \"input\": \"q\", \"output\": \"o\", \"criteria\": \"c\"}}\n"
        )
    };
    let lines = format!("{}\n{}", line("a"), line("b"));
    let calibration = read("samples: ./labels.jsonl\n", &[("labels.jsonl", &lines)]);
    assert_eq!(calibration.samples.len(), 2);
    assert!(calibration.samples[1].location.file.ends_with("labels.jsonl"));
    assert_eq!(calibration.samples[1].location.line, 3);
    let list = format!("{}{}", GOOD, GOOD.replace("id: x", "id: y"));
    assert_eq!(read("samples: labels.yaml\n", &[("labels.yaml", &list)]).samples.len(), 2);
    let input = &read("samples: labels.yaml\n", &[("labels.yaml", &list)]).samples[0].case.input;
    let evalsuite_schema::Input::Messages(messages) = input else { panic!("{input:?}") };
    assert!(matches!(&messages[0].content, Some(Content::Text(text)) if text == "a"));
}

#[test]
fn every_problem_has_its_place() {
    problems("- a\n", &["1:1 E007 expected a mapping, found a list"]);
    problems("samples: []\n", &["1:10 E078 no sample in a calibration, too few to measure a judge"]);
    problems(&format!("samples:\n{GOOD}"), &["2:3 E078 one sample in a calibration, too few to measure a judge"]);
    problems(&format!("samples:\n{GOOD}{GOOD}"), &["3:10 E030 two samples have the id `x`"]);
    problems("sample: []\n", &["1:1 E019 unknown key `sample` in a calibration"]);
    problems(
        "samples: 5\n",
        &["1:10 E020 `samples` must be a list, or the path of a `.jsonl` or `.yaml` file, found a number"],
    );
    problems("samples: no.jsonl\n", &["1:10 E018 `samples`: file `no.jsonl` not found"]);
    let with = |sample: &str| format!("samples:\n{GOOD}  - {sample}\n");
    for (sample, expected) in [
        ("{id: a, input: q, criteria: c, output: o}", "3:5 E021 missing key `human_score` in a sample"),
        (
            "{id: a, input: q, criteria: c, output: o, human_score: 5}",
            "3:60 E024 `human_score` is 5, which is not a number within 0..1",
        ),
        ("{id: a, input: q, criteria: c, human_score: 1}", "3:5 E021 missing key `output` in a sample"),
        (
            "{id: a, input: q, output: o, human_score: 1}",
            "3:5 E052 the suite's `llm-grader` has nothing to judge this case by",
        ),
        ("{id: a, criteria: c, output: o, human_score: 1}", "3:5 E033 missing key `input` in a sample"),
        ("{input: q, criteria: c, output: o, human_score: 1}", "3:5 E021 missing key `id` in a sample"),
        ("{id: a, case: refnd, output: o, human_score: 1}", "3:19 E077 `case` names `refnd`, which is not a case"),
        ("{id: a, case: plain, output: o, human_score: 1}", "3:19 E077 case `plain` asks no judge"),
        (
            "{id: a, case: talk, output: o, human_score: 1}",
            "3:19 E077 case `talk` is a conversation, which is more than one answer",
        ),
        ("{id: a, case: many, output: o, human_score: 1}", "3:19 E077 case `many` has 2 graders that ask a judge"),
        (
            "{id: a, case: many, grader: ton, output: o, human_score: 1}",
            "3:33 E077 case `many` has no judge grader `ton`",
        ),
        (
            "{id: a, case: refund, input: q, output: o, human_score: 1}",
            "3:27 E025 `case` and `input` contradict each other: the case has its own",
        ),
        (
            "{id: a, input: q, criteria: c, grader: g, output: o, human_score: 1}",
            "3:36 E028 `grader` names a grader of a case, and the sample names no case",
        ),
        (
            "{id: a, input: q, criteria: c, output: o, human_scor: 1, human_score: 1}",
            "3:47 E019 unknown key `human_scor` in a sample",
        ),
        ("text", "3:5 E020 a sample must be a mapping, found text"),
    ] {
        problems(&with(sample), &[expected]);
    }
    let two = format!("samples:\n{GOOD}{}", GOOD.replace("id: x", "id: y"));
    for (head, expected) in [
        ("minimum: {kapa: 1}\n", "1:11 E019 unknown key `kapa` in `minimum`"),
        ("minimum: {kappa: 1.5}\n", "1:18 E024 `kappa` is 1.5, which is not a number within -1..1"),
        ("minimum: {agreement: -1}\n", "1:22 E024 `agreement` is -1, which is not a number within 0..1"),
        ("maximum: {mae: x}\n", "1:16 E020 `mae` must be a number, found text"),
        ("tolerance: 2\n", "1:12 E024 `tolerance` is 2, which is not a number within 0..1"),
        ("grader: {type: contains, value: x}\n", "1:16 E023 `grader` is `contains`, which asks no judge"),
        ("grader: rubrics\n", "1:9 E020 a grader must be a mapping, found text"),
    ] {
        problems(&format!("{head}{two}"), &[expected]);
    }
}

#[test]
fn cases_with_problems_are_not_missed_as_well() {
    let (_package, loaded) = loaded(
        "calibration.yaml",
        &format!("samples:\n{GOOD}  - {{id: a, case: broken, output: o, human_score: 1}}\n"),
        &[("EVAL.yaml", "tests: [{id: broken, input: q}]\n")],
    );
    assert_eq!(lines(&loaded).len(), 1, "{:?}", lines(&loaded));
}

#[test]
fn the_file_is_found_next_to_the_suite() {
    let two = format!("samples:\n{GOOD}{}", GOOD.replace("id: x", "id: y"));
    let (_package, found) = loaded("calibration.yml", &two, &[]);
    assert!(found.suite.unwrap().calibration.is_some());
    let (_package, found) = loaded("calibration.yml", &two, &[("calibration.yaml", &two)]);
    assert_eq!(
        lines(&found),
        ["calibration.yml:1:1 W004 `suite/calibration.yml` has no effect: `suite/calibration.yaml` is read"]
    );
    let (_package, found) =
        loaded("EVAL.calibration.yaml", &two.replace("id: x", "id: own"), &[("calibration.yaml", &two)]);
    assert_eq!(lines(&found), Vec::<String>::new());
    assert_eq!(found.suite.unwrap().calibration.unwrap().samples[0].id, "own");
    let (_package, found) = loaded("other.calibration.yaml", "broken: [", &[]);
    assert_eq!(found.suite.unwrap().calibration, None);
}

#[test]
fn samples_that_are_not_read_because_there_is_too_much_text_are_not_called_too_few() {
    let package = Package::new(&[("suite/samples.jsonl", "{}\n")]);
    // The file that went beyond the limit was reported.
    package.files.insert("large.txt".as_ref(), Some("x".repeat(MAX_TOTAL + 1).into()), None);
    let mut d = Diagnostics::new();
    let cx = SampleContext { scope: package.scope(), cases: None, grader: None };
    assert_eq!(super::from_file(&package.node("samples.jsonl"), &cx, &mut d), None);
    assert_eq!(package.lines(&d), Vec::<String>::new());
}
